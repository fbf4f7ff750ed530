"""The value of an expression in anything that can be added, multiplied and divided."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol, Self, TypeVar

from derive.language.parser import parse_expression
from derive.language.traversal import fold
from derive.language.tree import Call, Name, Number, Operation, Power, Tree, children


class Arithmetic(Protocol):
    """What can be added, multiplied and divided, whole numbers included."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __radd__(self, other: int, /) -> Self: ...
    def __rsub__(self, other: int, /) -> Self: ...
    def __mul__(self, other: Self | int, /) -> Self: ...
    def __rmul__(self, other: int, /) -> Self: ...
    def __truediv__(self, other: Self | int, /) -> Self: ...
    def __rtruediv__(self, other: int, /) -> Self: ...


E = TypeVar("E", bound=Arithmetic)

template = functools.cache(parse_expression)
"""The tree of a text in :mod:`derive.language.functions`."""


def value_of(text: str, values: Mapping[str, E], call: Callable[[str, E], E] | None = None) -> E:
    """Return the value of a text of names, whole numbers and + - * /; of calls by *call*.

    >>> value_of("1 + f*f", {"f": 3})
    10
    """

    def combine(node: Tree, parts: list[E]) -> E:
        match node, parts:
            case Name(name), _:
                return values[name]
            case Number(value), _:
                return int(value)  # type: ignore[return-value]  # whole numbers go with all
            case Operation("+", _, _), [left, right]:
                return left + right
            case Operation("*", _, _), [left, right]:
                return left * right
            case Operation("/", _, _), [left, right]:
                return left / right
            case Call(function, _), [x] if call is not None:
                return call(function, x)
            case Power(_, Fraction(numerator=1, denominator=2)), [x] if call is not None:
                return call("sqrt", x)
        raise TypeError(f"{text} is not of this kind")

    return fold(template(text), children, combine)
