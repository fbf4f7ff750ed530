"""Matrices of least nuclear norm, with a bound that proves it, and limits that tend to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from derive.copying import copies
from derive.derivation import Derivation, derive
from derive.errors import InputError, NumericalError
from derive.model.matrices import MatrixMap
from numerics.evaluate.lowering import of_copies
from numerics.evaluate.numbers import Array, read_vector
from numerics.interpolants.interpolant import interpolate
from numerics.margins.interval import STEPS, PositiveProgram, corners

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
    program = PositiveProgram(np.eye(m), F[:, None], y / size, np.arange(0))
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


_DIAGONAL = 1e-10


def shared_bases(model: MatrixMap, y: Iterable[object]) -> tuple[Array, Array, Array, Array]:
    """Return the bases that the given measurements of F share, which is decided exactly.

    ``A_i = V diag(a_i) H^T``: V (n, k), H (m, k), a (i, k) and y; H = V of symmetric A_i.

    Raises:
        InputError: there are none, or y has another size.
        NumericalError: those of a combination leave more than 1e-10 of a measurement.
    """
    if model.measurements != "commuting":
        raise InputError("the measurements do not commute, so they share no eigenbasis")
    target = np.array([float(x) for x in read_vector(y, "y")])
    if len(target) != len(model.given):
        raise InputError(
            f"there are {len(model.given)} measurements but y has {len(target)} numbers"
        )
    size = model.size_for(len(model.given[0]))
    A = np.array([[float(x) for x in row] for row in model.given]).reshape(-1, *size)
    sizes = np.linalg.norm(A, axis=(1, 2))[:, None, None]
    factors = 1 + np.sqrt(2) * np.arange(len(A)) % 1
    mixed = np.tensordot(factors, A / sizes, 1)
    if model.is_square:
        basis = other = np.linalg.eigh(mixed)[1]
    else:
        basis, _, turned = np.linalg.svd(mixed, full_matrices=False)
        other = turned.T
    values = np.einsum("jk,ijl,lk->ik", basis, A / sizes, other)
    left = A / sizes - np.einsum("jk,ik,lk->ijl", basis, values, other)
    if np.abs(left).max() > _DIAGONAL:
        raise NumericalError("the shared eigenbasis is not found to 10 digits; scale the A_i alike")
    return basis, other, values * sizes[:, :, 0], target


def sensing_limit(model: MatrixMap, y: Iterable[object], start: Mapping[str, ArrayLike]) -> Array:
    """Return the beta at which gradient flow on given measurements ends, from any start.

    In the shared bases the diagonal interpolant gives the b_k, by the lengths n_mu of the parts of
    each row, and q' these: ``n_mu = n_mu(0) exp(2 mu t_k)`` at the time ``t_k = q'(b_k)``.

    Args:
        model: F under given measurements with common bases.
        y, start: y_i; each matrix at the start.

    Raises:
        InputError, NumericalError: as :func:`shared_bases` and ``interpolate`` do.

    Source: derived here; Gunasekar et al. 2017 for W W^T from alpha I.

    >>> from derive import Parameterization
    >>> shapes, X = {"U": "2 x r", "V": "2 x r"}, [[1, 0, 0, 2]]
    >>> model = Parameterization.parse(["U*T(V)"], matrices=shapes, measurements=X)
    >>> start = {"U": [[1e-3, 0], [0, 1e-3]], "V": [[0, 0], [0, 0]]}
    >>> sensing_limit(model, [1], start).round(3).tolist()
    [[0.0, 0.0], [0.0, 0.5]]
    """
    (left, right, a, target), found = shared_bases(model, y), cast(Any, derive(model))
    entry: Derivation = found.entry
    weights = {x: np.asarray(start[x], dtype=float) for x in model.names}
    bases = {x: left if x in model.lefts else right for x in model.names}
    rows = np.array([bases[x].T @ W for x, W in weights.items()])
    mus = [float(mu) for mu, _ in model.eigenspaces]
    spaces = [np.array(E, dtype=float).reshape(len(E), -1) for _, E in model.eigenspaces]
    parts = np.array([np.tensordot(E.T @ E, rows, 1) for E in spaces])
    lengths = np.linalg.norm(parts, axis=(1, 3))
    symbols = entry.parameterization.start_symbols
    starts = {x: n.tolist() for x, n in zip(symbols, lengths, strict=True)}
    q = of_copies(copies(entry.parameterization, len(a[0])), starts)
    solution = interpolate(q, a, target)
    if not solution.converged:
        raise NumericalError(solution.message)
    grown = np.exp(2 * np.outer(mus, q.gradient(solution.value))) - 1
    moved = np.einsum("skir,si->kir", parts, grown)
    end = {x: W + bases[x] @ moved[k] for k, (x, W) in enumerate(weights.items())}
    return np.asarray(sum(float(c) * end[a] @ end[b].T for a, b, c in model.terms))
