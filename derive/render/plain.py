"""Plain text: expressions, lines that fit, and our letters and a user's names on one page.

A name that comes from F carries a mark while a page is made. What carries none is ours, and is
altered, in all of the page, where F has the name; then the marks are taken away.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence, Set

from sympy import Expr, Poly, Symbol
from sympy.printing.str import StrPrinter

from derive.model.labels import LABEL, MEANING, WORD, aside, each_label, stem_of
from derive.render.arranged import (
    TOO_LONG,
    as_written,
    in_number,
    is_too_long,
    positive_first,
    tidy,
)
from derive.verdict import Number

MARK = "\ue000"
"""What stands before a name from F: of the characters without a meaning, in no text of ours."""

FORMULA = re.compile(r"`([^`]*)`|\$([^$]*)\$")
"""In a sentence a formula with a user's names, in backticks, or one of ours, between dollars."""


def mark(text: object) -> str:
    """Return a formula of the user with its names marked, and moduli as they are typed."""
    return each_label(str(text).replace("Abs(", "abs("), lambda name: MARK + name)


def mark_quoted(statement: str) -> str:
    """Return a sentence of ours, in which a user's names are in backticks, with these marked."""
    return FORMULA.sub(lambda m: m[2] or mark(m[1]), statement)


def unmark(text: str) -> str:
    """Return words without marks and without the backticks around their formulas."""
    return re.sub(f"[`${MARK}]", "", text)


def step_aside(blocks: Sequence[Sequence[str]], taken: Set[str]) -> list[list[str]]:
    """Return the lines of a page with our letters altered where F has them, and a word on it."""
    altered: dict[str, str] = {}

    def ours(found: re.Match[str]) -> str:
        label = found[0]
        if not LABEL.fullmatch(label):
            return label
        new = aside(label, taken)
        if new != label:
            stem = stem_of(label, taken)
            altered[stem] = aside(stem, taken)
        return new

    own = re.compile(f"(?<!{MARK}){WORD.pattern}")
    pages = [[own.sub(ours, line).replace(MARK, "") for line in lines] for lines in blocks]
    # What has another of our letters as its stem goes with it.
    stems = {x for stem in altered for x in (f"d{stem}", f"{stem}_0", f"{stem}_i")}
    names = (
        f"{label}{f' ({MEANING[label]})' if label in MEANING else ''} is written {new}"
        for label, new in altered.items()
        if label not in stems
    )
    words = f"Our letters make way for the names given: {', '.join(names)}"
    return [*pages, *[[words]] * bool(altered)]


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
    """The same, with names and functions as they stand on a page."""

    def doprint(self, expr: Expr) -> str:
        return super().doprint(as_written(expr))

    def _print_Symbol(self, expr: Symbol) -> str:
        return mark(super()._print_Symbol(expr))

    def _print_Letter(self, expr: Symbol) -> str:
        return str(expr.name)

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
        c = tidy(coefficient)
        minus = c.as_coeff_Mul()[0] < 0 if c.is_Mul else c.could_extract_minus_sign()
        sign, c = ("-", -c) if minus else ("+", c)
        factor = formula_text(c)
        monomial = plain(polynomial.gen**power)
        if c.is_Add and (power or minus):
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
