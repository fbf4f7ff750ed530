"""Stage 6: is there a positive warp g(beta) that makes g * rho a Hessian? Decided exactly.

With H_a = X_a log g the condition reads

    H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac = [X_a, X_b] F_c,

linear equations for H whose 2 x 2 minors are Gram determinants, hence positive: there is at most
one H, so at most one g up to a constant. It exists on a leaf exactly when this H solves them all
and the conditions of :mod:`derive.weights.equations` hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.labels import quoted
from derive.model.parameterization import Parameterization
from derive.verdict import Decided, Finding, Verdict
from derive.weights.equations import warp_candidate, warp_conditions
from derive.weights.hessian import NOT_CLOSED, HessianVerdict, check_closure
from derive.weights.metric import Metric
from derive.weights.pointwise import find_failing_condition, warp_and_closure
from derive.weights.witness import NotProved, require_equations

NO_CANDIDATE = "the only candidate for H_a = <grad F_a, grad log g> fails: no scalar warp exists"
OPEN = "the equations for the warp fail for general starts, but not visibly on this leaf"


@dataclass(frozen=True)
class WarpVerdict(Decided):
    """Whether a warp exists, and the derivatives of its logarithm.

    Attributes:
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
    if p.rank < p.d:
        return WarpVerdict(hessian, hessian.finding, None)
    if p.d == 1:
        raise AssertionError("a single output is always a Hessian map")
    failure = find_failing_condition(metric, warp_and_closure)
    if failure is not None:
        reason = NO_CANDIDATE if failure.kind == "candidate" else NOT_CLOSED
        return WarpVerdict(hessian, Finding(Verdict.REFUTED, reason, (failure,)), None)
    H = warp_candidate(metric)
    try:
        solved = require_equations(p, warp_conditions(metric, H), NO_CANDIDATE, OPEN)
        closure = check_closure(metric, H)
        finding = replace(closure, evidence=(*solved, *closure.evidence))
    except NotProved as end:
        finding = end.finding
    return WarpVerdict(hessian, finding, None if finding.verdict is Verdict.REFUTED else H)


def _of_direction(direction: Direction) -> Finding:
    """Say that g = psi r phi/n is a warp: s grows along the leaf, a curve, so psi is psi(s)."""
    p = direction.parameterization
    n, u = quoted(direction.norm, p), quoted(direction.vector, p)
    reason = (
        f"g = psi {direction.pushed}/{n} with <grad psi, grad s> = g, which has a solution on "
        f"every leaf: <grad y_i, grad F_j> = g delta_ij for y = psi {u}/{n}"
    )
    return Finding(Verdict.PROVED, reason)
