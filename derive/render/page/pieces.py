"""Closed forms of Q as LaTeX: the names in a form, and the form."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol
from sympy.core.function import AppliedUndef

from derive.potential.piece import Parametric, Piece, Quadrature
from derive.render.page.blocks import Element
from derive.render.page.formula import prose, root_note
from derive.render.page.lines import Row, display, vanishing
from derive.render.page.printer import latex
from derive.render.sections import printed


def piece_latex(piece: Piece, name: str, label: str = "") -> Iterator[Element]:
    """Yield the names in one form, and the form, called *name*."""
    piece = printed(piece)
    named: list[Row] = [(latex(symbol), value) for symbol, value in piece.constants]
    if isinstance(piece, Quadrature):
        named += [(latex(symbol), value) for symbol, value in piece.abbreviations]
    named += [(latex(r.symbol), r.explicit) for r in piece.roots if r.explicit is not None]
    if named:
        yield "Put"
        yield from display(named)
    open_ = [r for r in piece.roots if r.explicit is None]
    for root in open_:
        yield f"Let {root_note(root)}"
        yield from vanishing(root.polynomial.as_expr())
    if isinstance(piece, Parametric):
        low, high = (latex(end) for end in piece.curve.interval)
        z = latex(piece.curve.parameter)
        yield rf"For ${low} < {z} < {high}$, where ${latex(piece.betas[0])}$ is monotone, put"
    else:
        yield "and put" if open_ else "and" if named else "Put"
    yield from display([*_equations(piece, name)], label)
    if isinstance(piece, Quadrature) and piece.note:
        yield f"with {prose(piece.note)}."


def _equations(piece: Piece, name: str) -> Iterator[Row]:
    """Yield the equation of Q, and what its letters mean that have no line above."""
    beta = piece.betas[0] if len(piece.betas) == 1 else Symbol("beta")
    if isinstance(piece, Parametric):
        yield latex(beta), piece.curve.beta
    yield f"{name}({latex(beta)})" if name != "Q" else r"Q(\beta)", piece.value
    if isinstance(piece, Quadrature) and piece.kernel is not None:
        yield from ((latex(K), piece.kernel) for K in piece.value.atoms(AppliedUndef))
