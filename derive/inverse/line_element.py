"""Proposals: coordinates w on an interval in which the line element q(v) dv^2 is c dw^2.

Nothing here is trusted: a candidate is accepted by :mod:`derive.inverse.acceptance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.signs import Signs
from derive.exact.towers.germ import Elementary, Unsettled
from derive.exact.towers.tower import to_field
from derive.language import from_sympy, to_text
from derive.language.tree import Tree, names

Interval: TypeAlias = tuple[Expr, Expr]
W = Symbol("w", positive=True)
"""The weight of a candidate; positive, so that SymPy unites its powers."""


@dataclass(frozen=True)
class Candidate:
    """A candidate v = F(w) with F'(w)^2 q(F(w)) = scale and the *inverse* w of v.

    The interval is the range of F; what is *assumed* of the parameters is positive in this case.
    """

    F: Expr
    inverse: Expr
    interval: Interval
    scale: Expr
    assumed: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class LineElement:
    """q(v) dv^2, and which parameters were declared positive."""

    q: Expr
    v: Symbol
    positive: frozenset[str] = frozenset()

    def signs(self, expression: Expr) -> Iterator[tuple[int, tuple[Expr, ...]]]:
        """Yield the sign of a constant, or both cases with what each assumes."""
        known = known_sign(expression, self.positive)
        if known is not None:
            yield known, ()
            return
        # The symbols of undeclared parameters are positive in SymPy: that case is stated.
        if not expression.is_negative:
            yield 1, (expression,)
        if not expression.is_positive:
            yield -1, (-expression,)

    def through(self, v: Expr, u: Symbol) -> LineElement:
        """Return it in another coordinate, v = v(u)."""
        pulled = self.q.subs(self.v, v) * sympy.diff(v, u) ** 2
        return replace(self, q=tidy(pulled), v=u)


def known_sign(expression: Expr, positive: frozenset[str]) -> int | None:
    """Return the proved sign of a function of the parameters, None where it depends on them."""
    try:
        tree = from_sympy(expression)
        if not names((tree,)):
            tower = Elementary({}, [tree])
            return tower.sign(tower.read(tree))
        field = FunctionField(names((tree,)))
        element = to_field(tree, field, "a constant")
    except (DeriveError, Unsettled):
        return None
    return 0 if element.is_zero() else Signs(positive).strict(element) or None


def tidy(expression: Expr) -> Expr:
    """Return an expression with powers united and common factors cancelled."""
    return sympy.powsimp(sympy.factor(sympy.powdenest(sympy.powsimp(expression), force=True)))


def _is_square(x: Expr) -> bool:
    """Tell whether it is the square of what SymPy does not take to be positive."""
    return bool(x.is_Pow and x.exp == 2 and not x.base.is_positive)


def _unequal(x: Expr) -> str:
    """Return that x is not 0: t != 2 of t - 2."""
    t, *others = sorted(x.free_symbols, key=str)
    slope = sympy.S.Zero if others else sympy.diff(x, t)
    known = slope.is_Rational and slope != 0
    return f"{t} != {sympy.expand(t - x / slope)}" if known else f"{x} != 0"


def conditions(
    positive: frozenset[str], assumed: Sequence[Expr], beta_0: Tree | None, interval: Interval
) -> tuple[str, ...]:
    """Return what was assumed as text, and that a start with parameters lies in the interval.

    A power of a parameter asks that it be positive itself; a square asks that it not be 0.
    """
    squares = [x for x in assumed if _is_square(x)]
    # Without its number, and a parameter in place of its power.
    bare = (sympy.factor_terms(x).as_coeff_Mul()[1] for x in assumed if x not in squares)
    cores = [x.base if x.is_Pow and x.base.is_Symbol else x for x in bare]
    known = positive | {x.name for x in cores if x.is_Symbol}
    kept = [x for x in cores if x.is_Symbol or known_sign(x, known) != 1]
    generic = [_unequal(x.base) for x in squares if known_sign(x.base, known) is None]
    texts = tuple(dict.fromkeys((*(f"{x} > 0" for x in kept), *generic)))
    if beta_0 is None or not names((beta_0,)):
        return texts
    ends = zip("><", interval, strict=True)
    text = to_text(beta_0)
    return (*texts, *(f"{text} {side} {end}" for side, end in ends if not end.is_infinite))
