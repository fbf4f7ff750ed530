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
from derive.model.condition import Condition, Sign
from derive.potential.piece import Piece, start_signs
from derive.regimes.asymptotics import Expander
from derive.regimes.point import Point


def failing(
    pieces: Iterable[Piece], point: Point, symbols: Sequence[Symbol]
) -> Iterator[Condition]:
    """Yield the assumptions f > 0 of Q with f <= 0 at all starts near a limit."""
    start = {s.name: s for s in symbols}
    for said, written in (pair for piece in pieces for pair in start_signs(piece)):
        if written.sign is Sign.POSITIVE and written.names <= start.keys():
            f = written.of.xreplace({s: start[s.name] for s in written.of.free_symbols})
            if _is_positive(f, point) is False:
                yield said


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
