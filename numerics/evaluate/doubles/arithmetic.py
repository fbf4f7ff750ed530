"""Doubles with bounds of their errors, elementwise on NumPy arrays.

Bounds are running errors to first order (Higham 2002, section 3.3): each operation adds what it may
round off, the bounds themselves are rounded to nearest, and NumPy's functions are taken to keep to
4 ulp. They are sound estimates, not enclosures; where one is too large the same formula is
evaluated on balls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

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

    bounded = True  # whether d bounds the error
    unit: Array = 2.0**-53  # the relative error of an operation
    library: Array = 2.0**-50  # that of a function: NumPy keeps to 4 ulp
    tiny: Array = 2.0**-1074  # what underflow may lose
    functions = {  # noqa: RUF012
        "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "expm1": np.expm1, "log1p": np.log1p,
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
    bounded = False

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


def tighter(x: Double, y: Double) -> Double:
    """Return whichever of two intervals for one number is smaller."""
    return select(~np.asarray(y.d < x.d, dtype=bool), x, y)


def signed(x: Double, sign: Array) -> Double:
    """Return x times an array of signs."""
    return type(x)(x.v * sign, x.d)


def pairwise_sum(terms: Sequence[Array]) -> Array:
    """Return the sum, by halves: fewer roundings in a row."""
    half = len(terms) // 2
    return pairwise_sum(terms[:half]) + pairwise_sum(terms[half:]) if half else terms[0]
