"""The equations of critical points, and what is left of them without the weights.

A least w with F(w) = beta is a point where J has full rank and w - w_0 = J^T mu for multipliers mu,
or one where J has rank below d: beta is then a critical value of F. By Sard's theorem almost no
beta is, so that for almost all beta R is a root of the polynomial P(r; beta, start) that is left of

    w - w_0 = J^T mu,   F(w) = beta,   |w - w_0|^2 = r.

Along its points dr = 2 <mu, d beta> - 2 <w - w_0, d w_0>. On a factor of P that has any, therefore

    mu = -(dP/d beta)/(2 dP/dr),   w = w_0 + (dP/d w_0)/(2 dP/dr),   |dP/d w_0|^2 = 4 r (dP/dr)^2,

as far as the start has symbols of its own: then w is rational in r, beta and the start.

A Groebner basis eliminates exactly. Where one grows too large the zeros are split: a product
vanishes where a factor does, and f = a x^n + ... either where a and f - a x^n do, or where a does
not; there resultants with f, combinations of two polynomials, eliminate x. For n > 1 what holds at
no zero may come in as a factor, by resultants; none that holds is lost.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import cast

from flint import Ordering, fmpz_mpoly_ctx, fmpz_mpoly_vec

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import (
    Exponents,
    Polynomial,
    evaluate,
    factorize,
    reindexed,
    terms,
)
from derive.exact.linear.matrix import determinant, dot
from derive.explicit.constrained import ConstrainedProblem, Stopped

PARTS = 400
BASIS = (100, 100, 1000)
"""Polynomials of a Groebner basis, terms of one, and bits of a coefficient."""
LARGEST = 32_000
"""Of the bound on the products in a resultant, from the sizes of the two polynomials."""
FILLED = (80_000, 20_000_000)
"""Of the bound on a resultant's terms, from their degrees: whatever its products, and at all."""
TERMS = 3_000
"""Of a polynomial on the way."""


def eliminate(equations: Iterable[Polynomial], variables: Iterable[int]) -> tuple[Polynomial, ...]:
    """Return irreducible polynomials without the variables; at every common zero one vanishes.

    There are none where almost all values of the other variables have no common zero above them;
    with one variable left, none where there is no common zero.

    >>> from derive.exact.field.function_field import FunctionField
    >>> u, v, r, beta = (x.numerator for x in FunctionField(("u", "v", "r", "beta")).gens)
    >>> [str(f) for f in eliminate((u * v - beta, u**2 - v**2, u**2 + v**2 - r), (0, 1))]
    ['r + 2*beta', 'r - 2*beta']

    Raises:
        Stopped: there is none but 0, or what is on the way grows too large.
    """
    found = _vanishing(_Part(tuple(variables), list(equations), []), iter(range(PARTS)))
    return tuple(sorted(_irreducible(found), key=str))


@dataclass(frozen=True)
class _Part:
    """Points where equations hold, and some irreducible polynomials do not vanish."""

    variables: tuple[int, ...]
    equations: list[Polynomial]
    nonzero: list[Polynomial]

    def has(self, polynomial: Polynomial) -> bool:
        """Tell whether a polynomial has any of the variables."""
        return any(int(polynomial.degrees()[k]) for k in self.variables)

    def products(self) -> list[list[Polynomial]]:
        """Return, for each equation, the irreducible factors of which one is to vanish."""
        if any(len(f) > TERMS for f in self.equations):
            raise Stopped("the equations of the critical points grow too large")
        equations = (f for f in self.equations if not f.is_zero())
        return [[x for x in _irreducible([f]) if x not in self.nonzero] for f in equations]


def _vanishing(part: _Part, budget: Iterator[int]) -> list[Polynomial]:
    """Return irreducible polynomials of which one vanishes at every point of a part."""
    if next(budget, None) is None:
        raise Stopped("the critical points fall into too many parts")
    products = part.products()
    if [] in products or any(f.is_zero() for f in part.nonzero):
        return []
    part = replace(part, equations=list(map(_product, products)))
    free = [f for f in part.equations if not part.has(f)]
    if not free and products:
        basis = _basis(part)
        if basis is None:
            return _by_parts(part, products, budget)
        free = [f for f in basis if not part.has(f)]
    if not free:
        raise Stopped("the critical points are more than finitely many for most beta")
    factors = _irreducible([functools.reduce(lambda f, g: f.gcd(g), free)])
    return [f for f in factors if f not in part.nonzero]


