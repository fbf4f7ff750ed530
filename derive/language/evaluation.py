"""Values in the place of names: numbers in a tree, or what can be added and multiplied."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

from derive.language.budget import DEFAULT
from derive.language.build import Builder
from derive.language.reader import template
from derive.language.tree import Call, Name, Number, Operation, Power, Tree, children, fold


def bind(tree: Tree, values: Mapping[str, Fraction]) -> Tree:
    """Return *tree* with numbers for some names; LanguageError where it is undefined there.

    >>> bind(RealPower(Name("p"), Name("D")), {"D": Fraction(3)})
    Power(base=Name(name='p'), exponent=Fraction(3, 1))
    """
    builder = Builder(DEFAULT)
    return builder.rebuild(tree, {name: builder.number(x) for name, x in values.items()}).tree


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

_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "*": operator.mul,
    "/": operator.truediv,
}


def value_of(text: str, values: Mapping[str, E], call: Callable[[str, E], E] | None = None) -> E:
    """Return the value of a text of names, whole numbers and + - * /; of calls by *call*.

    >>> value_of("1 + f*f", {"f": 3})
    10
    """

    def power(x: E, exponent: Fraction) -> E:
        if exponent != Fraction(1, 2) or call is None:
            raise TypeError(f"{text} is not of this kind")
        return call("sqrt", x)

    def number(value: Fraction) -> E:
        return int(value)  # type: ignore[return-value]  # whole numbers go with all

    return evaluated(template(text), values.__getitem__, number, power, call)


def evaluated(
    tree: Tree,
    name: Callable[[str], E],
    number: Callable[[Fraction], E],
    power: Callable[[E, Fraction], E],
    call: Callable[[str, E], E] | None,
) -> E:
    """Return the value of a tree from those of names and numbers; TypeError without *call*."""

    def combine(node: Tree, parts: list[E]) -> E:
        match node:
            case Number(value):
                return number(value)
            case Name(text):
                return name(text)
            case Operation(sign, _, _):
                found: E = _ARITHMETIC[sign](parts[0], parts[1])
                return found
            case Power(_, exponent):
                return power(parts[0], exponent)
            case Call(function, _) if call is not None:
                return call(function, parts[0])
        raise TypeError(f"no value of {type(node).__name__} is known")

    return fold(tree, children, combine)
