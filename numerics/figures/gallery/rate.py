"""Linear models on separable data, whose rows carry their labels, over the logarithm of time."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.integrate import solve_ivp

from derive.derivation import derive
from derive.errors import NumericalError
from numerics.evaluate.backend import Array
from numerics.figures.display import Display
from numerics.margins.max_margin import max_margin
from numerics.margins.tails import tail_rates

_LEAST = 1e-16


def margin_rates(points: int = 60) -> list[Display]:
    shown = Display("rate", r"$\log t$", "largest margin - margin", "log")
    rows, tails, times = ((2, 3), (-2, 5)), ("1/2", "1", "3/2"), np.geomspace(10, 1e6, points)
    of, largest = derive("w"), float(max_margin(rows).margin)
    for nu in tails:
        w = _linear_flow(rows, nu, times)
        gap = largest - np.min(w @ np.array(rows).T, axis=1) / np.linalg.norm(w, axis=1)
        y = np.maximum(_LEAST, gap)
        shown.add(rf"$\nu = {nu}$", times, y, of=of, measure="gap", nu=nu)
    for nu in tails:
        label, c = rf"$c/(\nu \log t)$, $\nu = {nu}$", tail_rates(rows, nu).margin_constant or 0
        y = float(c) / times
        shown.add(label, times, y, of=of, quantity="limit", measure="constant", nu=nu)
    return [shown]


def margin_tails(points: int = 60) -> list[Display]:
    shown = Display("rate", r"$\log t$", r"$|w/|w| - \hat w/|\hat w||$", "log")
    of, rows, times = derive("w"), ((2, 0), (3, 1)), np.geomspace(10, 1e6, points)
    end = np.array(max_margin(rows).value, float)
    for nu in ("1/2", "1", "2", "3", "4"):
        w = _linear_flow(rows, nu, times)
        apart = w / np.linalg.norm(w, axis=1, keepdims=True) - end / np.linalg.norm(end)
        y = np.linalg.norm(apart, axis=1)
        shown.add(rf"$\nu = {nu}$", times, y, of=of, measure="direction", nu=nu)
    return [shown]


def _linear_flow(rows: Sequence[Sequence[int]], nu: str, log_times: Array) -> Array:
    """Return w = X^T s at log times: ds_i/dlog t = nu u_i^(nu - 1) exp(log t - u_i^nu)."""
    X, power = np.array(rows, float), float(Fraction(nu))
    gram = X @ X.T

    def slope(tau: float, s: Array) -> Array:
        u = np.maximum(gram @ s, _LEAST)
        return np.asarray(power * u ** (power - 1) * np.exp(np.minimum(tau - u**power, 60)))

    start = np.linalg.lstsq(gram, np.full(len(X), 1.5), rcond=None)[0]
    span = (0, log_times[-1])
    run = solve_ivp(slope, span, start, "BDF", t_eval=log_times, rtol=1e-10, atol=1e-10)
    if not run.success:
        raise NumericalError("the flow was not followed")
    return np.asarray(run.y.T @ X, float)
