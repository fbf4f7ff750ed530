"""Q as an integral whose integrand has a formula: panels of [0, 1], halved until they are even."""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from numerics.ball import Array, Ball, Digits, agreed, pairwise_sum
from numerics.tiers import Closed, Constants, Formula

_MOST = 600
"""Panels of one point after which it has no result."""
_EVEN = 16
"""Within a panel the integrand varies by at most this factor."""
_NEGLIGIBLE = Fraction(1, 10**20)
"""A panel below this part of the integral need not be even."""
_NEAR = Fraction(1, 2**52)
"""The relative distance of two rules on a panel that is fine enough."""
_NODE_DIGITS = 40


class Quadrature(Closed):
    """Q of one block with a formula of grad Q only: ``Q = int <grad Q, d beta>``."""

    def __init__(
        self,
        gradient: Formula,
        hessian: Formula,
        inverse: Formula | None = None,
        walls: Formula | None = None,
    ) -> None:
        """Keep the formulas, functions of the constants and d balls."""
        super().__init__(_no_formula, gradient, hessian, inverse, None, walls)

    def difference_forms(self) -> list[Formula]:
        """Return none: there is no formula of Q to take differences of."""
        return []

    def segment(self, c: Constants, b0: Sequence[Ball], s: Sequence[Ball]) -> Ball:
        """Integrate ``(1-t) s^T H(b0 + t s) s`` by panels; every term is positive."""

        def curvature(c: Constants, t: Ball, *parts: Ball) -> Ball:
            origin, step = parts[: len(parts) // 2], parts[len(parts) // 2 :]
            entries = iter(self.hessian(c, *(x + t * y for x, y in zip(origin, step, strict=True))))
            total: Ball = pairwise_sum([x * (y * next(entries)) for x in step for y in step])
            return total

        return integrate_by_panels(curvature, c, [*b0, *s])


def _no_formula(*_: Any) -> Sequence[Ball]:
    raise AssertionError("Q is an integral")


def integrate_by_panels(function: Callable[..., Ball], c: Constants, parts: Sequence[Ball]) -> Ball:
    """Return ``int_0^1 (1 - t) f(c, t, *parts) dt`` for f > 0, point by point.

    The distance of two Gauss-Legendre rules estimates the error of each panel, as in
    :func:`numerics.tiers.integrate`. There is no bound where f is not finite at a node.
    """
    kind, shape = type(parts[0]), np.broadcast_shapes(*(np.shape(x.v) for x in parts))
    parts = [_spread(x, shape) for x in parts]
    count = int(np.prod(shape))
    values = np.full(count, kind.zero)
    errors = np.full(count, kind.zero)
    # More digits than the nodes have help close to the start only, where one panel does.
    beyond = issubclass(kind, Digits) and decimal.getcontext().prec > 2 * _NODE_DIGITS
    left = np.full(count, 1 if beyond else _MOST)
    open_ = [(Fraction(0), Fraction(1), np.arange(count))]
    while open_:
        low, width, index = open_.pop()
        given_up = left[index] == 0
        values[index[given_up]] = kind.zero + type(kind.zero)("nan")
        index = index[~given_up & (errors[index] - errors[index] == 0)]
        if not len(index):
            continue
        left[index] -= 1
        at = [x.take(index) for x in parts]
        panel = _panel(function, _at(c, index), low, width, at)
        small = panel.most * kind.of(width / _NEGLIGIBLE).v < values[index]
        done = panel.even | np.asarray(small, dtype=bool)
        lost = np.where(panel.even, panel.found.d, panel.most * kind.of(_EVEN * width).v)
        rounded = at[0].unit * abs(values[index] + panel.found.v)
        values[index] = np.where(done, values[index] + panel.found.v, values[index])
        errors[index] = np.where(done, errors[index] + lost + rounded, errors[index])
        values[index[~panel.finite]] = errors[index[~panel.finite]] = type(kind.zero)("inf")
        if len(rest := index[panel.finite & ~done]):
            halves = [(low, width / 2, rest), (low + width / 2, width / 2, rest)]
            open_ += halves if panel.rising else halves[::-1]
    return kind(values.reshape(shape), errors.reshape(shape))


@dataclass(frozen=True, slots=True)
class _Panel:
    """The integral over a panel, the largest value at a node, and how the integrand behaves."""

    found: Ball
    most: Array
    even: Array
    finite: Array
    rising: bool


def _panel(
    function: Callable[..., Ball], c: Constants, low: Fraction, width: Fraction, at: Sequence[Ball]
) -> _Panel:
    kind = type(at[0])
    rules, even, finite = [], np.ones(1, dtype=bool), np.ones(1, dtype=bool)
    for n in (16, 10):
        ts = _stacked(kind, [low + width * x for x, _ in _rule(n)])
        factors = _stacked(kind, [width * w * (1 - low - width * x) for x, w in _rule(n)])
        found = function(c, ts, *at)
        sizes = np.broadcast_to(abs(found.v), np.broadcast_shapes(np.shape(found.v), ts.v.shape))
        most, least = np.maximum.reduce(sizes), np.minimum.reduce(sizes)
        even = even & np.asarray(most <= _EVEN * least, dtype=bool)
        finite = finite & np.asarray(most - most == 0, dtype=bool)
        products = factors * found
        rules.append(pairwise_sum([products.take(k) for k in range(n)]))
    total = agreed(*rules)
    near = total.d - rules[0].d <= rules[0].d + kind.of(_NEAR).v * abs(total.v)
    even = even & np.asarray(near, dtype=bool)
    rising = bool(np.ravel(sizes[-1] > sizes[0])[0])
    return _Panel(total, most, even, finite, rising)


def _stacked(kind: type[Ball], numbers: Sequence[Fraction]) -> Ball:
    """Return a column of balls."""
    balls = [kind.of(x) for x in numbers]
    v, d = (np.array([[getattr(x, name)] for x in balls]) for name in "vd")
    return kind(v, d)


@functools.lru_cache
def _rule(n: int) -> list[tuple[Fraction, Fraction]]:
    """Return nodes and weights of Gauss and Legendre on [0, 1], to more digits than doubles."""
    with decimal.localcontext() as context:
        context.prec = _NODE_DIGITS
        return [_node(n, decimal.Decimal(float(x))) for x in np.polynomial.legendre.leggauss(n)[0]]


def _node(n: int, x: Any) -> tuple[Fraction, Fraction]:
    """Return the node that is near x on [-1, 1], by Newton's method, and its weight."""
    for _ in range(3):
        before, value = decimal.Decimal(1), x
        for k in range(2, n + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = n * (x * value - before) / (x * x - 1)
        x -= value / slope
    return (1 + Fraction(x)) / 2, 1 / ((1 - Fraction(x) ** 2) * Fraction(slope) ** 2)


def _spread(x: Ball, shape: tuple[int, ...]) -> Ball:
    """Return x at every point, flat; a single number stands for all."""
    if not np.ndim(x.v):
        return x
    v, d = (np.broadcast_to(np.asarray(y, dtype=x.v.dtype), shape).ravel() for y in (x.v, x.d))
    return type(x)(v, d)


def _at(c: Constants, index: Array) -> Constants:
    """Return the constants at some of the points."""

    def taken(x: Any) -> Any:
        if isinstance(x, list):
            return [taken(y) for y in x]
        return x.take(index) if isinstance(x, Ball) and len(np.shape(x.v)) == 1 else x

    return SimpleNamespace(**{name: taken(x) for name, x in vars(c).items()})
