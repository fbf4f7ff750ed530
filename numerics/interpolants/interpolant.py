"""The interpolant of least Q: min Q(beta) subject to X beta = y, without running a flow.

To any number of digits: Newton's method on ``grad Q(beta) = X^T nu`` and ``X beta = y`` with the
matrix of its first step, as the Hessian in doubles is right to more digits than a step has to gain
(Kelley 1995, *Iterative Methods for Linear and Nonlinear Equations*, section 5.4, the chord
method). And that of least l1 norm.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from typing import TypeAlias, TypeVar

import mpmath
import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from derive.copying import Copies
from derive.errors import InputError, NumericalError
from derive.printable import Held
from numerics.evaluate.lowering import numeric
from numerics.evaluate.numbers import Array, Real, rational
from numerics.evaluate.potential import NumericPotential, NumericVectorPotential, PotentialAtStart
from numerics.interpolants.coupled import solve_by_length, solve_coupled
from numerics.interpolants.design import (
    Design,
    Matrix,
    Rows,
    Scaled,
    independent_rows,
    named,
    read_design,
    read_target,
)
from numerics.interpolants.dual_newton import solve_separable
from numerics.interpolants.equations import (
    Equations,
    Point,
    Task,
    equations_of,
    gram_of,
    start_of,
    units_of,
)
from numerics.interpolants.reach import beyond

Solver: TypeAlias = Callable[[Task], Point]
_Data: TypeAlias = tuple[Design, Array, Array, Rows, Array]
V = TypeVar("V")
_ILL_CONDITIONED = 1e5
"""Condition of X from which the normal equations lose more digits than they keep."""


def interpolate(
    q: PotentialAtStart | Copies,
    X: Matrix,
    y: ArrayLike,
    *,
    tol: float = 1e-10,
    max_iterations: int = 200,
    warm: Solution | None = None,
) -> Solution:
    """Return the beta that minimises Q among those with X beta = y.

    ``grad Q(beta) = X^T nu`` and ``X beta = y``, solved by Newton's method: on the convex dual for
    a separable Q, and for a coupled one if grad Q has an inverse in closed form; else on both
    equations. That of a vector model depends on |beta| and one direction, which leaves one equation
    for one number. The result is where gradient flow from the start of Q ends, if it interpolates
    (Gunasekar et al. 2018; Azulay et al. 2021). Where Q of coupled outputs assumes something of the
    flow, or its domain is not written in beta, the weights are followed under the squared loss: a
    solution that they pass by is no limit.

    Args:
        q: ``d.potential.numeric(start)``, or copies of F. One of a single output is used for each
            coordinate.
        X: (m, d), an array, a scipy.sparse matrix or array, or a LinearOperator (which costs 2m
            products for each step). Dense arrays in double precision are not copied.
        y: (m,).
        tol: the largest relative error of both equations.
        max_iterations: the Newton steps after which to give up.
        warm: the solution of a problem like this one, of as many coordinates, from which to begin.

    Returns:
        beta (d,) and nu (m,), their errors, and whether these are at most *tol*.

    Raises:
        InputError: a shape or a number is wrong; a row of X is a combination of others and y is
            not; or no beta in the domain of Q has X beta = y.

    Source: Woodworth et al. 2020, for the dual of the diagonal network.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["w**2"]))
    >>> s = interpolate(d.potential.numeric({"w_0": 1}), [[1, 1, 1], [1, -1, 0]], [6, 0])
    >>> s.value.round(6).tolist(), s.converged
    ([2.0, 2.0, 2.0], True)
    """
    (found,) = _path(
        [numeric(q, {}) if isinstance(q, Copies) else q], X, y, _options(tol, max_iterations), warm
    )
    return found


def interpolate_path(
    q_of: Callable[[V], PotentialAtStart],
    values: Iterable[V],
    X: Matrix,
    y: ArrayLike,
    *,
    tol: float = 1e-10,
    max_iterations: int = 200,
) -> tuple[Solution, ...]:
    """Return the interpolants of least Q for a sequence of Qs, each from the one before.

    Args:
        q_of: Q in numbers at each of the *values*, such as
            ``lambda alpha: d.potential.numeric({"alpha": alpha})``.
        values: in an order in which neighbours are alike.
        X, y, tol, max_iterations: as for :func:`interpolate`.

    Raises:
        InputError: as :func:`interpolate` does.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["w**2"]))
    >>> found = interpolate_path(lambda w: d.potential.numeric({"w_0": w}), [1, 2], [[1, 3]], [4])
    >>> [s.converged for s in found]
    [True, True]
    """
    return tuple(_path(map(q_of, values), X, y, _options(tol, max_iterations), None))


def _options(tol: float, max_iterations: int) -> tuple[float, int]:
    if not (isinstance(tol, int | float | np.floating) and 1e-15 <= tol < 1):
        raise InputError(f"tol = {tol!r} must be a number from 1e-15 to below 1")
    whole = isinstance(max_iterations, int | np.integer) and not isinstance(max_iterations, bool)
    if not (whole and max_iterations >= 1):
        raise InputError(f"max_iterations = {max_iterations!r} must be an integer of at least 1")
    return float(tol), int(max_iterations)


def _path(
    qs: Iterable[PotentialAtStart],
    X: Matrix,
    y: ArrayLike,
    options: tuple[float, int],
    warm: Solution | None,
) -> Iterator[Solution]:
    """Solve for each Q on the same data, from the solution before."""
    data: _Data | None = None
    for q in qs:
        solve = _solver(q)
        # What overflows or is undefined shows as inf or nan, which is looked for where it matters.
        with np.errstate(all="ignore"):
            data = data or _read(q, X, y)
            design, target, gram, rows, units = data
            start = start_of(q, design)
            if warm is not None and np.shape(warm.value) != start.shape:
                size = np.size(warm.value)
                raise InputError(f"warm is of {size} coordinates, X has {start.size}")
            scaled = Scaled(design, rows.kept, 1 / units)
            equations = equations_of(scaled, target / units, gram, start)
            near = None if warm is None else warm.value
            task = Task(equations, rows, units, start, *options, near)
            warm = solution_of(task, solve(task))
            if warm.converged:
                plain = Scaled(design, rows.kept, np.ones(len(rows.kept)))
                why = beyond(q.functions.leaves, plain, target, warm.value)
                told = "grad Q = X^T nu and X beta = y hold, but gradient flow does not end here"
                told = f"{told}: {why}"
                warm = replace(warm, status=Status.BEYOND, message=told) if why else warm
        yield warm


def _solver(q: object) -> Solver:
    """Return what minimises this kind of Q."""
    if isinstance(q, NumericVectorPotential):
        return functools.partial(solve_by_length, q)
    if isinstance(q, NumericPotential):
        return functools.partial(solve_separable if q.separable else solve_coupled, q)
    raise InputError("Q must be in numbers: give d.potential.numeric(start)")


def _read(q: PotentialAtStart, X: Matrix, y: ArrayLike) -> _Data:
    """Return X, y and X X^T without rows that follow from others, these, and units of rows."""
    design = read_design(X)
    target = read_target(y, design.shape[0])
    start_of(q, design)  # which tells whether X fits Q, before X costs more
    gram = gram_of(design)
    rows = independent_rows(design, target, gram)
    target, gram = target[[*rows.kept]], gram[np.ix_(rows.kept, rows.kept)]
    units = units_of(gram)
    return design, target, gram / units / units[:, None], rows, units


class Status(enum.Enum):
    """How a minimization ended."""

    CONVERGED = "converged"
    STALLED = "stalled: rounding leaves no step that improves the point"
    ITERATION_LIMIT = "iteration limit"
    OUT_OF_REACH = "out of reach: on the way to the target beta leaves the domain of Q"
    BEYOND = "beyond a zero of g or of a divisor, where Q is another"
    BOUNDARY = "the target is reached in the limit only, at the boundary of the domain of Q"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution(Held):
    """The end of a minimization of Q among the beta with X beta = y.

    Attributes:
        value: beta (d,).
        multiplier: nu (m,), with ``grad Q(beta) = X^T nu``; 0 for dropped rows.
        residual: ``|X beta - y|`` relative to the smaller of |y| and ``|X beta_0 - y|``, or to the
            larger where rounding beta alone leaves as much; where the lengths of rows differ by
            more than 1000, each equation is divided by that of its row.
        stationarity: the largest entry of ``grad Q(beta) - X^T nu`` relative to that of X^T nu.
            Where rounding beta alone spoils it, next to beta_0 or to the end of the domain: that of
            beta minus the inverse of grad Q at X^T nu, relative to that of beta.
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
    residual = equations.missed(point)
    if point.at_boundary:
        status = Status.BOUNDARY
        message = "y is reached in the limit only, at the boundary of the domain of Q: no beta fits"
    elif point.out_of_reach:
        status = Status.OUT_OF_REACH
        message = (
            "y is out of reach: where Q is least among the beta of its closed domain with "
            "X beta = y, the domain ends"
        )
    elif residual <= tol and point.stationarity <= tol:
        status, message = Status.CONVERGED, f"converged; Newton steps: {point.iterations}"
    elif point.iterations >= task.max_iterations:
        status = Status.ITERATION_LIMIT
        message = f"max_iterations = {task.max_iterations} is reached; raise it"
    else:
        status, message = Status.STALLED, _stall(equations, point, tol)
    misfit, size = (float(np.linalg.norm(units * v)) for v in (point.residual, equations.y))
    if status is Status.CONVERGED and misfit > tol * size > 0:
        what = "terms" if (units == 1).all() else "long rows"
        left = f"{misfit / size:.0e}"
        message += f"; {what} cancel, so that rounding leaves |X beta - y| = {left} |y|"
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
    residual, rounding = equations.missed(point), equations.rounding(point.beta)
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


