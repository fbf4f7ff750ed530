"""X beta = y made ready for a solver: sizes that doubles hold, rows of lengths that compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from derive.errors import InputError
from numerics.evaluate.numbers import Array
from numerics.evaluate.potential import NumericPotential, PotentialAtStart
from numerics.interpolants.design import Dense, Design, Rows

_LARGEST = 1e150
"""Squares of larger numbers overflow."""
_SMALLEST = 1e-280
"""Sums of squares below it have lost digits."""
_APART = 2.0**10
"""Ratio of the lengths of rows from which a sum over them says little of the shorter ones."""
_CLOSE = 1e-2
"""Relative distance of rows from which products of them are precise enough."""
_NOISE = 8
"""Units of rounding below which a residual shows nothing."""
FINE = 1e-14
"""A tolerance that rounding just allows."""
_ROUNDED = 1e-12
"""Relative error of beta that the rounding of X^T nu leaves."""


@dataclass(frozen=True, slots=True)
class Equations:
    """min Q(beta) subject to X beta = y, rows independent, with ``X X^T``.

    ``scale`` is the larger of |y| and ``|X beta_0 - y|``, ``least`` the smaller relative to it, or
    1 where that is 0.
    """

    design: Design
    y: Array
    gram: Array
    scale: float
    least: float

    def misfit(self, beta: Array) -> Array:
        """Return X beta - y (m,)."""
        return self.design.apply(beta) - self.y

    def size(self, residual: Array) -> float:
        """Return its Euclidean norm relative to the scale."""
        return float(np.linalg.norm(residual / self.scale))

    def settled(self, point: Point, tol: float) -> bool:
        """Tell whether X beta = y to *tol*, or to what rounding of beta alone leaves."""
        enough = max(tol * self.least, _NOISE * self.rounding(point.beta))
        return bool(self.size(point.residual) <= enough)

    def missed(self, point: Point) -> float:
        """Return ``|X beta - y|`` relative to the smaller of |y| and ``|X beta_0 - y|``.

        What rounding of beta alone leaves is told relative to the larger.
        """
        size = self.size(point.residual)
        return size if self.settled(point, 0.0) else size / self.least

    def error(self, point: Point) -> float:
        """Return the larger of both relative errors, inf where one is undefined."""
        errors = (self.missed(point), point.stationarity)
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
    ``out_of_reach`` that beta minimises Q on the closed domain alone, on whose boundary it lies;
    ``dual`` is X^T nu, if it was computed from nu.
    """

    beta: Array
    multiplier: Array
    residual: Array
    stationarity: float = 0.0
    iterations: int = 0
    at_boundary: bool = False
    out_of_reach: bool = False
    dual: Array | None = None


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

    def solved(self, mirror: PotentialAtStart, solve: Callable[[Equations, float], Point]) -> Point:
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
    mirror: PotentialAtStart, equations: Equations, beta: Array, multiplier: Array, iterations: int
) -> Point:
    """Return the point with both equations measured."""
    point = Point(beta, multiplier, equations.misfit(beta), iterations=iterations)
    return again(mirror, equations, point)


def again(mirror: PotentialAtStart, equations: Equations, point: Point) -> Point:
    """Return the point with grad Q = X^T nu measured, perhaps by another mirror map."""
    dual = equations.design.adjoint(point.multiplier) if point.dual is None else point.dual
    gap, size = np.abs(mirror.gradient(point.beta) - dual).max(), np.abs(dual).max()
    return replace(point, stationarity=float(gap / size) if size > 0 else float(gap), dual=dual)


def by_inverse(q: NumericPotential, equations: Equations, point: Point) -> Point:
    """Return the point with beta compared with the inverse of grad Q at X^T nu, if that is as near.

    Where beta moves little, or is next to the end of the domain, rounding of beta alone spoils
    grad Q. Of a separable Q every coordinate is to be right to its own rounding.
    """
    exact, size = q.inverse_gradient(equations.design.adjoint(point.multiplier)), np.abs(point.beta)
    off, unit = np.abs(point.beta - exact), size if q.separable else size.max()
    gap = float(np.divide(off, unit, out=np.zeros_like(off), where=off != 0).max())
    limit = _NOISE * np.finfo(float).eps if q.separable else _ROUNDED
    return replace(point, stationarity=gap) if gap <= limit else point


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


def start_of(q: PotentialAtStart, design: Design) -> Array:
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
    """Return the equations with the scales of y and of ``X beta_0 - y``."""
    vectors = (y, design.apply(beta) - y)
    unit = float(max(np.abs(v).max(initial=0) for v in vectors)) or 1.0
    if not unit < _LARGEST:
        raise InputError(f"y is too large for double precision: its norm must be below {_LARGEST}")
    low, high = sorted(float(np.linalg.norm(v / unit)) for v in vectors)
    return Equations(design, y, gram, unit * (high or 1.0), low / high if low else 1.0)
