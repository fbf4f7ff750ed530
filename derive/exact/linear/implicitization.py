"""Write functions of the weights as algebraic functions of others, by exact linear algebra.

For functions f, g_1, ..., g_n of the weights, a relation P(f, g) = 0 is a vector in the nullspace
of the matrix whose columns are the monomials of one weighted degree at random points modulo a
prime. It is found in milliseconds where Groebner bases do not return, and it is accepted only
after P(f(w), g(w)) was expanded exactly and is the zero polynomial.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from math import prod
from operator import floordiv
from random import Random
from typing import TypeAlias

from flint import nmod, nmod_poly

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import evaluate
from derive.exact.linear.matrix import nullspace_over_constants
from derive.exact.linear.modular import (
    Evaluator,
    Pole,
    kernel,
    modulus_of,
    random_point,
    random_point_and_parameters,
    reconstruct,
    residue_matrix,
)
from derive.exact.linear.scalings import told_apart

Draw: TypeAlias = Callable[[FunctionField, Random], tuple[nmod, ...]]

DEGREE_ZERO, OF_MANY = 4, 2
"""The highest power of a function of degree 0 in a monomial, and where there are more than two.

Of one alone it is the degree of the target, if that is more.
"""


@dataclass(frozen=True)
class Grading:
    """The degrees that functions count for in monomials of one weighted degree.

    Attributes:
        weights: of each function, the target's first; the others may have degree 0.
        exact: whether the degree has to be met, as for homogeneous functions; else it is a bound.
        free: the highest power of one of degree 0.
    """

    weights: tuple[int, ...]
    exact: bool
    free: int = DEGREE_ZERO

    @classmethod
    def of(cls, functions: Sequence[RationalFunction]) -> Grading:
        """Return the degrees of homogeneous functions, else bounds on those of all.

        Functions that are independent of the weights, as exponentials, count as variables. One that
        occurs in powers of x^n alone counts for x^n.
        """
        degrees = tuple(f.degree() for f in functions)
        if min(degrees) >= 0 < degrees[0] and all(map(_is_form, functions)):
            return cls(degrees, True, _free(degrees.count(0), functions[0]))
        return cls(_bounds(functions), False)

    def monomials(
        self, total: int, powers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, ...]]:
        """Yield exponents of weighted degree *total*, high *powers* last, to be solved for."""
        first, *others = self.weights
        for power in sorted(range(total // first + 1) if powers is None else powers):
            rest = total - power * first
            if rest >= 0:
                for tail in self._compositions(others, rest):
                    yield (power, *tail)

    def _compositions(self, weights: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
        step = math.gcd(*weights)
        if self.exact and (total % step if step else total):
            return
        if not weights:
            yield ()
            return
        highest = total // weights[0] if weights[0] else self.free
        for power in range(highest, -1, -1):
            for tail in self._compositions(weights[1:], total - power * weights[0]):
                yield (power, *tail)


def _free(count: int, target: RationalFunction) -> int:
    """Return the highest power of one of some functions of degree 0."""
    if count != 1:
        return OF_MANY if count > 2 else DEGREE_ZERO
    return max(DEGREE_ZERO, *(int(x.total_degree()) for x in target.parts))


def _bounds(functions: Sequence[RationalFunction]) -> tuple[int, ...]:
    """Return the degrees of functions, whose variables count as the powers of them that occur."""
    monomials = [[e for x in f.parts for e in x.monoms()] for f in functions]
    columns = zip(*(e for own in monomials for e in own), strict=True)
    steps = [math.gcd(*map(int, column)) or 1 for column in columns]
    total = (max(sum(map(floordiv, e, steps)) for e in own) for own in monomials)
    return tuple(max(1, int(n)) for n in total)


def _is_form(f: RationalFunction) -> bool:
    """Tell whether numerator and denominator are forms in variables without a relation."""
    used, free = f.variables(), {*f.field.weights}
    free |= {g.name for g in f.field.generators if g.kind != "parameter" and not g.relation()}
    return {*used} <= free and all(len({sum(e) for e in x.monoms()}) <= 1 for x in f.parts)


class Samples:
    """Values of functions at points that are drawn modulo the prime, where none has a pole."""

    def __init__(self, functions: Sequence[RationalFunction], draw: Draw) -> None:
        """Draw points for their field, the same in every search: values are kept."""
        self._values, self._next = [_values(f, draw) for f in functions], 0
        self._rows: list[tuple[nmod, ...]] = []

    def first(self, size: int) -> list[tuple[nmod, ...]]:
        """Return the values at so many points."""
        while len(self._rows) < size:
            with suppress(Pole):
                self._rows.append(tuple(values(self._next) for values in self._values))
            self._next += 1
        return self._rows[:size]


@functools.lru_cache(maxsize=512)
def _values(function: RationalFunction, draw: Draw) -> Callable[[int], nmod]:
    """Return the value of a function at the point with a number, each computed once."""
    evaluate, points = Evaluator(function), _points(function.field, draw)
    return functools.cache(lambda k: evaluate(points(k)))


@functools.lru_cache(maxsize=32)
def _points(field: FunctionField, draw: Draw) -> Callable[[int], tuple[nmod, ...]]:
    return functools.cache(lambda k: draw(field, Random(k)))


def monomial_rows(
    exponents: Sequence[tuple[int, ...]], samples: Sequence[Sequence[nmod]]
) -> Iterator[list[nmod | int]]:
    """Yield the monomials with the given exponents at each sample, modulo the prime."""
    highest = [range(max(column) + 1) for column in zip(*exponents, strict=True)]
    # Each is one that stands before it times a power: most begin as others do.
    places: dict[tuple[int, ...], int] = {(): 0}
    steps, chosen = list[tuple[int, int, int]](), list[int]()
    for e in exponents:
        prefix: tuple[int, ...] = ()
        for k, n in ((k, n) for k, n in enumerate(e) if n):
            before, prefix = places[prefix], (*prefix, k, n)
            if prefix not in places:
                places[prefix] = len(steps) + 1
                steps.append((before, k, n))
        chosen.append(places[prefix])
    for sample in samples:
        powers = [[x**n for n in up] for x, up in zip(sample, highest, strict=True)]
        values: list[nmod | int] = [1]
        for before, k, n in steps:
            values.append(values[before] * powers[k][n])
        yield [values[place] for place in chosen]


def series_along(
    flow: Sequence[RationalFunction], function: RationalFunction, start: Sequence[nmod], order: int
) -> tuple[int, ...]:
    """Return Taylor coefficients modulo the prime of function(w(t)), w' = flow; or raise Pole."""
    modulus = modulus_of(start)
    weights = [nmod_poly([x], modulus) for x in start]
    for known in range(1, order):
        slopes = [_along(component, weights, known) for component in flow]
        weights = [
            nmod_poly([x, *(c / nmod(k, modulus) for k, c in enumerate(slope, 1))], modulus)
            for x, slope in zip(start, (_list(x, known) for x in slopes), strict=True)
        ]
    return tuple(_list(_along(function, weights, order), order))


