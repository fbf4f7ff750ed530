"""Real roots of polynomials and inverses of increasing functions, elementwise on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import TypeAlias

import numpy as np

from numerics.evaluate.backend import Array, Backend, Interval, Number

Function: TypeAlias = Callable[[Array], Array]


def select_root(coefficients: Sequence[Array], from_above: int, backend: Backend) -> Array:
    """Return the real root number *from_above* of each polynomial, 0 being the largest.

    ``sum_n c_n T^n = 0``; the c_n are arrays of one shape, the constant term first. nan where
    there is no such root.

    >>> from numerics.evaluate.backend import Float64
    >>> float(select_root([np.array(x) for x in (-6.0, 11.0, -6.0, 1.0)], 1, Float64()))
    2.0
    """
    shape = coefficients[0].shape
    flat = [backend.array(c).reshape(-1) for c in coefficients]
    if from_above == 0:
        result = _largest_root(flat, backend)
    else:
        result = backend.array(np.full(flat[0].shape, np.nan))
    for i in np.flatnonzero(result != result):
        real = backend.roots([c[i] for c in reversed(flat)])
        if from_above < len(real):
            result[i] = _polished([c[i] for c in flat], real[from_above])
    return result.reshape(shape)


def _polished(coefficients: Sequence[Number], x: Number) -> Number:
    """Return x after the Newton steps that lower the residual."""
    for _ in range(3):
        slope = _derivative(coefficients, x, 1)
        new = x - _derivative(coefficients, x, 0) / slope if slope else x
        if not abs(_derivative(coefficients, new, 0)) < abs(_derivative(coefficients, x, 0)):
            break
        x = new
    return x


def _largest_root(coefficients: Sequence[Array], backend: Backend) -> Array:
    """Return the largest real root by Newton's method from above, nan where that is not certain.

    From a bound of all roots Newton falls monotonically, as every derivative is positive there. A
    root at which no derivative is negative has no other above it.
    """
    leading = coefficients[-1]
    bounds = [np.abs(c / np.where(leading == 0, 1, leading)) for c in coefficients[:-1]]
    x = _upper_bound(bounds)
    monic = [c / np.where(leading == 0, np.nan, leading) for c in coefficients]
    for _ in range(8 * backend.bits):
        value, slope = _derivative(monic, x, 0), _derivative(monic, x, 1)
        new = x - value / np.where(slope == 0, 1, slope)
        moving = (slope > 0) & (new < x)
        if not np.any(moving):
            break
        x = np.where(moving, new, x)
    unit = 2.0 ** (8 - backend.bits)
    certain = np.abs(_derivative(monic, x, 0)) <= unit * _size(monic, x, 0) + 0 * x
    for k in range(1, len(monic) - 1):
        certain &= _derivative(monic, x, k) >= -unit * _size(monic, x, k)
    return np.where(certain, x, backend.number(np.nan))


def _upper_bound(magnitudes: Sequence[Array]) -> Array:
    """Return ``2 max_k |c_{n-k}|^(1/k)`` or a little more, a bound of all roots (Fujiwara 1916)."""
    bound = 0 * magnitudes[0]
    for k, c in enumerate(reversed(magnitudes), 1):
        bound = np.maximum(bound, c ** (1.0 / k))
    return 2 * bound * (1 + 2.0**-40)


def _derivative(coefficients: Sequence[Number], x: Number, k: int) -> Number:
    """Return P^(k)(x)/k! by Horner's rule."""
    total = 0 * x
    for n in range(len(coefficients) - 1, k - 1, -1):
        total = total * x + comb(n, k) * coefficients[n]
    return total


def _size(coefficients: Sequence[Array], x: Array, k: int) -> Number:
    """Return the same with all terms counted as positive: the scale of rounding errors."""
    return _derivative([np.abs(c) for c in coefficients], np.abs(x), k)


def invert_increasing(
    h: Function, slope: Function, interval: Interval, target: Array, backend: Backend
) -> Array:
    """Solve ``h(z) = target`` for z in an open interval around 0 on which h increases.

    A bracket is grown from 0 towards the end, then shrunk by Newton's method, or by bisection
    where that leaves the bracket or is slow. nan where the target is not in the range of h.
    """
    zero = 0 * target
    sign = np.where(target >= h(zero), 1, -1)
    inner, outer, open_ = zero, zero, target == target
    for k in range(1, backend.bits + 4):
        open_ = open_ & ((target - h(outer)) * sign > 0)
        if not np.any(open_):
            break
        inner = np.where(open_, outer, inner)
        outer = np.where(open_, np.where(sign > 0, *_outward(interval, k, backend)), outer)
    z = _shrink(h, slope, target, (inner, outer), backend, sign=sign)
    reached = ((target - h(inner)) * sign >= 0) & ((target - h(outer)) * sign <= 0)
    return np.where(reached, z, backend.number(np.nan))


def _outward(interval: Interval, k: int, backend: Backend) -> Interval:
    """Return points that approach the upper and the lower end as k grows."""
    near = 1 - backend.number(2) ** -k
    far = backend.number(2) ** (k - 4)
    lower, upper = (backend.number(end) for end in interval)
    infinite = backend.number(np.inf)
    return (
        far if upper == infinite else upper * near,
        -far if lower == -infinite else lower * near,
    )


def _shrink(
    h: Function,
    slope: Function,
    target: Array,
    bracket: tuple[Array, Array],
    backend: Backend,
    *,
    sign: Array,
) -> Array:
    inner, outer = bracket
    z, width = (inner + outer) / 2, np.abs(outer - inner)
    for _ in range(6 * backend.bits):
        left, steep = h(z) - target, slope(z)
        beyond = left * sign > 0
        outer, inner = np.where(beyond, z, outer), np.where(beyond, inner, z)
        new = z - left / np.where(steep == 0, 1, steep)
        inside = (new - inner) * (new - outer) < 0
        # A Newton step that does not halve the step before may go on like that: bisect.
        good = inside & (2 * np.abs(new - z) <= width)
        new = np.where(good, new, (inner + outer) / 2)
        width = np.abs(new - z)
        z = np.where(left == 0, z, new)
        if not np.any((width > 2.0 ** (1 - backend.bits) * np.abs(z)) & (left != 0)):
            break
    return z
