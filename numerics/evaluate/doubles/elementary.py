"""Elementary functions, and roots of polynomials, of doubles with bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from numerics.evaluate.doubles.arithmetic import Array, Double, Operand, Plain, select


def _open(low: Array) -> Array:
    """Tell where a number is not known to be positive; low may be nan."""
    return ~np.asarray(low > 0, dtype=bool)


def sqrt(x: Double) -> Double:
    """Return the square root."""
    low, high = x.v - x.d, x.v + x.d
    if np.all(low > 0):
        return x.function("sqrt", 1 / np.sqrt(x.v))
    safe = type(x)(np.where(high >= 0, np.maximum(x.v, 0.0), x.v), x.d)
    root = safe.function("sqrt", 0.0)
    steep = np.sqrt(np.maximum(high, 0.0))
    slope = x.d / np.where(low > 0, root.v, 1)
    lost = np.where(low > 0, slope, steep)
    return type(x)(np.where(high >= 0, root.v, np.nan), root.d + lost)


def log(x: Double) -> Double:
    """Return the logarithm."""
    low, high = x.v - x.d, x.v + x.d
    if np.all(low > 0):
        return x.function("log", 1 / low)
    safe = type(x)(np.where(low > 0, x.v, 1.0), np.where(low > 0, x.d, 0.0))
    return log(safe).outside(high < 0, _open(low))


def log1p(x: Double) -> Double:
    """Return ``log(1 + x)``."""
    low, high = 1 + (x.v - x.d), 1 + (x.v + x.d)
    safe = type(x)(np.where(low > 0, x.v, 0.0), np.where(low > 0, x.d, 0.0))
    value = safe.function("log1p", 1 / (1 + safe.v - safe.d))
    return value.outside(high < 0, _open(low))


def _growing(name: str, bound: Callable[[Array], Array]) -> Callable[[Double], Double]:
    """Return a function whose slope at x is below *bound*, and at most twice that within 1/2."""

    def value(x: Double) -> Double:
        if not isinstance(x.d, np.ndarray) and not x.d:
            return x.function(name, 0.0)
        return x.function(name, np.where(x.d < 0.5, 2 * bound(x.v), np.inf))

    return value


def tan(x: Double) -> Double:
    """Return the tangent."""
    return x.function("sin", 1) / x.function("cos", 1)


def tangent(x: Double) -> Double:
    """Return tan x for ``|x| < pi/2`` alone, where atan takes it back."""
    size, right = abs(x.v), 2 * FUNCTIONS["atan"](x.of(1))
    beyond = np.asarray(size - x.d > right.v + right.d, dtype=bool)
    return tan(x).outside(beyond, ~np.asarray(size + x.d < right.v - right.d, dtype=bool))


def power(x: Double, exponent: Operand) -> Double:
    """Return ``x^p``: for x > 0, or for 0 and p > 0."""
    if isinstance(exponent, int | Fraction) and Fraction(exponent).denominator <= 2:
        n = Fraction(exponent)
        return x ** int(n) if n.denominator == 1 else sqrt(x) ** n.numerator
    p = x.of(exponent)
    if not np.all(x.v - x.d > 0):
        value: Double = FUNCTIONS["exp"](p.__mul__(log(x)))
        return value
    v = np.power(x.v, p.v)
    lost = abs(p.v) * (x.d / (x.v - x.d)) + p.d * abs(np.log(x.v))
    return type(x)(v, abs(v) * (x.library + 2 * lost) + x.tiny)


def minimum(x: Double, y: Double) -> Double:
    """Return the smaller of two numbers."""
    both = type(x)(np.minimum(x.v, y.v), np.maximum(x.d, y.d))
    below = select(x.v + 2 * x.d <= y.v - 2 * y.d, x, both)
    return select(y.v + 2 * y.d <= x.v - 2 * x.d, y, below)


def largest_root(*coefficients: Operand) -> Double:
    """Return the largest real root t of ``c_0 + c_1 t + ... + c_n t^n``."""
    kind = next(type(c) for c in coefficients if isinstance(c, Double))
    given = [kind.of(c) for c in coefficients]
    return _quadratic(*given) if len(given) == 3 else _polynomial(given)


def _quadratic(c: Double, b: Double, a: Double) -> Double:
    """Return the larger root, in whichever form adds numbers of one sign."""
    half, product = -b / a / 2, c / a
    root = sqrt(half * half - product)
    low = np.asarray(half.v < 0)
    if not low.any():
        return half + root
    direct, conjugate = half + root, product / (half - root)
    return conjugate if low.all() else select(low, conjugate, direct)


def _polynomial(coefficients: Sequence[Double]) -> Double:
    """Fall from a bound of all roots by Newton's method, and bound the error by the residual."""
    kind, leading = type(coefficients[0]), coefficients[-1]
    monic = [c / leading for c in coefficients[:-1]] + [kind.of(1)]
    values = [c.v for c in monic]
    x = _bound(values[:-1])
    for _ in range(_NEWTON_STEPS):
        slope = _derivative(values, x, 1)
        new = x - _derivative(values, x, 0) / np.where(slope == 0, 1, slope)
        moving = (slope > 0) & (new < x)
        if not np.any(moving):
            break
        x = np.where(moving, new, x)
    at = kind(x)
    residual, slope_there = _derivative(monic, at, 0), _derivative(monic, at, 1)
    room = np.maximum(abs(slope_there.v) - slope_there.d, 0.0)
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


