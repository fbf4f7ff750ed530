"""The search for charts: powers, then quadratic shapes, then changes of coordinates."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import sympy
from sympy import oo

from derive.inverse.change import changes
from derive.inverse.chart import Chart, Metric, W, tidy
from derive.inverse.quartic import rational_charts


def charts(metric: Metric, depth: int = 3) -> Iterator[Chart]:
    """Yield candidates, the simplest first; after *depth* changes of coordinates none."""
    q, v = metric.q, metric.v
    if v not in q.free_symbols:
        for sign, assumed in metric.signs(q):
            if sign > 0:
                yield Chart(W, v, (-oo, oo), q, assumed)
        return
    yield from _powers(metric)
    yield from rational_charts(metric)
    if depth:
        for change in changes(metric):
            yield from change.charts(functools.partial(charts, depth=depth - 1), depth)


def _powers(metric: Metric) -> Iterator[Chart]:
    """q = kappa |v - b|^n: w^(2/(n+2)), or e^w for n = -2 (entropy, Burg entropy, depth)."""
    q, v = metric.q, metric.v
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
        for sign, assumed in metric.signs(kappa):
            if sign > 0 and m is None:
                yield Chart(b + side * sympy.exp(W), sympy.log(y), interval, kappa, assumed)
            elif sign > 0 and m is not None:
                inverse = y ** (1 / m)
                yield Chart(b + side * W**m, inverse, interval, tidy(kappa * m**2), assumed)
