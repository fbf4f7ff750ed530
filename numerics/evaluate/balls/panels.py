"""Q as an integral whose integrand has a formula: panels of [0, 1], halved until they are even."""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, agreed, pairwise_sum, select
from numerics.evaluate.balls.closed import ClosedFormulas
from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.precision import Constants, Formula, constants_at


@functools.lru_cache
def precise_rule(n: int, digits: int) -> list[tuple[Fraction, Fraction]]:
    """Return n nodes and weights on [0, 1] to *digits* digits."""
    steps = 1 + ((digits - 1) // 16).bit_length()  # each doubles the 16 digits of the first
    with decimal.localcontext() as context:
        context.prec = digits
        nodes = np.polynomial.legendre.leggauss(n)[0]
        return [_node(n, decimal.Decimal(float(x)), steps) for x in nodes]


def _node(n: int, x: decimal.Decimal, steps: int) -> tuple[Fraction, Fraction]:
    """Return the node that is near x on [-1, 1], by Newton's method, and its weight."""
    for _ in range(steps):
        before, value = decimal.Decimal(1), x
        for k in range(2, n + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = n * (x * value - before) / (x * x - 1)
        x -= value / slope
    return (1 + Fraction(x)) / 2, 1 / ((1 - Fraction(x) ** 2) * Fraction(slope) ** 2)


_MOST = 250
"""Panels of one point after which it has no result; in decimals, which are slow, 100."""
_EVEN = 16
"""Within a panel the integrand varies by at most this factor."""
_NEGLIGIBLE = Fraction(1, 10**20)
"""A panel below this part of the integral need not be even."""
_NEAR = Fraction(1, 2**50)
"""The relative distance of two rules on a panel that is fine enough."""
_NODE_DIGITS = 40


class IntegralFormulas(ClosedFormulas):
    """Q of one block with a formula of grad Q only: ``Q = int <grad Q, d beta>``."""

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for; of Q from the start only."""
        return super().forms("value" if what == "primitive" else what)

    def difference_forms(self) -> list[Formula]:
        """Return none: there is no formula of Q to take differences of."""
        return []

    def segment(self, c: Constants, b0: Sequence[Ball], s: Sequence[Ball]) -> Ball:
        """Integrate ``(1-t) s^T H(b0 + t s) s`` by panels; every term is positive."""
        return self._segment(c, *(x + y for x, y in zip(b0, s, strict=True)), *b0)[0]

    def _segment(self, c: Constants, *points: Ball) -> Sequence[Ball]:
        return [integrate_by_panels(self._curvature, c, points)]

    def _curvature(self, c: Constants, t: Ball, rest: Ball, *points: Ball) -> Ball:
        d, late = len(points) // 2, np.asarray(t.v > rest.v, dtype=bool)
        ends = list(zip(points[:d], points[d:], strict=True))
        step = [x - x0 for x, x0 in ends]
        # From the nearer end: where that is small its digits are kept.
        at = (select(late, x - rest * s, x0 + t * s) for (x, x0), s in zip(ends, step, strict=True))
        entries = iter(self.hessian(c, *at))
        total: Ball = pairwise_sum([x * (y * next(entries)) for x in step for y in step])
        return total


def integrate_by_panels(function: Callable[..., Ball], c: Constants, parts: Sequence[Ball]) -> Ball:
    """Return ``int_0^1 (1 - t) f(c, t, 1 - t, *parts) dt`` for f > 0, point by point.

    The distance of two Gauss-Legendre rules estimates the error of each panel, as in
    :func:`numerics.evaluate.balls.closed.integrate`. There is no bound where f is not finite at a
    node. Each point has panels of its own, ``[a, a + 1]/2^k``; one of every point is looked at in
    each round.
    """
    kind, shape = type(parts[0]), np.broadcast_shapes(*(np.shape(x.v) for x in parts))
    parts = [_spread(x, shape) for x in parts]
    count, unit = int(np.prod(shape)), parts[0].unit
    values = np.full(count, kind.zero)
    errors = np.full(count, kind.zero)
    most = _MOST
    if issubclass(kind, Digits):
        # More digits than the nodes have help close to the start only, where one panel does.
        most = 1 if decimal.getcontext().prec > 2 * _NODE_DIGITS else 100
    left = np.full(count, most)
    rules = [_balls(kind, precise_rule(n, _NODE_DIGITS)) for n in (16, 10)]
    open_: list[list[tuple[int, int]]] = [[(0, 0)] for _ in range(count)]
    index = np.arange(count)
    while len(index):
        given_up = left[index] == 0
        values[index[given_up]] = kind.zero + type(kind.zero)("nan")
        index = index[~given_up]
        if not len(index):
            break
        left[index] -= 1
        tops = [open_[i].pop() for i in index]
        at = [x.take(index) for x in parts]
        panel = _panel(function, constants_at(c, index), rules, _places(kind, tops, unit), at)
        small = panel.most * kind.of(1 / _NEGLIGIBLE).v < values[index]
        done = panel.even | np.asarray(small, dtype=bool)
        lost = np.where(panel.even, panel.found.d, panel.most * _EVEN)
        rounded = unit * abs(values[index] + panel.found.v)
        values[index] = np.where(done, values[index] + panel.found.v, values[index])
        errors[index] = np.where(done, errors[index] + lost + rounded, errors[index])
        values[index[~panel.finite]] = errors[index[~panel.finite]] = type(kind.zero)("inf")
        for i in np.flatnonzero(panel.finite & ~done):
            a, k = tops[i]
            halves = [(2 * a, k + 1), (2 * a + 1, k + 1)]
            open_[index[i]] += halves if panel.rising[i] else halves[::-1]
        bounded = np.asarray(errors[index] - errors[index] == 0, dtype=bool)
        index = index[bounded & [bool(open_[i]) for i in index]]
    return kind(values.reshape(shape), errors.reshape(shape))


class _Panel(NamedTuple):
    """Of each point: the integral over a panel, what it is for the largest f at a node, and how f
    behaves."""

    found: Ball
    most: Array
    even: Array
    finite: Array
    rising: Array


def _panel(
    function: Callable[..., Ball],
    c: Constants,
    rules: Sequence[Sequence[Ball]],
    places: Sequence[Ball],
    at: Sequence[Ball],
) -> _Panel:
    (low, width, above), kind = places, type(at[0])
    found, even, finite = [], np.ones(1, dtype=bool), np.ones(1, dtype=bool)
    for nodes, rest, weights in rules:
        left = above + width * rest
        f = function(c, low + width * nodes, left, *at)
        sizes = np.broadcast_to(abs(f.v), (len(nodes.v), len(width.v)))
        most, least = np.maximum.reduce(sizes), np.minimum.reduce(sizes)
        even = even & np.asarray(most <= _EVEN * least, dtype=bool)
        finite = finite & np.asarray(most - most == 0, dtype=bool)
        products = width * weights * left * f
        found.append(pairwise_sum([products.take(k) for k in range(len(sizes))]))
    fine, coarse = found
    total = agreed(fine, coarse, abs(fine.v))
    near = total.d - found[0].d <= found[0].d + kind.of(_NEAR).v * abs(total.v)
    even = even & np.asarray(near, dtype=bool)
    rising = np.asarray(sizes[-1] * left.v[-1] > 2 * sizes[0] * left.v[0], dtype=bool)
    return _Panel(total, most * width.v * (above.v + width.v), even, finite, rising)


def _places(kind: type[Ball], panels: Sequence[tuple[int, int]], unit: Array) -> list[Ball]:
    """Return where panels begin, how wide they are, and how much of [0, 1] is above them."""
    widths = {k: kind.of(Fraction(1, 2**k)) for k in {k for _, k in panels}}
    width = kind(*(np.array([getattr(widths[k], n) for _, k in panels]) for n in "vd"))
    counts = ([a for a, _ in panels], [2**k - 1 - a for a, k in panels])
    below, above = (np.array([kind.zero + n for n in numbers]) for numbers in counts)
    return [kind(below, unit * below) * width, width, kind(above, unit * above) * width]


def _balls(kind: type[Ball], rule: Sequence[tuple[Fraction, Fraction]]) -> list[Ball]:
    """Return columns: the nodes on [0, 1], their distances from 1, and the weights."""
    nodes, weights = zip(*rule, strict=True)
    return [_column(kind, x) for x in (nodes, [1 - x for x in nodes], weights)]


def _column(kind: type[Ball], numbers: Sequence[Fraction]) -> Ball:
    balls = [kind.of(x) for x in numbers]
    return kind(*(np.array([[getattr(x, name)] for x in balls]) for name in "vd"))


def _spread(x: Ball, shape: tuple[int, ...]) -> Ball:
    """Return x at every point, flat; a single number stands for all."""
    if not np.ndim(x.v):
        return x
    v, d = (np.broadcast_to(np.asarray(y, dtype=x.v.dtype), shape).ravel() for y in (x.v, x.d))
    return type(x)(v, d)
