"""Taylor coefficients as integers of mpmath, of GMP or Python, on one binary grid a variable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import mpmath
from mpmath.libmp import MPZ, from_man_exp

from derive.errors import NumericalError
from numerics.reals import Real

Integer: TypeAlias = int
"""Or the mpz of gmpy2, which computes alike."""
Rule: TypeAlias = Iterator[None]
"""Appends one coefficient to a series at every turn."""
GUARD = 12
"""Decimal digits carried beyond those asked for."""
ZERO = MPZ(0)
_LARGEST = 1 << 26  # binary exponent, beyond which a value counts as an overflow


def bits_of(digits: int) -> int:
    """Return the bits of a number of *digits* decimal digits and the guard digits."""
    return math.ceil((digits + GUARD) * math.log2(10)) + 1


def undefined() -> NumericalError:
    """Return the error for what has no finite value."""
    return NumericalError("a value is undefined or overflows")


def real(mantissa: Integer, exponent: int) -> Real:
    """Return ``mantissa 2^exponent`` as an mpf, without rounding."""
    return mpmath.mp.make_mpf(from_man_exp(MPZ(mantissa), exponent))


def as_mpf(value: Real) -> Real:
    """Return an mpf of any context as one of mpmath.mp, without rounding."""
    return mpmath.mp.make_mpf(value._mpf_)


def shifted(value: Integer, up: int) -> Integer:
    """Return ``value 2^up``, rounded down."""
    return value << up if up >= 0 else value >> -up


def scaled(value: Fraction | Real, bits: int) -> tuple[Integer, int]:
    """Return (mantissa, exponent) of a fraction or an mpf, with *bits* bits or one more."""
    if isinstance(value, Fraction | int):
        top, bottom = value.numerator, value.denominator
        up = bits - top.bit_length() + bottom.bit_length()
        return shifted(MPZ(top), up) // bottom, -up
    sign, mantissa, exponent, count = value._mpf_
    if not mantissa and exponent:
        raise undefined()
    up = bits - count
    return shifted(MPZ(-mantissa if sign else mantissa), up), exponent - up


class Series:
    """The coefficients ``X_k 2^e`` of one variable: integers X_k in *cells*, and one exponent e.

    The first coefficient that is not 0 has *bits* bits; e is None as long as all are 0.
    """

    __slots__ = ("bits", "cells", "exponent")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.cells: list[Integer] = []
        self.exponent: int | None = None

    @property
    def grid(self) -> int:
        """The exponent e of a series that is not all 0."""
        assert self.exponent is not None
        return self.exponent

    def choose(self, exponent: int) -> None:
        """Set the exponent e; NumericalError where the numbers would overflow."""
        if exponent + self.bits > _LARGEST:
            raise undefined()
        self.exponent = exponent

    def fix(self, raw: Integer, exponent: int) -> int:
        """Set the grid for ``raw 2^exponent`` and no finer; return how many bits are dropped."""
        down = max(raw.bit_length() - self.bits, 0)
        self.choose(exponent + down)
        return down

    def begin(self, value: Fraction | Real) -> None:
        """Append the first coefficient, a fraction or an mpf."""
        mantissa, exponent = scaled(value, self.bits)
        if mantissa:
            self.choose(exponent)
        self.cells.append(mantissa)

    def place(self, raw: Integer, exponent: int | None) -> None:
        """Append the coefficient ``raw 2^exponent``; *exponent* matters where raw is not 0."""
        if raw and self.exponent is None:
            assert exponent is not None
            self.fix(raw, exponent)
        up = 0 if exponent is None or not raw else exponent - self.grid
        self.cells.append(shifted(raw, up))

    def size(self, k: int) -> int:
        """Return n with ``2^(n-1) <= |coefficient k| < 2^n`` where it is not 0."""
        return self.cells[k].bit_length() + self.grid

    def value(self, k: int) -> Real:
        """Return the coefficient number k as an mpf."""
        return real(self.cells[k], self.exponent or 0)
