"""Univariate nets trained by mirror flow, against the functions that they tend to.

Unscaled potentials have one limit, scaled ones a limit each: supremum errors by width, with random
biases and with biases at quantiles.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.interpolate import PPoly

from derive.univariate.problem import read_activation, read_density, read_potential
from numerics.experiments.settings import Results, Stages, UnivariateSetting, table
from numerics.univariate.dual import Law
from numerics.univariate.limit_function import (
    LimitFunction,
    MirrorFlow,
    Net,
    distance_to_net,
    limit_function,
    quantile_net,
    random_net,
    supremum_distance,
    train,
)

POTENTIALS = ("x**2", "abs(x)**3 + x**2", "x**4 + x**2")
KINDS = {"unscaled": "relu", "scaled": "abs"}
"""The potentials of the two theorems, with their activation."""
DENSITY = "uniform"


@dataclass(frozen=True, slots=True)
class Task:
    """One net: potential, kind, how biases are chosen ("random" or "quantiles"), width, number."""

    potential: str
    kind: str
    biases: str = "random"
    width: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class Errors:
    """sup |f - h| of the nets of a width: their median, least and largest."""

    potential: str
    kind: str
    biases: str
    width: int
    median: float
    least: float
    largest: float


@dataclass(frozen=True, slots=True)
class UnivariateResults(Results):
    """What was found.

    Attributes:
        errors: by width.
        slopes: of log median against log width, by kind, biases and potential.
        differences: sup |h - h of x**2| of limits, by kind and potential.
    """

    listed = "errors"

    setting: UnivariateSetting
    errors: tuple[Errors, ...]
    slopes: Mapping[str, float | None]
    differences: Mapping[str, float]

    def to_text(self) -> str:
        """Return tables of the medians, by width."""
        s = self.setting
        data = ", ".join(f"({x}, {y})" for x, y in zip(s.x, s.y, strict=True))
        lines = ["Univariate nets trained by mirror flow", f"data {data}, seed {s.seed}"]
        lines.append("Median of sup |f - h| on [-1, 1], h the derived limit, biases uniform")
        columns = {"width": "8", **dict.fromkeys(POTENTIALS, "18.3e")}
        medians = {(e.kind, e.biases, e.width, e.potential): e.median for e in self.errors}
        hows = {"random": f"random, {s.nets} nets", "quantiles": "at quantiles"}
        for kind, activation in KINDS.items():
            for biases, how in hows.items():
                lines += ["", f"{kind} potentials, {activation}; biases {how}"]
                rows = [(n, *(medians[kind, biases, n, p] for p in POTENTIALS)) for n in s.widths]
                found = (self.slopes[f"{kind}, {biases}, {p}"] for p in POTENTIALS)
                slopes = ("" if x is None else f"{x:.2f}" for x in found)
                lines += table(columns, [*rows, ("slope", *slopes)])
            away = (self.differences[f"{kind}, {p}"] for p in POTENTIALS)
            lines.append("   sup |h - h of x**2| of limits: " + ", ".join(f"{x:.4f}" for x in away))
        return "\n".join(lines)


def univariate_nets(setting: UnivariateSetting, stages: Stages) -> UnivariateResults:
    """Train nets of each width beside their limits; NumericalError where one is not."""
    pairs = [(p, kind) for kind in KINDS for p in POTENTIALS]
    stages.enter("limit functions")
    limits = {(p, kind): limit_of_task(setting, Task(p, kind)) for p, kind in pairs}
    tables = {key: h.table for key, h in limits.items()}
    tasks = [
        Task(p, kind, biases, n, i)
        for n in reversed(setting.widths)
        for p, kind in pairs
        for biases, count in (("random", setting.nets), ("quantiles", 1))
        for i in range(count)
    ]
    found = stages.each("nets", functools.partial(_error, setting, tables), tasks)
    groups: dict[tuple[str, str, str, int], list[float]] = {}
    for t, error in zip(tasks, found, strict=True):
        groups.setdefault((t.potential, t.kind, t.biases, t.width), []).append(error)
    errors = tuple(Errors(*k, float(np.median(g)), min(g), max(g)) for k, g in groups.items())
    base = {kind: limits[POTENTIALS[0], kind] for kind in KINDS}
    return UnivariateResults(
        setting,
        errors,
        {
            f"{k}, {b}, {p}": _slope(errors, p, k, b)
            for p, k in pairs
            for b in ("random", "quantiles")
        },
        {f"{k}, {p}": supremum_distance(limits[p, k], base[k]) for p, k in pairs},
    )


def limit_of_task(
    setting: UnivariateSetting, task: Task, shift: Fraction = Fraction(0)
) -> LimitFunction:
    """Return the limit of nets as their width grows, for targets y + shift."""
    y, scaled = [Fraction(v) + shift for v in setting.y], task.kind == "scaled"
    return limit_function(setting.x, y, task.potential, KINDS[task.kind], DENSITY, scaled=scaled)


@functools.cache
def _law(potential: str) -> Law:
    return Law(read_potential(potential))


def trained_net(setting: UnivariateSetting, task: Task, shift: float = 0.0) -> Net:
    """Return a net at the end of its mirror flow; at quantiles the output weights move alone."""
    density, activation = read_density(DENSITY), read_activation(KINDS[task.kind])
    if task.biases == "quantiles":
        net, moving = quantile_net(task.width, density, activation), "a"
    else:
        rng = np.random.default_rng([setting.seed, task.width, task.number])
        net, moving = random_net(task.width, density, activation, rng), "awbd"
    x = [float(Fraction(v)) for v in setting.x]
    y = [float(Fraction(v)) + shift for v in setting.y]
    scale = float(task.width) if task.kind == "scaled" else 1.0
    return train(net, x, y, MirrorFlow(_law(task.potential), scale, moving)).net


def _error(
    setting: UnivariateSetting, tables: Mapping[tuple[str, str], PPoly], task: Task
) -> float:
    return distance_to_net(tables[task.potential, task.kind], trained_net(setting, task))


def _slope(errors: Iterable[Errors], potential: str, kind: str, biases: str) -> float | None:
    chosen = [e for e in errors if (e.potential, e.kind, e.biases) == (potential, kind, biases)]
    if len(chosen) < 2:
        return None
    logs = np.log([[e.width, e.median] for e in chosen])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
