"""Training of the weights by gradient flow in double precision, which knows nothing of any Q."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.integrate

from derive.errors import NumericalError
from derive.model.parameterization import Parameterization
from numerics.evaluate.backend import Array, Float64

_RELATIVE, _ABSOLUTE = 1e-12, 1e-14
"""Errors per step: the noise that stability-limited steps leave must stay below the residual."""
_EVALUATIONS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The end of a flow: beta (d,), ``|X beta - y|/|y|``, and the evaluations of the flow."""

    value: Array
    residual: float
    evaluations: int


def train(
    p: Parameterization,
    X: Array,
    y: Array,
    start: Mapping[str, float],
    *,
    tol: float = 1e-8,
    method: str = "DOP853",
) -> Trained:
    """Run ``w' = -J^T X^T (X F(w) - y)`` on d copies of a single output until it interpolates.

    Args:
        p: F, of one output; each coordinate of beta has its own weights.
        X, y: (m, d) and (m,).
        start: a number for every weight, the same for all copies.
        tol: ``|X beta - y|/|y|`` at which to stop.
        method: of :func:`scipy.integrate.solve_ivp`.

    Raises:
        NumericalError: the flow is too slow.
    """
    names, d = p.weights, X.shape[1]
    backend, (output,) = Float64(), p.outputs
    forward, symbols = backend.compile([output]), {s.name: s for s in output.free_symbols}
    backward = backend.compile([output.diff(symbols[name]) for name in names])
    scale, count = np.linalg.norm(y), 0

    def named(w: Array) -> dict[str, Array]:
        return dict(zip(names, w.reshape(len(names), d), strict=True))

    def misfit(w: Array) -> Array:
        return np.asarray(X @ forward(named(w))[0] - y)

    def motion(_: float, w: Array) -> Array:
        nonlocal count
        count += 1
        if count > _EVALUATIONS:
            raise NumericalError("training is too slow: start from a larger scale")
        force = X.T @ misfit(w)
        return np.concatenate([-force * slope for slope in backward(named(w))])

    def fitted(_: float, w: Array) -> float:
        return float(np.linalg.norm(misfit(w)) / scale - tol)

    fitted.terminal = True  # type: ignore[attr-defined]
    origin = np.repeat([start[name] for name in names], d)
    errors = {"rtol": _RELATIVE, "atol": _ABSOLUTE * np.abs(origin).max()}
    with np.errstate(all="ignore"):
        end = scipy.integrate.solve_ivp(
            motion, (0, np.inf), origin, method=method, events=fitted, **errors
        )
    if end.status != 1:
        raise NumericalError(f"training failed: {end.message}")
    w = end.y[:, -1]
    return Trained(forward(named(w))[0], fitted(0, w) + tol, count)
