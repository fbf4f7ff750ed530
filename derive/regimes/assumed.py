"""Which assumptions of Q fail near a limit of the start: there Q is another, and no limit of it.

A limit is claimed along starts at which Q is Q. The sign near the limit of a function f of the
start, of which Q assumes f > 0, is that of the leading term of its expansion; where that is not
decided, the assumption stands beside the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from sympy import Expr, Symbol

from derive.exact.elementary_signs import Undecided
from derive.language import names, parse_expression, to_sympy
from derive.potential.piece import Piece, written_out
from derive.regimes.asymptotics import Expander
from derive.regimes.point import Point

POSITIVE = " > 0"


def failing(pieces: Iterable[Piece], point: Point, symbols: Sequence[Symbol]) -> Iterator[str]:
    """Yield the assumptions f > 0 of Q with f <= 0 at all starts near a limit."""
    start = {s.name: s for s in symbols}
    for piece in pieces:
        known = start | {s.name: s for s, _ in piece.constants}
        for text in piece.assumptions:
            if not text.endswith(POSITIVE):
                continue
            tree = parse_expression(text.removesuffix(POSITIVE).replace("Abs(", "abs("))
            if {*names((tree,))} <= known.keys():
                f = written_out(to_sympy(tree, known), (), piece.constants)
                if _is_positive(f, point) is False:
                    yield text


def _is_positive(f: Expr, point: Point) -> bool | None:
    """Decide whether f > 0 near a limit; None where that is open, or f is free of its symbol."""
    if all(s.name != point.variable for s in f.free_symbols):
        return None
    e = Symbol("e_", positive=True)
    decide = point.decisions(s.name for s in f.free_symbols if s.is_positive)
    try:
        found = Expander(e, decide, Fraction(1)).expand(point.near(f, e))
        if found.is_zero:
            return False
        r, k = found.leading
        return bool(decide.sign(found.terms[r, k]) * (-1) ** k > 0)
    except Undecided:
        return None
