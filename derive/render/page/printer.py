"""Expressions and names as LaTeX on one line, as one writes them by hand."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from itertools import pairwise

import sympy
from sympy import Expr, Symbol
from sympy.printing.latex import LatexPrinter

from derive.render.arranged import (
    TOO_LONG,
    VARIES,
    arranged,
    as_written,
    in_number,
    is_too_long,
    positive_first,
    symbols_of,
    tidy,
)
from derive.render.text import MARK

CAPITALS = frozenset(
    ("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega")
)
GREEK = CAPITALS | frozenset(
    ("alpha", "beta", "epsilon", "zeta", "eta", "iota", "kappa", "mu", "nu", "rho", "tau", "chi")
)


def latex_name(name: str) -> str:
    """Return a name for a page, marked as such."""
    return MARK + as_latex(name)


def as_latex(name: str) -> str:
    r"""Return a name with its digits and underscored parts as subscripts, words upright.

    >>> as_latex("u1_0"), as_latex("alpha"), as_latex("u_plus"), as_latex("A_(b)")
    ('u_{1,0}', '\\alpha', 'u_{\\mathrm{plus}}', '\\tilde{A}(b)')
    """
    if name.endswith(")"):
        of, _, at = name[:-1].partition("(")
        return f"{as_latex(of)}({as_latex(at)})"
    if name.endswith("_"):
        letter, *index = as_latex(name[:-1]).partition("_")
        return rf"\tilde{{{letter}}}{''.join(index)}"
    if name.startswith("<"):
        return rf"\langle {', '.join(map(as_latex, name[1:-1].split(', ')))} \rangle"
    head, *rest = name.split("_")
    matched = re.fullmatch(r"([A-Za-z]+)(\d*)", head)
    letters, digits = matched.groups() if matched else (head, "")
    subscripts = [s for s in (digits, *rest) if s]
    if letters.lower() in GREEK:
        capital = letters[0].isupper() and letters.lower() in CAPITALS
        base = f"\\{letters.capitalize()}" if capital else f"\\{letters.lower()}"
    else:
        base = letters if len(letters) == 1 else f"\\mathrm{{{letters}}}"
    if not subscripts:
        return base
    words = [s if len(s) == 1 or s.isdigit() else f"\\mathrm{{{s}}}" for s in subscripts]
    return f"{base}_{{{','.join(words)}}}"


NAMED = {"asinh": "arsinh", "atan": "arctan", "atanh": "artanh", "sign": "sgn", "Li2": "Li_2"}
"""Functions that mathematicians call otherwise than SymPy does."""
COMMANDS = frozenset(("log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan"))


class _LatexForms(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX printer with this project's names, and fractions as one writes them by hand."""

    slashed = False
    """Whether fractions are written a/b, as in an exponent."""

    def doprint(self, expr: Expr) -> str:
        expr, self.names = in_number(expr)
        return str(super().doprint(as_written(arranged(expr))))

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return latex_name(self.names.get(expr, expr).name)

    def _print_Letter(self, expr: Symbol) -> str:
        return as_latex(expr.name)

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        text = ""
        for term in self._as_ordered_terms(expr, order=order):
            shown = self._print(term)
            minus = shown.startswith("-")
            if text:
                text += " - " if minus else " + "
            text += shown[1:].lstrip() if text and minus else shown
        return text

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        terms = super()._as_ordered_terms(expr, order=order)
        return positive_first(
            sorted(terms, key=lambda t: any("<" in s.name for s in symbols_of(t)))
        )

    def _print_Mul(self, expr: Expr) -> str:
        number, top, bottom = _fraction_of(expr)
        sign = "- " if number < 0 else ""
        whole = not bottom and number.q == 1
        above = self._product(abs(number.p), top)
        if whole:
            return sign + above
        below = self._beside_bar(number.q, bottom)
        if self.slashed:
            single = len(bottom) + (number.q > 1) == 1 and not any(f.is_Add for f in bottom)
            return f"{sign}{above}/{below if single else f'({below})'}"
        if not bottom and TALL.search(above):
            return rf"{sign}\tfrac{{{abs(number.p)}}}{{{number.q}}} {self._product(1, top)}"
        return rf"{sign}\frac{{{self._beside_bar(abs(number.p), top)}}}{{{below}}}"

    def _beside_bar(self, number: int, factors: Sequence[Expr]) -> str:
        """Return a product above or below a bar, where a sum alone is without brackets."""
        alone = number == 1 and len(factors) == 1
        return str(self._print(factors[0])) if alone else self._product(number, factors)

    def _product(self, number: int, factors: Sequence[Expr]) -> str:
        level = sympy.printing.precedence.PRECEDENCE["Mul"]
        *others, last = sorted(factors, key=_place) or [sympy.S.One]
        ends = isinstance(last, sympy.Integral)  # by what it is over, and needs no brackets
        shown = [self.parenthesize(f, level) for f in others]
        shown += [self._print(last) if ends else self.parenthesize(last, level)] * bool(factors)
        upright = [x.lstrip(MARK).startswith(r"\mathrm") for x in shown]
        spaces = (r"\, " * (a or b) for a, b in pairwise(upright))
        shown = [*shown[:1], *(space + x for space, x in zip(spaces, shown[1:], strict=True))]
        if number == 1 and shown:
            return " ".join(shown)
        after = r"\," if upright[:1] == [True] else ""
        parts = (rf"\cdot {x}" if x[0].isdigit() else x for x in shown)
        return " ".join(filter(None, (str(number), after, *parts)))

    def _print_Pow(self, expr: Expr) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_Rational and exponent.is_negative:
            return self._print_Mul(expr)
        if exponent.is_Rational and exponent.p == 1 and exponent.q < 10:
            index = "" if exponent.q == 2 else f"[{exponent.q}]"
            return rf"\sqrt{index}{{{self._print(base)}}}"
        if base is sympy.E:
            return self._print_exp(sympy.exp(exponent))
        inner = self.parenthesize(base, sympy.printing.precedence.PRECEDENCE["Pow"])
        if isinstance(base, sympy.Function) and not isinstance(base, sympy.Abs):
            head, name, argument = inner.partition(f"\\{base.func.__name__}")
            if not head and name[1:] in COMMANDS and exponent.is_Integer:
                return rf"{name}^{{{exponent}}}{argument}"
            inner = in_brackets(inner)
        return rf"{inner}^{{{self._in_exponent(exponent)}}}"

    def _in_exponent(self, expr: Expr) -> str:
        before, self.slashed = self.slashed, True
        try:
            return str(self._print(expr))
        finally:
            self.slashed = before

    def _print_Rational(self, expr: Expr) -> str:
        if expr.q == 1:
            return str(expr.p)
        sign = "- " if expr.p < 0 else ""
        shape = "{}/{}" if self.slashed else r"\frac{{{}}}{{{}}}"
        return sign + shape.format(abs(expr.p), expr.q)

    def _print_exp(self, expr: Expr, exp: str | None = None) -> str:
        written = self._in_exponent(expr.args[0])
        tall = len(written) > 40 or "^" in written
        whole = rf"\exp{in_brackets(self._print(expr.args[0]))}"
        return whole if tall else f"e^{{{written}}}"

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        if isinstance(expr, sympy.core.function.AppliedUndef):
            head = as_latex(expr.func.__name__)
        else:
            name = NAMED.get(expr.func.__name__, expr.func.__name__)
            name, *index = name.split("_")
            head = rf"\{name}" if name in COMMANDS else rf"\operatorname{{{name}}}"
            head += "".join(f"_{{{x}}}" for x in index)
        inside = ", ".join(self._print(x) for x in expr.args)
        return head + in_brackets(inside)

    def _print_Abs(self, expr: Expr, exp: str | None = None) -> str:
        inner = self._print(expr.args[0])
        size = (r"\left", r"\right") if TALL.search(inner) else ("", "")
        return rf"{size[0]}\lvert {inner} {size[1]}\rvert"

    def _print_log(self, expr: Expr, exp: str | None = None) -> str:
        absolute = isinstance(expr.args[0], sympy.Abs)
        return rf"\log{self._print(expr.args[0])}" if absolute else self._print_Function(expr)

    def _add_parens(self, s: str) -> str:
        return in_brackets(s)

    def _print_Integral(self, expr: Expr) -> str:
        (variable, *ends), *_ = expr.limits
        level = sympy.printing.precedence.PRECEDENCE["Mul"]
        bounds = r"\int" + "".join(
            f"{mark}{{{self._print(x)}}}" for mark, x in zip("_^", ends, strict=False)
        )
        over, (number, top, bottom) = (
            rf"\mathrm{{d}}{self._print(variable)}",
            _fraction_of(expr.function),
        )
        if bottom and not top and number.p == 1 and not self.slashed:
            return rf"{bounds} \frac{{{over}}}{{{self._beside_bar(number.q, bottom)}}}"
        inner = self.parenthesize(expr.function, level, strict=True)
        return rf"{bounds} {inner} \,{over}"

    def _print_ComplexRootOf(self, expr: Expr) -> str:
        # Real roots are counted from below, before all others.
        return rf"\operatorname{{root}}_{{{expr.index + 1}}}\left({self._print(expr.expr)}\right)"


