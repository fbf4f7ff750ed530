"""How a minimization of Q among the interpolating beta ended, and what to do about it."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from numerics.evaluate.backend import Array
from numerics.interpolate.equations import Equations, Point, Task
from numerics.interpolate.rank import named

_ILL_CONDITIONED = 1e5
"""Condition of X from which the normal equations lose more digits than they keep."""


class Status(enum.Enum):
    """How a minimization ended."""

    CONVERGED = "converged"
    STALLED = "stalled: rounding leaves no step that improves the point"
    ITERATION_LIMIT = "iteration limit"
    BOUNDARY = "the target is reached in the limit only, at the boundary of the domain of Q"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The end of a minimization of Q among the beta with X beta = y.

    Attributes:
        value: beta (d,).
        multiplier: nu (m,), with ``grad Q(beta) = X^T nu``; 0 for dropped rows.
        residual: ``|X beta - y|`` relative to the larger of |y| and ``|X beta_0 - y|``; where the
            lengths of rows differ by more than 1000, each equation is divided by that of its row.
        stationarity: the largest entry of ``grad Q(beta) - X^T nu`` relative to that of X^T nu.
            Where rounding beta alone spoils it, next to the end of a domain of coupled outputs:
            that of beta minus the inverse of grad Q at X^T nu, relative to that of beta.
        iterations: Newton steps, each with one Gram product ``X D X^T``.
        status: whether both errors are at most the tolerance, or why not.
        message: one line that says what happened, and what to do where that is needed.
        dropped: rows of X, counted from 0, that are combinations of the others, as is y.
    """

    value: Array
    multiplier: Array
    residual: float
    stationarity: float
    iterations: int
    status: Status
    message: str
    dropped: tuple[int, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether both errors are at most the tolerance."""
        return self.status is Status.CONVERGED


def solution_of(task: Task, point: Point) -> Solution:
    """Return what a solver's last point says of the equations as they were given.

    Args:
        task: what the solver was given.
        point: where it ended, both equations measured.
    """
    equations, rows, units, tol = task.equations, task.rows, task.units, task.tol
    residual = equations.size(point.residual)
    if point.at_boundary:
        status = Status.BOUNDARY
        message = "y is reached in the limit only, at the boundary of the domain of Q: no beta fits"
    elif residual <= tol and point.stationarity <= tol:
        status, message = Status.CONVERGED, f"converged; Newton steps: {point.iterations}"
    elif point.iterations >= task.max_iterations:
        status = Status.ITERATION_LIMIT
        message = f"max_iterations = {task.max_iterations} is reached; raise it"
    else:
        status, message = Status.STALLED, _stall(equations, point, tol)
    misfit, size = (float(np.linalg.norm(units * v)) for v in (point.residual, equations.y))
    if status is Status.CONVERGED and misfit > tol * size and (units != 1).any():
        left = f"{misfit / size:.0e}"
        message += f"; long rows cancel, so that rounding leaves |X beta - y| = {left} |y|"
    if rows.dropped and not point.at_boundary:
        message += f"; dropped as a combination of others: {named(list(rows.dropped))} of X"
    multiplier = np.zeros(len(rows.kept) + len(rows.dropped))
    multiplier[list(rows.kept)] = point.multiplier / units
    errors = (residual, point.stationarity)
    return Solution(
        point.beta, multiplier, *errors, point.iterations, status, message, rows.dropped
    )


def _stall(equations: Equations, point: Point, tol: float) -> str:
    """Say what the errors are, and what they would take to be smaller."""
    residual, rounding = equations.size(point.residual), equations.rounding(point.beta)
    reached = (
        f"stalled at a relative residual of {residual:.1e} and stationarity of "
        f"{point.stationarity:.1e}"
    )
    if math.isnan(point.stationarity):
        return "stalled where grad Q is undefined: y is at the edge of the domain of Q, or beyond"
    if tol < residual <= 100 * rounding:
        return f"{reached}; rounding X beta alone leaves {rounding:.1e}: raise tol"
    values = np.linalg.eigvalsh(equations.gram)
    condition = math.sqrt(values[-1] / max(values[0], values[-1] * np.finfo(float).eps))
    if condition > _ILL_CONDITIONED:
        return f"{reached}; X is ill-conditioned ({condition:.0e}): raise tol, or drop rows"
    return f"{reached}: raise tol, or start the flow from a larger scale"
