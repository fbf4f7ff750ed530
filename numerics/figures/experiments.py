"""Displays of experiments and of univariate limits."""

from __future__ import annotations

import numpy as np

from numerics.experiments.matrix_factorization import MatrixResults, step_name
from numerics.experiments.sparse_regression import SparseResults
from numerics.experiments.univariate_nets import Task, UnivariateResults
from numerics.figures.display import Display
from numerics.figures.gallery import figures
from numerics.univariate.limit_function import LimitFunction


def sparse_regression(found: SparseResults) -> list[Display]:
    """Show the population error against the scale for each shape, crosses for trained weights."""
    shown, scales = Display("sweep", "scale alpha", "population error", "log"), found.setting.alphas
    for shape in found.setting.shapes:
        errors = [p.error for p in found.grid if p.shape == shape]
        shown.add(f"s = {shape:g}", np.array(scales), np.array(errors))
    ends = np.array([(c.alpha, c.error) for c in found.trained]).reshape(-1, 2)
    shown.add("trained", *ends.T, quantity="data")
    for norm, error in (("l1", found.l1_error), ("l2", found.l2_error)):
        shown.level(f"least {norm}", scales, error)
    return [shown]


def matrix_factorization(found: MatrixResults) -> list[Display]:
    """Show error and nuclear norm against the scale for each step, and how many runs diverged."""
    panels = []
    for column, label in (("error", "relative error"), ("nuclear_norm", "nuclear norm")):
        shown = Display("sweep", "scale of the start", label, "log")
        for step in found.setting.steps:
            runs = [d for d in found.grid if d.step == step]
            ends = [d for d in runs if d.error is not None]
            lost = f", {len(runs) - len(ends)} of {len(runs)} diverged" * (ends != runs)
            points = np.array([(d.scale, getattr(d, column)) for d in ends]).reshape(-1, 2)
            shown.add(f"{step_name(step)}{lost}", *points.T)
        for norm, least in (("nuclear", found.least_nuclear), ("Frobenius", found.least_frobenius)):
            shown.level(f"least {norm} norm", found.setting.scales, getattr(least, column))
        panels.append(shown)
    return panels


def univariate_nets(found: UnivariateResults) -> list[Display]:
    """Show the panels of nets in the gallery, with the setting and errors of an experiment."""
    medians = {Task(e.potential, e.kind, e.biases, e.width): e.median for e in found.errors}
    panels = []
    for figure in (figure for figure in figures() if figure.id.startswith("univariate-")):
        known = {"error": lambda _, task: medians[task]} if figure.id.endswith("errors") else {}
        (panel,) = figure.panels(setting=found.setting, **known)
        panel.title = figure.title
        panels.append(panel)
    return panels


def limit(h: LimitFunction) -> list[Display]:
    """Show a limit function with its data, beyond the support of the biases, too."""
    low, high = map(float, h.dual.density.support)
    reach = (high - low) / 8
    t = np.linspace(low - reach, high + reach, 801)
    shown, y = Display("nets", "x", "h(x)"), h.on_arrays(t)
    shown.add(f"h, phi = {h.problem.potential.text}", t, y)
    shown.add("data", *np.array([h.dual.x, h.dual.y], float), quantity="data")
    ends, heights = [low, low, np.nan, high, high], [y.min(), y.max(), np.nan, y.min(), y.max()]
    shown.add("", np.array(ends), np.array(heights), quantity="limit")
    return [shown]
