"""Quantities as functions of a start symbol, mostly the scale alpha."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np

from derive.errors import InputError, NumericalError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.experiments.sparse_regression import SparseData, draw, least_l1
from numerics.experiments.sparse_results import SparseSetting
from numerics.figures.quantity import potential_of, start_of
from numerics.figures.specification import Series, Specification
from numerics.interpolate.interpolant import interpolate


def sweep(figure: Specification, series: Series, values: Mapping[str, str], x: Array) -> Array:
    """Return the measure of a series at each number of the start symbol that is swept.

    "ratio": Q(e_1)/Q(1/sqrt d) for d copies of the output; 1/sqrt d for the l1 norm, 1 for the
    squared l2 norm. "error", "l1", "l2": the population error, and the excess of the norm over
    the least, of the interpolant of least Q in a sparse regression problem.

    Args:
        figure: whose models and regression problem are meant.
        series: the model, the symbol and the measure.
        values: numbers as text for the other names.
        x: (n,), the numbers of the symbol.

    Raises:
        InputError: the measure is not known.
        NumericalError: a solver did not converge.
    """
    if series.measure not in _MEASURES:
        raise InputError(f"the measure must be one of {', '.join(_MEASURES)}")
    measure, model = _MEASURES[series.measure], figure.models[series.model]
    found = []
    for number in x:
        start = start_of(series, {**values, series.symbol: repr(float(number))})
        found.append(measure(potential_of(model, start), figure.problem))
    return np.array(found)


def _ratio(q: NumericPotential, problem: Mapping[str, int]) -> float:
    d = problem["dimension"]
    one, spread = q.bregman(np.array([1.0, 1 / math.sqrt(d)]), q.beta0[0])
    return float(one / (d * spread))


def _interpolant(q: NumericPotential, data: SparseData) -> Array:
    solution = interpolate(q, data.X, data.y)
    if not solution.converged:
        raise NumericalError(f"at {dict(q.start)}: {solution.message}")
    return solution.value


def _error(q: NumericPotential, problem: Mapping[str, int]) -> float:
    data = _data(tuple(problem.items()))
    return data.error(_interpolant(q, data))


def _excess_l1(q: NumericPotential, problem: Mapping[str, int]) -> float:
    data, least, _ = _baselines(tuple(problem.items()))
    return float(np.abs(_interpolant(q, data)).sum() / least - 1)


def _excess_l2(q: NumericPotential, problem: Mapping[str, int]) -> float:
    data, _, least = _baselines(tuple(problem.items()))
    return float(np.linalg.norm(_interpolant(q, data)) / least - 1)


@functools.cache
def _data(problem: tuple[tuple[str, int], ...]) -> SparseData:
    setting = SparseSetting(**dict(problem), sizes=())  # type: ignore[arg-type]
    return draw(setting, setting.samples)


@functools.cache
def _baselines(problem: tuple[tuple[str, int], ...]) -> tuple[SparseData, float, float]:
    """Return the data, the least l1 norm and the least l2 norm of their interpolants."""
    data = _data(problem)
    l1 = float(np.abs(least_l1(data)).sum())
    return data, l1, float(np.linalg.norm(np.linalg.lstsq(data.X, data.y)[0]))


_MEASURES: dict[str, Callable[[NumericPotential, Mapping[str, int]], float]] = {
    "ratio": _ratio,
    "error": _error,
    "l1": _excess_l1,
    "l2": _excess_l2,
}
