"""Where a start symbol tends to, and in which small parameter that is expanded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.exact.elementary_signs import ElementarySigns
from derive.language import parse_expression, to_sympy
from derive.limits.asymptotics import SMALL, SPANS, Expander, Expansion

Side: TypeAlias = Literal["0", "oo", "below", "above"]


@dataclass(frozen=True)
class Point:
    """Where a start symbol tends to: 0+, infinity, or a number from one side.

    Attributes:
        rate: c, where exp(-c symbol), or exp(-c/symbol) as it tends to 0, is the small parameter.
        given: functions of the start that are taken to be positive.
    """

    variable: str
    value: Expr
    side: Side
    rate: Expr | None = None
    given: tuple[Expr, ...] = ()

    @property
    def text(self) -> str:
        """Such as ``alpha -> 0+``."""
        mark = {"0": "0+", "oo": "infinity", "below": f"{self.value}-", "above": f"{self.value}+"}
        given = "".join(f", {condition}" for condition in self.conditions)
        return f"{self.variable} -> {mark[self.side]}{given}"

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is given of the start, such as ``w_0 > 0``."""
        return tuple(
            f"{-c} < 0" if c.could_extract_minus_sign() else f"{c} > 0" for c in self.given
        )

    def decisions(self, positive: Iterable[str]) -> ElementarySigns:
        """Return exact decisions on functions of the start as it tends here."""
        return ElementarySigns({*positive, self.variable}, given=self.given)

    def in_exponentials(self, expressions: Iterable[Expr], positive: Iterable[str]) -> Point:
        """Return the point with a rate where functions have exponentials that are not powers.

        OpenSign: the sign of a rate in the start symbols is not known.
        """
        symbol = Symbol(self.variable, positive=True)
        if self.side not in ("0", "oo"):
            return self
        joined = (sympy.powsimp(f).atoms(sympy.exp) for f in expressions)
        for exponential in sorted(set().union(*joined), key=str):
            at = {s: self.image(symbol) for s in exponential.free_symbols if s.name == symbol.name}
            rate = sympy.expand(symbol * exponential.exp.xreplace(at)).subs(symbol, 0)
            if at and not rate.has(sympy.zoo, sympy.oo, sympy.nan) and rate != 0:
                rate = rate.as_content_primitive()[1]
                return replace(self, rate=self.decisions(positive).sign(rate) * rate)
        return self

    def image(self, small: Expr) -> Expr:
        """Return the symbol in terms of a small e > 0."""
        if self.rate is not None:
            slow = sympy.log(1 / small) / self.rate
            return slow if self.side == "oo" else 1 / slow
        side = {"0": small, "oo": 1 / small, "below": self.value - small}
        return side.get(self.side, self.value + small)

    def expand(
        self, f: Expr, decide: ElementarySigns | None = None, span: Fraction = SPANS[0]
    ) -> Expansion:
        """Return the expansion of a function of the start as it tends here."""
        positive = (s.name for s in f.free_symbols if s.is_positive)
        return Expander(SMALL, decide or self.decisions(positive), span).expand(self.near(f))

    def near(self, expression: Expr, small: Expr = SMALL) -> Expr:
        """Return an expression with the symbol in terms of a small e > 0."""
        image = {s: self.image(small) for s in expression.free_symbols if s.name == self.variable}
        exponential = expression.rewrite([sympy.sinh, sympy.cosh, sympy.tanh], sympy.exp)
        joined = sympy.powsimp(exponential).xreplace(image)
        return sympy.powdenest(joined.replace(sympy.exp, lambda x: sympy.exp(sympy.cancel(x))))

    @property
    def small(self) -> Expr:
        """Return e in terms of the symbol."""
        symbol = Symbol(self.variable, positive=True)
        if self.rate is not None:
            return sympy.exp(-self.rate * (symbol if self.side == "oo" else 1 / symbol))
        return symbol - self.value if self.side == "above" else self.image(symbol)


def read_point(variable: str, text: object) -> Point:
    """Read a limit: 0, oo, or a number with - or + behind it; InputError for all else.

    >>> read_point("s", "1-").text
    's -> 1-'
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
