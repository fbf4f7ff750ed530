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
from sympy import Expr, ImmutableMatrix

from derive.derivation import Derivation
from derive.limits.kernel_regime import find_homogeneity, find_tangent_kernel
from derive.model.geometry import EUCLIDEAN
from derive.model.notation import Notation
from derive.model.restriction import leave_out
from derive.verdict import Finding, Verdict


@dataclass(frozen=True)
class ScaledStart:
    """The limit of large starts at bounded rescaled times.

    Attributes:
        finding: PROVED where it applies; why it does not.
        kernel: K_0.
        degree: D, positive as far as it is a number.
    """

    finding: Finding
    kernel: ImmutableMatrix | None = None
    degree: Expr = sympy.S.One

    @property
    def time(self) -> Expr | None:
        """The k of t = tau/alpha^k."""
        return None if self.kernel is None else 2 * self.degree - 2

    @property
    def displacement(self) -> Expr | None:
        """The k of w = alpha w_0 + v/alpha^k."""
        return None if self.kernel is None else self.degree - 1


def scaled_start(derivation: Derivation) -> ScaledStart:
    """Return what large starts do at first, for homogeneous F that vanishes at the start."""
    p = leave_out(derivation.parameterization, derivation.idle)
    notation = Notation(p, tuple(range(p.d)))
    if p.vectors or p.geometry != EUCLIDEAN or (F := find_homogeneity(p, notation)) is None:
        return _open("F is not homogeneous on weights in components, in the Euclidean metric")
    try:
        kernel = find_tangent_kernel(p, notation)
        if not kernel.unbiased:
            return _open("F(w_0) is not 0")
        if not p.starts_regular:
            return _open("J(w_0) has rank below d")
    except ZeroDivisionError:
        return _open("F is not smooth at w_0")
    if F.degree.is_number and not F.degree > 0:
        return _open("the degree of F is not positive: at c w_0 it is nowhere nearly linear")
    if F.degree == 1:
        return _open("F is linear, at every scale")
    reason = "F is homogeneous, F(w_0) = 0 and J(w_0) has full rank"
    return ScaledStart(Finding(Verdict.PROVED, reason), kernel.matrix, F.degree)


def _open(reason: str) -> ScaledStart:
    return ScaledStart(Finding(Verdict.UNDECIDED, reason))
