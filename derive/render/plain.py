"""Expressions and closed forms of Q as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sympy import Expr, Integral
from sympy.printing.str import StrPrinter

from derive.potential.piece import Parametric, Piece, Quadrature, Root


class _Printer(StrPrinter):  # type: ignore[misc]
    """SymPy's plain printer with integrals in words."""

    def _print_Integral(self, expr: Expr) -> str:
        (variable, low, high), *_ = expr.limits
        bounds = f"{variable} = {self._print(low)} .. {self._print(high)}"
        return f"Integral({self._print(expr.function)}, {bounds})"

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return positive_first(super()._as_ordered_terms(expr, order=order))


def positive_first(terms: Sequence[Expr]) -> list[Expr]:
    """Start a sum with its first term that has no minus sign."""
    first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
    rest = list(terms)
    rest.remove(first)
    return [first, *rest]


def plain(expression: Expr) -> str:
    """Return an expression in the language that the command line reads, where it has words."""
    return str(_Printer().doprint(expression))


def unmarked(text: str) -> str:
    """Return words without the backticks around their formulas."""
    return text.replace("`", "")


def piece_lines(piece: Piece, name: str) -> Iterator[str]:
    """Yield the lines of one closed form, called *name*."""
    if isinstance(piece, Parametric):
        yield f"{piece.betas[0]} = {plain(piece.curve.beta)}"
    yield f"{name} = {plain(piece.value)}"
    for b, g in zip(piece.betas, piece.gradient, strict=True):
        if not g.has(Integral):
            yield f"d{name}/d{b} = {plain(g)}"
    if isinstance(piece, Parametric):
        low, high = map(plain, piece.curve.interval)
        yield f"with {low} < {piece.curve.parameter} < {high}".replace("oo", "infinity")
    if isinstance(piece, Quadrature) and piece.kernel is not None:
        yield f"K = {plain(piece.kernel)}"
    for root in piece.roots:
        yield from root_lines(root)
    if isinstance(piece, Quadrature):
        yield from constant_lines(piece.abbreviations)
    yield from constant_lines(piece.constants)
    if isinstance(piece, Quadrature) and piece.note:
        yield f"with {unmarked(piece.note)}"
    if piece.domain:
        yield f"domain: {unmarked(piece.domain)}"
    if piece.assumptions:
        yield f"assuming {'; '.join(piece.assumptions)}"


def root_lines(root: Root) -> Iterator[str]:
    """Yield the definition of a root."""
    if root.explicit is not None:
        yield f"{root.symbol} = {plain(root.explicit)}"
    else:
        yield f"{root.symbol} = {root.branch} of"
        yield f"  {plain(root.polynomial.as_expr())} = 0"


def constant_lines(constants: Iterable[tuple[object, Expr]]) -> Iterator[str]:
    """Yield a line for each named constant."""
    yield from (f"{symbol} = {plain(value)}" for symbol, value in constants)
