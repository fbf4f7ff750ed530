"""Matrix sensing: what gradient descent on U U^T or U V^T reconstructs, by step and by start.

U and V are square, so that nothing bounds the rank; descent from a small start with small steps
finds a beta* of low rank all the same (Gunasekar et al. 2017, "Implicit regularization in matrix
factorization", experiments).
"""

from __future__ import annotations

import functools
import textwrap
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from scipy.integrate import DOP853

from numerics.evaluate.numbers import Array
from numerics.experiments.settings import MatrixSetting, Results, Row, Stages, table
from numerics.matrices.least_norm import least_nuclear, least_trace

ABREAST = 6
"""Steps beside one another in a table of 80 columns."""
RISE = 1e-3
"""By how much of the least norm an excess has to grow again to be told: above the tolerance."""
_DIVERGED = 1e6


@dataclass(frozen=True, slots=True)
class Descent:
    """The end of a descent, ``|<A_i, beta> - y_i|/|y|`` its residual; None where it diverged."""

    scale: float
    step: float
    error: float | None
    test_error: float | None
    nuclear_norm: float | None
    residual: float | None
    iterations: int
    status: str
    seconds: float = field(compare=False)


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
class MatrixResults(Results):
    """What was found: the grid, both baselines at its m, and the comparison for several m."""

    columns: ClassVar[tuple[str, ...]] = ("kind", "samples", *Descent.__match_args__)

    setting: MatrixSetting
    truth_nuclear_norm: float
    least_nuclear: Baseline
    least_frobenius: Baseline
    grid: tuple[Descent, ...]
    sizes: tuple[Reconstruction, ...]

    def rows(self) -> list[Row]:
        """Return one row for each result, baselines first."""
        m = self.setting.samples
        found: list[tuple[str, int, Baseline | Descent]] = [
            ("least nuclear norm", m, self.least_nuclear),
            ("least Frobenius norm", m, self.least_frobenius),
            *(("descent", m, descent) for descent in self.grid),
        ]
        for x in self.sizes:
            found.append(("least nuclear norm", x.samples, x.least_nuclear))
            found.append(("descent", x.samples, x.descent))
        return [{"kind": kind, "samples": n, **asdict(end)} for kind, n, end in found]

    def to_text(self) -> str:
        """Return tables: the errors, then the nuclear norms, then the comparison by m."""
        setting = self.setting
        lines = [
            f"beta = {setting.model}, {setting.truth} beta* of rank {setting.rank}, "
            f"{setting.measurements} measurements, seed {setting.seed}",
            f"n = {setting.size}, m = {setting.samples}, noise {setting.noise:g}, "
            f"fitted to {setting.tolerance:g}",
            "Reconstruction error |beta - beta*|_F/|beta*|_F",
            *self._table("error"),
            f"least nuclear norm {self.least_nuclear.error:.4f}, "
            f"least Frobenius norm {self.least_frobenius.error:.4f}",
            "",
            f"Nuclear norm (beta*: {self.truth_nuclear_norm:.4f}, "
            f"least: {self.least_nuclear.nuclear_norm:.4f})",
            *self._table("nuclear_norm"),
        ]
        lines += ["", *self._claim()]
        if late := [d for d in self.grid if d.status == "iteration limit"]:
            lines += [
                "",
                f"Not at the tolerance {setting.tolerance:g} when the iterations were over",
            ]
            lines += [f"start {d.scale:g}, {step_name(d.step)}: {d.residual:.1e}" for d in late]
        if self.sizes:
            first = self.sizes[0].descent
            lines += ["", f"Descent from {first.scale:g} with {step_name(first.step)}, by m"]
            columns = {"m": "6d", "error": "10.4f", "least nuclear": "15.4f"}
            columns |= {"nuclear norm": "14.4f", "least": "9.4f"}
            ends = [(x.samples, x.descent, x.least_nuclear) for x in self.sizes]
            rows = [(m, d.error, x.error, d.nuclear_norm, x.nuclear_norm) for m, d, x in ends]
            lines += table(columns, rows, "diverges")
        return "\n".join(lines)

    def _claim(self) -> list[str]:
        """Say what is conjectured of small starts and steps, and what was seen from every start."""
        truth, least = self.truth_nuclear_norm, self.least_nuclear.nuclear_norm
        step = min(self.setting.steps)
        ends = [d for d in self.grid if d.step == step and d.nuclear_norm is not None]
        excess = {d.scale: (d.nuclear_norm or 0.0) / least - 1 for d in ends}
        lines = ["Conjectured (Gunasekar et al. 2017): the least norm, as start and step tend to 0"]
        seen = ", ".join(f"{x:.1%} from {scale:g}" for scale, x in sorted(excess.items())[::-1])
        if seen:
            told = f"Seen with {step_name(step)}, above the least: {seen}"
            lines += textwrap.wrap(told, 80, subsequent_indent="  ")
            best, smallest = min(excess, key=excess.__getitem__), min(excess)
            if excess[best] < excess[smallest] - RISE:
                lines.append(f"Seen: it is least from {best:g}, not from the smallest start")
        if least < truth * (1 - 1e-2):
            lines.append(
                "Seen: beta* is not the interpolant of least nuclear norm: "
                f"{least:.4f} < {truth:.4f}"
            )
        spent = sorted(d.seconds for d in self.grid)
        lines.append(f"{spent[len(spent) // 2]:.2g} s a descent (median of {len(spent)})")
        return lines

    def _table(self, column: str) -> list[str]:
        found = {(d.scale, d.step): getattr(d, column) for d in self.grid}
        lines = list[str]()
        for first in range(0, len(self.setting.steps), ABREAST):
            steps = self.setting.steps[first : first + ABREAST]
            columns = {"start": "8.1e", **{step_name(x): "12.4f" for x in steps}}
            rows = [(scale, *(found[scale, x] for x in steps)) for scale in self.setting.scales]
            lines += table(columns, rows, "diverges")
        return lines


