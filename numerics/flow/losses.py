"""Losses of a prediction z for a target y, as the instructions that compute their slope dL/dz."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from derive.errors import InputError
from numerics.flow.builder import Builder, Seed
from numerics.flow.tape import Register

Terms: TypeAlias = Iterable[tuple[Register, Fraction]]
"""A prediction ``z = sum c_i beta_i`` as its pairs (beta_i, c_i)."""
Slope: TypeAlias = Callable[[Builder, Terms, Fraction], Register]
"""Writes dL/dz of a prediction and its target."""
_ONE = Fraction(1)


def _squared(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = (z - y)^2 / 2``."""
    return builder.linear(z, -y)


def _exponential(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = exp(-y z)``."""
    margin = builder.linear((x, -y * c) for x, c in z)
    return builder.linear([(builder.call("exp", margin), -y)])


def _logistic(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = log(1 + exp(-y z))``."""
    growth = builder.call("exp", builder.linear((x, y * c) for x, c in z))
    return builder.divide(builder.constant(-y), builder.linear([(growth, _ONE)], _ONE))


LOSSES = {"squared": _squared, "logistic": _logistic, "exponential": _exponential}


def slopes(slope: Slope, X: Sequence[Sequence[Fraction]], y: Sequence[Fraction]) -> Seed:
    """Return what writes the m registers of dL/dz, z = X beta, on the d registers of beta."""
    return lambda builder, beta: [
        slope(builder, zip(beta, row, strict=True), value) for row, value in zip(X, y, strict=True)
    ]


def steering(slope: Slope, X: Sequence[Sequence[Fraction]], y: Sequence[Fraction]) -> Seed:
    """Return what writes the d registers of ``-X^T dL/dz``, which steers beta, on those of beta."""
    loss_slopes = slopes(slope, X, y)

    def seed(builder: Builder, beta: tuple[Register, ...]) -> list[Register]:
        left, columns = loss_slopes(builder, beta), zip(*X, strict=True)
        return [builder.linear(zip(left, (-x for x in c), strict=True)) for c in columns]

    return seed


def read_loss(name: str, target: Sequence[Fraction]) -> Slope:
    """Return the slope of the loss of that name; InputError for targets that are no labels."""
    if name not in LOSSES:
        raise InputError(f"there is no loss {name!r}; the losses are {', '.join(LOSSES)}")
    for i, y in enumerate(target, 1):
        if name != "squared" and abs(y) != 1:
            raise InputError(f"number {i} of y must be a label 1 or -1 for the {name} loss")
    return LOSSES[name]