def _along(function: RationalFunction, weights: Sequence[nmod_poly], order: int) -> nmod_poly:
    modulus = weights[0].modulus()
    top, bottom = (evaluate(x, weights, lambda c: nmod_poly([c], modulus)) for x in function.parts)
    if not bottom[0]:
        raise Pole
    return top.mul_low(bottom.inverse_series_trunc(order), order)


def _list(polynomial: nmod_poly, size: int) -> list[int]:
    coefficients = [int(c) for c in polynomial.coeffs()[:size]]
    return coefficients + [0] * (size - len(coefficients))


MAXIMAL_MONOMIALS = 160


@dataclass(frozen=True)
class Relation:
    """P(t; g_1, ..., g_n) = 0 identically in the weights, linear combination with integers.

    Attributes:
        coefficients: P as a list of coefficients of t^0, t^1, ..., polynomials in g.
        target: the function of the weights that t stands for.
    """

    coefficients: tuple[RationalFunction, ...]
    target: RationalFunction

    @property
    def degree(self) -> int:
        """The degree in t."""
        return len(self.coefficients) - 1

    def over(self, field: FunctionField) -> Relation:
        """Return it with coefficients in a field that has their names."""
        return replace(self, coefficients=tuple(map(field.embed, self.coefficients)))


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Named functions of the weights, in which others are to be written.

    Attributes:
        field: Q(names), one name for each function.
        functions: the functions of the weights, in the order of the names.
    """

    field: FunctionField
    functions: tuple[RationalFunction, ...]

    @classmethod
    def of(cls, named: Sequence[tuple[str, RationalFunction]]) -> Coordinates:
        """Collect (name, function) pairs."""
        return cls(FunctionField(tuple(n for n, _ in named)), tuple(f for _, f in named))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coordinates):
            return NotImplemented
        return self.field.names == other.field.names and self.functions == other.functions

    def __hash__(self) -> int:
        return hash((self.field.names, self.functions))

    def beside(self, target: RationalFunction) -> Coordinates:
        """Return those that a relation with *target* can use, as far as variables tell.

        A function that has a variable which no other has is independent of all of them.
        """
        sought, uses = _variables(target), [_variables(f) for f in self.functions]
        if not sought:
            return self
        kept = [*range(len(uses))]
        while True:
            counts = Counter(chain(sought, *(uses[k] for k in kept)))
            left = [k for k in kept if all(counts[name] > 1 for name in uses[k])]
            if len(left) == len(kept):
                return Coordinates.of([(self.field.names[k], self.functions[k]) for k in kept])
            kept = left

    def pull_back(self, element: RationalFunction) -> RationalFunction:
        """Return an element of Q(names) as the function of the weights that it is."""
        return element.compose(self.functions, self.functions[0].field)


def _variables(f: RationalFunction) -> set[str]:
    """Return the independent names that occur in f, or under its roots, but for constants."""
    found = {*f.variables()}
    for g in reversed(f.field.generators):
        if g.name in found and g.relation():
            # a sine is a root over the cosine, of which the argument is independent
            inside = g.exponent if g.kind == "sin" else g.argument
            found = found.union(inside.variables()) - {g.name}
    return found - f.field.constants.keys()


class RelationSearch:
    """The search for a relation between *target* and coordinates, one weighted degree at a time.

    Args:
        target: the function t of the weights.
        coordinates: what it is to be tied to.
        powers: the exponents of t that may occur; all by default, (0, n) to write t^n as a
            quotient of polynomials in the coordinates.
        limit: the largest number of monomials.
    """

    def __init__(
        self,
        target: RationalFunction,
        coordinates: Coordinates,
        powers: Sequence[int] | None = None,
        *,
        limit: int = MAXIMAL_MONOMIALS,
    ) -> None:
        self._outer, coordinates = coordinates.field, coordinates.beside(target)
        given, constants = enumerate(coordinates.functions), target.field.constants.keys()
        self._moving = [k for k, f in given if {*f.variables()} - constants]
        self._fixed = len(self._moving) < len(coordinates.functions)
        functions = (target, *(coordinates.functions[k] for k in self._moving))
        self._functions = functions
        self._target = target
        self._coordinates = coordinates
        self._powers = powers
        self._grading = Grading.of([_without_constants(f) for f in functions])
        self._limit = limit
        draw = random_point if self._fixed else random_point_and_parameters
        self._samples = Samples(functions, draw)
        self.exhausted = False

    def at(self, total: int) -> Relation | None:
        """Return a relation of weighted degree *total*, proved by expansion, or None."""
        if self.exhausted or not self._moving:
            return None
        monomials = self._grading.monomials(total, self._powers)
        exponents = list(islice(monomials, self._limit + 1))
        if len(exponents) > self._limit:
            self.exhausted = True
            return None
        if not any(e[0] for e in exponents) or len(exponents) < 2:
            return None
        samples = self._samples.first(len(exponents) + 4)
        vectors = kernel(residue_matrix([*monomial_rows(exponents, samples)]))
        found = (self._along(v, exponents) for v in _sparse(vectors, exponents))
        return next(filter(None, found), None)

    def _along(
        self, seen: Mapping[int, nmod], exponents: Sequence[tuple[int, ...]]
    ) -> Relation | None:
        """Return a relation with the monomials of a vector modulo the prime, proved, or None."""
        there, chosen = self._coordinates.field, [exponents[k] for k in sorted(seen)]
        gens = [there.gens[k] for k in self._moving]
        for vector in self._exact(seen, chosen):
            terms = [there.zero] * (1 + max(e[0] for e in chosen))
            for c, (power, *tail) in zip(vector, chosen, strict=True):
                terms[power] += there.embed(c) * _monomial(tail, gens)
            # Powers of a function of degree 0 are free in a monomial, and may be common to all.
            relation = Relation(_whole(terms), self._target)
            # A multiple of a relation among the coordinates alone says nothing about the target.
            lives = not self._coordinates.pull_back(terms[-1]).is_zero()
            if lives and relation.degree and holds(relation, self._coordinates):
                return relation.over(self._outer)
        return None

    def _exact(
        self, seen: Mapping[int, nmod], chosen: Sequence[tuple[int, ...]]
    ) -> Iterator[Sequence[RationalFunction]]:
        """Yield vectors of rationals, or of constants that are coordinates, where one was seen."""
        there = self._coordinates.field
        if self._fixed:
            members = [(_monomial(e, self._functions),) for e in chosen]
            for vector in nullspace_over_constants(members):
                if {*chain(*(c.variables() for c in vector))} <= {*there.names}:
                    yield vector
            return
        numbers = [x for k in sorted(seen) if (x := reconstruct(seen[k])) is not None]
        if len(numbers) == len(chosen):
            yield [there.constant(x) for x in numbers]


def _monomial(exponents: Sequence[int], functions: Sequence[RationalFunction]) -> RationalFunction:
    field = functions[0].field
    return prod((f**n for f, n in zip(functions, exponents, strict=True) if n), start=field.one)


def _without_constants(f: RationalFunction) -> RationalFunction:
    """Return f with whole numbers for constants, for what degrees it has in what moves."""
    field = f.field
    known = {name: field.constant(1009 + k) for k, name in enumerate(sorted(field.constants))}
    images = [known.get(name, x) for name, x in zip(field.names, field.gens, strict=True)]
    try:
        return f.compose(images, field) if known else f
    except ZeroDivisionError:  # a divisor has a zero there
        return f


def _whole(coefficients: Sequence[RationalFunction]) -> tuple[RationalFunction, ...]:
    """Return coefficients times what makes them polynomials without a common factor."""
    field = coefficients[0].field
    below = reduce(lambda x, y: x * y / x.gcd(y), (c.denominator for c in coefficients))
    tops = [c.numerator * (below / c.denominator) for c in coefficients]
    common = reduce(lambda x, y: x.gcd(y), tops)
    return tuple(field.polynomial(x / common) for x in tops)


# A derivation that comes back with one more assumption on the start asks for the same again.
@functools.lru_cache(maxsize=512)
def find_relation(
    target: RationalFunction,
    coordinates: Coordinates,
    powers: tuple[int, ...] | None = None,
    highest: int = 12,
) -> Relation | None:
    """Return the relation of lowest weighted degree, at most *highest*, or None."""
    if powers == (0, 1) and told_apart(target, coordinates.functions):
        return None
    search = RelationSearch(target, coordinates, powers)
    return next(filter(None, map(search.at, range(1, highest + 1))), None)


def _sparse(
    vectors: Sequence[Mapping[int, nmod]], exponents: Sequence[tuple[int, ...]]
) -> list[Mapping[int, nmod]]:
    """Return the vectors that have the target, less relations without it, the sparsest first."""
    having = [v for v in vectors if any(exponents[k][0] for k in v)]
    others = [v for v in vectors if v not in having]
    return sorted((reduce(_sparsest, others[:20], v) for v in having), key=len)


def _sparsest(vector: Mapping[int, nmod], other: Mapping[int, nmod]) -> Mapping[int, nmod]:
    """Return a vector less a multiple of another, for each entry where that has fewer entries."""
    for k in other:
        if k in vector:
            factor = vector[k] / other[k]
            pairs = ((i, vector.get(i, 0) - factor * other.get(i, 0)) for i in {*vector, *other})
            reduced = {i: x for i, x in pairs if x}
            vector = reduced if len(reduced) < len(vector) else vector
    return vector


def holds(relation: Relation, coordinates: Coordinates) -> bool:
    """Tell exactly whether P(t(w); g(w)) is the zero function: the check behind each relation."""
    field = relation.target.field
    total = field.zero
    for n in range(relation.degree, -1, -1):
        total = total * relation.target + coordinates.pull_back(relation.coefficients[n])
    return total.is_zero()


def express(
    target: RationalFunction, coordinates: Coordinates, highest: int = 12
) -> RationalFunction | None:
    """Return *target* as a rational function of the coordinates, proved by expansion, or None."""
    if target.is_zero():
        return coordinates.field.zero
    # Forms of positive degree are sought among those of one degree, or all of negative degree.
    below = any(f.degree() < 0 for f in coordinates.functions)
    if not below and target.degree() < 0 < (1 / target).degree():
        inverse = express(1 / target, coordinates, highest)
        return None if inverse is None else 1 / inverse
    relation = find_relation(target, coordinates, powers=(0, 1), highest=highest)
    if relation is None:
        return None
    return -relation.coefficients[0] / relation.coefficients[1]
