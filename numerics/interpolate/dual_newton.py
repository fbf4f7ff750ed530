"""min Q(beta) s.t. X beta = y by Newton's method on the convex dual.

With beta(z) the inverse mirror map, the dual function ``Q*(X^T nu) - <y, nu>`` has the gradient
``X beta(X^T nu) - y`` and the Hessian ``X D X^T``, D = (Hess Q)^-1, diagonal for separable Q. Every
iterate minimises Q among the beta with its own X beta; what converges is X beta to y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import LinearOperator, cg

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolate.equations import Equations, Point, Task, again, measured, named
from numerics.interpolate.line_search import search
from numerics.interpolate.reach import Box, Mirror, Walled, box_of, only_at_the_boundary
from numerics.interpolate.reach import blocking_rows as rows_that_block

_FLOOR = 1e-3
"""Weights are raised to this part of their mean, times the squared relative residual.

Far from the solution few coordinates may carry all curvature; the floor keeps the others in play
(and the Hessian regular), and leaves the quadratic convergence.
"""
_WIDE, _LARGE, _SHARE = 64, 2**22, 64
"""Columns for each row, of so many entries, from which this part of them counts one by one."""
_SLOW, _SOON, _LATEST = 0.3, 0.1, 12
"""What a residual must fall to where most columns count by their mean, once small or late."""
_ROWS = 50
"""Rows for each iteration of conjugate gradients that costs less than a Gram product."""
_FEW, _INEXACT = 3, 1e-3
"""Iterations that are too few to be worth it; the residual that they leave, or a tenth at first."""
_NEAR, _RENEWED = 1e-4, 4
"""Relative residual from which X^T nu is computed anew in each step; before, in each fourth."""
_STEP = 1e-5
"""Relative change of grad Q in differences of its inverse."""
_POLISHES = 6
_NOISE = 8
"""Units of rounding below which a residual shows nothing."""
_UNREACHED = 1e-4
"""Relative residual from which y may be out of reach."""
_LATE = 25
"""The Newton step after which such a y is looked at; few that are in reach take as many."""


def minimize(
    mirror: Mirror,
    equations: Equations,
    beta: Array,
    tol: float,
    max_iterations: int,
    *,
    move: Callable[[Point, Array], Array],
    watch: Callable[[Point], None] = lambda point: None,
    warm: Array | None = None,
) -> Point:
    """Return the last iterate, its relative residual at most *tol* where that was reached.

    *beta* is beta_0, where grad Q = 0; *warm* may be nearer to the solution. No step is made past
    the first that rounding spoils. *move* is Newton's step at a point and its X^T nu: the inverse
    Hessian of the dual function times the residual. *watch* sees every iterate, and may raise.
    """
    point = Point(beta, np.zeros_like(equations.y), equations.misfit(beta))
    if warm is not None:
        point = _nearer(mirror, equations, point, warm)
    dual, best = equations.design.adjoint(point.multiplier), point
    for iteration in range(max_iterations):
        size = equations.size(point.residual)
        if size <= max(tol, _NOISE * equations.rounding(point.beta)):
            return point
        slope = -move(point, dual)
        along = equations.design.adjoint(slope)
        height = float(slope @ equations.y)

        def rate(t: float, dual: Array = dual, along: Array = along, end: float = height) -> float:
            return float(along @ mirror.inverse_gradient(dual + t * along)) - end

        t, found = search(rate, float(slope @ point.residual))
        if not found:
            return best
        multiplier, dual = point.multiplier + t * slope, dual + t * along
        if size < _NEAR or not (iteration + 1) % _RENEWED:
            dual = equations.design.adjoint(multiplier)  # without the roundings of the sum
        beta = mirror.inverse_gradient(dual)
        point = Point(beta, multiplier, equations.misfit(beta), 0.0, iteration + 1)
        watch(point)
        if equations.size(point.residual) < equations.size(best.residual):
            best = point
    return best


def _nearer(mirror: Mirror, equations: Equations, point: Point, warm: Array) -> Point:
    """Return the point at the nu whose X^T nu is nearest to grad Q at *warm*.

    In the norm of (Hess Q)^-1, where that is diagonal; the point at nu = 0 if that is better.
    """
    slope = mirror.gradient(warm)
    weights = np.asarray(mirror.stretch(warm, slope))
    pulled = equations.design.apply(weights * slope)
    if not np.isfinite(pulled).all():
        return point
    multiplier = _inverse_of(equations.design.gram(weights))(pulled)
    beta = mirror.inverse_gradient(equations.design.adjoint(multiplier))
    found = Point(beta, multiplier, equations.misfit(beta))
    return found if equations.size(found.residual) < equations.size(point.residual) else point


class SeparableSteps:
    """Newton's steps on the dual of a separable Q, whose Hessian is ``X max(D, floor) X^T``.

    Gram products are saved where they are dear. Of very many columns those that stand out count
    one by one and the others by their mean, as long as the residual falls fast so. Where products
    with X are far cheaper, the equations are solved by conjugate gradients, preconditioned by the
    last Gram matrix that was made.
    """

    def __init__(self, mirror: Mirror, equations: Equations) -> None:
        """Begin without a Gram matrix but X X^T."""
        self._mirror, self._equations, self._before = mirror, equations, math.inf
        m, d = equations.design.shape
        many = d >= _WIDE * m and m * d >= _LARGE
        self._top, self._tries = d // _SHARE if many else d, m // _ROWS
        self._known: Callable[[Array], Array] | None = None

    def __call__(self, point: Point, dual: Array) -> Array:
        """Return the step at a point and its X^T nu."""
        design, size = self._equations.design, self._equations.size(point.residual)
        weights = self._mirror.stretch(point.beta, dual)
        weights = np.asarray(np.where(np.isfinite(weights), weights, 0))
        floor = max(_FLOOR * min(size, 1) ** 2 * weights.mean(), weights.min())
        late = size < _SOON or point.iterations >= _LATEST
        if late and size > _SLOW * self._before:
            self._top = weights.size
        self._before = size
        if self._top < weights.size:
            rest = np.argpartition(weights, -self._top)[: -self._top]
            floor = weights[rest].mean()
            weights[rest] = 0
        elif self._known is not None and self._tries > _FEW:
            raised, shape = np.maximum(weights, floor), (len(point.residual),) * 2
            hessian = LinearOperator(
                shape, lambda v: design.apply(raised * design.adjoint(v)), dtype=float
            )
            known = LinearOperator(shape, self._known, dtype=float)
            options = {"rtol": max(_INEXACT, min(size, 1) / 10), "maxiter": self._tries, "M": known}
            step, failed = cg(hessian, point.residual, **options)
            if not failed:
                return np.asarray(step)
        gram = design.gram(np.maximum(weights - floor, 0)) + floor * self._equations.gram
        self._known = _inverse_of(gram)
        return self._known(point.residual)


def coupled_step(
    mirror: NumericPotential, equations: Equations, point: Point, dual: Array
) -> Array:
    """Return Newton's step, the Hessian being ``X (D + floor) X^T``.

    D is found by differences of the inverse mirror map: where beta is next to the end of the
    domain, Hess Q at its rounding says nothing.
    """
    d, size = point.beta.size, equations.size(point.residual)
    steps = _STEP * (np.abs(dual).max() or _STEP) * np.eye(d)
    sides = mirror.inverse_gradient(np.concatenate([dual + steps, dual - steps]))
    up, down = sides.reshape(2, d, d)
    D = (up - down) / (2 * np.diag(steps))[:, None]
    D = np.where(np.isfinite(D), (D + D.T) / 2, 0)
    floor = _FLOOR * min(size, 1) ** 2 * np.trace(D) / d
    X = equations.design.dense()
    return _inverse_of(X @ D @ X.T + floor * equations.gram)(point.residual)


def _inverse_of(matrix: Array) -> Callable[[Array], Array]:
    """Return what solves a positive semidefinite system, but for directions lost to rounding."""
    diagonal = np.sqrt(np.diag(matrix))
    scale = 1 / np.where(diagonal > 0, diagonal, 1)
    normal = matrix * scale * scale[:, None]
    factor, failed = dpotrf(normal, lower=1)
    if not failed:
        return lambda v: np.asarray(scale * dpotrs(factor, scale * v, lower=1)[0])
    values, vectors = np.linalg.eigh(normal)
    values = np.maximum(values, len(values) * np.finfo(float).eps * values[-1])
    return lambda v: np.asarray(scale * (vectors @ ((scale * v @ vectors) / values)))


def polish(mirror: NumericPotential, equations: Equations, point: Point, tol: float) -> Point:
    """Return a point whose beta moves on its own, where rounding of X^T nu blocks the way.

    Newton's method on ``grad Q(beta) = X^T nu, X beta = y`` in both unknowns, so that beta is not
    read off the rounded nu. Both equations are measured.
    """
    best = point
    for _ in range(_POLISHES):
        point = _newton_step(mirror, equations, point)
        if not point.stationarity <= max(tol, best.stationarity):
            break
        if equations.size(point.residual) < equations.size(best.residual):
            best = point
        if equations.size(best.residual) <= tol:
            break
    return best


def refine(mirror: NumericPotential, equations: Equations, point: Point, tol: float) -> Point:
    """Return the better of a point, its errors measured anew, and of Newton steps from there.

    For a mirror map without cancellation near beta_0, where the one of the point had lost digits.
    """
    best = point = again(mirror, equations, point)
    for _ in range(_POLISHES):
        if equations.error(best) <= tol:
            break
        point = _newton_step(mirror, equations, point)
        errors = [equations.error(p) for p in (point, best)]
        if not errors[0] < errors[1]:
            break
        best = point
    return best


def _newton_step(mirror: NumericPotential, equations: Equations, point: Point) -> Point:
    """Return the point after one step on both equations, measured."""
    slope = mirror.gradient(point.beta)
    weights = mirror.stretch(point.beta, slope)
    gap = equations.design.adjoint(point.multiplier) - slope
    usable = np.isfinite(weights) & np.isfinite(gap)
    weights, gap = np.where(usable, weights, 0), np.where(usable, gap, 0)
    shift = equations.design.apply(weights * gap)
    step = -_inverse_of(equations.design.gram(weights))(point.residual + shift)
    beta = point.beta + weights * (gap + equations.design.adjoint(step))
    return measured(mirror, equations, beta, point.multiplier + step, point.iterations + 1)


def solve_separable(q: NumericPotential, task: Task) -> Point:
    """Return the last point.

    Raises:
        InputError: y is out of reach, or doubles do not hold Q'' at the start.
    """
    fast, equations = q.in_doubles, task.equations
    box = box_of(fast, task.start)

    def watch(at: Point) -> None:
        late = at.iterations == _LATE and not task.close
        if late and equations.size(at.residual) > _UNREACHED:
            _refuse_unreachable(box, task, at.multiplier)

    def by_dual(equations: Equations, tol: float) -> Point:
        move, steps = SeparableSteps(fast, equations), task.max_iterations
        point = minimize(
            fast, equations, task.start, tol, steps, move=move, watch=watch, warm=task.warm
        )
        if equations.size(point.residual) > tol:
            point = polish(fast, equations, point, tol)
        return again(fast, equations, point)

    point = task.solved(fast, by_dual)
    if equations.size(point.residual) > task.tol or np.isinf(point.stationarity):
        _refuse_unreachable(box, task, point.multiplier)
        _refuse_scale(fast, task.start)
    if task.tol < point.stationarity < _UNREACHED:
        point = refine(q, equations, point, task.tol)
    boundary = only_at_the_boundary(box, equations, task.start, point.beta)
    point = replace(point, at_boundary=boundary)
    stuck = not (boundary or equations.error(point) <= task.tol)
    return _on_closed_box(Walled(fast, box), task, point) if stuck else point


def _on_closed_box(walled: Walled, task: Task, point: Point) -> Point:
    """Return where Q is least on the closed domain, if the domain ends there; else the point."""
    equations, steps = task.equations, task.max_iterations
    move = SeparableSteps(walled, equations)
    least = minimize(walled, equations, task.start, task.tol, steps, move=move)
    dual = equations.design.adjoint(least.multiplier)
    ends = walled.beyond(dual, walled.q.inverse_gradient(dual)).any()
    if ends and equations.size(least.residual) <= task.tol:
        return replace(again(walled.q, equations, least), out_of_reach=True)
    return point


def _refuse_unreachable(box: Box, task: Task, multiplier: Array) -> None:
    """Raise where a combination of rows is bounded on the domain of Q, and y lies beyond."""
    blocking = rows_that_block(box, task.equations, task.start, multiplier)
    if blocking:
        which = named([task.rows.kept[i] for i in blocking])
        which = which if len(blocking) == 1 else f"a combination of {which}"
        raise InputError(
            f"y is out of reach: no beta in the domain of Q has X beta = y, as {which} shows "
            "(counted from 0)"
        )


def _refuse_scale(q: NumericPotential, beta: Array) -> None:
    """Raise where no step is possible as doubles do not hold Q'' at beta_0."""
    curvature = np.asarray(q.curvature(beta))
    if not (np.isfinite(1 / curvature) & (1 / curvature > 0)).all():
        raise InputError(
            "the start is too small or too large for double precision: the second derivative of Q "
            "at beta_0 overflows or vanishes; scale the start towards 1"
        )
