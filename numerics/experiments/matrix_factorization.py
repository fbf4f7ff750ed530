"""Matrix factorization: what gradient descent on U U^T reconstructs, by step and by start.

A positive semidefinite beta* of low rank is measured by m Gaussian matrices, fewer than it has
entries. U is square, so that nothing bounds the rank; descent from a small start with small steps
finds beta* all the same (Gunasekar et al. 2017, "Implicit regularization in matrix factorization",
experiments).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.experiments.jobs import each
from numerics.matrices.least_trace import least_trace

SCALES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
STEPS = (0.3, 0.1, 0.03)
SIZES = (100, 150, 200, 300)
_DIVERGED = 1e6


@dataclass(frozen=True, slots=True)
class Setting:
    """What is drawn and asked for.

    Attributes:
        size: n.
        samples: m, of the grid.
        rank: of beta*, which has ``|beta*|_F = 1``.
        noise: standard deviation of that of the measurements.
        seed: of the random numbers.
        scales, steps: the grid; descent starts at ``U = scale I`` and has a constant step.
        sizes: the m for which descent from the first scale, with the second step if there are more,
            is compared with the least nuclear norm.
        tolerance: ``|<A_i, beta> - y_i|/|y|`` at which descent has ended; the truth has about the
            standard deviation of the noise.
        max_iterations: of each descent.
    """

    size: int = 50
    samples: int = 300
    rank: int = 2
    noise: float = 1e-3
    seed: int = 0
    scales: tuple[float, ...] = SCALES
    steps: tuple[float, ...] = STEPS
    sizes: tuple[int, ...] = SIZES
    tolerance: float = 5e-4
    max_iterations: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("size", "samples", "rank", "max_iterations"):
            if not getattr(self, name) >= 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.rank > self.size:
            raise InputError(f"the rank must be at most the size, {self.size}")
        entries = self.size * (self.size + 1) // 2
        if max(self.samples, *self.sizes, 1) > entries or min(self.sizes, default=1) < 1:
            raise InputError(f"samples and sizes must be from 1 to n (n + 1)/2 = {entries}")
        if not self.scales or not self.steps:
            raise InputError("give at least one scale and one step")
        if not all(0 < x < math.inf for x in (*self.scales, *self.steps)):
            raise InputError("scales and steps must be positive and finite")
        if not (0 <= self.noise < math.inf and 0 < self.tolerance < 1):
            raise InputError("the noise must not be negative, the tolerance between 0 and 1")


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A_i (m, n, n), y (m,), the truth beta* (n, n), and as many measurements to test with."""

    matrices: Array
    y: Array
    truth: Array
    test_matrices: Array
    test_y: Array

    def error(self, beta: Array) -> float:
        """Return the reconstruction error ``|beta - beta*|_F``, relative as ``|beta*|_F = 1``."""
        return float(np.linalg.norm(beta - self.truth))

    def test_error(self, beta: Array) -> float:
        """Return the root mean square misfit of the test measurements."""
        misfit = np.tensordot(self.test_matrices, beta, 2) - self.test_y
        return float(np.sqrt(np.mean(misfit**2)))


