"""Doubles with bounds of their errors, elementwise on NumPy arrays.

Bounds are running errors to first order (Higham 2002, section 3.3): each operation adds what it may
round off, the bounds themselves are rounded to nearest, and NumPy's functions are taken to keep to
4 ulp. They are sound estimates, not enclosures; where one is too large the same formula is
evaluated on balls.

Elementary functions, roots of polynomials, and vectors along the last axis, with bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb
from typing import Any, TypeAlias

import numpy as np

from numerics.evaluate.numbers import NAMED

Array: TypeAlias = Any  # an array of floats, or one of them
Constants: TypeAlias = Any  # the start symbols, and what depends on them alone, by name
Formula: TypeAlias = Callable[..., Sequence[Any]]
"""A function of the constants and numbers."""
Quantity: TypeAlias = Any  # a Double of some kind, or a ball of python-flint
Operand: TypeAlias = "Double | int | Fraction | Array"

_EXACT_FACTORS = (0.25, 0.5, 1, 2, 4, 8)
"""Products with these are not rounded."""


class Double:
    """The numbers within *d* of *v*. What is undefined is nan."""

    __array_ufunc__ = None  # NumPy leaves mixed operations to this class
    __slots__ = ("d", "v")

    unit: Array = 2.0**-53  # the relative error of an operation
    library: Array = 2.0**-50  # that of a function: NumPy keeps to 4 ulp
    tiny: Array = 2.0**-1074  # what underflow may lose
    functions = {  # noqa: RUF012
        "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "expm1": np.expm1,
        "asinh": np.arcsinh, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan,
        "sin": np.sin, "cos": np.cos,
    }  # fmt: skip

    def __init__(self, v: Array, d: Array = 0.0) -> None:
        """Hold numbers and their errors."""
        self.v, self.d = v, d

    @classmethod
    def of(cls, value: Operand) -> Double:
        """Convert an integer, a fraction or an array of doubles; a number with a bound stays."""
        if isinstance(value, Double):
            return value
        if type(value) is int and abs(value) <= 2**53:
            return cls(float(value))
        if isinstance(value, int | Fraction):
            return cls._of_exact(value)
        array = np.asarray(value, dtype=np.float64)
        return cls(array if array.ndim else float(array), 0.0)

    @classmethod
    def _of_exact(cls, value: int | Fraction) -> Double:
        v = float(value)
        lost = abs(float(Fraction(value) - Fraction(v)))
        return cls(v, lost * (1 + 2.0**-50) + (cls.tiny if lost or not v != 0 != value else 0))

    def function(self, name: str, slope: Array) -> Double:
        """Return a function whose slope is below *slope* on the interval."""
        v, d = self.functions[name](self.v), self.d
        unit = self.unit if name == "sqrt" else self.library
        known = not isinstance(d, np.ndarray) and not d
        return type(self)(v, unit * abs(v) + self.tiny + (0.0 if known else slope * d))

    def outside(self, wrong: Array, open_: Array) -> Double:
        """Return nan where *wrong*, and an infinite bound where *open_*."""
        v = np.where(wrong, np.nan, np.where(open_, 0.0, self.v))
        return type(self)(v, np.where(open_, np.inf, self.d))

    def __neg__(self) -> Double:
        return type(self)(-self.v, self.d)

    def __abs__(self) -> Double:
        return type(self)(abs(self.v), self.d)

    def __add__(self, other: Operand) -> Double:
        o = other if isinstance(other, Double) else self.of(other)
        v = self.v + o.v
        if isinstance(v, np.ndarray):
            return type(self)(v, self.unit * abs(v) + (self.d + o.d))
        back = v - self.v  # what was rounded off, exactly
        lost = abs((self.v - (v - back)) + (o.v - back))
        return type(self)(v, lost + (self.d + o.d))

    def __mul__(self, other: Operand) -> Double:
        o = other if isinstance(other, Double) else self.of(other)
        if isinstance(o.v, float) and o.d == 0 and abs(o.v) in _EXACT_FACTORS:
            return type(self)(self.v * o.v, self.d * abs(o.v))
        v = self.v * o.v
        lost = self.unit * abs(v) + self.tiny
        if isinstance(o.d, np.ndarray) or o.d:
            lost = lost + o.d * abs(self.v)
        if isinstance(self.d, np.ndarray) or self.d:
            lost = lost + self.d * (abs(o.v) + o.d)
        return type(self)(v, lost)

    def __truediv__(self, other: Operand) -> Double:
        o = other if isinstance(other, Double) else self.of(other)
        # A float that underflowed to 0 divides as an array does.
        v = self.v / (np.float64(o.v) if isinstance(o.v, float) else o.v)
        lost = self.unit * abs(v) + self.tiny
        if isinstance(o.d, np.ndarray) or isinstance(self.d, np.ndarray) or o.d or self.d:
            room = abs(o.v) - o.d
            lost = lost + (o.d * abs(v) + self.d) / np.maximum(room, 0.0)
            if not np.all(room > 0):
                return type(self)(v, lost).outside(False, ~np.asarray(room > 0, dtype=bool))
        return type(self)(v, lost)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Operand) -> Double:
        return self.__add__(-self.of(other))

    def __rsub__(self, other: Operand) -> Double:
        return (-self).__add__(other)

    def __rtruediv__(self, other: Operand) -> Double:
        return self.of(other).__truediv__(self)

    def __pow__(self, n: int) -> Double:
        if n == 2:
            return self.__mul__(self)
        if n < 0:
            return self.of(1).__truediv__(self**-n)
        if n < 2:
            return self if n else self.of(1)
        half = self ** (n // 2)
        return half * half * self if n % 2 else half * half


class Extended(Double):
    """NumPy's longest doubles: 11 bits more on most processors, none on some."""

    __slots__ = ()
    unit, tiny = (
        np.longdouble(2.0) ** -(np.finfo(np.longdouble).nmant + 1),
        np.longdouble(2.0**-1074),
    )
    library = 8 * unit

    @classmethod
    def of(cls, value: Operand) -> Double:
        """Convert."""
        if isinstance(value, Double):
            return value
        if isinstance(value, int | Fraction):
            return cls._of_exact(value)
        return cls(np.asarray(value, dtype=np.longdouble)[()], 0.0)

    @classmethod
    def _of_exact(cls, value: int | Fraction) -> Double:
        top, below = map(np.longdouble, Fraction(value).as_integer_ratio())
        v = top / below
        whole = value.denominator == 1 and abs(value.numerator) < 2**53
        return cls(v, 0.0 if whole else 3 * cls.unit * abs(v))


