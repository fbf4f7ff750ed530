"""Lengths and inner products of vectors of balls, along the last axis."""

from __future__ import annotations

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, Double
from numerics.evaluate.balls.elementary import sqrt


def column(x: Ball) -> Ball:
    """Return x with one more axis, to multiply vectors by it."""
    v, d = (y[..., None] if np.ndim(y) else y for y in (x.v, x.d))
    return type(x)(v, d)


def total(x: Ball) -> Ball:
    """Return the sum over the last axis, by halves."""
    while (n := x.v.shape[-1]) > 1:
        half = n // 2
        added = _span(x, 0, half) + _span(x, half, 2 * half)
        x = added if n == 2 * half else _joined(added, _span(x, 2 * half, n))
    v, d = (y[..., 0] if np.ndim(y) else y for y in (x.v, x.d))
    return type(x)(v, d)


def _span(x: Ball, low: int, high: int) -> Ball:
    return type(x)(x.v[..., low:high], x.d[..., low:high] if np.ndim(x.d) else x.d)


def _joined(x: Ball, y: Ball) -> Ball:
    d = [np.broadcast_to(np.asarray(z.d, dtype=z.v.dtype), z.v.shape) for z in (x, y)]
    return type(x)(np.concatenate([x.v, y.v], axis=-1), np.concatenate(d, axis=-1))


def dot(x: Ball, y: Ball) -> Ball:
    """Return the inner product."""
    return total(x * y)


def length(x: Ball) -> Ball:
    """Return the Euclidean norm; squares neither overflow nor vanish."""
    if not isinstance(x, Double):
        return sqrt(dot(x, x))
    exponents: Array = np.frexp(np.max(np.abs(x.v), axis=-1))[1]
    scale = np.ldexp(1.0, np.clip(exponents, -1000, 1000))
    part = Double(x.v / scale[..., None], x.d / scale[..., None])
    root = sqrt(dot(part, part))
    return Double(root.v * scale, root.d * scale + x.tiny)


def unit(x: Ball, size: Ball) -> Ball:
    """Return ``x/size``, and 0 for the zero vector."""
    still = size.v == 0
    v, d = np.where(still, size.of(1).v, size.v), np.where(still, size.zero, size.d)
    return x / column(type(x)(v, d))
