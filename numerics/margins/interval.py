"""Largest margins in norms without exact predictors, between two bounds proved in balls.

For all w with X w >= 1 and y >= 0, not all 0,

    sum y/|X^T y|_* <= min |w| <= |w|:

whatever doubles find, the bounds are those of the numbers that they found, y < 0 taken for 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from fractions import Fraction
from typing import ClassVar

from flint import arb, fmpz_mat

from derive.exact.balls import ball, fraction, precise
from numerics.margins.linear_program import product
from numerics.margins.working_rows import Near, largest, on_worst_rows

SHOWN = 12


@dataclass(frozen=True)
class Bounded:
    """A norm in doubles and in balls.

    Attributes:
        near: what finds w and y.
        bounds: upper bounds of the norm and of the dual norm, in balls.
    """

    near: Near
    bounds: Callable[[Sequence[Fraction]], tuple[arb, arb]]


@dataclass(frozen=True)
class MarginInterval:
    """A predictor of nearly the largest margin, and proved bounds of the least norm.

    Attributes:
        norm: l4/3 and so on, nuclear, or dft: sum_k |sum_j w_j exp(-2 pi i j k/d)|.
        value: w, with a smallest margin of 1; a matrix row by row.
        multiplier: lambda >= 0, one for each row.
        lower, upper: lower <= min |w| <= |value| <= upper.
        classes: as for the rows that carry labels.
    """

    norm: str
    value: tuple[Fraction, ...]
    multiplier: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction
    classes: tuple[str, ...] = ()

    exact: ClassVar[bool] = False

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Bounds of the largest margin, 1/min |w|."""
        return 1 / self.upper, 1 / self.lower

    def to_text(self) -> str:
        """Return it as text."""
        more = ", ..." * (len(self.value) > SHOWN)
        value = ", ".join(_rounded(x, 9) for x in self.value[:SHOWN])
        lines = [f"On these data: largest {self.norm} margin, between two bounds proved in balls"]
        lines += [f"  {_between(*self.margin)} (margin)"]
        lines += [f"  {_between(self.lower, self.upper)} (min |beta|, all margins at least 1)"]
        return "\n".join([*lines, f"  beta near ({value}{more})"])

    def to_json(self) -> str:
        """Return its record."""
        low, high = _decimals(self.lower, self.upper)
        values = {"value": self.value, "multiplier": self.multiplier}
        record = {
            "separable": True,
            "norm": self.norm,
            "classes": list(self.classes),
            "least": [low, high],
            **{name: [_rounded(x, 17) for x in numbers] for name, numbers in values.items()},
        }
        return json.dumps(record, indent=2)


def _between(low: Fraction, high: Fraction) -> str:
    return "[{}, {}]".format(*_decimals(low, high))


def _decimals(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return decimals, rounded so that what is between the numbers is between them."""
    return _rounded(low, 14, ROUND_FLOOR), _rounded(high, 14, ROUND_CEILING)


def _rounded(x: Fraction, digits: int, rounding: str = ROUND_HALF_EVEN) -> str:
    return str(Context(prec=digits, rounding=rounding).divide(*x.as_integer_ratio()))


def interval(name: str, norm: Bounded, rows: Sequence[Sequence[int]]) -> MarginInterval | None:
    """Return what was found for a norm; None where no w of positive margin was."""
    unit, some = largest(rows), any(map(any, rows))
    found = on_worst_rows(norm.near, rows) if some else None
    if found is None:
        return None
    w, y = ([Fraction(float(x)) for x in numbers] for numbers in found)
    X, y = fmpz_mat([list(row) for row in rows]), [max(x, Fraction(0)) for x in y]
    margins, q = product(X, w)
    least = Fraction(min(margins), q * unit)
    if least <= 0 or not any(y):
        return None
    w = [x / least for x in w]
    pulled, q = product(X.transpose(), y)
    with precise(128):  # of X over its largest number: balls may be found by way of doubles
        upper, _ = norm.bounds(w)
        _, dual = norm.bounds([Fraction(x, q * unit) for x in pulled])
        lower = ball(sum(y, Fraction(0))) / dual
        ends = fraction(lower.lower()) / unit, fraction(upper.upper()) / unit
    value, multiplier = (tuple(x / unit for x in numbers) for numbers in (w, y))
    return MarginInterval(name, value, multiplier, *ends)
