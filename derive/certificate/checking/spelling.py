"""Read texts of the language as functions; nothing is evaluated.

Logarithms are those of absolute values; where log(u) is written without them, u > 0 at the start.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from flint import fmpq

from derive.certificate.checking.function import Function, constant
from derive.certificate.checking.known_calls import KnownCalls, Spelled
from derive.certificate.checking.text import JSON, Rejected, called, require, tree_of

DEPTH, POWER = 200, 400
CALLS = ("exp", "log", "sin", "cos", "asinh", "atan")
HYPERBOLIC = ("sinh", "cosh", "tanh")
SIGNS: dict[type[ast.operator], Callable[[Function, Function], Function]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Spelling(KnownCalls):
    """Names and calls in which texts are read."""

    def read(self, text: JSON) -> Function:
        """Return the function that a text of the language stands for; nothing is evaluated."""
        return self._build(tree_of(text), 0)

    def call(self, text: JSON) -> Spelled:
        """Return the call or power that a text is."""
        return self._call(tree_of(text), 0)

    def _build(self, node: ast.expr, depth: int) -> Function:
        require(depth < DEPTH, "a text is nested too deeply")
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self.number(node.value)
        if isinstance(node, ast.Name):
            require(node.id in self.names, f"the name {node.id:.40} is not known here")
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.number(0) - self._build(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = (self._build(side, depth + 1) for side in (node.left, node.right))
            return SIGNS[type(node.op)](left, right)
        if isinstance(node, ast.Call) and (name := called(node)[0]) in ("tan", *HYPERBOLIC):
            require(called(node)[2], "a function has one argument")
            return self._quotient(name, self._build(node.args[0], depth + 1))
        return self._power(self._call(node, depth + 1))

    def _power(self, call: Spelled) -> Function:
        """Return a call; a power with a number as exponent is one of a root."""
        kind, base, exponent = call
        n = constant(exponent)
        if kind != "power" or n is None:
            return self.find(kind, base, exponent)
        require(abs(n.p) <= POWER and n.q <= POWER, f"the exponent {n} is too large")
        root = base if n.q == 1 else self.find("power", base, self.number(fmpq(1, n.q)))
        return root ** int(n.p)

    def _quotient(self, name: str, u: Function) -> Function:
        if name == "tan":
            return self.find("sin", u) / self.find("cos", u)
        up = self.find("exp", u)
        down = self.number(1) / up
        sinh, cosh = (up - down) / self.number(2), (up + down) / self.number(2)
        return {"sinh": sinh, "cosh": cosh}[name] if name != "tanh" else sinh / cosh

    def _call(self, node: ast.expr, depth: int) -> Spelled:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return Spelled("power", self._build(node.left, depth), self._build(node.right, depth))
        if not isinstance(node, ast.Call):
            raise Rejected(f"{type(node).__name__} is not part of the language")
        name, inner, alone = called(node)
        absolute = False
        if isinstance(inner, ast.Call) and called(inner)[0] in ("Abs", "abs"):
            _, inside, one = called(inner)
            require(one, "a function has one argument")
            absolute, inner = True, inside if name == "log" else inner
        require(name in ("sqrt", *CALLS) and alone, f"{name:.40} is not known here")
        argument = self._build(inner, depth)
        if name == "sqrt":
            return Spelled("power", argument, self.number(fmpq(1, 2)))
        fits = name != "log" or absolute or argument.at(self.start) > 0
        require(fits, "the argument of a logarithm is not shown to be positive at the start")
        return Spelled(name, argument, self.number(0))
