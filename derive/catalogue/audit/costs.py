"""Printed representation costs of models of symbolic depth: their degree of homogeneity."""

from __future__ import annotations

from fractions import Fraction

from sympy import Symbol

from derive.catalogue.audit.finding import Finding, agreement, misprint, unchecked
from derive.catalogue.audit.leaf import Leaf, checked, texts_of
from derive.catalogue.audit.ratio import NOT_ZERO, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.errors import DeriveError
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.model.notation import to_expr
from derive.render.plain import plain


def check_degree(subject: Subject, printed: Printed) -> Finding:
    """Compare min |w|^2 s.t. F(w) = beta: homogeneous of degree 2/D where F is of degree D.

    Each coordinate, or |beta| for an open dimension, has weights of its own, so the cost is a
    multiple of |beta|^(2/D); from a start of scale alpha -> 0 the distance to it has that limit.
    Monotone functions of one coordinate's cost are told apart: the cost is a sum over coordinates.
    """
    p = subject.p
    if p.homogeneity is None or p.d != 1:
        return unchecked("the representation cost is derived for separate coordinates only")
    symbols = {name: Symbol(name, positive=True) for name in p.parameters}
    degree = 2 / to_expr(p.homogeneity, symbols)
    beta, trees = subject.betas[0].name, texts_of(printed)
    point = {beta: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    try:
        tower = Elementary(point, trees)
        leaf = Leaf(tower, dict(tower.known), point, 1)
        cost = leaf.read(checked(trees[0], leaf))
        slope = tower.tidy(leaf.images[beta] * tower.derivative(cost, 0) / cost)
        wanted = leaf.read(degree)
    except (Unsettled, DeriveError):
        return unchecked("the printed text has no meaning here")
    if tower.is_zero(slope - wanted):
        return agreement(
            "exact: homogeneous of degree 2/D", ("scale: only the degree is compared",)
        )
    if tower.ball(slope - wanted).contains(0):
        return unchecked("the degrees are equal as far as 70 digits tell, which proves nothing")
    text = f"{beta}**({plain(degree)}), up to scale"
    reason = "the degree of homogeneity; values are the degrees"
    shown = witness(leaf, [slope], [wanted])
    return misprint(reason, NOT_ZERO, text, (shown,))
