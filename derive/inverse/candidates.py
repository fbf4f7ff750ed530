"""The search for candidates: powers, then quadratic shapes, then changes of coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import chain
from typing import TypeAlias

import sympy
from sympy import Expr, Max, Symbol, cosh, oo, sin, sinh, sqrt, tan, tanh

from derive.inverse.line_element import Candidate, LineElement, W, known_sign, tidy

ZERO, ONE = sympy.S.Zero, sympy.S.One
U = Symbol("u", positive=True)
Change: TypeAlias = tuple[Expr, Expr]
"""v as a function of U, increasing or decreasing in u > 0, and u as one of v."""


def candidates(element: LineElement, depth: int = 3) -> Iterator[Candidate]:
    """Yield candidates, the simplest first; after *depth* changes of coordinates none."""
    q, v = element.q, element.v
    if v not in q.free_symbols:
        for sign, assumed in element.signs(q):
            if sign > 0:
                yield Candidate(W, v, (-oo, oo), q, assumed)
        return
    yield from _powers(element)
    P = sympy.cancel(1 / q)
    degree = int(sympy.degree(P, v)) if P.is_polynomial(v) else 0
    if degree in (2, 4):
        yield from _shapes(element, P)
    proposals = (_exponential, _double_root) if depth else ()
    for change in chain.from_iterable(proposal(element) for proposal in proposals):
        yield from _carried_back(element, change, depth)


def _powers(element: LineElement) -> Iterator[Candidate]:
    """q = kappa |v - b|^n: w^(2/(n+2)), or e^w for n = -2 (entropy, Burg entropy, depth).

    The exponent may have parameters, as in tempered entropies, Q'' = beta^-t.
    """
    q, v = element.q, element.v
    ratio = sympy.expand(tidy(q / sympy.diff(q, v)))
    slope = sympy.simplify(sympy.diff(ratio, v))
    if slope == 0 or slope.has(v) or not slope.is_rational_function():
        return
    n = sympy.cancel(1 / slope)
    b = sympy.cancel(v - n * ratio)
    m = None if n == -2 else 2 / sympy.cancel(n + 2)
    generic = () if n.is_Rational else (sympy.expand(n + 2) ** 2,)
    for side in (1, -1):
        kappa = tidy(q.subs(v, b + side))
        if kappa.is_real is False or kappa.has(sympy.I):
            continue
        y = side * (v - b)
        interval = (b, oo) if side > 0 else (-oo, b)
        if m is None:
            shape, inverse, scale = sympy.exp(W), sympy.log(y), kappa
        else:
            shape, inverse, scale = W**m, y ** (1 / m), tidy(kappa * m**2)
        for sign, assumed in element.signs(kappa):
            if sign > 0:
                yield Candidate(b + side * shape, inverse, interval, scale, (*assumed, *generic))


def completed(P: Expr, v: Symbol) -> tuple[Expr, Expr, Expr] | None:
    """Return (a, b, d) with P = a ((v - b)^2 + d)^(n/2), for n = 2 and 4; None where it is not."""
    a, slope, next_, *_ = sympy.Poly(P, v).all_coeffs()
    n = sympy.degree(P, v)
    b = sympy.cancel(-slope / (n * a))
    d = sympy.factor(sympy.cancel(next_ / a - sympy.binomial(n, 2) * b**2) * 2 / n)
    whole = a * ((v - b) ** 2 + d) ** (n / 2)
    return (sympy.factor(a), b, d) if sympy.cancel(P - whole) == 0 else None


def cases(
    element: LineElement, a: Expr, d: Expr
) -> Iterator[tuple[int, int, Expr, tuple[Expr, ...]]]:
    """Yield the signs of a and d, sqrt(|d|), and what all three assume of the parameters."""
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            r = sqrt(inner * d)
            free = r.is_rational_function() and known_sign(r, element.positive) is None
            yield sign, inner, r, tuple(dict.fromkeys((*first, *second, *((r,) if free else ()))))


SHAPES = {
    (2, 1, 1): ((sinh(W), sympy.asinh, -oo, oo),),
    (2, 1, -1): ((cosh(W), sympy.acosh, ONE, oo),),
    (2, -1, -1): ((sin(W), sympy.asin, -ONE, ONE),),
    (4, 1, 1): ((tan(W), sympy.atan, -oo, oo),),
    (4, 1, -1): ((tanh(W), sympy.atanh, -ONE, ONE), (1 / tanh(W), sympy.acoth, ONE, oo)),
}
"""S with S'^2 = +-(S^2 +- 1)^(n/2), its inverse and its range, by n and these signs."""


