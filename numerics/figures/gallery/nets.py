"""Univariate nets: at the end of mirror flow, their limits, and errors by width."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from numerics.experiments.settings import UnivariateSetting
from numerics.experiments.univariate_nets import POTENTIALS, Task, limit_of_task, trained_net
from numerics.figures.display import Display, Series
from numerics.univariate.distance import distance_to_net

_SETTING = UnivariateSetting(widths=(100, 400, 1600), nets=5)


def _against_limits(
    cases: Mapping[str, Mapping[str, str]],
    limits: int,
    points: int = 201,
    setting: UnivariateSetting = _SETTING,
) -> list[Display]:
    """Show nets of the largest width, then the limits of the first so many.

    A case says the kind and the potential, and maybe by how much the targets are shifted.
    """
    shown, x = Display("nets", "x", "f(x)"), np.linspace(-1, 1, points)
    drawn = [("net", *case) for case in cases.items()]
    for what, label, case in [*drawn, *(("limit", *case) for case in [*cases.items()][:limits])]:
        task = Task(case["potential"], case["kind"], "random", max(setting.widths))
        shift = Fraction(case.get("shift", "0"))
        if what == "net":
            y = trained_net(setting, task, float(shift))(x)
        else:
            label, y = f"limit, {label}", limit_of_task(setting, task, shift).on_arrays(x)
        shown.series.append(Series(label, x, y, what, what, case))
    return [shown]


def _median_error(setting: UnivariateSetting, task: Task) -> float:
    """Return the median of sup |f - h| of the nets that a task is the first of."""
    table = limit_of_task(setting, task).table
    alike = (replace(task, number=i) for i in range(setting.nets))
    drawn = alike if task.biases == "random" else [task]
    return float(np.median([distance_to_net(table, trained_net(setting, t)) for t in drawn]))


def _by_width(
    kind: str,
    setting: UnivariateSetting = _SETTING,
    error: Callable[[UnivariateSetting, Task], float] = _median_error,
) -> list[Display]:
    """Show the error of nets by width, for each potential and choice of biases."""
    shown, widths = Display("nets", "width", "sup |f - h|", "log"), np.array(setting.widths, float)
    for biases in ("random", "quantiles"):
        for phi in POTENTIALS:
            y = np.array([error(setting, Task(phi, kind, biases, n)) for n in setting.widths])
            case = {"kind": kind, "biases": biases, "potential": phi}
            shown.series.append(Series(f"{biases}, {phi}", widths, y, biases, "error", case))
    return [shown]


def univariate_curvature(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    shown, x = Display("nets", "|h''|", "share of x"), np.linspace(-1, 1, points)
    for phi, case in _SCALED.items():
        h, share = limit_of_task(setting, Task(phi, "scaled")), np.arange(1, points + 1) / points
        sizes = np.sort(np.abs(h.second_derivative(x)))
        shown.series.append(Series(phi, sizes, share, "net", "bending", case))
    return [shown]


_UNSCALED = {phi: {"kind": "unscaled", "potential": phi} for phi in POTENTIALS}
_SCALED = {phi: {"kind": "scaled", "potential": phi} for phi in POTENTIALS}
_SHIFTED = {
    f"y + {shift}": {**_UNSCALED["x**2"], "shift": shift}
    for shift in ("-1", "-1/2", "0", "1/2", "1")
}
univariate_unscaled = partial(_against_limits, _UNSCALED, 1)
univariate_scaled = partial(_against_limits, _SCALED, len(_SCALED))
univariate_shifted = partial(_against_limits, _SHIFTED, len(_SHIFTED))
univariate_unscaled_errors = partial(_by_width, "unscaled")
univariate_scaled_errors = partial(_by_width, "scaled")
