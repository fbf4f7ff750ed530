"""The expression tree that text and SymPy input are turned into, and the text that it prints as.

A tree is plain immutable data: exact numbers, names, and the whitelisted operations. It knows no
algebra; ``derive.exact`` gives it one, ``numerics`` evaluates it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Literal, TypeAlias, TypeVar

Operator: TypeAlias = Literal["+", "*", "/"]


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A weight or a start symbol."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """``left + right``, ``left * right`` or ``left / right``; ``a - b`` is ``a + (-1)*b``."""

    operator: Operator
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Power:
    """``base`` to a constant rational exponent."""

    base: Tree
    exponent: Fraction


@dataclass(frozen=True, slots=True)
class RealPower:
    """``base`` to an exponent with names in it, such as ``p**D``; the base is positive."""

    base: Tree
    exponent: Tree


@dataclass(frozen=True, slots=True)
class Call:
    """``function(argument)`` for a function in :data:`derive.language.functions.CALLS`."""

    function: str
    argument: Tree


Tree: TypeAlias = Number | Name | Operation | Power | RealPower | Call


_PARTS: dict[type, tuple[str, ...]] = {
    Operation: ("left", "right"),
    Power: ("base",),
    RealPower: ("base", "exponent"),
    Call: ("argument",),
}
"""The fields that are subtrees, left to right."""


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the direct subtrees of *tree*, left to right."""
    return tuple(getattr(tree, name) for name in _PARTS.get(type(tree), ()))


def with_parts(tree: Tree, parts: Sequence[Tree]) -> Tree:
    """Return *tree* with other direct subtrees, as many as it has."""
    fields: dict[str, Any] = dict(zip(_PARTS.get(type(tree), ()), parts, strict=True))
    return replace(tree, **fields)


def walk(tree: Tree) -> Iterator[Tree]:
    """Yield *tree* and all its subtrees, each parent before its children, left to right."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def exponent_names(trees: Iterator[Tree] | tuple[Tree, ...]) -> tuple[str, ...]:
    """Return the names that occur in exponents: they are parameters, not weights."""
    exponents = tuple(
        node.exponent for tree in trees for node in walk(tree) if isinstance(node, RealPower)
    )
    return names(exponents)


def names(trees: Iterator[Tree] | tuple[Tree, ...]) -> tuple[str, ...]:
    """Return the names in *trees* in the order of their first appearance."""
    return tuple(
        dict.fromkeys(node.name for tree in trees for node in walk(tree) if isinstance(node, Name))
    )


Node = TypeVar("Node")
Result = TypeVar("Result")


def fold(
    root: Node,
    parts: Callable[[Node], Sequence[Node]],
    combine: Callable[[Node, list[Result]], Result],
) -> Result:
    """Compute a result for *root* from the results for its *parts*, and so on downwards.

    *parts* sees every node before its subtrees do, so that it can refuse one early.

    >>> fold((1, (2, 3)), lambda n: n if isinstance(n, tuple) else (), lambda n, r: sum(r) or n)
    6
    """
    pending: list[tuple[Node, int]] = [(root, -1)]
    results: list[Result] = []
    while pending:
        node, count = pending.pop()
        if count < 0:
            below = parts(node)
            pending.append((node, len(below)))
            pending.extend((part, -1) for part in reversed(below))
        else:
            start = len(results) - count
            results[start:] = [combine(node, results[start:])]
    return results[0]


def substituted(tree: Tree, images: Mapping[str, Tree]) -> Tree:
    """Return *tree* with other trees for some names.

    >>> substituted(Power(Name("x"), Fraction(2)), {"x": Name("y")})
    Power(base=Name(name='y'), exponent=Fraction(2, 1))
    """

    def combine(node: Tree, parts: list[Tree]) -> Tree:
        return images.get(node.name, node) if isinstance(node, Name) else with_parts(node, parts)

    return fold(tree, children, combine)


_ARITHMETIC: dict[Operator, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "*": operator.mul,
    "/": operator.truediv,
}


def arithmetic(sign: Operator, left: Any, right: Any) -> Any:
    """Return ``left + right``, ``left * right`` or ``left / right``."""
    return _ARITHMETIC[sign](left, right)


def unknown(*operands: object) -> Any:
    """Refuse what an algebra has not."""
    raise TypeError("an operation of the expression is not known here")


@dataclass(frozen=True, slots=True)
class Algebra(Generic[Result]):
    """What trees have values in: the values of numbers and names, and what is done with values."""

    number: Callable[[Fraction], Result]
    name: Callable[[str], Result]
    power: Callable[[Result, Fraction], Result] = unknown
    call: Callable[[str, Result], Result] = unknown
    operation: Callable[[Operator, Result, Result], Result] = arithmetic
    real_power: Callable[[Result, Result], Result] = unknown


def evaluated(tree: Tree, algebra: Algebra[Result]) -> Result:
    """Return the value of *tree* in an algebra.

    >>> evaluated(Operation("*", Name("x"), Name("x")), Algebra(int, {"x": 3}.__getitem__))
    9
    """

    def combine(node: Tree, parts: list[Result]) -> Result:
        match node:
            case Number(value):
                return algebra.number(value)
            case Name(name):
                return algebra.name(name)
            case Operation(sign, _, _):
                return algebra.operation(sign, parts[0], parts[1])
            case Power(_, exponent):
                return algebra.power(parts[0], exponent)
            case RealPower():
                return algebra.real_power(parts[0], parts[1])
            case Call(function, _):
                return algebra.call(function, parts[0])
        raise TypeError(f"not a tree: {type(node).__name__}")

    return fold(tree, children, combine)


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
