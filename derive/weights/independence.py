"""Rational points at which fields on the weights are independent, shown in exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from derive.exact.balls import Unbounded, Value, ball, evaluate_any, is_nonzero, values_of
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization


def independent_point(
    p: Parameterization, fields: Sequence[Field]
) -> tuple[tuple[str, Fraction], ...] | None:
    """Return numbers for weights and parameters at which the fields are independent, or None.

    Values that are not rational are balls, and a pivot is a ball that excludes 0: a proof.
    """
    names = (*p.weights, *p.parameters)
    for numbers in small_points(len(names)):
        images = dict(zip(names, numbers, strict=True))
        try:
            values = values_of(p.field, images)
            if are_independent([[evaluate_any(x, values) for x in field] for field in fields]):
                return tuple(images.items())
        except (ZeroDivisionError, Unbounded):
            continue
    return None


def small_points(size: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield numbers for weights, small positive integers first."""
    patterns = dict.fromkeys(
        tuple(1 + (k * stride + shift) % spread for k in range(size))
        for spread in (1, 2, 3, 5, 7, 11, 31, 101)
        for stride in range(1, min(spread, 6) + 1)
        for shift in range(min(spread, 4))
    )
    for pattern in patterns:
        yield tuple(Fraction(x) for x in pattern)


def are_independent(rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether rows of numbers and balls are proved independent, by elimination."""
    remaining = [list(row) for row in rows]
    while remaining:
        row = remaining.pop()
        at = next((k for k, x in enumerate(row) if is_nonzero(x)), None)
        if at is None:
            return False
        remaining = [
            [_minus(x, y, other[at], row[at]) for x, y in zip(other, row, strict=True)]
            for other in remaining
        ]
    return True


def _minus(*numbers: Value) -> Value:
    """Return x - top/bottom y for (x, y, top, bottom)."""
    exact = [v for v in numbers if isinstance(v, Fraction)]
    if len(exact) == len(numbers):
        return exact[0] - exact[2] / exact[3] * exact[1]
    x, y, top, bottom = map(ball, numbers)
    return x - top / bottom * y
