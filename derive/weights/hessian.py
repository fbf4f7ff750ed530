"""Stage 5: is the induced metric a Hessian map? Decided exactly, in weight space.

The condition d_k rho_ij = d_i rho_kj (all i, j, k), contracted three times with K, is the
identity of functions of the weights

    X_a K_bc = X_b K_ac,   that is   [X_a, X_b] F_c = 0,   X_a = grad F_a,

with no inverse in it. It is necessary, and sufficient when moreover what it defines closes along
the vertical directions (:mod:`derive.weights.equations`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from flint import nmod

from derive.exact.linear.modular import Evaluator, Pole, random_point, rank
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.dependence import no_row_space_law
from derive.weights.equations import Equation, closure, hessian_conditions
from derive.weights.metric import Metric
from derive.weights.pointwise import find_failing_condition
from derive.weights.witness import NotProved, find_failure, require, require_equations

FAILS = "d_k rho_ij = d_i rho_kj fails on the leaf of the start"
OPEN = (
    "d_k rho_ij = d_i rho_kj fails for general starts, but not visibly on the leaf of this one, "
    "whose closure was not decided"
)
NOT_CLOSED = "rho is not, up to any factor g, a Hessian in beta on the leaf of the start"


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
        UNDECIDED where one fails, but not visibly on the leaf of this start, or J has rank below d.

    Source: Gunasekar, Woodworth, Srebro 2020 (Hessian-map condition); Li, Wang, Lee, Arora 2022
    (commuting fields).
    """
    p = metric.parameterization
    if metric.direction is not None:
        return HessianVerdict(metric, _needs_no_warp(metric.direction))
    if p.d == 1:
        reason = "one output: beta is monotone along grad F, so K > 0 is a function of beta"
        return HessianVerdict(metric, Finding(Verdict.PROVED, reason))
    singular = no_row_space_law(p)
    if singular is not None:
        return HessianVerdict(metric, singular)
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
    closed = check_closure(metric, (p.field.zero,) * p.d)
    if closed.verdict is Verdict.PROVED:
        closed = replace(closed, evidence=(*equations, *closed.evidence))
    return HessianVerdict(metric, closed)


def check_closure(metric: Metric, H: Field) -> Finding:
    """Decide whether some g makes g * rho a Hessian, for H that solves its equations, d >= 2."""
    p, point = metric.parameterization, random_point(metric.parameterization.field, Random(4))
    vertical, values = list[Field](), list[list[nmod]]()

    def is_new(v: Field) -> bool:
        try:
            rows = [*values, [Evaluator(x)(point) for x in v]]
        except Pole:
            raise _undecided("a vertical field has a pole at a random point") from None
        if rank(rows) < len(rows):
            return False
        vertical.append(v)
        values.append(rows[-1])
        return True

    try:
        equations = [e for e in closure(metric, H, is_new) if require(p, [e], NOT_CLOSED)]
        laws = len(metric.conserved.laws)
        if vertical and p.d + len(vertical) + laws != p.p:
            raise _undecided(
                f"{len(vertical)} vertical directions and {laws} conserved quantities leave the "
                f"dimension of the leaf open (d = {p.d}, p = {p.p})"
            )
    except NotProved as end:
        return end.finding
    evidence = [
        Identity(e.statement, repr(e.left), repr(e.right)) for e in equations if e.kind == "closed"
    ]
    statement = "V K = omega(V) K for every vertical V on a leaf"
    factors = (repr(metric.change(v, 0, 0)) for v in vertical)
    evidence += [Identity(statement, factor, factor) for factor in factors]
    reason = "rho is, up to the factor g, a function of beta on every leaf, and a Hessian"
    return Finding(Verdict.PROVED, reason, tuple(evidence))


def _undecided(reason: str) -> NotProved:
    return NotProved(Finding(Verdict.UNDECIDED, reason))


def _needs_no_warp(direction: Direction) -> Finding:
    """Decide whether the warp g = psi r phi/n, unique up to a factor for d >= 2, is constant."""
    p, H = direction.parameterization, direction.H
    forced = f"{direction.norm} |grad phi|**2/phi"
    if any(not x.is_zero() for x in p.field.gradient(direction.rate)[: p.p]):
        forced += f" + <grad log rate({direction.vector}), grad s>"
    statement = f"<grad log g, grad s> = {forced} = 0"
    if H.is_zero():
        reason = "phi is constant, so the only warp g is, too"
        return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    failure = find_failure(p, Equation(statement, H, p.field.zero))
    if failure is None:
        reason = "the only warp is not constant for general starts, but not visibly on this leaf"
        return Finding(Verdict.UNDECIDED, reason)
    reason = "the only warp g, unique up to a factor for d >= 2, is not constant on the leaf"
    return Finding(Verdict.REFUTED, reason, (failure,))
