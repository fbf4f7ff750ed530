"""X beta = y made ready for a solver: sizes that doubles hold, rows of lengths that compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpstrf

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import AnyPotential
from numerics.interpolate.design import Dense, Design

_LARGEST = 1e150
"""Squares of larger numbers overflow."""
_SMALLEST = 1e-280
"""Sums of squares below it have lost digits."""
_APART = 2.0**10
"""Ratio of the lengths of rows from which a sum over them says little of the shorter ones."""
_CLOSE = 1e-2
"""Relative distance of rows from which products of them are precise enough."""
FINE = 1e-14
"""A tolerance that rounding just allows."""
_SUSPECT = 1e-10
"""Squared relative distance from the other rows below which a row is looked at closely."""
_DEPENDENT = 1e-12
"""Relative distance from the other rows below which a row counts as their combination."""
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Equations:
    """min Q(beta) subject to X beta = y, rows independent, with ``X X^T`` and the scale of y."""

    design: Design
    y: Array
    gram: Array
    scale: float

    def misfit(self, beta: Array) -> Array:
        """Return X beta - y (m,)."""
        return self.design.apply(beta) - self.y

    def size(self, residual: Array) -> float:
        """Return its Euclidean norm relative to the scale."""
        return float(np.linalg.norm(residual / self.scale))

    def error(self, point: Point) -> float:
        """Return the larger of both relative errors, inf where one is undefined."""
        errors = (self.size(point.residual), point.stationarity)
        return math.inf if any(map(math.isnan, errors)) else max(errors)

    def rounding(self, beta: Array) -> float:
        """Return the relative residual that rounding beta and X beta leaves at least."""
        rows = np.sqrt(np.diag(self.gram))
        unit = np.finfo(float).eps * np.linalg.norm(beta)
        return float(np.linalg.norm(rows * (unit / self.scale)))


@dataclass(frozen=True, slots=True)
class Point:
    """A pair (beta, nu) with ``X beta - y`` and the largest error of ``grad Q = X^T nu``.

    ``at_boundary`` says that y is reached in the limit only, at the boundary of the domain of Q;
    ``out_of_reach`` that beta minimises Q on the closed domain alone, on whose boundary it lies.
    """

    beta: Array
    multiplier: Array
    residual: Array
    stationarity: float = 0.0
    iterations: int = 0
    at_boundary: bool = False
    out_of_reach: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What a solver is given: equations, where to begin, and when to stop.

    Attributes:
        equations: those of the independent rows, in units that compare.
        rows: which rows of X these are.
        units: powers of 2 that the rows were divided by.
        start: beta_0, where grad Q = 0.
        tol: the largest relative error of ``X beta = y`` and ``grad Q = X^T nu``.
        max_iterations: the Newton steps after which to give up.
        warm: a beta that may be near the solution.
    """

    equations: Equations
    rows: Rows
    units: Array
    start: Array
    tol: float
    max_iterations: int
    warm: Array | None = None

    @property
    def aim(self) -> float:
        """The tolerance in the units of the equations: nearer, for long rows as they are."""
        return FINE if (self.units != 1).any() else self.tol

    @property
    def close(self) -> bool:
        """Whether rows are nearly dependent, so that products of them lose digits."""
        return self.rows.distance < _CLOSE

    def solved(self, mirror: AnyPotential, solve: Callable[[Equations, float], Point]) -> Point:
        """Solve the equations; where rows are close, those of orthonormal rows of the same span.

        ``X = R^T V``, ``V beta = R^-T y``. Products X D X^T of rows that are nearly dependent lose
        the digits that tell them apart.
        """
        equations = self.equations
        if not self.close:
            return solve(equations, self.aim)
        columns, triangle = scipy.linalg.qr(equations.design.dense().T, mode="economic")
        target = scipy.linalg.solve_triangular(triangle, equations.y, trans="T")
        V = np.ascontiguousarray(columns.T)
        point = solve(equations_of(Dense(V), target, np.eye(len(V)), self.start), FINE)
        dual, multiplier = point.multiplier @ V, np.zeros_like(point.multiplier)
        for _ in range(2):  # the second round refines
            gap = V @ (dual - equations.design.adjoint(multiplier))
            multiplier = multiplier + scipy.linalg.solve_triangular(triangle, gap)
        return measured(mirror, equations, point.beta, multiplier, point.iterations)


def measured(
    mirror: AnyPotential, equations: Equations, beta: Array, multiplier: Array, iterations: int
) -> Point:
    """Return the point with both equations measured."""
    stationarity = _gap(mirror, equations, beta, multiplier)
    return Point(beta, multiplier, equations.misfit(beta), stationarity, iterations)


def _gap(mirror: AnyPotential, equations: Equations, beta: Array, multiplier: Array) -> float:
    dual = equations.design.adjoint(multiplier)
    gap, size = np.abs(mirror.gradient(beta) - dual).max(), np.abs(dual).max()
    return float(gap / size) if size > 0 else float(gap)


def again(mirror: AnyPotential, equations: Equations, point: Point) -> Point:
    """Return the point with grad Q = X^T nu measured, perhaps by another mirror map."""
    return replace(point, stationarity=_gap(mirror, equations, point.beta, point.multiplier))


