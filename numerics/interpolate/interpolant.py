"""The interpolant of least Q: min Q(beta) subject to X beta = y, without running a flow."""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.vectors.vector_potential import NumericVectorPotential
from numerics.interpolate.by_length import minimize_by_length
from numerics.interpolate.design import Dense, Scaled, read_design, read_target
from numerics.interpolate.dual_newton import (
    Equations,
    Point,
    coupled_hessian,
    measured,
    minimize,
    polish,
    refine,
    separable_hessian,
)
from numerics.interpolate.equations import AnyPotential, equations_of, gram_of, start_of, units_of
from numerics.interpolate.kkt_newton import minimize_coupled
from numerics.interpolate.rank import Rows, independent_rows, named
from numerics.interpolate.reach import (
    Box,
    at_the_edge,
    blocking_rows,
    box_of,
    leads_outside,
    only_at_the_boundary,
)

_CLOSE = 1e-2
"""Relative distance of rows from which products of them are precise enough."""
_FINE = 1e-14
_REFINEMENTS = 8
_UNREACHED = 1e-4
"""Relative residual from which y may be out of reach."""
_LATE = 25
"""The Newton step after which such a y is looked at; few that are in reach take as many."""
_NEARLY, _DRIFT = 1e-12, 1e-2
"""A residual below which X^T nu has come to rest; and how far it goes, relatively, if it is on its
way to infinity."""
_ROUNDED = 1e-12
"""Relative error of beta that the rounding of X^T nu leaves."""
_ILL = 1e5
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


def interpolate(
    q: AnyPotential, X: Any, y: Any, *, tol: float = 1e-10, max_iterations: int = 200
) -> Solution:
    """Return the beta that minimises Q among those with X beta = y.

    ``grad Q(beta) = X^T nu`` and ``X beta = y``, solved by Newton's method: on the convex dual for
    a separable Q, and for a coupled one if grad Q has an inverse in closed form; else on both
    equations. That of a vector model depends on |beta| and one direction, which leaves one equation
    for one number. The result is where gradient flow from the start of Q ends, if it interpolates
    (Gunasekar et al. 2018; Azulay et al. 2021).

    Args:
        q: ``d.potential.numeric(start)``. One of a single output is used for each coordinate.
        X: (m, d), an array, a scipy.sparse matrix or array, or a LinearOperator (which costs 2m
            products for each step). Dense arrays in double precision are not copied.
        y: (m,).
        tol: the largest relative error of both equations.
        max_iterations: the Newton steps after which to give up.

    Raises:
        InputError: a shape or a number is wrong; a row of X is a combination of others and y is
            not; or no beta in the domain of Q has X beta = y.

    Source: Woodworth et al. 2020, section 4, for the dual of the diagonal network.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["w**2"]))
    >>> s = interpolate(d.potential.numeric({"w_0": 1}), [[1, 1, 1], [1, -1, 0]], [6, 0])
    >>> s.value.round(6).tolist(), s.converged
    ([2.0, 2.0, 2.0], True)
    """
    if not isinstance(q, NumericPotential | NumericVectorPotential):
        raise InputError("Q must be in numbers: give d.potential.numeric(start)")
    if not (isinstance(tol, int | float | np.floating) and 1e-15 <= tol < 1):
        raise InputError(f"tol = {tol!r} must be a number from 1e-15 to below 1")
    whole = isinstance(max_iterations, int | np.integer) and not isinstance(max_iterations, bool)
    if not (whole and max_iterations >= 1):
        raise InputError(f"max_iterations = {max_iterations!r} must be an integer of at least 1")
    # What overflows or is undefined shows as inf or nan, which is looked for where it matters.
    with np.errstate(all="ignore"):
        return _interpolate(q, X, y, float(tol), max_iterations)


