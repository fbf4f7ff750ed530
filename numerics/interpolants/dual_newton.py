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
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import LinearOperator, cg

from derive.errors import InputError
from numerics.evaluate.numbers import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.design import named
from numerics.interpolants.equations import Equations, Point, Task, again, by_inverse, measured
from numerics.interpolants.reach import (
    Mirror,
    Walled,
    blocking_row,
    blocking_rows,
    box_of,
    only_at_the_boundary,
)

_ACCEPT = 0.3
"""The part of the first slope that a step may leave."""
_GROWTH, _RETREAT = 8.0, 1e-4
_MAX_STEPS = 100
_Sample = tuple[float, float]
"""A step t and the height of the slope there."""


def search(slope: Callable[[float], float], first: float) -> tuple[float, bool]:
    """Return t > 0 with ``|slope(t)| <= 0.3 |first|``, and whether one was found.

    *slope* is the derivative of a convex function along the direction, inf or nan where the
    function is not defined, and *first* < 0 its value at 0. Its root is bracketed from t = 1.
    Slopes may grow like exponentials, so that asinh of the slope is interpolated. Where the slope
    stays negative as far as floats go, or rounding hides its sign, no step is found: then the t up
    to which it is negative is returned.

    >>> from math import exp
    >>> t, found = search(lambda t: exp(100 * t) - 1e10, 1 - 1e10)
    >>> found, abs(t - 0.23) < 0.01
    (True, True)
    """
    if not first < 0:
        return 0.0, False
    below: _Sample = (0.0, -math.asinh(1))
    above: list[_Sample] = []
    t = 1.0
    for _ in range(_MAX_STEPS):
        value = slope(t)
        if abs(value) <= -_ACCEPT * first:
            return t, True
        height = math.asinh(value / -first) if value < math.inf else math.inf
        if height < 0:
            below = (t, height)
        else:
            above = [(t, height), *above[:1]]
        t = _next(below, above)
        if above and not below[0] < t < above[0][0]:
            return below[0], False
    return below[0], False


def _next(below: _Sample, above: list[_Sample]) -> float:
    """Return the next t: between the last sample below the root and those above, latest first."""
    (low, depth) = below
    if not above:
        return low * _GROWTH
    (high, height) = above[0]
    if height == math.inf:
        return low + (high - low) * _RETREAT if not low else (low + high) / 2
    further, rise = above[-1]
    if height < rise < math.inf:
        # The secant from above: heights are convex where the slopes grow like exponentials.
        t = high - height * (further - high) / (rise - height)
        if low < t < high - 0.1 * (high - low):
            return t
    return (low + high) / 2 if low or height > 1 else low + (high - low) * depth / (depth - height)


_FLOOR, _COUPLED = 1e-12, 1e-3
"""Weights are raised to this part of their mean, times the squared relative residual.

Far from the solution few coordinates may carry all curvature; the floor keeps the Hessian regular,
and leaves the quadratic convergence. One that is seen in the steps holds back those along which few
coordinates are steep, as of deep nets from small starts; of coupled Q, whose Hessian is known by
differences only, it has to be seen.
"""
_WIDE, _LARGE, _SHARE = 64, 2**22, 64
"""Columns for each row, of so many entries, from which this part of them counts one by one."""
_SLOW, _SOON, _LATEST, _LITTLE, _MORE = 0.3, 0.1, 12, 0.01, 8
"""What a residual must fall to, once small or late, lest so many times the columns count one by
one, unless the others have so little of all weight."""
_ROWS = 50
"""Rows for each iteration of conjugate gradients that costs less than a Gram product."""
_FEW, _INEXACT = 3, 1e-3
"""Iterations that are too few to be worth it; the residual that they leave, or a tenth at first."""
_STEP = 1e-5
"""Relative change of grad Q in differences of its inverse."""


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
        slow = (size < _SOON or point.iterations >= _LATEST) and size > _SLOW * self._before
        self._before = size
        rest = np.argpartition(weights, -self._top)[: -self._top]
        if slow and weights[rest].sum() > _LITTLE * weights.sum():
            self._top = min(_MORE * self._top, weights.size)
            rest = np.argpartition(weights, -self._top)[: -self._top]
        if rest.size:
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
        self._known = inverse_of(gram)
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
    floor = _COUPLED * min(size, 1) ** 2 * np.trace(D) / d
    X = equations.design.dense()
    return inverse_of(X @ D @ X.T + floor * equations.gram)(point.residual)


def inverse_of(matrix: Array) -> Callable[[Array], Array]:
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


_NEAR = 1e-4
"""Residual from which steps are to halve it."""
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
        multiplier = point.multiplier + t * slope
        dual = equations.design.adjoint(multiplier)
        beta = mirror.inverse_gradient(dual)
        misfit = equations.misfit(beta)
        point = Point(beta, multiplier, misfit, iterations=iteration + 1, dual=dual)
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
        slopes = np.asarray(fast.stretch(task.start, np.zeros_like(task.start)))
        if not (np.isfinite(slopes) & (slopes > 0)).all():
            raise InputError(
                "the start is too small or too large for double precision: the second derivative "
                "of Q at beta_0 overflows or vanishes; scale the start towards 1"
            )
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
