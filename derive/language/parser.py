"""From the text of one expression to its tree."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.functions import RECORDS
from derive.language.literals import read_number
from derive.language.screen import check_characters, check_syntax
from derive.language.tree import Operator, Tree, fold

_GRAMMAR = "not part of the language: write numbers, names, + - * / ** and functions"


def stripped(text: str, offset: int) -> tuple[str, int]:
    """Return a text without the spaces around it, and how many characters stand before that."""
    return text.strip(" "), offset + len(text) - len(text.lstrip(" "))


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that is being read, stripped; *offset* spaces stand before it."""

    source: str
    offset: int
    builder: Builder

    def parts(self, node: ast.expr) -> list[ast.expr]:
        """Return the operands of a node, or refuse its kind."""
        match node:
            case ast.Constant() | ast.Name():
                return []
            case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
                return [operand]
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.Call(func=ast.Name(), args=arguments, keywords=[]):
                return arguments
        raise LanguageError(_GRAMMAR, self.column(node))

    def column(self, node: ast.expr) -> int:
        """Return the column of a node in the whole text; the text is ASCII, so bytes count."""
        return self.offset + node.col_offset + 1

    def written(self, node: ast.expr) -> str:
        """Return the text of a node."""
        return self.source[node.col_offset : node.end_col_offset]


_OPERATORS: dict[type[ast.operator], Operator] = {ast.Add: "+", ast.Mult: "*", ast.Div: "/"}


def parse_expression(text: str, budget: Budget = DEFAULT) -> Tree:
    """Read one expression within bounds, or raise LanguageError; nothing is ever executed.

    >>> parse_expression("3*x")
    Operation(operator='*', left=Number(value=Fraction(3, 1)), right=Name(name='x'))
    """
    check_characters(text, budget)
    return parse_part(text, 0, Builder(budget)).tree


def parse_part(text: str, offset: int, builder: Builder) -> Built:
    """Read an expression *offset* characters into a checked text, under the bounds of *builder*."""
    check_syntax(text, offset, builder.budget)
    source, offset = stripped(text, offset)
    reader = _Reader(source, offset, builder)
    return fold(syntax_tree(source, offset), reader.parts, reader.combine)


def applied(builder: Builder, function: str, argument: Built, column: int) -> Built:
    """Build a function of *argument*, one that stands in no tree as what it is rewritten to."""
    record = RECORDS.get(function)
    if record is None or record.is_call:
        return builder.call(function, argument, column)
    reader = _Template(record.rewritten, column, builder, argument)
    return fold(syntax_tree(record.rewritten, 0), reader.parts, reader.combine)


def syntax_tree(source: str, offset: int) -> ast.expr:
    """Return Python's syntax tree of a text that has been checked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, mode="eval").body
    except (RecursionError, MemoryError):
        raise LanguageError("nested too deeply: use fewer brackets", offset + 1) from None
    except (SyntaxError, ValueError):
        # The check of the raw text leaves nothing to be found here; this is the second lock.
        raise LanguageError("not an expression: write one such as p - m**2", offset + 1) from None


@dataclass(frozen=True, slots=True)
class _Reader(Reading):
    """Convert the whitelisted nodes of a syntax tree; every other one is refused."""

    def parts(self, node: ast.expr) -> list[ast.expr]:
        """Return the operands of a node, or refuse its kind."""
        below = Reading.parts(self, node)
        if isinstance(node, ast.Call) and len(below) != 1:
            raise LanguageError("a function takes one argument", self.column(node))
        return below

    def combine(self, node: ast.expr, operands: list[Built]) -> Built:
        """Build the tree of a node from those of its operands."""
        column = self.column(node)
        match node, operands:
            case ast.Name(id=name), _:
                return self.builder.name(name, column)
            case ast.UnaryOp(op=ast.UAdd()), [operand]:
                return operand
            case ast.UnaryOp(), [operand]:
                return self.builder.negate(operand, column)
            case ast.Call(func=ast.Name(id=function)), [argument]:
                return applied(self.builder, function, argument, column)
            case ast.BinOp(op=operator, right=right), [first, second]:
                return self._binary(operator, first, second, column, self.column(right))
        # Python has rounded a decimal already: read it again, exactly.
        number = read_number(self.written(node), self.builder.budget, column)
        return self.builder.number(number, column)

    def _binary(
        self, operator: ast.operator, left: Built, right: Built, column: int, right_column: int
    ) -> Built:
        """Build the tree of a binary operation."""
        if isinstance(operator, ast.Pow):
            if right.size.value is None:
                return self.builder.real_power(left, right, right_column)
            return self.builder.power(left, right.size.value, column)
        if isinstance(operator, ast.Sub):
            minus = self.builder.negate(right, right_column)
            return self.builder.operation("+", left, minus, column)
        if isinstance(operator, ast.Div):
            column = right_column
        return self.builder.operation(_OPERATORS[type(operator)], left, right, column)


@dataclass(frozen=True, slots=True)
class _Template(_Reader):
    """Convert the text of a record, an expression in x; refusals name the column of the call."""

    argument: Built

    def column(self, node: ast.expr) -> int:
        return self.offset

    def combine(self, node: ast.expr, operands: list[Built]) -> Built:
        if isinstance(node, ast.Name):
            return self.argument
        return _Reader.combine(self, node, operands)
