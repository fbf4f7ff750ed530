"""The bridge between trees and SymPy expressions; SymPy is imported only when it is crossed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.functions import CALLS, RECORDS
from derive.language.grammar import shown
from derive.language.reader import template, value_of
from derive.language.tree import Algebra, Tree, evaluated, fold

if TYPE_CHECKING:
    import sympy


def to_sympy(tree: Tree, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """Return *tree* as a SymPy expression, which SymPy evaluates as it likes.

    *symbols* gives the symbol of each name; without it they are symbols of no assumptions.

    >>> from derive.language.tree import Name, Power
    >>> to_sympy(Power(Name("x"), Fraction(-2)))
    x**(-2)

    LanguageError: a name has no symbol, or the expression is infinite everywhere.
    """
    import sympy

    def symbol(name: str) -> sympy.Expr:
        if symbols is None:
            return sympy.Symbol(name)
        if name not in symbols:
            raise LanguageError(f"no symbol is given for {shown(name)}: give one for each name")
        return symbols[name]

    def call(function: str, argument: sympy.Expr) -> sympy.Expr:
        if hasattr(sympy, function):
            return getattr(sympy, function)(argument)
        return value_of(RECORDS[function].rewritten, {"x": argument}, call)

    algebra: Algebra[sympy.Expr] = Algebra(
        sympy.Rational,
        symbol,
        lambda base, exponent: sympy.Pow(base, sympy.Rational(exponent)),
        call,
        real_power=sympy.Pow,
    )
    result = evaluated(tree, algebra)
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
    built: Built = fold(
        reader.step(expr),
        lambda step: [reader.step(operand) for operand in step[0]],
        lambda step, operands: step[1](*operands),
    )
    return built.tree


WORDS = {
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


Step: TypeAlias = "tuple[Sequence[sympy.Basic], Callable[..., Built]]"
"""The operands of a node, and what builds its tree from theirs."""


class _SymPyReader:
    """Convert the whitelisted types of SymPy nodes; every other one is refused."""

    def __init__(self, budget: Budget) -> None:
        import sympy

        self.sympy = sympy
        self.builder = Builder(budget)
        named = {name: getattr(sympy, name, None) for name in CALLS}
        self.functions = {function: name for name, function in named.items() if function}
        self.rewritten = {sympy.Abs: "abs", sympy.atanh: "atanh"}
        self.symbols: dict[str, sympy.Symbol] = {}
        self.seen = 0

    def step(self, expr: sympy.Basic) -> Step:
        """Return how a node is converted, or refuse its type."""
        self.seen += 1
        if self.seen > self.builder.budget.nodes:  # shared nodes can make a tree exponential
            raise LanguageError(f"too large: at most {self.builder.budget.nodes} nodes")
        sympy, build = self.sympy, self.builder
        if isinstance(expr, sympy.Rational):
            return (), lambda: build.number(_fraction(expr))
        if expr is sympy.E:
            return (), lambda: build.call("exp", build.number(Fraction(1)))
        if expr is sympy.pi:
            return (), lambda: build.name("pi")
        if type(expr) is sympy.Symbol:
            return (), lambda: self._name(expr)
        if type(expr) in self.functions:
            return expr.args, partial(build.call, self.functions[type(expr)])
        if type(expr) in self.rewritten:
            body = template(RECORDS[self.rewritten[type(expr)]].rewritten)
            return expr.args, lambda x: build.rebuild(body, {"x": x})
        if isinstance(expr, sympy.Add):
            return expr.args, self._sum
        if isinstance(expr, sympy.Mul):
            return self._product(expr)
        if isinstance(expr, sympy.Pow):
            return self._power(expr)
        if isinstance(expr, sympy.Float):
            raise LanguageError("a floating-point number is rounded: write an exact one")
        accepted = f"numbers, names, + - * / ** and sqrt, {', '.join(CALLS)}"
        raise LanguageError(f"{_in_words(expr)} is not part of the language: write {accepted}")

    def _sum(self, *terms: Built) -> Built:
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

    def _product(self, product: sympy.Mul) -> Step:
        """Convert a product: what has a negative exponent divides, and comes last."""
        divisors = [x for x in product.args if self._divides(x)]
        factors = [x for x in product.args if not self._divides(x)]

        def build(*parts: Built) -> Built:
            make, above, below = self.builder, parts[: len(factors)], parts[len(factors) :]
            result = reduce(partial(make.operation, "*"), above or (make.number(Fraction(1)),))
            for power, base in zip(divisors, below, strict=True):
                divisor = base if power.exp == -1 else make.power(base, -_fraction(power.exp))
                result = make.operation("/", result, divisor)
            return result

        return [*factors, *(x.base for x in divisors)], build

    def _divides(self, factor: sympy.Basic) -> bool:
        sympy = self.sympy
        is_power = isinstance(factor, sympy.Pow) and factor.base is not sympy.E
        return bool(is_power and isinstance(factor.exp, sympy.Rational) and factor.exp < 0)

    def _power(self, power: sympy.Pow) -> Step:
        """Convert a power; ``x**sqrt(2)``, as SymPy writes it, is ``exp(sqrt(2)*log(x))``."""
        base, exponent = power.args
        build = self.builder
        if base is self.sympy.E:
            return (exponent,), partial(build.call, "exp")
        if isinstance(exponent, self.sympy.Rational):
            return (base,), lambda x: build.power(x, _fraction(exponent))
        if exponent.free_symbols:
            return (base, exponent), build.real_power
        return (base, exponent), lambda x, e: build.call(
            "exp", build.operation("*", e, build.call("log", x))
        )


def _fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))
