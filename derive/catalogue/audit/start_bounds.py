"""Printed rates: how small or large a start must be for a norm to be nearly least.

A bound that is claimed for every problem is tried on random ones: a failure refutes it, and what
holds on all of them is said to hold there, which is no proof.
"""

from __future__ import annotations

from derive.catalogue.audit.judgement import Judgement, Witness, agreement, misprint, unchecked
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed


def check_rate(subject: Subject, printed: Printed) -> Judgement:
    """Try |beta|_p^p <= (1 + eps) norm^p beyond all the printed bounds on random problems."""
    if subject.trial is None:
        return unchecked("it is no identity, and no problems were solved to try it")
    if subject.open_dimension or not subject.proved:
        return unchecked("problems are solved for a given dimension and a Q only")
    given = dict(printed.where)
    if given.get("p") not in ("1", "2") or len(given) != 2:
        return unchecked("the record does not say which norm is bounded, and what tends to what")
    variable, toward = printed.where[-1]
    tried = subject.trial(
        subject.derivation.potential, printed.text, variable, toward, int(given["p"])
    )
    if tried.failures:
        worst = tried.failures[0]
        shown = Witness(worst.point, (worst.bound,), (worst.value,))
        reason = (
            f"it fails on {len(tried.failures)} of {tried.total} random problems; values are the "
            "bound and the norm"
        )
        return misprint(reason, "double precision", tried.claim, (shown,))
    method = f"numerically: it held on {tried.total} of {tried.total} random problems; no proof"
    return agreement(method)
