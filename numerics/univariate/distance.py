"""sup |f - g| on the support of the biases: extremes are at ends, or where the slopes agree."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb, ctx, fmpq_poly
from scipy.interpolate import PPoly

from derive.exact.balls import real_roots
from derive.univariate.formulas import fraction, rational
from numerics.evaluate.backend import Array
from numerics.univariate.limit_function import BITS, LimitFunction
from numerics.univariate.training import Net

_NEAR = 1e-12
"""Points nearer to each other than that count as one."""


def supremum_distance(h: LimitFunction, other: LimitFunction | Net) -> float:
    """Return the largest |h(t) - other(t)| on the support of the biases.

    Both exact: critical points are isolated in balls, and the answer is right to the last digit.
    Else h is taken from its table.
    """
    if isinstance(other, Net):
        return distance_to_net(h.table, other)
    if h.exact and other.exact:
        return float(_exact(h, other))
    return _largest(h.table, other.table)


def distance_to_net(table: PPoly, net: Net) -> float:
    """Return the largest |h(t) - net(t)| for the table of a limit function h."""
    x, values = net.knots(table.x[0], table.x[-1])
    apart = np.r_[True, np.diff(x) > _NEAR]
    x, values = x[apart], values[apart]
    slopes = np.diff(values) / np.diff(x)
    return _largest(table, PPoly(np.array([slopes, values[:-1]]), x))


def _largest(f: PPoly, g: PPoly) -> float:
    x = np.unique(np.concatenate([f.x, g.x]))
    order = max(len(f.c), len(g.c))
    difference = PPoly(_expanded(f, x, order) - _expanded(g, x, order), x)
    roots = difference.derivative().roots(discontinuity=False, extrapolate=False)
    points = np.concatenate([x, roots[np.isfinite(roots)]])
    return float(np.max(np.abs(difference(points))))


def _expanded(f: PPoly, x: Array, order: int) -> Array:
    """Return the coefficients of a piecewise polynomial on a finer grid."""
    rows = [f(x[:-1], nu=k) / math.factorial(k) for k in range(order)]
    return np.array(rows[::-1])


def _exact(h: LimitFunction, other: LimitFunction) -> arb:
    low = max(f.dual.density.support[0] for f in (h, other))
    high = min(f.dual.density.support[1] for f in (h, other))
    ends = {p.left for f in (h, other) for p in f.pieces if p.left is not None}
    edges = sorted({low, high} | {e for e in ends if low < e < high})
    with ctx.workprec(BITS):
        largest = arb(0)
        for a, b in pairwise(edges):
            difference = _at(h, (a + b) / 2) - _at(other, (a + b) / 2)
            points = [arb(rational(a)), arb(rational(b))]
            slope = difference.derivative()
            if slope.degree() > 0:
                roots = real_roots([fraction(c) for c in slope.coeffs()])
                points += [r for r in roots if not (r < points[0] or r > points[1])]
            values = (abs(arb_value(difference, p)) for p in points)
            largest = max((largest, *values), key=lambda v: v.mid())
        return largest


def arb_value(p: fmpq_poly, x: arb) -> arb:
    """Return the value of a polynomial on a ball."""
    total = arb(0)
    for c in reversed(p.coeffs()):
        total = total * x + c
    return total


def _at(h: LimitFunction, t: Fraction) -> fmpq_poly:
    for p in h.pieces:
        if (p.left is None or p.left < t) and (p.right is None or t < p.right):
            return fmpq_poly([rational(c) for c in p.coefficients])
    raise LookupError(t)
