"""min Q(beta) s.t. X beta = y by Newton's method on the convex dual.

With beta(z) the inverse mirror map, the dual function ``Q*(X^T nu) - <y, nu>`` has the gradient
``X beta(X^T nu) - y`` and the Hessian ``X D X^T``, D = (Hess Q)^-1, diagonal for separable Q. Every
iterate minimises Q among the beta with its own X beta; what converges is X beta to y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.equations import Equations, Point, Task, again, by_inverse, measured
from numerics.interpolants.line_search import search
from numerics.interpolants.newton_steps import SeparableSteps, inverse_of
from numerics.interpolants.reach import (
    Mirror,
    Walled,
    blocking_row,
    blocking_rows,
    box_of,
    only_at_the_boundary,
)
from numerics.interpolants.rows import named

_NEAR, _FINE, _RENEWED = 1e-4, 1e-12, 4
"""Residual from which X^T nu is computed anew in each step, for so small tolerances; else in each
fourth."""
_POLISHES, _PATIENCE = 6, (1, 10)
"""Steps on both equations; those on the dual near the solution that may gain little, before the
first polishing and before the last."""
_STEEP = 1e3
"""d log beta/d log(X^T nu) from which beta is not read off X^T nu."""
_UNREACHED = 1e-4
"""Relative residual from which y may be out of reach."""
_LATE = 25
"""The Newton step after which such a y is looked at; few that are in reach take as many."""


def minimize(
    mirror: Mirror,
    equations: Equations,
    point: Point,
    tol: float,
    max_iterations: int,
    *,
    move: Callable[[Point, Array], Array],
    watch: Callable[[Point], None] = lambda point: None,
    patience: float = math.inf,
) -> Point:
    """Return the best iterate, its relative residual at most *tol* where that was reached.

    *point* is where to begin, as :func:`beginning` has it. No step is made past the first that
    rounding spoils, nor, near the solution, past so many as *patience* says that halve no residual:
    where beta grows fast with X^T nu, rounding of that moves it. *move* is Newton's step at a point
    and its X^T nu: the inverse Hessian of the dual function times the residual.
    *watch* sees every iterate, and may raise.
    """
    dual, best, idle = equations.design.adjoint(point.multiplier), point, 0
    for iteration in range(point.iterations, max_iterations):
        size = equations.size(point.residual)
        if equations.settled(point, tol):
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
        anew = (size < _NEAR and tol < _FINE) or not (iteration + 1) % _RENEWED
        if anew:
            dual = equations.design.adjoint(multiplier)  # without the roundings of the sum
        beta = mirror.inverse_gradient(dual)
        misfit, known = equations.misfit(beta), dual if anew else None
        point = Point(beta, multiplier, misfit, iterations=iteration + 1, dual=known)
        watch(point)
        before, left = equations.size(best.residual), equations.size(point.residual)
        idle = idle + 1 if before < _NEAR and left > before / 2 else 0
        best = point if left < before else best
        if idle >= patience:
            break
    return best


def beginning(mirror: Mirror, task: Task, equations: Equations) -> Point:
    """Return the point at nu = 0, where beta is beta_0; or, if that is better, one near *warm*.

    It is the point at the nu whose X^T nu is nearest to grad Q there, in the norm of (Hess Q)^-1,
    where that is diagonal.
    """
    point = Point(task.start, np.zeros_like(equations.y), equations.misfit(task.start))
    if task.warm is None:
        return point
    slope = mirror.gradient(task.warm)
    weights = np.asarray(mirror.stretch(task.warm, slope))
    pulled = equations.design.apply(weights * slope)
    if not np.isfinite(pulled).all():
        return point
    multiplier = inverse_of(equations.design.gram(weights))(pulled)
    beta = mirror.inverse_gradient(equations.design.adjoint(multiplier))
    found = Point(beta, multiplier, equations.misfit(beta))
    return found if equations.size(found.residual) < equations.size(point.residual) else point


def polish(mirror: NumericPotential, equations: Equations, point: Point, tol: float) -> Point:
    """Return the better of a point, measured anew, and of Newton steps in both unknowns from there.

    On ``grad Q(beta) = X^T nu, X beta = y``, so that beta is not read off a nu whose rounding
    blocks the way, or with a mirror map without the cancellations that the one of the point had.
    """
    best = again(mirror, equations, point)
    for _ in range(_POLISHES):
        if equations.error(best) <= tol:
            break
        point = _newton_step(mirror, equations, best)
        if not equations.error(point) < equations.error(best):
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
    step = -inverse_of(equations.design.gram(weights))(point.residual + shift)
    multiplier = point.multiplier + step
    dual = equations.design.adjoint(multiplier)
    moved = weights * (gap + equations.design.adjoint(step))
    beta = mirror.inverse_gradient(dual)
    beta = np.where(weights * np.abs(dual) < _STEEP * np.abs(beta), beta, point.beta + moved)
    return measured(mirror, equations, beta, multiplier, point.iterations + 1)


def _by_dual(
    q: NumericPotential,
    task: Task,
    watch: Callable[[Point], None],
    equations: Equations,
    tol: float,
) -> Point:
    """Return the last point on the dual, polished; where that fails, after more steps."""
    move, last = SeparableSteps(q, equations), beginning(q, task, equations)
    steps = partial(minimize, q, equations, max_iterations=task.max_iterations, move=move)
    for patience in _PATIENCE:
        last = steps(last, tol, watch=watch, patience=patience)
        point = polish(q, equations, last, tol)
        if equations.error(point) <= tol or equations.size(last.residual) >= _NEAR:
            break
    return point


def solve_separable(q: NumericPotential, task: Task) -> Point:
    """Return the last point.

    Raises:
        InputError: y is out of reach, or doubles do not hold Q'' at the start.
    """
    fast, equations = q.in_doubles, task.equations
    box = box_of(fast, task.start)
    if len(equations.y) == 1:  # which one product tells
        _refuse(blocking_row(box, equations), task)

    def watch(at: Point) -> None:
        late = at.iterations == _LATE and not task.close
        if late and equations.size(at.residual) > _UNREACHED:
            _refuse(blocking_rows(box, equations, task.start, at.multiplier), task)

    point = task.solved(fast, partial(_by_dual, fast, task, watch))
    if equations.missed(point) > task.tol or np.isinf(point.stationarity):
        _refuse(blocking_rows(box, equations, task.start, point.multiplier), task)
        _refuse_scale(fast, task.start)
    if equations.error(point) > task.tol and point.stationarity < _UNREACHED:
        point = polish(q, equations, point, task.tol)
    if point.stationarity > task.tol:
        point = by_inverse(q, equations, point)
    boundary = only_at_the_boundary(box, equations, task.start, point.beta)
    point = replace(point, at_boundary=boundary)
    ends = np.isfinite(box.low).any() or np.isfinite(box.high).any()
    stuck = ends and not (boundary or equations.error(point) <= task.tol)
    return _on_closed_box(Walled(fast, box), task, point) if stuck else point


def _on_closed_box(walled: Walled, task: Task, point: Point) -> Point:
    """Return where Q is least on the closed domain, if the domain ends there; else the point."""
    equations, move = task.equations, SeparableSteps(walled, task.equations)
    least = beginning(walled, task, equations)
    least = minimize(walled, equations, least, task.tol, task.max_iterations, move=move)
    dual = equations.design.adjoint(least.multiplier)
    ends = walled.beyond(dual, walled.q.inverse_gradient(dual)).any()
    if ends and equations.missed(least) <= task.tol:
        return replace(again(walled.q, equations, least), out_of_reach=True)
    return point


def _refuse(blocking: Sequence[int], task: Task) -> None:
    """Raise where a combination of rows is bounded on the domain of Q, and y lies beyond."""
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