def _interpolate(proved: AnyPotential, X: Any, y: Any, tol: float, max_iterations: int) -> Solution:
    q = proved.in_doubles
    design = read_design(X)
    target = read_target(y, design.shape[0])
    beta = start_of(q, design)
    gram = gram_of(design)
    rows = independent_rows(design, target, gram)
    if rows.dropped:
        kept = list(rows.kept)
        design, target, gram = design.select(kept), target[kept], gram[np.ix_(kept, kept)]
    units = units_of(gram)
    gram = gram / units / units[:, None]
    equations = equations_of(Scaled(design, 1 / units), target / units, gram, beta)
    aim = _FINE if (units != 1).any() else tol  # nearer, for long rows as they are
    boundary = False
    close = rows.distance < _CLOSE
    if isinstance(q, NumericVectorPotential):
        radial = functools.partial(minimize_by_length, q)
        point = _orthonormal(q, equations, beta, radial) if close else radial(equations, aim)
        if not np.isfinite(point.stationarity):
            point = measured(proved, equations, point.beta, point.multiplier, point.iterations)
    elif not q.separable and isinstance(proved, NumericPotential):
        point, boundary = _solve_coupled(proved, equations, aim, beta, max_iterations)
    else:
        box = box_of(q, beta)

        def watch(at: Point) -> None:
            late = at.iterations == _LATE and not close
            if late and equations.size(at.residual) > _UNREACHED:
                _refuse_unreachable(box, equations, beta, at.multiplier, rows.kept)

        dual = functools.partial(_solve, q, watch, beta=beta, max_iterations=max_iterations)
        point = _orthonormal(q, equations, beta, dual) if close else dual(equations, aim)
        if equations.size(point.residual) > _UNREACHED or np.isinf(point.stationarity):
            _refuse_unreachable(box, equations, beta, point.multiplier, rows.kept)
            _refuse_scale(q, beta)
        if tol < point.stationarity < _UNREACHED and isinstance(proved, NumericPotential):
            point = refine(proved, equations, point, tol)
        boundary = only_at_the_boundary(box, equations, beta, point.beta)
    solution = _solution(equations, point, tol, max_iterations, rows, units)
    return _at_the_boundary(solution) if boundary else solution


def _solve(
    q: NumericPotential,
    watch: Callable[[Point], None],
    equations: Equations,
    tol: float,
    *,
    beta: Array,
    max_iterations: int,
) -> Point:
    hessian = functools.partial(separable_hessian, q, equations)
    point = minimize(q, equations, beta, tol, max_iterations, hessian=hessian, watch=watch)
    if equations.size(point.residual) > tol:
        point = polish(q, equations, point, tol)
    return measured(q, equations, point.beta, point.multiplier, point.iterations)


def _orthonormal(
    q: AnyPotential, equations: Equations, beta: Array, solve: Callable[[Equations, float], Point]
) -> Point:
    """Solve with orthonormal rows that span those of X: ``X = R^T V``, ``V beta = R^-T y``.

    Products X D X^T of rows that are nearly dependent lose the digits that tell them apart.
    """
    columns, triangle = scipy.linalg.qr(equations.design.dense().T, mode="economic")
    target = scipy.linalg.solve_triangular(triangle, equations.y, trans="T")
    V = np.ascontiguousarray(columns.T)
    point = solve(equations_of(Dense(V), target, np.eye(len(V)), beta), _FINE)
    dual, multiplier = point.multiplier @ V, np.zeros_like(point.multiplier)
    for _ in range(2):  # the second round refines
        gap = V @ (dual - equations.design.adjoint(multiplier))
        multiplier = multiplier + scipy.linalg.solve_triangular(triangle, gap)
    return measured(q, equations, point.beta, multiplier, point.iterations)


def _refuse_unreachable(
    box: Box, equations: Equations, beta: Array, multiplier: Array, kept: tuple[int, ...]
) -> None:
    """Raise where a combination of rows is bounded on the domain of Q, and y lies beyond."""
    rows = [kept[i] for i in blocking_rows(box, equations, beta, multiplier)]
    if rows:
        which = named(rows) if len(rows) == 1 else f"a combination of {named(rows)}"
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


def _solve_coupled(
    proved: NumericPotential, equations: Equations, tol: float, beta: Array, max_iterations: int
) -> tuple[Point, bool]:
    """Return a point, and whether y is at the boundary of the domain: by the dual, if possible."""
    if proved.invertible:
        point, drifting = _solve_dual(proved, equations, tol, beta, max_iterations)
        if equations.error(point) <= tol:
            return point, drifting and at_the_edge(proved, equations, point, beta)
    point = _solve_both(proved, equations, tol, beta, max_iterations)
    return point, at_the_edge(proved, equations, point, beta)


