"""Values in the place of names: numbers in a tree, or what can be added and multiplied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol, Self, TypeVar

from derive.language.budget import DEFAULT
from derive.language.build import Builder
from derive.language.reader import template
from derive.language.tree import Algebra, Tree, evaluated, unknown


def bind(tree: Tree, values: Mapping[str, Fraction]) -> Tree:
    """Return *tree* with numbers for some names; LanguageError where it is undefined there.

    >>> from derive.language.tree import Name, RealPower
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


def value_of(text: str, values: Mapping[str, E], call: Callable[[str, E], E] = unknown) -> E:
    """Return the value of a text of names, whole numbers and + - * /; of calls by *call*.

    >>> value_of("1 + f*f", {"f": 3})
    10
    """

    def power(x: E, exponent: Fraction) -> E:
        if exponent != Fraction(1, 2):
            raise TypeError(f"{text} is not of this kind")
        return call("sqrt", x)

    def number(value: Fraction) -> E:
        return int(value)  # type: ignore[return-value]  # whole numbers go with all

    return evaluated(template(text), Algebra(number, values.__getitem__, power, call))