@dataclass(frozen=True, slots=True)
class Descent:
    """The end of a gradient descent: None where it diverged.

    Attributes:
        scale, step: where it started, and its step.
        error, test_error, nuclear_norm: of beta = U U^T.
        residual: ``|<A_i, beta> - y_i|/|y|``.
        iterations: those taken.
        status: fits, diverged or iteration limit.
    """

    scale: float
    step: float
    error: float | None
    test_error: float | None
    nuclear_norm: float | None
    residual: float | None
    iterations: int
    status: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """An interpolant of least norm: its errors and its nuclear norm."""

    error: float
    test_error: float
    nuclear_norm: float


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """Descent from a small start and the least nuclear norm, for m samples."""

    samples: int
    descent: Descent
    least_nuclear: Baseline


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was found: the grid, both baselines at its m, and the comparison for several m."""

    setting: Setting
    truth_nuclear_norm: float
    least_nuclear: Baseline
    least_frobenius: Baseline
    grid: tuple[Descent, ...]
    sizes: tuple[Reconstruction, ...]


def matrix_factorization(
    setting: Setting | None = None, jobs: int = 1, progress: Callable[[str], None] | None = None
) -> Experiment:
    """Run the experiment.

    With ``jobs=2`` descents run in two processes by joblib. *progress* is called with what is being
    done.

    Raises:
        InputError: a number is out of its range, or joblib is asked for and not installed.
        NumericalError: the least nuclear norm is not found.
    """
    setting, enter = setting or Setting(), progress or (lambda stage: None)
    enter("baselines")
    data = draw(setting, setting.samples)
    rows = data.matrices.reshape(len(data.y), -1)
    frobenius = np.linalg.lstsq(rows, data.y)[0].reshape(data.truth.shape)
    least = _least_nuclear(data)
    pairs = [(alpha, step) for alpha in setting.scales for step in setting.steps]
    grid = each(
        functools.partial(_descent, setting, data), pairs, jobs, _counted(enter, "descents", pairs)
    )
    sizes = each(
        functools.partial(_reconstruction, setting),
        setting.sizes,
        jobs,
        _counted(enter, "sizes", setting.sizes),
    )
    return Experiment(
        setting,
        float(np.trace(data.truth)),
        least,
        _baseline(data, frobenius),
        tuple(grid),
        tuple(sizes),
    )


def draw(setting: Setting, samples: int) -> Data:
    """Draw beta* = V V^T of norm 1, A_i = (G + G^T)/2 and y; G, V and noise are normal."""
    rng = np.random.default_rng([setting.seed, samples])
    factor = rng.standard_normal((setting.size, setting.rank))
    truth = factor @ factor.T
    truth /= np.linalg.norm(truth)

    def measured() -> tuple[Array, Array]:
        G = rng.standard_normal((samples, setting.size, setting.size))
        matrices = (G + G.transpose(0, 2, 1)) / 2
        noise = setting.noise * rng.standard_normal(samples)
        return matrices, np.tensordot(matrices, truth, 2) + noise

    matrices, y = measured()
    return Data(matrices, y, truth, *measured())


def descend(
    data: Data, scale: float, step: float, tolerance: float, max_iterations: int
) -> tuple[Array, float, int, str]:
    """Run gradient descent on ``L(U) = sum_i (<A_i, U U^T> - y_i)^2/(4 m)`` from ``U = scale I``.

    ``U <- U - step (1/m) sum_i r_i A_i U``; for Gaussian A_i the mean of the sum over i, divided by
    m, is ``beta - beta*``, so that steps mean the same for every m.

    Returns:
        beta (n, n); ``|r|/|y|``; the iterations; fits, diverged or iteration limit.
    """
    n, m = data.truth.shape[0], len(data.y)
    upper = np.triu_indices(n)
    # Of symmetric matrices, one triangle is enough; off the diagonal, it counts twice.
    packed = np.ascontiguousarray(data.matrices[:, upper[0], upper[1]])
    measure, spread = packed * np.where(upper[0] == upper[1], 1.0, 2.0), packed.T / m
    U, gradient, size = scale * np.eye(n), np.empty((n, n)), float(np.linalg.norm(data.y))
    limit = _DIVERGED * max(1.0, scale * scale)
    with np.errstate(over="ignore", invalid="ignore"):
        for iteration in range(max_iterations + 1):
            beta = U @ U.T
            misfit = measure @ beta[upper] - data.y
            residual = float(np.linalg.norm(misfit)) / size
            if not residual <= limit:
                return beta, residual, iteration, "diverged"
            if residual <= tolerance:
                return beta, residual, iteration, "fits"
            gradient[upper] = gradient.T[upper] = spread @ misfit
            U -= step * (gradient @ U)
    return beta, residual, max_iterations, "iteration limit"


def _descent(setting: Setting, data: Data, pair: tuple[float, float]) -> Descent:
    beta, residual, count, status = descend(data, *pair, setting.tolerance, setting.max_iterations)
    if status == "diverged":
        return Descent(*pair, None, None, None, None, count, status)
    found = _baseline(data, beta)
    return Descent(
        *pair, found.error, found.test_error, found.nuclear_norm, residual, count, status
    )


def _baseline(data: Data, beta: Array) -> Baseline:
    nuclear = float(np.linalg.norm(beta, "nuc"))
    return Baseline(data.error(beta), data.test_error(beta), nuclear)


def _least_nuclear(data: Data) -> Baseline:
    return _baseline(data, least_trace(data.matrices, data.y, tol=1e-5).beta)


def _reconstruction(setting: Setting, samples: int) -> Reconstruction:
    data = draw(setting, samples)
    descent = _descent(setting, data, (setting.scales[0], setting.steps[:2][-1]))
    return Reconstruction(samples, descent, _least_nuclear(data))


def _counted(
    enter: Callable[[str], None], what: str, tasks: tuple[object, ...] | list[tuple[float, float]]
) -> Callable[[int], None]:
    enter(f"{what} 0/{len(tasks)}")
    return lambda count: enter(f"{what} {count}/{len(tasks)}")
