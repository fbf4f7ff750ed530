"""Expressions in other languages: one printer, and a table of what differs."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, Symbol, ordered
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from derive.errors import NumericalError

NAMES = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan", "Abs")

OFF_ZERO = "_off_zero"
"""A function of modules: next to nothing for 0."""


@dataclass(frozen=True)
class Language:
    """What differs from one language to the other.

    Attributes:
        title: what it is called.
        call: a function of one argument.
        functions: what functions are called there.
        power: one that is no root and has no integer for an exponent.
        chosen: what Min and Max of two are.
        constants: pi and e.
        integral: a definite integral; "" where there is none.
        reserved: names that are taken, to which *mark* is added.
        underscore: what stands for it in names.
    """

    title: str
    call: str
    functions: Mapping[str, str]
    power: str
    chosen: Mapping[str, str]
    constants: tuple[str, str]
    reserved: frozenset[str]
    mark: str
    underscore: str = "_"
    integral: str = ""
    integer: str = "{}**{}"

    def name(self, given: str) -> str:
        """Return a name that the language leaves free, others for others."""
        taken = given in self.reserved or (self.underscore != "_" and given[0].isupper())
        return given.replace("_", self.underscore) + self.mark * taken

    def shown(self, expression: Expr) -> str:
        """Return the text of an expression.

        Raises:
            NumericalError: it has a function that the language has not.
        """
        return str(_Printer(self).doprint(expression))


def _python(module: str, renamed: Mapping[str, str]) -> dict[str, str]:
    own = {name: name for name in NAMES} | {"Abs": "abs"} | dict(renamed)
    return {name: f"{module}.{theirs}" for name, theirs in own.items()} | {OFF_ZERO: OFF_ZERO}


def _array_library(title: str, module: str, renamed: Mapping[str, str]) -> Language:
    where = {"Min": f"{module}.where({{0}} < {{1}}, {{0}}, {{1}})"}
    where["Max"] = f"{module}.where({{0}} > {{1}}, {{0}}, {{1}})"
    words = {"beta", "jax", "jnp", "torch", "math", "abs", "Q", "gradient"}
    return Language(
        title,
        "{}({})",
        _python(module, renamed),
        "{}**{}",
        where,
        ("math.pi", "math.e"),
        frozenset({*words, *keyword.kwlist, *keyword.softkwlist}),
        "_",
    )


_WOLFRAM = {name: name.capitalize() for name in NAMES} | {"asinh": "ArcSinh", "atan": "ArcTan"}
_REAL = {name: f"Real.{name}" for name in NAMES} | {"asinh": "Real.arsinh", "atan": "Real.arctan"}
_LEAN_WORDS = (
    "Type Prop Sort at by calc class def do else end example extends finally for from fun have if "
    "import in infix instance let local macro match meta mut namespace notation of open partial "
    "postfix prefix private protected rec return section set show structure suffices syntax "
    "termination_by then theorem this try universe unless using variable where while with Real Q"
)

LANGUAGES = {
    "jax": _array_library("JAX", "jnp", {"asinh": "arcsinh", "atan": "arctan"}),
    "torch": _array_library("PyTorch", "torch", {}),
    "mathematica": Language(
        "Mathematica",
        "{}[{}]",
        _WOLFRAM,
        "{}^{}",
        {"Min": "Min[{}, {}]", "Max": "Max[{}, {}]"},
        ("Pi", "E"),
        frozenset({"gradient", "identities"}),
        "$",
        "$",
        "Integrate[{}, {{{}, {}, {}}}]",
        "{}^{}",
    ),
    "lean": Language(
        "Lean 4",
        "{} ({})",
        _REAL | {"Abs": "abs"},
        "{} ^ ({} : \u211d)",
        {"Min": "min ({}) ({})", "Max": "max ({}) ({})"},
        ("Real.pi", "Real.exp 1"),
        frozenset(_LEAN_WORDS.split()),
        "'",
        integer="{} ^ {}",
    ),
}


class _Printer(StrPrinter):  # type: ignore[misc]
    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._language.name(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Pow(self, expr: Expr, **_: object) -> str:
        language, (base, exponent) = self._language, expr.as_base_exp()
        if exponent.is_Rational and exponent.is_negative:
            return f"1/{self.parenthesize(base**-exponent, PRECEDENCE['Pow'])}"
        shown = self.parenthesize(base, PRECEDENCE["Pow"])
        if exponent.is_Integer:
            return language.integer.format(shown, exponent)
        if exponent.is_Rational and exponent.q == 2:
            root = language.call.format(language.functions["sqrt"], self._print(base))
            simple = PRECEDENCE["Atom"] if language.call == "{} ({})" else 0
            root = f"({root})" if simple and exponent.p != 1 else root
            return root if exponent.p == 1 else language.integer.format(root, exponent.p)
        return language.power.format(shown, self.parenthesize(exponent, PRECEDENCE["Atom"]))

    def _print_Function(self, expr: Expr) -> str:
        functions, name = self._language.functions, type(expr).__name__
        if name not in functions:
            raise NumericalError(f"{self._language.title} has no {name} here")
        return self._language.call.format(functions[name], self._print(expr.args[0]))

    _print_Abs = _print_Function

    def _print_LatticeOp(self, expr: Expr) -> str:
        form = self._language.chosen[type(expr).__name__]
        first, *others = (str(self._print(x)) for x in ordered(expr.args))
        return functools.reduce(form.format, others, first)

    def _print_Pi(self, expr: Expr) -> str:
        return self._language.constants[0]

    def _print_Exp1(self, expr: Expr) -> str:
        return self._language.constants[1]

    def _print_Integral(self, expr: Expr) -> str:
        if not self._language.integral or any(len(limit) != 3 for limit in expr.limits):
            raise NumericalError(f"Q has no {self._language.title} form: it is an integral")
        shown = str(self._print(expr.function))
        for limit in expr.limits:
            shown = self._language.integral.format(shown, *map(self._print, limit))
        return shown

    def emptyPrinter(self, expr: Expr) -> str:
        raise NumericalError(f"Q has no {self._language.title} form: {type(expr).__name__}")
