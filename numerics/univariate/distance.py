"""sup |f - g| on the support of the biases: extremes are at ends, or where the slopes agree."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import PPoly

from numerics.evaluate.backend import Array
from numerics.univariate.limit_function import LimitFunction
from numerics.univariate.training import Net

_NEAR = 1e-12
"""Points nearer to each other than that count as one."""


def supremum_distance(h: LimitFunction, other: LimitFunction | Net) -> float:
    """Return the largest |h(t) - other(t)| on the support of the biases, in doubles."""
    if isinstance(other, Net):
        return distance_to_net(h.table, other)
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
