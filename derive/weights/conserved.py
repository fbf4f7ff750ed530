"""Stages 2 and 3: the Lie algebra of the fields grad F_i, and laws, c with <grad c, grad F_i> = 0.

The leaf through w is the orbit of the Lie algebra; its dimension is the rank of the iterated
brackets, of which a rank modulo a prime at a random point is a lower bound.

Laws, the logarithm of a warp, dual coordinates and the conjugate R are each an f with given slopes
X_a f = h_a, sought as a combination of given functions. That is linear in its coefficients, which
are numbers or functions of the parameters. They are read off a nullspace modulo a prime at random
points: proposals, until X_a f = h_a holds exactly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import comb, prod
from random import Random
from typing import TypeAlias

from flint import nmod, nmod_mat

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import (
    LogFunction,
    darboux_factors,
    generator_monomials,
    laurent_monomials,
    monomials,
    normalized,
    separate_monomials,
    with_poles,
)
from derive.exact.linear.matrix import determinant, dot, nullspace_over_constants
from derive.exact.linear.modular import (
    Evaluator,
    Pole,
    Row,
    by_monomials,
    inverse,
    nullspace,
    random_point,
    rank,
    saturated,
    supports,
)
from derive.model.geometry import Field
from derive.model.labels import quoted
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.witness import independent_point


@dataclass(frozen=True)
class LieStructure:
    """Brackets of the fields X_a = grad F_a.

    Attributes:
        brackets: [X_a, X_b] for a < b, by (a, b) counted from 0.
        spanning: fields that span the Lie algebra at a generic point: those of X_1, ..., X_d
            that are independent, then iterated brackets.
        dimension: proved lower bound of the generic dimension; equal to it with probability 1.
        commuting: whether every bracket [X_a, X_b] is identically zero (exact); None where not
            all were computed.
        words: the spanning fields as iterated brackets, such as ``[X1, [X1, X2]]``.
    """

    parameterization: Parameterization
    brackets: dict[tuple[int, int], Field] = dataclasses.field(hash=False)
    spanning: tuple[Field, ...]
    dimension: int
    commuting: bool | None
    words: tuple[str, ...]

    @functools.cached_property
    def point(self) -> tuple[tuple[str, Fraction], ...] | None:
        """Rational weights at which the spanning fields are proved independent, or None."""
        return independent_point(self.parameterization, self.spanning)

    @classmethod
    def of_fields(cls, p: Parameterization) -> LieStructure:
        """Return what is known before any bracket is: some of the d fields are independent."""
        words, fields = tuple(f"X{p.labels[i]}" for i in p.independent), p.fields
        return cls(p, {}, tuple(fields[i] for i in p.independent), p.rank, None, words)


def bracket(x: Field, y: Field) -> Field:
    """Return [x, y] = (Dy) x - (Dx) y, p functions of the weights."""
    field = x[0].field
    return tuple(
        dot(x, field.gradient(yk)) - dot(y, field.gradient(xk)) for xk, yk in zip(x, y, strict=True)
    )


def find_lie_structure(p: Parameterization) -> LieStructure:
    """Return the brackets of the gradient fields and the dimension of what they generate.

    The leaf through w is spanned by X_a, [X_a, X_b], [X_a, [X_b, X_c]], ..., X_a = grad F_a.

    Args:
        p: d outputs in p weights.

    Returns:
        the d (d - 1)/2 brackets, and spanning fields, each of p functions of the weights.

    Source: Frobenius' theorem; Marcotte, Gribonval, Peyre 2023 (NeurIPS), for gradient flows.
    """
    fields = p.fields
    brackets = {(a, b): bracket(fields[a], fields[b]) for a, b in combinations(range(p.d), 2)}
    commuting = all(x.is_zero() for field in brackets.values() for x in field)
    named = [(f"X{p.labels[i]}", fields[i]) for i in p.independent]
    if not commuting:
        pairs = ((f"[X{p.labels[a]}, X{p.labels[b]}]", z) for (a, b), z in brackets.items())
        named += closure(p, named, pairs)
    words, spanning = zip(*named, strict=True)
    return LieStructure(p, brackets, spanning, len(spanning), commuting, words)


def closure(
    p: Parameterization, spanning: Sequence[tuple[str, Field]], more: Iterable[tuple[str, Field]]
) -> Iterator[tuple[str, Field]]:
    """Yield what is spanned by *more*, closed under brackets with each X_a, beside other fields.

    As far as the rank at one point grows.
    """
    point, pending = random_point(p.field, Random(0)), [*more]
    values = [[Evaluator(x)(point) for x in field] for _, field in spanning]
    while pending and len(values) < p.p:
        word, candidate = pending.pop(0)
        try:
            value = [Evaluator(x)(point) for x in candidate]
        except Pole:
            continue
        if rank([*values, value]) > len(values):
            values.append(value)
            yield word, candidate
            own = zip(p.labels, p.fields, strict=True)
            pending += [(f"[X{i}, {word}]", bracket(x, candidate)) for i, x in own]


def along(x: Field, function: RationalFunction) -> RationalFunction:
    """Return the derivative of *function* along the field x: <x, grad function>."""
    return dot(x, function.field.gradient(function))


Coefficients: TypeAlias = Sequence[int | RationalFunction]
Rows: TypeAlias = Sequence[Sequence[RationalFunction]]
"""Equations sum_k c_k row_k = 0 for unknown constants c."""


def with_slopes(
    p: Parameterization, family: Sequence[LogFunction], sides: Rows
) -> tuple[LogFunction, ...] | None:
    """Return for each of the sides h a combination f of few members with X_a f = h_a, or None."""
    size = len(family)
    rows = [
        [*(f.along(x) for f in family), *(-h[a] for h in sides)] for a, x in enumerate(p.fields)
    ]
    proved, found = dict[int, LogFunction](), coefficients(p, rows)
    laws = [v for v in found if not any(c != 0 for c in v[size:])]
    for vector in sorted((_fewest(v, laws) for v in found if v not in laws), key=terms_in):
        scales = {k: c for k, c in enumerate(vector[size:]) if c != 0}
        if len(scales) == 1 and not scales.keys() & proved.keys():
            ((k, scale),) = scales.items()
            f = log_combination(p, vector[:size], family).scaled(p.field.one / scale)
            if has_slopes(p, f, sides[k]):
                proved[k] = f
    return tuple(proved[k] for k in sorted(proved)) if len(proved) == len(sides) else None


def _fewest(vector: Coefficients, laws: Sequence[Coefficients]) -> Coefficients:
    """Return a combination, times a number, with fewer members by what is conserved."""
    ways = (
        [c * law[k] - vector[k] * a for c, a in zip(vector, law, strict=True)]
        for law in laws
        for k, a in enumerate(law)
        if a != 0 and vector[k] != 0
    )
    shorter = min(ways, key=terms_in, default=vector)
    return vector if terms_in(shorter) >= terms_in(vector) else _fewest(shorter, laws)


def has_slopes(p: Parameterization, f: LogFunction, h: Sequence[RationalFunction]) -> bool:
    """Tell exactly whether X_a f = h_a for every a: the check behind all that is sought."""
    return all(f.along(x) == slope for x, slope in zip(p.fields, h, strict=True))


def coefficients(p: Parameterization, rows: Rows) -> Sequence[Coefficients]:
    """Return independent constant vectors c with sum_k c_k row_k = 0, as seen at random points."""
    matrix = _equations(p, rows)
    if not p.field.constants:
        return nullspace(matrix)
    return [*over_parameters(matrix, lambda k: [row[k] for row in rows])]


def integer_relations(p: Parameterization, rows: Rows) -> list[tuple[int, ...]]:
    """Return those of whole numbers, where there are parameters as well."""
    return nullspace(_equations(p, rows))


def _equations(p: Parameterization, rows: Rows) -> nmod_mat:
    """Return what coefficients solve modulo the prime: by monomials, else at random points."""
    matrix = by_monomials(rows)
    return _at_points(p, rows) if matrix is None else matrix


def _at_points(p: Parameterization, rows: Rows) -> nmod_mat:
    """Return the rows at enough random points modulo the prime."""
    rng = Random(2)
    # What several rows share is evaluated once.
    places = {f: k for k, f in enumerate(dict.fromkeys(chain(*rows)))}
    evaluators, indices = [*map(Evaluator, places)], [[places[f] for f in row] for row in rows]

    def draw() -> list[list[nmod]]:
        point = random_point(p.field, rng)
        with suppress(Pole):
            values = [e(point) for e in evaluators]
            return [[values[k] for k in row] for row in indices]
        return []

    return saturated(len(rows[0]), draw)


def over_parameters(
    matrix: nmod_mat, column: Callable[[int], Sequence[RationalFunction]]
) -> Iterator[list[RationalFunction]]:
    """Yield constant vectors that some columns of functions have, by where those modulo p live."""
    for support in supports(matrix):
        columns = [column(k) for k in support]
        zero = columns[0][0].field.zero
        for vector in nullspace_over_constants(columns):
            entries = dict(zip(support, vector, strict=True))
            yield [entries.get(k, zero) for k in range(matrix.ncols())]


def particular_solutions(p: Parameterization, rows: Rows) -> list[tuple[int, ...]]:
    """Return the integer relations that use the last column, those of fewest terms first."""
    return sorted((v for v in integer_relations(p, rows) if v[-1]), key=terms_in)


def terms_in(vector: Coefficients) -> int:
    """Return how many coefficients are not zero."""
    return sum(1 for c in vector if c != 0)


def combination(
    p: Parameterization, coefficients: Coefficients, functions: Sequence[RationalFunction]
) -> RationalFunction:
    """Return sum_k c_k f_k."""
    pairs = zip(coefficients, functions, strict=True)
    return sum((c * f for c, f in pairs if c != 0), p.field.zero)


def log_combination(
    p: Parameterization, coefficients: Coefficients, functions: Sequence[LogFunction]
) -> LogFunction:
    """Return sum_k c_k f_k."""
    total = LogFunction(p.field.zero)
    for c, f in zip(coefficients, functions, strict=True):
        if c != 0:
            total += f.scaled(p.field.constant(c) if isinstance(c, int) else c)
    return total


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
        logarithmic: one more, a sum of logarithms and functions of the weights.
    """

    lie: LieStructure
    laws: tuple[RationalFunction, ...]
    bound: int
    completeness: Finding
    darboux: tuple[RationalFunction, ...]
    logarithmic: LogFunction | None = None

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
            law = normalized(candidate)
            if law.is_constant() or any(not along(x, law).is_zero() for x in p.fields):
                continue
            try:
                law = _regular(p, law)
                gradient = [Evaluator(x)(point) for x in p.field.gradient(law)]
            except Pole:
                continue
            if rank([*gradients, gradient]) > len(laws):
                laws.append(law)
                gradients.append(gradient)
            if len(laws) == bound:
                break
    complete = _completeness(p, [*map(LogFunction, laws)], bound)
    return ConservedQuantities(lie, tuple(laws), bound, complete, darboux)


