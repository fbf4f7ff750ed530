"""Matrix factorization: what gradient descent on U U^T reconstructs, by step and by start.

U is square, so that nothing bounds the rank; descent from a small start with small steps finds a
beta* of low rank all the same (Gunasekar et al. 2017, "Implicit regularization in matrix
factorization", experiments).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from numerics.evaluate.backend import Array
from numerics.experiments.matrix_results import (
    Baseline,
    Descent,
    MatrixResults,
    MatrixSetting,
    Reconstruction,
)
from numerics.experiments.scaffold import Stages
from numerics.matrices.least_trace import least_trace

_DIVERGED = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class MatrixData:
    """A_i (m, n, n), y (m,), the truth beta* (n, n), and as many measurements to test with."""

    matrices: Array
    y: Array
    truth: Array
    test_matrices: Array
    test_y: Array

    def measured(self, beta: Array) -> Baseline:
        """Return ``|beta - beta*|_F`` (as ``|beta*|_F = 1``), the misfit of the test, the norm."""
        misfit = np.tensordot(self.test_matrices, beta, 2) - self.test_y
        error, nuclear = np.linalg.norm(beta - self.truth), np.linalg.norm(beta, "nuc")
        return Baseline(float(error), float(np.sqrt(np.mean(misfit**2))), float(nuclear))


def matrix_factorization(
    setting: MatrixSetting | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> MatrixResults:
    """Run the experiment, by *jobs* processes of joblib; *progress* is told what is being done.

    InputError for a number out of its range or without joblib; NumericalError without a least norm.
    """
    setting, stages = setting or MatrixSetting(), Stages(jobs, progress)
    stages.enter("baselines")
    data = draw(setting, setting.samples)
    rows = data.matrices.reshape(len(data.y), -1)
    frobenius = np.linalg.lstsq(rows, data.y)[0].reshape(data.truth.shape)
    pairs = [(alpha, step) for alpha in setting.scales for step in setting.steps]
    return MatrixResults(
        setting,
        float(np.trace(data.truth)),
        _least_nuclear(data),
        data.measured(frobenius),
        stages.each("descents", functools.partial(_descent, setting, data), pairs),
        stages.each("sizes", functools.partial(_reconstruction, setting), setting.sizes),
    )


def draw(setting: MatrixSetting, samples: int) -> MatrixData:
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
    return MatrixData(matrices, y, truth, *measured())


def descend(
    data: MatrixData, scale: float, step: float, tolerance: float, max_iterations: int
) -> tuple[Array, float, int, str]:
    """Run gradient descent on ``L(U) = sum_i (<A_i, U U^T> - y_i)^2/(4 m)`` from ``U = scale I``.

    ``U <- U - step (1/m) sum_i r_i A_i U``; for Gaussian A_i the mean of the sum over i, divided by
    m, is ``beta - beta*``, so that steps mean the same for every m. Returns beta, ``|r|/|y|``
    (at most *tolerance* where it fits), the iterations, and fits, diverged or iteration limit.
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


def _descent(setting: MatrixSetting, data: MatrixData, pair: tuple[float, float]) -> Descent:
    beta, residual, count, status = descend(data, *pair, setting.tolerance, setting.max_iterations)
    if status == "diverged":
        return Descent(*pair, None, None, None, None, count, status)
    found = asdict(data.measured(beta))
    return Descent(*pair, **found, residual=residual, iterations=count, status=status)


def _least_nuclear(data: MatrixData) -> Baseline:
    return data.measured(least_trace(data.matrices, data.y, tol=1e-5).beta)


def _reconstruction(setting: MatrixSetting, samples: int) -> Reconstruction:
    data = draw(setting, samples)
    descent = _descent(setting, data, (setting.scales[0], setting.steps[:2][-1]))
    return Reconstruction(samples, descent, _least_nuclear(data))
