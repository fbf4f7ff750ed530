"""Values modulo a prime: of monomials of one weighted degree, and of functions along a flow."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import floordiv
from random import Random
from typing import TypeAlias

from flint import nmod, nmod_poly

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import evaluate
from derive.exact.linear.modular import Evaluator, Pole, modulus_of

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
        if not weights:
            if total == 0 or not self.exact:
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
