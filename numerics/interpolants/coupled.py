"""min Q(beta) s.t. X beta = y for a coupled Q: by the convex dual, or by both equations."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.dual_newton import beginning, minimize
from numerics.interpolants.equations import (
    FINE,
    Equations,
    Point,
    Task,
    again,
    by_inverse,
    measured,
)
from numerics.interpolants.newton_steps import coupled_step
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
        step = _solved(matrix, -left)
        if step is None or iteration == max_iterations:
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


def _solved(matrix: Array, vector: Array) -> Array | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        solution = np.linalg.solve(matrix, vector)
    except np.linalg.LinAlgError:
        return None
    return solution if np.isfinite(solution).all() else None
