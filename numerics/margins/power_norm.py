"""Largest margins in l_p, 1 < p < inf, between two bounds proved in balls.

The dual min |X^T y|_q^2/2 - sum y over y >= 0 is smooth; w = grad(|.|_q^2/2)(X^T y) there. For all
w with X w >= 1 and y >= 0, not all 0: sum y/|X^T y|_q <= min |w|_p <= |w|_p.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from derive.errors import InputError
from derive.exact.balls import ball, fraction, precise
from derive.optimizers.norms import Norm, read_norm
from numerics.evaluate.backend import Array
from numerics.margins.linear_program import dot
from numerics.margins.spectral import Bounds


def read_power_norm(name: str) -> Norm | None:
    """Return the norm of a name such as l4/3; None for other names."""
    try:
        return read_norm(name) if name.startswith("l") else None
    except InputError:
        return None


def power_interval(norm: Norm, rows: Sequence[Sequence[int]]) -> Bounds | None:
    """Return w, y and bounds of min |w|_p; None where no w of positive margin was found."""
    unit, q = max(1, *(abs(x) for row in rows for x in row)), float(norm.dual.p or 1)
    A = np.array([[x / unit for x in row] for row in rows])

    def objective(y: Array) -> tuple[float, Array]:
        return float(np.linalg.norm(A.T @ y, q) ** 2 / 2 - y.sum()), A @ dual_slope(
            A.T @ y, norm
        ) - 1

    options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 10_000, "maxfun": 10**5}
    start = np.full(len(A), 1 / len(A))
    y = minimize(objective, start, jac=True, bounds=[(0, None)] * len(A), options=options).x
    w = dual_slope(A.T @ y, norm)
    least = float(np.min(A @ w))
    if not least > 0:
        return None
    value = [Fraction(float(x)) / unit for x in w]
    margin = min(dot(row, value) for row in rows)
    value, multiplier = [x / margin for x in value], [Fraction(float(x)) / unit for x in y]
    slopes = [dot(column, multiplier) for column in zip(*rows, strict=True)]
    with precise(128):
        upper, dual = norm.value(list(map(ball, value))), norm.dual.value(list(map(ball, slopes)))
        ends = (
            fraction((ball(sum(multiplier, Fraction(0))) / dual).lower()),
            fraction(upper.upper()),
        )
    return Bounds(tuple(value), tuple(multiplier), *ends)


def dual_slope(g: Array, norm: Norm) -> Array:
    """Return grad(|.|_*^2/2)(g), minus the step of steepest descent; of ties the first."""
    if norm.dual.p is None:
        return np.asarray(np.where(np.arange(len(g)) == np.argmax(np.abs(g)), g, 0.0))
    q = float(norm.dual.p)
    size = np.linalg.norm(g, q) or 1.0
    return np.asarray(np.sign(g) * (np.abs(g) / size) ** (q - 1) * size)
