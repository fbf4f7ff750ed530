"""Charts of metrics dv^2/P(v): P a quadratic polynomial, or the square of one."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr, cosh, oo, sin, sinh, sqrt, tan, tanh

from derive.inverse.line_element import Candidate, LineElement, W, known_sign

ZERO = sympy.Integer(0)


def candidates_of_rational(element: LineElement) -> Iterator[Candidate]:
    """Yield candidates where 1/q is a quadratic polynomial or its square."""
    P = sympy.cancel(1 / element.q)
    if not P.is_polynomial(element.v):
        return
    degree = sympy.degree(P, element.v)
    if degree == 2:
        yield from _quadratic(element, P)
    elif degree == 4:
        root = _square_root(P, element)
        if root is not None:
            yield from _squared(element, *root)


def _square_root(P: Expr, element: LineElement) -> tuple[Expr, Expr] | None:
    """Return (a, S) with P = a S^2, S monic of degree 2 with simple roots."""
    a = sympy.LC(P, element.v)
    v = element.v
    c3 = sympy.Poly(P / a, v).coeff_monomial(v**3)
    c2 = sympy.Poly(P / a, v).coeff_monomial(v**2)
    S = v**2 + c3 * v / 2 + (c2 - c3**2 / 4) / 2
    return (a, S) if sympy.cancel(P - a * S**2) == 0 else None


def completed(P: Expr, element: LineElement) -> tuple[Expr, Expr, Expr]:
    """Return (a, b, d) with P = a ((v - b)^2 + d)."""
    v = element.v
    a, linear, constant = (sympy.Poly(P, v).coeff_monomial(v**k) for k in (2, 1, 0))
    b = sympy.cancel(-linear / (2 * a))
    return sympy.factor(a), b, sympy.factor(sympy.cancel(constant / a - b**2))


def radius(square: Expr, element: LineElement) -> tuple[Expr, tuple[Expr, ...]]:
    """Return a positive square root, and what it assumes of the parameters."""
    root = sqrt(square)
    if root.is_rational_function() and known_sign(root, element.positive) is None:
        return root, (root,)
    return root, ()


def _quadratic(element: LineElement, P: Expr) -> Iterator[Candidate]:
    """P = a ((v - b)^2 + d): sinh, cosh or sin by the signs of a and d."""
    a, b, d = completed(P, element)
    v = element.v
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            if inner == 0 or (sign < 0 < inner):
                continue
            r, third = radius(inner * d, element)
            assumed = tuple(dict.fromkeys((*first, *second, *third)))
            x = (v - b) / r
            c = 1 / (sign * a)
            if inner > 0:
                yield Candidate(b + r * sinh(W), sympy.asinh(x), (-oo, oo), c, assumed)
                continue
            for side in (1, -1):
                # From the end v = e of an interval of positive P: y = |v - e|/(2r).
                e = sympy.cancel(b + side * r)
                if e != 0:
                    continue
                y = side * v / (2 * r)
                if sign > 0:
                    ends = (ZERO, oo) if side > 0 else (-oo, ZERO)
                    F, w = side * 2 * r * sinh(W) ** 2, sympy.asinh(sqrt(y))
                    yield Candidate(F, w, ends, 4 * c, assumed)
                else:
                    ends = (-2 * r, ZERO) if side > 0 else (ZERO, 2 * r)
                    F, w = -side * 2 * r * sin(W) ** 2, sympy.asin(sqrt(-y))
                    yield Candidate(F, w, ends, 4 * c, assumed)
            if sign < 0:
                yield Candidate(b + r * sin(W), sympy.asin(x), (b - r, b + r), c, assumed)
            else:
                yield Candidate(b + r * cosh(W), sympy.acosh(x), (b + r, oo), c, assumed)
                yield Candidate(b - r * cosh(W), sympy.acosh(-x), (-oo, b - r), c, assumed)


def _squared(element: LineElement, a: Expr, S: Expr) -> Iterator[Candidate]:
    """P = a S^2, S = (v - b)^2 + d: tan, or tanh and its reciprocal."""
    _, b, d = completed(S, element)
    x = element.v - b
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            if sign <= 0 or inner == 0:
                continue
            r, third = radius(inner * d, element)
            assumed = tuple(dict.fromkeys((*first, *second, *third)))
            c = sympy.factor(1 / (a * r**2))
            if inner > 0:
                yield Candidate(b + r * tan(W), sympy.atan(x / r), (-oo, oo), c, assumed)
                continue
            yield Candidate(b + r * tanh(W), sympy.atanh(x / r), (b - r, b + r), c, assumed)
            yield Candidate(b + r / tanh(W), sympy.acoth(x / r), (b + r, oo), c, assumed)
            yield Candidate(b - r / tanh(W), sympy.acoth(-x / r), (-oo, b - r), c, assumed)
