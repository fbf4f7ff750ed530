"""Printed conserved quantities and equations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from derive.catalogue.audit.germs import Germs, flow_slopes, germs_in_weights, texts_of
from derive.catalogue.audit.judgement import Judgement, Outcome, agreement, misprint, unchecked
from derive.catalogue.audit.proportionality import NOT_ZERO, Elements, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.exact.towers.germ import Unsettled
from derive.language import names, parse_expression
from derive.language.tree import Tree
from derive.records import Decision
from derive.render.plain import plain
from derive.verdict import Verdict


def check_conserved(subject: Subject, printed: Printed) -> Judgement:
    """Decide whether each printed quantity is constant along every flow."""
    trees = texts_of(printed)
    laws = "; ".join(map(plain, subject.derivation.conserved.laws))
    for germs in germs_in_weights(subject, printed, trees):
        try:
            changes = [x for t in trees for x in flow_slopes(subject, germs, germs.read(t))]
        except Unsettled:
            continue
        if all(germs.tower.is_zero(x) for x in changes):
            return agreement("exact identity <grad c, grad F_i> = 0")
        if any(not germs.tower.ball(x).contains(0) for x in changes):
            zero = germs.tower.field.zero
            shown = (witness(germs, changes, [zero] * len(changes)),)
            reason = "it changes along the flow; values are <grad c, grad F_i>"
            return misprint(reason, NOT_ZERO, f"conserved: {laws}", shown)
    return unchecked("the printed text was not compared at any point")


def check_equation(subject: Subject, printed: Printed) -> Judgement:
    """Decide whether the printed sides are equal: identically, or else along the flow."""
    trees = texts_of(printed)
    identically = _equal(_free_germs(subject, printed, trees), trees, printed)
    if identically.outcome is Outcome.AGREES:
        return identically
    moving = {*subject.p.weights, *(b.name for b in subject.betas)}
    used = names((*trees, *(parse_expression(text) for _, text in printed.where)))
    if not moving & set(used):
        return identically
    return _equal(germs_in_weights(subject, printed, trees), trees, printed)


def _equal(places: Iterable[Germs], trees: Sequence[Tree], printed: Printed) -> Judgement:
    """Decide whether all sides are equal: proved at one place, and refuted at none."""
    proved = False
    for germs in places:
        try:
            sides = [germs.read(t) for t in trees]
        except (Unsettled, ZeroDivisionError):
            continue
        if any(not germs.tower.ball(x - sides[0]).contains(0) for x in sides[1:]):
            return _unequal(germs, sides, printed)
        proved = proved or all(germs.tower.is_zero(x - sides[0]) for x in sides[1:])
    if proved:
        return agreement("exact identity")
    return unchecked("neither proved nor refuted; start symbols are known from laws c*symbol**n")


def _free_germs(subject: Subject, printed: Printed, trees: Sequence[Tree]) -> Iterator[Germs]:
    """Yield germs in which all names of the texts are independent."""
    p, defined = subject.p, dict(printed.where)
    inner = [parse_expression(text) for text in defined.values()]
    free = [name for name in names((*trees, *inner)) if name not in defined]
    one_sign = {*p.positive, *p.nonnegative, *p.start_symbols, *p.parameters, "s"}
    for flip in (1, 2, 3):
        point = {name: Fraction(5 + 3 * k, 4 + k) for k, name in enumerate(free)}
        for k, name in enumerate(free):
            if name not in one_sign and (k + flip) % 3 == 0:
                point[name] *= -1
        germs = Germs.at(point, [*trees, *inner], len(free))
        try:
            germs.define(printed.where)
        except (Unsettled, ZeroDivisionError):
            continue
        yield germs


def _unequal(germs: Germs, sides: Elements, printed: Printed) -> Judgement:
    """Return MISPRINT with the values at a point where the sides differ, and their quotient."""
    tower = germs.tower
    differing = [x for x in sides[1:] if not tower.ball(x - sides[0]).contains(0)]
    quotient = tower.tidy(differing[0] / sides[0])
    shown = (witness(germs, sides[:1], differing[:1]),)
    reason = "the two sides differ; values are left and right"
    derived = f"{printed.text[0]} is not {printed.text[-1]}"
    if quotient.is_constant():
        factor = quotient.value()
        reason = f"right = {factor} * left; values are left and right"
        derived = f"{printed.text[0]} = {_times(1 / factor)}({printed.text[-1]})"
    return misprint(reason, NOT_ZERO, derived, shown)


def _times(factor: Fraction) -> str:
    return "-" if factor == -1 else f"{factor}*"


def check_decision(decision: Decision, printed: Printed) -> Judgement:
    """Compare what was decided: the text is yes or no."""
    wanted = {"yes": Verdict.PROVED, "no": Verdict.REFUTED}[printed.text[0]]
    if decision.verdict is Verdict.UNDECIDED:
        return unchecked(decision.finding.reason)
    if decision.verdict is wanted:
        return agreement("exact identity" if wanted is Verdict.PROVED else "an identity that fails")
    return misprint("the opposite is proved", "exact", decision.finding.reason)
