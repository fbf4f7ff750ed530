"""The interpolant of least Q: min Q(beta) subject to X beta = y, without running a flow."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError
from numerics.evaluate.potential import AnyPotential, NumericPotential
from numerics.evaluate.vectors.vector_potential import NumericVectorPotential
from numerics.interpolate.by_length import solve_by_length
from numerics.interpolate.coupled import solve_coupled
from numerics.interpolate.design import Matrix, Scaled, read_design, read_target
from numerics.interpolate.equations import (
    Point,
    Task,
    equations_of,
    gram_of,
    start_of,
    units_of,
)
from numerics.interpolate.rank import independent_rows
from numerics.interpolate.separable import solve_separable
from numerics.interpolate.solution import Solution, solution_of

Solver: TypeAlias = Callable[[Task], Point]


def interpolate(
    q: AnyPotential, X: Matrix, y: ArrayLike, *, tol: float = 1e-10, max_iterations: int = 200
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

    Returns:
        beta (d,) and nu (m,), their errors, and whether these are at most *tol*.

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
    solve = _solver(q)
    if not (isinstance(tol, int | float | np.floating) and 1e-15 <= tol < 1):
        raise InputError(f"tol = {tol!r} must be a number from 1e-15 to below 1")
    whole = isinstance(max_iterations, int | np.integer) and not isinstance(max_iterations, bool)
    if not (whole and max_iterations >= 1):
        raise InputError(f"max_iterations = {max_iterations!r} must be an integer of at least 1")
    # What overflows or is undefined shows as inf or nan, which is looked for where it matters.
    with np.errstate(all="ignore"):
        task = _task(q, X, y, float(tol), max_iterations)
        return solution_of(task, solve(task))


@functools.singledispatch
def _solver(q: object) -> Solver:
    """Return what minimises this kind of Q."""
    raise InputError("Q must be in numbers: give d.potential.numeric(start)")


@_solver.register
def _(q: NumericPotential) -> Solver:
    return functools.partial(solve_separable if q.separable else solve_coupled, q)


@_solver.register
def _(q: NumericVectorPotential) -> Solver:
    return functools.partial(solve_by_length, q)


def _task(q: AnyPotential, X: Matrix, y: ArrayLike, tol: float, max_iterations: int) -> Task:
    """Read the data, and drop rows that follow from others."""
    design = read_design(X)
    target = read_target(y, design.shape[0])
    start = start_of(q, design)
    gram = gram_of(design)
    rows = independent_rows(design, target, gram)
    if rows.dropped:
        kept = list(rows.kept)
        design, target, gram = design.select(kept), target[kept], gram[np.ix_(kept, kept)]
    units = units_of(gram)
    gram = gram / units / units[:, None]
    equations = equations_of(Scaled(design, 1 / units), target / units, gram, start)
    return Task(equations, rows, units, start, tol, max_iterations)
