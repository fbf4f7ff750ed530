"""The activation of a univariate shallow net."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from derive.errors import InputError


@dataclass(frozen=True)
class Activation:
    """sigma(z) = even |z| + odd z: the ReLU has both 1/2, the absolute value 1 and 0."""

    name: str
    even: Fraction
    odd: Fraction


ACTIVATIONS = {
    a.name: a
    for a in (
        Activation("relu", Fraction(1, 2), Fraction(1, 2)),
        Activation("abs", Fraction(1), Fraction(0)),
    )
}


def read_activation(name: str) -> Activation:
    """Return the activation of that name, or raise InputError."""
    if name not in ACTIVATIONS:
        raise InputError(f"--activation is {' or '.join(ACTIVATIONS)}, not {name!r}")
    return ACTIVATIONS[name]