def _minors(p: Parameterization) -> list[RationalFunction]:
    """Return the d x d minors of J, whose squares make det K: where all are 0 the flow is stuck."""
    if p.d > 3 or comb(p.p, p.d) > MAXIMAL_MINORS:
        return []
    columns = combinations(zip(*p.covectors, strict=True), p.d)
    found = (determinant(tuple(chosen)) for chosen in columns)
    return [minor for minor in found if not minor.is_zero()]


def _regular(p: Parameterization, law: RationalFunction) -> RationalFunction:
    """Return the law, or its inverse, with a value at the start; Pole where neither has one.

    Where F has a negative degree so has a quotient: forms whose degrees have one sign have finitely
    many monomials of a degree.
    """
    ways = [law, p.field.one / law]
    quotient = {*p.field.polynomial(law.denominator).variables()} - p.field.constants.keys()
    turned = quotient and p.F[0].degree() < 0 < law.degree()
    for way in ways[::-1] if turned else ways:
        with suppress(ZeroDivisionError):
            p.at_start(way)
            return way
    raise Pole


def with_logarithm(conserved: ConservedQuantities, law: LogFunction | None) -> ConservedQuantities:
    """Return the laws with one that has logarithms, independent of them, and a value at w_0."""
    p, laws = conserved.parameterization, [*map(LogFunction, conserved.laws)]
    if law is None or len(laws) >= conserved.bound:
        return conserved
    laws.append(law)
    units = [[p.field.constant(j == k) for j in range(p.p)] for k in range(p.p)]
    point = random_point(p.field, Random(0))
    try:
        law.mapped(p.at_start)
        gradients = [[Evaluator(f.along(x))(point) for x in units] for f in laws]
    except (Pole, ValueError, ZeroDivisionError):  # a coefficient that moves, or log 0 at the start
        return conserved
    if rank(gradients) < len(laws):
        return conserved
    complete = _completeness(p, laws, conserved.bound)
    return dataclasses.replace(conserved, logarithmic=law, completeness=complete)


