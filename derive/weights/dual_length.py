"""The dual length psi of a vector of open dimension: grad Q = psi u/|u|, by one linear system.

For y = psi u/n the dual equations <grad y_i, grad F_j> = g delta_ij hold in every dimension
exactly when g = psi phi/n and <grad psi, grad s> = g. For log psi that is linear,

    <grad log psi, grad s> = s/n^2,

so psi = exp(rational) prod P_k^c_k is found by one nullspace, and accepted by this identity of
rational functions. If moreover <grad t, grad s> + t s/n^2 = |grad s|^2 then q = psi t is an
antiderivative of psi along the leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction, monomials
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import Evaluator, Pole, nullspace, random_point
from derive.model.direction import Direction
from derive.verdict import Identity
from derive.weights.conserved import ConservedQuantities
from derive.weights.dual_families import MAXIMAL_COLUMNS

REACH = 4
"""The largest degree in the scalars, and the largest power of 1/n or n, of a term."""


@dataclass(frozen=True)
class DualLength:
    """log psi with <grad log psi, grad s> = s/n^2, proved.

    Attributes:
        log_psi: rational + sum_k c_k log |P_k| with numbers c_k; up to a constant.
        ratio: t with q = psi t, or None where none was found in the family.
        evidence: the identities.
    """

    log_psi: LogFunction
    ratio: RationalFunction | None
    evidence: tuple[Identity, ...]

    @property
    def psi(self) -> RationalFunction | None:
        """Psi where it is rational."""
        if not self.log_psi.rational.is_constant():
            return None
        result = self.log_psi.rational.field.one
        for coefficient, argument in self.log_psi.logs:
            c = coefficient.value()
            if c.denominator != 1:
                return None
            result *= argument ** int(c)
        return result


def find_dual_length(direction: Direction, conserved: ConservedQuantities) -> DualLength | None:
    """Return psi, and q = psi t, in families of Laurent monomials and logarithms, or None."""
    p = direction.parameterization
    flow = p.fields[0]
    rate = p.F[0] / (direction.n * direction.n)
    terms = [
        LogFunction(p.field.zero, ((p.field.one, P),)) for P in _arguments(direction, conserved)
    ]
    terms += [LogFunction(f) for f in _laurent(direction, 0) if not f.is_constant()]
    solution = _solve([f.along(flow) for f in terms], rate)
    if solution is None:
        return None
    log_psi = LogFunction(p.field.zero)
    for c, f in zip(solution, terms, strict=True):
        if c:
            log_psi = log_psi + f.scaled(p.field.constant(c))
    if not is_dual_length(direction, log_psi):
        return None
    ratio = _ratio(direction, rate)
    left = repr(log_psi.along(flow))
    evidence = [Identity(f"<grad log psi, grad s> = phi/{direction.norm}", left, repr(rate))]
    if ratio is not None:
        both = (repr(_growth(direction, ratio, rate)), repr(direction.R))
        evidence.append(Identity("<grad q, grad s> = psi |grad s|**2", *both))
    return DualLength(log_psi, ratio, tuple(evidence))


def is_dual_length(direction: Direction, log_psi: LogFunction) -> bool:
    """Tell exactly whether <grad log psi, grad s> = s/n^2: the check behind every psi."""
    p = direction.parameterization
    return log_psi.along(p.fields[0]) == p.F[0] / (direction.n * direction.n)


def _ratio(direction: Direction, rate: RationalFunction) -> RationalFunction | None:
    """Return t with <grad t, grad s> + t s/n^2 = |grad s|^2, proved, or None."""
    p = direction.parameterization
    family = list(_laurent(direction, p.degree))
    target = direction.R
    solution = _solve([_growth(direction, f, rate) for f in family], target)
    if solution is None:
        return None
    t = sum(
        (c * f for c, f in zip(map(p.field.constant, solution), family, strict=True)), p.field.zero
    )
    return t if _growth(direction, t, rate) == target else None


def _growth(direction: Direction, t: RationalFunction, rate: RationalFunction) -> RationalFunction:
    p = direction.parameterization
    return dot(p.fields[0], p.field.gradient(t)) + t * rate


def _arguments(direction: Direction, conserved: ConservedQuantities) -> list[RationalFunction]:
    """Return n, the Darboux polynomials, and the factors of s and |grad s|^2."""
    field = direction.parameterization.field
    found = [direction.n, *conserved.darboux]
    for seed in (direction.parameterization.F[0], direction.R):
        for polynomial in (seed.numerator, seed.denominator):
            for factor, _ in factorize(polynomial)[1]:
                found.append(field.polynomial(factor))
    distinct: list[RationalFunction] = []
    for f in found:
        if f not in distinct and -f not in distinct:
            distinct.append(f)
    return distinct


def _laurent(direction: Direction, degree: int | None) -> Iterator[RationalFunction]:
    """Yield monomials in the scalars times powers of n, of one degree where s is homogeneous."""
    p = direction.parameterization
    found: list[tuple[int, ...]] = []
    for total, power in product(range(REACH + 1), range(-REACH, REACH + 1)):
        if p.degree is None or degree is None or total + power == degree:
            found += [(*e, power) for e in monomials(p.p - 1, total)]
    found.sort(key=lambda e: sum(map(abs, e)))
    for e in found[:MAXIMAL_COLUMNS]:
        yield p.field.monomial(e)


def _solve(
    columns: Sequence[RationalFunction], right: RationalFunction
) -> tuple[Fraction, ...] | None:
    """Return numbers c with sum_k c_k columns_k = right, as found modulo a prime, or None."""
    rng = Random(9)
    evaluators = [Evaluator(f) for f in (*columns, right)]
    rows: list[list[int]] = []
    while len(rows) < len(columns) + 5:
        point = random_point(right.field, rng)
        try:
            rows.append([e(point) for e in evaluators])
        except Pole:
            continue
    solutions = [v for v in nullspace(rows) if v[-1]]
    if not solutions:
        return None
    best = min(solutions, key=lambda v: sum(1 for c in v if c))
    return tuple(Fraction(-c, best[-1]) for c in best[:-1])
