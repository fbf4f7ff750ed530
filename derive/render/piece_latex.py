r"""Closed forms of Q as LaTeX, with what is said of them in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sympy

from derive.language import parse_expression, to_sympy
from derive.model.notation import Constant
from derive.potential.piece import Parametric, Piece, Quadrature, Root
from derive.render.formula import broken, display, latex, latex_name

FIXED = {
    "Q''": "Q''",
    "Hess Q": r"\nabla^2 Q",
    "g rho": r"g\,\rho",
    "beta_0": r"\beta_0",
    "beta_0 + t b": r"\beta_0 + t\, b",
    "y_i": "y_i",
    "dQ/dbeta_i": r"\partial Q/\partial\beta_i",
    "dq/ds": r"\mathrm{d}q/\mathrm{d}s",
    "w_0": "w_0",
    "w'": "w'",
    "grad F": r"\nabla F",
    "grad s": r"\nabla s",
    "|grad F|^2": r"\lvert \nabla F \rvert^2",
    "|grad s|^2": r"\lvert \nabla s \rvert^2",
    "K(b)": "K(b)",
    "psi(s)": r"\psi(s)",
    "phi^2": r"\varphi^2",
}
"""What stands in backticks in notes and domains and is no formula of the language."""


def piece_latex(piece: Piece, name: str) -> Iterator[str]:
    """Yield one closed form, called *name*."""
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
    if isinstance(piece, Quadrature) and piece.note:
        notes.append(prose(piece.note))
    if notes:
        yield f"with {' and '.join(notes)}."
    if piece.domain:
        yield f"Domain: {prose(piece.domain)}."
    if piece.assumptions:
        yield f"Assumed: {'; '.join(assumption(a) for a in piece.assumptions)}."


def prose(text: str) -> str:
    """Return words with the formulas in backticks set as mathematics."""
    return re.sub("`([^`]*)`", lambda m: f"${_relation(m[1])}$", text)


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
