"""Conditions: the signs at the start, along the flow and at its end that Q is derived for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import in_words, of_one_sign, with_squares


class Sign(StrEnum):
    """What is asked of a function, which stands in the braces."""

    POSITIVE = "{} > 0"
    NONZERO = "{} != 0"
    KEPT = "{} keeps its sign along the flow"
    ENDS_POSITIVE = "{} > 0 at the limit of the flow"
    SIMPLE = "no two real roots of the polynomial of {} meet along the flow"


AT_START = (Sign.POSITIVE, Sign.NONZERO)
"""What the start alone decides."""


@dataclass(frozen=True)
class Condition:
    """What is asked of one function.

    Attributes:
        of: of start symbols and named constants; for what is so along the flow, of the weights;
            of a simple root, the symbol of the root.
        guards: functions of the weights; at a start where one is positive the condition holds.
    """

    of: Expr
    sign: Sign = Sign.POSITIVE
    guards: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        """Compare functions by names, whatever is known of the symbols."""
        plain = {s: Symbol(s.name, real=True) for s in self.of.free_symbols}
        object.__setattr__(self, "of", of_one_sign(with_squares(self.of.xreplace(plain))))

    def __str__(self) -> str:
        said = self.sign.format(in_words(self.of))
        options = map(_inequality, self.guards)
        when = " or ".join(options)
        return f"{said} (automatic when {when} at the start)" if when else said

    @property
    def written(self) -> str:
        """The condition as one would write it: b**2 > a**2 + c**2 for b**2 - a**2 - c**2 > 0."""
        return _inequality(self.of) if self.sign is Sign.POSITIVE else str(self)

    def within(self, constants: Sequence[tuple[Symbol, Expr]]) -> Condition:
        """Return it with the values of named constants, which may use earlier ones."""
        of = self.of
        for symbol, value in reversed(constants):
            of = of.xreplace({s: value for s in of.free_symbols if s.name == symbol.name})
        return replace(self, of=of)

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(s.name for s in self.of.free_symbols)


def _inequality(f: Expr) -> str:
    left, relation, right = compared(f)
    return f"{in_words(left)} {relation} {in_words(right)}"


def compared(guard: Expr) -> tuple[Expr, str, Expr]:
    """Return f > 0 without signs, as (a**2, ">", b**2 + c**2) of f = a**2 - b**2 - c**2.

    A quotient has the sign of the product, and a number stands on the right.

    >>> a, b = map(Symbol, "ab")
    >>> compared((1 - a) / (1 + a))
    (a**2, '<', 1)
    """
    above, below = sympy.fraction(guard)
    guard = guard if below.is_number or below.has(sympy.exp) else sympy.expand(above * below)
    terms = sympy.Add.make_args(guard)
    less = [t for t in terms if t.could_extract_minus_sign()]
    above, below = sympy.Add(*(t for t in terms if t not in less)), -sympy.Add(*less)
    return (above, ">", below) if above and not above.is_number else (below, "<", above)
