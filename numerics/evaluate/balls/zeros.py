"""Roots of polynomials, and inverses of increasing functions, with their errors."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from math import comb

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, Operand, select
from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.elementary import sqrt


def largest_root(*coefficients: Operand) -> Ball:
    """Return the largest real root t of ``c_0 + c_1 t + ... + c_n t^n``."""
    kind = next(type(c) for c in coefficients if isinstance(c, Ball))
    balls = [kind.of(c) for c in coefficients]
    return _quadratic(*balls) if len(balls) == 3 else _polynomial(balls)


def _quadratic(c: Ball, b: Ball, a: Ball) -> Ball:
    """Return the larger root, in whichever form adds numbers of one sign."""
    half, product = -b / a / 2, c / a
    root = sqrt(half * half - product)
    low = np.asarray(half.v < 0)
    if not low.any():
        return half + root
    direct, conjugate = half + root, product / (half - root)
    if low.all():
        return conjugate
    parts = ((getattr(conjugate, n), getattr(direct, n)) for n in ("v", "d"))
    return type(c)(*(np.where(low, x, y) for x, y in parts))


def _polynomial(coefficients: Sequence[Ball]) -> Ball:
    """Fall from a bound of all roots by Newton's method, and bound the error by the residual."""
    kind = type(coefficients[0])
    leading = coefficients[-1]
    monic = [c / leading for c in coefficients[:-1]] + [kind.of(1)]
    values = [c.v for c in monic]
    x = _bound(values[:-1])
    for _ in range(100 + decimal.getcontext().prec * (issubclass(kind, Digits))):
        slope = _derivative(values, x, 1)
        new = x - _derivative(values, x, 0) / np.where(slope == 0, 1, slope)
        moving = (slope > 0) & (new < x)
        if not np.any(moving):
            break
        x = np.where(moving, new, x)
    at = kind(x, kind.zero)
    residual, slope_ball = _derivative(monic, at, 0), _derivative(monic, at, 1)
    room = np.maximum(abs(slope_ball.v) - slope_ball.d, kind.zero)
    d = 2 * (abs(residual.v) + residual.d) / room + kind.tiny
    # With no negative derivative at the root none other is above it.
    certain: Array = room > 0
    for k in range(2, len(monic) - 1):
        rate = _derivative(monic, at, k)
        certain = certain & (rate.v >= -rate.d)
    # Newton's steps end early above complex roots.
    open_ = ~np.asarray(certain & (d * 2**20 <= abs(x)), dtype=bool) & np.asarray(x != 0)
    found = kind(x, d).outside(x != x, open_)
    return select(open_, lower_root(0, *coefficients), found) if np.any(open_) else found


def lower_root(number: int, *coefficients: Operand) -> Ball:
    """Return the real root that has *number* others above it, near one in doubles.

    A polynomial of degree n has a root within n |P/P'| of a point.
    """
    kind = next(type(c) for c in coefficients if isinstance(c, Ball))
    balls = [kind.of(c) for c in coefficients]
    rows = np.broadcast_arrays(*(np.asarray(c.v, dtype=np.float64) for c in balls))
    first = [_real_root(row, number) for row in zip(*(x.flat for x in rows), strict=True)]
    x = kind.of(np.reshape(first, rows[0].shape))
    for _ in range(2 + decimal.getcontext().prec.bit_length()):
        step = _derivative(balls, x, 0) / _derivative(balls, x, 1)
        x = kind((x - step).v, kind.zero)
    step = _derivative(balls, x, 0) / _derivative(balls, x, 1)
    return kind(x.v, (abs(step.v) + step.d) * (len(balls) - 1))


def _real_root(coefficients: Sequence[float], number: int) -> float:
    """Return that root of one polynomial; nan where there is none."""
    if not np.all(np.isfinite(coefficients)):
        return float("nan")
    found = np.roots(coefficients[::-1])
    real = np.sort(found.real[np.abs(found.imag) <= 1e-7 * (np.abs(found) + 1e-300)])
    return float(real[-1 - number]) if number < len(real) else float("nan")


def _bound(values: Sequence[Array]) -> Array:
    """Return a little more than ``2 max_k |c_{n-k}|^(1/k)``, a bound of all roots."""
    return 2 * np.maximum.reduce(
        np.broadcast_arrays(*(_root(abs(c), k) for k, c in enumerate(reversed(values), 1)))
    )


def _root(x: Array, k: int) -> Array:
    """Return a number above ``x^(1/k)``."""
    if not isinstance(x, decimal.Decimal) and np.asarray(x).dtype != object:
        return x ** (1.0 / k) * (1 + 2.0**-40)
    above = np.frompyfunc(lambda y: y and decimal.Decimal(1).scaleb((y.adjusted() + k) // k), 1, 1)
    return above(x)


def _derivative(coefficients: Sequence[Array], x: Array, k: int) -> Array:
    """Return P^(k)(x)/k! by Horner's rule."""
    total = coefficients[-1] * comb(len(coefficients) - 1, k)
    for n in range(len(coefficients) - 2, k - 1, -1):
        total = total * x + coefficients[n] * comb(n, k)
    return total
