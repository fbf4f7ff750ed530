"""The text of expressions as Python source: assignments to numbers of any kind.

No name of the user's is in it: symbols are called k0, k1, ... among the constants c, v0, v1, ...
among the arguments, r0, r1, ... where they are roots, and x0, x1, ... where expressions share them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

import sympy
from sympy import Expr, Rational, Symbol
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from numerics.evaluate.doubles.elementary import FUNCTIONS

_LONG = 76
"""Characters from which on what one expression repeats is named."""
WORDS = {
    sympy.Integral: "an integral",
    sympy.CRootOf: "a root of a polynomial",
    sympy.S.ImaginaryUnit.func: "a complex number",
}
"""What a formula may have and a program with bounds may not."""


class NoSource(ValueError):
    """The form cannot be written with the functions at hand."""


class _Printer(StrPrinter):  # type: ignore[misc]
    """Prints exact numbers as such, and powers by the functions for balls."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._names[expr.name]

    _print_Dummy = _print_Symbol

    def _print_Rational(self, expr: Rational) -> str:
        return f"Fraction({expr.p}, {expr.q})"

    def _print_Pow(self, expr: Expr, **_: object) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_negative and exponent.is_Rational:
            below = self.parenthesize(base**-exponent, PRECEDENCE["Pow"])
            return f"1/{below}"
        if exponent.is_Integer:
            return f"{self.parenthesize(base, PRECEDENCE['Pow'])}**{exponent}"
        if exponent.is_Rational and exponent.q == 2:
            root = f"sqrt({self._ball(base)})"
            return root if exponent.p == 1 else f"{root}**{exponent.p}"
        return f"power({self._ball(base)}, {self._print(exponent)})"

    def _print_Add(self, expr: Expr, **_: object) -> str:
        # e^u - 1 where it cancels.
        for term in expr.args:
            rate, call = term.as_coeff_Mul()
            if isinstance(call, sympy.exp) and expr.args[0] == -rate:
                rest = sympy.Add(*(x for x in expr.args[1:] if x != term))
                expr = sympy.Add(rest, rate * sympy.Function("expm1")(call.exp), evaluate=False)
                break
        text: str = super()._print_Add(expr) if expr.is_Add else self._print(expr)
        return text

    def _print_Function(self, expr: Expr) -> str:
        name = type(expr).__name__
        if name not in FUNCTIONS:
            raise NoSource(f"{name} has no form with error bounds")
        return f"{name}({self._ball(expr.args[0])})"

    def _print_cot(self, expr: Expr) -> str:
        # SymPy writes tan(x + pi/2) so; beside its zero a quotient by tan has no bounds.
        return f"tan(2 * atan(c.of(1)) - ({self._ball(expr.args[0])}))"

    def _ball(self, expr: Expr) -> str:
        """Print what a function takes: a number as a ball."""
        text: str = self._print(expr)
        return f"c.of({text})" if expr.is_Rational else text

    def _print_Pi(self, expr: Expr) -> str:
        return "(4 * atan(c.of(1)))"

    def _print_Exp1(self, expr: Expr) -> str:
        return "exp(c.of(1))"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_LatticeOp(self, expr: Expr) -> str:
        name = {sympy.Min: "minimum", sympy.Max: "maximum"}[expr.func]
        first, *others = (self._ball(a) for a in sympy.ordered(expr.args))
        return functools.reduce(lambda text, other: f"{name}({text}, {other})", others, first)

    def emptyPrinter(self, expr: Expr) -> str:
        raise NoSource(f"{WORDS.get(expr.func, 'a part of Q')} has no form with error bounds")

    _print_Integral = _print_ImaginaryUnit = emptyPrinter


class Statements:
    """Assignments in order."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Begin with the names of the symbols at hand."""
        self.names, self.lines = dict(names), list[str]()
        # with a space: no symbol of the user's is called so
        self._shared = (Symbol(f"x {i}") for i in itertools.count())

    def define(self, symbol: str, name: str, value: Expr | tuple[str, Sequence[Expr]]) -> None:
        """Assign an expression, or a function of expressions, to a name for a symbol."""
        function, arguments = value if isinstance(value, tuple) else ("", [value])
        text = self.listed(arguments)
        self.lines.append(f"{name} = {function}({text})" if function else f"{name} = {text}")
        self.names[symbol] = name

    def listed(self, expressions: Sequence[Expr]) -> str:
        """Return the text of expressions, after assignments of what they or a long one share."""
        text = ", ".join(map(self._printed, expressions))
        if len(expressions) < 2 and len(text) < _LONG:
            return text
        shared, expressions = sympy.cse(expressions, symbols=self._shared, order="none")
        for symbol, value in shared:
            self.define(symbol.name, symbol.name.replace(" ", ""), value)
        return ", ".join(map(self._printed, expressions))

    def _printed(self, expression: Expr) -> str:
        return str(_Printer(self.names).doprint(expression))
