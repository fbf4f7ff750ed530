"""Printed Q, grad Q, mirror potentials, Bregman divergences, kernels, metrics and warps.

With H the derivative of the printed gradient by beta on the leaf, a printed Q is right up to a
positive factor and an additive constant exactly when H = c Hess Q with c constant and positive,
and grad Q = 0 at the start. For an open dimension q'(s) takes the place of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Integral

from derive.catalogue.audit.germs import (
    Germs,
    Point,
    first_cause,
    flow_slopes,
    germs_from_start,
    germs_in_beta,
    germs_in_weights,
    points,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, agreement, difference
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
from derive.catalogue.library import Printed
from derive.catalogue.listing import definitions
from derive.exact.towers.germ import Unsettled
from derive.language import names
from derive.render.plain import plain
from derive.verdict import Verdict

CONSTANT = "an additive constant"
WRONG_AT_START = "the gradient at the start is not 0: a linear term is missing or wrong"


@dataclass(frozen=True)
class Question:
    """What is asked of a printed formula: its gradient, and whether the constant is the same.

    *linear* is said where the gradients differ by a constant; "" makes that a difference.
    """

    slopes: Callable[[Germs], Elements]
    derived: Callable[[Subject], str]
    same_constant: Callable[[Subject, Germs], bool] = lambda subject, germs: True
    linear: str = ""


def check_potential(question: Question, subject: Subject, printed: Printed) -> Judgement:
    """Compare the second derivatives, then the gradients, then what has an additive constant."""
    gradient = subject.gradient if subject.curve is None else subject.curve.gradient
    if gradient is None:
        raise Unsettled("Q is not derived in closed form here, so there is none to compare with")

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = germs_in_beta(subject, printed, point)
        given = question.slopes(germs)
        if subject.open_dimension:
            # A constant in q' would change grad Q = q'(s) beta/s + z: no derivative is taken.
            return germs, given[:1], [germs.read(x) for x in gradient]
        return germs, _all_slopes(germs, given), _curvature(subject, germs, gradient)

    agree = partial(_judge_gradient, question, subject, gradient)

    what = "q'(s)" if subject.open_dimension else "second derivatives"
    reason = f"no constant factor makes the {what} equal; values are {what}"
    same = compare_up_to_factor(build, points(subject, subject.coordinates))
    return judge(same, reason, lambda: question.derived(subject), agree)


def _judge_gradient(
    question: Question, subject: Subject, gradient: Sequence[Expr], same: Proportional
) -> Judgement:
    """Return the judgement where the second derivatives agree."""
    if same.sign <= 0:
        reason = "the sign" if same.sign else "it is linear in beta"
        return difference(reason, same.method, question.derived(subject))
    if any(x.has(Integral) for x in gradient):
        if not question.linear:
            raise Unsettled("the second derivatives agree; grad Q was derived as an integral")
        more = [question.linear]
    elif _same_gradient(subject, question.slopes(same.germs), gradient, same.germs):
        more = [] if question.same_constant(subject, same.germs) else [CONSTANT]
    elif question.linear:
        more = [question.linear]
    else:
        return difference(WRONG_AT_START, same.method, question.derived(subject))
    return agreement(same.method, (*scale_words(same), *more))


def _all_slopes(germs: Germs, functions: Elements) -> Elements:
    return [germs.along(f, k) for f in functions for k in range(germs.d)]


def _curvature(subject: Subject, germs: Germs, gradient: Sequence[Expr]) -> Elements:
    """Return the derivatives of the derived gradient; of integrals Hess Q = rho."""
    if not any(x.has(Integral) for x in gradient):
        return _all_slopes(germs, [germs.read(x) for x in gradient])
    rho, d = subject.metric("rho"), germs.d
    if rho is None or subject.derivation.hessian.verdict is not Verdict.PROVED:
        raise Unsettled("grad Q is derived as an integral here")
    upper = dict(zip(combinations_with_replacement(range(d), 2), map(germs.read, rho), strict=True))
    return [upper[min(i, k), max(i, k)] for i in range(d) for k in range(d)]


def _slopes_of_value(germs: Germs) -> Elements:
    """Return the derivatives of the first text along the leaf."""
    return _all_slopes(germs, [germs.read(germs.trees[0])])


def _same_gradient(
    subject: Subject, given: Elements, gradient: Sequence[Expr], germs: Germs
) -> bool:
    """Tell whether printed - factor*derived is 0 in the gradient, and not another constant."""
    tower, trees = germs.tower, germs.trees
    if subject.open_dimension:
        # z = -q'(s_0) beta_0/s_0, for every s_0: read with s in the place of s_0.
        s = subject.betas[0].name
        images = {**germs.images, f"{s}_0": germs.images[s]}
        return len(trees) == 2 and germs.vanish([tower.read(trees[1], images) + given[0]])
    derived = [germs.read(x) for x in gradient]
    factor = tower.tidy(germs.along(given[0], 0) / germs.along(derived[0], 0))
    pairs = zip(given, derived, strict=True)
    return germs.vanish([tower.tidy(x - factor * y) for x, y in pairs])


def _same_value(subject: Subject, germs: Germs) -> bool:
    """Tell whether printed = factor*derived; what was derived as an integral counts as such."""
    value = subject.value
    if value is None or value.has(Integral):
        return True
    Q, derived = germs.read(germs.trees[0]), germs.read(value)
    factor = germs.tower.tidy(germs.along(Q, 0) / germs.along(derived, 0))
    return germs.vanish([germs.tower.tidy(Q - factor * derived)])


def _is_zero_at_start(subject: Subject, germs: Germs) -> bool:
    """Tell whether a printed divergence of beta_0 and itself is 0."""
    start = {b.name: germs.images[f"{b}_0"] for b in subject.betas}
    return germs.vanish([germs.tower.read(germs.trees[0], {**germs.images, **start})])


def _derived_form(subject: Subject) -> str:
    """Return Q as it was derived, with what its names stand for."""
    potential = subject.derivation.potential
    Q = sympy.Add(*(piece.value for piece in potential.pieces)) + potential.linear
    return "; ".join([f"Q = {plain(Q)}", *definitions(potential.pieces)])


def _divergence(subject: Subject) -> str:
    """Return Q(beta) - Q(beta_0)."""
    Q = subject.value
    if Q is None or subject.open_dimension:
        return _derived_form(subject)
    known = {s.name: s for s in Q.free_symbols}
    at = {}
    for b in subject.betas:
        value = subject.starts[f"{b}_0"]
        at[b] = value.subs({s: known.get(s.name, s) for s in value.free_symbols})
    return f"D = {plain(Q - Q.subs(at, simultaneous=True))}"


POTENTIAL = Question(_slopes_of_value, _derived_form, _same_value)
GRADIENT = Question(lambda germs: germs.texts, _derived_form)
MIRROR_POTENTIAL = Question(_slopes_of_value, _derived_form, linear="a linear term")
DIVERGENCE = Question(_slopes_of_value, _divergence, _is_zero_at_start)
"""Free is a factor; of a potential a constant, of a mirror potential a linear term as well.

