"""Displays of experiments and of univariate limits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from numerics.experiments.matrix_results import MatrixResults
from numerics.experiments.sparse_results import SparseResults
from numerics.experiments.univariate import Task, UnivariateResults
from numerics.figures.display import Display
from numerics.figures.gallery import figures
from numerics.univariate.limit_function import LimitFunction


def sparse_regression(found: SparseResults) -> list[Display]:
    """Show the population error against the scale for each shape, crosses for trained weights."""
    shown = Display("sweep", "scale alpha", "population error", "log")
    for shape in found.setting.shapes:
        points = [(p.alpha, p.error) for p in found.grid if p.shape == shape]
        shown.add(f"s = {shape:g}", *np.array(points).T)
    if found.trained:
        ends = [(c.alpha, c.error) for c in found.trained]
        shown.add("trained", *np.array(ends).T, quantity="data")
    levels = {"least l1": found.l1_error, "least l2": found.l2_error}
    _add_levels(shown, found.setting.alphas, levels)
    return [shown]


def matrix_factorization(found: MatrixResults) -> list[Display]:
    """Show error and nuclear norm against the scale for each step, but of what diverged."""
    least = {"nuclear": found.least_nuclear, "Frobenius": found.least_frobenius}
    panels = []
    for column, label in (("error", "relative error"), ("nuclear_norm", "nuclear norm")):
        shown = Display("sweep", "scale of the start", label, "log")
        for step in found.setting.steps:
            ends = [d for d in found.grid if d.step == step and d.error is not None]
            points = np.array([(d.scale, getattr(d, column)) for d in ends]).reshape(-1, 2)
            shown.add(f"step {step:g}", *points.T)
        levels = {f"least {name} norm": getattr(x, column) for name, x in least.items()}
        _add_levels(shown, found.setting.scales, levels)
        panels.append(shown)
    return panels


def _add_levels(shown: Display, x: Iterable[float], levels: dict[str, float]) -> None:
    ends = np.array([min(x), max(x)])
    for label, height in levels.items():
        shown.add(label, ends, np.full(2, height), quantity="limit")


def univariate(found: UnivariateResults) -> list[Display]:
    """Show the panels of nets in the gallery, with the setting and errors of an experiment."""
    medians = {Task(e.potential, e.kind, e.biases, e.width): e.median for e in found.errors}
    panels = []
    for figure in figures():
        if figure.id.startswith("univariate-"):
            errors = {"error": medians.__getitem__} if figure.id.endswith("-errors") else {}
            (panel,) = figure.panels(setting=found.setting, **errors)
            panel.title = figure.title
            panels.append(panel)
    return panels


def limit(h: LimitFunction) -> list[Display]:
    """Show a limit function with its data, beyond the support of the biases, too."""
    low, high = map(float, h.dual.density.support)
    t = np.linspace(low - (high - low) / 8, high + (high - low) / 8, 801)
    shown, y = Display("nets", "x", "h(x)"), h.on_arrays(t)
    shown.add(f"h, phi = {h.problem.potential.text}", t, y)
    data = np.array([h.dual.x, h.dual.y], float)
    shown.add("data", *data, quantity="data")
    for end in (low, high):
        heights = np.array([y.min(), y.max()])
        shown.add("", np.full(2, end), heights, quantity="limit")
    return [shown]
