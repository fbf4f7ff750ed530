"""Stage 6: is there a positive warp g(beta) that makes g * rho a Hessian? Decided exactly.

With H_a = X_a log g the warped condition h_k rho_ij - h_i rho_kj = -(d_k rho_ij - d_i rho_kj),
h = grad log g, contracted with K reads

    H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac = [X_a, X_b] F_c,

linear equations for H whose 2 x 2 minors are Gram determinants, hence positive: there is at most
one H, so at most one g up to a constant. It exists on a leaf exactly when this H solves all the
equations and the closedness conditions of :mod:`derive.weights.vertical` hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.conditions import warp_candidate, warp_conditions
from derive.weights.hessian import HessianVerdict
from derive.weights.metric import Metric
from derive.weights.pointwise import fails_with_warp
from derive.weights.vertical import NOT_CLOSED, check_vertical
from derive.weights.witness import find_failure

NO_CANDIDATE = "the only candidate for H_a = <grad F_a, grad log g> fails: no scalar warp exists"


@dataclass(frozen=True)
class WarpVerdict:
    """Whether a warp exists, and the derivatives of its logarithm.

    Attributes:
        hessian: the verdict without a warp.
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

    @property
    def verdict(self) -> Verdict:
        """PROVED, REFUTED or UNDECIDED."""
        return self.finding.verdict


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
    if hessian.verdict is Verdict.PROVED:
        return WarpVerdict(hessian, Finding(Verdict.PROVED, "g = 1: none is needed"), zero)
    if p.d == 1:
        raise AssertionError("a single output is always a Hessian map")
    failure = fails_with_warp(metric)
    if failure is not None:
        reason = NO_CANDIDATE if failure.statement.startswith("H") else NOT_CLOSED
        return WarpVerdict(hessian, Finding(Verdict.REFUTED, reason, (failure,)), None)
    H = warp_candidate(metric)
    finding = _consistency(metric, H)
    if finding.verdict is Verdict.PROVED:
        closure = check_vertical(metric, H)
        evidence = (*finding.evidence, *closure.evidence)
        finding = Finding(closure.verdict, closure.reason, evidence)
    return WarpVerdict(hessian, finding, None if finding.verdict is Verdict.REFUTED else H)


def _consistency(metric: Metric, H: Field) -> Finding:
    """Check every equation for the unique candidate."""
    open_ends = 0
    solved: list[Identity] = []
    for statement, left, right in warp_conditions(metric, H):
        solved.append(Identity(statement, repr(left), repr(right)))
        if left != right:
            failure = find_failure(metric.parameterization, statement, left, right)
            if failure is not None:
                return Finding(Verdict.REFUTED, NO_CANDIDATE, (failure,))
            open_ends += 1
    if open_ends:
        reason = "the equations for the warp fail for general starts, but not visibly on this leaf"
        return Finding(Verdict.UNDECIDED, reason)
    reason = "the only candidate for H_a = <grad F_a, grad log g> solves every equation"
    return Finding(Verdict.PROVED, reason, tuple(solved))
