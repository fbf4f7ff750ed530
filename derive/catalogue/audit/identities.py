"""Printed conserved quantities and equations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction

from derive.catalogue.audit.germs import (
    Germs,
    conditions_of,
    first_cause,
    flow_slopes,
    germs_in_weights,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, Outcome, agreement, difference
from derive.catalogue.audit.proportionality import NOT_ZERO, Elements, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.exact.towers.germ import Unsettled
from derive.language import names, parse_expression
from derive.records import Decision
from derive.render.plain import plain
from derive.verdict import Verdict

FLIPS = (1, 2, 3)
"""Which names of open sign are negative: every third, from these on."""


def check_conserved(subject: Subject, printed: Printed) -> Judgement:
    """Decide whether each printed quantity is constant along every flow."""
    laws = "; ".join(map(plain, subject.derivation.conserved.laws))
    causes: list[Exception] = []
    for germs in germs_in_weights(subject, printed):
        try:
            changes = [x for c in germs.texts for x in flow_slopes(subject, germs, c)]
            if germs.vanish(changes):
                return agreement("exact identity <grad c, grad F_i> = 0")
        except Unsettled as error:
            causes.append(error)
            continue
        shown = (witness(germs, changes, [germs.tower.field.zero] * len(changes)),)
        reason = "it changes along the flow; values are <grad c, grad F_i>"
        return difference(reason, NOT_ZERO, f"conserved: {laws}", shown)
    raise first_cause(causes)


def check_equation(subject: Subject, printed: Printed) -> Judgement:
    """Decide whether the printed sides are equal: identically, or else along the flow."""
    used = names((*texts_of(printed), *(parse_expression(text) for _, text in printed.where)))
    moving = {*subject.p.weights, *(b.name for b in subject.betas)}
    free = _free_germs(subject, printed)
    if moving.isdisjoint(used):
        # No weight and no output: what is unequal is so whatever the model.
        return _equal(free, printed).blamed("the printed sides differ in every model")
    with suppress(Unsettled):
        identically = _equal(free, printed)
        if identically.outcome is Outcome.AGREES:
            return identically
    return _equal(germs_in_weights(subject, printed), printed)


def _equal(places: Iterable[Germs], printed: Printed) -> Judgement:
    """Decide whether all sides are equal: proved at one place, and refuted at none."""
    proved, causes = False, []
    for germs in places:
        try:
            sides = germs.texts
            proved = germs.vanish([x - sides[0] for x in sides[1:]])
        except (Unsettled, ZeroDivisionError) as error:
            causes.append(error)
            continue
        if not proved:
            return _unequal(germs, sides, printed)
    if proved:
        return agreement("exact identity")
    raise first_cause(causes)


def _free_germs(subject: Subject, printed: Printed) -> Iterator[Germs]:
    """Yield germs in which all names of the texts are independent."""
    p = subject.p
    one_sign = {*p.positive, *p.nonnegative, *p.start_symbols, *p.parameters, "s"}
    causes: list[Exception] = []
    for flip in FLIPS:

        def value(k: int, name: str, flip: int = flip) -> Fraction:
            sign = -1 if name not in one_sign and (k + flip) % 3 == 0 else 1
            return Fraction(sign * (5 + 3 * k), 4 + k)

        try:
            yield Germs.independent(texts_of(printed), printed.where, value, conditions_of(printed))
        except (Unsettled, ZeroDivisionError) as error:
            causes.append(error)
    if len(causes) == len(FLIPS):
        raise first_cause(causes)


def _unequal(germs: Germs, sides: Elements, printed: Printed) -> Judgement:
    """Return DIFFERS with the values at a point where the sides differ, and their quotient."""
    tower = germs.tower
    differing = [x for x in sides[1:] if not tower.ball(x - sides[0]).contains(0)]
    quotient = tower.tidy(differing[0] / sides[0])
    shown = (witness(germs, sides[:1], differing[:1]),)
    reason, left, right = "the two sides differ", printed.text[0], printed.text[-1]
    derived = f"{left} is not {right}"
    if quotient.is_constant():
        factor = quotient.value()
        reason = f"the right side is {factor} times the left"
        derived = f"{left} = {'-' if factor == -1 else f'{1 / factor}*'}({right})"
    return difference(f"{reason}; values are left and right", NOT_ZERO, derived, shown)


def check_decision(decision: Decision, printed: Printed) -> Judgement:
    """Compare what was decided: the text is yes or no."""
    wanted = {"yes": Verdict.PROVED, "no": Verdict.REFUTED}[printed.text[0]]
    if decision.verdict is Verdict.UNDECIDED:
        raise Unsettled(decision.finding.words)
    if decision.verdict is wanted:
        return agreement("exact identity" if wanted is Verdict.PROVED else "an identity that fails")
    return difference("the opposite is proved", "exact", decision.finding.words)
