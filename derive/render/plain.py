"""Plain text: expressions, closed forms of Q, and lines that fit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from sympy import Expr, Poly, Symbol
from sympy.printing.str import StrPrinter

from derive.render.arranged import TOO_LONG, in_number, is_too_long, positive_first, tidy
from derive.render.labels import mark
from derive.verdict import Number


class _PlainForms(StrPrinter):  # type: ignore[misc]
    """SymPy's plain printer with integrals in words."""

    def doprint(self, expr: Expr) -> str:
        expr, self.names = in_number(expr)
        return str(super().doprint(expr))

    def _print_Symbol(self, expr: Symbol) -> str:
        return str(self.names.get(expr, expr).name)

    def _print_Exp1(self, expr: Expr) -> str:
        return "exp(1)"

    def _print_Integral(self, expr: Expr) -> str:
        (variable, *ends), *_ = expr.limits
        bounds = f"{variable}{' = ' * bool(ends)}{' .. '.join(map(self._print, ends))}"
        return f"Integral({self._print(expr.function)}, {bounds})"

    def _print_Sum(self, expr: Expr, name: str = "sum") -> str:
        (index, _, most), *_ = expr.limits
        over = "" if most.is_Symbol else f", {index} < {self._print(most + 1)}"
        return f"{name}({self._print(expr.function)}{over})"

    def _print_Product(self, expr: Expr) -> str:
        return self._print_Sum(expr, "prod")

    def _print_Derivative(self, expr: Expr) -> str:
        return f"{expr.expr.func}'({self._print(expr.variables[0])})"

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return positive_first(super()._as_ordered_terms(expr, order=order))


class _MarkedForms(_PlainForms):
    """The same, with names as they stand on a page."""

    def _print_Symbol(self, expr: Symbol) -> str:
        return mark(super()._print_Symbol(expr))

    def _print_Infinity(self, expr: Expr) -> str:
        return "infinity"

    def _print_NegativeInfinity(self, expr: Expr) -> str:
        return "-infinity"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_ComplexRootOf(self, expr: Expr) -> str:
        # Real roots are counted from below, before all others.
        return f"[real root {expr.index + 1}, counted from below, of {self._print(expr.expr)}]"


def plain(expression: Expr) -> str:
    """Return an expression in the language that the command line reads, where it has words."""
    return _PlainForms().doprint(expression)


def formula_text(expression: Expr) -> str:
    """Return the same for a page, with the names in it marked as such, unless it is too long."""
    if is_too_long(expression):
        return f"[{TOO_LONG}]"
    return _MarkedForms().doprint(tidy(expression))


def polynomial_text(polynomial: Poly) -> str:
    """Return a polynomial in one name with its powers in descending order."""
    text = ""
    for (power,), coefficient in polynomial.terms():
        sign = "-" if coefficient.could_extract_minus_sign() else "+"
        factor = formula_text(-coefficient if sign == "-" else coefficient)
        monomial = plain(polynomial.gen**power)
        if coefficient.is_Add and (power or sign == "-"):
            factor = f"({factor})"
        term = factor if not power else monomial if factor == "1" else f"{factor}*{monomial}"
        text += f" {sign} {term}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[1] == "-" else text[3:]


SENTENCE = re.compile(r"[,;] [\w(]+ [a-z]")
"""What no formula has."""


def wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, continuation lines indented below the first equals sign.

    >>> wrap("  Q = aaaa + bbbb", 12)
    ['  Q = aaaa +', '      bbbb']
    """
    if len(line) <= width:
        return [line]
    lead = len(line) - len(line.lstrip())
    equals = line.find(" = ")
    indent = equals + 3 if 0 < equals < width // 3 and not SENTENCE.search(line) else lead + 2
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def at(point: Iterable[tuple[str, Number]]) -> str:
    """Return ``a = 1, b = 2`` for a point."""
    return ", ".join(f"{mark(name)} = {value}" for name, value in point)
