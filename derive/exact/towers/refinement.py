"""The request for a finer unit, with which a tower is built again."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm
from typing import TypeVar

from derive.errors import InputError

Result = TypeVar("Result")

ROUNDS = 12
"""How often a denominator of an argument may be refined before the input is refused."""


class Refine(Exception):
    """A generator exists already with too coarse a unit: build again with a finer one."""

    def __init__(self, key: str, index: int) -> None:
        super().__init__(key)
        self.key, self.index = key, index


def refined(build: Callable[[dict[str, int]], Result], what: str) -> Result:
    """Return what *build* makes of the units that it asks for, by :class:`Refine`, one by one.

    Raises:
        InputError: *what* needs too many.
    """
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        try:
            return build(units)
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
    raise InputError(f"{what} are too many")
