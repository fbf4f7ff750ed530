"""Figures of separable data: margins over the scale of the start, and rates over log t."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

from derive.errors import InputError, NumericalError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.figures.specification import Rows
from numerics.margins.loss_flow import loss_flow
from numerics.margins.max_margin import max_margin
from numerics.margins.tails import tail_rates

LEAST = 1e-16
"""Gaps are drawn down to that."""


def margin_gap(norm: Literal["l1", "l2"], q: NumericPotential, problem: Mapping[str, Any]) -> float:
    """Return by how much the margin at the loss exp(-level) falls short of the largest, relative.

    *problem* has rows that carry their labels, and level, as text.
    """
    rows, level = problem["rows"], float(problem["level"])
    beta = _reached(q, rows, level)
    order = {"l1": 1, "l2": 2}[norm]
    margin = float(np.min(np.array(rows) @ beta)) / np.linalg.norm(beta, order)
    return max(LEAST, 1 - float(margin) / _largest(rows, norm))


@functools.cache
def _reached(q: NumericPotential, rows: Rows, level: float) -> Array:
    return np.asarray(loss_flow(q, rows, [level], 1e-7).value[0])


@functools.cache
def _largest(rows: Rows, norm: Literal["l1", "l2"]) -> float:
    return float(max_margin(rows, norm=norm).margin)


def rate(measure: str, rows: Rows, nu: str, log_times: Array) -> Array:
    """Return what a linear model under sum_i exp(-u_i^nu) has at log times.

    "gap": gamma - margin; "constant": c/(nu log t), which that tends to; "direction": the distance
    of w/|w| from its limit.
    """
    found = max_margin(rows)
    if measure == "constant":
        constant = tail_rates(rows, nu).margin_constant
        if constant is None:
            raise NumericalError("no constant is known for this tail")
        return np.asarray(float(constant) / log_times)
    w = _linear_flow(rows, nu, tuple(log_times.tolist()))
    size = np.asarray(np.linalg.norm(w, axis=1))
    if measure == "gap":
        margins = np.min(w @ np.array(rows, float).T, axis=1) / size
        return np.asarray(np.maximum(LEAST, float(found.margin) - margins))
    if measure != "direction":
        raise InputError("the measure must be one of gap, constant, direction")
    limit = np.array([float(x) for x in found.value])
    apart = w / size[:, None] - limit / np.linalg.norm(limit)
    return np.asarray(np.linalg.norm(apart, axis=1))


@functools.cache
def _linear_flow(rows: Rows, nu: str, log_times: tuple[float, ...]) -> Array:
    """Return w = X^T s at log times: ds_i/dlog t = nu u_i^(nu - 1) exp(log t - u_i^nu)."""
    X, power = np.array(rows, float), float(Fraction(nu))
    gram = X @ X.T

    def slope(tau: float, s: Array) -> Array:
        u = np.maximum(gram @ s, LEAST)
        return np.asarray(power * u ** (power - 1) * np.exp(np.minimum(tau - u**power, 60)))

    start = np.linalg.lstsq(gram, np.full(len(X), 1.5), rcond=None)[0]
    span = (0, log_times[-1])
    run = solve_ivp(slope, span, start, "BDF", t_eval=log_times, rtol=1e-10, atol=1e-10)
    if not run.success:
        raise NumericalError("the flow was not followed")
    return np.asarray(run.y.T @ X, float)