def _by_parts(
    part: _Part, products: list[list[Polynomial]], budget: Iterator[int]
) -> list[Polynomial]:
    """Return the same on each factor of a product, or from resultants with one polynomial."""
    _, k, choice = min((_effort(part, x) for x in products), key=lambda x: x[:2])
    others = [_product(x) for x in products if x is not choice]
    if len(choice) > 1:
        # Points on an earlier factor have been met there.
        parts = [
            _Part(part.variables, [x, *others], [*part.nonzero, *choice[:n]])
            for n, x in enumerate(choice)
        ]
    else:
        (f,) = choice
        parts = _solved(part, f, k, others)
    return [f for x in parts for f in _vanishing(x, budget)]


def _solved(part: _Part, f: Polynomial, k: int, others: list[Polynomial]) -> list[_Part]:
    """Return the points with f = a x^n + ... = 0 and a != 0, without x, and those with a = 0."""
    n, slope = int(f.degrees()[k]), f
    for _ in range(n):
        slope = slope.derivative(k)  # n! a
    equations = [_resultant(x, f, k) for x in others]
    nonzero = [_resultant(x, f, k) for x in part.nonzero if n == 1 or not int(x.degrees()[k])]
    left = tuple(x for x in part.variables if x != k)
    parts = [_Part(left, equations, _irreducible([*nonzero, slope]))]
    if not slope.is_constant():
        rest = math.factorial(n) * f - slope * f.context().gen(k) ** n
        parts.append(replace(part, equations=[slope, rest, *others]))
    return parts


def _effort(
    part: _Part, factors: list[Polynomial]
) -> tuple[tuple[int, ...], int, list[Polynomial]]:
    """Return what it costs to go on with a product, the variable that is eliminated, and it.

    Linear with a number as slope comes first, then products, linear, and all others.
    """
    if len(factors) > 1:
        return (1, len(factors), sum(map(len, factors))), -1, factors
    (f,), costs = factors, list[tuple[tuple[int, ...], int]]()
    for k in part.variables:
        n = int(f.degrees()[k])
        if n == 1:
            slope = f.derivative(k)
            costs.append(((0, len(f)) if slope.is_constant() else (2, len(slope), len(f)), k))
        elif n:
            used = [d for g in part.equations if (d := int(g.degrees()[k]))]
            costs.append(((3, min(used) * max(used), sum(used), n, len(f)), k))
    return (*min(costs), factors)


def _product(factors: Iterable[Polynomial]) -> Polynomial:
    return functools.reduce(operator.mul, factors)


def _irreducible(polynomials: Iterable[Polynomial]) -> list[Polynomial]:
    return list({str(f): f for x in polynomials for f, _ in factorize(x)[1]}.values())


def _resultant(f: Polynomial, g: Polynomial, k: int) -> Polynomial:
    """Return the resultant in the variable k, if it is of moderate size; f where it has no k."""
    m, n = (int(x.degrees()[k]) for x in (f, g))
    if not m:
        return f
    degrees = [n * int(a) + m * int(b) for a, b in zip(f.degrees(), g.degrees(), strict=True)]
    used = [x for i, x in enumerate(degrees) if x and i != k]
    total = int(f.total_degree()) * int(g.total_degree())
    terms_of_it = min(math.prod(x + 1 for x in used), math.comb(total + len(used), len(used)))
    if n > 1 and terms_of_it > FILLED[len(f) * len(g) * m * n <= LARGEST]:
        raise Stopped("the resultants of the critical equations grow too large")
    return f.resultant(g, k)