def _completeness(p: Parameterization, laws: Sequence[LogFunction], bound: int) -> Finding:
    written = [(f"c{i}", law, quoted(str(law), p)) for i, law in enumerate(laws, 1)]
    evidence = tuple(
        Identity(f"<grad {c}, grad F{j}> = 0, {c} = {text}", repr(law.along(x)), "0")
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

    Of one output also sums, and products, of functions of one weight each.
    """
    for degree in (1, 2):
        yield _monomial_laws(p, tuple(monomials(p.p, degree)))
    if p.field.kinds:
        for reach in (2,) if "power" in p.field.kinds else (1, 2):
            yield _monomial_laws(p, tuple(generator_monomials(p.field, reach)))
    reach = max(6, abs(2 - (p.degree or 2)))
    for degree in range(-1, -reach - 1, -1):
        yield _monomial_laws(p, tuple(laurent_monomials(p.p, degree, 0)))
    yield _darboux_laws(p, with_poles(darboux, [f for x in p.fields for f in x]))
    yield _monomial_laws(p, tuple(laurent_monomials(p.p, 0, 2)))
    if p.degree is None:
        yield _monomial_laws(p, tuple(m for n in (1, 2, 3) for m in monomials(p.p, n)))
    for degree in range(3, MAXIMAL_DEGREE + 1):
        if comb(p.p + degree - 1, degree) <= MAXIMAL_COLUMNS:
            yield _monomial_laws(p, tuple(monomials(p.p, degree)))
    if p.d == 1:  # where dw_i/dw_j is a quotient of functions of w_i and w_j
        yield _monomial_laws(p, tuple(separate_monomials(p.field, MAXIMAL_DEGREE)))
        yield _darboux_laws(p, with_poles(darboux, _both_ways(p.fields[0])))


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


def _both_ways(x: Field) -> list[RationalFunction]:
    """Return the components and their inverses, which have poles where these are 0."""
    return [f for y in x if not y.is_zero() for f in (y, 1 / y)]


def _darboux_laws(
    p: Parameterization, known: Sequence[RationalFunction]
) -> Iterator[RationalFunction]:
    """Yield products P_1^n_1 ... P_k^n_k whose logarithmic derivatives along the flow cancel."""
    if len(known) < 2:
        return
    cofactors = [[along(x, f) / f for f in known] for x in p.fields]
    for vector in integer_relations(p, cofactors):
        if sum(map(abs, vector)) <= 12:
            yield prod((f**n for n, f in zip(vector, known, strict=True)), start=p.field.one)
