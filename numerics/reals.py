"""Numbers of mpmath, as the flows and the confirmations hold them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import mpmath

from derive.errors import InputError

Real: TypeAlias = Any
"""A number or a matrix of mpmath, which states no types."""


def rational(x: Fraction) -> Real:
    """Return a fraction as an mpf of the working precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def check_digits(digits: object) -> None:
    """Raise InputError unless *digits* is a positive whole number."""
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise InputError(f"digits must be a positive whole number, not {digits!r}")
