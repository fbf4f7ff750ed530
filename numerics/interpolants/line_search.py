"""A step along which the slope of a convex function falls enough."""

from __future__ import annotations

import math
from collections.abc import Callable

_ACCEPT = 0.3
"""The part of the first slope that a step may leave."""
_GROWTH, _RETREAT = 8.0, 1e-4
_MAX_STEPS = 100
_Sample = tuple[float, float]
"""A step t and the height of the slope there."""


def search(slope: Callable[[float], float], first: float) -> tuple[float, bool]:
    """Return t > 0 with ``|slope(t)| <= 0.3 |first|``, and whether one was found.

    *slope* is the derivative of a convex function along the direction, inf or nan where the
    function is not defined, and *first* < 0 its value at 0. Its root is bracketed from t = 1.
    Slopes may grow like exponentials, so that asinh of the slope is interpolated. Where the slope
    stays negative as far as floats go, or rounding hides its sign, no step is found: then the t up
    to which it is negative is returned.

    >>> from math import exp
    >>> t, found = search(lambda t: exp(100 * t) - 1e10, 1 - 1e10)
    >>> found, abs(t - 0.23) < 0.01
    (True, True)
    """
    if not first < 0:
        return 0.0, False
    below: _Sample = (0.0, -math.asinh(1))
    above: list[_Sample] = []
    t = 1.0
    for _ in range(_MAX_STEPS):
        value = slope(t)
        if abs(value) <= -_ACCEPT * first:
            return t, True
        height = math.asinh(value / -first) if value < math.inf else math.inf
        if height < 0:
            below = (t, height)
        else:
            above = [(t, height), *above[:1]]
        t = _next(below, above)
        if above and not below[0] < t < above[0][0]:
            return below[0], False
    return below[0], False


def _next(below: _Sample, above: list[_Sample]) -> float:
    """Return the next t: between the last sample below the root and those above, latest first."""
    (low, depth) = below
    if not above:
        return low * _GROWTH
    (high, height) = above[0]
    if height == math.inf:
        return low + (high - low) * _RETREAT if not low else (low + high) / 2
    further, rise = above[-1]
    if height < rise < math.inf:
        # The secant from above: heights are convex where the slopes grow like exponentials.
        t = high - height * (further - high) / (rise - height)
        if low < t < high - 0.1 * (high - low):
            return t
    return (low + high) / 2 if low or height > 1 else low + (high - low) * depth / (depth - height)
