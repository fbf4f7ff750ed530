"""Zeros of functions of x > 0 that are near a power of x, with their errors."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball
from numerics.evaluate.balls.decimals import Digits

_STEPS = 40


def increasing_zero(
    target: Ball,
    first: Array,
    rise: Callable[[Ball], Ball],
    left: Callable[[Ball], Ball],
    slope: Callable[[Ball], Ball],
    *,
    outward: Array,
    most: Array,
) -> Ball:
    """Solve ``rise(x) = target`` for x > 0 by Newton's method on log|rise| against log x.

    As rise is near a power of x both near 0 and near a pole, that function is near a line. Where
    *most* is not 0, x is at most that.
    """
    kind = type(target)
    known = isinstance(target.d, np.ndarray) or bool(target.d)
    with decimal.localcontext() as context:
        steps = 2 + (context.prec // 8).bit_length() if issubclass(kind, Digits) else 2
        context.prec = 30
        logarithm, exponential = kind.functions["log"], kind.functions["exp"]
        goal = logarithm(abs(target.v))

        def gap(s: Array) -> tuple[Array, Array]:
            x = kind(exponential(s), kind.zero)
            grown = rise(x).v
            return logarithm(abs(grown)) - goal + (goal - goal), x.v * slope(x).v / grown

        x = kind(exponential(_shrink(gap, logarithm(first), outward, kind, most)), kind.zero)
    for _ in range(steps):
        x = kind(x.v - left(x).v / slope(x).v, kind.zero)
    residual, steep = left(x), slope(x)
    room = np.maximum(abs(steep.v) - steep.d, kind.zero)
    d = kind.of(Fraction(65, 64)).v * (abs(residual.v) + residual.d) / room + kind.tiny
    zero = target.v == 0
    v = np.where(zero, kind.zero, x.v)
    return kind(v, np.where(zero, (target.d / room if known else kind.zero), d))


def _shrink(
    gap: Callable[[Array], tuple[Array, Array]],
    s: Array,
    outward: Array,
    kind: type[Ball],
    most: Array,
) -> Array:
    """Return the zero of an increasing (or falling) function by Newton steps in a bracket."""
    infinite, small = type(kind.zero)("inf"), kind.of(Fraction(1, 10**10)).v
    known, one = np.asarray(most != kind.zero), kind.of(1).v
    furthest = kind.functions["log"](np.where(known, most, one))
    low, high = s - infinite, np.where(known, furthest, s + infinite)
    for _ in range(_STEPS):
        error, rate = gap(s)
        above = error * outward > 0
        high, low = np.where(above, s, high), np.where(above, low, s)
        new = s - error / rate
        reach = 1 + abs(s)
        middle = np.where(abs(high) == infinite, low + reach, (low + high) / 2)
        middle = np.where(abs(low) == infinite, high - reach, middle)
        new = np.where((new >= low) & (new <= high), new, middle)
        moving = np.logical_and(abs(new - s) > small * reach, error == error)
        s = np.where(error != error, s, new)
        if not np.any(moving):
            break
    return s
