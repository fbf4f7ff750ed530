"""Decimals whose square roots, logarithms and exponentials are MPFR's: faster at many digits.

Modules that :mod:`numerics.evaluate.source.module` writes need NumPy only, and do without.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable

import gmpy2

from numerics.evaluate.balls.arithmetic import Digits, OnDecimal, decimal_functions

_BITS = math.log2(10)
_GUARD = 30
_WIDEST = 10**8
"""Beyond this exponent decimals go further than MPFR."""


def _rounded(
    function: Callable[[gmpy2.mpfr], gmpy2.mpfr], spread: Callable[[decimal.Decimal], float]
) -> OnDecimal:
    """Return a function of positive decimals, right to the digits of the current context.

    *spread* tells how many decimal digits more the argument needs.
    """

    def apply(x: decimal.Decimal) -> decimal.Decimal:
        digits = decimal.getcontext().prec
        bits = int(digits * _BITS) + _GUARD
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            value = function(gmpy2.mpfr(str(x), int(bits + spread(x) * _BITS)))
        return +decimal.Decimal(str(value))

    return apply


def _beside_one(x: decimal.Decimal) -> float:
    """Return the digits that the distance of x from 1 loses."""
    return decimal.getcontext().prec if -2 < x.adjusted() < 1 else 0


_ln = _rounded(gmpy2.log, _beside_one)
_exp = _rounded(gmpy2.exp, lambda x: max(0, x.adjusted() + 1))
_sqrt = _rounded(gmpy2.sqrt, lambda x: 0)


def sqrt(x: decimal.Decimal) -> decimal.Decimal:
    """Return the square root of a decimal."""
    return _sqrt(x) if _common(x) and x > 0 else x.sqrt()


def ln(x: decimal.Decimal) -> decimal.Decimal:
    """Return the natural logarithm of a decimal."""
    return _ln(x) if _common(x) and x > 0 else x.ln()


def exp(x: decimal.Decimal) -> decimal.Decimal:
    """Return the exponential of a decimal."""
    return _exp(x) if _common(x) and x.adjusted() < 8 else x.exp()


def _common(x: decimal.Decimal) -> bool:
    return bool(x.is_finite() and abs(x.adjusted()) < _WIDEST)


class MpfrDigits(Digits):
    """Decimals, to the digits of the current context."""

    __slots__ = ()
    functions = decimal_functions(sqrt, ln, exp)