_NEWTON_STEPS = 120
"""From a bound of all roots of a polynomial to the largest: 52 halvings, and as many again."""


def lower_root(number: int, *coefficients: Operand) -> Double:
    """Return the real root that has *number* others above it.

    A polynomial of degree n has a root within n |P/P'| of a point.
    """
    kind = next(type(c) for c in coefficients if isinstance(c, Double))
    given = [kind.of(c) for c in coefficients]
    rows = np.broadcast_arrays(*(np.asarray(c.v, dtype=np.float64) for c in given))
    first = [_real_root(row, number) for row in zip(*(x.flat for x in rows), strict=True)]
    x = kind.of(np.reshape(first, rows[0].shape))
    for _ in range(3):
        x = kind((x - _derivative(given, x, 0) / _derivative(given, x, 1)).v)
    step = _derivative(given, x, 0) / _derivative(given, x, 1)
    return kind(x.v, (abs(step.v) + step.d) * (len(given) - 1))


def _real_root(coefficients: Sequence[float], number: int) -> float:
    """Return that root of one polynomial; nan where there is none."""
    if not np.all(np.isfinite(coefficients)):
        return float("nan")
    found = np.roots(coefficients[::-1])
    real = np.sort(found.real[np.abs(found.imag) <= 1e-7 * (np.abs(found) + 1e-300)])
    return float(real[-1 - number]) if number < len(real) else float("nan")


def _bound(values: Sequence[Array]) -> Array:
    """Return a little more than ``2 max_k |c_{n-k}|^(1/k)``, a bound of all roots."""
    sizes = (abs(c) ** (1.0 / k) * (1 + 2.0**-40) for k, c in enumerate(reversed(values), 1))
    return 2 * np.maximum.reduce(np.broadcast_arrays(*sizes))


def _derivative(coefficients: Sequence[Array], x: Array, k: int) -> Array:
    """Return P^(k)(x)/k! by Horner's rule."""
    total = coefficients[-1] * comb(len(coefficients) - 1, k)
    for n in range(len(coefficients) - 2, k - 1, -1):
        total = total * x + coefficients[n] * comb(n, k)
    return total


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (sqrt, log, log1p, tan, tangent, power, minimum)},
    "exp": _growing("exp", np.exp),
    "expm1": _growing("expm1", np.exp),
    "sinh": _growing("sinh", np.cosh),
    "cosh": _growing("cosh", np.cosh),
    # Slopes are at most 1, and of these two at most 1/|x|.
    **{name: (lambda x, f=name: x.function(f, 1)) for name in ("tanh", "sin", "cos")},
    **{
        name: (lambda x, f=name: x.function(f, 1 / np.maximum(1.0, abs(x.v) - x.d)))
        for name in ("asinh", "atan")
    },
    "maximum": lambda x, y: -minimum(-x, -y),
    "largest_root": largest_root,
    "lower_root": lower_root,
    "Fraction": Fraction,
}
"""What the texts of formulas call, with bounds."""
PLAIN_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FUNCTIONS,
    **{name: (lambda x, f=f: Plain(f(x.v))) for name, f in Double.functions.items()},
    "power": lambda x, p: Plain(np.power(x.v, Plain.of(p).v)),
    "minimum": lambda x, y: Plain(np.minimum(x.v, y.v)),
    "maximum": lambda x, y: Plain(np.maximum(x.v, y.v)),
}
"""The same in doubles alone: what NumPy gives."""
