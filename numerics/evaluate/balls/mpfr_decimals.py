"""Decimals whose functions are MPFR's: faster at many digits.

Modules that :mod:`numerics.evaluate.source.module` writes need NumPy only, and do without.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable

import gmpy2
import numpy as np

from numerics.evaluate.balls.arithmetic import Array
from numerics.evaluate.balls.decimals import Digits

_BITS = math.log2(10)
_GUARD = 30
_WIDEST = 10**8
"""Beyond this exponent decimals go further than MPFR."""
_LARGEST = 8
"""From this exponent on exponentials do."""


def _no_more(x: decimal.Decimal) -> int:
    return 0


def _beside(singular: int) -> Callable[[decimal.Decimal], int]:
    """Return the digits that the distance of x from a point loses."""
    return lambda x: decimal.getcontext().prec if abs(x - singular) < 1 else 0


def _exponent(x: decimal.Decimal) -> int:
    return max(0, x.adjusted() + 1)


def _turns(x: decimal.Decimal) -> int:
    return decimal.getcontext().prec + _exponent(x)


_SPREADS = {
    "sqrt": _no_more, "asinh": _no_more, "atan": _no_more, "tanh": _no_more,
    "log": _beside(1), "log1p": _beside(-1),
    "exp": _exponent, "expm1": _exponent, "sinh": _exponent, "cosh": _exponent,
    "sin": _turns, "cos": _turns,
}  # fmt: skip
"""How many decimal digits more the argument of a function needs than its value."""


def _faster(name: str, spread: Callable[[decimal.Decimal], int]) -> Callable[[Array], Array]:
    """Return a function of decimals, right to the digits of the current context."""
    function, slower = getattr(gmpy2, name), Digits.functions[name]
    largest = _WIDEST if name in ("sqrt", "log", "log1p", "asinh", "atan") else _LARGEST

    def apply(x: decimal.Decimal) -> decimal.Decimal:
        if not (x.is_finite() and x and -_WIDEST < x.adjusted() < largest):
            return slower(x)  # type: ignore[no-any-return]
        bits = int(decimal.getcontext().prec * _BITS) + _GUARD
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            value = function(gmpy2.mpfr(str(x), int(bits + spread(x) * _BITS)))
        return +decimal.Decimal(str(value)) if gmpy2.is_finite(value) else slower(x)

    found: Callable[[Array], Array] = np.frompyfunc(apply, 1, 1)
    return found


class MpfrDigits(Digits):
    """Decimals, to the digits of the current context."""

    __slots__ = ()
    functions = {name: _faster(name, spread) for name, spread in _SPREADS.items()}  # noqa: RUF012
