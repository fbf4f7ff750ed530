"""Plain text: expressions, closed forms of Q, and lines that fit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from sympy import Expr, Integral, Poly, Symbol
from sympy.core.function import AppliedUndef
from sympy.printing.str import StrPrinter

from derive.potential.block import DirectionTerms
from derive.potential.piece import Parametric, Piece, Quadrature, Root, curve_of, said_of
from derive.records import Potential
from derive.render.arranged import TOO_LONG, in_number, is_too_long, positive_first, tidy
from derive.render.labels import mark, mark_quoted
from derive.render.sections import part_names, to_print
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


def potential_lines(potential: Potential) -> Iterator[str]:
    """Yield the lines on Q: of each block, or of the length and the direction of a vector."""
    if potential.turning is not None:
        yield from vector_lines(potential, potential.turning)
        return
    names = part_names(potential.pieces)
    if len(names) > 1:
        yield f"Q = {' + '.join(names)}"
    for piece, name in zip(potential.pieces, names, strict=True):
        yield from piece_lines(piece, name)


def piece_lines(piece: Piece, name: str) -> Iterator[str]:
    """Yield the lines of one closed form, called *name*; no slopes where the gradient is ()."""
    piece = to_print(piece)
    if (curve := curve_of(piece)) is not None:
        yield f"{piece.betas[0]} = {formula_text(curve.beta)}"
    yield f"{name} = {formula_text(piece.value)}"
    for b, g in zip(piece.betas, piece.gradient, strict=False):
        if not g.has(Integral):
            yield f"d{name}/d{b} = {formula_text(g)}"
    if isinstance(piece, Parametric):
        low, high = map(formula_text, piece.curve.interval)
        yield f"with {low} < {piece.curve.parameter} < {high}".replace("oo", "infinity")
    if isinstance(piece, Quadrature) and piece.kernel is not None:
        for K in piece.value.atoms(AppliedUndef):
            yield f"{formula_text(K)} = {formula_text(piece.kernel)}"
    for root in piece.roots:
        yield from root_lines(root)
    if isinstance(piece, Quadrature):
        yield from constant_lines(piece.abbreviations)
    yield from constant_lines(piece.constants)
    if note := said_of(piece):
        yield mark_quoted(note) if note.startswith("an integral") else f"with {mark_quoted(note)}"
    if piece.domain:
        yield f"domain: {mark_quoted(piece.domain.words)}"
    if piece.assumptions:
        yield f"assuming {mark('; '.join(c.written for c in piece.assumptions))}"


def root_lines(root: Root) -> Iterator[str]:
    """Yield the definition of a root."""
    if root.explicit is not None:
        yield f"{mark(root.symbol)} = {formula_text(root.explicit)}"
    else:
        yield f"{mark(root.symbol)} = {mark_quoted(root.branch)} of"
        yield f"  {formula_text(root.polynomial.as_expr())} = 0"


def constant_lines(constants: Iterable[tuple[object, Expr]]) -> Iterator[str]:
    """Yield a line for each named constant."""
    yield from (f"{mark(symbol)} = {formula_text(value)}" for symbol, value in constants)


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


def vector_lines(potential: Potential, turning: DirectionTerms) -> Iterator[str]:
    """Yield Q = q(s) + <z, beta> of a vector of open dimension, and its gradient."""
    (piece,) = potential.pieces
    (s,), b, slope = piece.betas, turning.direction.beta, piece.gradient[0]
    yield f"Q = {formula_text(piece.value + potential.linear)}"
    if not slope.has(Integral):
        linear = formula_text(-turning.slope * Symbol(turning.direction.start_vector, real=True))
        yield f"grad Q = q'({s}) {b}/{s} + z, z = {linear}"
    _, *rest = piece_lines(piece, "q")
    yield from (line.replace(f"dq/d{s} =", f"q'({s}) =") for line in rest)
    yield f"{s} = |{b}|"
