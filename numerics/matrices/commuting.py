"""Commuting measurements of W W^T: limits of its flow on the shared eigenbasis."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from derive.derivation import derive
from derive.errors import InputError, NumericalError
from derive.model.matrices import MatrixMap
from derive.model.parameterization import Parameterization
from derive.records import Potential
from numerics.evaluate.lowering import lower
from numerics.evaluate.numbers import Array, Number, read_matrix, read_vector
from numerics.interpolants.interpolant import Solution, interpolate
from numerics.interpolants.least_l1 import NoInterpolant, least_l1

_DIAGONAL, _ZERO = 1e-10, 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """<A_i, beta> = y_i with ``A_i = V diag(a_i) V^T``: V (n, n), a (m, n), y (m), in doubles."""

    basis: Array
    values: Array
    y: Array

    def matrix(self, eigenvalues: Array) -> Array:
        """Return the matrix with these eigenvalues."""
        return (self.basis * eigenvalues) @ self.basis.T


def shared_eigenbasis(matrices: Iterable[Number], y: Iterable[object]) -> Shared:
    """Return the eigenbasis that A_1 .. A_m share, which is decided exactly, or InputError."""
    rows = [[*chain(*read_matrix(A, None, f"A_{i}"))] for i, A in enumerate(matrices, 1)]
    model = MatrixMap.parse(["W*T(W)"], {"W": "n x r"}, rows)
    if model.measurements != "commuting":
        raise InputError("the measurements do not commute, so they share no eigenbasis")
    target = np.array([float(x) for x in read_vector(y, "y")])
    if len(target) != len(rows):
        raise InputError(f"there are {len(rows)} measurements but y has {len(target)} numbers")
    size = model.size_for(len(rows[0]))
    A = np.array([[float(x) for x in row] for row in model.given]).reshape(-1, *size)
    sizes = np.linalg.norm(A, axis=(1, 2))[:, None, None]
    factors = 1 + np.sqrt(2) * np.arange(len(A)) % 1
    basis = np.linalg.eigh(np.tensordot(factors, A / sizes, 1))[1]
    turned = basis.T @ (A / sizes) @ basis
    values = np.einsum("ijj->ij", turned)
    left = turned - np.einsum("ij,jk->ijk", values, np.eye(size[0]))
    if np.abs(left).max() > _DIAGONAL:
        raise NumericalError("the shared eigenbasis is not found to 10 digits; scale the A_i alike")
    return Shared(basis, values * sizes[:, :, 0], target)


def commuting_limit(shared: Shared, scale: float) -> Solution:
    """Return the eigenvalues at the limit of gradient flow on W W^T from ``beta_0 = scale I``.

    On the shared eigenbasis each eigenvalue is the square of a weight, ``lambda_j = w_j^2``, whose
    Q is derived and minimized subject to ``sum_j a_ij lambda_j = y_i``.

    Args:
        shared, scale: the A_i on their eigenbasis, and y; of the start, > 0.

    Raises:
        InputError: the scale is not positive, or no beta > 0 has the measurements y.
        NumericalError: the solver did not converge.

    Source: Gunasekar et al. 2017, theorem 1.

    >>> shared = shared_eigenbasis([[[1, 0], [0, 2]]], [1])
    >>> commuting_limit(shared, 1e-6).value.round(3).tolist()
    [0.001, 0.5]
    """
    if not (np.isfinite(scale) and scale > 0):
        raise InputError(f"the scale of the start must be positive, not {scale}")
    q = lower(_potential(), {"w0": float(np.sqrt(scale))})
    solution = interpolate(q, shared.values, shared.y)
    if not solution.converged:
        raise NumericalError(f"at scale {scale:g}: {solution.message}")
    return solution


@functools.cache
def _potential() -> Potential:
    square = Parameterization.parse(["w**2"], start={"w": "w0"}, positive=["w0"])
    return derive(square).potential


@dataclass(frozen=True, slots=True)
class ScaledLimit:
    """The limit from ``beta_0 = scale I``, its nuclear norm and the excess of it over the least.

    The excess is ``sum_j slack_j lambda_j``, free of cancellation; the rate is d log(excess)/d
    log(eps) from the scale before, nan for the first.
    """

    scale: float
    nuclear_norm: float
    excess: float
    rate: float


@dataclass(frozen=True, slots=True, eq=False)
class VanishingStart:
    """Limits of the flow from ``eps I`` against the least nuclear norm.

    Attributes:
        least: the least nuclear norm.
        eigenvalues: of the matrix that has it (n,), on the shared eigenbasis.
        multiplier: nu (m,): ``sum_i nu_i A_i <= I`` and ``<nu, y> = least`` prove it least among
            all positive semidefinite matrices with the measurements.
        slack: ``1 - sum_i nu_i a_ij`` (n,), at least 0.
        exponent: the smallest positive slack, with ``excess ~ eps^exponent``; None where the matrix
            of least nuclear norm or nu is not unique, so that the rate is not known from them.
        limits: one for each scale.
    """

    least: float
    eigenvalues: Array
    multiplier: Array
    slack: Array
    exponent: float | None
    limits: tuple[ScaledLimit, ...]

    def report(self) -> str:
        """Return a table of the limits as lines of text."""
        lines = [f"{'eps':>8} {'nuclear norm':>18} {'excess':>10} {'rate':>7}"]
        for x in self.limits:
            rate = "" if math.isnan(x.rate) else f"{x.rate:7.4f}"
            lines.append(f"{x.scale:8.1e} {x.nuclear_norm:18.12f} {x.excess:10.2e} {rate}")
        predicted = "not unique" if self.exponent is None else f"{self.exponent:.4f}"
        lines.append(f"{'least':>8} {self.least:18.12f} {'predicted rate':>18} {predicted}")
        return "\n".join(line.rstrip() for line in lines)


def vanishing_start(
    matrices: Iterable[Number], y: Iterable[object], scales: Iterable[float]
) -> VanishingStart:
    """Compare the limits from ``beta_0 = eps I`` with the least nuclear norm, for commuting A_i.

    On the shared eigenbasis ``min tr(beta)`` is a linear program over eigenvalues; its multiplier
    proves it least among all positive semidefinite matrices, as ``tr(beta) - <nu, y> =
    <I - sum_i nu_i A_i, beta> >= 0``. The limit has ``lambda_j = eps exp(2 (a^T s)_j)`` and ``2 s =
    nu log(1/eps) + O(1)``: eigenvalues that are to vanish do so like ``eps^slack_j``.

    Args:
        matrices, y, scales: A_1 .. A_m, which commute; y (m); eps, falling and positive.

    Raises:
        InputError: the A_i do not commute, or scales do not fall; no beta > 0 has the measurements.
        NumericalError: a solver did not converge.

    Source: Gunasekar et al. 2017, theorem 1, for the limit; Cominetti & San Martin 1994,
    "Asymptotic analysis of the exponential penalty trajectory in linear programming", for the rate
    of such paths.
    """
    falling = _read_scales(scales)
    shared = shared_eigenbasis(matrices, y)
    values = shared.values
    try:
        least = least_l1(values, shared.y, down=math.inf)
    except NoInterpolant:
        raise InputError("no positive semidefinite matrix has these measurements") from None
    nu = least.multiplier
    slack = 1 - values.T @ nu
    slack = np.where(slack < _ZERO, 0.0, slack)
    limits: list[ScaledLimit] = []
    for scale in falling:
        found = commuting_limit(shared, scale)
        excess, rate = float(slack @ found.value), math.nan
        if limits and excess > 0 and limits[-1].excess > 0:
            before = limits[-1]
            rate = math.log(excess / before.excess) / math.log(scale / before.scale)
        limits.append(ScaledLimit(scale, float(found.value.sum()), excess, rate))
    exponent = _exponent(least.value, slack, values)
    return VanishingStart(least.cost, least.value, nu, slack, exponent, tuple(limits))


def _read_scales(scales: Iterable[float]) -> list[float]:
    try:
        falling = [float(x) for x in scales]
    except (TypeError, ValueError):
        raise InputError("the scales must be a sequence of numbers") from None
    decrease = all(a > b for a, b in pairwise(falling))
    if not falling or not decrease or not (math.isfinite(falling[0]) and falling[-1] > 0):
        raise InputError("the scales must be positive and fall")
    return falling


def _exponent(eigenvalues: Array, slack: Array, values: Array) -> float | None:
    """Return the least positive slack, where primal and dual solutions are unique."""
    support = eigenvalues > _ZERO * max(1.0, float(eigenvalues.max()))
    strict = np.array_equal(support, slack == 0)
    rank = int(np.linalg.matrix_rank(values))
    if not strict or support.sum() != rank or np.linalg.matrix_rank(values[:, support]) != rank:
        return None
    return float(slack[~support].min()) if not support.all() else None
