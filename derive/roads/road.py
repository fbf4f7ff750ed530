"""The roads that were walked to one block's Q, each with what it proved and agrees with.

Two roads to one Q must agree, exactly; where they do not, one of them is at fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from derive.errors import ConsistencyError, InputError
from derive.exact.field.function_field import RationalFunction
from derive.potential.block import BlockPotential
from derive.potential.shortest import DUAL_TIME, METRIC, SEPARATE, WEIGHT_SPACE
from derive.printable import Held
from derive.roads.published import Ansatz, PublishedRoad, follow_published
from derive.verdict import Finding, Identity, Verdict
from derive.weights.conserved import along
from derive.weights.dual import DualCoordinates
from derive.weights.hessian import WarpVerdict
from derive.weights.metric import Metric

LENGTH, EIGENVALUES = "dual length psi", "eigenvalues of K (s q''/q' = T/R)"
MAXIMAL_OUTPUTS = 6
MAXIMAL_TERMS = 300
"""Terms of K beyond which no Ansatz is tried unasked."""


@dataclass(frozen=True, repr=False)
class Road(Held):
    """One derivation of Q, PROVED: it gives the one Q; REFUTED: Q is not of the form it asks."""

    name: str
    finding: Finding


def find_roads(potential: BlockPotential) -> tuple[Road, ...]:
    """Return the roads to the Q of one block, the one that gave the printed form first.

    Args:
        potential: Q by the main road.

    Returns:
        each road with what it proved; all that are PROVED agree.

    Raises:
        ConsistencyError: two of them disagree.

    Source: Azulay et al. 2021, eq. (10)-(12).
    """
    warping = potential.warping
    if warping.metric.direction is not None:
        return _in_every_dimension(potential)
    if warping.parameterization.d == 1:
        return _single(potential)
    if warping.parameterization.rank < warping.parameterization.d:
        return ()
    others = (ask_road(warping, potential.dual, ansatz) for ansatz in _unasked(warping.metric))
    return *_main(potential), *others


def ask_road(warping: WarpVerdict, dual: DualCoordinates | None, ansatz: Ansatz) -> Road:
    """Try one Ansatz and compare it with the main road; ConsistencyError where they disagree."""
    published = follow_published(warping.metric, ansatz)
    finding = published.finding
    if published.verdict is Verdict.PROVED:
        agreement = compare_decisions(warping, published)
        if dual is not None:
            agreement = compare_roads(dual, published)
        if agreement.verdict is Verdict.PROVED:
            reason = f"{finding.reason}; {agreement.reason}"
            finding = Finding(Verdict.PROVED, reason, finding.evidence + agreement.evidence)
    return Road(published.name, finding)


def _main(potential: BlockPotential) -> tuple[Road, ...]:
    """Return the road in weight space, after that of the printed form where it is another."""
    summed = [
        Road(SEPARATE, Finding(Verdict.PROVED, "Hess Q = V diag(1/K_kk) V^T", f.piece.evidence))
        for f in potential.forms
        if f.road == SEPARATE
    ]
    if potential.dual is not None:
        reason = "y and g solve <grad y_i, grad F_j> = g delta_ij"
        found = Road(WEIGHT_SPACE, Finding(Verdict.PROVED, reason, potential.dual.evidence))
        printed = potential.forms[0].road if potential.forms else WEIGHT_SPACE
        return tuple(sorted((found, *summed), key=lambda r: r.name != printed))
    if potential.warping.verdict is Verdict.PROVED:
        return (Road(DECISION, potential.warping.finding),)
    return ()


def _unasked(metric: Metric) -> tuple[Ansatz, ...]:
    d = metric.parameterization.d
    entries = [x for row in metric.K for x in row]
    size = sum(len(x.numerator) + len(x.denominator) for x in entries)
    if d > MAXIMAL_OUTPUTS or size > MAXIMAL_TERMS:
        return ()
    diagonal = all(metric.K[i][j].is_zero() for i in range(d) for j in range(i))
    return (Ansatz.radial(), Ansatz.separable()) if diagonal else (Ansatz.radial(),)


def _single(potential: BlockPotential) -> tuple[Road, ...]:
    """Return the roads of one output: X Q'(F) = Q'' K = 1, X = grad F, and X y = 1."""
    piece = potential.piece
    if piece is None:
        return _main(potential)
    name, reason = METRIC, "Q'' = 1/K, K = |grad F|^2 as a function of beta on the leaf"
    if piece.time_curve is not None:
        name, reason = (DUAL_TIME, "beta = h(mu) along the dual time mu = dQ/dbeta = y - y(w_0)")
    integrated = Road(name, Finding(Verdict.PROVED, reason, piece.evidence))
    return integrated, *(() if potential.dual is None else _main(potential))


def _in_every_dimension(potential: BlockPotential) -> tuple[Road, ...]:
    """Return the road of a vector of open dimension, in its length."""
    turning = potential.turning
    if turning is None:
        return ()
    name, reason = LENGTH, "q' = psi, <grad log psi, grad s> = s/n^2"
    if turning.dual is None:
        name, reason = EIGENVALUES, "s q''/q' = T/R"
    return (Road(name, Finding(Verdict.PROVED, reason, potential.finding.evidence)),)


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