_SLOWEST = 0.3
"""The share of a step that the next may be, lest the method count as stalled."""
_TINY = 1e-12
"""Relative singular values that dependent rows of X have by rounding."""
Gradient = Callable[[Sequence[Real]], Sequence[Real]]


def polished_interpolant(
    q: NumericPotential,
    gradient: Gradient,
    X: Sequence[Sequence[Fraction]],
    y: Sequence[Fraction],
    digits: int,
) -> tuple[Real, ...]:
    """Return the beta of least Q with X beta = y to *digits* digits, by Q alone.

    ``grad Q(beta) = X^T nu`` and ``X beta = y``, from the solution by :func:`interpolate`.

    Args:
        q: Q in doubles, of d coordinates.
        gradient: grad Q in mpf, at the working precision of mpmath.
        X: m rows of d numbers.
        y: m numbers.
        digits: of beta, relative to its norm, to the condition of the equations.

    Raises:
        InputError: no beta in the domain of Q has X beta = y.
        NumericalError: the solution in doubles is too far off, or grad Q is undefined near it.
    """
    rows = np.array([[float(x) for x in row] for row in X])
    first = interpolate(q, rows, np.array([float(x) for x in y]))
    d = len(first.value)
    step = _chord(np.reshape(q.hessian(first.value), (d, d)), rows)
    matrix = mpmath.matrix([list(map(rational, row)) for row in X])
    target = mpmath.matrix(list(map(rational, y)))
    beta, nu = mpmath.matrix(first.value.tolist()), mpmath.matrix(first.multiplier.tolist())
    before = size = mpmath.inf
    # To the last digit that rounding leaves, as grad Q near beta_0 needs more than beta has.
    for _ in range(6 * mpmath.mp.dps):
        slope = mpmath.matrix(list(gradient(list(beta))))
        change = step([*(matrix.T * nu - slope), *(target - matrix * beta)])
        beta, nu = beta + change[:d, 0], nu + change[d:, 0]
        # A first step may be small by chance; one that is nan ends it too.
        before, size, last = size, mpmath.norm(change[:d, 0]), before
        if not 0 < size <= _SLOWEST * max(before, last):
            break
    if size <= mpmath.mpf(10) ** -digits * mpmath.norm(beta):
        return tuple(beta)
    raise NumericalError(
        f"a step of {mpmath.nstr(size, 3)} did not improve beta = "
        f"{', '.join(mpmath.nstr(b, 6) for b in beta)}; in doubles: {first.message}"
    )


