"""Interpolants of least l1 norm, or of least cost with other slopes on either side of 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from derive.errors import NumericalError
from numerics.evaluate.numbers import Array

_INFEASIBLE, _UNBOUNDED = 2, 3


class NoInterpolant(NumericalError):
    """No beta has X beta = y."""


class NoMinimizer(NumericalError):
    """The cost has no minimizer subject to X beta = y."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastL1:
    """The minimizer beta (d,), its cost, and nu (m,) with X^T nu between the slopes."""

    value: Array
    cost: float
    multiplier: Array


def least_l1(X: Array, y: Array, up: Array | float = 1.0, down: Array | float = 1.0) -> LeastL1:
    """Minimise sum_j up_j max(beta_j, 0) + down_j max(-beta_j, 0) subject to X beta = y.

    Args:
        X, y: (m, d) and (m,).
        up, down: (d,) or one number for all; where down is infinite, beta_j >= 0.

    Raises:
        NoInterpolant, NoMinimizer: there is none.
        NumericalError: the linear program was not solved.
    """
    d = X.shape[1]
    up, down = np.broadcast_to(up, d), np.broadcast_to(down, d)
    free = np.isfinite(down)
    program = scipy.optimize.linprog(
        np.append(up, down[free]), A_eq=np.hstack([X, -X[:, free]]), b_eq=y, method="highs"
    )
    if program.status == _INFEASIBLE:
        raise NoInterpolant("no beta has X beta = y")
    if program.status == _UNBOUNDED:
        raise NoMinimizer("what is minimised is unbounded below")
    if program.status:
        raise NumericalError(f"the linear program was not solved: {program.message}")
    beta = program.x[:d].copy()
    beta[free] -= program.x[d:]
    return LeastL1(beta, float(program.fun), program.eqlin.marginals)