def gram_of(design: Design) -> Array:
    """Return X X^T (m, m), whose entries neither overflow nor vanish."""
    gram = design.gram(np.ones(design.shape[1]))
    if not np.isfinite(gram).all():
        raise InputError("X overflows: X X^T is not finite; divide X and y by a constant")
    for row in np.flatnonzero(np.diag(gram) < _SMALLEST):
        unit = np.zeros(design.shape[0])
        unit[row] = 1
        if design.adjoint(unit).any():
            raise InputError(
                f"row {row} of X (counted from 0) is so small that its square underflows: "
                "multiply it, and y there, by a constant"
            )
    return gram


def start_of(q: AnyPotential, design: Design) -> Array:
    """Return beta_0 (d,), repeated where Q is that of a single output."""
    d = design.shape[1]
    if q.d not in (1, d):
        raise InputError(f"X has {d} columns but Q has {q.d} coordinates")
    return np.broadcast_to(np.array(q.beta0, dtype=np.float64), (d,)).copy()


def units_of(gram: Array) -> Array:
    """Return powers of 2 near the lengths of the rows; ones where these are alike."""
    exponents = np.frexp(np.sqrt(np.diag(gram)))[1]
    apart = exponents.size and 2.0 ** (exponents.max() - exponents.min()) > _APART
    return np.asarray(np.ldexp(1.0, exponents if apart else 0 * exponents))


def equations_of(design: Design, y: Array, gram: Array, beta: Array) -> Equations:
    """Return the equations with the scale of y and of ``X beta_0 - y``."""
    sizes = [np.abs(v).max(initial=0) for v in (y, design.apply(beta) - y)]
    scale = max(sizes)
    if not scale < _LARGEST:
        raise InputError(f"y is too large for double precision: its norm must be below {_LARGEST}")
    if scale:
        scale *= max(np.linalg.norm(v / scale) for v in (y, design.apply(beta) - y))
    return Equations(design, y, gram, float(scale) or 1.0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of X that are independent, in order, and those that follow from them.

    ``distance`` is about the least relative distance of an independent row from the others.
    """

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    distance: float


def independent_rows(design: Design, y: Array, gram: Array) -> Rows:
    """Split the rows of X; *gram* is ``X X^T``.

    A pivoted Cholesky factorization of the Gram matrix of the normalized rows proposes a basis;
    as it squares distances, each suspect row is then compared with its projection itself.

    Raises:
        InputError: a row is a combination of others and y is not: no beta interpolates.
    """
    m = len(gram)
    norms = np.sqrt(np.diag(gram))
    unit = np.where(norms > 0, norms, 1)
    normal = gram / unit / unit[:, None]
    factor, pivots, rank, _ = dpstrf(normal, tol=_SUSPECT, lower=1)
    distance = float(np.diag(factor)[:rank].min(initial=1))
    if rank == m:
        return Rows(tuple(range(m)), (), distance)
    order = [int(i) - 1 for i in pivots]
    kept, dropped = order[:rank], []
    for row in order[rank:]:
        combination = _combination(design, gram, kept, row, unit)
        if combination is None:
            kept.append(row)
            distance = 0.0
            continue
        dropped.append(row)
        _check_target(y, kept, row, combination)
    return Rows(tuple(sorted(kept)), tuple(sorted(dropped)), distance)


def _combination(
    design: Design, gram: Array, kept: list[int], row: int, unit: Array
) -> Array | None:
    """Return c with ``x_row = sum_k c_k x_k`` over the kept rows; None where it is independent."""
    if not gram[row, row]:
        return np.zeros(len(kept))
    scale = unit[kept]
    normal = gram[np.ix_(kept, kept)] / scale / scale[:, None]
    selector = np.zeros(len(unit))
    selector[row] = 1
    own = design.adjoint(selector)
    c, left = np.zeros(len(kept)), own
    for _ in range(3):  # the later rounds refine
        step = scipy.linalg.lstsq(normal, design.apply(left)[kept] / scale)[0] / scale
        c = c + step
        spread = np.zeros(len(unit))
        spread[kept] = c
        left = own - design.adjoint(spread)
    size = np.linalg.norm(own) + np.abs(c) @ scale
    return c if np.linalg.norm(left) <= _DEPENDENT * size else None


def _check_target(y: Array, kept: list[int], row: int, c: Array) -> None:
    terms = c * y[kept]
    if abs(y[row] - terms.sum()) <= 1e-10 * (abs(y[row]) + np.abs(terms).sum()):
        return
    used = sorted(
        k for k, x in zip(kept, c, strict=True) if abs(x) > 1e-9 * max(np.abs(c).max(), 1e-300)
    )
    what = f"a combination of {named(used)}" if used else "zero"
    why = "y is not" if used else f"y is {y[row]:g} there"
    raise InputError(
        f"row {row} of X (counted from 0) is {what}; {why}: no beta has X beta = y, so drop a row"
    )


def named(rows: list[int]) -> str:
    """Return "row 3" or "rows 0, 1, ...", a few of them."""
    shown = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}"
