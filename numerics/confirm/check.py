"""What two witnesses agree on, in decimal digits, and the table of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import mpmath

from numerics.reals import Real, rational

SLACK = 5
"""Digits that a passed check may lack."""


def digits_of(error: Real, scale: Real) -> float:
    """Return -log10 |error/scale|: inf for an exact agreement, 0 where a side is undefined."""
    if error != error or scale != scale or mpmath.isinf(error):
        return 0.0
    if not error:
        return float("inf")
    return float(-mpmath.log10(abs(error) / (abs(scale) or 1)))


def stationarity(X: Sequence[Sequence[Fraction]], gradient: Sequence[Real], digits: int) -> float:
    """Return the digits to which a vector is ``X^T nu``, by its distance from the row space."""
    with mpmath.workdps(digits):
        g = mpmath.matrix(list(gradient))
        if any(x != x for x in g):
            return 0.0
        rows = mpmath.matrix([[rational(x) for x in r] for r in X])
        nu = mpmath.lu_solve(rows * rows.T, rows * g)
        return digits_of(mpmath.norm(g - rows.T * nu), mpmath.norm(g))


def distance(left: Sequence[Real], right: Sequence[Real], digits: int) -> float:
    """Return the digits that two vectors share, relative to the norm of the first."""
    with mpmath.workdps(digits):
        gaps = [a - b for a, b in zip(left, right, strict=True)]
        return digits_of(mpmath.norm(gaps), mpmath.norm(list(left)))


def least(found: Iterable[float | None], cap: float = math.inf) -> float | None:
    """Return the least number of digits, at most *cap*; None where nothing was compared."""
    return min((min(x, cap) for x in found if x is not None), default=None)


def table(rows: Mapping[str, float | None], absent: str = "not compared") -> list[str]:
    """Return lines of what was compared, and the digits that agree; *absent* for None."""
    width = max(37, *map(len, rows))

    def text(x: float | None) -> str:
        if x is None:
            return absent
        return "exactly" if x == math.inf else f"{x:3.0f} digits"

    return [f"  {name:{width}} {text(x)}" for name, x in rows.items()]
