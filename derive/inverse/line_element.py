"""Proposals: coordinates w on an interval in which the line element q(v) dv^2 is c dw^2.

Nothing here is trusted: a candidate is accepted by :mod:`derive.inverse.acceptance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.elements import to_field
from derive.exact.towers.germ import Unsettled
from derive.language import from_sympy, to_text
from derive.language.tree import Tree, names

W = Symbol("w", positive=True)
"""The weight of a candidate; positive, so that SymPy unites its powers."""


@dataclass(frozen=True)
class Candidate:
    """A candidate v = F(w) on an interval, with F'(w)^2 q(F(w)) = scale.

    Attributes:
        F: a function of :data:`W`.
        inverse: w as a function of v.
        interval: the ends of the range of F.
        scale: the constant c.
        assumed: expressions in the parameters that are positive in this case.
    """

    F: Expr
    inverse: Expr
    interval: tuple[Expr, Expr]
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
    if element.is_zero():
        return 0
    if _strict(element.numerator.monoms(), names((tree,)), positive):
        for sign in (1, -1):
            if is_nonnegative(sign * element, positive):
                return sign
    return None


def _strict(
    monomials: list[tuple[int, ...]], known: tuple[str, ...], positive: frozenset[str]
) -> bool:
    """Tell whether some monomial has only positive parameters, so that a sum >= 0 is > 0."""
    return any(
        all(e == 0 or name in positive for e, name in zip(m, known, strict=True)) for m in monomials
    )


def tidy(expression: Expr) -> Expr:
    """Return an expression with powers united and common factors cancelled."""
    return sympy.powsimp(sympy.factor(sympy.powdenest(sympy.powsimp(expression), force=True)))


def conditions(positive: frozenset[str], assumed: Sequence[Expr]) -> tuple[str, ...]:
    """Return what was assumed as text; a power of a parameter asks that it be positive itself."""
    cores = [sympy.factor_terms(x).as_coeff_Mul()[1] for x in assumed]
    cores = [x.base if isinstance(x, sympy.Pow) and x.base.is_Symbol else x for x in cores]
    known = positive | {x.name for x in cores if isinstance(x, sympy.Symbol)}
    kept = [x for x in cores if isinstance(x, sympy.Symbol) or known_sign(x, known) != 1]
    return tuple(dict.fromkeys(f"{x} > 0" for x in kept))


def range_conditions(beta_0: Tree | None, interval: tuple[Expr, Expr]) -> tuple[str, ...]:
    """Return that a start with parameters lies in the interval, unless that is the whole line."""
    if beta_0 is None or not names((beta_0,)):
        return ()
    text = to_text(beta_0)
    ends = ((">", interval[0]), ("<", interval[1]))
    return tuple(f"{text} {side} {end}" for side, end in ends if not end.is_infinite)
