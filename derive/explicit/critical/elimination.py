"""Polynomials in some variables that vanish at all common zeros of equations, the rest eliminated.

Zeros are split until a step is exact. A product vanishes where a factor does. A factor a x + b is
solved for x where a is not zero; elsewhere both a and b vanish. What is linear in no variable goes
into a Groebner basis, which eliminates exactly, and where that grows too large into resultants: a
resultant of two polynomials is a combination of them, and vanishes wherever both do. So what holds
at no zero may come in as a factor, by resultants; none that holds is lost.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
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
NOT_LINEAR = 10**9


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
    part = _Part(tuple(variables), list(equations), [])
    found = _split(part, iter(range(PARTS)))
    return tuple(sorted(_irreducible(found), key=str))


@dataclass(frozen=True)
class _Part:
    """Points where equations hold, and some polynomials do not vanish.

    Of equations in variables that have been eliminated resultants are left: they are held in
    reserve for points where the resultants say nothing.
    """

    variables: tuple[int, ...]
    equations: list[Polynomial]
    nonzero: list[Polynomial]
    eliminated: tuple[int, ...] = ()
    reserve: tuple[Polynomial, ...] = ()

    def has(self, polynomial: Polynomial) -> bool:
        """Tell whether a polynomial has any of the variables."""
        degrees = polynomial.degrees()
        return any(int(degrees[k]) for k in self.variables)

    def products(self) -> list[list[Polynomial]]:
        """Return, for each equation, the irreducible factors of which one is to vanish."""
        if any(len(f) > TERMS for f in self.equations):
            raise Stopped("the equations of the critical points grow too large")
        found: list[list[Polynomial]] = []
        for equation in self.equations:
            factors = [f for f in _irreducible([equation]) if f not in self.nonzero]
            if not equation.is_zero() and factors not in found:
                found.append(factors)
        return found

    def solved(self, slope: Polynomial, line: Polynomial, k: int) -> _Part:
        """Return the points where line = slope x_k + ... vanishes and its slope does not."""
        nonzero = [_put(f, k, line) for f in self.nonzero]
        equations = [_put(f, k, line) for f in self.equations]
        left = tuple(x for x in self.variables if x != k)
        reserve = tuple(_put(f, k, line) for f in self.reserve)
        return _Part(left, equations, _irreducible([*nonzero, slope]), self.eliminated, reserve)


def _put(f: Polynomial, k: int, line: Polynomial) -> Polynomial:
    return f.resultant(line, k) if int(f.degrees()[k]) else f


def _irreducible(polynomials: Iterable[Polynomial]) -> list[Polynomial]:
    return list({str(f): f for x in polynomials for f, _ in factorize(x)[1]}.values())


def _product(factors: Iterable[Polynomial]) -> Polynomial:
    return functools.reduce(operator.mul, factors)


def _split(part: _Part, budget: Iterator[int]) -> list[Polynomial]:
    """Return irreducible polynomials of which one vanishes at every point of a part."""
    if next(budget, None) is None:
        raise Stopped("the critical points fall into too many parts")
    if any(f.is_zero() for f in part.nonzero):
        return []
    products = part.products()
    if [] in products:
        return []
    done = [_product(x) for x in products if not any(map(part.has, x))]
    if done:
        return _irreducible([functools.reduce(lambda f, g: f.gcd(g), done)])
    if not products:
        if not part.reserve:
            raise Stopped("the critical points are more than finitely many for most beta")
        variables = (*part.variables, *part.eliminated)
        return _split(_Part(variables, list(part.reserve), part.nonzero), budget)
    choice = min(products, key=lambda x: _effort(part, x))
    rest = [_product(x) for x in products if x is not choice]
    if len(choice) == 1 and _pivot(part, choice[0])[0] == NOT_LINEAR:
        return _eliminated(replace(part, equations=[x for (x,) in products]), budget)
    found = []
    for n, factor in enumerate(choice):
        # Points on an earlier factor have been met there.
        there = replace(part, equations=rest, nonzero=[*part.nonzero, *choice[:n]])
        found += _on(there, factor, budget)
    return found


def _on(part: _Part, factor: Polynomial, budget: Iterator[int]) -> list[Polynomial]:
    """Return the same where an irreducible polynomial vanishes."""
    effort, k = _pivot(part, factor)
    if effort == NOT_LINEAR:
        return _split(replace(part, equations=[factor, *part.equations]), budget)
    slope = factor.derivative(k)
    found = _split(part.solved(slope, factor, k), budget)
    if not slope.is_constant():
        remainder = factor - slope * factor.context().gen(k)
        both = replace(part, equations=[slope, remainder, *part.equations])
        found += _split(both, budget)
    return found


def _pivot(part: _Part, factor: Polynomial) -> tuple[int, int]:
    """Return how hard it is to solve for the best variable, and which that is."""
    slopes = [(k, factor.derivative(k)) for k in part.variables if int(factor.degrees()[k]) == 1]
    efforts = [(0 if x.is_constant() else len(x), k) for k, x in slopes]
    return min(efforts, default=(NOT_LINEAR, -1))


def _effort(part: _Part, factors: list[Polynomial]) -> tuple[int, int, int]:
    """Return what a product costs: all its factors are to be solved, or one by one."""
    hardest = max(_pivot(part, f)[0] for f in factors)
    if hardest == NOT_LINEAR and len(factors) > 1:
        hardest -= 1
    return hardest, len(factors), sum(map(len, factors))


def _eliminated(part: _Part, budget: Iterator[int]) -> list[Polynomial]:
    """Return the same where no equation factors, and none is linear in a variable."""
    basis = _basis(part)
    if basis is not None:
        found = [f for f in basis if not part.has(f)]
        if not found:
            raise Stopped("the critical points are more than finitely many for most beta")
        factors = _irreducible([functools.reduce(lambda f, g: f.gcd(g), found)])
        return [f for f in factors if f not in part.nonzero]
    used = [k for k in part.variables if any(int(f.degrees()[k]) for f in part.equations)]
    k = min(used, key=lambda k: _size([int(f.degrees()[k]) for f in part.equations]))
    having = [f for f in part.equations if int(f.degrees()[k])]
    first, *others = sorted(having, key=lambda f: (int(f.degrees()[k]), len(f)))
    found = [f for f in part.equations if not int(f.degrees()[k])]
    found += [_resultant(f, first, k) for f in others]
    left = tuple(x for x in part.variables if x != k)
    nonzero = [f for f in part.nonzero if not int(f.degrees()[k])]
    eliminated, reserve = (*part.eliminated, k), (*part.reserve, *having)
    return _split(_Part(left, found, nonzero, eliminated, reserve), budget)


def _resultant(f: Polynomial, g: Polynomial, k: int) -> Polynomial:
    """Return the resultant in the variable k, if it is of moderate size."""
    m, n = (int(x.degrees()[k]) for x in (f, g))
    degrees = [n * int(a) + m * int(b) for a, b in zip(f.degrees(), g.degrees(), strict=True)]
    used = [x for i, x in enumerate(degrees) if x and i != k]
    total = int(f.total_degree()) * int(g.total_degree())
    terms_of_it = min(math.prod(x + 1 for x in used), math.comb(total + len(used), len(used)))
    most = FILLED[len(f) * len(g) * m * n <= LARGEST]
    if terms_of_it > most:
        raise Stopped("the resultants of the critical equations grow too large")
    return f.resultant(g, k)


def _size(degrees: Sequence[int]) -> tuple[int, int]:
    """Return how long it takes to eliminate a variable in which equations have these degrees."""
    used = [n for n in degrees if n]
    return min(used) * max(used), sum(used)


def _basis(part: _Part) -> list[Polynomial] | None:
    """Return a Groebner basis of a part that eliminates its variables; None where it grows large.

    A variable t with t n = 1 keeps the product n of what does not vanish from vanishing.
    """
    ring = part.equations[0].context()
    names = ring.names()
    order = sorted(range(len(names)), key=lambda k: k not in part.variables)
    own = fmpz_mpoly_ctx.get(("t", *(names[k] for k in order)), Ordering.lex)
    positions = {name: k for k, name in enumerate(own.names())}
    equations, nonzero = (
        [reindexed(f, names, own, positions) for f in x]
        for x in (part.equations, list(filter(part.has, part.nonzero)))
    )
    if nonzero:
        equations.append(own.gen(0) * _product(nonzero) - 1)
    members, complete = fmpz_mpoly_vec(equations, own).buchberger_naive(limits=BASIS)
    # The stubs of python-flint take them for numbers.
    basis = cast("Iterable[Polynomial]", members)
    places = {name: k for k, name in enumerate(names)}
    free = (f for f in basis if not int(f.degrees()[0]))
    return [reindexed(f, own.names(), ring, places) for f in free] if complete else None
