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

MAXIMAL_LENGTH, MAXIMAL_NODES, MAXIMAL_DEPTH = 20_000, 5_000, 200
MAXIMAL_POWER, MAXIMAL_DIGITS, MAXIMAL_PRODUCTS, MAXIMAL_DEGREE = 400, 2_000, 3_000_000, 5_000
BITS = 320
CALLS = {"exp", "log", "sqrt", "sin", "cos", "asinh"}
OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Rejected(Exception):
    """A claim fails, or is not shown by what the certificate gives; one line says which and how."""


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
        symbol = self.symbols[len(self.variables) + len(self.generators)] if (
            isinstance(generator, str) or "name" in generator
        ) else None
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
            name, argument = _call(node)
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
            name, argument = _call(node)
            inner = self._build(argument, depth + 1)
            return self._power(inner, self.number(1) / 2) if name == "sqrt" else (
                self._find(name, inner)
            )
        raise Rejected(f"{type(node).__name__} is not part of the language")

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
        inner = argument.derivative(variable)
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
            return symbol * inner / (argument * generator.exponent)
        if not generator.exponent.derivative(variable).is_zero():
            raise Rejected("an exponent changes with the weights")
        return symbol * generator.exponent * inner / argument

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


class Function:
    """An element of a :class:`Space`: a quotient of two integer polynomials."""

    __slots__ = ("bottom", "space", "top")

    def __init__(self, space: Space, top: Any, bottom: Any) -> None:
        self.space, self.top, self.bottom = space, top, bottom

    def _quotient(self, top: Any, bottom: Any) -> Function:
        if not bottom.is_one():
            common = top.gcd(bottom)
            if not common.is_one():
                top, bottom = top / common, bottom / common
            if bottom.leading_coefficient() < 0:
                top, bottom = -top, -bottom
        return Function(self.space, top, bottom)

    def _of(self, other: Function | int) -> Function:
        return other if isinstance(other, Function) else self.space.number(other)

    def __add__(self, other: Function | int) -> Function:
        other = self._of(other)
        if self.bottom == other.bottom:
            return self._quotient(self.top + other.top, self.bottom)
        top = product(self.top, other.bottom) + product(other.top, self.bottom)
        return self._quotient(top, product(self.bottom, other.bottom))

    def __neg__(self) -> Function:
        return Function(self.space, -self.top, self.bottom)

    def __sub__(self, other: Function | int) -> Function:
        return self + (-self._of(other))

    def __mul__(self, other: Function | int) -> Function:
        other = self._of(other)
        return self._quotient(product(self.top, other.top), product(self.bottom, other.bottom))

    def __truediv__(self, other: Function | int) -> Function:
        other = self._of(other)
        if not other.is_not_zero():
            raise Rejected("a divisor is zero, or is not shown to be other than zero")
        return self._quotient(product(self.top, other.bottom), product(self.bottom, other.top))

    def __pow__(self, exponent: int) -> Function:
        if exponent < 0:
            return (self.space.number(1) / self) ** -exponent
        result = self.space.number(1)
        for digit in bin(exponent)[2:]:
            result = result * result
            if digit == "1":
                result = result * self
        return result

    def is_zero(self) -> bool:
        """Tell whether this is zero by the relations; True is a proof."""
        return bool(self.space.reduce(self.top).is_zero())

    def is_not_zero(self) -> bool:
        """Tell whether this is shown not to be the zero function; True is a proof."""
        if not any(self.top.degrees()[len(self.space.variables) :]):
            return not self.top.is_zero()
        value = self.space.value(self)
        return bool(value > 0 or value < 0)

    def same(self, other: Function) -> bool:
        """Tell whether two functions are equal by the relations; True is a proof."""
        return (self - other).is_zero()

    def rational(self) -> fmpq | None:
        """Return the number that this is, or None."""
        if not (self.top.is_constant() and self.bottom.is_constant()):
            return None
        return self.at([fmpq(0)] * len(self.space.symbols))  # type: ignore[no-any-return]

    def partial(self, position: int) -> Function:
        """Return the derivative by one polynomial variable, all others held fixed."""
        top, bottom = self.top, self.bottom
        if bottom.is_constant():
            return self._quotient(top.derivative(position), bottom)
        slope = product(top.derivative(position), bottom) - product(
            top, bottom.derivative(position)
        )
        return self._quotient(slope, product(bottom, bottom))

    def derivative(self, variable: int, below: int | None = None) -> Function:
        """Return the derivative along a variable, generators (before *below*) by their rules."""
        space = self.space
        total = self.partial(variable)
        for index in range(len(space.generators) if below is None else below):
            part = self.partial(len(space.variables) + index)
            if not part.top.is_zero():
                total = total + part * space.slope(index, variable)
        return total

    def at(self, values: Sequence[Any]) -> Any:
        """Return the value; a ball where one of the values is a ball.

        Raises:
            Rejected: the denominator is zero there.
        """
        with ctx.workprec(BITS):
            bottom = evaluate(self.bottom, values)
            if bottom == 0:
                raise Rejected("the point is a pole")
            return evaluate(self.top, values) / bottom

    def into(self, images: Sequence[Function]) -> Function:
        """Substitute a function of another space for every polynomial variable."""
        parts = []
        for polynomial in (self.top, self.bottom):
            total = images[0].space.number(0)
            for exponents, coefficient in polynomial.to_dict().items():
                term = images[0].space.number(int(coefficient))
                for image, n in zip(images, exponents, strict=False):
                    term = term * image ** int(n) if n else term
                total = total + term
            parts.append(total)
        return parts[0] / parts[1]


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


def _call(node: ast.Call) -> tuple[str, ast.expr]:
    """Return name and argument of a call; log(Abs(x)) is a function of its own."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in CALLS or len(node.args) != 1 or node.keywords:
        raise Rejected(f"a call of {name or 'this'} is not part of the language")
    inner = node.args[0]
    if name == "log" and isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
        if inner.func.id in ("Abs", "abs") and len(inner.args) == 1 and not inner.keywords:
            return "logabs", inner.args[0]
    return name, inner


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


def _ball(generator: Generator, found: list[Any]) -> arb:
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
