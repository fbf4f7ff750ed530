"""The search for candidates: powers, then quadratic shapes, then changes of coordinates."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import sympy
from sympy import oo

from derive.inverse.change import changes
from derive.inverse.line_element import Candidate, LineElement, W, tidy
from derive.inverse.quartic import candidates_of_rational


def candidates(element: LineElement, depth: int = 3) -> Iterator[Candidate]:
    """Yield candidates, the simplest first; after *depth* changes of coordinates none."""
    q, v = element.q, element.v
    if v not in q.free_symbols:
        for sign, assumed in element.signs(q):
            if sign > 0:
                yield Candidate(W, v, (-oo, oo), q, assumed)
        return
    yield from _powers(element)
    yield from candidates_of_rational(element)
    if depth:
        for change in changes(element):
            yield from change.candidates(functools.partial(candidates, depth=depth - 1), depth)


def _powers(element: LineElement) -> Iterator[Candidate]:
    """q = kappa |v - b|^n: w^(2/(n+2)), or e^w for n = -2 (entropy, Burg entropy, depth)."""
    q, v = element.q, element.v
    ratio = sympy.expand(tidy(q / sympy.diff(q, v)))
    slope = sympy.simplify(sympy.diff(ratio, v))
    if not isinstance(slope, sympy.Rational) or slope == 0:
        return
    n = 1 / slope
    b = sympy.cancel(v - n * ratio)
    m = None if n == -2 else sympy.Integer(2) / (n + 2)
    for side in (1, -1):
        kappa = tidy(q.subs(v, b + side))
        if kappa.is_real is False or kappa.has(sympy.I):
            continue
        y = side * (v - b)
        interval = (b, oo) if side > 0 else (-oo, b)
        for sign, assumed in element.signs(kappa):
            if sign > 0 and m is None:
                yield Candidate(b + side * sympy.exp(W), sympy.log(y), interval, kappa, assumed)
            elif sign > 0 and m is not None:
                inverse = y ** (1 / m)
                yield Candidate(b + side * W**m, inverse, interval, tidy(kappa * m**2), assumed)
