"""What homogeneity of F says: the degree of representation costs, and the pace of larger starts."""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Symbol

from derive.catalogue.audit.germs import Germs, texts_of
from derive.catalogue.audit.judgement import Judgement, agreement, misprint
from derive.catalogue.audit.proportionality import NOT_ZERO, judge_equal, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled
from derive.language import names
from derive.model.notation import to_expr
from derive.render.plain import plain


def check_degree(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta: homogeneous of degree 2/D where F is of degree D.

    Each coordinate, or |beta| for an open dimension, has weights of its own, so the cost is a
    multiple of |beta|^(2/D); from a start of scale alpha -> 0 the distance to it has that limit.
    Monotone functions of one coordinate's cost are told apart: the cost is a sum over coordinates.
    """
    p = subject.p
    if p.homogeneity is None or p.d != 1:
        raise Unsettled("the representation cost is derived for separate coordinates only")
    symbols = {name: Symbol(name, positive=True) for name in p.parameters}
    degree = 2 / to_expr(p.homogeneity, symbols)
    beta = subject.betas[0].name
    point = {beta: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    try:
        germs = Germs.at(point, texts_of(printed), 1)
        tower, cost = germs.tower, germs.texts[0]
        slope = tower.tidy(germs.images[beta] * tower.derivative(cost, 0) / cost)
        wanted = germs.read(degree)
    except (Unsettled, DeriveError):
        raise Unsettled("the printed text has no meaning here") from None
    if germs.vanish([slope - wanted], "the degrees are equal"):
        words = ("scale: only the degree is compared",)
        return agreement("exact: homogeneous of degree 2/D", words)
    text = f"{beta}**({plain(degree)}), up to scale"
    reason = "the degree of homogeneity; values are the degrees"
    return misprint(reason, NOT_ZERO, text, (witness(germs, [slope], [wanted]),))


def check_time(subject: Subject, printed: Printed) -> Judgement:
    """Compare the factor by which flow from alpha w_0 is faster: alpha^(2D - 2), as K is.

    Source: Chizat, Oyallon, Bach 2019, for F(c w) = c^D F(w), where K(c w) = c^(2D-2) K(w).
    """
    p = subject.p
    if p.homogeneity is None:
        raise Unsettled("F is not homogeneous")
    (tree,) = texts_of(printed)
    scales = [name for name in names((tree,)) if name not in p.parameters]
    if len(scales) != 1:
        raise Unsettled("the printed factor has not one symbol for the scale")
    point = {scales[0]: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    germs = Germs.at(point, (tree,), len(point))
    degree = to_expr(p.homogeneity, {name: Symbol(name) for name in p.parameters})
    factor = germs.read(tree)
    rate = germs.tower.tidy(germs.images[scales[0]] * germs.tower.derivative(factor, 0) / factor)
    derived = f"{scales[0]}**({plain(sympy.expand(2 * degree - 2))})"
    reason = "the exponent; values are those"
    return judge_equal(germs, rate, germs.read(2 * degree - 2), derived, reason)
