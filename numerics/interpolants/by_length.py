"""min Q(beta) s.t. X beta = y for ``Q = q(|beta|) - <z, beta>``, by one equation for one number.

``q'(s) beta/s - z = X^T nu`` and ``X beta = y``: with b the shortest interpolant and w the part of
z outside the row space, beta = b + t w/|w|. What is left is convex in t:

    q'(s) t/s = |w|,  s^2 = |b|^2 + t^2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import scipy.optimize

from derive.errors import InputError
from numerics.evaluate.vectors import NumericVectorPotential
from numerics.interpolants.equations import Equations, Point, Task, again, measured
from numerics.interpolants.newton_steps import inverse_of

_REFINEMENTS = 2
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
    for _ in range(_REFINEMENTS):
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
