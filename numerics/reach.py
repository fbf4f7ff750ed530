"""Targets that no beta in the domain of Q reaches: told by linear programming for separable Q."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from numerics.backend import Array
from numerics.design import Design
from numerics.dual_newton import Mirror, MirrorMap, Point, Problem

_FAR = 1e300
_NEAR = 1e-6
"""Distance to the boundary, relative to that of the start, below which a coordinate is at it."""
_EXACT = 1e-12
"""Relative error of a sum of doubles that is 0 in exact numbers."""
_COLUMNS, _ROUNDS = 500, 100
"""Columns of X that enter a linear program at once, and how often."""
_NOISE = 1e-10
"""Of the largest slope: what is smaller is 0."""
_ROOT = 1e150
_CLEAR = 1e-7
"""Least misfit, relative to the target, from which it is more than the program's own error."""


def blocking_rows(mirror: Mirror, design: Design, y: Array, start: Array) -> list[int]:
    """Return rows with a combination that is bounded on the domain of Q, and y beyond; or none.

    ``min |X beta - y|_1`` over the box of all beta that are images of the mirror map. Where it is
    positive, its dual vector nu proves ``<nu, y> > <nu, X beta>`` for every beta in the box
    (Farkas 1902). Of the columns of X only those that lower the misfit enter the program, as they
    are found (Dantzig & Wolfe 1960), so that X is not copied as a whole.
    """
    m, d = design.shape
    low, high = _sides(mirror, start)
    rest = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, start))
    low, high = low - rest, high - rest
    if not (np.isfinite(low) | np.isfinite(high)).any():
        return []
    scales = np.maximum(np.sqrt(np.diag(design.gram(np.ones(d)))), np.abs(y))
    target = (y - design.apply(rest)) / scales
    size = np.abs(y / scales).sum() + np.abs(target).sum()
    nu, used = target, np.zeros(d, dtype=bool)
    for _ in range(_ROUNDS):
        slopes = design.adjoint(nu / scales)
        gain = np.where(slopes > 0, slopes * (high > 0), -slopes * (low < 0))
        gain[used] = 0
        best = np.argsort(gain)[-_COLUMNS:]
        best = best[gain[best] > _NOISE * np.abs(slopes).max()]
        if not best.size:
            return [int(i) for i in np.flatnonzero(np.abs(nu) > 1e-9)]
        used[best] = True
        columns = np.flatnonzero(used)
        program = scipy.optimize.linprog(
            np.repeat([0, 1], [columns.size, 2 * m]),
            A_eq=np.hstack([design.columns(columns) / scales[:, None], np.eye(m), -np.eye(m)]),
            b_eq=target,
            bounds=[*zip(low[columns], high[columns], strict=True), *[(0, None)] * (2 * m)],
            method="highs",
        )
        if program.status != 0 or not program.fun > _CLEAR * size:
            return []
        nu = program.eqlin.marginals
    return []


def only_at_the_boundary(mirror: Mirror, problem: Problem, start: Array, beta: Array) -> bool:
    """Tell whether ``X beta = y`` holds on the boundary of the box of the mirror map alone.

    Then a nu has ``<nu, X_j> = 0`` for the coordinates inside, ``<nu, X_j>`` of one sign (not all
    0) for those at a bound b, and ``<nu, y> = sum_j <nu, X_j> b_j``. Where the columns inside have
    full rank, which takes one Gram product to see, there is none.
    """
    design = problem.design
    low, high = _sides(mirror, start)
    lower = beta - low <= _NEAR * (start - low)
    upper = high - beta <= _NEAR * (high - start)
    lower, upper = lower & np.isfinite(low), upper & np.isfinite(high)
    at = np.flatnonzero(lower | upper)
    if not at.size:
        return False
    inside = np.ones(start.size)
    inside[at] = 0
    null = _left_null_space(design.gram(inside), problem.gram)
    sizes = np.sqrt(sum((design.adjoint(v)[at] ** 2 for v in null.T), np.zeros(at.size)))
    signs = np.where(lower, 1.0, -1.0)[at] / np.where(sizes > 0, sizes, np.inf)
    multiplier = _separating(design, null, at, signs)
    if multiplier is None:
        return False
    bounds = np.where(lower, low, high)[at]
    left, right = multiplier * problem.y, design.adjoint(multiplier)[at] * bounds
    size = np.abs(multiplier) @ np.abs(problem.y) + np.abs(right).sum()
    return bool(abs(left.sum() - right.sum()) <= _EXACT * size)


def _separating(design: Design, null: Array, at: Array, signs: Array) -> Array | None:
    """Return a nu, of the span of *null*, with ``signs_j <nu, X_j> >= 0`` at all j, some > 0.

    Of these inequalities those enter the linear program that its last solution breaks.
    """
    weights = np.zeros(design.shape[1])
    weights[at] = signs
    center = null.T @ design.apply(weights)
    size = np.abs(center).sum()
    if not size > 0:
        return None
    center = center / size
    x, used = center, np.zeros(at.size, dtype=bool)
    for _ in range(_ROUNDS):
        left = signs * design.adjoint(null @ x)[at]
        if not (left < -_EXACT).any():
            return np.asarray(null @ x) if (left > _CLEAR).any() else None
        broken = np.argsort(left)[:_COLUMNS]
        broken = broken[left[broken] < -_EXACT]
        if used[broken].all():
            return None
        used[broken] = True
        rows = (null.T @ design.columns(at[used]) * signs[used]).T
        program = scipy.optimize.linprog(
            -center, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs"
        )
        if program.status != 0 or not np.any(program.x):
            return None
        x = program.x
    return None


def at_the_edge(mirror: MirrorMap, problem: Problem, point: Point, start: Array) -> bool:
    """Tell whether the domain of Q ends where rounding and the residual leave the point.

    For coupled Q, whose domain is known by its grad Q alone: it is undefined a little further out
    from the start. The domain of a convex Q is convex, so that nothing further out belongs to it.
    """
    unknown = 8 * max(problem.size(point.residual), float(np.finfo(float).eps))
    outside = point.beta + unknown * (point.beta - start)
    return bool(np.isnan(mirror.gradient(outside)).any())


def leads_outside(mirror: MirrorMap, problem: Problem, beta: Array, start: Array) -> bool:
    """Tell whether the interpolant nearest to beta lies outside the domain, not just at its end."""
    nearest = beta - np.linalg.lstsq(problem.design.dense(), problem.misfit(beta))[0]
    return bool(np.isnan(mirror.gradient(nearest + _NEAR * (start - nearest))).any())


def _sides(mirror: Mirror, start: Array) -> tuple[Array, Array]:
    """Return the ends (d,) of the domain on both sides of the start, infinite if there are none.

    Where grad Q is bounded on one side, as 1 - 1/beta is, its inverse beyond is on the other side
    of the start: nothing is known of the end there, and none is assumed.
    """
    low, high = (mirror.inverse_gradient(np.full(start.size, far)) for far in (-_FAR, _FAR))
    # 1/beta = 1e300 stands for beta = 0.
    low, high = (np.where(np.abs(x) < 1 / _ROOT, 0, x) for x in (low, high))
    return np.where(low < start, low, -np.inf), np.where(high > start, high, np.inf)


def _left_null_space(part: Array, gram: Array) -> Array:
    """Return an orthogonal basis (m, k) of the nu with ``<nu, part nu> = 0``."""
    scale = 1 / np.sqrt(np.diag(gram))
    values, vectors = np.linalg.eigh(part * scale * scale[:, None])
    return np.asarray(scale[:, None] * vectors[:, values <= _EXACT])
