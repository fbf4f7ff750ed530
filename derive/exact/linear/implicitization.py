"""Write functions of the weights as algebraic functions of others, by exact linear algebra.

For functions f, g_1, ..., g_n of the weights, a relation P(f, g) = 0 is a vector in the nullspace
of the matrix whose columns are the monomials of one weighted degree at random points modulo a
prime. It is found in milliseconds where Groebner bases do not return, and it is accepted only
after P(f(w), g(w)) was expanded exactly and is the zero polynomial.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import prod

from flint import nmod

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import nullspace_over_constants
from derive.exact.linear.modular import (
    kernel,
    random_point,
    random_point_and_parameters,
    reconstruct,
    residue_matrix,
)
from derive.exact.linear.monomials import Grading, Samples, monomial_rows

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
        exponents = list(self._grading.monomials(total, self._powers))
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
                return Relation(tuple(map(self._outer.embed, relation.coefficients)), self._target)
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
    # Forms of positive degree are sought among those of one degree.
    if target.degree() < 0 < (1 / target).degree():
        inverse = express(1 / target, coordinates, highest)
        return None if inverse is None else 1 / inverse
    relation = find_relation(target, coordinates, powers=(0, 1), highest=highest)
    if relation is None:
        return None
    return -relation.coefficients[0] / relation.coefficients[1]