TALL = re.compile(r"\\(frac|int|left|sqrt\{[^{}]*\\frac)")
"""What brackets have to grow for."""


def in_brackets(inner: str) -> str:
    """Return LaTeX in round brackets, of their size."""
    if TALL.search(inner):
        return rf"\left({inner}\right)"
    return rf"\bigl({inner}\bigr)" if "(" in inner else f"({inner})"


def _place(factor: Expr) -> tuple[bool, ...]:
    """Sort constants first, open powers last; then what varies, calls, square roots, integrals."""
    exponent = factor.exp if factor.is_Pow else sympy.S.One
    root = exponent == sympy.S.Half and not factor.is_number
    varies = any(VARIES.fullmatch(s.name) for s in symbols_of(factor))
    integral = isinstance(factor, sympy.Integral)
    return integral, bool(root), bool(factor.is_Function), varies, not exponent.is_number


def _fraction_of(expr: Expr) -> tuple[sympy.Rational, list[Expr], list[Expr]]:
    """Return a number and the factors above and below the line."""
    number, top, bottom = sympy.S.One, list[Expr](), list[Expr]()
    for factor in sympy.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational:
            number *= factor
        elif exponent.is_Rational and exponent.is_negative:
            bottom.append(sympy.Pow(base, -exponent, evaluate=False) if exponent != -1 else base)
        else:
            top.append(factor)
    above, below = (list(sympy.Mul(*x, evaluate=False).as_ordered_factors()) for x in (top, bottom))
    return number, above if top else [], below if bottom else []


OMITTED = rf"\text{{[{TOO_LONG}]}}"


class _SlashedForms(_LatexForms):
    """The same with fractions a/b."""

    slashed = True


@functools.lru_cache(4096)
def _written(forms: type[_LatexForms], expression: Expr) -> str:
    return OMITTED if is_too_long(expression) else str(forms().doprint(tidy(expression)))


latex = functools.partial(_written, _LatexForms)
"""Return an expression as LaTeX."""
inline = functools.partial(_written, _SlashedForms)
"""Return an expression for a line of words, with fractions a/b."""


def bracketed(expression: Expr) -> str:
    """Return a factor of a product as LaTeX, a sum in brackets."""
    shown = latex(expression)
    return in_brackets(shown) if arranged(expression).is_Add else shown
