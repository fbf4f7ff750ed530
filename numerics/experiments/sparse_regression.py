"""Sparse regression by a diagonal network: the error against scale and shape of the start.

y = <beta*, x> + noise, with beta* sparse and m < d samples. Every coordinate is
``u+ v+ - u- v-`` and starts at 0 with ``u+ = u-`` and ``v+ = v-``; its scale is alpha = u v and its
shape s = (v - u)/(v + u). A small alpha/(1 - s^2) finds sparse solutions, a large one those of
least Euclidean norm (Woodworth et al. 2020, section 6; Azulay et al. 2021, sections 7.1 and 9).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import scipy.integrate
import scipy.optimize

from derive.derivation import derive
from derive.errors import NumericalError
from derive.model.parameterization import Parameterization
from derive.records import Potential
from numerics.evaluate.lowering import lower
from numerics.evaluate.numbers import Array, compiled
from numerics.experiments.settings import Results, Row, SparseSetting, Stages, table
from numerics.interpolants.interpolant import Solution, interpolate, least_l1

_SMALLEST, _LARGEST = -8.0, 2.0
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14
"""Errors per step: the noise that stability-limited steps leave must stay below the residual."""
_EVALUATIONS = 200_000
_FITTED = 1e-8  # |X beta - y|/|y|


@dataclass(frozen=True, slots=True, eq=False)
class SparseData:
    """X (m, d), y (m,) and the truth beta* (d,)."""

    X: Array
    y: Array
    truth: Array

    def error(self, beta: Array) -> float:
        """Return the population error ``E <beta - beta*, x>^2 = |beta - beta*|^2``."""
        return float(((beta - self.truth) ** 2).sum())


@dataclass(frozen=True, slots=True)
class Prediction:
    """The interpolant of least Q at a start: its error, l1 norm and relative residual."""

    alpha: float
    shape: float
    error: float
    l1_norm: float
    residual: float
    iterations: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Weights trained from a start, and ``|trained - predicted|/|predicted|``."""

    alpha: float
    shape: float
    error: float
    distance: float
    residual: float
    evaluations: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """The largest alpha in [1e-8, 100] with an error below the target for m samples; None: none."""

    samples: int
    shape: float
    alpha: float | None
    l1_error: float


@dataclass(frozen=True, slots=True)
class SparseResults(Results):
    """What was found: the grid, trained points, thresholds and the errors of both baselines."""

    columns = ("kind", "samples", "alpha", "shape", "error", "l1_norm", "residual", "distance")

    setting: SparseSetting
    l1_error: float
    l2_error: float
    grid: tuple[Prediction, ...]
    trained: tuple[Comparison, ...]
    thresholds: tuple[Threshold, ...]

    def rows(self) -> list[Row]:
        """Return one row for each result, baselines first."""
        m = self.setting.samples
        least = {"least l1": self.l1_error, "least l2": self.l2_error}
        rows: list[Row] = [{"kind": k, "samples": m, "error": x} for k, x in least.items()]
        rows += [{"kind": "predicted", "samples": m, **asdict(p)} for p in self.grid]
        rows += [{"kind": "trained", "samples": m, **asdict(c)} for c in self.trained]
        error = self.setting.target
        rows += [{"kind": "largest alpha", **asdict(t), "error": error} for t in self.thresholds]
        return rows

    def to_text(self) -> str:
        """Return tables: the predicted limits, then what was trained, then the largest scales."""
        setting = self.setting
        by_place = {(p.alpha, p.shape): p.error for p in self.grid}
        columns = {"alpha": "9.2e", **{f"s = {s:g}": "11.4f" for s in setting.shapes}}
        lines = [
            f"Error |beta - beta*|^2 of the predicted limit: d = {setting.dimension}, "
            f"m = {setting.samples}, k = {setting.sparsity}",
            *table(
                columns, [(a, *(by_place[a, s] for s in setting.shapes)) for a in setting.alphas]
            ),
            f"least l1 norm {self.l1_error:.4f}, least l2 norm {self.l2_error:.4f}",
        ]
        if self.trained:
            lines += ["", "Weights trained by gradient flow: relative distance to the prediction"]
            for c in self.trained:
                place = f"alpha = {c.alpha:.2e}, s = {c.shape:g}"
                lines.append(f"{place}: {c.distance:.1e}, error {c.error:.4f}")
        if self.thresholds:
            lines += ["", f"Largest alpha with a population error below {setting.target:g}"]
            for t in self.thresholds:
                place = f"m = {t.samples}, s = {t.shape:g}"
                alpha = "none" if t.alpha is None else f"{t.alpha:.2e}"
                lines.append(f"{place}: {alpha} (least l1: {t.l1_error:.4f})")
        return "\n".join(lines)


def sparse_regression(setting: SparseSetting, stages: Stages) -> SparseResults:
    """Predict and train limits; NumericalError for a failed solver."""
    stages.enter("baselines")
    data = draw(setting, setting.samples)
    pairs = [(a, s) for s in setting.shapes for a in setting.alphas]
    sizes = [(m, s) for m in setting.sizes for s in setting.shapes[:1]]
    return SparseResults(
        setting,
        data.error(least_l1(data.X, data.y)),
        data.error(np.linalg.lstsq(data.X, data.y)[0]),
        stages.each("grid", functools.partial(_prediction, data), pairs),
        stages.each("training", functools.partial(_comparison, data), setting.trained),
        stages.each("thresholds", functools.partial(_threshold, setting), sizes),
    )


