"""Univariate nets: at the end of mirror flow, their limits, and errors by width."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from numerics.experiments.univariate import (
    POTENTIALS,
    Task,
    UnivariateSetting,
    limit_of_task,
    trained_net,
)
from numerics.figures.display import Display, Series
from numerics.univariate.distance import distance_to_net

_SETTING = UnivariateSetting(widths=(100, 400, 1600), nets=5)


def univariate_unscaled(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    """Nets and their limits, unscaled potentials.

    Four points, uniform biases, relu, width 1600: nets at the end of mirror flow, and the functions
    that solve the derived problem.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    cases = {phi: {"kind": "unscaled", "potential": phi} for phi in POTENTIALS}
    return [_against_limits(setting, cases, 1, points)]


def univariate_scaled(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    """Nets and their limits, scaled potentials.

    Four points, uniform biases, abs, width 1600: nets at the end of mirror flow, and the functions
    that solve the derived problem.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    cases = {phi: {"kind": "scaled", "potential": phi} for phi in POTENTIALS}
    return [_against_limits(setting, cases, len(cases), points)]


def univariate_shifted(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    """Nets and their limits, shifted data.

    Four points, uniform biases, relu, phi = x^2, width 1600, targets y + shift: the limits are the
    same but for the shift, and what of it bends.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    case, shifts = {"kind": "unscaled", "potential": "x**2"}, ("-1", "-1/2", "0", "1/2", "1")
    cases = {f"y + {shift}": {**case, "shift": shift} for shift in shifts}
    return [_against_limits(setting, cases, len(cases), points)]


def univariate_unscaled_errors(
    setting: UnivariateSetting = _SETTING, error: Callable[[Task], float] | None = None
) -> list[Display]:
    """Errors of nets by their width, unscaled potentials.

    Four points, uniform biases, relu: medians of sup |f - h|, of five nets with random biases all
    of whose weights move, and of a net with biases at quantiles.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    return [_by_width(setting, "unscaled", error)]


def univariate_scaled_errors(
    setting: UnivariateSetting = _SETTING, error: Callable[[Task], float] | None = None
) -> list[Display]:
    """Errors of nets by their width, scaled potentials.

    Four points, uniform biases, abs: medians of sup |f - h|, of five nets with random biases all of
    whose weights move, and of a net with biases at quantiles.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    return [_by_width(setting, "scaled", error)]


def univariate_curvature(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    """How much limits of scaled potentials bend.

    Four points, uniform biases, abs: the share of x in [-1, 1] where |h''| is at most a number, for
    the limits under scaled potentials.

    See Liang and Montufar: implicit bias of mirror flow for shallow neural networks, Figures 1
    and 2.
    """
    shown, x = Display("nets", "|h''|", "share of x"), np.linspace(-1, 1, points)
    for phi in POTENTIALS:
        h, case = limit_of_task(setting, Task(phi, "scaled")), {"kind": "scaled", "potential": phi}
        sizes, share = np.sort(np.abs(h.second_derivative(x))), np.arange(1, points + 1) / points
        shown.series.append(Series(phi, sizes, share, "net", "bending", case))
    return [shown]


def _against_limits(
    setting: UnivariateSetting, cases: Mapping[str, Mapping[str, str]], limits: int, points: int
) -> Display:
    """Show nets of the largest width by labels, then the limits of the first so many.

    A case says the kind and the potential, and maybe by how much the targets are shifted.
    """
    shown, x = Display("nets", "x", "f(x)"), np.linspace(-1, 1, points)
    drawn = [("net", label, case) for label, case in cases.items()]
    drawn += [("limit", label, case) for label, case in [*cases.items()][:limits]]
    for what, label, case in drawn:
        task = Task(case["potential"], case["kind"], "random", max(setting.widths))
        shift = Fraction(case.get("shift", "0"))
        if what == "net":
            y = trained_net(setting, task, float(shift))(x)
        else:
            label, y = f"limit, {label}", limit_of_task(setting, task, shift).on_arrays(x)
        shown.series.append(Series(label, x, y, what, what, case))
    return shown


def _by_width(
    setting: UnivariateSetting, kind: str, error: Callable[[Task], float] | None
) -> Display:
    """Show the median error of nets by width, for each potential and choice of biases.

    *error* finds that of the nets that a task is the first of, if they are not to be trained.
    """
    shown, widths = Display("nets", "width", "sup |f - h|", "log"), np.array(setting.widths, float)
    for biases in ("random", "quantiles"):
        for phi in POTENTIALS:
            tasks = [Task(phi, kind, biases, n) for n in setting.widths]
            y = np.array([error(t) if error else _median_error(setting, t) for t in tasks])
            case = {"kind": kind, "biases": biases, "potential": phi}
            shown.series.append(Series(f"{biases}, {phi}", widths, y, biases, "error", case))
    return shown


def _median_error(setting: UnivariateSetting, task: Task) -> float:
    """Return the median of sup |f - h|."""
    table = limit_of_task(setting, task).table
    alike = (replace(task, number=i) for i in range(setting.nets))
    drawn = alike if task.biases == "random" else [task]
    return float(np.median([distance_to_net(table, trained_net(setting, t)) for t in drawn]))
