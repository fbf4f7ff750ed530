"""Stage 3: conserved quantities, functions c(w) with <grad c, grad F_i> = 0 for every i."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from random import Random

from flint import nmod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import (
    darboux_factors,
    generator_monomials,
    laurent_monomials,
    monomials,
    normalized,
    separate_monomials,
)
from derive.exact.linear.matrix import determinant
from derive.exact.linear.modular import (
    Evaluator,
    Pole,
    Row,
    inverse,
    nullspace,
    random_point,
    rank,
    saturated,
)
from derive.model.labels import quoted
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.lie import LieStructure, along
from derive.weights.linear_search import combination, integer_relations, over_parameters

MAXIMAL_DEGREE = 4
MAXIMAL_COLUMNS = 400
MAXIMAL_MINORS = 6


@dataclass(frozen=True)
class ConservedQuantities:
    """Independent conserved quantities of gradient flow, and whether they are all.

    Attributes:
        laws: functionally independent functions, constant along the flow for every data set.
        bound: at most this many independent ones exist, p - dim Lie.
        completeness: PROVED when ``len(laws) == bound``.
        darboux: polynomials whose zero set the flow cannot cross.
    """

    lie: LieStructure
    laws: tuple[RationalFunction, ...]
    bound: int
    completeness: Finding
    darboux: tuple[RationalFunction, ...]

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.lie.parameterization

    @property
    def verdict(self) -> Verdict:
        """Whether the list is complete."""
        return self.completeness.verdict


def find_conserved(lie: LieStructure) -> ConservedQuantities:
    """Return independent conserved quantities, simplest first, with the completeness certificate.

    The laws of one family solve a linear system: <grad c, grad F_i> = 0 on its coefficients.
    Each candidate is accepted by that identity in Q(w); their independence and the bound
    p - dim Lie are ranks modulo a prime, which err on the safe side.

    Args:
        lie: the fields grad F_i and the dimension of the Lie algebra they generate.

    Returns:
        the laws; PROVED complete where there are p - dim Lie of them, else UNDECIDED.

    Source: Marcotte, Gribonval, Peyre 2023, "Abide by the law and follow the flow".
    """
    p = lie.parameterization
    bound = p.p - lie.dimension
    point = random_point(p.field, Random(0))
    squares = [p.geometry.inner(p.covectors[0], p.covectors[0])] if p.d == 1 else _minors(p)
    darboux = darboux_factors(p.field, p.fields, [*p.F, *squares])
    laws: list[RationalFunction] = []
    gradients: list[list[nmod]] = []
    for family in _families(p, darboux):
        if len(laws) >= bound:
            break
        for candidate in family:
            law = _regular(p, normalized(candidate))
            if law.is_constant() or any(not along(x, law).is_zero() for x in p.fields):
                continue
            try:
                gradient = [Evaluator(x)(point) for x in p.field.gradient(law)]
            except Pole:
                continue
            if rank([*gradients, gradient]) > len(laws):
                laws.append(law)
                gradients.append(gradient)
            if len(laws) == bound:
                break
    return ConservedQuantities(lie, tuple(laws), bound, _completeness(p, laws, bound), darboux)


def _minors(p: Parameterization) -> list[RationalFunction]:
    """Return the d x d minors of J, whose squares make det K: where all are 0 the flow is stuck."""
    if p.d > 3 or comb(p.p, p.d) > MAXIMAL_MINORS:
        return []
    columns = combinations(zip(*p.covectors, strict=True), p.d)
    found = (determinant(tuple(chosen)) for chosen in columns)
    return [minor for minor in found if not minor.is_zero()]


def _regular(p: Parameterization, law: RationalFunction) -> RationalFunction:
    """Return the law, or its inverse where the law has a pole at the start."""
    try:
        p.at_start(law)
    except ZeroDivisionError:
        return 1 / law
    return law


def _completeness(p: Parameterization, laws: Sequence[RationalFunction], bound: int) -> Finding:
    written = [(f"c{i}", law, quoted(repr(law), p)) for i, law in enumerate(laws, 1)]
    evidence = tuple(
        Identity(f"<grad {c}, grad F{j}> = 0, {c} = {text}", repr(along(x, law)), "0")
        for c, law, text in written
        for j, x in zip(p.labels, p.fields, strict=True)
    )
    if len(laws) == bound:
        reason = f"p - dim Lie = {bound} = number of independent laws found"
        return Finding(Verdict.PROVED, reason, evidence)
    reason = f"independent laws found: {len(laws)}; at most {bound} exist"
    return Finding(Verdict.UNDECIDED, reason, evidence)


def _families(
    p: Parameterization, darboux: tuple[RationalFunction, ...]
) -> Iterator[Iterator[RationalFunction]]:
    """Yield families of candidate laws: forms of degree 1 and 2, Laurent, Darboux, higher forms.

    Of one output also sums of functions of one weight each.
    """
    for degree in (1, 2):
        yield _monomial_laws(p, tuple(monomials(p.p, degree)))
    if p.field.kinds:
        for reach in (2,) if "power" in p.field.kinds else (1, 2):
            yield _monomial_laws(p, tuple(generator_monomials(p.field, reach)))
    reach = max(6, abs(2 - (p.degree or 2)))
    for degree in range(-1, -reach - 1, -1):
        yield _monomial_laws(p, tuple(laurent_monomials(p.p, degree, 0)))
    yield _darboux_laws(p, darboux)
    yield _monomial_laws(p, tuple(laurent_monomials(p.p, 0, 2)))
    if p.degree is None:
        yield _monomial_laws(p, tuple(m for n in (1, 2, 3) for m in monomials(p.p, n)))
    for degree in range(3, MAXIMAL_DEGREE + 1):
        if comb(p.p + degree - 1, degree) <= MAXIMAL_COLUMNS:
            yield _monomial_laws(p, tuple(monomials(p.p, degree)))
    if p.d == 1:  # where dw_i/dw_j is a quotient of functions of w_i and w_j
        yield _monomial_laws(p, tuple(separate_monomials(p.field, MAXIMAL_DEGREE)))


def _monomial_laws(
    p: Parameterization, exponents: tuple[tuple[int, ...], ...]
) -> Iterator[RationalFunction]:
    """Yield combinations of Laurent monomials that look conserved modulo a prime."""
    if not exponents or len(exponents) > MAXIMAL_COLUMNS:
        return
    rng = Random(1)
    flow = [list(map(Evaluator, row)) for row in p.flow]
    powers = [[(k, n) for k, n in enumerate(e) if n] for e in exponents]

    def draw() -> list[Row]:
        try:
            return _derivative_rows(powers, flow, random_point(p.field, rng))
        except Pole:
            return []

    rows = saturated(len(exponents), draw)
    members = [p.field.monomial(e) for e in exponents]

    def slopes(k: int) -> list[RationalFunction]:
        return [along(x, members[k]) for x in p.fields]

    for vector in over_parameters(rows, slopes) if p.field.constants else nullspace(rows):
        yield combination(p, vector, members)


def _derivative_rows(
    monomials: Sequence[Sequence[tuple[int, int]]],
    flow: Sequence[Sequence[Evaluator]],
    point: Sequence[nmod],
) -> list[Row]:
    """Return the derivatives of monomials, places with powers, along each grad F at *point*."""
    logarithmic = [
        [entry(point) * inverse(w) for entry, w in zip(row, point, strict=True)] for row in flow
    ]
    values = [prod(point[k] ** n for k, n in powers) for powers in monomials]
    return [
        [
            value * sum(n * row[k] for k, n in powers)
            for powers, value in zip(monomials, values, strict=True)
        ]
        for row in logarithmic
    ]


def _darboux_laws(
    p: Parameterization, factors: tuple[RationalFunction, ...]
) -> Iterator[RationalFunction]:
    """Yield products P_1^n_1 ... P_k^n_k whose logarithmic derivatives along the flow cancel."""
    if len(factors) < 2:
        return
    cofactors = [[along(x, f) / f for f in factors] for x in p.fields]
    for vector in integer_relations(p, cofactors):
        if sum(map(abs, vector)) <= 12:
            yield prod((f**n for n, f in zip(vector, factors, strict=True)), start=p.field.one)
