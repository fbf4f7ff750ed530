"""Exact acceptance: K(w) Q''(F(w)) = c along the flow, where F'(w)^2 = K for one weight.

On a curve w -> F(w) through the points that gradient flow can reach, Q''(F) F' is the derivative
of Q'(F) = (Q o F)'/F', so the identity is checked without ever forming Q'' in beta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sympy import Expr

from derive.errors import LanguageError
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.inverse.term import SeparableTerm
from derive.language import from_sympy
from derive.language.tree import Tree

PLACES = tuple(Fraction(x) for x in ("1", "1/2", "3/2", "1/4", "3", "-1", "1/16", "-3", "10"))


def accepts(
    term: SeparableTerm,
    curve: Expr,
    scale: Expr,
    assumed: Sequence[Expr],
    interval: tuple[Expr, Expr],
    weight: str = "w",
    kernel: Expr | None = None,
) -> bool:
    """Tell whether K Q''(F) = scale > 0 is proved along beta = curve(weight).

    Args:
        term: Q.
        curve: F on the leaf, in the weight and the parameters.
        scale: a positive function of the parameters.
        assumed: expressions in the parameters that are positive in the case at hand.
        interval: the identity is proved at a point of it.
        weight: the name of the coordinate on the leaf.
        kernel: K on the leaf; the square of the derivative of *curve* by default.
    """
    try:
        F, c = from_sympy(curve), from_sympy(scale)
        conditions = [from_sympy(x) for x in assumed]
        low, high = (None if end.is_infinite else from_sympy(end) for end in interval)
        K = None if kernel is None else from_sympy(kernel)
    except LanguageError:
        return False
    trees = [term.tree, F, c, *conditions] + ([] if K is None else [K])
    for point in _points(term, weight):
        tower = Elementary(point, trees)
        try:
            if any(tower.sign(tower.read(x)) <= 0 for x in conditions):
                continue
            f, factor = tower.read(F), tower.read(c)
            if low is not None and tower.sign(f - tower.read(low)) <= 0:
                continue
            if high is not None and tower.sign(tower.read(high) - f) <= 0:
                continue
            speed = tower.derivative(f)
            composed = tower.derivative(tower.read(term.tree, {term.variable: f}))
            if tower.sign(speed) == 0 or tower.sign(factor) <= 0:
                continue
            curvature = tower.derivative(composed / speed) / speed
            k = speed * speed if K is None else tower.read(K)
            if tower.is_zero(k * curvature - factor):
                return True
            # A value off the ball of the scale is a disproof at this point: no other will do.
            if not tower.ball(k * curvature - factor).contains(0):
                return False
        except (Unsettled, ZeroDivisionError):
            continue
    return False


def vanishes(term: SeparableTerm, tree: Tree, at: Tree, value: Tree | None = None) -> bool:
    """Tell whether *tree* in beta is proved to equal *value* (0) at beta = *at*."""
    trees = [tree, at] + ([] if value is None else [value])
    for point in term.parameter_points():
        tower = Elementary(point, trees)
        try:
            found = tower.read(tree, {term.variable: tower.read(at)})
            if value is not None:
                found -= tower.read(value)
            return tower.is_zero(found)
        except Unsettled:
            continue
    return False


def inside(term: SeparableTerm, at: Tree, F: Tree, slope: Tree, start: Tree) -> bool:
    """Tell whether F(w_0) = beta_0 and F'(w_0) is not 0, exactly, for w_0 = *start*."""
    for point in term.parameter_points():
        tower = Elementary(point, [at, F, slope, start])
        try:
            w = {"w": tower.read(start)}
            moving = tower.sign(tower.read(slope, w)) != 0
            return moving and tower.is_zero(tower.read(F, w) - tower.read(at))
        except (Unsettled, ZeroDivisionError):
            continue
    return False


def _points(term: SeparableTerm, weight: str) -> Iterator[dict[str, Fraction]]:
    for place in PLACES:
        for values in term.parameter_points():
            yield {weight: place, **values}
