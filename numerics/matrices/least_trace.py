"""The matrix of least nuclear norm with given measurements, and a bound that proves it least."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError, NumericalError
from numerics.evaluate.numbers import Array
from numerics.margins.central_path import STEPS, Program, corners

_DEPENDENT = 1e-7
"""Relative singular values of measurements that depend on each other."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastTrace:
    """The solution of ``min tr(beta) s.t. <A_i, beta> = y_i, beta >= 0`` (positive semidefinite).

    Attributes:
        multiplier: nu (m,) with ``sum_i nu_i A_i <= I``.
        bound: ``<nu, y>``, which no feasible trace is below.
        residual: ``|<A_i, beta> - y_i|/|y|``.
    """

    beta: Array
    multiplier: Array
    bound: float
    residual: float
    iterations: int

    @property
    def nuclear_norm(self) -> float:
        """The nuclear norm of beta: its trace, where it is positive semidefinite."""
        return float(np.linalg.norm(self.beta, "nuc"))


def least_trace(
    matrices: ArrayLike, y: ArrayLike, *, tol: float = 1e-6, max_iterations: int = STEPS
) -> LeastTrace:
    """Return the positive semidefinite matrix of least nuclear norm with the measurements y.

    The dual point has ``sum_i nu_i A_i <= I``: weak duality, ``tr(beta) >= <nu, y>``, proves how
    near the least trace is.

    Args:
        matrices, y: (m, n, n), symmetric and linearly independent; (m,); in doubles.
        tol: of the residual, and of the trace beyond its bound relative to it.
        max_iterations: those after which to give up.

    Raises:
        InputError: a shape or a number is wrong, or the A_i depend linearly on each other.
        NumericalError: no solution is found, as where no beta >= 0 has the measurements.

    >>> least_trace([[[1, 0], [0, 2]]], [1]).beta.round(5).diagonal().tolist()
    [0.0, 0.5]
    """
    A, target = _read(matrices, y)
    if not np.array_equal(A, A.transpose(0, 2, 1)):
        raise InputError("the measurements must be symmetric matrices")
    return _least(A, A, target, tol, max_iterations)


def least_nuclear(
    matrices: ArrayLike, y: ArrayLike, *, tol: float = 1e-6, max_iterations: int = STEPS
) -> LeastTrace:
    """Return the matrix, of any kind, of least nuclear norm with the measurements y.

    |X|_* is the least (tr W_1 + tr W_2)/2 with [[W_1, X], [X^T, W_2]] positive semidefinite. A_i
    (m, n, n) need not be symmetric. The bound <nu, y> is that of |sum_i nu_i A_i|_op <= 1.

    Source: Recht, Fazel, Parrilo 2010, "Guaranteed minimum-rank solutions of linear matrix
    equations via nuclear norm minimization", section 2.

    >>> round(least_nuclear([[[0, 1], [0, 0]]], [-1]).nuclear_norm, 4)
    1.0
    """
    A, target = _read(matrices, y)
    return _least(A, corners(A), target, tol, max_iterations)


def _read(matrices: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    try:
        A, target = np.asarray(matrices, dtype=float), np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the measurements must be (m, n, n) numbers and y m numbers") from None
    if A.ndim != 3 or A.shape[1] != A.shape[2] or target.shape != A.shape[:1] or not A.size:
        raise InputError(f"the shapes must be (m, n, n) and (m,), not {A.shape}, {target.shape}")
    if not (np.isfinite(A).all() and np.isfinite(target).all()):
        raise InputError("the measurements and y must be finite")
    return A, target


def _least(A: Array, F: Array, y: Array, tol: float, max_iterations: int) -> LeastTrace:
    """Return the end of the central path of blocks F, where beta, or -beta/2, is a corner of P."""
    m, n = A.shape[:2]
    values = np.linalg.svd(A.reshape(m, -1), compute_uv=False)
    if m > n * n or values[-1] < _DEPENDENT * values[0]:
        raise InputError("the measurements depend linearly on each other; drop some")
    if not y.any():
        return LeastTrace(np.zeros((n, n)), np.zeros(m), 0.0, 0.0, 0)
    size = float(np.linalg.norm(np.linalg.lstsq(A.reshape(m, -1), y)[0]))
    program = Program(np.eye(m), F[:, None], y / size, np.arange(0))
    for count, at in enumerate(islice(program.path(), max_iterations)):
        beta = size * (at.P[0] if F is A else -2 * at.P[0, :n, n:])
        residual = float(np.linalg.norm(np.tensordot(A, beta, 2) - y) / np.linalg.norm(y))
        bound = float(at.y @ y)
        if residual <= tol and abs(size * np.trace(at.P[0]) - bound) <= tol * abs(bound):
            return LeastTrace(beta, at.y, bound, residual, count)
    raise NumericalError(
        f"the least nuclear norm is not found to {tol:g}; there may be no positive semidefinite "
        "matrix with these measurements, as where they are many and noisy"
    )
