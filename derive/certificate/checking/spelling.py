"""Read texts of the language as functions, by what calls are known to be; nothing is evaluated.

Logarithms are those of absolute values; where log(u) is written without them, u > 0 at the start.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flint import fmpq

from derive.certificate.checking.function import (
    Function,
    Known,
    Names,
    constant,
    not_zero,
    root_of,
    whole_part,
)
from derive.certificate.checking.text import JSON, Rejected, called, require, tree_of

DEPTH, POWER, TURNS = 200, 400, 400
CALLS = ("exp", "log", "sin", "cos", "asinh", "atan")
HYPERBOLIC = ("sinh", "cosh", "tanh")
SIGNS: dict[type[ast.operator], Callable[[Function, Function], Function]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Spelled(NamedTuple):
    """A call that a text spells; the exponent is that of a power, else 0."""

    kind: str
    argument: Function
    exponent: Function


class Spelling(Names):
    """Names and calls in which texts are read, and the derivatives of calls."""

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

    def is_of_constants(self, f: Function) -> bool:
        """Tell whether a function has no weight in it, nor a call of one."""
        varying = [*range(self.weights)]
        for j, (_, u, e, _) in enumerate(self.generators, self.size):
            if any(x.uses(k) for x in (u, e) for k in varying):
                varying.append(j)
        return not any(f.uses(k) for k in varying)

    def find(self, kind: str, argument: Function, exponent: Function | None = None) -> Function:
        """Return what a call was defined to be; a power also as b^(2 - D) = b^2/b^D."""
        exponent = exponent or self.number(0)
        whole = whole_part(exponent) if kind == "power" else 0
        try:
            return self.among(self.known, Spelled(kind, argument, exponent))
        except Rejected:
            if not whole:
                raise
        rest = exponent - self.number(whole)
        opposite = self.number(0) - rest
        if any(k.kind == kind and (k.exponent - opposite).is_zero() for k in self.known):
            return argument**whole / self.find(kind, argument, opposite)
        return argument**whole * self.find(kind, argument, rest)

    def among(self, known: Iterable[Known], call: Spelled) -> Function:
        """Return what a call was defined to be, among some that are."""
        for _, u, e, image in (known for known in known if known.kind == call.kind):
            # Logarithms are those of absolute values.
            signs = (u - call.argument, u + call.argument)[: 2 if call.kind == "log" else 1]
            same = any(not not_zero(x.at(self.start)) and x.is_zero() for x in signs)
            if same and (e - call.exponent).is_zero():
                return image
        raise Rejected(f"a call of {call.kind} is used that is not among the definitions")

    def is_call(self, call: Spelled, f: Function, parts: Sequence[tuple[Spelled, fmpq]]) -> bool:
        """Tell whether f is a call, by what pairs (E_i, L_i), |E_i| = exp(L_i), combine to.

        exp(u) = f: u = sum n_i L_i, f = prod |E_i|^n_i; a power is exp(e log u); log|u| = f: the
        other way round. The sign of f is read at the start.
        """
        kind, u, e = call
        if kind == "power":
            if not (f.at(self.start) > 0 and u.at(self.start) > 0):
                return False
            if n := root_of(e):
                return (f**n - u).is_zero()
            u = e * self.find("log", u)
        elif kind not in ("exp", "log"):
            return False
        common = math.lcm(1, *(int(n.q) for _, n in parts))
        total, product = self.number(0), self.number(1)
        for part, m in parts:  # sum m_i L_i and prod E_i^(2 m_i common)
            E, L = self._pair(part)
            total, product = total + L * self.number(m), product * E ** (2 * int(m * common))
        if kind == "log":
            return bool(parts) and (f - total).is_zero() and (u ** (2 * common) - product).is_zero()
        positive = common == 1 and f.at(self.start) > 0
        return positive and (u - total).is_zero() and (f**2 - product).is_zero()

    def _pair(self, call: Spelled) -> tuple[Function, Function]:
        """Return (E, L) with |E| = exp(L) for a call that is known."""
        kind, u, e = call
        image = self.find(kind, u, e)
        if kind == "exp":
            return image, u
        if kind == "log":
            return u, image
        if kind == "asinh":
            return u + self._hypotenuse(u), image
        require(kind == "power", f"{kind} is no function of this kind")
        return image, e * self.find("log", u)

    def _hypotenuse(self, u: Function) -> Function:
        """Return sqrt(u^2 + 1)."""
        return self.find("power", u**2 + self.number(1), self.number(fmpq(1, 2)))

    def is_angle(
        self, u: Function, c: Function, s: Function, parts: Sequence[tuple[Spelled, fmpq]]
    ) -> bool:
        """Tell whether c + i s = prod (cos u_i + i sin u_i)^n_i and u = sum n_i u_i."""
        real, imaginary, total = self.number(1), self.number(0), self.number(0)
        for (kind, angle, e), n in parts:
            require(kind == "cos" and n.q == 1 and abs(n.p) <= TURNS, "angles are added n times")
            x, y = self.find("cos", angle, e), self.find("sin", angle, e)
            y = y * self.number(1 if n > 0 else -1)
            total = total + angle * self.number(n)
            for _ in range(abs(int(n.p))):
                real, imaginary = real * x - imaginary * y, real * y + imaginary * x
        return all(f.is_zero() for f in (u - total, c - real, s - imaginary))

    def slope_of(self, j: int, k: int) -> Function:
        """Return the derivative of the generator at place j by weight or constant k."""
        if (j, k) not in self.slopes:
            call = self.generators[j - self.size]
            kind, u, exponent, f = call
            total, inner = self.number(0), u.derivative(k)
            if not inner.top.is_zero():
                total = self._slope(call) * inner
            if kind == "power" and not (change := exponent.derivative(k)).top.is_zero():
                total = total + f * self.find("log", u) * change
            self.slopes[j, k] = total
        return self.slopes[j, k]

    def _slope(self, call: Known) -> Function:
        """Return the derivative of f = kind(u) by u."""
        (kind, u, exponent, f), one = call, self.number(1)
        slopes: dict[str, Callable[[], Function]] = {
            "exp": lambda: f,
            "log": lambda: one / u,
            "atan": lambda: one / (u**2 + one),
            "cos": lambda: self.number(-1) * self.find("sin", u),
            "sin": lambda: self.find("cos", u),
            "asinh": lambda: one / self._hypotenuse(u),
            "power": lambda: f * exponent / u,
        }
        return slopes[kind]()
