"""Exact acceptance: K(w) Q''(F(w)) = c along the flow, where F'(w)^2 = K for one weight.

On a curve w -> F(w) through the points that gradient flow can reach, Q''(F) F' is the derivative
of Q'(F) = (Q o F)'/F', so the identity is checked without ever forming Q'' in beta.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product

from sympy import Expr

from derive.errors import LanguageError
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.line_element import Candidate, W
from derive.inverse.term import SeparableTerm
from derive.language import from_sympy
from derive.language.tree import Tree

PLACES = tuple(map(Fraction, ["1", "1/2", "3/2", "1/4", "3", "-1", "1/16", "-3", "10"]))


def accepts(term: SeparableTerm, candidate: Candidate, kernel: Expr | None = None) -> bool:
    """Tell whether K Q''(F) = c > 0 is proved along beta = F(w), near a point of its interval.

    *candidate* is F on the leaf with c and what is assumed; *kernel* is K there, F'^2 by default.
    """
    ends = (None if end.is_infinite else end for end in candidate.interval)
    try:
        low, high, K = (None if x is None else from_sympy(x) for x in (*ends, kernel))
        assumed = tuple(from_sympy(x) for x in candidate.assumed)
        F, scale = from_sympy(candidate.F), from_sympy(candidate.scale)
    except LanguageError:
        return False
    for place, values in product(PLACES, term.parameter_points()):
        point = {W.name: place, **values}
        with suppress(Unsettled, ZeroDivisionError):
            holds = _holds_at(term, (F, scale, K), assumed, (low, high), point)
            if holds is not None:
                return holds
    return False


def _holds_at(
    term: SeparableTerm,
    claim: tuple[Tree, Tree, Tree | None],
    assumed: Sequence[Tree],
    ends: tuple[Tree | None, Tree | None],
    point: dict[str, Fraction],
) -> bool | None:
    """Tell whether K Q''(F) = c > 0, a *claim* on F, c and K, is proved or disproved near a point.

    None for neither, as where what is assumed is not positive, or F is not between the ends.
    """
    tower = Elementary(point, [x for x in (term.tree, *claim, *assumed) if x is not None])
    if any(tower.sign(tower.read(x)) <= 0 for x in assumed):
        return None
    (F, c, K), (low, high) = claim, ends
    f, scale = tower.read(F), tower.read(c)
    sides = ((1, low), (-1, high))
    if any(x is not None and tower.sign(side * (f - tower.read(x))) <= 0 for side, x in sides):
        return None
    speed = tower.derivative(f)
    composed = tower.derivative(tower.read(term.tree, {term.variable: f}))
    if tower.sign(speed) == 0 or tower.sign(scale) <= 0:
        return None
    curvature = tower.derivative(composed / speed) / speed
    k = speed * speed if K is None else tower.read(K)
    if tower.is_zero(k * curvature - scale):
        return True
    # A value off the ball of the scale is a disproof at this point: no other will do.
    return None if tower.ball(k * curvature - scale).contains(0) else False


def vanishes(term: SeparableTerm, tree: Tree, at: Tree) -> bool:
    """Tell whether *tree* in beta is proved to be 0 at beta = *at*."""
    for point in term.parameter_points():
        tower = Elementary(point, [tree, at])
        with suppress(Unsettled):
            return tower.is_zero(tower.read(tree, {term.variable: tower.read(at)}))
    return False


def reaches(term: SeparableTerm, start: Tree, F: Tree, slope: Tree, beta_0: Tree) -> bool:
    """Tell whether F(w_0) = beta_0 and F'(w_0) is not 0, exactly, for w_0 = *start*."""
    for point in term.parameter_points():
        tower = Elementary(point, [beta_0, F, slope, start])
        with suppress(Unsettled, ZeroDivisionError):
            w = {W.name: tower.read(start)}
            moving = tower.sign(tower.read(slope, w)) != 0
            return moving and tower.is_zero(tower.read(F, w) - tower.read(beta_0))
    return False
