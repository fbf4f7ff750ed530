"""All real critical points of |w - w_0|^2 on F(w) = beta, as rational families.

The Lagrange conditions w - w_0 = J^T mu are split exactly: a product vanishes where a factor does,
a factor a x + b is solved for x where a is not zero, and otherwise both a and b are; a sphere is
run through by stereographic coordinates, but for its pole. No point is lost, so whatever holds on
every family holds at every critical point.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize
from derive.exact.linear.matrix import determinant, dot, rank
from derive.exact.linear.modular import shows_full_rank
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.critical.quadrics import definite_parts, sphere_axes, stereographic

MAXIMAL_BRANCHES = 400
HOPELESS = 1000
MAXIMAL_TERMS = 400
"""Of an equation on the way, beyond which the points are left open."""


@dataclass(frozen=True, eq=False)
class CriticalFamily:
    """Critical points of a problem: weights, multipliers, start symbols by free variables."""

    problem: ConstrainedProblem
    images: tuple[RationalFunction, ...]

    def of(self, function: RationalFunction) -> RationalFunction:
        """Return a function of all variables on the family."""
        return function.compose(self.images, self.problem.field)

    @property
    def w(self) -> tuple[RationalFunction, ...]:
        """The weights."""
        return self.images[: len(self.problem.weights)]

    @functools.cached_property
    def data(self) -> tuple[RationalFunction, ...]:
        """The outputs, then the start symbols: what R depends on."""
        problem = self.problem
        symbols = self.images[len(problem.weights) + len(problem.multipliers) :]
        return (*(self.of(f) for f in problem.F), *symbols)

    @functools.cached_property
    def distance(self) -> RationalFunction:
        """|w - w_0|^2."""
        away = [w - w0 for w, w0 in zip(self.problem.w, self.problem.w0, strict=True)]
        return self.of(dot(away, away))

    @functools.cached_property
    def dominant(self) -> bool:
        """Whether the family has points for an open set of beta and start values."""
        rows = differentials(self.data)
        if shows_full_rank(rows):
            return True
        free = [any(not row[k].is_zero() for row in rows) for k in range(len(rows[0]))]
        return sum(free) >= len(rows) and rank(rows) == len(rows)


def differentials(functions: Sequence[RationalFunction]) -> list[list[RationalFunction]]:
    """Return the partial derivatives of functions in all variables, one row each."""
    size = len(functions[0].field.names)
    return [[f.partial(k) for k in range(size)] for f in functions]


@functools.lru_cache(maxsize=32)
def singular_families(problem: ConstrainedProblem) -> tuple[CriticalFamily, ...]:
    """Return families that hold every w where J has rank below d."""
    columns = list(zip(*problem.jacobian, strict=True))
    minors = [determinant(chosen) for chosen in combinations(columns, len(problem.F))]
    return tuple(split(problem, minors))


@functools.lru_cache(maxsize=32)
def critical_families(problem: ConstrainedProblem) -> tuple[CriticalFamily, ...]:
    """Return families that hold every real critical point with w - w_0 = J^T mu."""
    return tuple(split(problem, problem.conditions))


def split(
    problem: ConstrainedProblem, equations: Sequence[RationalFunction]
) -> list[CriticalFamily]:
    """Return rational families that are the real zero set; Stopped where no variable is linear."""
    whole = _Part([e.numerator for e in equations], problem.field.gens, ())
    budget = iter(range(MAXIMAL_BRANCHES))
    return [CriticalFamily(problem, x) for x in _families(problem.field, whole, budget)]


@dataclass(frozen=True)
class _Part:
    """Points where equations are still to hold and some polynomials do not vanish.

    Both are in the variables that are left, and the images of all variables are functions of these.
    """

    equations: list[Polynomial]
    images: tuple[RationalFunction, ...]
    nonzero: tuple[Polynomial, ...]

    def where(self, *equations: Polynomial) -> _Part:
        """Return the points where more equations hold."""
        return replace(self, equations=[*equations, *self.equations])

    def on(self, values: Mapping[int, RationalFunction], field: FunctionField) -> _Part | None:
        """Return the points where some variables take values; None where there are none."""
        gens = [values.get(k, x) for k, x in enumerate(field.gens)]

        def put(polynomial: Polynomial) -> Polynomial:
            return field.polynomial(polynomial).compose(gens, field).numerator

        moved = [put(polynomial) for polynomial in self.nonzero]
        if any(polynomial.is_zero() for polynomial in moved):
            return None
        kept = _irreducible(moved)
        kept += [f for f in _irreducible(x.denominator for x in values.values()) if f not in kept]
        try:
            images = tuple(x.compose(gens, field) for x in self.images)
            return _Part([put(e) for e in self.equations], images, tuple(kept))
        except ZeroDivisionError:
            # It lies where something that does not vanish vanishes.
            return None


def _irreducible(polynomials: Iterable[Polynomial]) -> list[Polynomial]:
    return [f for polynomial in polynomials for f, _ in factorize(polynomial)[1]]


def _families(
    field: FunctionField, part: _Part | None, budget: Iterator[int]
) -> Iterator[tuple[RationalFunction, ...]]:
    """Yield the images of all variables on each family in a part."""
    if part is None:
        return
    if next(budget, None) is None:
        raise Stopped("the critical points fall into too many families")
    products = []
    for equation in part.equations:
        if equation.is_zero():
            continue
        if len(equation) > MAXIMAL_TERMS:
            raise Stopped("the equations of the critical points grow too large")
        factors = [f for f in _irreducible([equation]) if f not in part.nonzero]
        if not factors:
            return
        products.append(factors)
    if not products:
        yield part.images
        return
    choice = min(range(len(products)), key=lambda i: _effort(products[i]))
    rest = [functools.reduce(operator.mul, f) for i, f in enumerate(products) if i != choice]
    for k, factor in enumerate(products[choice]):
        # Points on an earlier factor have been found there.
        nonzero = (*part.nonzero, *products[choice][:k])
        for found in _solved(field, factor, _Part(rest, part.images, nonzero)):
            yield from _families(field, found, budget)


def _solved(field: FunctionField, factor: Polynomial, rest: _Part) -> Iterator[_Part | None]:
    """Yield the parts where a factor vanishes, by the variable that is easiest."""
    effort, k = _pivot(factor)
    if effort < HOPELESS:
        slope = factor.derivative(k)
        remainder = factor - slope * field.gens[k].numerator
        yield rest.on({k: field.quotient(-remainder, slope)}, field)
        if not slope.is_constant():
            yield rest.where(slope, remainder)
        return
    axes = sphere_axes(factor)
    if axes is not None:
        chart, pole = stereographic(field, axes)
        yield rest.on(chart, field)
        yield rest.where(*pole)
        return
    parts = definite_parts(factor)
    if parts is None:
        raise Stopped(
            "what is left of the Lagrange conditions is linear in no variable, nor a sphere"
        )
    if parts:
        yield rest.where(*parts)


def _effort(factors: list[Polynomial]) -> tuple[int, int, int]:
    return max(_pivot(f)[0] for f in factors), len(factors), sum(len(f) for f in factors)


def _pivot(factor: Polynomial) -> tuple[int, int]:
    """Return how hard it is to solve for the best variable, and its position."""
    best = HOPELESS, -1
    for k, degree in enumerate(factor.degrees()):
        if degree == 1:
            slope = factor.derivative(k)
            best = min(best, (0 if slope.is_constant() else len(slope), -k))
    return best[0], -best[1]
