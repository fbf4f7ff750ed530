"""Conditions as they are printed."""

from collections.abc import Mapping
from fractions import Fraction

from derive.language import parse_expression, to_sympy
from derive.model.condition import Condition, Sign
from derive.potential.piece import Piece
from numerics.evaluate.numbers import exact


def texts(*pieces: Piece) -> tuple[str, ...]:
    """Return what the pieces of Q assume, as text."""
    return tuple(str(c) for piece in pieces for c in piece.assumptions)


def condition(text: str) -> Condition:
    """Return a condition such as "x > 0" or "x != 0"."""
    left, sign, _ = text.rsplit(" ", 2)
    return Condition(to_sympy(parse_expression(left)), Sign(f"{{}} {sign} 0"))


def holds(c: Condition, values: Mapping[str, Fraction]) -> bool:
    """Tell whether a condition on the start holds at numbers."""
    number = exact(c.of, values)
    return bool(number.is_positive if c.sign is Sign.POSITIVE else number.is_nonzero)