def _solve_dual(
    proved: NumericPotential, equations: Equations, tol: float, beta: Array, max_iterations: int
) -> tuple[Point, bool]:
    """Return a point, and whether X^T nu still moves when all digits of y are met.

    Next to the end of the domain beta rounds to where grad Q differs much, or is undefined. Then
    beta is compared with the inverse of grad Q at X^T nu instead.
    """
    late: list[Array] = []

    def watch(at: Point) -> None:
        if equations.size(at.residual) <= _NEARLY:
            late.append(equations.design.adjoint(at.multiplier))

    hessian = functools.partial(coupled_hessian, proved, equations)
    point = minimize(proved, equations, beta, _FINE, max_iterations, hessian=hessian, watch=watch)
    point = measured(proved, equations, point.beta, point.multiplier, point.iterations)
    moved = np.abs(late[-1] - late[0]).max() if late else 0
    drifting = bool(moved and moved > _DRIFT * np.abs(late[-1]).max())
    if point.stationarity <= tol:
        return point, drifting
    nearer = minimize_coupled(proved, equations, point.beta, tol, _REFINEMENTS)
    if equations.error(nearer) <= tol:
        return replace(nearer, iterations=point.iterations + nearer.iterations), drifting
    dual = equations.design.adjoint(point.multiplier)
    gap = np.abs(point.beta - proved.inverse_gradient(dual)).max() / np.abs(point.beta).max()
    return (replace(point, stationarity=float(gap)) if gap <= _ROUNDED else point), drifting


def _solve_both(
    proved: NumericPotential, equations: Equations, tol: float, beta: Array, max_iterations: int
) -> Point:
    """Solve with the printed formulas; measure, and refine, without their cancellations."""
    point = minimize_coupled(proved.in_doubles, equations, beta, tol, max_iterations)
    point = measured(proved, equations, point.beta, point.multiplier, point.iterations)
    fits = equations.size(point.residual) <= tol
    if fits and tol < point.stationarity < 1:
        nearer = minimize_coupled(proved, equations, point.beta, tol, _REFINEMENTS)
        point = replace(nearer, iterations=point.iterations + nearer.iterations)
    elif not (fits and point.stationarity < 1) and leads_outside(
        proved, equations, point.beta, beta
    ):
        raise InputError(
            "y is out of reach, as far as is seen: the steps towards X beta = y lead out of the "
            "domain of Q"
        )
    return point


def _solution(
    equations: Equations, point: Point, tol: float, max_iterations: int, rows: Rows, units: Array
) -> Solution:
    residual = equations.size(point.residual)
    multiplier = np.zeros(len(rows.kept) + len(rows.dropped))
    multiplier[list(rows.kept)] = point.multiplier / units
    if residual <= tol and point.stationarity <= tol:
        status, message = Status.CONVERGED, f"converged; Newton steps: {point.iterations}"
    elif point.iterations >= max_iterations:
        status = Status.ITERATION_LIMIT
        message = f"max_iterations = {max_iterations} is reached; raise it"
    else:
        status, message = Status.STALLED, _stall(equations, point, tol)
    apart = np.linalg.norm(units * point.residual) > tol * np.linalg.norm(units * equations.y)
    if status is Status.CONVERGED and apart and (units != 1).any():
        plain = np.linalg.norm(units * point.residual) / np.linalg.norm(units * equations.y)
        message += f"; long rows cancel, so that rounding leaves |X beta - y| = {plain:.0e} |y|"
    if rows.dropped:
        message += f"; dropped as a combination of others: {named(list(rows.dropped))} of X"
    return Solution(
        point.beta,
        multiplier,
        residual,
        point.stationarity,
        point.iterations,
        status,
        message,
        rows.dropped,
    )


def _at_the_boundary(solution: Solution) -> Solution:
    text = "y is reached in the limit only, at the boundary of the domain of Q: no beta fits"
    return replace(solution, status=Status.BOUNDARY, message=text)


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
    if condition > _ILL:
        return f"{reached}; X is ill-conditioned ({condition:.0e}): raise tol, or drop rows"
    return f"{reached}: raise tol, or start the flow from a larger scale"
