"""A limit of Q: where a start symbol tends to, and what Q tends to there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.language import parse_expression, to_sympy
from derive.regimes.asymptotics import Growth
from derive.regimes.limiting_potential import LimitingPotential
from derive.verdict import Finding, Verdict

Side: TypeAlias = Literal["0", "oo", "below", "above"]
Regime: TypeAlias = Literal["rich", "kernel", "anti-NTK", "intermediate", "unknown"]


@dataclass(frozen=True)
class Point:
    """Where a start symbol tends to: 0+, infinity, or a number from one side."""

    variable: str
    value: Expr
    side: Side

    @property
    def text(self) -> str:
        """Such as ``alpha -> 0+``."""
        mark = {"0": "0+", "oo": "infinity", "below": f"{self.value}-", "above": f"{self.value}+"}
        return f"{self.variable} -> {mark[self.side]}"

    def image(self, small: Expr) -> Expr:
        """Return the symbol in terms of a small e > 0."""
        side = {"0": small, "oo": 1 / small, "below": self.value - small}
        return side.get(self.side, self.value + small)

    def near(self, expression: Expr, small: Expr) -> Expr:
        """Return an expression with the symbol in terms of a small e > 0."""
        image = {s: self.image(small) for s in expression.free_symbols if s.name == self.variable}
        return sympy.powdenest(expression.xreplace(image))

    @property
    def small(self) -> Expr:
        """Return e in terms of the symbol."""
        symbol = Symbol(self.variable, positive=True)
        return symbol - self.value if self.side == "above" else self.image(symbol)


def read_point(variable: str, text: object) -> Point:
    """Read a limit: 0, oo, or a number with - or + behind it.

    >>> read_point("s", "1-").text
    's -> 1-'

    Raises:
        InputError: it is none of these.
    """
    written = str(text).strip()
    if written in ("0", "0+"):
        return Point(variable, sympy.S.Zero, "0")
    if written in ("oo", "inf", "infinity"):
        return Point(variable, sympy.S.Infinity, "oo")
    try:
        value = to_sympy(parse_expression(written[:-1]))
    except LanguageError:
        value = None
    if value is None or not value.is_Rational or written[-1] not in "+-":
        raise InputError(
            f"the limit {written!r} is not read: give 0, oo, or a number and a side, such as 1-"
        )
    return Point(variable, value, "below" if written[-1] == "-" else "above")


@dataclass(frozen=True)
class Limit:
    """What Q tends to.

    Attributes:
        point: where the start symbol tends to.
        finding: PROVED with what it rests on, or UNDECIDED with the reason.
        regime: kernel, where the limit is the squared norm of the tangent kernel at the start;
            rich, where it is an l1 norm; anti-NTK, where it is an increasing function of the l2
            norm and not quadratic; intermediate otherwise; unknown where nothing was decided.
        coordinates: the arguments x of the limit: beta = origin + basis x.
        origin: None, or beta_0 = F(w_0) where it is the distance from it that is fixed.
        unit: N in Q/N -> limit; where it depends on |beta|, grad Q/N -> gradient of the limit.
        potential: the limit, in the coordinates.
        below: its gradient for beta < 0, where signs matter.
        error: the relative error of the gradient is of this order; None where that was not found.
        sharp: whether it is no better than that.
        basis: None for the standard one.
    """

    point: Point
    finding: Finding
    regime: Regime = "unknown"
    coordinates: tuple[Symbol, ...] = ()
    origin: tuple[Expr, ...] | None = None
    unit: Expr | None = None
    potential: LimitingPotential | None = None
    below: tuple[Expr | None, ...] = ()
    error: Expr | None = None
    sharp: bool = False
    basis: sympy.ImmutableMatrix | None = None


def undecided(point: Point, reason: str) -> Limit:
    """Return a limit of which nothing is claimed."""
    return Limit(point, Finding(Verdict.UNDECIDED, reason))


def growth_expression(growth: Growth, small: Expr) -> Expr:
    """Return e^r log(1/e)^k."""
    r, k = growth
    return small ** sympy.Rational(r.numerator, r.denominator) * sympy.log(1 / small) ** -k