class Plain(Double):
    """Doubles whose error is not known, and counts as 0."""

    __slots__ = ()

    def __init__(self, v: Array, d: Array = 0.0) -> None:
        """Hold numbers."""
        self.v, self.d = v, 0.0

    @classmethod
    def of(cls, value: Operand) -> Double:
        """Convert."""
        if isinstance(value, Plain):
            return value
        if isinstance(value, Double):
            return cls(value.v)
        return cls(value if isinstance(value, (np.ndarray, float)) else float(value))

    def function(self, name: str, slope: Array) -> Double:
        """Return a function."""
        return Plain(self.functions[name](self.v))

    def outside(self, wrong: Array, open_: Array) -> Double:
        """Return nan where *wrong* or *open_*."""
        return Plain(np.where(np.logical_or(wrong, open_), np.nan, self.v))

    def __add__(self, other: Operand) -> Double:
        return Plain(self.v + Plain.of(other).v)

    def __mul__(self, other: Operand) -> Double:
        return Plain(self.v * Plain.of(other).v)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Operand) -> Double:
        # A float that is 0 divides as an array does.
        return Plain(np.divide(self.v, Plain.of(other).v))


def select(mask: Array, x: Double, y: Double) -> Double:
    """Return x where *mask*, else y."""
    return type(x)(np.where(mask, x.v, y.v), np.where(mask, x.d, y.d))


def signed(x: Double, sign: Array) -> Double:
    """Return x times an array of signs."""
    return type(x)(x.v * sign, x.d)


def pairwise_sum(terms: Sequence[Array]) -> Array:
    """Return the sum, by halves: fewer roundings in a row."""
    half = len(terms) // 2
    return pairwise_sum(terms[:half]) + pairwise_sum(terms[half:]) if half else terms[0]


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
    return log(safe).outside(high < 0, ~np.asarray(low > 0, dtype=bool))


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
    """Return the largest real root t of ``c_0 + c_1 t + ... + c_n t^n``.

    That of a quadratic in whichever form adds numbers of one sign.
    """
    if len(coefficients) != 3:
        return lower_root(0, *coefficients)
    c, b, a = _alike(coefficients)
    half, product = -b / a / 2, c / a
    root = sqrt(half * half - product)
    low = np.asarray(half.v < 0)
    return select(low, product / (half - root), half + root) if low.any() else half + root