def _shapes(element: LineElement, P: Expr) -> Iterator[Candidate]:
    """P = a ((v - b)^2 + d)^(n/2): v = b +- r S, r = sqrt(|d|), or from an end v = 0 a square."""
    v, n = element.v, int(sympy.degree(P, element.v))
    form = completed(P, v)
    if form is None:
        return
    a, b, d = form
    for sign, inner, r, assumed in cases(element, a, d):
        shapes = SHAPES.get((n, sign, inner), ())
        c = sympy.factor(1 / (sign * a * r ** (n - 2))) if shapes else a
        for side in (1, -1):
            # P = a v (v + 2 side r) > 0 between v = 0 and the other root, or infinity.
            if (n, inner) == (2, -1) and sympy.cancel(b + sign * side * r) == 0:
                S, inverse, far = (sinh, sympy.asinh, oo) if sign > 0 else (sin, sympy.asin, 2 * r)
                ends = (ZERO, far) if side > 0 else (-far, ZERO)
                w = inverse(sqrt(side * v / (2 * r)))
                yield Candidate(side * 2 * r * S(W) ** 2, w, ends, 4 * c, assumed)
        for shape, inverse, low, high in shapes:
            for side in (1, -1) if low == 1 else (1,):
                F, x = b + side * r * shape, side * (v - b) / r
                ends = (low, high) if side > 0 else (-high, -low)
                left, right = (end if end.is_infinite else b + r * end for end in ends)
                yield Candidate(F, inverse(x), (left, right), c, assumed)


def _carried_back(element: LineElement, change: Change, depth: int) -> Iterator[Candidate]:
    """Yield the candidates for the line element in u, in v again."""
    u = Symbol(f"u{depth}", positive=True)
    forth, back = change[0].subs(U, u), change[1]
    for candidate in candidates(element.through(forth, u), depth - 1):
        low, high = (Max(end, 0) for end in candidate.interval)
        if low == high:
            continue
        ends = [sympy.limit(forth, u, end, "-" if end == high else "+") for end in (low, high)]
        slope = sympy.diff(forth, u).subs(u, 1)
        falls = sympy.re(sympy.N(slope.subs(dict.fromkeys(slope.free_symbols, 1)))) < 0
        left, right = ends[::-1] if falls else ends
        F = sympy.simplify(forth.subs(u, candidate.F))
        F = sympy.expand_log(sympy.powdenest(F, force=True), force=True)
        inverse = candidate.inverse.subs(u, back)
        yield Candidate(F, inverse, (left, right), candidate.scale, candidate.assumed)


def _exponential(element: LineElement) -> Iterator[Change]:
    """Functions of e^(lambda v): u = e^(lambda v)."""
    v = element.v
    rates = {sympy.diff(e.exp, v) for e in element.q.atoms(sympy.exp) if e.has(v)}
    if not rates or any(rate.has(v) for rate in rates):
        return
    first = min(rates, key=sympy.default_sort_key)
    ratios = [sympy.cancel(rate / first) for rate in rates]
    if not all(isinstance(ratio, sympy.Rational) for ratio in ratios):
        return
    rate = first * reduce(sympy.gcd, ratios)
    rate = -rate if rate.could_extract_minus_sign() else rate
    yield sympy.log(U) / rate, sympy.exp(rate * v)


def _double_root(element: LineElement) -> Iterator[Change]:
    """dv^2/P with P of degree <= 4 and a double root b: v = b +- 1/u leaves a quadratic P."""
    v = element.v
    P = sympy.cancel(1 / element.q)
    if not P.is_polynomial(v) or not 2 < sympy.degree(P, v) <= 4:
        return
    for factor, multiplicity in sympy.factor_list(P, v)[1]:
        if multiplicity >= 2 and sympy.degree(factor, v) == 1:
            b = sympy.cancel(v - factor / sympy.LC(factor, v))
            for side in (1, -1):
                yield b + side / U, side / (v - b)
