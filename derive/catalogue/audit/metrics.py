"""Printed tangent kernels, metrics and warps against the derived ones."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from derive.catalogue.audit.germs import (
    Germs,
    Point,
    flow_slopes,
    germs_from_start,
    germs_in_beta,
    germs_in_weights,
    points,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, misprint
from derive.catalogue.audit.proportionality import (
    NOT_ZERO,
    Comparison,
    Elements,
    Proportional,
    compare_at,
    compare_up_to_factor,
    judge,
    judge_sign,
    scale_words,
    witness,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.exact.towers.germ import Unsettled
from derive.language import names
from derive.render.plain import plain


def check_warp(subject: Subject, printed: Printed) -> Judgement:
    """Compare a warp g, up to a positive factor."""
    g = subject.derivation.warping.g
    if g is None:
        raise Unsettled("g is not derived in closed form here")
    return _in_weights(subject, printed, (g,), "g")


def check_metric(name: str, subject: Subject, printed: Printed) -> Judgement:
    """Compare K or rho = K^-1, by upper triangle or by eigenvalues (T, R); free is a factor."""
    if not {*names(texts_of(printed))}.isdisjoint(subject.p.weights):
        return _in_weights(subject, printed, subject.metric_in_weights(name), name)
    derived = subject.metric(name)
    if derived is None:
        raise Unsettled(f"{name} is not derived as a function of beta here")

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = germs_in_beta(subject, printed, point)
        return germs, germs.texts, [germs.read(x) for x in derived]

    same = compare_up_to_factor(build, points(subject, subject.coordinates))
    return _answer(same, _shown(name, derived))


def check_metric_at_start(name: str, subject: Subject, printed: Printed) -> Judgement:
    """Compare K or rho at the start."""
    derived = subject.metric_in_weights(name)

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = germs_from_start(subject, printed, point, 0)
        return germs, germs.texts, [germs.read(x) for x in derived]

    same = compare_up_to_factor(build, points(subject, ()))
    return _answer(same, f"{_shown(name, derived)} at the start")


def _shown(name: str, derived: Sequence[Expr]) -> str:
    return f"{name} = {', '.join(map(plain, derived))}"


def _answer(same: Comparison, derived: str) -> Judgement:
    def agree(same: Proportional) -> Judgement:
        words = scale_words(same)
        if words and same.factor is not None and same.factor.is_number:
            words = (f"{words[0]} (loss convention, the unit of time)",)
        return judge_sign(same, derived, words)

    reason = "no constant factor makes the printed and the derived form equal"
    return judge(same, reason, lambda: derived, agree)


def _in_weights(
    subject: Subject, printed: Printed, derived: Sequence[Expr], name: str
) -> Judgement:
    text = _shown(name, derived)
    for germs in germs_in_weights(subject, printed):
        try:
            given, wanted = germs.texts, [germs.read(x) for x in derived]
        except Unsettled:
            continue
        found = compare_at(germs, given, wanted)
        if found is not None:
            return _answer(found, text)
        for x, y in zip(given, wanted, strict=True):
            if not germs.tower.is_zero(y):
                change = flow_slopes(subject, germs, germs.tower.tidy(x / y))
                if any(not germs.tower.ball(c).contains(0) for c in change):
                    reason = "printed/derived changes along the flow"
                    return misprint(reason, NOT_ZERO, text, (witness(germs, given, wanted),))
    raise Unsettled("the printed text was not compared at any point")