def draw(setting: SparseSetting, samples: int) -> SparseData:
    """Draw data: x standard normal, k entries of beta* equal to 1/sqrt k."""
    rng = np.random.default_rng([setting.seed, samples])
    X = rng.standard_normal((samples, setting.dimension))
    truth = np.zeros(setting.dimension)
    truth[: setting.sparsity] = 1 / math.sqrt(setting.sparsity)
    noise = math.sqrt(setting.variance) * rng.standard_normal(samples)
    return SparseData(X, X @ truth + noise, truth)


def weights(alpha: float, shape: float) -> tuple[float, float]:
    """Return u and v of scale alpha = u v and shape s = (v - u)/(v + u).

    >>> weights(0.09, 0.8)
    (0.1, 0.9)
    """
    ratio = math.sqrt((1 + shape) / (1 - shape))
    return float(f"{math.sqrt(alpha) / ratio:.15g}"), float(f"{math.sqrt(alpha) * ratio:.15g}")


def predict(data: SparseData, alpha: float, shape: float) -> Solution:
    """Return where gradient flow converges to, without running it; NumericalError if not found."""
    u, v = weights(alpha, shape)
    solution = interpolate(lower(_potential(), {"u0": u, "v0": v}), data.X, data.y)
    if not solution.converged:
        raise NumericalError(f"at alpha = {alpha:g}, s = {shape:g}: {solution.message}")
    return solution


@functools.cache
def _potential() -> Potential:
    start = {"u": "u0", "v": "v0", "x": "u0", "z": "v0"}
    model = Parameterization.parse(["u*v - x*z"], start=start, positive=["u0", "v0"])
    return derive(model).potential


def _prediction(data: SparseData, pair: tuple[float, float]) -> Prediction:
    s = predict(data, *pair)
    l1_norm = float(np.abs(s.value).sum())
    return Prediction(*pair, data.error(s.value), l1_norm, s.residual, s.iterations)


def _comparison(data: SparseData, pair: tuple[float, float]) -> Comparison:
    (u, v), limit = weights(*pair), predict(data, *pair).value
    model = _potential().parameterization
    end = train(model, data.X, data.y, {"u": u, "v": v, "x": u, "z": v})
    distance = float(np.linalg.norm(end.value - limit) / np.linalg.norm(limit))
    return Comparison(*pair, data.error(end.value), distance, end.residual, end.evaluations)


def _threshold(setting: SparseSetting, pair: tuple[int, float]) -> Threshold:
    samples, shape = pair
    data = draw(setting, samples)

    def excess(exponent: float) -> float:
        found = predict(data, 10**exponent, shape).value
        return math.log(data.error(found) / setting.target)

    l1_error = data.error(least_l1(data.X, data.y))
    if excess(_SMALLEST) >= 0:
        return Threshold(samples, shape, None, l1_error)
    if excess(_LARGEST) < 0:
        return Threshold(samples, shape, 10**_LARGEST, l1_error)
    exponent = scipy.optimize.brentq(excess, _SMALLEST, _LARGEST, xtol=0.01)
    return Threshold(samples, shape, float(10**exponent), l1_error)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The end of a flow: beta (d,), ``|X beta - y|/|y|``, and the evaluations of the flow."""

    value: Array
    residual: float
    evaluations: int


def train(
    p: Parameterization, X: Array, y: Array, start: Mapping[str, float], *, method: str = "DOP853"
) -> Trained:
    """Run ``w' = -J^T X^T (X F(w) - y)`` on d copies of a single output until it interpolates.

    In double precision, by a *method* of SciPy; it knows nothing of any Q. The *start* is that of
    every copy; NumericalError where the flow is too slow.
    """
    names, d = p.weights, X.shape[1]
    (output,) = p.outputs
    symbols = {s.name: s for s in output.free_symbols}
    forward = compiled([output], names)
    backward = compiled([output.diff(symbols[name]) for name in names], names)
    scale, count = np.linalg.norm(y), 0

    def beta(w: Array) -> Array:
        return np.asarray(forward(*w.reshape(len(names), d))[0])

    def misfit(w: Array) -> Array:
        return np.asarray(X @ beta(w) - y)

    def motion(_: float, w: Array) -> Array:
        nonlocal count
        count += 1
        if count > _EVALUATIONS:
            raise NumericalError("training is too slow: start from a larger scale")
        force = X.T @ misfit(w)
        return np.concatenate([-force * slope for slope in backward(*w.reshape(len(names), d))])

    def fitted(_: float, w: Array) -> float:
        return float(np.linalg.norm(misfit(w)) / scale - _FITTED)

    fitted.terminal = True  # type: ignore[attr-defined]
    origin = np.repeat([start[name] for name in names], d)
    error = {"rtol": _RELATIVE, "atol": _ABSOLUTE * np.abs(origin).max()}
    with np.errstate(all="ignore"):
        end = scipy.integrate.solve_ivp(motion, (0, np.inf), origin, method, events=fitted, **error)
    if end.status != 1:
        raise NumericalError(f"training failed: {end.message}")
    w = end.y[:, -1]
    return Trained(beta(w), fitted(0, w) + _FITTED, count)
