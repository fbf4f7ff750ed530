"""Exact functions read from text, for the certificate checker: quotients of integer polynomials.

A *space* has variables and, after them, *generators*: functions such as ``sqrt(u**2 + v**2)``,
``exp(w)`` or ``(p**D)``, each a further polynomial variable with a rule for its derivative and,
where it is algebraic, the relation that it satisfies. Nothing is simplified by heuristics:

* an identity holds when its numerator is zero after every relation was divided out. That needs no
  independence of the generators, since a polynomial combination of true relations is true;
* that a function is *not* zero is only ever concluded from its value at a point, in exact
  rationals or in balls (``arb``). Divisors that contain generators are tested in that way, so
  that nothing is ever divided by a zero in disguise.

This module uses Python's standard library and python-flint, nothing else of this package.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import Ordering, arb, ctx, fmpq, fmpz_mpoly_ctx

from derive.checking.functions import Function
from derive.checking.polynomials import BITS, Rejected, call_of, remainder, tree_of

MAXIMAL_DEPTH, MAXIMAL_POWER = 200, 400
OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Generator:
    """A function with a name in the polynomial ring.

    Attributes:
        kind: exp, log, logabs, sin, cos, asinh, root, power, or algebraic.
        argument: what it is a function of; unused for algebraic.
        exponent: n of an n-th root, the exponent of a power.
        relation: a polynomial that vanishes, of positive degree in this generator; else None.
    """

    kind: str
    argument: Function
    exponent: Any = None
    relation: Any = None


class Space:
    """Variables, then generators, each defined by text in what comes before it.

    Args:
        variables: names.
        generators: text of a call or a power; {"name", "polynomial"} for a function that solves a
            polynomial equation; {"text", "is"} for a root that earlier generators express.
        point: rational values of the variables (and of the named algebraic functions), at which
            divisors are shown not to be zero and roots to be positive.
    """

    def __init__(
        self,
        variables: Sequence[str],
        generators: Sequence[Any] = (),
        point: Mapping[str, fmpq] | None = None,
    ) -> None:
        self.variables = tuple(variables)
        if len(set(self.variables)) != len(self.variables):
            raise Rejected("a name is given twice")
        new = [g for g in generators if isinstance(g, str) or "name" in g]
        names = tuple(f"x{i}" for i in range(len(self.variables) + len(new)))
        self.ring = fmpz_mpoly_ctx.get(names or ("x0",), Ordering.degrevlex)
        self.unit = self.ring.constant(1)
        self.symbols = [Function(self, x, self.unit) for x in self.ring.gens()]
        self.names = dict(zip(self.variables, self.symbols, strict=False))
        self.generators: list[Generator] = []
        self.known: list[tuple[str, Function, Any, Function]] = []
        self.point = dict(point) if point is not None else None
        self._values: list[Any] | None = None
        self._slopes: dict[tuple[int, int], Function] = {}
        for generator in generators:
            self._define(generator)

    def number(self, value: int) -> Function:
        """Return an integer as a function."""
        return Function(self, self.ring.constant(value), self.unit)

    def read(self, text: str) -> Function:
        """Return the function that a text of the language stands for.

        Raises:
            Rejected: the text is no expression, is too large, or uses an unknown name.
        """
        return self._build(tree_of(text), 0)

    def _define(self, generator: Any) -> None:
        symbol = (
            self.symbols[len(self.variables) + len(self.generators)]
            if (isinstance(generator, str) or "name" in generator)
            else None
        )
        if isinstance(generator, dict) and symbol is not None:
            name = generator["name"]
            if name in self.names:
                raise Rejected(f"the name {name} is given twice")
            self.names[name] = symbol
            relation = self.read(generator["polynomial"]).top
            if relation.degrees()[self._position(symbol)] < 1:
                raise Rejected(f"{generator['polynomial']} does not determine {name}")
            self.generators.append(Generator("algebraic", symbol, name, relation))
            return
        text = generator if isinstance(generator, str) else generator["text"]
        kind, argument, exponent = self._parts(tree_of(text), text)
        if symbol is None:
            value = self.read(generator["is"])
            if kind != "root" or not (value**exponent - argument).is_zero():
                raise Rejected(f"{generator['is']} is not {text}")
            if not self.value(value) > 0:
                raise Rejected(f"{generator['is']} is not shown to be positive, as {text} is")
        else:
            value = symbol
            relation = self._relation(kind, argument, exponent, symbol)
            self.generators.append(Generator(kind, argument, exponent, relation))
        self.known.append((kind, argument, exponent, value))

    def _position(self, symbol: Function) -> int:
        return next(i for i, s in enumerate(self.symbols) if s is symbol)

    def _relation(self, kind: str, argument: Function, exponent: Any, symbol: Function) -> Any:
        if kind == "root":
            return argument.bottom * symbol.top**exponent - argument.top
        if kind == "sin":
            cosine = self._find("cos", argument)
            return (symbol * symbol + cosine * cosine - 1).top
        return None

    def _parts(self, node: ast.expr, text: str) -> tuple[str, Function, Any]:
        """Return kind, argument and exponent of a generator's text."""
        if isinstance(node, ast.Call):
            name, argument = call_of(node)
            inner = self._build(argument, 1)
            return ("root", inner, 2) if name == "sqrt" else (name, inner, None)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, exponent = self._build(node.left, 1), self._build(node.right, 1)
            number = exponent.rational()
            if number is None:
                return "power", base, exponent
            if number.p == 1 and number.q > 1:
                return "root", base, int(number.q)
        raise Rejected(f"{text} is no generator: a call, a root or a power is expected")

    def _find(self, kind: str, argument: Function, exponent: Any = None) -> Function:
        """Return a listed generator, or a product of them, by its meaning."""
        for known, inner, power, value in self.known:
            if known != kind:
                continue
            if kind == "exp":
                ratio = _integer_ratio(argument, inner)
                if ratio is not None:
                    return value**ratio
            elif kind == "power" and argument.same(inner):
                found = _integer_parts(exponent, power)
                if found is not None:
                    return value ** found[0] * inner ** found[1]
            elif power == exponent and argument.same(inner):
                return value
        raise Rejected(f"a function of the kind {kind} is used that is not among the generators")

    def _build(self, node: ast.expr, depth: int) -> Function:
        if depth > MAXIMAL_DEPTH:
            raise Rejected("a text is nested too deeply")
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self.number(node.value)
        if isinstance(node, ast.Name):
            if node.id not in self.names:
                raise Rejected(f"the name {node.id} is not known here")
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self._build(node.operand, depth + 1)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp):
            left, right = self._build(node.left, depth + 1), self._build(node.right, depth + 1)
            if isinstance(node.op, ast.Pow):
                return self._power(left, right)
            if type(node.op) in OPERATIONS:
                return OPERATIONS[type(node.op)](left, right)  # type: ignore[no-any-return]
        if isinstance(node, ast.Call):
            name, argument = call_of(node)
            return self._call(name, self._build(argument, depth + 1))
        raise Rejected(f"{type(node).__name__} is not part of the language")

    def _call(self, name: str, inner: Function) -> Function:
        if name == "sqrt":
            return self._find("root", inner, 2)
        if name == "tan":
            return self._find("sin", inner) / self._find("cos", inner)
        if name in ("sinh", "cosh", "tanh"):
            E = self._find("exp", inner)
            up, down = E * E + 1, E * E - 1
            return down / up if name == "tanh" else (down if name == "sinh" else up) / (E * 2)
        return self._find(name, inner)

    def _power(self, base: Function, exponent: Function) -> Function:
        number = exponent.rational()
        if number is None:
            return self._find("power", base, exponent)
        if abs(number.p) > MAXIMAL_POWER or number.q > MAXIMAL_POWER:
            raise Rejected(f"the exponent {number} is too large")
        root = base if number.q == 1 else self._find("root", base, int(number.q))
        return root ** int(number.p)

    def slope(self, index: int, variable: int) -> Function:
        """Return the derivative of a generator along a variable, by its rule."""
        key = index, variable
        if key not in self._slopes:
            self._slopes[key] = self._rule(index, variable)
        return self._slopes[key]

    def _rule(self, index: int, variable: int) -> Function:
        generator = self.generators[index]
        position = len(self.variables) + index
        symbol, argument = self.symbols[position], generator.argument
        if generator.kind == "algebraic":
            relation = Function(self, generator.relation, self.unit)
            return -relation.derivative(variable, below=index) / relation.partial(position)
        inner: Function = argument.derivative(variable)
        if inner.is_zero():
            return self.number(0)
        if generator.kind == "exp":
            return symbol * inner
        if generator.kind in ("log", "logabs"):
            return inner / argument
        if generator.kind == "cos":
            return -self._find("sin", argument) * inner
        if generator.kind == "sin":
            return self._find("cos", argument) * inner
        if generator.kind == "asinh":
            return inner / self._find("root", argument * argument + 1, 2)
        if generator.kind == "root":
            return symbol * inner / (argument * int(generator.exponent))
        exponent: Function = generator.exponent
        if not exponent.derivative(variable).is_zero():
            raise Rejected("an exponent changes with the weights")
        return symbol * exponent * inner / argument

    def reduce(self, polynomial: Any) -> Any:
        """Return the remainder of a polynomial by all relations, last generator first."""
        for index in reversed(range(len(self.generators))):
            relation = self.generators[index].relation
            if relation is not None:
                polynomial = remainder(polynomial, relation, len(self.variables) + index)
        return polynomial

    def values(self, point: Mapping[str, fmpq]) -> list[Any]:
        """Return the values of all variables, exact, and of all generators, in balls."""
        try:
            found: list[Any] = [point[name] for name in self.variables]
            for generator in self.generators:
                if generator.kind == "algebraic":
                    found.append(point[generator.exponent])
                else:
                    found.append(_ball(generator, found))
        except KeyError as missing:
            raise Rejected(f"the point has no value of {missing.args[0]}") from None
        return found

    def value(self, function: Function) -> Any:
        """Return the value at the point of the space: exact, or a ball where generators occur."""
        if self.point is None:
            raise Rejected("a point is needed to show that a divisor is not zero")
        if self._values is None or len(self._values) < len(self.variables) + len(self.generators):
            self._values = self.values(self.point)
        return function.at(self._values)


def _integer_ratio(a: Function, b: Function) -> int | None:
    """Return the integer n with a = n b, or None."""
    if a.top.is_zero():
        return 0
    ratio = (a / b).rational() if b.is_not_zero() else None
    return int(ratio.p) if ratio is not None and ratio.q == 1 else None


def _integer_parts(a: Function, b: Function) -> tuple[int, int] | None:
    """Return small integers (k, j) with a = k b + j, or None."""
    for k in sorted(range(-12, 13), key=abs):
        rest = (a - b * k).rational()
        if rest is not None and rest.q == 1:
            return k, int(rest.p)
    return None


def _ball(generator: Generator, found: list[Any]) -> Any:
    """Return the value of a generator from those before it."""
    padding = [fmpq(0)] * (len(generator.argument.space.symbols) - len(found))
    with ctx.workprec(BITS):
        x = arb(generator.argument.at([*found, *padding]))
        if generator.kind == "root":
            return x.root(generator.exponent) if x > 0 else arb.nan()
        if generator.kind == "power":
            power = arb(generator.exponent.at([*found, *padding]))
            return x**power if x > 0 else arb.nan()
        if generator.kind == "logabs":
            return abs(x).log()
        return getattr(x, generator.kind)()
