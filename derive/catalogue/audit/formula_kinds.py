"""The kinds of printed formulas, each with what compares it: the place to plug in a new one.

A model is derived once; then every formula that was printed of it is compared. With H the
derivative of the printed gradient by beta on the leaf, a printed Q is right up to a positive factor
and an additive constant exactly when H = c Hess Q with c constant and positive, and grad Q = 0 at
the start. For an open dimension q'(s) takes the place of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from typing import TypeAlias

from sympy import Expr, Integral

from derive.catalogue.audit.consequences import check_cost, check_limit, check_margin
from derive.catalogue.audit.germs import (
    Germs,
    Point,
    Subject,
    conditions_of,
    flow_fields,
    flow_slopes,
    germs_from_start,
    germs_in_beta,
    germs_in_weights,
    points,
    settled,
    texts_of,
)
from derive.catalogue.audit.judgement import Audit, Judgement, Outcome, agreement, difference
from derive.catalogue.audit.proportionality import (
    EXACT,
    NOT_ZERO,
    Different,
    Elements,
    Proportional,
    compare_at,
    compare_up_to_factor,
    judge,
    scale_words,
    witness,
)
from derive.catalogue.library import Entry, Printed, derive_entry, summand
from derive.catalogue.listing import formulas
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled
from derive.language import names, parse_expression
from derive.render.text import plain
from derive.verdict import Decided, Verdict

WRONG_AT_START = "the gradient at the start is not 0: a linear term is missing or wrong"


def check_potential(subject: Subject, printed: Printed) -> Judgement:
    """Compare the second derivatives, then the gradients, then the values.

    Free is a factor; of a potential a constant, of a mirror potential a linear term as well.
    """
    gradient = subject.gradient
    if gradient is None:
        raise Unsettled("Q is not derived in closed form here, so there is none to compare with")

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = germs_in_beta(subject, printed, point)
        given = _slopes(printed, germs)
        if subject.open_dimension:
            # A constant in q' would change grad Q = q'(s) beta/s + z: no derivative is taken.
            return germs, given[:1], [germs.read(x) for x in gradient]
        return germs, _all_slopes(germs, given), _curvature(subject, germs, gradient)

    what = "q'(s)" if subject.open_dimension else "second derivatives"
    reason = f"no constant factor makes the {what} equal; values are {what}"
    same = compare_up_to_factor(build, points(subject, subject.coordinates))
    if isinstance(same, Different):
        return judge(same, reason, _derived_form(subject))
    return _judge_gradient(printed, subject, gradient, same)


def _judge_gradient(
    printed: Printed, subject: Subject, gradient: Sequence[Expr], same: Proportional
) -> Judgement:
    """Return the judgement where the second derivatives agree."""
    if same.sign <= 0:
        reason = "the sign" if same.sign else "it is linear in beta"
        return difference(reason, EXACT, _derived_form(subject))
    linear = ["a linear term"] if printed.kind == "mirror potential" else []
    if any(x.has(Integral) for x in gradient):
        if not linear:
            raise Unsettled("the second derivatives agree; grad Q was derived as an integral")
        more = linear
    elif _same_gradient(subject, _slopes(printed, same.germs), gradient, same.germs):
        constant = printed.kind == "Q" and not _same_value(subject, same.germs)
        more = ["an additive constant"] * constant
    elif linear:
        more = linear
    else:
        return difference(WRONG_AT_START, EXACT, _derived_form(subject))
    return agreement(EXACT, (*scale_words(same), *more))


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


def _slopes(printed: Printed, germs: Germs) -> Elements:
    """Return the printed gradient: the texts, or the derivatives of the first along the leaf."""
    return (
        germs.texts
        if printed.kind == "grad Q"
        else _all_slopes(germs, [germs.read(germs.trees[0])])
    )


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


def _derived_form(subject: Subject) -> str:
    """Return Q as it was derived, with what its names stand for."""
    return "; ".join(formulas(subject.derivation))


NO_FACTOR = "no constant factor makes the printed and the derived form equal"
UNIT = " (loss convention, the unit of time)"


def check_metric(name: str, subject: Subject, printed: Printed) -> Judgement:
    """Compare K or rho = K^-1, by upper triangle or by eigenvalues (T, R); free is a factor.

    It is compared at the start, in the weights, or in beta, as the kind and the texts say.
    """
    derived, at_start = subject.metric_in_weights(name), printed.kind.endswith(" at the start")
    if not at_start:
        if not {*names(texts_of(printed))}.isdisjoint(subject.p.weights):
            return _in_weights(subject, printed, derived)
        if (in_beta := subject.metric(name)) is None:
            raise Unsettled(f"{name} is not derived as a function of beta here")
        derived = in_beta

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = (
            germs_from_start(subject, printed, point, 0)
            if at_start
            else germs_in_beta(subject, printed, point)
        )
        return germs, germs.texts, [germs.read(x) for x in derived]

    same = compare_up_to_factor(build, points(subject, () if at_start else subject.coordinates))
    return judge(same, NO_FACTOR, f"{printed.kind} = {', '.join(map(plain, derived))}", unit=UNIT)


def _in_weights(subject: Subject, printed: Printed, derived: Sequence[Expr]) -> Judgement:
    text = f"{printed.kind} = {', '.join(map(plain, derived))}"

    def at(germs: Germs) -> Judgement | None:
        given, wanted = germs.texts, [germs.read(x) for x in derived]
        X = flow_fields(subject, germs)
        if (found := compare_at(germs, given, wanted)) is not None:
            return judge(found, NO_FACTOR, text, unit=UNIT)
        for x, y in zip(given, wanted, strict=True):
            if not germs.tower.is_zero(y):
                change = flow_slopes(germs, X, germs.tower.tidy(x / y))
                if any(not germs.tower.ball(c).contains(0) for c in change):
                    reason = "printed/derived changes along the flow"
                    return difference(reason, NOT_ZERO, text, (witness(germs, given, wanted),))
        return None

    return next(settled(germs_in_weights(subject, printed), at))


FLIPS = (1, 2, 3)
"""Which names of open sign are negative: every third, from these on."""


def check_conserved(subject: Subject, printed: Printed) -> Judgement:
    """Decide whether each printed quantity is constant along every flow."""
    laws = "; ".join(map(plain, subject.derivation.conserved.laws))

    def at(germs: Germs) -> Judgement:
        X = flow_fields(subject, germs)
        changes = [x for c in germs.texts for x in flow_slopes(germs, X, c)]
        if germs.vanish(changes):
            return agreement("exact identity <grad c, grad F_i> = 0")
        shown = (witness(germs, changes, [germs.tower.field.zero] * len(changes)),)
        reason = "it changes along the flow; values are <grad c, grad F_i>"
        return difference(reason, NOT_ZERO, f"conserved: {laws}", shown)

    return next(settled(germs_in_weights(subject, printed), at))


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

    def at(germs: Germs) -> Judgement:
        sides = germs.texts
        proved = germs.vanish([x - sides[0] for x in sides[1:]])
        return agreement("exact identity") if proved else _unequal(germs, sides, printed)

    found = [*settled(places, at)]
    return next((x for x in found if x.differs), found[0])


def _free_germs(subject: Subject, printed: Printed) -> Iterator[Germs]:
    """Yield germs in which all names of the texts are independent."""
    p = subject.p
    one_sign = {*p.positive, *p.nonnegative, *p.start_symbols, *p.parameters, "s"}

    def at(flip: int) -> Germs:
        def value(k: int, name: str) -> Fraction:
            sign = -1 if name not in one_sign and (k + flip) % 3 == 0 else 1
            return Fraction(sign * (5 + 3 * k), 4 + k)

        given = conditions_of(printed)
        return Germs.independent(texts_of(printed), printed.where, value, given)

    return settled(FLIPS, at)


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


def check_decision(decision: Decided, printed: Printed) -> Judgement:
    """Compare what was decided: the text is yes or no."""
    wanted = {"yes": Verdict.PROVED, "no": Verdict.REFUTED}[printed.text[0]]
    if decision.verdict is Verdict.UNDECIDED:
        raise Unsettled(decision.finding.words)
    if decision.verdict is wanted:
        return agreement("exact identity" if wanted is Verdict.PROVED else "an identity that fails")
    return difference("the opposite is proved", "exact", decision.finding.words)


PAGE = "read from the typeset page"
SEVERAL = ("conserved", "equation", "largest margin")
"""Kinds of which a source may print several that are true, and unlike."""

Check: TypeAlias = Callable[[Subject, Printed], Judgement]

KINDS: Mapping[str, Check] = {
    **dict.fromkeys(("Q", "grad Q", "mirror potential"), check_potential),
    **dict.fromkeys(("K", "K at the start"), partial(check_metric, "K")),
    **dict.fromkeys(("rho", "rho at the start"), partial(check_metric, "rho")),
    "conserved": check_conserved,
    "equation": check_equation,
    "Hessian map": lambda subject, printed: check_decision(subject.decision("hessian"), printed),
    "mirror flow": lambda subject, printed: check_decision(subject.decision("warping"), printed),
    "representation cost": check_cost,
    "limit": check_limit,
    "largest margin": check_margin,
}
"""By kind, what compares the printed texts with the derivation.

