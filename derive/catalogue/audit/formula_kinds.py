"""The kinds of printed formulas, each with what compares it: the place to plug in a new one.

A model is derived once; then every formula that was printed of it is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from derive.catalogue.audit.consequences import check_cost, check_limit, check_margin
from derive.catalogue.audit.geometry import (
    check_conserved,
    check_decision,
    check_equation,
    check_metric,
    check_potential,
)
from derive.catalogue.audit.germs import Subject
from derive.catalogue.audit.judgement import Audit, Judgement, Outcome
from derive.catalogue.library import Entry, Printed, derive_entry, summand
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled

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
