"""Largest margins in l_p, 1 < p < inf, between two bounds proved in balls.

The dual min |X^T y|_q^2/2 - sum y over y >= 0 is smooth; w = grad(|.|_q^2/2)(X^T y) there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from scipy.optimize import minimize

from derive.exact.balls import ball
from derive.optimizers.norms import Norm
from numerics.evaluate.backend import Array
from numerics.margins.interval import Bounded


def power_norm(norm: Norm) -> Bounded:
    """Return l_p in doubles, by the dual, and in balls."""
    q = float(norm.dual.p or 1)

    def near(A: Array) -> tuple[Array, Array] | None:
        def objective(y: Array) -> tuple[float, Array]:
            g = A.T @ y
            return float(np.linalg.norm(g, q) ** 2 / 2 - y.sum()), A @ dual_slope(g, norm) - 1

        options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 10_000, "maxfun": 10**5}
        start, limits = np.full(len(A), 1 / len(A)), [(0, None)] * len(A)
        y = minimize(objective, start, jac=True, bounds=limits, options=options).x
        return dual_slope(A.T @ y, norm), y

    def bounds(w: Sequence[Fraction]) -> tuple[arb, arb]:
        x = list(map(ball, w))
        return norm.value(x), norm.dual.value(x)

    return Bounded(near, bounds)


def dual_slope(g: Array, norm: Norm) -> Array:
    """Return grad(|.|_*^2/2)(g), minus the step of steepest descent; of ties the first."""
    if norm.dual.p is None:
        return np.asarray(np.where(np.arange(len(g)) == np.argmax(np.abs(g)), g, 0.0))
    q = float(norm.dual.p)
    size = np.linalg.norm(g, q) or 1.0
    return np.asarray(np.sign(g) * (np.abs(g) / size) ** (q - 1) * size)
