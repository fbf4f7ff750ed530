"""sup |f - g| on the support of the biases: extremes are at ends, or where the slopes agree.

Of two limit functions it is proved in balls: where (f - g)'' has no zero, (f - g)' has at most one
zero, and near it |f - g| <= |f - g|(r) + (f - g)'(r)^2/min |(f - g)''| for any r; elsewhere, on an
interval of length w, |f - g| <= that at the ends + max |(f - g)''| w^2/8.
"""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb, ctx
from scipy.interpolate import PPoly

from derive.errors import InputError
from derive.exact.balls import fraction
from derive.exact.rationals import as_fmpq
from numerics.evaluate.backend import Array
from numerics.univariate.limit_function import LimitFunction
from numerics.univariate.training import Net

_NEAR = 1e-12
"""Points nearer to each other than that count as one."""
MOST = 1000
"""Points after which the bounds of intervals that are left are taken as they are."""
SECANTS = 40
CLOSE = 1e-20
"""Relative error of an extreme that is good enough."""


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


def proved_distance(h: LimitFunction, other: LimitFunction) -> tuple[Fraction, Fraction]:
    """Return bounds of sup |h - other| on the support that both have, proved in balls.

    >>> from numerics.univariate.limit_function import limit_function
    >>> given = ["-3/5", "0", "1/2"], [1, 0, 1]
    >>> proved_distance(limit_function(*given), limit_function(*given, "cosh(x)"))
    (Fraction(0, 1), Fraction(0, 1))
    """
    edges = sorted({*h.edges(), *other.edges()})
    if h.dual.density.support != other.dual.density.support:
        raise InputError("the densities have different supports")
    if h.dual == other.dual:
        return Fraction(0), Fraction(0)
    with ctx.workprec(min(h.bits, other.bits)):
        search, parts = _Search(h, other), deque(pairwise(edges))
        for end in edges:
            search.at(end)
        while parts:
            a, b = parts.popleft()
            if not search.settled(a, b):
                middle = (a + b) / 2
                parts += [(a, middle), (middle, b)]
        return fraction(search.lower), fraction(arb.max(search.lower, search.upper))


class _Search:
    """Bounds of the supremum of |d|, d = h - g, from what was seen so far."""

    def __init__(self, h: LimitFunction, g: LimitFunction) -> None:
        self.h, self.g = h, g
        self.lower, self.upper = arb(0), arb(0)
        self.known: dict[Fraction, tuple[arb, arb]] = {}

    def at(self, t: Fraction) -> tuple[arb, arb]:
        """Return d and d' at a point."""
        if t not in self.known:
            pairs = zip(self.h.tangent(t), self.g.tangent(t), strict=True)
            value, slope = (arb(a - b) for a, b in pairs)
            self.known[t] = found = value, slope
            self.lower = arb.max(self.lower, abs(found[0]).lower())
            self.upper = arb.max(self.upper, abs(found[0]).upper())
        return self.known[t]

    def settled(self, a: Fraction, b: Fraction) -> bool:
        """Tell whether the bounds hold on an interval, too; after MOST points they are made to."""
        last = len(self.known) > MOST
        (da, sa), (db, sb) = self.at(a), self.at(b)
        bend = self.h.bending(a, b) - self.g.bending(a, b)
        above = arb.max(abs(da), abs(db)) + abs(bend) * arb(as_fmpq((b - a) ** 2)) / 8
        if above <= self.lower:
            return True
        if not bend.contains(0):
            if sa * sb > 0:
                return True
            above = self._extreme(a, b, bend)
        elif not last:
            return False
        self.upper = arb.max(self.upper, above.upper())
        return True

    def _extreme(self, a: Fraction, b: Fraction, bend: arb) -> arb:
        """Return a bound of |d| near the one zero of d', by secants that bracket it."""
        left, right = (self.at(t)[1].mid() for t in (a, b))
        above = arb("inf")
        for _ in range(SECANTS):
            t = a + (b - a) * fraction((left / (left - right)).mid())
            value, slope = self.at(t)
            above = arb.min(above, abs(value) + slope * slope / abs(bend).lower())
            if slope * slope <= abs(bend).lower() * self.lower * CLOSE:
                break
            # A side that is kept twice counts half (Illinois).
            if slope.mid() * left > 0:
                a, left, right = t, slope.mid(), right / 2
            else:
                b, right, left = t, slope.mid(), left / 2
        return above
