"""Exact acceptance: J^T (Hess Q)(F) J = c near a point, K(w) Q''(F(w)) = c for one weight.

With y = J^-T D_w(Q o F), which is grad Q at F, that is J^T D_w y: Hess Q is never formed in beta.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import sympy
from sympy import Expr

from derive.errors import LanguageError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.candidates import Candidate, W
from derive.inverse.term import Term, turned
from derive.language import from_sympy
from derive.language.tree import Tree

PLACES = tuple(map(Fraction, ["1", "1/2", "3/2", "1/4", "3", "-1", "1/16", "-3", "10"]))
Point = tuple[tuple[str, Fraction], ...]
"""Values of weights and parameters."""


@dataclass(frozen=True)
class Claim:
    """That J^T (Hess Q)(F) J = c I with c > 0, for F of some weights.

    Attributes:
        positive: functions of the parameters, and sides of beta, which are positive there.
        kernel: of a curve on the leaf, which F is then, K there; by default F'^2.
    """

    F: tuple[Tree, ...]
    weights: tuple[str, ...]
    scale: Tree
    positive: tuple[Tree, ...] = ()
    kernel: Tree | None = None


def accepts(term: Term, candidate: Candidate, kernel: Expr | None = None) -> bool:
    """Tell whether K Q''(F) = c > 0 is proved along beta = F(w), near a point of its interval.

    *candidate* is F on the leaf with c and what is assumed; *kernel* is K there, F'^2 by default.
    """
    low, high = candidate.interval
    sides = [candidate.F - low] * (low != -sympy.oo) + [high - candidate.F] * (high != sympy.oo)
    try:
        positive = tuple(map(from_sympy, (*candidate.assumed, *sides)))
        F, scale = from_sympy(candidate.F), from_sympy(candidate.scale)
        K = None if kernel is None else from_sympy(kernel)
    except LanguageError:
        return False
    return accepted_near(term, Claim((F,), (W.name,), scale, positive, K)) is not None


def accepted_near(term: Term, claim: Claim) -> Point | None:
    """Return a point near which a claim is proved; None where none is found, or it is false."""
    ways = ((k, s) for s, k in product(range(3), range(len(PLACES))))
    places = turned(PLACES, len(claim.weights), ways)
    for values in term.parameter_points():
        for place in places:
            point = {**dict(zip(claim.weights, place, strict=True)), **values}
            with suppress(Unsettled, ZeroDivisionError):
                holds = _holds_at(term, claim, point)
                if holds is not None:
                    return tuple(point.items()) if holds else None
    return None


def _holds_at(term: Term, claim: Claim, point: dict[str, Fraction]) -> bool | None:
    """Tell whether a claim is proved or disproved near a point.

    None for neither, as where what is to be positive is not, or J is singular.
    """
    kernel = () if claim.kernel is None else (claim.kernel,)
    tower = Elementary(point, [term.tree, *claim.F, claim.scale, *kernel, *claim.positive])
    f, c = [tower.read(x) for x in claim.F], tower.read(claim.scale)
    J = tuple(tuple(tower.derivative(x, k) for k, _ in enumerate(f)) for x in f)
    if any(tower.sign(tower.read(x)) <= 0 for x in (claim.scale, *claim.positive)):
        return None
    if tower.sign(tower.tidy(determinant(J))) == 0:
        return None
    composed = tower.read(term.tree, dict(zip(term.coordinates, f, strict=True)))
    for K in kernel:
        c *= J[0][0] * J[0][0] / tower.read(K)
    left = [x for x in _gaps(tower, composed, J, c) if not tower.is_zero(x)]
    # A value off the ball of the scale is a disproof at this point: no other will do.
    return None if left and all(tower.ball(x).contains(0) for x in left) else not left


def _gaps(
    tower: Elementary, composed: RationalFunction, J: Matrix, c: RationalFunction
) -> Iterator[RationalFunction]:
    """Yield the entries of J^T (Hess Q)(F) J - c I, from Q o F."""
    n = range(len(J))
    slopes = [tower.derivative(composed, k) for k in n]
    y = [tower.tidy(dot(row, slopes)) for row in zip(*inverse(J), strict=True)]
    moved = [[tower.derivative(x, k) for x in y] for k in n]
    for (k, column), m in product(enumerate(zip(*J, strict=True)), n):
        entry = dot(column, moved[m])
        yield tower.tidy(entry - c if k == m else entry)


def vanishes(term: Term, tree: Tree, at: Tree) -> bool:
    """Tell whether *tree* in beta is proved to be 0 at beta = *at*."""
    for point in term.parameter_points():
        tower = Elementary(point, [tree, at])
        with suppress(Unsettled):
            return tower.is_zero(tower.read(tree, {term.variable: tower.read(at)}))
    return False


def reaches(term: Term, start: Tree, F: Tree, slope: Tree, beta_0: Tree) -> bool:
    """Tell whether F(w_0) = beta_0 and F'(w_0) is not 0, exactly, for w_0 = *start*."""
    for point in term.parameter_points():
        tower = Elementary(point, [beta_0, F, slope, start])
        with suppress(Unsettled, ZeroDivisionError):
            w = {W.name: tower.read(start)}
            moving = tower.sign(tower.read(slope, w)) != 0
            return moving and tower.is_zero(tower.read(F, w) - tower.read(beta_0))
    return False
