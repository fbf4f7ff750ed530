"""Stages 5 and 6: is rho a Hessian, or g * rho for a positive warp g(beta)? Decided exactly.

The condition d_k rho_ij = d_i rho_kj (all i, j, k), contracted three times with K, is the
identity of functions of the weights

    X_a K_bc = X_b K_ac,   that is   [X_a, X_b] F_c = 0,   X_a = grad F_a,

with no inverse in it. With H_a = X_a log g the warped condition reads

    H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac = [X_a, X_b] F_c,

linear equations for H whose 2 x 2 minors are Gram determinants, hence positive: there is at most
one H, so at most one g up to a constant. Both are necessary. They are sufficient when moreover
what they define closes along the directions of a leaf that leave beta where it is, the *vertical*

    V_ab = [X_a, X_b] - H_a X_b + H_b X_a

(H = 0 for a Hessian map): on the leaf K changes only by a factor along each vertical field V,
V K = omega(V) K, and the one-form eta with eta(X_a) = H_a and eta(V) = omega(V) is closed; g = exp
of its integral. Where every V_ab is zero the leaf has dimension d, nothing is vertical, and what
is left is X_a H_b = X_b H_a. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from random import Random

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.modular import Evaluator, Pole, random_point, rank
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.lie import along, bracket
from derive.weights.metric import Metric
from derive.weights.pointwise import (
    find_failing_condition,
    hessian_conditions,
    warp_and_closure,
    warp_candidate,
    warp_conditions,
)
from derive.weights.witness import NotProved, find_failure, require, require_equations

NOT_CLOSED = "rho is not, up to any factor g, a Hessian in beta on the leaf of the start"


def check_vertical(metric: Metric, H: Sequence[RationalFunction]) -> Finding:
    """Decide whether some g with X_a log g = H_a makes g * rho a Hessian on the leaf.

    H satisfies H_a K_bc - H_b K_ac = [X_a, X_b] F_c for all a, b, c; there are d >= 2 outputs.
    """
    try:
        evidence = _close(metric, H)
    except NotProved as end:
        return end.finding
    reason = "rho is, up to the factor g, a function of beta on every leaf, and a Hessian"
    return Finding(Verdict.PROVED, reason, evidence)


def _close(metric: Metric, H: Sequence[RationalFunction]) -> tuple[Identity, ...]:
    """Span the vertical directions and check the closedness of eta on them."""
    p = metric.parameterization
    fields = p.fields
    evidence: list[Identity] = []
    # Fields V with V F = 0, and omega with V K = omega K.
    spanning: list[tuple[Field, RationalFunction]] = []
    point = random_point(p.field, Random(4))

    def admit(v: Field, name: str) -> RationalFunction:
        """Return omega of a vertical field, extending the span where it is new."""
        factor = _factor(metric, v, name)
        if not all(x.is_zero() for x in v):
            known = [_values(v, point) for v, _ in spanning]
            if rank([*known, _values(v, point)]) > len(spanning):
                spanning.append((v, factor))
        return factor

    for a, b in combinations(range(p.d), 2):
        i, j = p.labels[a], p.labels[b]
        name = f"V{i}{j}"
        z = zip(metric.lie.brackets[a, b], fields[a], fields[b], strict=True)
        omega = admit(tuple(zk - H[a] * yk + H[b] * xk for zk, xk, yk in z), name)
        curl = along(fields[a], H[b]) - along(fields[b], H[a])
        closed = (f"X{i} H{j} - X{j} H{i} = omega({name})", curl, omega)
        evidence += require_equations(p, [closed], NOT_CLOSED)
    # The list grows while it is walked: what a bracket adds is bracketed in its turn.
    for position, (v, factor) in enumerate(spanning, 1):
        for m, x in enumerate(fields):
            label = p.labels[m]
            name = f"[X{label}, V({position})]"
            lifted = tuple(r + factor * xk for r, xk in zip(bracket(x, v), x, strict=True))
            omega = admit(lifted, name)
            left = along(x, factor) - along(v, H[m]) + factor * H[m]
            require(p, [(f"d eta(X{label}, V({position})) = 0", left, omega)], NOT_CLOSED)
    if spanning:
        _certify_span(metric, spanning)
        statement, K = "V K = omega(V) K for every vertical V on a leaf", metric.K[0][0]
        for v, factor in spanning:
            evidence.append(Identity(statement, repr(along(v, K)), repr(factor * K)))
    return tuple(evidence)


def _factor(metric: Metric, v: Field, name: str) -> RationalFunction:
    """Return omega with V K = omega K, or raise what its absence means."""
    p, K = metric.parameterization, metric.K
    if all(x.is_zero() for x in v):
        return p.field.zero
    omega = along(v, K[0][0]) / K[0][0]
    for i, j in combinations_with_replacement(range(p.d), 2):
        entry = f"K{p.labels[i]}{p.labels[j]}"
        statement = f"{name} {entry} = omega({name}) {entry}"
        require(p, [(statement, along(v, K[i][j]), omega * K[i][j])], NOT_CLOSED)
    return omega


def _certify_span(metric: Metric, spanning: Sequence[tuple[Field, RationalFunction]]) -> None:
    """Require that the vertical fields found are all: d + their number + laws = p."""
    p, laws = metric.parameterization, len(metric.conserved.laws)
    if p.d + len(spanning) + laws != p.p:
        raise _undecided(
            f"{len(spanning)} vertical directions and {laws} conserved quantities leave the "
            f"dimension of the leaf open (d = {p.d}, p = {p.p})"
        )


def _undecided(reason: str) -> NotProved:
    return NotProved(Finding(Verdict.UNDECIDED, reason))


def _values(field: Field, point: tuple[int, ...]) -> list[int]:
    try:
        return [Evaluator(x)(point) for x in field]
    except Pole:
        raise _undecided("a vertical field has a pole at a random point") from None


FAILS = "d_k rho_ij = d_i rho_kj fails on the leaf of the start"
OPEN = (
    "d_k rho_ij = d_i rho_kj fails for general starts, but not visibly on the leaf of this one, "
    "whose closure was not decided"
)


@dataclass(frozen=True)
class HessianVerdict(Decided):
    """Whether rho is the Hessian of some Q(beta) on the leaf of the start, with the identities."""

    metric: Metric
    finding: Finding


def decide_hessian(metric: Metric) -> HessianVerdict:
    """Decide whether gradient flow on F is a mirror flow beta' = (Hess Q)^-1 lambda.

    It is where X_a K_bc = X_b K_ac for all a, b, c and K closes on the leaf.

    Args:
        metric: K of d outputs.

    Returns:
        PROVED with the expanded identities; REFUTED with one that fails at a named start;
        UNDECIDED where one fails, but not visibly on the leaf of this start.

    Source: Gunasekar, Woodworth, Srebro 2020 (Hessian-map condition); Li, Wang, Lee, Arora 2022
    (commuting fields).
    """
    p = metric.parameterization
    if metric.direction is not None:
        return HessianVerdict(metric, _needs_no_warp(metric.direction))
    if p.d == 1:
        reason = "one output: beta is monotone along grad F, so K > 0 is a function of beta"
        return HessianVerdict(metric, Finding(Verdict.PROVED, reason))
    failure = find_failing_condition(metric, hessian_conditions)
    if failure is not None:
        return HessianVerdict(metric, Finding(Verdict.REFUTED, FAILS, (failure,)))
    try:
        equations = require_equations(p, hessian_conditions(metric), FAILS, OPEN)
    except NotProved as end:
        return HessianVerdict(metric, end.finding)
    if metric.lie.commuting:
        reason = "the fields grad F_a commute, so d_k rho_ij = d_i rho_kj on every leaf"
        return HessianVerdict(metric, Finding(Verdict.PROVED, reason, equations))
    closure = check_vertical(metric, (p.field.zero,) * p.d)
    if closure.verdict is Verdict.PROVED:
        closure = replace(closure, evidence=(*equations, *closure.evidence))
    return HessianVerdict(metric, closure)


def _needs_no_warp(direction: Direction) -> Finding:
    """Decide whether the warp g = psi phi/n, unique up to a factor for d >= 2, is constant."""
    p, H = direction.parameterization, direction.H
    statement = f"<grad log g, grad s> = {direction.norm} |grad phi|**2/phi = 0"
    if H.is_zero():
        reason = "phi is constant, so the only warp g is, too"
        return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    failure = find_failure(p, statement, H, p.field.zero)
    if failure is None:
        reason = "the only warp is not constant for general starts, but not visibly on this leaf"
        return Finding(Verdict.UNDECIDED, reason)
    reason = "the only warp g, unique up to a factor for d >= 2, is not constant on the leaf"
    return Finding(Verdict.REFUTED, reason, (failure,))


NO_CANDIDATE = "the only candidate for H_a = <grad F_a, grad log g> fails: no scalar warp exists"
OPEN_WARP = "the equations for the warp fail for general starts, but not visibly on this leaf"


@dataclass(frozen=True)
class WarpVerdict(Decided):
    """Whether a warp exists, and the derivatives of its logarithm.

    Attributes:
        finding: PROVED (with g = 1 where rho is a Hessian map already), REFUTED, UNDECIDED.
        H: H_a = <grad F_a, grad log g>, functions of the weights; None where refuted.
    """

    hessian: HessianVerdict
    finding: Finding
    H: Field | None

    @property
    def metric(self) -> Metric:
        """The metric decided on."""
        return self.hessian.metric

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.metric.parameterization


def decide_warp(hessian: HessianVerdict) -> WarpVerdict:
    """Decide whether gradient flow on F is a mirror flow in a warped time.

    It is where the only candidate H solves H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac for all
    a, b, c, and the closedness conditions hold.

    Args:
        hessian: the verdict without a warp, for d outputs.

    Returns:
        PROVED, REFUTED or UNDECIDED as for a Hessian map; H with the first and the last.

    Source: Azulay et al. 2021, section 5, for the warp; the exact test is derived here.
    """
    metric = hessian.metric
    p = metric.parameterization
    zero = (p.field.zero,) * p.d
    if metric.direction is not None and hessian.verdict is not Verdict.PROVED:
        return WarpVerdict(hessian, _of_direction(metric.direction), (metric.direction.H,))
    if hessian.verdict is Verdict.PROVED:
        return WarpVerdict(hessian, Finding(Verdict.PROVED, "g = 1: none is needed"), zero)
    if p.d == 1:
        raise AssertionError("a single output is always a Hessian map")
    failure = find_failing_condition(metric, warp_and_closure)
    if failure is not None:
        reason = NO_CANDIDATE if failure.statement.startswith("H") else NOT_CLOSED
        return WarpVerdict(hessian, Finding(Verdict.REFUTED, reason, (failure,)), None)
    H = warp_candidate(metric)
    try:
        solved = require_equations(p, warp_conditions(metric, H), NO_CANDIDATE, OPEN_WARP)
        closure = check_vertical(metric, H)
        finding = replace(closure, evidence=(*solved, *closure.evidence))
    except NotProved as end:
        finding = end.finding
    return WarpVerdict(hessian, finding, None if finding.verdict is Verdict.REFUTED else H)


def _of_direction(direction: Direction) -> Finding:
    """Say that g = psi phi/n is a warp: the leaf is a curve along which s grows, so psi is psi(s).

    Where the coefficient of u is 0 at the start, s = |beta| has a kink there.
    """
    if direction.sign == 0:
        reason = f"the coefficient of {direction.vector} is 0 at the start: its sign selects Q"
        return Finding(Verdict.UNDECIDED, reason)
    reason = (
        f"g = psi phi/{direction.norm} with <grad psi, grad s> = g, which has a solution on every "
        f"leaf: <grad y_i, grad F_j> = g delta_ij for y = psi {direction.vector}/{direction.norm}"
    )
    return Finding(Verdict.PROVED, reason)
