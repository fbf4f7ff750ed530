"""min Q(beta) s.t. X beta = y for a coupled Q: by the convex dual, or by both equations.

min Q(beta) s.t. X beta = y for ``Q = q(|beta|) - <z, beta>``, by one equation for one number.

``q'(s) beta/s - z = X^T nu`` and ``X beta = y``: with b the shortest interpolant and w the part of
z outside the row space, beta = b + t w/|w|. What is left is convex in t:

    q'(s) t/s = |w|,  s^2 = |b|^2 + t^2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.optimize

from derive.errors import InputError
from numerics.evaluate.numbers import Array
from numerics.evaluate.potential import NumericPotential, NumericVectorPotential
from numerics.interpolants.dual_newton import beginning, coupled_step, inverse_of, minimize
from numerics.interpolants.equations import (
    FINE,
    Equations,
    Point,
    Task,
    again,
    by_inverse,
    measured,
)
from numerics.interpolants.reach import at_the_edge, leads_outside

_REFINEMENTS = 8
_NEARLY, _DRIFT = 1e-12, 1e-2
"""A residual below which X^T nu has come to rest; and how far it goes, relatively, if it is on its
way to infinity."""
_DAMPINGS = 50


def solve_coupled(q: NumericPotential, task: Task) -> Point:
    """Return the last point: by the dual, if possible.

    Raises:
        InputError: y is out of reach, as far as is seen.
    """
    point, drifting = _by_dual(q, task) if q.invertible else (None, True)
    if point is None or not task.equations.error(point) <= task.aim:
        point, drifting = _by_both(q, task), True
    boundary = drifting and at_the_edge(q, task.equations, point, task.start)
    return replace(point, at_boundary=boundary)


def _by_dual(q: NumericPotential, task: Task) -> tuple[Point, bool]:
    """Return a point, and whether X^T nu still moves when all digits of y are met."""
    equations = task.equations
    late: list[Array] = []

    def watch(at: Point) -> None:
        if equations.size(at.residual) <= _NEARLY:
            late.append(equations.design.adjoint(at.multiplier))

    move = functools.partial(coupled_step, q, equations)
    steps = task.max_iterations
    point = beginning(q, task, equations)
    point = minimize(q, equations, point, FINE, steps, move=move, watch=watch)
    point = again(q, equations, point)
    moved = np.abs(late[-1] - late[0]).max() if late else 0
    drifting = bool(moved and moved > _DRIFT * np.abs(late[-1]).max())
    if point.stationarity <= task.aim:
        return point, drifting
    nearer = _refined(q, task, point)
    if equations.error(nearer) <= task.aim:
        return nearer, drifting
    return by_inverse(q, equations, point), drifting


def _by_both(q: NumericPotential, task: Task) -> Point:
    """Solve with the printed formulas; measure, and refine, without their cancellations."""
    equations, tol = task.equations, task.aim
    begin = task.start if task.warm is None else task.warm
    point = minimize_coupled(q.in_doubles, equations, begin, tol, task.max_iterations)
    point = again(q, equations, point)
    if equations.missed(point) <= tol and point.stationarity < 1:
        return _refined(q, task, point) if point.stationarity > tol else point
    if leads_outside(q, equations, point.beta, task.start):
        raise InputError(
            "y is out of reach, as far as is seen: the steps towards X beta = y lead out of the "
            "domain of Q"
        )
    return point


def _refined(q: NumericPotential, task: Task, point: Point) -> Point:
    nearer = minimize_coupled(q, task.equations, point.beta, task.aim, _REFINEMENTS)
    return replace(nearer, iterations=point.iterations + nearer.iterations)


def minimize_coupled(
    mirror: NumericPotential, equations: Equations, beta: Array, tol: float, max_iterations: int
) -> Point:
    """Solve ``grad Q(beta) = X^T nu`` and ``X beta = y`` by Newton's method on both.

    Hess Q = g rho is positive definite, so each step exists (Boyd & Vandenberghe 2004, section
    10.3). It lowers the misfit and the part of grad Q outside the row space at once: nu is the best
    for its beta, as a mirror map that grows like a logarithm moves it far where beta moves little.

    *beta* is beta_0. The iteration ends early where no step lowers the errors.
    """
    X = equations.design.dense()
    m, d = X.shape
    basis, triangle = np.linalg.qr(X.T)
    matrix = np.zeros((d + m, d + m))
    matrix[:d, d:], matrix[d:, :d] = -X.T, X

    def errors(beta: Array) -> Array:
        slope = mirror.gradient(beta)
        return np.concatenate([slope - basis @ (slope @ basis), equations.misfit(beta)])

    left, unit = errors(beta), 0.0
    if not np.isfinite(left).all():  # beta_0 is the end of the domain: take the nearest interpolant
        beta = beta - np.linalg.lstsq(X, equations.misfit(beta), rcond=None)[0]
        left = errors(beta)
    for iteration in range(max_iterations + 1):
        multiplier = np.linalg.solve(triangle, mirror.gradient(beta) @ basis)
        multiplier = np.where(
            np.isfinite(multiplier), multiplier, 0
        )  # of beta_0, where all cancels
        point = measured(mirror, equations, beta, multiplier, iteration)
        if equations.error(point) <= tol:
            break
        matrix[:d, :d] = mirror.hessian(beta)
        if iteration == max_iterations or not np.isfinite(matrix).all():
            break
        try:
            step = np.linalg.solve(matrix, -left)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(step).all():
            break
        # The first step shows how large grad Q becomes, which weighs its equation ever after.
        unit = unit or float(np.linalg.norm(step[d:] @ X)) or 1.0
        goal = equations.scale * equations.least
        weights = np.repeat([1 / unit, 1 / goal], [d, m])
        size, t = np.linalg.norm(weights * left), 1.0
        for _ in range(_DAMPINGS):
            trial = errors(beta + t * step[:d])
            if np.linalg.norm(weights * trial) <= (1 - 0.1 * t) * size:
                break
            t /= 2
        else:
            break
        beta, left = beta + t * step[:d], trial
    return point


_ROUNDS = 2
_GROWTH = 8.0
_DOUBLINGS = 350
_SMALL = 1e-15
"""Relative length of w below which it is rounding."""


def solve_by_length(q: NumericVectorPotential, task: Task) -> Point:
    """Return the point of least Q."""
    fast = q.in_doubles
    point = task.solved(fast, functools.partial(minimize_by_length, fast))
    return point if np.isfinite(point.stationarity) else again(q, task.equations, point)


def minimize_by_length(q: NumericVectorPotential, equations: Equations, tol: float) -> Point:
    """Return (beta, nu) with both its errors measured; the iterations are evaluations of q'.

    It takes products with X and one factor of ``X X^T``, so that its cost is that of the shortest
    interpolant. Where q has a kink at 0 and the minimum lies there, beta is 0.

    Raises:
        InputError: all interpolants are longer than q is defined, or than doubles hold q'.
    """
    start = measured(q, equations, np.asarray(q.beta0), np.zeros_like(equations.y), 0)
    if equations.error(start) <= tol:
        return start
    solve = inverse_of(equations.gram)
    multiplier = solve(equations.y)
    b = equations.design.adjoint(multiplier)
    for _ in range(_ROUNDS):
        correction = solve(-equations.misfit(b))
        multiplier = multiplier + correction
        b = b + equations.design.adjoint(correction)
    pulled = solve(equations.design.apply(q.functions.pull))
    w = q.functions.pull - equations.design.adjoint(pulled)
    w = w - equations.design.adjoint(solve(equations.design.apply(w)))
    size, least = float(np.linalg.norm(w)), float(np.linalg.norm(b))
    _refuse_length(q, least)
    if size <= _SMALL * float(np.linalg.norm(q.functions.pull)):
        t, evaluations = 0.0, 0
    else:
        t, evaluations = _along(q.functions.length_slope, least, size)
    s = math.hypot(least, t)
    beta = b + (t / size) * w if t else b
    ratio = q.functions.length_slope(s) / s if s else 0.0
    return measured(q, equations, beta, ratio * multiplier - pulled, evaluations)


def _refuse_length(q: NumericVectorPotential, least: float) -> None:
    """Raise where the shortest interpolant is too long for q', which is defined on an interval."""
    slope = q.functions.length_slope(least) if least else 0.0
    if math.isfinite(slope):
        return
    what = f"every beta with X beta = y has |beta| >= {least:.6g}"
    if math.isnan(slope):
        raise InputError(f"y is out of reach: {what}, beyond the domain of Q")
    raise InputError(f"y is out of reach: {what}, where grad Q is infinite or overflows")


def _along(slope: Callable[[float], float], least: float, size: float) -> tuple[float, int]:
    """Return t > 0 with ``q'(s) t/s = size``, s = hypot(least, t), and the evaluations made.

    The left side increases with t. A t beyond the domain of q counts as too large.
    """

    def excess(t: float) -> float:
        s = math.hypot(least, t)
        found = slope(s) * (t / s) - size
        return math.inf if math.isnan(found) else found

    low = high = least or 1.0
    count = 1
    rising = excess(low) < 0
    while count < _DOUBLINGS:
        other = high * _GROWTH if rising else low / _GROWTH
        count += 1
        low, high = (high, other) if rising else (other, low)
        if (excess(other) < 0) != rising:
            break
    else:
        return 0.0, count  # a kink at 0
    while excess(high) == math.inf and high > low * (1 + 1e-12):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        count += 1
    root, report = scipy.optimize.brentq(
        excess, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, full_output=True
    )
    return float(root), count + report.function_calls