def _basis(part: _Part) -> list[Polynomial] | None:
    """Return a Groebner basis of a part that eliminates its variables; None where it grows large.

    A variable t with t n = 1 keeps the product n of what does not vanish from vanishing.
    """
    ring = part.equations[0].context()
    names = ring.names()
    order = sorted(range(len(names)), key=lambda k: k not in part.variables)
    own = fmpz_mpoly_ctx.get(("t", *(names[k] for k in order)), Ordering.lex)
    equations, nonzero = (
        [reindexed(f, own) for f in x]
        for x in (part.equations, list(filter(part.has, part.nonzero)))
    )
    if nonzero:
        equations.append(own.gen(0) * _product(nonzero) - 1)
    members, complete = fmpz_mpoly_vec(equations, own).buchberger_naive(limits=BASIS)
    # The stubs of python-flint take them for numbers.
    basis = (f for f in cast("Iterable[Polynomial]", members) if not int(f.degrees()[0]))
    return [reindexed(f, ring) for f in basis] if complete else None


MAXIMAL_MINORS = 60
LONGEST = 100
"""Of the terms of a factor of P on which a determinant is evaluated."""


@dataclass(frozen=True)
class CriticalEquations:
    """Polynomials in d multipliers, p weights, r, and arguments of R without a number."""

    d: int
    p: int
    at_points: tuple[Polynomial, ...]
    of_distance: tuple[Polynomial, ...]

    @property
    def values(self) -> tuple[Polynomial, ...]:
        """Irreducible polynomials in r and the arguments, of which one vanishes at each point."""
        return eliminate((*self.at_points, *self.of_distance), range(self.d + self.p))

    @property
    def outputs(self) -> tuple[Polynomial, ...]:
        """Irreducible polynomials in the arguments, of which one vanishes at each point."""
        return eliminate(self.at_points, range(self.d + self.p))

    def values_of(self, weight: int) -> tuple[Polynomial, ...]:
        """Return irreducible polynomials in one of the weights, of which one vanishes."""
        others = (k for k in range(self.d + self.p) if k != self.d + weight)
        return eliminate(self.at_points, others)


def lagrange(problem: ConstrainedProblem, data: Sequence[Fraction | None]) -> CriticalEquations:
    """Return the conditions with multipliers; *data* are beta and the start, None where free.

    By Euler <w, J^T mu> = D <mu, beta> for F of degree D, so D <mu, beta> = <w, grad h>/2; of an h
    of degree n that is n r/2, and for |w - w_0|^2 it is r + <w_0, w - w_0>. This spares factors
    without critical points, which a start of free symbols tells apart.
    """
    degree = problem.degree or 0 if None in _own_symbols(problem) else 0
    return _equations(problem, data, problem.conditions, degree)


def singular(problem: ConstrainedProblem, data: Sequence[Fraction | None]) -> CriticalEquations:
    """Return the equations of the points with F(w) = beta where J has rank below d.

    Raises:
        Stopped: J has too many minors.
    """
    columns = list(combinations(zip(*problem.jacobian, strict=True), len(problem.F)))
    if len(columns) > MAXIMAL_MINORS:
        raise Stopped("the Jacobian has too many minors")
    return _equations(problem, data, map(determinant, columns))


def _equations(
    problem: ConstrainedProblem,
    data: Sequence[Fraction | None],
    conditions: Iterable[RationalFunction],
    degree: int = 0,
) -> CriticalEquations:
    """Return the conditions with F = beta, and the distance, that of Euler too for a degree."""
    d, p = len(problem.F), len(problem.weights)
    pairs = list(zip(problem.arguments, data, strict=True))
    free = [name for name, value in pairs if value is None]
    # Weights may be called r.
    weights = (f"weight {i}" for i in range(p))
    field = FunctionField((*problem.multipliers, *weights, "r", *free))
    mu, w, r = field.gens[:d], field.gens[d : d + p], field.gens[d + p]
    given = [field.named(name) if x is None else field.constant(x) for name, x in pairs]

    def on(f: RationalFunction) -> RationalFunction:
        return f.compose((*w, *mu, *given[d:]), field)

    h = on(problem.height.compose(problem.away, problem.field))
    reached = (on(f) - b for f, b in zip(problem.F, given[:d], strict=True))
    length = [h - r]
    if degree:
        n = field.constant(Fraction(problem.height.degree(), 2))
        length.append(
            degree * dot(mu, given[:d]) - dot(w, list(map(on, problem.slopes))) + n * (h - r)
        )
    points = (*reached, *map(on, conditions))
    return CriticalEquations(d, p, _numerators(points), _numerators(length))


