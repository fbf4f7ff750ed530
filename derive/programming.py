"""Formulas in programming languages: one printer, and what differs from one language to the other.

What runs on balls and on doubles with bounds is such a language, as are JAX and JavaScript.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Symbol
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from derive.errors import NumericalError
from derive.language import to_sympy
from derive.model.parameterization import Parameterization
from derive.potential.piece import Root

WORDS = {
    sympy.Integral: "an integral",
    sympy.CRootOf: "a root of a polynomial",
    sympy.S.ImaginaryUnit.func: "a complex number",
}
"""What a formula may have and a program may not."""


class NoSource(NumericalError):
    """The form cannot be written with the functions at hand."""


@dataclass(frozen=True)
class Language:
    """What differs from one language to the other.

    Attributes:
        title: what it is called.
        functions: what functions and constants are called there.
        chosen: what Min and Max of two are.
        reserved: names that are taken, to which "_" is added.
        imports: the lines that load it.
        calls: what differs in the functions that modules bring along, "xp" being its name.
        whole, power, mapping: how x**n is written for whole n and for others, and a function of a
            name.
        fraction, argument: how a fraction is written, and a number that a function takes.
        lacking: what is said of something that it has not.
        solved: the numbers of roots above a root that is found by its polynomial even where it has
            a formula.
    """

    title: str
    functions: Mapping[str, str]
    chosen: Mapping[str, str]
    reserved: frozenset[str] = frozenset()
    imports: str = ""
    calls: Mapping[str, str] = field(default_factory=dict)
    whole: str = "{}**{}"
    power: str = "{}**{}"
    mapping: str = "lambda {}: {}"
    fraction: str = "{}/{}"
    argument: str = "{}"
    lacking: str = "Q has no {title} form: {what} is not known there"
    solved: Collection[int] = ()

    def name(self, given: str) -> str:
        """Return a name that the language leaves free, others for others."""
        return given + "_" * (given in self.reserved)

    def shown(self, expression: Expr, name: Callable[[str], str] | None = None) -> str:
        """Return the text of an expression, with names as they are or as *name* has them.

        Raises:
            NoSource: it has a function that the language has not.
        """
        return str(_Printer(self, name or self.name).doprint(expression))

    def refuse(self, what: str) -> NoSource:
        """Return the error of something that the language has not."""
        return NoSource(self.lacking.format(title=self.title, what=what))

    def solution(self, root: Root) -> tuple[int | None, list[Expr]]:
        """Return how many roots are above a root, and its coefficients; or None, and a formula.

        Raises:
            NoSource: it is told from other roots by its formula alone, which is not known.
        """
        coefficients = sympy.Poly(root.polynomial, root.symbol).all_coeffs()[::-1]
        if len(coefficients) == 2:
            return None, [-coefficients[0] / coefficients[1]]
        if root.explicit is not None and root.from_above not in self.solved:
            return None, [root.explicit]
        if root.from_above is None:
            raise NoSource(f"{root.symbol.name} is told from other roots by its formula alone")
        return root.from_above, coefficients


class _Printer(StrPrinter):  # type: ignore[misc]
    def __init__(self, language: Language, name: Callable[[str], str]) -> None:
        super().__init__()
        self._language, self._name = language, name

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._name(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Rational(self, expr: Expr) -> str:
        return self._language.fraction.format(expr.p, expr.q)

    def _print_Pow(self, expr: Expr, **_: object) -> str:
        language, (base, exponent) = self._language, expr.as_base_exp()
        if exponent.is_Rational and exponent.is_negative:
            return f"1/{self.parenthesize(base**-exponent, PRECEDENCE['Pow'])}"
        if exponent.is_Rational and exponent.q == 2:
            root = f"{language.functions['sqrt']}({self._argument(base)})"
            return root if exponent.p == 1 else language.whole.format(root, exponent.p)
        shown = self.parenthesize(base, PRECEDENCE["Pow"])
        if exponent.is_Integer:
            return language.whole.format(shown, exponent)
        shown = self._argument(base) if base.is_Rational else shown
        return language.power.format(shown, self.parenthesize(exponent, PRECEDENCE["Atom"]))

    def _print_Add(self, expr: Expr, **_: object) -> str:
        # e^u - 1 where it cancels.
        for term in expr.args:
            rate, call = term.as_coeff_Mul()
            if isinstance(call, sympy.exp) and expr.args[0] == -rate:
                rest = sympy.Add(*(x for x in expr.args[1:] if x != term))
                expr = rest + rate * sympy.Function("expm1")(call.exp)
                break
        text: str = super()._print_Add(expr) if expr.is_Add else self._print(expr)
        return text

    def _print_Function(self, expr: Expr) -> str:
        functions, name = self._language.functions, type(expr).__name__
        if name not in functions:
            raise self._language.refuse(name)
        return f"{functions[name]}({self._argument(expr.args[0])})"

    _print_Abs = _print_Function

    def _print_cot(self, expr: Expr) -> str:
        # SymPy writes tan(x + pi/2) so; beside its zero a quotient by tan has no bounds.
        return str(self._print(sympy.tan(sympy.pi / 2 - expr.args[0], evaluate=False)))

    def _print_sign(self, expr: Expr) -> str:
        # The derivative of a modulus.
        x = expr.args[0]
        size = self._print(sympy.Abs(x, evaluate=False))
        return f"{size}/{self.parenthesize(x, PRECEDENCE['Pow'])}"

    def _argument(self, expr: Expr) -> str:
        """Print what a function takes."""
        text: str = self._print(expr)
        return self._language.argument.format(text) if expr.is_Rational else text

    def _print_LatticeOp(self, expr: Expr) -> str:
        form = self._language.chosen[type(expr).__name__]
        first, *others = map(self._argument, sympy.ordered(expr.args))
        return functools.reduce(form.format, others, first)

    def _print_Pi(self, expr: Expr) -> str:
        return self._language.functions["pi"]

    def _print_Exp1(self, expr: Expr) -> str:
        return self._language.functions["e"]

    def emptyPrinter(self, expr: Expr) -> str:
        raise self._language.refuse(WORDS.get(expr.func, "a part of it"))

    _print_Integral = _print_ImaginaryUnit = emptyPrinter


def outputs_at_start(p: Parameterization) -> list[Expr]:
    """Return F(w_0) in the symbols of the start, as it is typed."""
    start = {name: to_sympy(tree) for name, tree in p.start}
    outputs = map(to_sympy, p.trees)
    return [
        f.subs({s: start[s.name] for s in f.free_symbols if s.name in start}, simultaneous=True)
        for f in outputs
    ]
