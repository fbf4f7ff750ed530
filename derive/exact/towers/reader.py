"""What fields of elementary functions share: the walk through an expression, and finer units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import lcm
from typing import TypeVar

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.language.tree import Algebra, Operator, Tree, evaluated


class TreeReader(ABC):
    """A field that expressions are read into, which may grow by generators as they are."""

    field: FunctionField

    def element(
        self, tree: Tree, known: Mapping[str, RationalFunction] | None = None
    ) -> RationalFunction:
        """Return an expression as an element; its names are *known* ones, or those of the field."""
        algebra = Algebra(
            lambda value: self.field.constant(value),
            lambda name: self.field.named(name) if known is None else known[name],
            self.power,
            self.call,
            self.operate,
            self.real_power,
        )
        return evaluated(tree, algebra)

    @abstractmethod
    def operate(
        self, operator: Operator, left: RationalFunction, right: RationalFunction
    ) -> RationalFunction:
        """Return left + right, left * right or left / right."""

    @abstractmethod
    def power(self, base: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return base^exponent, base > 0 where the exponent is not an integer."""

    @abstractmethod
    def real_power(self, base: RationalFunction, exponent: RationalFunction) -> RationalFunction:
        """Return base^exponent, base > 0, for an exponent without weights."""

    @abstractmethod
    def call(self, function: str, a: RationalFunction) -> RationalFunction:
        """Return function(a)."""


Result = TypeVar("Result")

ROUNDS = 12
"""How often a denominator of an argument may be refined before the input is refused."""


class Refine(InputError):
    """A generator exists already with too coarse a unit: build again with a finer one."""

    def __init__(self, key: str, index: int) -> None:
        super().__init__(f"{key} is needed in parts of 1/{index}: write it so where it comes first")
        self.key, self.index = key, index


def refined(build: Callable[[dict[str, int]], Result], what: str) -> Result:
    """Return what *build* makes of units it asks for by Refine; InputError: *what* are too many."""
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        try:
            return build(units)
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
    raise InputError(f"{what} are too many")