D(beta, beta_0) = Q(beta) - Q(beta_0), as grad Q(beta_0) = 0.
"""


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
    reason = "no constant factor makes the printed and the derived form equal"
    return judge(same, reason, lambda: derived, lambda x: judge_sign(x, derived, "", _unit_words))


def _unit_words(same: Proportional) -> tuple[str, ...]:
    unit = " (loss convention, the unit of time)"
    number = same.factor is not None and same.factor.is_number
    return tuple(words + unit if number else words for words in scale_words(same))


def _in_weights(
    subject: Subject, printed: Printed, derived: Sequence[Expr], name: str
) -> Judgement:
    text = _shown(name, derived)
    causes: list[Exception] = []
    for germs in germs_in_weights(subject, printed):
        try:
            given, wanted = germs.texts, [germs.read(x) for x in derived]
        except Unsettled as error:
            causes.append(error)
            continue
        found = compare_at(germs, given, wanted)
        if found is not None:
            return _answer(found, text)
        for x, y in zip(given, wanted, strict=True):
            if not germs.tower.is_zero(y):
                change = flow_slopes(subject, germs, germs.tower.tidy(x / y))
                if any(not germs.tower.ball(c).contains(0) for c in change):
                    reason = "printed/derived changes along the flow"
                    return difference(reason, NOT_ZERO, text, (witness(germs, given, wanted),))
    raise first_cause(causes)
