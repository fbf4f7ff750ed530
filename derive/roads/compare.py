"""Two roads to one Q must agree, exactly; where they do not, one of them is at fault."""

from __future__ import annotations

from collections.abc import Iterable

from derive.errors import ConsistencyError, InputError
from derive.exact.field.function_field import RationalFunction
from derive.potential.shortest import WEIGHT_SPACE
from derive.roads.published import PublishedRoad
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates
from derive.weights.lie import along
from derive.weights.warping import WarpVerdict


def disagreement(first: str, second: str, why: str) -> ConsistencyError:
    """Return the error that two roads do not lead to one Q."""
    return ConsistencyError(f"two roads disagree, {first} and {second}: {why}")


DECISION = "weight space (warp decision)"
"""The main road up to H_a = X_a log g, where g has no closed form."""


def compare_roads(dual: DualCoordinates, published: PublishedRoad) -> Finding:
    """Prove that dual coordinates and Ansatz give one Q up to a positive factor and z.beta.

    With the Q' and g' of the Ansatz, X_a dQ'/dbeta_i = g' delta_ai, X_a = grad F_a. Where
    X_a y_i = g delta_ai and X_a log g = X_a log g' as well, g'/g is constant along the flow, and so
    is dQ'/dbeta_i - (g'/g) y_i.

    UNDECIDED where the Ansatz gives no Q; ConsistencyError where they disagree, InputError for two
    metrics.
    """
    if dual.metric is not published.metric:
        raise InputError("compare two roads that start from one metric")
    if published.H is None:
        return Finding(Verdict.UNDECIDED, f"{published.name} gives no Q to compare")
    p, g = dual.parameterization, dual.g
    try:
        equations = [
            (f"X{a} y{i} = {'g' if a == i else '0'}", y.along(x), g if a == i else p.field.zero)
            for a, x in zip(p.labels, p.fields, strict=True)
            for i, y in zip(p.labels, dual.y, strict=True)
        ]
    except ValueError as error:
        raise disagreement(WEIGHT_SPACE, published.name, str(error)) from None
    equations += [
        (f"X{a} log g' = X{a} log g", h, along(x, g) / g)
        for a, x, h in zip(p.labels, p.fields, published.H, strict=True)
    ]
    return _agreement(WEIGHT_SPACE, published.name, equations)


def _agreement(
    first: str, second: str, equations: Iterable[tuple[str, RationalFunction, RationalFunction]]
) -> Finding:
    identities = []
    for statement, left, right in equations:
        if left != right:
            raise disagreement(first, second, f"{statement} fails: {left!r} and {right!r}")
        identities.append(Identity(statement, repr(left), repr(right)))
    return Finding(Verdict.PROVED, f"{first} and {second} agree", tuple(identities))


def compare_decisions(warping: WarpVerdict, published: PublishedRoad) -> Finding:
    """Prove that the main road's H_a = X_a log g is that of the Ansatz, or ConsistencyError."""
    if published.H is None:
        return Finding(Verdict.UNDECIDED, f"{published.name} gives no Q to compare")
    if warping.verdict is Verdict.REFUTED:
        raise disagreement(DECISION, published.name, f"the first refutes: {warping.finding.reason}")
    if warping.verdict is Verdict.UNDECIDED or warping.H is None:
        return Finding(Verdict.UNDECIDED, f"the main road did not decide: {warping.finding.reason}")
    labels = warping.parameterization.labels
    equations = [
        (f"X{a} log g on both roads", left, right)
        for a, left, right in zip(labels, warping.H, published.H, strict=True)
    ]
    return _agreement(DECISION, published.name, equations)
