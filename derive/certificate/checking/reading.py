"""Read texts of the language as functions; nothing is evaluated.

Logarithms are those of absolute values; where log(u) is written without them, u > 0 at the start.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from flint import fmpq

from derive.certificate.checking.function import Function, constant
from derive.certificate.checking.text import called, require, tree_of

if TYPE_CHECKING:
    from derive.certificate.checking.space import Space

DEPTH, POWER = 200, 400
CALLS = ("exp", "log", "sin", "cos", "asinh", "atan")
HYPERBOLIC = ("sinh", "cosh", "tanh")
SIGNS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
SIGNS[ast.Div] = operator.truediv


def read(space: Space, text: Any) -> Function:
    """Return the function that a text of the language stands for."""
    return _build(space, tree_of(text), 0)


def call(space: Space, text: Any) -> tuple[str, Function, Function]:
    """Return kind, argument and exponent of a text that is a call or a power."""
    return _call(space, tree_of(text), 0)


def _build(space: Space, node: ast.expr, depth: int) -> Function:
    require(depth < DEPTH, "a text is nested too deeply")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return space.number(node.value)
    if isinstance(node, ast.Name):
        require(node.id in space.names, f"the name {node.id:.40} is not known here")
        return space.names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return space.number(0) - _build(space, node.operand, depth + 1)
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        left, right = _build(space, node.left, depth + 1), _build(space, node.right, depth + 1)
        return SIGNS[type(node.op)](left, right)  # type: ignore[no-any-return]
    if isinstance(node, ast.Call) and called(node)[0] in ("tan", *HYPERBOLIC):
        require(called(node)[2], "a function has one argument")
        return _quotient(space, node.func.id, _build(space, node.args[0], depth + 1))  # type: ignore[attr-defined]
    kind, base, exponent = _call(space, node, depth + 1)
    n = constant(exponent)
    if kind != "power" or n is None:
        return space.find(kind, base, exponent)
    require(abs(n.p) <= POWER and n.q <= POWER, f"the exponent {n} is too large")
    root = base if n.q == 1 else space.find("power", base, space.number(fmpq(1, n.q)))
    return root ** int(n.p)


def _quotient(space: Space, name: str, u: Function) -> Function:
    if name == "tan":
        return space.find("sin", u) / space.find("cos", u)
    up = space.find("exp", u)
    down = space.number(1) / up
    sinh, cosh = (up - down) / space.number(2), (up + down) / space.number(2)
    return {"sinh": sinh, "cosh": cosh}[name] if name != "tanh" else sinh / cosh


def _call(space: Space, node: ast.expr, depth: int) -> tuple[str, Function, Function]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return "power", _build(space, node.left, depth), _build(space, node.right, depth)
    require(isinstance(node, ast.Call), f"{type(node).__name__} is not part of the language")
    name, inner, more = called(node)
    absolute = isinstance(inner, ast.Call) and called(inner)[0] in ("Abs", "abs")
    require(not absolute or called(inner)[2], "a function has one argument")
    if name == "log" and absolute:
        inner = called(inner)[1]
    kind = "power" if name == "sqrt" else name
    require(name in ("sqrt", *CALLS) and more, f"{name:.40} is not known here")
    half = space.number(fmpq(1, 2)) if name == "sqrt" else space.number(0)
    argument = _build(space, inner, depth)
    fits = kind != "log" or absolute or argument.at(space.start) > 0
    require(fits, "the argument of a logarithm is not shown to be positive at the start")
    return kind, argument, half
