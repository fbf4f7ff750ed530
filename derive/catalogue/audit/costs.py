"""Printed costs: min |w|^2 subject to F(w) = beta, and what the direction minimises.

That is the direction on separable data, under losses with an exponential tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from sympy import Add, Expr, Symbol

from derive.catalogue.audit.germs import COORDINATES, Germs, Point, texts_of
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.proportionality import NOT_ZERO, Elements, compare, judge, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled
from derive.explicit.constrained import pose_cost
from derive.explicit.regularize import minimum_by_elimination
from derive.model.notation import Notation, to_expr
from derive.render.plain import plain
from derive.separable.find import margins
from derive.verdict import Verdict

MARGINS = "X beta >= 1"
EXAMPLE = Witness((("X", "[[1], [2]]"), ("y", "(1, 1)")), ("no beta",), ("beta = 1",))
"""Whatever the norm is, of beta >= 1 and 2 beta >= 1 the least has beta = 1."""
FIRST_ORDER = "first order: KKT points of the problem in the weights, whose minimizers these are"
COST_METHOD = "R_F by exact duality, and the theorem on KKT points in the weights"
METHOD = "exact expansions of Q far out, and the hypotheses of the theorem on its horizon"


def check_cost(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta; for a symbolic degree the power of each coordinate."""
    if subject.p.parameters:
        return check_degree(subject, printed)
    return compare_form(printed, *_cost(subject), "exact elimination, the root certified")


def compare_form(printed: Printed, form: Expr, names: Sequence[str], method: str) -> Judgement:
    """Compare a printed function of positive coordinates with a form, up to scale."""

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = Germs.at(point, texts_of(printed), len(names))
        return germs, germs.texts, [germs.read(form)]

    shift, n = range(len(COORDINATES)), len(COORDINATES)
    places = [{name: abs(COORDINATES[(k + i) % n]) for i, name in enumerate(names)} for k in shift]
    reason = f"no constant factor makes the printed and the derived {printed.kind} equal"
    derived = f"{plain(form)}, up to scale"
    agree = partial(judge, reason=reason, derived=derived, method=method)
    return compare(build, [places, places[1:]], reason, lambda: derived, agree)


def check_degree(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta: the p of |beta|_p^p, 2/D where F is of degree D.

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
    if germs.vanish([slope - wanted], "the powers are equal"):
        words = ("scale: only the power p of a coordinate is compared",)
        return agreement("exact: of degree 2/D in each coordinate", words)
    text = f"{beta}**({plain(degree)}), up to scale"
    reason = "the power p of a coordinate in |beta|_p^p; values are the p"
    return difference(reason, NOT_ZERO, text, (witness(germs, [slope], [wanted]),))


def _cost(subject: Subject) -> tuple[Expr, tuple[str, ...]]:
    """Return the cost for large positive beta, and its names.

    Of an open dimension it is that of the length, u being n beta/|beta|.
    """
    p, reason = subject.p, "the length of the vector has odd powers"
    betas = subject.betas if subject.open_dimension else Notation(p, tuple(range(p.d))).betas
    opposite = p.F[0].compose([*p.w[:-1], -p.w[-1], *p.field.gens[p.p :]], p.field)
    if not subject.open_dimension or (opposite + p.F[0]).is_zero():
        cost = minimum_by_elimination(pose_cost, p, betas)
        if cost.verdict is Verdict.PROVED and cost.closed_forms:
            # On the last interval, or everywhere.
            return cost.closed_forms[-1], tuple(b.name for b in betas)
        reason = cost.finding.words
    raise Unsettled(f"the representation cost is not derived: {reason}")


def check_margin(subject: Subject, printed: Printed) -> Judgement:
    """Compare what the direction minimises; the last of two texts is the constraint."""
    found = margins(subject.derivation)
    leading, shape = [far.leading for far in found.far if far.leading is not None], found.horizon
    if shape is not None and all(far.shape == "single" for far in found.far):
        # Of single outputs, a sum over copies, the term, which has a power.
        shape = Add(*(x.h for x in leading))
    if len(leading) < len(found.far):
        shape = None
    form = found.cost if shape is None else shape
    if form is None:
        raise Unsettled("no shape of Q decides the direction; the problem in the weights does")
    text, *constraint = printed.text
    if constraint not in ([], [MARGINS]):
        reason = "the direction is decided by margins, which are at least those of the predictor"
        return difference(reason, METHOD, f"argmin {plain(form)} subject to {MARGINS}", (EXAMPLE,))
    names = [symbol.name for symbol in subject.betas]
    told = compare_form(replace(printed, text=(text,)), form, names, METHOD)
    if told.differs or shape is not None:
        return told
    return agreement(COST_METHOD, (*told.up_to, FIRST_ORDER))
