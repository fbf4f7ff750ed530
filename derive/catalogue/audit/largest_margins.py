"""Printed limits of the direction on separable data, under losses with an exponential tail."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from sympy import Add, Expr, Symbol, log

from derive.catalogue.audit.explicit_regularizers import compare_form
from derive.catalogue.audit.germs import texts_of
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.exact.towers.germ import Unsettled
from derive.language import to_sympy
from derive.limits.asymptotics import SMALL
from derive.model.notation import rational
from derive.render.plain import plain
from derive.separable.find import Margins, margins
from derive.separable.rates import Measure, leading_of, tail_rate

MARGINS = "X beta >= 1"
BOUND = re.compile(r"O\((.*)\)")
EXAMPLE = Witness((("X", "[[1], [2]]"), ("y", "(1, 1)")), ("no beta",), ("beta = 1",))
"""Whatever the norm is, of beta >= 1 and 2 beta >= 1 the least has beta = 1."""
FIRST_ORDER = "first order: KKT points of the problem in the weights, whose minimizers these are"
COST_METHOD = "R_F by exact duality, and the theorem on KKT points in the weights"
RATES = "exact expansions in 1/log t of what is left of the margin and of the direction"
METHOD = "exact expansions of Q far out, and the hypotheses of the theorem on its horizon"


def check_margin(subject: Subject, printed: Printed) -> Judgement:
    """Compare what the direction minimises; the last of two texts is the constraint."""
    found = margins(subject.derivation)
    shape = _form(found)
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


def check_rate_of_margins(measure: Measure, subject: Subject, printed: Printed) -> Judgement:
    """Compare the order in t of a gap of a linear model; O(...) holds of what is smaller, too.

    ``where`` gives nu of a tail exp(-u^nu), or steps = normalized: then t counts steps, nu is 1.
    """
    p = subject.p
    if list(p.F) != list(p.w):
        raise Unsettled("rates are derived for linear models only")
    where = dict(printed.where)
    nu = Fraction(where.get("nu", "1"))
    if "steps" in where and (nu != 1 or where["steps"] != "normalized"):
        raise Unsettled("steps are told apart for normalized ones and the tail exp(-u) only")
    t, clock = Symbol("t", positive=True), "t" if "steps" in where else "log(t)"
    letters = {"t": t, "c": Symbol("c", positive=True), "nu": rational(nu)}
    bound = BOUND.fullmatch(printed.text[0])
    bare = replace(printed, text=(bound[1],)) if bound else printed
    (text,) = (to_sympy(tree, letters) for tree in texts_of(bare))
    given = text.xreplace({t if "steps" in where else log(t): 1 / SMALL})
    if given.has(t):
        raise Unsettled("the printed text is no rate in the logarithm of time, or in steps")
    (stated, _), (derived, _) = leading_of(given)[0], tail_rate(measure, nu)[0]
    if stated == derived:
        return agreement(RATES, ("a constant factor",))
    order = f"{clock}**({-derived})"
    if bound and stated < derived:
        return agreement(RATES, (f"an upper bound: the order is {order}",))
    reason = f"the printed rate is {'slower' if stated < derived else 'faster'} than it is"
    values = [f"1e{-6 * float(power):g}" for power in (stated, derived)]
    shown = Witness(((clock, "10**6"),), (values[0],), (values[1],))
    return difference(reason, RATES, f"{order}, up to a factor", (shown,))


def _form(found: Margins) -> Expr | None:
    """Return the horizon; of single outputs, a sum over copies, its term, which has a power."""
    leading = [far.leading for far in found.far]
    if found.horizon is None or any(x is None for x in leading):
        return None
    if all(far.shape == "single" for far in found.far):
        return Add(*(x.h for x in leading if x is not None))
    return found.horizon
