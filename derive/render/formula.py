"""Formulas, names and closed forms of Q as LaTeX, on one line and on several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sympy
from sympy import Expr, Symbol
from sympy.printing.latex import LatexPrinter

from derive.language import parse_expression, to_sympy
from derive.language.tree import Tree
from derive.model.notation import Constant
from derive.potential.piece import Parametric, Piece, Quadrature, Root, said_of, trimmed
from derive.render.labels import MARK, OWN
from derive.render.plain import in_number, positive_first
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

    def doprint(self, expr: Expr) -> str:
        expr, self.names = in_number(expr)
        return str(super().doprint(expr))

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return latex_name(self.names.get(expr, expr).name)

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return positive_first(super()._as_ordered_terms(expr, order=order))


def latex(expression: Expr) -> str:
    """Return an expression as LaTeX."""
    settings = {"fold_short_frac": False, "root_notation": True, "ln_notation": False}
    written = _LatexForms(settings).doprint(expression)
    return written.replace(r"\operatorname{asinh}", r"\operatorname{arsinh}")


def latex_name(name: str) -> str:
    """Return a name for a page, marked as such."""
    return MARK + as_latex(name)


def as_latex(name: str) -> str:
    r"""Return a name with its digits and underscored parts as subscripts.

    >>> as_latex("u1_0"), as_latex("alpha"), as_latex("step")
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
    return len(re.sub(rf"\\(left|right|frac|begin|end)|\\[A-Za-z]+|[{{}}^_ {MARK}]", "", text))


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
    ordered, names = in_number(expression)
    parts = _LatexForms()._as_ordered_terms(ordered)
    first, *terms = (latex(term.xreplace(names)) for term in parts)
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


FIXED = {x: x for x in ("Q''", "y_i", "w_0", "w'", "K(b)")} | {
    "Hess Q": r"\nabla^2 Q",
    "g rho": r"g\,\rho",
    "beta_0": r"\beta_0",
    "beta_0 + t b": r"\beta_0 + t\, b",
    "dQ/dbeta_i": r"\partial Q/\partial\beta_i",
    "dq/ds": r"\mathrm{d}q/\mathrm{d}s",
    "grad F": r"\nabla F",
    "grad s": r"\nabla s",
    "|grad F|^2": r"\lvert \nabla F \rvert^2",
    "|grad s|^2": r"\lvert \nabla s \rvert^2",
    "psi(s)": r"\psi(s)",
    "phi^2": r"\varphi^2",
}
"""What stands in backticks in notes and domains and is no formula of the language."""


def piece_latex(piece: Piece, name: str) -> Iterator[str]:
    """Yield one closed form, called *name*."""
    piece = trimmed(piece)
    rows = [(name, broken(piece.value))]
    if isinstance(piece, Parametric):
        rows.insert(0, (latex(piece.betas[0]), broken(piece.curve.beta)))
    rows += [
        (rf"\frac{{\partial {name}}}{{\partial {latex(b)}}}", broken(g))
        for b, g in zip(piece.betas, piece.gradient, strict=True)
        if not g.has(sympy.Integral)
    ]
    constants = piece.constants
    if isinstance(piece, Quadrature):
        constants = (*piece.abbreviations, *constants)
        if piece.kernel is not None:
            rows.append(("K", broken(piece.kernel)))
    yield from display([*rows, *named_rows(piece.roots, constants)])
    yield from piece_notes(piece, piece.roots)


def named_rows(roots: Iterable[Root], constants: Iterable[Constant]) -> Iterator[tuple[str, str]]:
    """Yield the equations that define roots, where they have a formula, and constants."""
    explicit = ((r.symbol, r.explicit) for r in roots if r.explicit is not None)
    yield from ((latex(symbol), broken(value)) for symbol, value in (*explicit, *constants))


def piece_notes(piece: Piece, roots: Sequence[Root]) -> Iterator[str]:
    """Yield what is said of a closed form in words: its *roots*, domain and assumptions."""
    notes = [root_note(r) for r in roots if r.explicit is None]
    if isinstance(piece, Parametric):
        low, high = (latex(end) for end in piece.curve.interval)
        notes.append(f"${low} < {latex(piece.curve.parameter)} < {high}$")
    if said := said_of(piece):
        notes.append(prose(said))
    if notes:
        yield f"with {' and '.join(notes)}."
    if piece.domain:
        yield f"Domain: {prose(piece.domain.words)}."
    if piece.assumptions:
        yield f"Assumed: {'; '.join(assumption(a) for a in piece.assumptions)}."


def prose(text: str) -> str:
    """Return words with the formulas in backticks set as mathematics."""

    def set_(found: re.Match[str]) -> str:
        formula = _relation(found[1])
        return f"${formula.replace(MARK, '') if found[1] in OWN else formula}$"

    return re.sub("`([^`]*)`", set_, text)


def _relation(text: str) -> str:
    """Return equations and inequalities as LaTeX, side by side."""
    parts = re.split(r" (=|<|>) ", text)
    return " ".join(_side(part) if i % 2 == 0 else part for i, part in enumerate(parts))


def _side(text: str) -> str:
    """Return a formula, or what the language has no words for."""
    if text in FIXED:
        return FIXED[text]
    if moving := re.fullmatch(r"\((.*)\)'", text):
        return f"({', '.join(map(latex_name, moving[1].split(', ')))})'"
    return _formula(text)


def root_note(root: Root) -> str:
    """Return in words which root of its polynomial a symbol is."""
    return f"${latex(root.symbol)}$ {root.branch} of ${latex(root.polynomial)} = 0$"


def assumption(text: str) -> str:
    """Return an assumption with its formulas set as mathematics."""
    matched = re.fullmatch(
        r"(?P<what>.+?)(?P<sign> > 0| != 0| keeps its sign along the flow)"
        r"( \(automatic when (?P<when>.+) > 0 at the start\))?",
        text,
    )
    if matched is None:
        return text.replace("_", r"\_")
    what = _formula(matched["what"])
    signs = {" > 0": f"${what} > 0$", " != 0": rf"${what} \neq 0$"}
    sentence = signs.get(matched["sign"], f"${what}${matched['sign']}")
    if matched["when"]:
        sentence += f" (automatic when ${_formula(matched['when'])} > 0$ at the start)"
    return sentence


def _formula(text: str) -> str:
    return latex(to_sympy(parse_expression(text)))
