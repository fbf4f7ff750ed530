"""The inverse of grad Q where no formula of it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numerics.evaluate.backend import Array
from numerics.evaluate.doubles.arithmetic import Constants, Plain

_STEPS, _HALVINGS = 400, 60
_CLOSE = 1e-9
"""Relative distance of grad Q(beta) from y at which beta is a result."""
_FALL = 1e-4
"""The part of the step by which a residual has to fall."""


def invert_by_newton(
    q: Any, c: Constants, beta0: Sequence[float], y: Sequence[Array]
) -> list[Array]:
    """Solve grad Q(beta) = y from beta_0, elementwise; nan where that is not reached to 1e-9.

    *q* are formulas in doubles alone, *c* the constants of the start.
    """

    def columns(what: str, at: Array) -> Array:
        found = (Plain.of(x).v for x in q.forms(what)[0](c, *map(Plain, at.T)))
        return np.stack([np.broadcast_to(x, len(at)) for x in found], axis=-1)

    d, shape = len(y), np.shape(y[0])
    goal = np.stack([np.reshape(v, -1) for v in y], axis=-1).astype(np.float64)
    x = np.broadcast_to(np.array(beta0), goal.shape).copy()

    def residual(at: Array) -> Array:
        return columns("gradient", at) - goal

    left = residual(x)
    for _ in range(_STEPS):
        entries = columns("hessian", x).reshape(-1, d, d)
        x, new = _damped_step(x, left, _solve(entries, left), residual)
        if np.array_equal(new, left):
            break
        left = new
    size = 1 + np.linalg.norm(goal, axis=-1, keepdims=True)
    close = np.isfinite(size) & (np.linalg.norm(left, axis=-1, keepdims=True) <= _CLOSE * size)
    x = np.where(close, x, np.nan)
    return [column.reshape(shape) for column in x.T]


def _solve(matrices: Array, vectors: Array) -> Array:
    """Solve the systems; nan where a matrix is not finite, least squares where one is singular."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    safe = np.where(finite[:, None, None], matrices, np.eye(matrices.shape[1]))
    try:
        steps = np.linalg.solve(safe, vectors[..., None])[..., 0]
    except np.linalg.LinAlgError:
        steps = (np.linalg.pinv(safe) @ vectors[..., None])[..., 0]
    return np.where(finite[:, None], steps, np.nan)


def _damped_step(
    x: Array, left: Array, step: Array, residual: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return x - t step with the first t = 1, 1/2, ... that lowers the residual; else x."""
    scale = np.ones(len(x))
    norm = np.asarray(np.linalg.norm(left, axis=-1))
    for _ in range(_HALVINGS):
        trial = x - scale[:, None] * step
        new = residual(trial)
        better = np.asarray(np.linalg.norm(new, axis=-1) < norm * (1 - _FALL * scale))
        if np.all(better | (norm == 0)):
            break
        scale = np.where(better, scale, scale / 2)
    keep = better[:, None]
    return np.where(keep, trial, x), np.where(keep, new, left)