def step_name(step: float) -> str:
    """Return what a column of that step is called."""
    return f"step {step:g}" if step else "the flow"


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


def matrix_factorization(setting: MatrixSetting, stages: Stages) -> MatrixResults:
    """Run descent on a grid and by m; NumericalError without a least norm."""
    stages.enter("baselines")
    data = draw(setting, setting.samples)
    rows = data.matrices.reshape(len(data.y), -1)
    frobenius = np.linalg.lstsq(rows, data.y)[0].reshape(data.truth.shape)
    pairs = [(alpha, step) for alpha in setting.scales for step in setting.steps]
    return MatrixResults(
        setting,
        float(np.linalg.norm(data.truth, "nuc")),
        _least_nuclear(setting, data),
        data.measured(frobenius),
        stages.each("descents", functools.partial(_descent, setting, data), pairs),
        stages.each("sizes", functools.partial(_reconstruction, setting), setting.sizes),
    )


def draw(setting: MatrixSetting, samples: int) -> MatrixData:
    """Draw beta* of norm 1, the A_i and y; what is drawn is normal but for the entries observed.

    beta* = V V^T, or V W^T where it need not be positive semidefinite. The A_i are such that the
    mean of <A_i, beta> A_i is beta; on U U^T they count by their symmetric parts.
    """
    rng = np.random.default_rng([setting.seed, samples])
    factor = rng.standard_normal((setting.size, setting.rank))
    other = factor if setting.truth == "psd" else rng.standard_normal(factor.shape)
    truth = factor @ other.T
    truth /= np.linalg.norm(truth)

    def measured() -> tuple[Array, Array]:
        G = MEASUREMENTS[setting.measurements](rng, setting, samples)
        matrices = (G + G.transpose(0, 2, 1)) / 2 if setting.is_symmetric else G
        noise = setting.noise * rng.standard_normal(samples)
        return matrices, np.tensordot(matrices, truth, 2) + noise

    matrices, y = measured()
    return MatrixData(matrices, y, truth, *measured())


def _entries(rng: np.random.Generator, setting: MatrixSetting, samples: int) -> Array:
    """Return n e_a e_b^T for different entries (a, b), a <= b where those are all there are."""
    n = setting.size
    places = np.argwhere(np.triu(np.ones((n, n))) if setting.is_symmetric else np.ones((n, n)))
    a, b = rng.choice(places, samples, replace=False).T
    G = np.zeros((samples, n, n))
    G[np.arange(samples), a, b] = n
    return G


def _tasks(rng: np.random.Generator, setting: MatrixSetting, samples: int) -> Array:
    """Return sqrt(n) x e_t^T: a linear measurement of one column of beta, task after task."""
    n = setting.size
    G = np.zeros((samples, n, n))
    G[np.arange(samples), :, np.arange(samples) % n] = rng.standard_normal((samples, n)) * n**0.5
    return G


