"""Equations that must hold on the leaf of the start, settled one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from derive.exact.field.function_field import RationalFunction
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.witness import find_failure

Equation = tuple[str, RationalFunction, RationalFunction]
"""A statement and its two sides, functions of the weights."""


class RoadEnds(Exception):
    """A necessary equation fails, or is not decided: no need to look at others."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


def require_equations(
    p: Parameterization, equations: Iterable[Equation], refuted: str
) -> tuple[Identity, ...]:
    """Return the identities, all of which hold for all weights.

    Args:
        p: where the flow starts.
        equations: what is necessary.
        refuted: the reason to give when one of them fails.

    Raises:
        RoadEnds: with REFUTED and a point of the leaf where one fails; with UNDECIDED where one
            fails for general weights, but not visibly on this leaf.
    """
    found: list[Identity] = []
    undecided = None
    for statement, left, right in equations:
        if left == right:
            found.append(Identity(statement, repr(left), repr(right)))
            continue
        failure = find_failure(p, statement, left, right)
        if failure is not None:
            raise RoadEnds(Finding(Verdict.REFUTED, refuted, (failure,)))
        undecided = undecided or statement
    if undecided is not None:
        reason = f"{undecided} fails for general starts, but not visibly on the leaf of this one"
        raise RoadEnds(Finding(Verdict.UNDECIDED, reason))
    return tuple(found)
