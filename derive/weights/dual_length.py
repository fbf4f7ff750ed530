"""The dual length psi of a vector of open dimension: grad Q = psi u/|u|, by one linear system.

For y = psi u/n the dual equations <grad y_i, grad F_j> = g delta_ij hold in every dimension
exactly when g = psi r phi/n and <grad psi, grad s> = g, with the rate r of u. For log psi that is
linear,

    <grad log psi, grad s> = r phi/n,

so psi = exp(rational) prod P_k^c_k is found by one nullspace, and accepted by this identity of
rational functions. If moreover <grad t, grad s> + t r phi/n = |grad s|^2 then q = psi t is an
antiderivative of psi along the leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction, monomials
from derive.exact.linear.matrix import dot
from derive.model.direction import Direction
from derive.verdict import Identity
from derive.weights.adjoin import logarithm_within
from derive.weights.conserved import ConservedQuantities
from derive.weights.dual_families import MAXIMAL_COLUMNS
from derive.weights.linear_search import combination, particular_solutions

REACH = 4
"""The largest degree in the scalars, and the largest power of 1/n or n, of a term."""


@dataclass(frozen=True)
class DualLength:
    """log psi, up to a constant, and t with q = psi t where one was found, with the identities."""

    log_psi: LogFunction
    ratio: RationalFunction | None
    evidence: tuple[Identity, ...]


def find_dual_length(direction: Direction, conserved: ConservedQuantities) -> DualLength | None:
    """Return psi with <grad log psi, grad s> = r phi/n, and q = psi t, or None.

    Args:
        direction: of a vector u of open dimension, n = |u|.
        conserved: the laws of s, whose factors may occur in psi.

    Returns:
        log psi in families of Laurent monomials and logarithms, accepted by the identity.

    Source: derived here.
    """
    p = direction.parameterization
    rate = direction.turn
    logs = [((p.field.one, P),) for P in _arguments(direction, conserved)]
    terms = [LogFunction(p.field.zero, log) for log in logs]
    terms += [LogFunction(f) for f in _laurent(direction, 0) if not f.is_constant()]
    log_psi = logarithm_within(p, terms, [rate])
    if log_psi is None:
        return None
    ratio = _ratio(direction, rate)
    left = repr(log_psi.along(p.fields[0]))
    claim = f"<grad log psi, grad s> = {direction.pushed}/{direction.norm}"
    evidence = [Identity(claim, left, repr(rate), kind="length")]
    if ratio is not None:
        both = (repr(_growth(direction, ratio, rate)), repr(direction.R))
        evidence.append(Identity("<grad q, grad s> = psi |grad s|**2", *both))
    return DualLength(log_psi, ratio, tuple(evidence))


def _ratio(direction: Direction, rate: RationalFunction) -> RationalFunction | None:
    """Return t with <grad t, grad s> + t r phi/n = |grad s|^2, proved, or None."""
    p = direction.parameterization
    family = list(_laurent(direction, p.degree))
    row = [*(_growth(direction, f, rate) for f in family), direction.R]
    for *multiples, scale in particular_solutions(p, [row]):
        t = combination(p, multiples, family) / -scale
        if _growth(direction, t, rate) == direction.R:
            return t
    return None


def _growth(direction: Direction, t: RationalFunction, rate: RationalFunction) -> RationalFunction:
    p = direction.parameterization
    return dot(p.fields[0], p.field.gradient(t)) + t * rate


def _arguments(direction: Direction, conserved: ConservedQuantities) -> list[RationalFunction]:
    """Return n, the Darboux polynomials, and the factors of s and |grad s|^2."""
    found = [direction.n, *conserved.darboux]
    parts = (*direction.parameterization.F[0].parts, *direction.R.parts)
    found += [direction.n.field.polynomial(f) for x in parts for f, _ in factorize(x)[1]]
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
