"""What all readers of syntax trees share: the source of an expression, and who is whose operand."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from derive.errors import LanguageError
from derive.language.build import Builder

_GRAMMAR = "not part of the language: write numbers, names, + - * / ** and functions"


def stripped(text: str, offset: int) -> tuple[str, int]:
    """Return a text without the spaces around it, and how many characters stand before that."""
    return text.strip(" "), offset + len(text) - len(text.lstrip(" "))


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that is being read.

    Attributes:
        source: the text, stripped.
        offset: the spaces before it.
        builder: what makes trees, within bounds.
    """

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