def _numerators(functions: Iterable[RationalFunction]) -> tuple[Polynomial, ...]:
    return tuple(f.numerator for f in functions)


@functools.lru_cache(maxsize=32)
def critical_factors(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    """Return the irreducible factors of the polynomial P(r; beta, start) of all critical points.

    Those without r, which vanish for special beta only, are left out. Where the problem scales,
    P is found at alpha = 1, and is homogeneous for r of degree 2 and beta of degree D.

    Raises:
        Stopped: P was not found.
    """
    scales = bool(problem.single and problem.symbols)
    data = [*(None for _ in problem.F), *(Fraction(1) if scales else None for _ in problem.symbols)]
    first = len(problem.F) + len(problem.weights)
    values = [{e[first:]: c for e, c in terms(f)} for f in lagrange(problem, data).values]
    if scales:
        values = [_homogeneous(f, int(problem.degree or 0)) for f in values]
    found = [problem.ring.from_dict(f) for f in values if any(e[0] for e in f)]
    if len(found) > 1:
        found = [f for f in found if _may_be_distance(problem, f)]
    if not found:
        raise Stopped("no polynomial vanishes at the critical points of most beta")
    return tuple(sorted(found, key=str))


def _homogeneous(f: Mapping[Exponents, int], D: int) -> dict[Exponents, int]:
    """Return a polynomial in r and beta with powers of alpha, for degrees 2, D and 1."""
    top = max(2 * k + D * m for k, m in f)
    return {(k, m, top - 2 * k - D * m): c for (k, m), c in f.items()}


def _may_be_distance(problem: ConstrainedProblem, factor: Polynomial) -> bool:
    """Tell whether |dP/d w_0|^2 = 4 r (dP/dr)^2 on a factor, if the start is all symbols.

    Resultants bring in factors that have no critical points.
    """
    own = _own_symbols(problem)
    if None in own:
        return True
    slopes = [factor.derivative(k) for k in own if k is not None]
    r, slope = factor.context().gen(0), factor.derivative(0)
    total = sum((x * x for x in slopes), -4 * r * slope * slope)
    return bool(divmod(total, factor)[1].is_zero())


def _own_symbols(problem: ConstrainedProblem) -> list[int | None]:
    """Return, for each weight, the place of its start in P where that is a symbol of its own."""
    used = [name for x in problem.w0 for name in x.variables()]
    own = {
        problem.field.named(name): 1 + len(problem.F) + k
        for k, name in enumerate(problem.symbols)
        if used.count(name) == 1
    }
    return [own.get(x) for x in problem.w0]


def follow_from_distance(problem: ConstrainedProblem, factor: Polynomial) -> bool:
    """Tell whether the weights are proved rational in r and the data, on the only factor of P.

    Then for almost all data every real root r of it has real weights above it. The weights whose
    starts are no symbols of their own are to be those of a linear system, w - w_0 = J^T mu, with
    a determinant that is not 0.
    """
    own = _own_symbols(problem)
    others = [k for k, place in enumerate(own) if place is None]
    rows = tuple(tuple(problem.conditions[i].partial(j) for j in others) for i in others)
    if not others or any(x.depends_on(k) for row in rows for x in row for k in others):
        return not others
    if len(factor) > LONGEST:
        return False
    field = FunctionField(("r", *problem.arguments))
    P = evaluate(factor, field.gens, field.constant)
    below = 2 * P.partial(0)
    weights = (field.zero if k is None else field.gens[k] + P.partial(k) / below for k in own)
    multipliers = (-P.partial(1 + i) / below for i in range(len(problem.F)))
    images = [*weights, *multipliers, *field.gens[1 + len(problem.F) :]]
    value = determinant(rows).compose(images, field).numerator
    return not divmod(value, P.numerator)[1].is_zero()
