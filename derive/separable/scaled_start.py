"""Starts alpha w_0 as alpha -> infinity: a linear model at first, whatever comes later.

With F homogeneous of degree D > 0 and F(w_0) = 0, put w = alpha w_0 + alpha^(1 - D) v and t =
tau/alpha^(2 (D - 1)). Then beta = J(w_0) v + O(alpha^-D) and dv/dtau = J(w_0)^T X^T a: gradient
flow of a linear model with kernel K_0 = J(w_0) J(w_0)^T, uniformly on bounded tau, for any smooth
loss.
On separable data tau has to go on without end, and the limits do not commute: first alpha ->
infinity gives the largest margin in beta^T K_0^-1 beta, first L -> 0 what Q or R_F decide.

Source: Chizat, Bach 2018 for lazy training; the exponents are our own derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr, ImmutableMatrix, Symbol

from derive.derivation import Derivation
from derive.exact.linear.matrix import dot
from derive.model.geometry import EUCLIDEAN
from derive.model.notation import to_expr
from derive.model.restriction import leave_out
from derive.verdict import Finding, Verdict


@dataclass(frozen=True)
class ScaledStart:
    """The limit of large starts at bounded rescaled times.

    Attributes:
        finding: PROVED where it applies; why it does not.
        time: the k of t = tau/alpha^k.
        displacement: the k of w = alpha w_0 + v/alpha^k.
        kernel: K_0.
        degree: D, positive as far as it is a number.
    """

    finding: Finding
    time: Expr | None = None
    displacement: Expr | None = None
    kernel: ImmutableMatrix | None = None
    degree: Expr = sympy.S.One


def scaled_start(derivation: Derivation) -> ScaledStart:
    """Return what large starts do at first, for homogeneous F that vanishes at the start."""
    p = leave_out(derivation.parameterization, derivation.idle)
    if p.vectors or p.geometry != EUCLIDEAN or p.homogeneity is None:
        return _open("F is not homogeneous on weights in components, in the Euclidean metric")
    try:
        if not all(p.at_start(f).is_zero() for f in p.F):
            return _open("F(w_0) is not 0")
        if not p.starts_regular:
            return _open("J(w_0) has rank below d")
    except ZeroDivisionError:
        return _open("F is not smooth at w_0")
    symbols = {name: Symbol(name) for name in (*p.start_symbols, *p.parameters)}
    D, J = to_expr(p.homogeneity, symbols), p.start_covectors
    if D.is_number and not D > 0:
        return _open("the degree of F is not positive: at c w_0 it is nowhere nearly linear")
    if D == 1:
        return _open("F is linear, at every scale")
    K = ImmutableMatrix([[to_expr(dot(a, b), symbols) for b in J] for a in J])
    reason = "F is homogeneous, F(w_0) = 0 and J(w_0) has full rank"
    return ScaledStart(Finding(Verdict.PROVED, reason), 2 * D - 2, D - 1, K, D)


def _open(reason: str) -> ScaledStart:
    return ScaledStart(Finding(Verdict.UNDECIDED, reason))
