"""Equations that must hold on the leaf of the start, settled one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from derive.exact.field.function_field import RationalFunction
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.witness import find_failure

Equation = tuple[str, RationalFunction, RationalFunction]
"""A statement and its two sides, functions of the weights."""


class NotProved(Exception):
    """A necessary equation fails, or is not decided: no need to look at others."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


UNDECIDED = "{} fails for general starts, but not visibly on the leaf of this one"


def require_equations(
    p: Parameterization, equations: Iterable[Equation], refuted: str, undecided: str = UNDECIDED
) -> tuple[Identity, ...]:
    """Return the identities, all of which hold for all weights.

    Args:
        p: where the flow starts.
        equations: what is necessary.
        refuted: the reason to give when one of them fails.
        undecided: the reason where one fails for general weights only, {} for its statement.

    Raises:
        NotProved: with REFUTED and a point of the leaf where one fails; with UNDECIDED where one
            fails for general weights, but not visibly on this leaf.
    """
    found = require(p, equations, refuted, undecided)
    return tuple(Identity(s, repr(left), repr(right)) for s, left, right in found)


def require(
    p: Parameterization, equations: Iterable[Equation], refuted: str, undecided: str = UNDECIDED
) -> list[Equation]:
    """Return the equations as they are where they hold; see :func:`require_equations`."""
    found: list[Equation] = []
    open_ = None
    for statement, left, right in equations:
        if left == right:
            found.append((statement, left, right))
            continue
        failure = find_failure(p, statement, left, right)
        if failure is not None:
            raise NotProved(Finding(Verdict.REFUTED, refuted, (failure,)))
        open_ = open_ or statement
    if open_ is not None:
        raise NotProved(Finding(Verdict.UNDECIDED, undecided.format(open_)))
    return found
