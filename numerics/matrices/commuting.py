"""Commuting measurements: the flow in closed form, and its limit on the shared eigenbasis."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import mpmath
import numpy as np

from derive.derivation import derive
from derive.errors import InputError, NumericalError
from derive.model.parameterization import Parameterization
from derive.records import Potential
from numerics.evaluate.backend import Array
from numerics.evaluate.lowering import lower
from numerics.interpolate.interpolant import interpolate
from numerics.matrices.measurements import Measurements
from numerics.reals import Real

_DIAGONAL = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class CommutingLimit:
    """Where gradient flow from ``beta_0 = eps I`` ends, in doubles.

    Attributes:
        beta: (n, n).
        eigenvalues: of beta (n,), in the order of the shared eigenbasis.
        residual: ``|<A_i, beta> - y_i|`` relative to y and the misfit of the start.
    """

    beta: Array
    eigenvalues: Array
    residual: float

    @property
    def nuclear_norm(self) -> float:
        """The sum of the eigenvalues, which are positive."""
        return float(self.eigenvalues.sum())


def commuting_solution(measurements: Measurements, integral: Sequence[Real], beta0: Real) -> Real:
    """Return ``exp(X*(s)) beta_0 exp(X*(s))``, ``X*(s) = sum_i s_i A_i``, ``s_i = -2 int r_i``.

    It is beta(t) of gradient flow on W W^T where all A_i commute, whatever beta_0. For others it is
    *not* the flow: :func:`compare_paths` measures by how much.

    Args:
        measurements: A_1 .. A_m.
        integral: s (m), such as that of a :class:`MatrixState`.
        beta0: (n, n), an mpmath matrix; all is done in the working precision of mpmath.

    Source: Gunasekar et al. 2017, on commuting measurements. Slides on it print the second exponent
    with the other sign, which is another matrix.
    """
    if len(integral) != len(measurements.target):
        raise InputError(f"s has {len(integral)} numbers, not {len(measurements.target)}")
    factor = mpmath.expm(measurements.adjoint(integral))
    return factor * beta0 * factor.T


def shared_eigenbasis(measurements: Measurements) -> tuple[Array, Array]:
    """Return an orthogonal V (n, n) and a (m, n) with ``A_i = V diag(a_i) V^T``.

    V are eigenvectors of one generic combination of the A_i.

    Raises:
        InputError: two of the A_i do not commute.
    """
    if (pair := measurements.noncommuting) is not None:
        i, j = pair
        raise InputError(f"A_{i + 1} and A_{j + 1} do not commute, so they share no eigenbasis")
    matrices = measurements.array()
    sizes = np.linalg.norm(matrices, axis=(1, 2))
    scaled = matrices / np.where(sizes > 0, sizes, 1)[:, None, None]
    factors = 1 + np.sqrt(2) * np.arange(len(matrices)) % 1
    basis = np.linalg.eigh(np.tensordot(factors, scaled, 1))[1]
    turned = basis.T @ scaled @ basis
    values = np.einsum("ijj->ij", turned)
    left = turned - np.einsum("ij,jk->ijk", values, np.eye(measurements.size))
    if np.abs(left).max() > _DIAGONAL:
        raise NumericalError("the shared eigenbasis is not found to 10 digits; scale the A_i alike")
    return basis, values * sizes[:, None]


def commuting_limit(measurements: Measurements, scale: float) -> CommutingLimit:
    """Return the limit of gradient flow on W W^T from ``beta_0 = scale I``, without running it.

    On the shared eigenbasis each eigenvalue is the square of a weight, ``lambda_j = w_j^2``, whose
    Q is derived and minimized subject to ``sum_j a_ij lambda_j = y_i``.

    Args:
        measurements: A_1 .. A_m, which commute, and y.
        scale: of the start, > 0.

    Raises:
        InputError: the A_i do not commute, the scale is not positive, or no beta > 0 has the
            measurements y.
        NumericalError: the solver did not converge.

    Source: Gunasekar et al. 2017, theorem 1.

    >>> data = Measurements.read([[[1, 0], [0, 2]]], [1])
    >>> commuting_limit(data, 1e-6).beta.round(3).diagonal().tolist()
    [0.001, 0.5]
    """
    if not (np.isfinite(scale) and scale > 0):
        raise InputError(f"the scale of the start must be positive, not {scale}")
    basis, values = shared_eigenbasis(measurements)
    q = lower(_potential(), {"w0": float(np.sqrt(scale))})
    solution = interpolate(q, values, measurements.values())
    if not solution.converged:
        raise NumericalError(f"at scale {scale:g}: {solution.message}")
    beta = (basis * solution.value) @ basis.T
    return CommutingLimit(beta, solution.value, solution.residual)


@functools.cache
def _potential() -> Potential:
    square = Parameterization.parse(["w**2"], start={"w": "w0"}, positive=["w0"])
    return derive(square).potential
