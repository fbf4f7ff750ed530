"""Panels of univariate nets: nets at the end of mirror flow, their limits, and errors by width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.experiments.univariate import Task, UnivariateSetting, limit_of_task, trained_net
from numerics.figures.specification import Series, Specification
from numerics.univariate.distance import distance_to_net


def panel(figure: Specification, series: Series, values: Mapping[str, str]) -> tuple[Array, Array]:
    """Return a curve of a panel, of nets of the kind and potential that *values* name.

    "net", "limit": f and h on the line, for targets y + shift; "error": the median of sup |f - h|
    of nets with the biases named, at as many widths as there are points; "bending": the share of x
    with |h''| at most that of the limit. InputError for another measure.
    """
    width, nets = (figure.problem[name] for name in ("width", "nets"))
    task = Task(values["potential"], values["kind"], values.get("biases", "random"), width, 0)
    setting, shift = UnivariateSetting(nets=nets), Fraction(values.get("shift", "0"))
    t = np.linspace(figure.axes.low, figure.axes.high, figure.axes.points)
    match series.measure:
        case "net":
            return t, trained_net(setting, task, float(shift))(t)
        case "limit":
            return t, limit_of_task(setting, task, shift).on_arrays(t)
        case "bending":
            line = np.linspace(-1, 1, figure.axes.points)
            sizes = np.sort(np.abs(limit_of_task(setting, task).second_derivative(line)))
            return sizes, np.arange(1, len(line) + 1) / len(line)
        case "error":
            return _errors(setting, task, figure.axes.points)
    raise InputError(f"the measure must be net, limit, error or bending, not {series.measure}")


def _errors(setting: UnivariateSetting, last: Task, points: int) -> tuple[Array, Array]:
    widths = setting.widths[:points]
    table = limit_of_task(setting, last).table
    counts = range(setting.nets if last.biases == "random" else 1)

    def error(width: int, number: int) -> float:
        task = replace(last, width=width, number=number)
        return distance_to_net(table, trained_net(setting, task))

    return np.array(widths, float), np.array(
        [np.median([error(n, i) for i in counts]) for n in widths]
    )
