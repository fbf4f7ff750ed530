"""From a tree to text that reads back as the same expression."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Power,
    RealPower,
    Tree,
    children,
    fold,
)

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


@dataclass(frozen=True, slots=True)
class _Printed:
    """A text and how tightly its outermost operation binds; a sign binds like a product."""

    text: str
    level: int

    def at(self, level: int) -> str:
        """Return the text, bracketed unless it binds at least as tightly as *level*."""
        return self.text if self.level >= level else f"({self.text})"


def to_text(tree: Tree) -> str:
    """Write *tree* in the language, with the brackets that it needs and no others.

    >>> x, y = Name("x"), Name("y")
    >>> to_text(Operation("+", Power(x, Fraction(1, 2)), Operation("*", Number(Fraction(-1)), y)))
    'sqrt(x) - y'
    """
    return fold(tree, children, _combine).text


def _combine(tree: Tree, parts: list[_Printed]) -> _Printed:
    """Write one node around the texts of its subtrees."""
    match tree, parts:
        case Number(value), _:
            is_whole = value.denominator == 1 and value >= 0
            return _Printed(str(value), _ATOM if is_whole else _PRODUCT)
        case Name(name), _:
            return _Printed(name, _ATOM)
        case Operation("+", _, _), [left, right]:
            term = right.at(_PRODUCT)
            joined = f" - {term[1:]}" if term.startswith("-") else f" + {term}"
            return _Printed(left.text + joined, _SUM)
        case Operation("*", Number(Fraction(numerator=-1, denominator=1)), _), [_, right]:
            text = right.at(_PRODUCT)  # two signs never stand in a row
            return _Printed(f"-({text})" if text.startswith("-") else f"-{text}", _PRODUCT)
        case Operation(operator, _, _), [left, right]:
            text = f"{left.at(_PRODUCT)}{operator}{right.at(_POWER)}"
            return _Printed(text, _PRODUCT)
        case Power(_, exponent), [base]:
            return _power(base, exponent)
        case RealPower(), [base, exponent]:
            return _Printed(f"{base.at(_ATOM)}**{exponent.at(_ATOM)}", _POWER)
        case Call(function, _), [argument]:
            return _Printed(f"{function}({argument.text})", _ATOM)
    raise TypeError(f"not a tree: {type(tree).__name__}")


def _power(base: _Printed, exponent: Fraction) -> _Printed:
    """Write a power, or a square root."""
    if exponent == Fraction(1, 2):
        return _Printed(f"sqrt({base.text})", _ATOM)
    plain = exponent.denominator == 1 and exponent >= 0
    return _Printed(f"{base.at(_ATOM)}**{exponent if plain else f'({exponent})'}", _POWER)
