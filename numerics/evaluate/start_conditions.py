"""What a start must satisfy: the signs of numbers known to all their digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array
from numerics.evaluate.balls.precision import Formula, Start, evaluate

Condition: TypeAlias = tuple[str, Callable[[Array], Array], Formula]
"""How it reads, what is to hold of the number, and the number."""


def require(conditions: Sequence[Condition], start: Mapping[str, Array]) -> None:
    """Raise ValueError unless all conditions hold; a number without a sign is nan."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in start.values()))
    flat = {name: np.broadcast_to(x, shape).ravel() for name, x in start.items()}
    points = [np.zeros(max(1, int(np.prod(shape))))]
    for text, holds, formula in conditions:
        numbers = Start(flat, lambda c: None)
        (found,) = evaluate([lambda c, _, f=formula: f(c)], numbers, points, 0.0)
        if not np.all(holds(found)):
            raise ValueError(f"Q was derived for {text}: derive again")


def positive(x: Array) -> Array:
    """Tell which numbers are > 0."""
    return x > 0


def not_zero(x: Array) -> Array:
    """Tell which numbers are not 0."""
    return (x > 0) | (x < 0)
