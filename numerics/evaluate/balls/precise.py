"""Formulas to any number of digits, as mpf."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np

from numerics.evaluate.balls.arithmetic import Ball
from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.precision import Formula, Start, wide_context
from numerics.reals import Real

_GUARD = 15
"""Decimal digits carried beyond those asked for."""
_RUNGS = 1, 2, 4


def evaluate_precisely(
    formula: Formula, start: Start, point: Sequence[Fraction], digits: int
) -> list[Real]:
    """Evaluate a formula at one point, with bounds below 10^-digits relative where there are.

    A number that is 0, or whose digits cancel, has those that four times as many leave.
    """
    for rung in _RUNGS:
        with decimal.localcontext(wide_context(rung * (digits + _GUARD))):
            found = formula(start.at(Digits, ()), *(_column(Digits.of(x)) for x in point))
            balls = [_single(Digits.of(x)) for x in found]
            if all(_known(x, digits) for x in balls):
                break
    with mpmath.workdps(digits + _GUARD):
        return [_mpf(x) for x in balls]


def _column(x: Ball) -> Ball:
    """Return a ball as one point of an array, as searches along curves need."""
    return type(x)(*(np.array([y], dtype=object) for y in (x.v, x.d)))


def _single(x: Ball) -> Ball:
    """Return a ball of two decimals."""
    v, d = (decimal.Decimal(y.item() if isinstance(y, np.ndarray) else y) for y in (x.v, x.d))
    return type(x)(v, d)


def _known(x: Ball, digits: int) -> bool:
    """Tell whether a number has its digits, or is exactly 0."""
    return bool(x.d.scaleb(digits) <= abs(x.v))


def _mpf(x: Ball) -> Real:
    if x.v.is_finite() and x.d.is_finite():
        return mpmath.mpf(str(x.v))
    return mpmath.mpf(float(x.v)) if x.v.is_infinite() else mpmath.nan
