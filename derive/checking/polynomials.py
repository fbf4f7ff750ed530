"""Integer polynomials and syntax trees within bounds, for the certificate checker."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from flint import fmpq

MAXIMAL_LENGTH, MAXIMAL_NODES = 20_000, 5_000
MAXIMAL_DIGITS, MAXIMAL_PRODUCTS, MAXIMAL_DEGREE = 2_000, 3_000_000, 5_000
BITS = 320
"""Precision of balls."""

CALLS = {"exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh"}


class Rejected(Exception):
    """A claim fails, or is not shown by what the certificate gives; one line says which and how."""


def tree_of(text: str) -> ast.expr:
    """Return the syntax tree of a text within bounds; nothing is evaluated."""
    if len(text) > MAXIMAL_LENGTH:
        raise Rejected(f"a text is longer than {MAXIMAL_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"not an expression: {text[:60]}") from None
    if sum(1 for _ in ast.walk(tree)) > MAXIMAL_NODES:
        raise Rejected(f"a text has more than {MAXIMAL_NODES} parts")
    return tree


def call_of(node: ast.Call) -> tuple[str, ast.expr]:
    """Return name and argument of a call; log(Abs(x)) is a function of its own."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in CALLS or len(node.args) != 1 or node.keywords:
        raise Rejected(f"a call of {name or 'this'} is not part of the language")
    inner = node.args[0]
    if name != "log" or not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Name):
        return name, inner
    if inner.func.id not in ("Abs", "abs") or len(inner.args) != 1 or inner.keywords:
        return name, inner
    return "logabs", inner.args[0]


def product(a: Any, b: Any) -> Any:
    """Return the product of two polynomials, refusing what would not end."""
    if len(a) * len(b) > MAXIMAL_PRODUCTS or a.total_degree() + b.total_degree() > MAXIMAL_DEGREE:
        raise Rejected("an expression is too large to be expanded")
    if len(a) == len(b) == 1 and len(str(a.leading_coefficient())) > MAXIMAL_DIGITS:
        raise Rejected("a number is too large")
    return a * b


def remainder(polynomial: Any, relation: Any, position: int) -> Any:
    """Return r with lead^k polynomial = q relation + r, of lower degree in one variable."""
    degree = relation.degrees()[position]
    lead = _coefficient(relation, position, degree)
    symbol = polynomial.context().gens()[position]
    while not polynomial.is_zero() and (n := polynomial.degrees()[position]) >= degree:
        first = _coefficient(polynomial, position, n)
        lowered = product(product(first, symbol ** int(n - degree)), relation)
        polynomial = product(lead, polynomial) - lowered
    return polynomial


def _coefficient(polynomial: Any, position: int, power: int) -> Any:
    chosen = {
        (*e[:position], 0, *e[position + 1 :]): c
        for e, c in polynomial.to_dict().items()
        if e[position] == power
    }
    return polynomial.context().from_dict(chosen)


def evaluate(polynomial: Any, values: Sequence[Any]) -> Any:
    """Return the value of a polynomial at rationals and balls."""
    total: Any = fmpq(0)
    for exponents, coefficient in polynomial.to_dict().items():
        term: Any = fmpq(coefficient)
        for value, n in zip(values, exponents, strict=False):
            if n:
                term = term * value ** int(n)
        total = total + term
    return total
