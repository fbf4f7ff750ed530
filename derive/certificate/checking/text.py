"""Texts of a certificate: read with Python's parser and never evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from flint import fmpq

PROVED, REFUTED, UNDECIDED = "PROVED", "REFUTED", "UNDECIDED"
JSON: TypeAlias = Any
"""What a certificate holds: it may be anything, and any access to it may fail."""

LENGTH = 20_000
PLAIN = re.compile(r"[A-Za-z0-9_+\-*/(), ]*", re.ASCII)
ODD = re.compile(r"(?<![A-Za-z0-9_])[0-9]+[A-Za-z_]", re.ASCII)  # such as 0x1F and 1_0
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
RATIONAL = re.compile(r"-?\d{1,999}(/\d{1,999})?", re.ASCII)


class NotACertificate(Exception):
    """The record does not have the shape of a certificate."""


class Rejected(Exception):
    """A claim fails, or is not shown by what the certificate gives; one line says which and how."""


class Missing(Rejected):
    """Conditions are used that are not stated."""

    def __init__(self, conditions: list[str]) -> None:
        super().__init__(f"a condition is used that is not stated: {'; '.join(conditions):.200}")
        self.conditions = conditions


def require(condition: object, why: str) -> None:
    """Raise Rejected unless the condition holds."""
    if not condition:
        raise Rejected(why)


def rational(text: JSON) -> fmpq:
    """Return the rational number that a text such as -3/2 is."""
    require(isinstance(text, str) and RATIONAL.fullmatch(text), f"{text!s:.40} is no rational")
    top, _, bottom = text.partition("/")
    require(not bottom or int(bottom), f"{text!s:.40} is no rational")
    return fmpq(int(top), int(bottom or 1))


def tree_of(text: JSON) -> ast.expr:
    """Return the syntax tree of a text within bounds; "x = a .. b" says what an integral runs."""
    require(isinstance(text, str) and len(text) <= LENGTH, "a text is missing or too long")
    text = text.replace(" = ", ", ").replace(" .. ", ", ")
    plain = PLAIN.fullmatch(text) and not ODD.search(text)
    require(plain, f"not an expression of the language: {text[:60]}")
    try:
        tree: ast.Expression = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"not an expression: {text[:60]}") from None
    return tree.body


def pairs(values: JSON) -> str:
    """Return names with their values in words."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def names_in(texts: Iterable[JSON]) -> set[str]:
    """Return the names that texts use, but those of functions and of what integrals run over."""
    return set[str]().union(*(_names(tree_of(text)) for text in texts))


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call) and called(node)[0] == "Integral":
        f, x, *ends = node.args
        return (_names(f) - _names(x)).union(*map(_names, ends))
    inner = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    return set[str]().union(*map(_names, inner))


def called(node: ast.Call) -> tuple[str, ast.expr, bool]:
    """Return name and first argument of a call, and whether it has no other."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    return name, node.args[0] if node.args else node, len(node.args) == 1 and not node.keywords
