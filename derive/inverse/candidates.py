"""The search for candidates: powers, then quadratic shapes, then changes of coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import chain
from typing import TypeAlias

import sympy
from sympy import Expr, Max, Symbol, cosh, oo, sin, sinh, sqrt, tan, tanh

from derive.inverse.line_element import Candidate, LineElement, W, known_sign, tidy

ZERO = sympy.Integer(0)
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
        yield from (_quadratic if degree == 2 else _squared)(element, P)
    proposals = (_exponential, _root, _double_root) if depth else ()
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


def completed(P: Expr, v: Symbol) -> tuple[Expr, Expr, Expr]:
    """Return (a, b, d) with P = a ((v - b)^2 + d)."""
    a, linear, constant = sympy.Poly(P, v).all_coeffs()
    b = sympy.cancel(-linear / (2 * a))
    return sympy.factor(a), b, sympy.factor(sympy.cancel(constant / a - b**2))


def cases(
    element: LineElement, a: Expr, d: Expr
) -> Iterator[tuple[int, int, Expr, tuple[Expr, ...]]]:
    """Yield the signs of a and d, sqrt(|d|), and what all three assume of the parameters."""
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            r = sqrt(inner * d)
            free = r.is_rational_function() and known_sign(r, element.positive) is None
            yield sign, inner, r, tuple(dict.fromkeys((*first, *second, *((r,) if free else ()))))


def _quadratic(element: LineElement, P: Expr) -> Iterator[Candidate]:
    """P = a ((v - b)^2 + d): sinh, cosh or sin by the signs of a and d."""
    v = element.v
    a, b, d = completed(P, v)
    for sign, inner, r, assumed in cases(element, a, d):
        if inner == 0 or (sign < 0 < inner):
            continue
        x = (v - b) / r
        c = 1 / (sign * a)
        if inner > 0:
            yield Candidate(b + r * sinh(W), sympy.asinh(x), (-oo, oo), c, assumed)
            continue
        for side in (1, -1):
            # From the end v = 0 of an interval of positive P: y = |v|/(2r).
            if sympy.cancel(b + side * r) != 0:
                continue
            y = side * v / (2 * r)
            if sign > 0:
                ends = (ZERO, oo) if side > 0 else (-oo, ZERO)
                F, w = side * 2 * r * sinh(W) ** 2, sympy.asinh(sqrt(y))
            else:
                ends = (-2 * r, ZERO) if side > 0 else (ZERO, 2 * r)
                F, w = -side * 2 * r * sin(W) ** 2, sympy.asin(sqrt(-y))
            yield Candidate(F, w, ends, 4 * c, assumed)
        if sign < 0:
            yield Candidate(b + r * sin(W), sympy.asin(x), (b - r, b + r), c, assumed)
        else:
            yield Candidate(b + r * cosh(W), sympy.acosh(x), (b + r, oo), c, assumed)
            yield Candidate(b - r * cosh(W), sympy.acosh(-x), (-oo, b - r), c, assumed)


def _squared(element: LineElement, P: Expr) -> Iterator[Candidate]:
    """P = a S^2, S = (v - b)^2 + d: tan, or tanh and its reciprocal."""
    v, a = element.v, sympy.LC(P, element.v)
    _, c3, c2, *_ = sympy.Poly(P / a, v).all_coeffs()
    S = v**2 + c3 * v / 2 + (c2 - c3**2 / 4) / 2
    if sympy.cancel(P - a * S**2) != 0:
        return
    _, b, d = completed(S, v)
    x = v - b
    for sign, inner, r, assumed in cases(element, a, d):
        if sign <= 0 or inner == 0:
            continue
        c = sympy.factor(1 / (a * r**2))
        if inner > 0:
            yield Candidate(b + r * tan(W), sympy.atan(x / r), (-oo, oo), c, assumed)
            continue
        yield Candidate(b + r * tanh(W), sympy.atanh(x / r), (b - r, b + r), c, assumed)
        yield Candidate(b + r / tanh(W), sympy.acoth(x / r), (b + r, oo), c, assumed)
        yield Candidate(b - r / tanh(W), sympy.acoth(-x / r), (-oo, b - r), c, assumed)


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


def _root(element: LineElement) -> Iterator[Change]:
    """Functions of (s v + t)^(1/n): u = (s v + t)^(1/n)."""
    v = element.v
    indices: dict[Expr, list[int]] = {}
    for p in element.q.atoms(sympy.Pow):
        if p.base.has(v) and isinstance(p.exp, sympy.Rational) and p.exp.q > 1:
            indices.setdefault(p.base, []).append(p.exp.q)
    for base in sorted(indices, key=sympy.default_sort_key):
        slope, n = sympy.diff(base, v), sympy.ilcm(1, *indices[base])
        if not slope.has(v):
            offset = sympy.expand(base - slope * v)
            yield (U**n - offset) / slope, base ** sympy.Rational(1, n)


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
