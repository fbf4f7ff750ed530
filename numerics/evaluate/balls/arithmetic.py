"""Numbers within a known distance of what they stand for, elementwise on NumPy arrays.

Doubles are fast; where their bound is too large the same formula is evaluated in decimals, of any
length and any exponent. Bounds are running errors to first order (Higham 2002, section 3.3): each
operation adds what it may round off, the bounds themselves are rounded to nearest, and NumPy's
functions are taken to keep to 4 ulp. They are sound estimates, not enclosures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any  # an array of floats or of Decimals, or one such number
Operand: TypeAlias = "Ball | int | Fraction | Array"


def _matters(d: Array) -> bool:
    """Tell whether an error is not known to be 0."""
    return isinstance(d, np.ndarray) or bool(d)


class Ball:
    """The numbers within *d* of *v*. What is undefined is nan."""

    __array_ufunc__ = None  # NumPy leaves mixed operations to this class
    __slots__ = ("d", "v")

    unit: Array  # the relative error of an operation
    library: Array  # that of a function
    tiny: Array  # what underflow may lose
    zero: Array
    functions: dict[str, Callable[[Array], Array]]
    of: Callable[[Operand], Ball]  # of an integer, a fraction, or an array of doubles; a ball stays
    coarse = False  # whether bounds are worth to be improved by an integral

    def __init__(self, v: Array, d: Array) -> None:
        """Hold numbers and their errors."""
        self.v, self.d = v, d

    def take(self, index: Array) -> Ball:
        """Return the entries at *index*; a single number stands for all."""
        v, d = self.v, self.d
        return type(self)(v[index] if np.ndim(v) else v, d[index] if np.ndim(d) else d)

    def function(self, name: str, slope: Array) -> Ball:
        """Return a function whose slope is below *slope* on the ball."""
        v = self.functions[name](self.v)
        lost = slope * self.d if _matters(self.d) else self.d
        unit = self.unit if name == "sqrt" else self.library
        return type(self)(v, unit * abs(v) + self.tiny + lost)

    def outside(self, wrong: Array, open_: Array) -> Ball:
        """Return nan where *wrong*, and an infinite bound where *open_*."""
        nan, inf = self.zero + type(self.zero)("nan"), type(self.zero)("inf")
        v = np.where(wrong, nan, np.where(open_, self.zero, self.v))
        return type(self)(v, np.where(open_, inf, self.d))

    def __neg__(self) -> Ball:
        return type(self)(-self.v, self.d)

    def __abs__(self) -> Ball:
        return type(self)(abs(self.v), self.d)

    def __add__(self, other: Operand) -> Ball:
        o = self.of(other)
        v = self.v + o.v
        if isinstance(v, np.ndarray):
            return type(self)(v, self.unit * abs(v) + (self.d + o.d))
        back = v - self.v  # what was rounded off, exactly
        lost = abs((self.v - (v - back)) + (o.v - back))
        return type(self)(v, lost + (self.d + o.d))

    def __mul__(self, other: Operand) -> Ball:
        o = self.of(other)
        if o.is_power_of_two():
            return type(self)(self.v * o.v, self.d * abs(o.v))
        v = self.v * o.v
        lost = self.unit * abs(v) + self.tiny
        if _matters(o.d):
            lost = lost + o.d * abs(self.v)
        if _matters(self.d):
            lost = lost + self.d * (abs(o.v) + o.d)
        return type(self)(v, lost)

    def __truediv__(self, other: Operand) -> Ball:
        o = self.of(other)
        # A float that underflowed to 0 divides as an array does.
        v = self.v / (np.float64(o.v) if isinstance(o.v, float) else o.v)
        lost = self.unit * abs(v) + self.tiny
        if _matters(o.d) or _matters(self.d):
            room = abs(o.v) - o.d
            lost = lost + (o.d * abs(v) + self.d) / np.maximum(room, self.zero)
            if not np.all(room > 0):
                return type(self)(v, lost).outside(False, ~np.asarray(room > 0, dtype=bool))
        return type(self)(v, lost)

    def is_power_of_two(self) -> bool:
        """Tell whether a product with this is exact."""
        return False

    def __sub__(self, other: Operand) -> Ball:
        return self.__add__(-self.of(other))

    def __radd__(self, other: Operand) -> Ball:
        return self.__add__(other)

    def __rsub__(self, other: Operand) -> Ball:
        return (-self).__add__(other)

    def __rmul__(self, other: Operand) -> Ball:
        return self.__mul__(other)

    def __rtruediv__(self, other: Operand) -> Ball:
        return self.of(other).__truediv__(self)

    def __pow__(self, n: int) -> Ball:
        if n < 0:
            return self.of(1).__truediv__(self**-n)
        if n < 2:
            return self if n else self.of(1)
        half = self ** (n // 2)
        return half * half * self if n % 2 else half * half


class Double(Ball):
    """Doubles."""

    __slots__ = ()
    coarse = True
    unit: Array = 2.0**-53
    tiny: Array = 2.0**-1074
    zero: Array = 0.0
    library: Array = 2.0**-50  # NumPy keeps to 4 ulp
    functions = {  # noqa: RUF012
        "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "expm1": np.expm1, "log1p": np.log1p,
        "asinh": np.arcsinh, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan,
        "sin": np.sin, "cos": np.cos,
    }  # fmt: skip

    @classmethod
    def of(cls, value: Operand) -> Ball:
        """Convert."""
        if isinstance(value, Ball):
            return value
        if isinstance(value, int | Fraction):
            v = float(value)
            lost = abs(float(Fraction(value) - Fraction(v)))
            return cls(v, lost * (1 + 2.0**-50) + (cls.tiny if lost or not v != 0 != value else 0))
        array = np.asarray(value, dtype=np.float64)
        return cls(array if array.ndim else float(array), 0.0)

    def is_power_of_two(self) -> bool:
        """Tell whether a product with this is exact."""
        return isinstance(self.v, float) and self.d == 0 and abs(self.v) in (0.25, 0.5, 1, 2, 4, 8)


class Extended(Double):
    """NumPy's longest doubles: 11 bits more on most processors, none on some."""

    __slots__ = ()
    bits = np.finfo(np.longdouble).nmant + 1
    unit, tiny, zero = np.longdouble(2.0) ** -bits, np.longdouble(2.0**-1074), np.longdouble(0)
    library = 8 * unit

    @classmethod
    def of(cls, value: Operand) -> Ball:
        """Convert."""
        if isinstance(value, Ball):
            return value
        if isinstance(value, int | Fraction):
            top, below = map(np.longdouble, Fraction(value).as_integer_ratio())
            v = top / below
            whole = value.denominator == 1 and abs(value.numerator) < 2**53
            return cls(v, cls.zero if whole else 3 * cls.unit * abs(v))
        return cls(np.asarray(value, dtype=np.longdouble)[()], cls.zero)


def select(mask: Array, x: Ball, y: Ball) -> Ball:
    """Return x where *mask*, else y."""
    return type(x)(np.where(mask, x.v, y.v), np.where(mask, x.d, y.d))


def tighter(x: Ball, y: Ball) -> Ball:
    """Return whichever of two balls for one number is smaller."""
    return select(~np.asarray(y.d < x.d, dtype=bool), x, y)


def agreed(fine: Ball, coarse: Ball, scale: Array) -> Ball:
    """Return the finer of two approximations, with their distance; no bound if that is large."""
    distance = abs(fine.v - coarse.v)
    far = ~np.asarray(distance * 2**20 < scale, dtype=bool)
    d = np.where(far & (distance != 0), type(fine.zero)("inf"), fine.d + distance)
    return type(fine)(fine.v, d)


def signed(x: Ball, sign: Array) -> Ball:
    """Return x times an array of signs."""
    return type(x)(x.v * sign, x.d)


def pairwise_sum(terms: Sequence[Array]) -> Array:
    """Return the sum, by halves: fewer roundings in a row."""
    half = len(terms) // 2
    return pairwise_sum(terms[:half]) + pairwise_sum(terms[half:]) if half else terms[0]
