"""Optimizers run from 0 on one drawn X: how near their ends are to the best in each norm.

Regression: the least norm at the predictions X w of the end, over |w|. Separable data, rows with
their labels, under exponential loss with steps over the loss: min_i <x_i, w>/|w| over the largest
such margin, negative where w does not separate them. Both are at most 1, however early a run ends.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import softmax

from derive.language.reader import value_of
from derive.optimizers.least_norm import Norm, read_norm
from derive.optimizers.span import find_update
from numerics.evaluate.numbers import Array
from numerics.experiments.settings import OptimizerSetting, Results, Stages, table
from numerics.interpolants.interpolant import least_l1
from numerics.margins.interval import MarginInterval, dual_slope
from numerics.margins.max_margin import max_margin

NORMS = ("l1", "l4/3", "l2", "linf")
RUN = (
    "gradient-descent",
    "momentum",
    "nesterov",
    "steepest-descent",
    "coordinate-descent",
    "signed",
)
MOMENTUM = 0.9
SHARE = 0.5
"""Of the largest step at which descent is sure."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a run ended: quality in each norm, at most 1; the residual, 0 on separable data."""

    problem: str
    optimizer: str
    step: float
    l1: float
    l4_3: float
    l2: float
    linf: float
    residual: float


@dataclass(frozen=True, slots=True)
class OptimizerResults(Results):
    """All ends."""

    listed = "ends"

    setting: OptimizerSetting
    ends: tuple[End, ...]

    def to_text(self) -> str:
        """Return the table."""
        s = self.setting
        shape = f"{s.samples} rows in {s.dimension} dimensions, seed {s.seed}"
        columns = {"problem": "<11", "optimizer": "<19", "step": "8.3g"}
        columns |= {**dict.fromkeys(NORMS, "8.3f"), "residual": "10.0e"}
        lines = table(columns, map(astuple, self.ends))
        return "\n".join([f"{shape}; 1 is the best in a norm", "", *lines])


def optimizers(setting: OptimizerSetting, stages: Stages) -> OptimizerResults:
    """Run optimizers of the table on regression and on separable data."""
    rng = np.random.default_rng(setting.seed)
    X, y = rng.normal(size=(setting.samples, setting.dimension)), rng.normal(size=setting.samples)
    largest = np.linalg.norm(X, 2) ** 2
    tasks = list[tuple[str, float]]()
    for name in RUN:
        p = read_norm(find_update(name).norm or "2").p
        # by how much |v|_2^2 may exceed |v|^2 in the norm of the optimizer
        excess = float(setting.dimension ** max(0.0, 1 - 2 * float(1 / p if p else 0)))
        tasks.append((name, float(SHARE / largest / excess)))
    ends: tuple[End, ...] = ()
    for problem, extra in (("regression", setting.adagrad), ("separable", ())):
        known = tasks + [("adagrad", step) for step in extra]
        ends += stages.each(problem, partial(_run, problem, X, y, setting.steps), known)
    return OptimizerResults(setting, ends)


def _run(problem: str, X: Array, y: Array, steps: int, task: tuple[str, float]) -> End:
    name, eta = task
    update = find_update(name)
    state = {x: np.zeros(X.shape[1]) for x in update.state}
    known = {"eta": np.array(eta), "mu": np.array(MOMENTUM)}
    separable, norm = problem == "separable", read_norm(update.norm or "2")
    for _ in range(steps):
        at = state.get("v", state["w"])
        g = -X.T @ softmax(-X @ at) if separable else X.T @ (X @ at - y)
        if not np.any(g):
            break
        known |= {"g": g, "d": dual_slope(g, norm), **state}
        state = {
            x: value_of(text, known, lambda name, x: np.asarray(getattr(np, name)(x)))
            for x, text in update.update.items()
        }
    w = state["w"]
    l1, l4_3, l2, linf = _margins(X, w) if separable else _norms(X, w)
    residual = 0.0 if separable else float(np.linalg.norm(X @ w - y) / np.linalg.norm(y))
    return End(problem, name, eta, l1, l4_3, l2, linf, residual)


def _margins(X: Array, w: Array) -> list[float]:
    """Return the margin over the largest, in each norm."""
    found = {name: max_margin(X, norm=name) for name in NORMS}
    best = (
        float(x.lower if isinstance(x, MarginInterval) else 1 / x.margin) for x in found.values()
    )
    return [float(min(X @ w)) * b / _size(w, name) for name, b in zip(found, best, strict=True)]


def _norms(X: Array, w: Array) -> list[float]:
    """Return the least norm at the predictions of w over that of w, in each norm."""
    (m, d), y = X.shape, X @ w
    sides = np.hstack([np.vstack([np.eye(d), -np.eye(d)]), -np.ones((2 * d, 1))])
    cost, whole = np.append(np.zeros(d), 1), np.hstack([X, np.zeros((m, 1))])
    largest = linprog(cost, sides, np.zeros(2 * d), whole, y, bounds=(None, None)).fun
    least = {"l1": np.abs(least_l1(X, y)).sum(), "linf": largest}
    for name in ("l4/3", "l2"):
        q = _power(read_norm(name).dual)
        dual = minimize(lambda s, q=q: np.linalg.norm(X.T @ s, q) ** 2 / 2 - s @ y, np.zeros(m))
        least[name] = math.sqrt(-2 * dual.fun)
    return [float(least[name]) / _size(w, name) for name in NORMS]


def _power(norm: Norm) -> float:
    return math.inf if norm.p is None else float(norm.p)


def _size(w: Array, name: str) -> float:
    return float(np.linalg.norm(w, _power(read_norm(name))))
