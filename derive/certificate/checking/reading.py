"""Read texts of the language as functions, by what calls are known to be; nothing is evaluated.

Logarithms are those of absolute values; where log(u) is written without them, u > 0 at the start.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from flint import ctx, fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    BITS,
    Function,
    Ring,
    Value,
    constant,
    not_zero,
    root_of,
    sign,
)
from derive.certificate.checking.text import (
    JSON,
    NAME,
    NotACertificate,
    Rejected,
    called,
    require,
    tree_of,
)

DEPTH, POWER, TURNS = 200, 400, 400
INFINITY = "oo"  # at the end of an interval; no name
CALLS = ("exp", "log", "sin", "cos", "asinh", "atan", "erf", "erfi", "Ei", "Li2")
PI = "4*atan(1)"  # where no name is pi
ABSOLUTE = ("Abs", "abs")
PLAIN = {
    "tan": "sin(u)/cos(u)",
    "sinh": "(exp(u) - 1/exp(u))/2",
    "cosh": "(exp(u) + 1/exp(u))/2",
    "tanh": "(exp(u) - 1/exp(u))/(exp(u) + 1/exp(u))",
    "sigmoid": "exp(u)/(exp(u) + 1)",
    "softplus": "log(exp(u) + 1)",
}
LANGUAGE = {"sqrt", *CALLS, *ABSOLUTE, *PLAIN}
SIGNS: dict[type[ast.operator], Callable[[Function, Function], Function]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Call(NamedTuple):
    """A call or a power, its exponent else 0, with the function that it is, where that is known.

    An integral is of a *kind* that says of what.
    """

    kind: str
    argument: Function
    exponent: Function
    image: Function | Any = None


class Unit(NamedTuple):
    """x + i y = exp(i L), or without y |x| = exp(L)."""

    x: Function
    y: Function | Any
    L: Function


class Reading(Ring):
    """The names and calls in which texts are read; *positive* are known to be at the start."""

    def __init__(self, weights: Sequence[str], constants: Sequence[str], room: int) -> None:
        given = [*weights, *constants]
        plain = len(set(given)) == len(given) and all(NAME.fullmatch(n) for n in given)
        if not plain or INFINITY in given:
            raise NotACertificate("names are letters, digits and underscores, each given once")
        super().__init__(len(weights), len(given), room)
        self.given = given
        self.names = dict(zip(given, self.symbols, strict=False))
        self.also = dict[str, Function]()  # what more names stand for in a text that is read
        self.generators: list[Call] = []
        self.known: list[Call] = []
        self.start = []
        self.signs: list[Function] = []

    @property
    def start(self) -> list[Value]:
        """The values of all names at the start in numbers."""
        return self._start

    @start.setter
    def start(self, values: list[Value]) -> None:
        self._start, self._met = values, dict[Function, Value]()

    def positive(self, f: Function, what: str) -> None:
        """Require that a function is shown to be positive at the start, and keep it."""
        require(f.at(self.start) > 0, f"{what} is not shown to be positive at the start")
        self.signs.append(f)

    def read(self, text: JSON, also: Mapping[str, Function] | None = None) -> Function:
        """Return the function that a text stands for, where more names stand for functions."""
        before, self.also = self.also, {**self.also, **(also or {})}
        try:
            return self._build(tree_of(text), 0)
        finally:
            self.also = before

    def call(self, text: JSON) -> Call:
        """Return the call or power that a text is."""
        return self._call(tree_of(text), 0)

    def _build(self, node: ast.expr, depth: int) -> Function:
        require(depth < DEPTH, "a text is nested too deeply")
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self.number(node.value)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._build(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = (self._build(side, depth + 1) for side in (node.left, node.right))
            return SIGNS[type(node.op)](left, right)
        if isinstance(node, ast.Call) and (name := called(node)[0]) in (*ABSOLUTE, *PLAIN):
            require(called(node)[2], "a function has one argument")
            return self._rewritten(name, self._build(node.args[0], depth + 1))
        kind, base, exponent, _ = self._call(node, depth + 1)
        n = constant(exponent)
        if kind != "power" or n is None:
            return self.find(kind, base, exponent)
        require(abs(n.p) <= POWER and n.q <= POWER, f"the exponent {n} is too large")
        root = base if n.q == 1 else self.find("power", base, self.number(fmpq(1, n.q)))
        return root ** int(n.p)

    def _named(self, name: str) -> Function:
        found = self.also.get(name, self.names.get(name))
        if found is None:
            require(name == "pi", f"the name {name:.40} is not known here")
            return self.read(PI)
        return found

    def _rewritten(self, name: str, u: Function) -> Function:
        if name in PLAIN:
            return self.read(PLAIN[name], {"u": u})
        size = u if u.at(self.start) > 0 else -u  # a sign that is kept
        self.positive(size, "an absolute value")
        return size

    def _call(self, node: ast.expr, depth: int) -> Call:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return Call("power", self._build(node.left, depth), self._build(node.right, depth))
        if not isinstance(node, ast.Call):
            raise Rejected(f"{type(node).__name__} is not part of the language")
        name, inner, alone = called(node)
        if name == "Integral":
            require(len(node.args) == 4, "an integral has two ends here, or none")
            f, x, low, high = node.args
            text = ", ".join(ast.unparse(argument) for argument in (f, x, low))
            return Call(f"Integral({text}", self._build(high, depth), self.number(0))
        require(name in ("sqrt", *CALLS) and alone, f"{name:.40} is not known here")
        modulus = called(inner) if isinstance(inner, ast.Call) else ("", inner, True)
        if name == "log" and modulus[0] in ABSOLUTE:
            require(modulus[2], "a function has one argument")
            return Call(name, self._build(modulus[1], depth), self.number(0))
        argument = self._build(inner, depth)
        if name == "sqrt":
            return Call("power", argument, self.number(fmpq(1, 2)))
        if name == "log":
            self.positive(argument, "the argument of a logarithm")
        return Call(name, argument, self.number(0))

    def is_of_constants(self, f: Function) -> bool:
        """Tell whether a function has no weight in it, nor a call of one."""
        varying = {*range(self.weights)}
        for j, (_, u, e, _) in enumerate(self.generators, self.size):
            if not varying.isdisjoint(u.variables | e.variables):
                varying.add(j)
        return varying.isdisjoint(f.variables)

    def find(self, kind: str, argument: Function, exponent: Function | None = None) -> Function:
        """Return what a call was defined to be; a power also as b^(2 - D) = b^2/b^D."""
        call = Call(kind, argument, exponent or self.number(0))
        if (image := self.among(self.known, call)) is not None:
            return image
        for known in (known for known in self.known if kind == known.kind == "power"):
            for n in (1, -1):
                m = constant(call.exponent - known.exponent * n)
                if m is not None and m.q == 1 and self._agree(known.argument, argument, 1):
                    return argument ** int(m.p) * known.image**n
        raise Rejected(f"a call of {kind:.60} is used that is not among the definitions")

    def among(self, known: Iterable[Call], call: Call) -> Function | None:
        """Return what a call was defined to be, among some that are; None of another."""
        for _, u, e, image in (known for known in known if known.kind == call.kind):
            # Logarithms are those of absolute values.
            same = self._agree(u, call.argument, 1)
            same = same or (call.kind == "log" and self._agree(u, call.argument, -1))
            if same and e.same(call.exponent):
                return image
        return None

    def _agree(self, known: Function, other: Function, sign: int) -> bool:
        """Tell whether a function is another times a sign; they are compared in numbers first."""
        with ctx.workprec(BITS):
            apart = not_zero(self._met_at_start(known) - sign * self._met_at_start(other))
        return not apart and known.same(sign * other)

    def _met_at_start(self, f: Function) -> Value:
        """Return the value of a function at the start, which is kept: it is asked for again."""
        if f not in self._met:
            self._met[f] = f.at(self.start)
        return self._met[f]

    def is_call(
        self,
        call: Call,
        f: Function,
        parts: Sequence[tuple[Call, fmpq]],
        sine: Function | None = None,
    ) -> bool:
        """Tell whether f is a call, and *sine* its sine, by what other calls combine to.

        Each call says that |E| = exp(L), or E = x + i y = exp(i L) of an angle L; this one does if
        L = sum n_i L_i and E = prod E_i^n_i. A power is exp(e log u). Signs are read at the start.
        """
        kind, u, e, _ = call
        if kind in ("exp", "power"):
            self.positive(f, f"the {kind}")
        if kind == "power" and (degree := root_of(e)):
            return (f**degree).same(u)
        if kind == "power":
            self.positive(u, "the base of a power")
        own = self.unit(call, f, sine)
        units = [(self.unit(part, self.find(*part[:3])), n) for part, n in parts]
        alike = all((unit.y is None) == (own.y is None) for unit, _ in units)
        if not alike or not own.L.same(self.sum(unit.L * n for unit, n in units)):
            return False
        if own.y is None:
            power, product = 2 * math.lcm(*(int(n.q) for _, n in units)), self.number(1)
            for unit, n in units:
                product = product * unit.x ** int(n * power)
            return (own.x**power).same(product)
        cosine, turned = self.turned(units)
        return own.x.same(cosine) and own.y.same(turned)

    def turned(self, units: Sequence[tuple[Unit, fmpq]]) -> tuple[Function, Function]:
        """Return x and y of a product of powers of x_i + i y_i, of modulus 1."""
        x, y = self.number(1), self.number(0)
        for unit, n in units:
            require(n.q == 1 and abs(n.p) <= TURNS, "angles are added n times")
            turn = sign(n) * unit.y
            for _ in range(abs(int(n.p))):
                x, y = x * unit.x - y * turn, x * turn + y * unit.x
        return x, y

    def unit(self, call: Call, image: Function, sine: Function | None = None) -> Unit:
        """Return what a call says of exp(L), or exp(i L)."""
        kind, u, e, _ = call
        if kind == "cos":
            return Unit(image, sine or self.find("sin", u), u)
        if kind in ("asinh", "atan"):
            r = self.hypotenuse(u)
            return Unit(u + r, None, image) if kind == "asinh" else Unit(1 / r, u / r, image)
        require(kind in ("exp", "log", "power"), f"{kind:.40} is no function of this kind")
        if kind == "power":
            return Unit(image, None, e * self.find("log", u))
        return Unit(image, None, u) if kind == "exp" else Unit(u, None, image)

    def hypotenuse(self, u: Function) -> Function:
        """Return sqrt(u^2 + 1)."""
        return self.read("sqrt(u**2 + 1)", {"u": u})

    def written(self, f: Function | fmpz_mpoly) -> str:
        """Return a function as text, its calls spelled out."""
        names = {str(s.top): name for name, s in zip(self.given, self.symbols, strict=False)}
        whole = partial(spelled, names)
        for call in self.generators:
            names[str(call.image.top)] = call_of(call, whole)
        return whole(f if isinstance(f, Function) else self.of(f))


def call_of(call: Call, written: Callable[[Function], str]) -> str:
    """Return a call as text, its argument as it is *written*."""
    kind, inside, n = call.kind, written(call.argument), root_of(call.exponent)
    if kind == "power":
        return f"(({inside})**({f'1/{n}' if n else written(call.exponent)}))"
    if kind == "log":
        return f"log(Abs({inside}))"
    return kind + (", " if kind.startswith("Integral") else "(") + inside + ")"


def spelled(names: Mapping[str, str], f: Function) -> str:
    """Return a function as text, by the names of polynomial variables."""
    sides = (str(p).replace("^", "**") for p in (f.top, f.bottom))
    top, bottom = (re.sub(r"x\d+", lambda m: names[m[0]], side) for side in sides)
    return top if f.bottom.is_one() else f"({top})/({bottom})"
