"""Texts of a certificate: read with Python's parser and never evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from flint import fmpq

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
    """Return the syntax tree of a text within bounds."""
    require(isinstance(text, str) and len(text) <= LENGTH, "a text is missing or too long")
    plain = PLAIN.fullmatch(text) and not ODD.search(text)
    require(plain, f"not an expression of the language: {text[:60]}")
    try:
        tree: ast.Expression = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"not an expression: {text[:60]}") from None
    return tree.body


def names_in(texts: Iterable[JSON]) -> set[str]:
    """Return the names that texts use."""
    nodes = [node for text in texts for node in ast.walk(tree_of(text))]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called}


def called(node: ast.Call) -> tuple[str, ast.expr, bool]:
    """Return name and first argument of a call, and whether it has no other."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    return name, node.args[0] if node.args else node, len(node.args) == 1 and not node.keywords
