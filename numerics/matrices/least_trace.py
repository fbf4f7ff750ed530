"""The matrix of least nuclear norm with given measurements, and a bound that proves it least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from derive.errors import InputError, NumericalError
from numerics.evaluate.numbers import Array

_BALANCE, _PERIOD = 5.0, 25


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
    matrices: ArrayLike, y: ArrayLike, *, tol: float = 1e-6, max_iterations: int = 20_000
) -> LeastTrace:
    """Return the positive semidefinite matrix of least nuclear norm with the measurements y.

    The alternating direction method of multipliers: projections on the affine set and on the cone
    in turn. The dual point is scaled into ``sum_i nu_i A_i <= I``, so that weak duality, ``tr(beta)
    >= <nu, y>``, proves how near the least trace is.

    Args:
        matrices, y: (m, n, n), symmetric and linearly independent; (m,); in doubles.
        tol: of the residual, and of the trace beyond its bound relative to it.
        max_iterations: those after which to give up.

    Raises:
        InputError: a shape or a number is wrong, or the A_i depend linearly on each other.
        NumericalError: the iteration is too slow, as where no beta >= 0 has the measurements.

    Source: Boyd et al. 2011, "Distributed optimization and statistical learning via the alternating
    direction method of multipliers", section 3.4.1.

    >>> least_trace([[[1, 0], [0, 2]]], [1]).beta.round(5).diagonal().tolist()
    [0.0, 0.5]
    """
    A, target = _read(matrices, y)
    n, rows = A.shape[1], A.reshape(len(A), -1)
    factor = _gram(rows)
    if not target.any():
        return LeastTrace(np.zeros((n, n)), np.zeros(len(A)), 0.0, 0.0, 0)
    size = float(np.linalg.norm(rows.T @ scipy.linalg.cho_solve(factor, target)))
    penalty = 10 / size
    beta, dual = np.zeros((n, n)), np.zeros((n, n))
    for iteration in range(1, max_iterations + 1):
        point = (beta - dual - np.eye(n) / penalty).ravel()
        nu = scipy.linalg.cho_solve(factor, target - rows @ point)
        affine = (point + rows.T @ nu).reshape(n, n)
        values, basis = np.linalg.eigh(affine + dual)
        before, beta = beta, (basis * np.maximum(values, 0)) @ basis.T
        dual += affine - beta
        if iteration % _PERIOD:
            continue
        found = _certified(rows, target, beta, penalty * nu, iteration)
        excess = abs(np.trace(beta) - found.bound)
        if found.residual <= tol and excess <= tol * abs(found.bound):
            return found
        moved = penalty * float(np.linalg.norm(beta - before)) / np.sqrt(n)
        apart = float(np.linalg.norm(affine - beta)) / size
        change = 2.0 if apart > _BALANCE * moved else 0.5 if moved > _BALANCE * apart else 1.0
        penalty, dual = penalty * change, dual / change
    raise NumericalError(
        f"the least nuclear norm is not found to {tol:g} in {max_iterations} iterations; "
        "there may be no positive semidefinite matrix with these measurements, as where they are "
        "many and noisy"
    )


def least_nuclear(
    matrices: ArrayLike, y: ArrayLike, *, tol: float = 1e-6, max_iterations: int = 20_000
) -> LeastTrace:
    """Return the matrix, of any kind, of least nuclear norm with the measurements y.

    |X|_* is the least (tr W_1 + tr W_2)/2 with [[W_1, X], [X^T, W_2]] positive semidefinite, so
    this is :func:`least_trace` of matrices of twice the size; A_i (m, n, n) need not be symmetric.
    The bound <nu, y> is that of |sum_i nu_i A_i|_op <= 1.

    Source: Recht, Fazel, Parrilo 2010, "Guaranteed minimum-rank solutions of linear matrix
    equations via nuclear norm minimization", section 2.

    >>> round(least_nuclear([[[0, 1], [0, 0]]], [-1]).nuclear_norm, 4)
    1.0
    """
    A = np.asarray(matrices, dtype=float)
    n, empty = A.shape[-1], np.zeros_like(A)
    wide = np.block([[empty, A], [A.swapaxes(-1, -2), empty]]) / 2
    found = least_trace(wide, y, tol=tol, max_iterations=max_iterations)
    beta = found.beta[:n, n:]
    nu, bound = found.multiplier / 2, found.bound / 2
    return LeastTrace(beta, nu, bound, found.residual, found.iterations)


def _read(matrices: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    try:
        A, target = np.asarray(matrices, dtype=float), np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the measurements must be (m, n, n) numbers and y m numbers") from None
    if A.ndim != 3 or A.shape[1] != A.shape[2] or target.shape != A.shape[:1] or not A.size:
        raise InputError(f"the shapes must be (m, n, n) and (m,), not {A.shape}, {target.shape}")
    if not (np.isfinite(A).all() and np.isfinite(target).all()):
        raise InputError("the measurements and y must be finite")
    if not np.array_equal(A, A.transpose(0, 2, 1)):
        raise InputError("the measurements must be symmetric matrices")
    return A, target


def _gram(rows: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of the Gram matrix, as SciPy writes it."""
    try:
        factor, lower = scipy.linalg.cho_factor(rows @ rows.T)
    except np.linalg.LinAlgError:
        raise InputError("the measurements depend linearly on each other; drop some") from None
    diagonal = np.abs(np.diagonal(factor))
    if diagonal.min() < 1e-7 * diagonal.max():
        raise InputError("the measurements depend linearly on each other; drop some")
    return factor, lower


def _certified(rows: Array, y: Array, beta: Array, nu: Array, iterations: int) -> LeastTrace:
    largest = float(np.linalg.eigvalsh((rows.T @ nu).reshape(beta.shape))[-1])
    nu = nu / max(largest, 1.0)
    residual = float(np.linalg.norm(rows @ beta.ravel() - y) / np.linalg.norm(y))
    return LeastTrace(beta, nu, float(nu @ y), residual, iterations)
