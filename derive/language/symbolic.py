"""The bridge between trees and SymPy expressions; SymPy is imported only when it is crossed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.functions import CALLS
from derive.language.literals import shown
from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Power,
    RealPower,
    Tree,
    children,
    fold,
)

if TYPE_CHECKING:
    import sympy


def to_sympy(tree: Tree, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """Return *tree* as a SymPy expression, which SymPy evaluates as it likes.

    *symbols* gives the symbol of each name; without it they are symbols of no assumptions.

    >>> to_sympy(Power(Name("x"), Fraction(-2)))
    x**(-2)

    LanguageError: a name has no symbol, or the expression is infinite everywhere.
    """
    import sympy

    def combine(node: Tree, parts: list[sympy.Expr]) -> sympy.Expr:
        match node:
            case Number(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Name(name):
                if symbols is None:
                    return sympy.Symbol(name)
                if name not in symbols:
                    message = f"no symbol is given for {shown(name)}: give one for each name"
                    raise LanguageError(message)
                return symbols[name]
            case Operation("+", _, _):
                return sympy.Add(*parts)
            case Operation("*", _, _):
                return sympy.Mul(*parts)
            case Operation("/", _, _):
                return sympy.Mul(parts[0], sympy.Pow(parts[1], -1))
            case Power(_, exponent):
                return sympy.Pow(*parts, sympy.Rational(exponent.numerator, exponent.denominator))
            case RealPower():
                return sympy.Pow(*parts)
            case Call(function, _):
                return getattr(sympy, function)(*parts)

    result = fold(tree, children, combine)
    if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise LanguageError("the expression divides by zero: write one that is finite somewhere")
    return result


def from_sympy(expr: sympy.Basic, budget: Budget = DEFAULT) -> Tree:
    """Return a SymPy expression as a tree, under the same bounds as text; or LanguageError.

    >>> import sympy
    >>> from_sympy(sympy.Symbol("x") ** -2)
    Power(base=Name(name='x'), exponent=Fraction(-2, 1))
    """
    reader = _SymPyReader(budget)
    return fold(expr, reader.parts, reader.combine).tree


WORDS = {
    "Abs": "an absolute value",
    "Derivative": "a derivative",
    "Integral": "an integral",
    "Max": "a maximum",
    "Min": "a minimum",
    "Piecewise": "a distinction of cases",
    "Sum": "a sum over an index",
}


def _in_words(expr: sympy.Basic) -> str:
    """Say what is refused as a mathematician calls it."""
    name = type(expr).__name__
    if name in WORDS:
        return WORDS[name]
    return f"the function {shown(name)}" if getattr(expr, "is_Function", False) else "this object"


GROUP = 100
"""Terms that are added one by one."""


class _SymPyReader:
    """Convert the whitelisted types of SymPy nodes; every other one is refused."""

    def __init__(self, budget: Budget) -> None:
        import sympy

        self.sympy = sympy
        self.builder = Builder(budget)
        self.functions = {getattr(sympy, name): name for name in CALLS}
        self.symbols: dict[str, sympy.Symbol] = {}
        self.seen = 0

    def parts(self, expr: sympy.Basic) -> Sequence[sympy.Basic]:
        """Return the operands of a node, or refuse its type."""
        self.seen += 1
        if self.seen > self.builder.budget.nodes:  # shared nodes can make a tree exponential
            raise LanguageError(f"too large: at most {self.builder.budget.nodes} nodes")
        sympy = self.sympy
        if isinstance(expr, sympy.Rational) or type(expr) is sympy.Symbol:
            return ()
        if expr in (sympy.E, sympy.pi):
            return ()
        if isinstance(expr, sympy.Add) or type(expr) in self.functions:
            return tuple(expr.args)
        if isinstance(expr, sympy.Mul):
            return [base for base, _ in self._factors(expr)]
        if isinstance(expr, sympy.Pow):
            return self._power_parts(expr)
        if isinstance(expr, sympy.Float):
            raise LanguageError("a floating-point number is rounded: write an exact one")
        accepted = f"numbers, names, + - * / ** and sqrt, {', '.join(CALLS)}"
        raise LanguageError(f"{_in_words(expr)} is not part of the language: write {accepted}")

    def combine(self, expr: sympy.Basic, operands: list[Built]) -> Built:
        """Build the tree of a node from those of its operands."""
        sympy, builder = self.sympy, self.builder
        if isinstance(expr, sympy.Rational):
            return builder.number(Fraction(int(expr.p), int(expr.q)))
        if expr is sympy.E:
            return builder.call("exp", builder.number(Fraction(1)))
        if expr is sympy.pi:
            return builder.name("pi")
        if type(expr) is sympy.Symbol:
            return self._name(expr)
        if isinstance(expr, sympy.Add):
            return self._sum(operands)
        if isinstance(expr, sympy.Mul):
            return self._product(expr, operands)
        if type(expr) in self.functions:
            return builder.call(self.functions[type(expr)], operands[0])
        return self._power(expr, operands)

    def _sum(self, terms: list[Built]) -> Built:
        """Build a sum; one of many terms in groups, so that it is not as deep as it is long."""
        add = partial(self.builder.operation, "+")
        groups = (terms[k : k + GROUP] for k in range(0, len(terms), GROUP))
        return reduce(add, (reduce(add, group) for group in groups))

    def _name(self, symbol: sympy.Symbol) -> Built:
        """Build a name; symbols that differ only in assumptions would become one."""
        built = self.builder.name(symbol.name)
        if self.symbols.setdefault(symbol.name, symbol) != symbol or not symbol.is_commutative:
            message = f"the SymPy symbols called {symbol.name} differ or do not commute: use one"
            raise LanguageError(message)
        return built

    def _factors(self, product: sympy.Mul) -> list[tuple[sympy.Basic, Fraction | None]]:
        """Return the factors of a product; a divisor has its exponent, and comes last."""
        above: list[tuple[sympy.Basic, Fraction | None]] = []
        below: list[tuple[sympy.Basic, Fraction | None]] = []
        for factor in product.args:
            is_power = isinstance(factor, self.sympy.Pow) and factor.base is not self.sympy.E
            if is_power and isinstance(factor.exp, self.sympy.Rational) and factor.exp < 0:
                below.append((factor.base, Fraction(-int(factor.exp.p), int(factor.exp.q))))
            else:
                above.append((factor, None))
        return above + below

    def _product(self, product: sympy.Mul, operands: list[Built]) -> Built:
        """Build a product, and a quotient by the factors of negative exponent."""
        result: Built | None = None
        for (_, exponent), operand in zip(self._factors(product), operands, strict=True):
            if exponent is None:
                result = operand if result is None else self.builder.operation("*", result, operand)
                continue
            divisor = operand if exponent == 1 else self.builder.power(operand, exponent)
            result = result or self.builder.number(Fraction(1))
            result = self.builder.operation("/", result, divisor)
        return result or self.builder.number(Fraction(1))

    def _power_parts(self, expr: sympy.Basic) -> Sequence[sympy.Basic]:
        """Return the base, the exponent or both, as :meth:`_power` needs them."""
        if expr.base is self.sympy.E:
            return (expr.exp,)
        if isinstance(expr.exp, self.sympy.Rational):
            return (expr.base,)
        return (expr.base, expr.exp)

    def _power(self, expr: sympy.Basic, operands: list[Built]) -> Built:
        """Build a power; ``x**sqrt(2)``, as SymPy writes it, is ``exp(sqrt(2)*log(x))``."""
        if expr.base is self.sympy.E:
            return self.builder.call("exp", operands[0])
        if len(operands) == 1:
            return self.builder.power(operands[0], Fraction(int(expr.exp.p), int(expr.exp.q)))
        if expr.exp.free_symbols:
            return self.builder.real_power(operands[0], operands[1])
        logarithm = self.builder.call("log", operands[0])
        return self.builder.call("exp", self.builder.operation("*", operands[1], logarithm))