| kind | texts |
|---|---|
| Q | Q in beta1, beta2, ... (beta for one); q in s = |beta| and z's coefficient along beta_0 |
| grad Q | its components |
| mirror potential | as Q; linear terms are free |
| K, rho | the upper triangle row by row; the eigenvalues across and along beta |
| K at the start, rho at the start | the same, of the start |
| conserved | functions of the weights |
| equation | two sides or more, in the weights, the outputs and the start |
| Hessian map, mirror flow | yes or no: is rho one; is there a warp g |
| representation cost | of one positive coordinate |
| limit | what Q tends to; the end of ``where`` says what tends to what: a symbol, a new name that
scales the start, or a function of the start; weights in ``where`` are a path of starts |
| largest margin | the function whose minimizer subject to ``X beta >= 1`` is the limit of the
direction on separable data; its term, for copies of one output; then the constraint, if printed |

Of matrices of every size, under measurements with common bases, texts are of one entry b_k of beta,
of which Q is a sum; its weights are the lengths that it is a function of.

Beside beta and the weights, texts may use the start symbols, beta_0 (beta1_0, s_0, ...) and what
``where`` defines, in which weights are those at the start.
"""


def audit_entry(entry: Entry) -> Iterator[Audit]:
    """Yield the answer to each printed formula of a model.

    >>> from derive.catalogue import find
    >>> [audit.judgement.outcome.value for audit in audit_entry(find("exponential"))]
    ['AGREES UP TO']
    """
    if entry.printed:
        yield from audit_formulas(entry, Subject(summand(derive_entry(entry))))


def audit_formulas(entry: Entry, subject: Subject) -> Iterator[Audit]:
    """Yield the answer to each printed formula of a model that was derived."""
    judged = [(printed, compare_printed(subject, printed)) for printed in entry.printed]
    for printed, judgement in judged:
        fault = PAGE if printed.read == "page" else _contradiction(printed, judged)
        judgement = judgement.blamed(fault) if fault else judgement
        yield Audit(entry.id, printed, judgement.as_read(printed))


def _contradiction(printed: Printed, judged: Sequence[tuple[Printed, Judgement]]) -> str:
    """Say where the same source prints the same, and right; "" where it does not."""
    if printed.kind in SEVERAL:
        return ""
    said = (printed.cite, printed.kind, printed.where, printed.assuming)
    for other, judgement in judged:
        same = said == (other.cite, other.kind, other.where, other.assuming)
        if same and judgement.agrees:
            return f"the source contradicts itself: what it prints elsewhere agrees ({other.place})"
    return ""


def compare_printed(subject: Subject, printed: Printed) -> Judgement:
    """Return the answer to one formula; NOT CHECKED where nothing compares it."""
    try:
        if printed.kind not in KINDS:
            raise Unsettled(f"nothing compares the kind {printed.kind!r}")
        return KINDS[printed.kind](subject, printed)
    except (DeriveError, Unsettled) as error:
        return Judgement(Outcome.NOT_CHECKED, reason=str(error))
