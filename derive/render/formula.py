"""Formulas and names as LaTeX, on one line and on several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sympy
from sympy import Expr, Symbol
from sympy.printing.latex import LatexPrinter

from derive.language import to_sympy
from derive.language.tree import Tree
from derive.render.plain import positive_first
from derive.verdict import Number

LONG = 70
"""Visible characters after which a sum goes on several lines."""

CAPITALS = frozenset(
    ("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega")
)
GREEK = CAPITALS | frozenset(
    ("alpha", "beta", "epsilon", "zeta", "eta", "iota", "kappa", "mu", "nu", "rho", "tau", "chi")
)


class _LatexForms(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX printer with this project's names, positive terms first."""

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return latex_name(expr.name)

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return positive_first(super()._as_ordered_terms(expr, order=order))


def latex(expression: Expr) -> str:
    """Return an expression as LaTeX."""
    settings = {"fold_short_frac": False, "root_notation": True, "ln_notation": False}
    return str(_LatexForms(settings).doprint(expression)).replace(
        r"\operatorname{asinh}", r"\operatorname{arsinh}"
    )


def latex_name(name: str) -> str:
    r"""Return a name with its digits and underscored parts as subscripts.

    >>> latex_name("u1_0"), latex_name("alpha"), latex_name("step")
    ('u_{1,0}', '\\alpha', '\\mathit{step}')
    """
    head, *rest = name.split("_")
    matched = re.fullmatch(r"([A-Za-z]+)(\d*)", head)
    letters, digits = matched.groups() if matched else (head, "")
    subscripts = [s for s in (digits, *rest) if s]
    if letters.lower() in GREEK:
        capital = letters[0].isupper() and letters.lower() in CAPITALS
        base = f"\\{letters.capitalize()}" if capital else f"\\{letters.lower()}"
    elif len(letters) == 1:
        base = letters
    else:
        base = f"\\mathit{{{letters}}}"
    if not subscripts:
        return base
    words = [s if len(s) == 1 or s.isdigit() else f"\\mathit{{{s}}}" for s in subscripts]
    return f"{base}_{{{','.join(words)}}}"


def visible(text: str) -> int:
    """Return about how many characters wide LaTeX is when set: commands and braces are not."""
    return len(re.sub(r"\\(left|right|frac|begin|end)|\\[A-Za-z]+|[{}^_ ]", "", text))


def fraction(value: Number) -> str:
    """Return an exact number, or leading decimal digits, as LaTeX."""
    if isinstance(value, str):
        return rf"{value}\ldots"
    return latex(sympy.Rational(value.numerator, value.denominator))


def display(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield an align* environment of equations left = right."""
    if not rows:
        return
    yield r"\begin{align*}"
    yield " \\\\\n".join(f"  {left} &= {right}" for left, right in rows)
    yield r"\end{align*}"


def broken(expression: Expr) -> str:
    """Return LaTeX with long sums broken into lines of an aligned block."""
    whole = latex(expression)
    if visible(whole) <= LONG or not expression.is_Add:
        return whole
    first, *terms = (latex(term) for term in _LatexForms()._as_ordered_terms(expression))
    signed = (t if t.startswith("-") else f"+ {t}" for t in terms)
    inner = r" \\ &\quad ".join(on_lines([first, *signed], LONG))
    return rf"\begin{{aligned}}[t] & {inner} \end{{aligned}}"


def on_lines(terms: Iterable[str], width: int) -> list[str]:
    """Return terms with their signs joined to lines of at most a visible width."""
    lines: list[str] = []
    for term in terms:
        if lines and visible(lines[-1] + term) <= width:
            lines[-1] += f" {term}"
        else:
            lines.append(term)
    return lines


def at_start(start: Iterable[tuple[str, Tree]]) -> str:
    """Return the values of weights at the start."""
    return ", ".join(f"{latex_name(w)}(0) = {latex(to_sympy(tree))}" for w, tree in start)


def document(body: str) -> str:
    """Return a document around a snippet."""
    head = r"""\documentclass{article}
\usepackage{amsmath,amssymb}
\usepackage[margin=2.5cm]{geometry}
\allowdisplaybreaks
\begin{document}"""
    return f"{head}\n{body}\n\\end{{document}}"
