"""Losses of a prediction z for a target y, as the instructions that compute their slope dL/dz."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from derive.errors import InputError
from numerics.flow.builder import Builder
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


LOSSES: Mapping[str, Slope] = {
    "squared": _squared,
    "logistic": _logistic,
    "exponential": _exponential,
}


def read_loss(name: str, target: Sequence[Fraction]) -> Slope:
    """Return the slope of the loss of that name; InputError for targets that are no labels."""
    if name not in LOSSES:
        raise InputError(f"there is no loss {name!r}; the losses are {', '.join(LOSSES)}")
    if name != "squared":
        for i, y in enumerate(target, 1):
            if abs(y) != 1:
                raise InputError(f"number {i} of y must be a label 1 or -1 for the {name} loss")
    return LOSSES[name]
