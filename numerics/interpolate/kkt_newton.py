"""min Q(beta) s.t. X beta = y for coupled Q: Newton's method on the optimality conditions.

For a Q whose mirror map has no inverse in closed form, and next to the end of its domain.

``grad Q(beta) = X^T nu`` and ``X beta = y`` together; Hess Q = g rho is positive definite, so each
step exists (Boyd & Vandenberghe 2004, section 10.3). It lowers the misfit and the part of grad Q
outside the row space at once: nu is the best for its beta, as a mirror map that grows like a
logarithm moves it far where beta moves little.
"""

from __future__ import annotations

import numpy as np

from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolate.equations import Equations, Point, measured

_DAMPINGS = 50


def minimize_coupled(
    mirror: NumericPotential, equations: Equations, beta: Array, tol: float, max_iterations: int
) -> Point:
    """Return the last iterate, both its relative errors at most *tol* where that was reached.

    *beta* is beta_0. The iteration ends early where no step lowers the errors.
    """
    X = equations.design.dense()
    m, d = X.shape
    basis, triangle = np.linalg.qr(X.T)
    matrix = np.zeros((d + m, d + m))
    matrix[:d, d:], matrix[d:, :d] = -X.T, X

    def errors(beta: Array) -> Array:
        slope = mirror.gradient(beta)
        return np.concatenate([slope - basis @ (slope @ basis), equations.misfit(beta)])

    left, unit = errors(beta), 0.0
    for iteration in range(max_iterations + 1):
        multiplier = np.linalg.solve(triangle, mirror.gradient(beta) @ basis)
        multiplier = np.where(
            np.isfinite(multiplier), multiplier, 0
        )  # of beta_0, where all cancels
        point = measured(mirror, equations, beta, multiplier, iteration)
        if equations.error(point) <= tol:
            break
        matrix[:d, :d] = mirror.hessian(beta)
        step = _solved(matrix, -left)
        if step is None or iteration == max_iterations:
            break
        # The first step shows how large grad Q becomes, which weighs its equation ever after.
        unit = unit or float(np.linalg.norm(step[d:] @ X)) or 1.0
        weights = np.repeat([1 / unit, 1 / equations.scale], [d, m])
        size, t = np.linalg.norm(weights * left), 1.0
        for _ in range(_DAMPINGS):
            trial = errors(beta + t * step[:d])
            if np.linalg.norm(weights * trial) <= (1 - 0.1 * t) * size:
                break
            t /= 2
        else:
            break
        beta, left = beta + t * step[:d], trial
    return point


def _solved(matrix: Array, vector: Array) -> Array | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        solution = np.linalg.solve(matrix, vector)
    except np.linalg.LinAlgError:
        return None
    return solution if np.isfinite(solution).all() else None