def _alike(coefficients: Sequence[Operand]) -> list[Double]:
    """Return numbers of one kind."""
    kind = next(type(c) for c in coefficients if isinstance(c, Double))
    return [kind.of(c) for c in coefficients]


def lower_root(number: int, *coefficients: Operand) -> Double:
    """Return the real root that has *number* others above it; undefined where there is none.

    It is an eigenvalue of the companion matrix, made precise by Newton's method. A polynomial of
    degree n has a root within n |P/P'| of a point.
    """
    given = _alike(coefficients)
    n, kind = len(given) - 1, type(given[0])
    rows = np.broadcast_arrays(*(np.asarray(c.v, dtype=np.float64) for c in given))
    top = np.stack([-c / rows[-1] for c in rows[-2::-1]], axis=-1)
    known = np.isfinite(top).all(axis=-1)
    companion = np.zeros((*known.shape, n, n)) + np.eye(n, k=-1)
    companion[..., 0, :] = np.where(known[..., None], top, 0)
    found = np.linalg.eigvals(companion)
    real = np.abs(found.imag) <= 1e-7 * (np.abs(found) + 1e-300)
    ordered = np.sort(np.where(real, found.real, -np.inf), axis=-1)
    first = ordered[..., -1 - number] if number < n else np.full(known.shape, -np.inf)
    x = kind.of(np.where(known & np.isfinite(first), first, np.nan))
    for _ in range(3):
        x = kind((x - _derivative(given, x, 0) / _derivative(given, x, 1)).v)
    step = _derivative(given, x, 0) / _derivative(given, x, 1)
    return kind(x.v, (abs(step.v) + step.d) * n)


def _derivative(coefficients: Sequence[Array], x: Array, k: int) -> Array:
    """Return P^(k)(x)/k! by Horner's rule."""
    total = coefficients[-1] * comb(len(coefficients) - 1, k)
    for n in range(len(coefficients) - 2, k - 1, -1):
        total = total * x + coefficients[n] * comb(n, k)
    return total


def column(x: Double) -> Double:
    """Return x with one more axis, to multiply vectors by it."""
    v, d = (y[..., None] if isinstance(y, np.ndarray) else y for y in (x.v, x.d))
    return type(x)(v, d)


def total(x: Double) -> Double:
    """Return the sum over the last axis, by halves."""
    n = x.v.shape[-1]
    more = [(0, 0)] * (x.v.ndim - 1) + [(0, (1 << (n - 1).bit_length()) - n)]
    v, d = np.pad(x.v, more), np.pad(np.broadcast_to(x.d, x.v.shape), more)
    while half := v.shape[-1] // 2:
        added = type(x)(v[..., :half], d[..., :half]) + type(x)(v[..., half:], d[..., half:])
        v, d = added.v, np.broadcast_to(added.d, added.v.shape)
    return type(x)(v[..., 0], d[..., 0])


def dot(x: Double, y: Double) -> Double:
    """Return the inner product."""
    return total(x * y)


def length(x: Double) -> Double:
    """Return the Euclidean norm; squares neither overflow nor vanish."""
    exponents: Array = np.frexp(np.max(np.abs(x.v), axis=-1))[1]
    scale = np.ldexp(1.0, np.clip(exponents, -1000, 1000))
    part = type(x)(x.v / scale[..., None], x.d / scale[..., None])
    root = sqrt(dot(part, part))
    return type(x)(root.v * scale, root.d * scale + x.tiny)


def unit(x: Double, size: Double) -> Double:
    """Return ``x/size``, and 0 for the zero vector."""
    still = size.v == 0
    v, d = np.where(still, 1.0, size.v), np.where(still, 0.0, size.d)
    return x / column(type(x)(v, d))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (sqrt, log, tan, tangent, power, minimum)},
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
    **{n: (lambda x, f=f: type(x)(f(np.float64(x.v)), np.inf)) for n, f in NAMED.items()},
    "maximum": lambda x, y: -minimum(-x, -y),
    "largest_root": largest_root,
    "lower_root": lower_root,
    "Fraction": Fraction,
}
"""What the texts of formulas call, with bounds."""
PLAIN_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FUNCTIONS,
    **{name: (lambda x, f=f: Plain(f(x.v))) for name, f in (Double.functions | NAMED).items()},
    "power": lambda x, p: Plain(np.power(x.v, Plain.of(p).v)),
    "minimum": lambda x, y: Plain(np.minimum(x.v, y.v)),
    "maximum": lambda x, y: Plain(np.maximum(x.v, y.v)),
}
"""The same in doubles alone: what NumPy gives."""