MEASUREMENTS = {
    "gaussian": lambda rng, setting, m: rng.standard_normal((m, setting.size, setting.size)),
    "completion": _entries,
    "multitask": _tasks,
}
"""The A_i (m, n, n) by their name."""


def descend(
    data: MatrixData, scale: float, step: float, tolerance: float, max_iterations: int
) -> tuple[Array, float, int, str]:
    """Run gradient descent on ``sum_i (<A_i, U V^T> - y_i)^2/(2 m)`` from ``U = V = scale I``.

    ``U <- U - step G V, V <- V - step G^T U, G = (1/m) sum_i r_i A_i``: the mean of G is ``beta -
    beta*``, so that steps mean the same for every m. For symmetric A_i, U = V at all times, and
    this is descent on ``sum_i (<A_i, U U^T> - y_i)^2/(4 m)``. Returns beta, ``|r|/|y|`` (at most
    *tolerance* where it fits), the iterations, and fits, diverged or iteration limit.
    """
    n, pull = data.truth.shape[0], _pull(data)
    U, V = scale * np.eye(n), scale * np.eye(n)
    limit = _DIVERGED * max(1.0, scale * scale)
    with np.errstate(over="ignore", invalid="ignore"):
        for iteration in range(max_iterations + 1):
            beta = U @ V.T
            G, residual = pull(beta)
            if not residual <= limit:
                return beta, residual, iteration, "diverged"
            if residual <= tolerance:
                return beta, residual, iteration, "fits"
            U, V = U - step * (G @ V), V - step * (G.T @ U)
    return beta, residual, max_iterations, "iteration limit"


def follow(
    data: MatrixData, scale: float, tolerance: float, max_iterations: int
) -> tuple[Array, float, int, str]:
    """Follow gradient flow to where it fits, as :func:`descend` does in steps, to 8 digits."""
    n, pull = data.truth.shape[0], _pull(data)

    def slope(t: float, w: Array) -> Array:
        U, V = w.reshape(2, n, n)
        G = pull(U @ V.T)[0]
        return -np.concatenate([(G @ V).ravel(), (G.T @ U).ravel()])

    start = np.tile(scale * np.eye(n).ravel(), 2)
    solver = DOP853(slope, 0.0, start, np.inf, rtol=1e-8, atol=1e-8 * scale)
    count, beta = 0, scale * scale * np.eye(n)
    while (residual := pull(beta)[1]) > tolerance and count < max_iterations:
        if solver.step() is not None:
            return beta, residual, count, "diverged"
        U, V = solver.y.reshape(2, n, n)
        count, beta = count + 1, U @ V.T
    return beta, residual, count, "fits" if residual <= tolerance else "iteration limit"


def _pull(data: MatrixData) -> Callable[[Array], tuple[Array, float]]:
    """Return the function of beta with ``G = (1/m) sum_i r_i A_i`` and |r|/|y|."""
    rows, size = data.matrices.reshape(len(data.y), -1), np.linalg.norm(data.y)

    def pull(beta: Array) -> tuple[Array, float]:
        misfit = rows @ beta.ravel() - data.y
        G = (misfit @ rows).reshape(beta.shape) / len(misfit)
        return G, float(np.linalg.norm(misfit) / size)

    return pull


def _descent(setting: MatrixSetting, data: MatrixData, pair: tuple[float, float]) -> Descent:
    began = time.perf_counter()
    ends = setting.tolerance, setting.max_iterations
    found = descend(data, *pair, *ends) if pair[1] else follow(data, pair[0], *ends)
    beta, residual, count, status = found
    spent = time.perf_counter() - began
    if status == "diverged":
        return Descent(*pair, None, None, None, None, count, status, spent)
    return Descent(
        *pair,
        **asdict(data.measured(beta)),
        residual=residual,
        iterations=count,
        status=status,
        seconds=spent,
    )


def _least_nuclear(setting: MatrixSetting, data: MatrixData) -> Baseline:
    find = least_trace if setting.is_symmetric else least_nuclear
    return data.measured(find(data.matrices, data.y, tol=1e-5).beta)


def _reconstruction(setting: MatrixSetting, samples: int) -> Reconstruction:
    data = draw(setting, samples)
    descent = _descent(setting, data, (setting.scales[0], setting.steps[:2][-1]))
    return Reconstruction(samples, descent, _least_nuclear(setting, data))
