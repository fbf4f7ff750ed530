"""Decimals of any length and any exponent, with bounds of their errors."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, Operand

OnDecimal: TypeAlias = Callable[[decimal.Decimal], decimal.Decimal]
_LONGEST_TURN = 400
"""The exponent of the largest decimal with a sine."""


class Digits(Ball):
    """Decimals, to the digits of the current context."""

    __slots__ = ()
    tiny, zero = decimal.Decimal("1e-99999999999"), decimal.Decimal(0)

    @property
    def unit(self) -> decimal.Decimal:
        """The relative error of an operation."""
        return decimal.Decimal(10) ** (1 - _digits())

    @property
    def library(self) -> decimal.Decimal:
        """That of a function."""
        return 8 * self.unit

    @classmethod
    def of(cls, value: Operand) -> Ball:
        """Convert."""
        if isinstance(value, Ball):
            return value
        if isinstance(value, int | Fraction):
            top, below = decimal.Decimal(value.numerator), value.denominator
            if below == 1 and value.numerator.bit_length() < 3 * _digits():
                return cls(top, cls.zero)
            v = top / below
            return cls(v, abs(v) * decimal.Decimal(10) ** (1 - _digits()))
        array = np.asarray(value, dtype=np.float64)
        if array.ndim == 0:
            return cls(decimal.Decimal(float(array)), cls.zero)
        return cls(_each(lambda x: decimal.Decimal(float(x)))(array), cls.zero)


def exact_decimal(x: Array) -> decimal.Decimal:
    """Return a float or a long double, to the digits of the current context."""
    high = float(x)
    return decimal.Decimal(high) + decimal.Decimal(float(x - high))


def _digits() -> int:
    return decimal.getcontext().prec


def _each(function: Callable[[Array], decimal.Decimal]) -> Callable[[Array], Array]:
    found: Callable[[Array], Array] = np.frompyfunc(function, 1, 1)
    return found


def _careful(function: OnDecimal, *series: int) -> Callable[[Array], Array]:
    """Return f with ``f(x) = x + x^2/c_2 + x^3/c_3`` to all digits near 0; c = 0: no such term."""
    return _each(lambda x: _value_near_zero(function, series, x))


def _value_near_zero(
    function: OnDecimal, series: tuple[int, ...], x: decimal.Decimal
) -> decimal.Decimal:
    digits = _digits()
    if not x.is_finite() or not x:
        return x if not x else function(x)
    if x.adjusted() < -(digits // 3) - 2:
        square = x * x
        second, third = (c and square / c for c in series)
        return x + second + third * x
    with decimal.localcontext() as context:
        context.prec = digits + 2 * max(0, -x.adjusted()) + 5
        value = function(x)
    return +value


def decimal_functions(
    sqrt: OnDecimal, ln: OnDecimal, exp: OnDecimal
) -> dict[str, Callable[[Array], Array]]:
    """Return the functions of decimals, from three of one number right to the current context."""

    def asinh(x: decimal.Decimal) -> decimal.Decimal:
        return ln(abs(x) + sqrt(x * x + 1)).copy_sign(x)

    def tanh(x: decimal.Decimal) -> decimal.Decimal:
        power = exp(-2 * abs(x))
        return ((1 - power) / (1 + power)).copy_sign(x)

    def atan(x: decimal.Decimal) -> decimal.Decimal:
        """Return atan x by its series, after four halvings."""
        for _ in range(4):
            x = x / (1 + sqrt(1 + x * x))
        square, term, total, n = x * x, x, x, 1
        while abs(term) > abs(total).scaleb(-_digits() - 1):
            term, n = -term * square, n + 2
            total += term / n
        return 16 * total

    def turned(x: decimal.Decimal, quarters: int) -> decimal.Decimal:
        """Return sin(x + quarters pi/2), to all digits unless x is next to a zero."""
        if not x.is_finite() or x.adjusted() > _LONGEST_TURN:
            return decimal.Decimal("nan")
        with decimal.localcontext() as context:
            context.prec = 2 * context.prec + max(0, x.adjusted()) + 5
            right = 2 * atan(decimal.Decimal(1))
            turns = int((x / right).to_integral_value()) if x else 0
            x, n = x - turns * right, 1
            odd = (turns + quarters) % 2
            square, term = x * x, decimal.Decimal(1) if odd else x
            total = term
            while term and abs(term) > abs(total).scaleb(-context.prec):
                n += 2
                term = -term * square / (n * (n - 1) if not odd else (n - 1) * (n - 2))
                total += term
            total = -total if (turns + quarters) % 4 > 1 else total
        return +total

    return {
        "sqrt": _each(sqrt),
        "exp": _each(exp),
        "log": _each(ln),
        "expm1": _careful(lambda x: exp(x) - 1, 2, 6),
        "log1p": _careful(lambda x: ln(1 + x), -2, 3),
        "asinh": _careful(asinh, 0, -6),
        "sinh": _careful(lambda x: (exp(x) - exp(-x)) / 2, 0, 6),
        "cosh": _each(lambda x: (exp(x) + exp(-x)) / 2),
        "tanh": _careful(tanh, 0, -3),
        "atan": _careful(atan, 0, -3),
        "sin": _each(lambda x: turned(x, 0)),
        "cos": _each(lambda x: turned(x, 1)),
    }


Digits.functions = decimal_functions(decimal.Decimal.sqrt, decimal.Decimal.ln, decimal.Decimal.exp)
