"""Printed limits of the direction on separable data, under losses with an exponential tail."""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Expr

from derive.catalogue.audit.explicit_regularizers import compare_form
from derive.catalogue.audit.judgement import Judgement, Witness, difference
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.exact.towers.germ import Unsettled
from derive.margins.find import Margins, margins
from derive.render.plain import plain

MARGINS = "X beta >= 1"
EXAMPLE = Witness((("X", "[[1], [2]]"), ("y", "(1, 1)")), ("no beta",), ("beta = 1",))
"""Whatever the norm is, of beta >= 1 and 2 beta >= 1 the least has beta = 1."""
METHOD = "exact expansions of Q far out, and the hypotheses of the theorem on its horizon"


def check_margin(subject: Subject, printed: Printed) -> Judgement:
    """Compare what the direction minimises; the last of two texts is the constraint."""
    found = margins(subject.derivation)
    form = _form(found)
    if form is None:
        raise Unsettled("no shape of Q decides the direction; the problem in the weights does")
    text, *constraint = printed.text
    if constraint not in ([], [MARGINS]):
        reason = "the direction is decided by margins, which are at least those of the predictor"
        return difference(reason, METHOD, f"argmin {plain(form)} subject to {MARGINS}", (EXAMPLE,))
    names = [symbol.name for symbol in subject.betas]
    return compare_form(replace(printed, text=(text,)), form, names, METHOD)


def _form(found: Margins) -> Expr | None:
    """Return the horizon; of single outputs, a sum over copies, its term, which has a power."""
    leading = [far.leading for far in found.far]
    if found.horizon is None or any(x is None for x in leading):
        return None
    if all(far.shape == "single" for far in found.far):
        return Add(*(x.h for x in leading if x is not None))
    return found.horizon
