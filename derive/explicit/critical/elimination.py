"""Polynomials in some variables that vanish at all common zeros of equations, the rest eliminated.

A Groebner basis eliminates exactly. Where one grows too large the zeros are split: a product
vanishes where a factor does, and f = a x^n + ... either where a and f - a x^n do, or where a does
not; there resultants with f, combinations of two polynomials, eliminate x. For n > 1 what holds at
no zero may come in as a factor, by resultants; none that holds is lost.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from flint import Ordering, fmpz_mpoly_ctx, fmpz_mpoly_vec

from derive.exact.field.polynomial import Polynomial, factorize, reindexed
from derive.explicit.constrained import Stopped

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
