"""Vectors and matrices of given dimensions: outputs in them become outputs in their entries."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import TypeAlias, TypeVar

from derive.errors import LanguageError
from derive.language.arguments import parse_outputs
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.literals import name_fault, read_number
from derive.language.parser import Reading, applied, stripped, syntax_tree
from derive.language.screen import ARRAY_FUNCTIONS, check_characters, check_syntax
from derive.language.tree import Tree, fold, names

T = TypeVar("T")
Shape: TypeAlias = tuple[int, ...]
"""() for a scalar, (d,) for a vector, (m, n) for a matrix."""


@dataclass(frozen=True, slots=True)
class Array:
    """A scalar, vector or matrix of expressions, its entries row by row."""

    shape: Shape
    entries: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class _Value:
    shape: Shape
    entries: tuple[Built, ...]


def parse_shapes(text: str, budget: Budget = DEFAULT) -> dict[str, Shape | None]:
    """Read ``u:3,v:3`` or ``W:2x2``; a name alone is a vector whose dimension is left open.

    >>> parse_shapes("u:3,W:2x2,v")
    {'u': (3,), 'W': (2, 2), 'v': None}
    """
    found: dict[str, Shape | None] = {}
    check_characters(text, budget)
    for piece in text.split(","):
        name, separator, size = (part.strip() for part in piece.partition(":"))
        fault = name_fault(name, budget)
        if fault is not None or name in ARRAY_FUNCTIONS:
            raise LanguageError(fault or f"{name} is a function: choose another name")
        if name in found:
            raise LanguageError(f"{name} is given twice: give each name once")
        if not separator:
            found[name] = None
            continue
        matched = re.fullmatch(r"([1-9][0-9]?)(?:x([1-9][0-9]?))?", size)
        if matched is None:
            raise LanguageError(
                f"the dimension of {name} is written u:3 for a vector, W:2x2 for a matrix"
            )
        found[name] = tuple(int(n) for n in matched.groups() if n)
    return found


def by_entry(values: Mapping[str, T], shapes: Mapping[str, Shape]) -> dict[str, T]:
    """Return values by names of entries; what is given of an array is given of each of its entries.

    >>> by_entry({"u": 2, "u1": 3, "a": 4}, {"u": (2,)})
    {'u1': 3, 'u2': 2, 'a': 4}
    """
    pairs = ((entry_names(x, shapes[x]) if x in shapes else (x,), v) for x, v in values.items())
    return {name: v for entries, v in pairs for name in entries}


def refuse_arrays(functions: Sequence[Tree], shapes: Mapping[str, Shape], what: str) -> None:
    """Refuse functions of a whole array, which is neither a weight nor a constant."""
    if met := sorted({*names(tuple(functions))} & {*shapes}):
        entries = ", ".join(entry_names(met[0], shapes[met[0]])[:2])
        raise LanguageError(f"{what}: {met[0]} is an array: name its entries, {entries} and so on")


def entry_names(name: str, shape: Shape) -> tuple[str, ...]:
    """Return the names of the entries: u1, u2, ...; W11, W12, ... (W1_1 beyond 9).

    >>> entry_names("W", (2, 2))
    ('W11', 'W12', 'W21', 'W22')
    """
    joint = "_" if len(shape) > 1 and max(shape) > 9 else ""
    return tuple(
        name + joint.join(str(i) for i in place)
        for place in product(*(range(1, n + 1) for n in shape))
    )


def parse_array_outputs(
    texts: Sequence[str], shapes: Mapping[str, Shape], budget: Budget = DEFAULT
) -> tuple[Array, ...]:
    """Read outputs in which some names are vectors or matrices; without any, all are scalars.

    >>> [array] = parse_array_outputs(["a*u"], {"u": (2,)})
    >>> from derive.language import to_text
    >>> [to_text(entry) for entry in array.entries]
    ['a*u1', 'a*u2']
    """
    if not (shapes and texts):
        return tuple(Array((), (tree,)) for tree in parse_outputs(texts, budget))
    builder = Builder(budget)
    found = []
    for number, text in enumerate(texts, 1):
        try:
            check_characters(text, budget)
            check_syntax(text, 0, budget, ARRAY_FUNCTIONS)
            source, offset = stripped(text, 0)
            reader = _Reader(source, offset, builder, shapes)
            value = fold(syntax_tree(source, offset), reader.parts, reader.combine)
        except LanguageError as error:
            if len(texts) == 1:
                raise
            raise LanguageError(f"output {number}, {error}") from None
        found.append(Array(value.shape, tuple(entry.tree for entry in value.entries)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Reader(Reading):
    """Evaluate a syntax tree to an array of trees."""

    shapes: Mapping[str, Shape]

    def combine(self, node: ast.expr, operands: list[_Value]) -> _Value:
        column = self.column(node)
        match node, operands:
            case ast.Name(id=name), _:
                return self._name(name, column)
            case ast.UnaryOp(op=ast.UAdd()), [operand]:
                return operand
            case ast.UnaryOp(), [operand]:
                return _each(operand, lambda x: self.builder.negate(x, column))
            case ast.Call(func=ast.Name(id=function)), _:
                return self._call(function, operands, column)
            case ast.BinOp(op=operator), [left, right]:
                return self._binary(operator, left, right, column)
        number = read_number(self.written(node), self.builder.budget, column)
        return _Value((), (self.builder.number(number, column),))

    def _name(self, name: str, column: int) -> _Value:
        shape = self.shapes.get(name, ())
        names = entry_names(name, shape) if shape else (name,)
        if not shape and any(name in entry_names(*array) for array in self.shapes.items()):
            raise LanguageError(f"{name} is an entry of an array: rename it", column)
        return _Value(shape, tuple(self.builder.name(n, column) for n in names))

    def _call(self, function: str, operands: list[_Value], column: int) -> _Value:
        if len(operands) != (2 if function == "dot" else 1):
            count = "two arguments" if function == "dot" else "one argument"
            raise LanguageError(f"{function} takes exactly {count}", column)
        first = operands[0]
        if function == "T":
            return _transposed(first, column)
        if function in ("norm", "dot"):
            second = operands[-1]
            if len(first.shape) != 1 or first.shape != second.shape:
                shown = " and ".join(_kind(v) for v in operands)
                raise LanguageError(f"{function} is for vectors of one length, not {shown}", column)
            inner = self._inner(first.entries, second.entries, column)
            if function == "norm":
                inner = self.builder.power(inner, Fraction(1, 2), column)
            return _Value((), (inner,))
        if first.shape:
            raise LanguageError(f"{function}(...) of {_kind(first)} is not defined here", column)
        return _Value((), (applied(self.builder, function, first.entries[0], column),))

    def _binary(self, operator: ast.operator, left: _Value, right: _Value, column: int) -> _Value:
        build = self.builder
        if isinstance(operator, ast.Add | ast.Sub):
            if left.shape != right.shape:
                raise LanguageError(f"{_kind(left)} and {_kind(right)} cannot be added", column)
            if isinstance(operator, ast.Sub):
                right = _each(right, lambda x: build.negate(x, column))
            pairs = zip(left.entries, right.entries, strict=True)
            return _Value(left.shape, tuple(build.operation("+", x, y, column) for x, y in pairs))
        if isinstance(operator, ast.Pow):
            if left.shape or right.shape:
                raise LanguageError("a power is for numbers: write W*W for a matrix", column)
            value = right.entries[0].size.value
            if value is None:
                return _Value((), (build.real_power(left.entries[0], right.entries[0], column),))
            return _Value((), (build.power(left.entries[0], value, column),))
        if isinstance(operator, ast.Div):
            if right.shape:
                raise LanguageError(f"{_kind(right)} cannot be a divisor", column)
            return _each(left, lambda x: build.operation("/", x, right.entries[0], column))
        return self._times(left, right, column)

    def _times(self, left: _Value, right: _Value, column: int) -> _Value:
        build = self.builder
        if not left.shape:
            return _each(right, lambda x: build.operation("*", left.entries[0], x, column))
        if not right.shape:
            return _each(left, lambda x: build.operation("*", x, right.entries[0], column))
        if len(left.shape) != 2 or left.shape[1] != right.shape[0]:
            hint = "; write dot(u, v), or give the entries" if len(left.shape) == 1 else ""
            raise LanguageError(
                f"{_kind(left)} and {_kind(right)} cannot be multiplied{hint}", column
            )
        inner = left.shape[1]
        rows = [left.entries[k : k + inner] for k in range(0, len(left.entries), inner)]
        width = right.shape[1] if len(right.shape) == 2 else 1
        columns = [right.entries[j::width] for j in range(width)]
        entries = tuple(self._inner(row, col, column) for row in rows for col in columns)
        return _Value((left.shape[0], *right.shape[1:]), entries)

    def _inner(self, x: Sequence[Built], y: Sequence[Built], column: int) -> Built:
        build = self.builder
        terms = (
            build.power(a, Fraction(2), column)
            if a.tree == b.tree
            else build.operation("*", a, b, column)
            for a, b in zip(x, y, strict=True)
        )
        return reduce(lambda total, term: build.operation("+", total, term, column), terms)


def _transposed(value: _Value, column: int) -> _Value:
    if len(value.shape) != 2:
        raise LanguageError(f"T(...) is for matrices, not {_kind(value)}", column)
    rows, columns = value.shape
    entries = (x for j in range(columns) for x in value.entries[j::columns])
    return _Value((columns, rows), tuple(entries))


def _each(value: _Value, change: Callable[[Built], Built]) -> _Value:
    return _Value(value.shape, tuple(change(x) for x in value.entries))


def _kind(value: _Value) -> str:
    if not value.shape:
        return "a number"
    size = "x".join(str(n) for n in value.shape)
    return f"a vector of length {size}" if len(value.shape) == 1 else f"a {size} matrix"
