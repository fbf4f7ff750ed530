"""min Q(beta) s.t. X beta = y for a sum of functions of one coordinate each, by the convex dual."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolate.dual_newton import minimize, polish, refine, separable_hessian
from numerics.interpolate.equations import Equations, Point, Task, again, named
from numerics.interpolate.reach import Box, blocking_rows, box_of, only_at_the_boundary

_UNREACHED = 1e-4
"""Relative residual from which y may be out of reach."""
_LATE = 25
"""The Newton step after which such a y is looked at; few that are in reach take as many."""


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
        hessian = functools.partial(separable_hessian, fast, equations)
        steps = task.max_iterations
        point = minimize(fast, equations, task.start, tol, steps, hessian=hessian, watch=watch)
        if equations.size(point.residual) > tol:
            point = polish(fast, equations, point, tol)
        return again(fast, equations, point)

    point = task.solved(fast, by_dual)
    if equations.size(point.residual) > _UNREACHED or np.isinf(point.stationarity):
        _refuse_unreachable(box, task, point.multiplier)
        _refuse_scale(fast, task.start)
    if task.tol < point.stationarity < _UNREACHED:
        point = refine(q, equations, point, task.tol)
    boundary = only_at_the_boundary(box, equations, task.start, point.beta)
    return replace(point, at_boundary=boundary)


def _refuse_unreachable(box: Box, task: Task, multiplier: Array) -> None:
    """Raise where a combination of rows is bounded on the domain of Q, and y lies beyond."""
    blocking = blocking_rows(box, task.equations, task.start, multiplier)
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
