"""Printed Q, grad Q, mirror potentials and Bregman divergences against grad Q.

With H the derivative of the printed gradient by beta on the leaf, a printed Q is right up to a
positive factor and an additive constant exactly when H = c Hess Q with c constant and positive,
and grad Q = 0 at the start. For an open dimension q'(s) takes the place of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Expr, Integral

from derive.catalogue.audit.germs import (
    Germs,
    Point,
    coordinates_of,
    germs_in_beta,
    points,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, agreement, misprint, unchecked
from derive.catalogue.audit.proportionality import (
    Elements,
    Proportional,
    compare_up_to_factor,
    judge,
    scale_words,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.catalogue.listing import definitions
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import Unsettled
from derive.language import Tree
from derive.render.plain import plain

Slopes: TypeAlias = Callable[[Germs, Sequence[Tree]], list[RationalFunction]]

CONSTANT = "an additive constant"
LINEAR = "a linear term"
WRONG_AT_START = "the gradient at the start is not 0: a linear term is missing or wrong"


@dataclass(frozen=True)
class _Question:
    """A printed formula that gives a gradient.

    Attributes:
        subject: what was derived.
        printed: the formula.
        slopes: the printed gradient, from the texts.
        derived: what is to be printed instead.
        linear: what is said where the gradients differ by a constant; (): that is a misprint.
    """

    subject: Subject
    printed: Printed
    slopes: Slopes
    derived: Callable[[Subject], str]
    linear: tuple[str, ...] = ()


def check_Q(subject: Subject, printed: Printed) -> Judgement:
    """Compare a Q: free are a positive factor and an additive constant."""
    question = _Question(subject, printed, slopes_of_value, derived_form)
    return _compare(question, lambda germs: _same_value(question, germs))


def check_gradient(subject: Subject, printed: Printed) -> Judgement:
    """Compare grad Q: free is a positive factor."""
    question = _Question(subject, printed, slopes_as_printed, derived_form)
    return _compare(question, lambda germs: True)


def check_mirror(subject: Subject, printed: Printed) -> Judgement:
    """Compare a mirror potential: as for Q, and linear terms are free as well."""
    question = _Question(subject, printed, slopes_of_value, derived_form, (LINEAR,))
    return _compare(question, lambda germs: True)


def check_bregman(subject: Subject, printed: Printed) -> Judgement:
    """Compare D(beta, beta_0) = Q(beta) - Q(beta_0), as grad Q(beta_0) = 0; free is a factor."""

    def is_zero_at_start(germs: Germs) -> bool:
        start = {b.name: germs.images[f"{b}_0"] for b in subject.betas}
        value = germs.tower.read(texts_of(printed)[0], {**germs.images, **start})
        return _vanishes(germs, value)

    question = _Question(subject, printed, slopes_of_value, _divergence)
    return _compare(question, is_zero_at_start)


def _compare(question: _Question, same_value: Callable[[Germs], bool]) -> Judgement:
    """Compare the second derivatives, then the gradients, then what has an additive constant."""
    subject, gradient = question.subject, question.subject.slopes
    if gradient is None:
        return unchecked("Q is not derived in closed form here, so there is none to compare with")
    trees = texts_of(question.printed)

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = germs_in_beta(subject, question.printed, trees, point)
        germs.check(trees)
        given = question.slopes(germs, trees)
        derived = [germs.read(x) for x in gradient]
        if subject.open_dimension:
            # A constant in q' would change grad Q = q'(s) beta/s + z: no derivative is taken.
            return germs, given[:1], derived
        return germs, _all_slopes(germs, given), _all_slopes(germs, derived)

    def derived() -> str:
        return question.derived(subject)

    def agree(same: Proportional) -> Judgement:
        if same.sign <= 0:
            reason = "the sign" if same.sign else "it is linear in beta"
            return misprint(reason, same.method, derived())
        given = question.slopes(same.germs, trees)
        if _same_gradient(question, given, gradient, same.germs):
            more: tuple[str, ...] = () if same_value(same.germs) else (CONSTANT,)
        elif question.linear:
            more = question.linear
        else:
            return misprint(WRONG_AT_START, same.method, derived())
        return agreement(same.method, (*scale_words(same), *more))

    what = "q'(s)" if subject.open_dimension else "second derivatives"
    reason = f"no constant factor makes the {what} equal; values are {what}"
    same = compare_up_to_factor(build, points(subject, coordinates_of(subject)))
    return judge(same, reason, derived, agree)


def _same_gradient(
    question: _Question, given: Elements, gradient: Sequence[Expr], germs: Germs
) -> bool:
    """Tell whether printed - factor*derived is 0 in the gradient, and not another constant."""
    tower, trees = germs.tower, texts_of(question.printed)
    if question.subject.open_dimension:
        # z = -q'(s_0) beta_0/s_0, for every s_0: read with s in the place of s_0.
        s = question.subject.betas[0].name
        images = {**germs.images, f"{s}_0": germs.images[s]}
        return len(trees) == 2 and _vanishes(germs, tower.read(trees[1], images) + given[0])
    derived = [germs.read(x) for x in gradient]
    factor = tower.tidy(germs.along(given[0], 0) / germs.along(derived[0], 0))
    pairs = zip(given, derived, strict=True)
    return all(_vanishes(germs, tower.tidy(x - factor * y)) for x, y in pairs)


def _same_value(question: _Question, germs: Germs) -> bool:
    """Tell whether printed = factor*derived; what was derived as an integral counts as such."""
    value = question.subject.value
    if value is None or value.has(Integral):
        return True
    Q, derived = germs.read(texts_of(question.printed)[0]), germs.read(value)
    factor = germs.tower.tidy(germs.along(Q, 0) / germs.along(derived, 0))
    return _vanishes(germs, germs.tower.tidy(Q - factor * derived))


def _vanishes(germs: Germs, element: RationalFunction) -> bool:
    """Tell whether an element is 0.

    Raises:
        Unsettled: neither is proved.
    """
    if germs.tower.is_zero(element):
        return True
    if germs.tower.ball(element).contains(0):
        raise Unsettled("a difference is 0 as far as 70 digits tell, which proves nothing")
    return False


def slopes_of_value(germs: Germs, trees: Sequence[Tree]) -> list[RationalFunction]:
    """Return the derivatives of the first text along the leaf."""
    value = germs.read(trees[0])
    return [germs.along(value, k) for k in range(germs.d)]


def slopes_as_printed(germs: Germs, trees: Sequence[Tree]) -> list[RationalFunction]:
    """Return the texts as the components of a gradient."""
    return [germs.read(tree) for tree in trees]


def _all_slopes(germs: Germs, functions: Elements) -> list[RationalFunction]:
    return [germs.along(f, k) for f in functions for k in range(germs.d)]


def derived_form(subject: Subject) -> str:
    """Return Q as it was derived, with what its names stand for."""
    return "; ".join([f"Q = {plain(subject.shown)}", *definitions(subject.pieces)])


def _divergence(subject: Subject) -> str:
    """Return Q(beta) - Q(beta_0)."""
    Q = subject.value
    if Q is None or subject.open_dimension:
        return derived_form(subject)
    known = {s.name: s for s in Q.free_symbols}
    at = {}
    for b in subject.betas:
        value = subject.starts[f"{b}_0"]
        at[b] = value.subs({s: known.get(s.name, s) for s in value.free_symbols})
    return f"D = {plain(Q - Q.subs(at, simultaneous=True))}"