def _chord(hessian: Array, X: Array) -> Callable[[Sequence[Real]], mpmath.matrix]:
    """Return what solves ``[[H, -X^T], [X, 0]] step = misfit`` to a double's relative accuracy.

    Unknowns and equations are scaled to entries near 1. Dependent rows share their multiplier.
    """
    curvature = np.diag(hessian)
    if not (np.isfinite(hessian).all() and (curvature > 0).all()):
        raise NumericalError("Q is not convex where its interpolant in doubles is")
    units = 1 / np.sqrt(curvature)
    lengths = np.linalg.norm(X * units, axis=1)
    scales = np.concatenate([units, 1 / np.where(lengths > 0, lengths, 1)])
    system = np.block([[hessian, -X.T], [X, np.zeros((len(X), len(X)))]])
    inverse = np.linalg.pinv(scales[:, None] * system * scales, rcond=_TINY)

    def step(misfit: Sequence[Real]) -> mpmath.matrix:
        scaled = list(map(mul, scales.tolist(), misfit))
        # Misfits far below the least double are told in units of their largest.
        unit = max(map(abs, scaled)) or mpmath.mpf(1)
        moves = (inverse @ np.array([float(r / unit) for r in scaled])).tolist()
        return mpmath.matrix([s * unit * x for s, x in zip(scales.tolist(), moves, strict=True)])

    return step


def least_l1(X: Array, y: Array) -> Array:
    """Return the beta (d,) of least l1 norm with X beta = y; NumericalError where none is found."""
    d = X.shape[1]
    program = scipy.optimize.linprog(
        np.ones(2 * d), A_eq=np.hstack([X, -X]), b_eq=y, method="highs"
    )
    if program.status:
        raise NumericalError(f"the linear program was not solved: {program.message}")
    return np.asarray(program.x[:d] - program.x[d:])
