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
    """What differs from one library to the other.

    Attributes:
        title: what it is called.
        functions: what functions are called there.
        chosen: what Min and Max of two are.
        reserved: names that are taken, to which "_" is added.
        imports: the lines that load it.
        calls: what differs in the functions that modules bring along, "xp" being its name.
        power, mapping: how x**n is written, and a function of a name.
    """

    title: str
    functions: Mapping[str, str]
    chosen: Mapping[str, str]
    reserved: frozenset[str]
    imports: str
    calls: Mapping[str, str]
    power: str = "{}**{}"
    mapping: str = "lambda {}: {}"

    def name(self, given: str) -> str:
        """Return a name that the language leaves free, others for others."""
        return given + "_" * (given in self.reserved)

    def shown(self, expression: Expr) -> str:
        """Return the text of an expression.

        Raises:
            NumericalError: it has a function that the language has not.
        """
        return str(_Printer(self).doprint(expression))


def _array_library(
    title: str, module: str, imports: str, renamed: Mapping[str, str], calls: Mapping[str, str]
) -> Language:
    own = {name: name for name in NAMES} | {"Abs": "abs"} | dict(renamed)
    helpers = {OFF_ZERO: OFF_ZERO, "tangent": "_tangent", "pi": "math.pi", "e": "math.e"}
    # What has a place of its own is not in the module.
    whole = {name: x for name, x in own.items() if "." in x or x.startswith("_")}
    functions = {name: f"{module}.{theirs}" for name, theirs in own.items()} | whole
    where = {"Min": f"{module}.where({{0}} < {{1}}, {{0}}, {{1}})"}
    where["Max"] = f"{module}.where({{0}} > {{1}}, {{0}}, {{1}})"
    words = {"beta", "special", "jax", "jnp", "torch", "np", "math", "abs", "Q", "gradient"}
    words |= {"y", "b", "b0", "hessian", "vector"} if module == "np" else set()
    reserved = frozenset({*words, *keyword.kwlist, *keyword.softkwlist})
    usual = {"xp": module, "array": f"{module}.asarray", "sorted": f"{module}.sort(real)"}
    return Language(title, functions | helpers, where, reserved, imports, usual | dict(calls))


ARCS = {"asinh": "arcsinh", "atan": "arctan"}
NAMED = {"erf": "special.erf", "Ei": "special.expi", "Li2": "_dilogarithm"}
"""As JAX and SciPy have the functions of :mod:`derive.exact.named_integrals`; JAX has no erfi."""
JAX_LINES = "import jax\nimport jax.numpy as jnp"
OF_JAX = {"fixed": "jax.lax.stop_gradient(x)", "special": "from jax.scipy import special"}
OF_NUMPY = {"fixed": "x", "special": "from scipy import special"}
OF_TORCH = {"array": "torch.as_tensor", "fixed": "x.detach()", "sorted": "torch.sort(real)[0]"}
JAX = _array_library("JAX", "jnp", JAX_LINES, ARCS | NAMED, OF_JAX)
SCIPY = ARCS | NAMED | {"erfi": "special.erfi"}
NUMPY = _array_library("NumPy", "np", "import numpy as np", SCIPY, OF_NUMPY)
TORCH = _array_library("PyTorch", "torch", "import torch", {"erf": "torch.special.erf"}, OF_TORCH)
_WORDS = """await break case catch class const continue debugger default delete do else enum export
extends false finally for function if implements import in instanceof interface let new null package
private protected public return static super switch this throw true try typeof var void while with
yield eval arguments undefined NaN Infinity Math Number Array Object w c beta covector value
model start F J K Q g raise gradient hessian inside conditions along constants laws d3"""
JAVASCRIPT = Language(
    "JavaScript",
    {name: f"Math.{name}" for name in NAMES}
    | {
        "Abs": "Math.abs",
        OFF_ZERO: OFF_ZERO,
        "tangent": "_tangent",
        "erfi": "_erfi",
        "pi": "Math.PI",
        "e": "Math.E",
    },
    {"Min": "Math.min({0}, {1})", "Max": "Math.max({0}, {1})"},
    frozenset(_WORDS.split()),
    "",
    {"xp": "Math"},
    power="Math.pow({}, {})",  # as -x**2 is no expression there
    mapping="({}) => {}",
)


class _Printer(StrPrinter):  # type: ignore[misc]
    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._language.name(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Pow(self, expr: Expr, **_: object) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_Rational and exponent.is_negative:
            return f"1/{self.parenthesize(base**-exponent, PRECEDENCE['Pow'])}"
        shown = self.parenthesize(base, PRECEDENCE["Pow"])
        if exponent.is_Rational and exponent.q == 2:
            root = f"{self._language.functions['sqrt']}({self._print(base)})"
            return root if exponent.p == 1 else self._language.power.format(root, exponent.p)
        if exponent.is_Integer:
            return self._language.power.format(shown, exponent)
        return self._language.power.format(shown, self.parenthesize(exponent, PRECEDENCE["Atom"]))

    def _print_Function(self, expr: Expr) -> str:
        functions, name = self._language.functions, type(expr).__name__
        if name not in functions:
            raise NumericalError(f"Q has no {self._language.title} form: {name} is not known there")
        return f"{functions[name]}({self._print(expr.args[0])})"

    _print_Abs = _print_Function

    def _print_LatticeOp(self, expr: Expr) -> str:
        form = self._language.chosen[type(expr).__name__]
        first, *others = (str(self._print(x)) for x in ordered(expr.args))
        return functools.reduce(form.format, others, first)

    def _print_Pi(self, expr: Expr) -> str:
        return self._language.functions["pi"]

    def _print_Exp1(self, expr: Expr) -> str:
        return self._language.functions["e"]

    def _print_Integral(self, expr: Expr) -> str:
        raise NumericalError(f"Q has no {self._language.title} form: it is an integral")

    def emptyPrinter(self, expr: Expr) -> str:
        raise NumericalError(f"Q has no {self._language.title} form: {type(expr).__name__}")
