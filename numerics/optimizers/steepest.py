"""Where steepest descent in a norm ends on least squares, and whether that is the least norm.

    w' = grad(|.|_*^2/2)(X^T r),   r = y - X w,   w(0) = w_0.

The least |w - w_0|_p subject to X w = y has <n, sign(w - w_0) |w - w_0|^(p-1)> = 0 for all n with
X n = 0; the *defect* is the largest of these numbers. It is 0 for one row and for p = 2.

Source: derived; the question is that of Gunasekar, Lee, Soudry, Srebro 2018, "Characterizing
implicit bias in terms of optimization geometry", section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.exact.balls import ball, fraction, precise
from derive.optimizers.least_norm import (
    Norm,
    defect,
    least_l2,
    read_norm,
    require_full_rank,
    step_in_balls,
    straight_step,
)
from derive.optimizers.paths import Path, Vector, path, times
from derive.optimizers.saddle_path import SaddlePath, follow_saddles
from derive.printable import Held
from numerics.evaluate.numbers import (
    Array,
    Real,
    check_digits,
    rational,
    read_data,
    read_number,
    read_vector,
)
from numerics.margins.interval import dual_slope

Value: TypeAlias = Fraction | Real
DOUBLE = 1e-12
"""Residual, relative to that at the start, to which a flow in doubles is followed."""


@dataclass(frozen=True, repr=False)
class SteepestLimit(Held):
    """The limit of steepest descent.

    Attributes:
        norm: l2, l4/3, linf, ...
        limit: w(inf), d numbers: Fractions where they are known, else of mpmath.
        radius: a proved bound of their errors, 0 where they are exact; None where none is proved.
        defect: of the conditions of the least norm; None for l1 and linf, which have other ones.
    """

    norm: str
    limit: tuple[Value, ...]
    radius: Real | None
    defect: Value | None


def coordinate_descent_limit(X: object, y: object, start: object = None) -> Path:
    """Return the limit of coordinate descent on least squares with small steps, exactly.

    Each step moves the coordinate with the largest slope, in proportion to it. In the limit of
    small steps the path is piecewise linear.

    >>> found = coordinate_descent_limit([[-2, 3, -1], [0, 3, 1]], [2, 1])
    >>> [str(x) for x in found.limit], len(found.breakpoints)
    (['-1/4', '5/12', '-1/4'], 4)

    Args:
        X, y: m rows of d numbers, and m numbers, each at its exact value.
        start: d numbers, 0 by default.

    Raises:
        InputError: the data do not fit, or coordinates tie in a way that leaves w open.
    """
    return path("l1", *_read(X, y, start))


def lasso_path(X: object, y: object, start: object = None) -> Path:
    """Return the path of argmin |X w - y|^2/2 + level |w - start|_1, which ends at the least l1."""
    return path("lasso", *_read(X, y, start))


def steepest_descent_limit(
    X: object, y: object, p: object, start: object = None, digits: int = 15
) -> SteepestLimit:
    """Return the limit of steepest descent in l_p on least squares with small steps.

    Exact for p = 1, 2, inf and where the residual keeps its direction, as for one row; with proved
    errors for two rows and q = p/(p-1) = 4, 6, ...; else the end of a flow in doubles.

    >>> found = steepest_descent_limit([[1, 1, 1], [1, 2, 0]], [1, 10], p="4/3")
    >>> [mpmath.nstr(x, 8) for x in found.limit], mpmath.nstr(found.defect, 4)
    (['0.2825957', '4.8587021', '-4.1412979'], '-1.225')

    Args:
        X, y: m rows of d numbers, and m numbers, each at its exact value.
        p: a number from 1 on, such as "4/3", or "inf".
        start: d numbers, 0 by default.
        digits: those of a limit with proved errors.

    Raises:
        InputError: the data or p do not fit, or there is no w with X w = y.
        NumericalError: the limit was not found.
    """
    check_digits(digits)
    norm = read_norm(p)
    rows, target, w0 = _read(X, y, start)
    r = [a - b for a, b in zip(target, times(rows, w0), strict=True)]
    if norm.p is None or norm.p == 1:
        return SteepestLimit(
            norm.name, path(norm.name, rows, target, w0).limit, mpmath.mpf(0), None
        )
    require_full_rank(rows)
    alone = norm.p == 2 or len(rows) == len(w0)
    step = least_l2(rows, r) if alone else straight_step(rows, r, norm)
    if step is not None:
        limit = tuple(a + b for a, b in zip(w0, step, strict=True))
        return SteepestLimit(norm.name, limit, mpmath.mpf(0), Fraction(0))
    balls = step_in_balls(rows, r, norm, digits)
    with precise(int(digits * 3.33) + 40), mpmath.workdps(digits + 10):
        moved = balls or [ball(read_number(x, "w")) for x in _flowed(rows, r, norm)]
        limit = tuple(rational(fraction(ball(a) + b)) for a, b in zip(w0, moved, strict=True))
        radius = rational(max(fraction(x.rad()) for x in moved)) if balls else None
        lacking = 0 if len(rows) == 1 else rational(fraction(defect(rows, moved, norm)))
    return SteepestLimit(norm.name, limit, radius, lacking)


def _flowed(X: Sequence[Vector], r: Vector, norm: Norm) -> list[Real]:
    """Return w(inf) - w(0) of the flow in doubles."""
    A, rest = np.array(X, float), np.array(r, float)
    scale = np.linalg.norm(rest)

    def slope(t: float, w: Array) -> Array:
        return dual_slope(A.T @ (rest - A @ w), norm)

    def fits(t: float, w: Array) -> float:
        return float(np.linalg.norm(rest - A @ w) - DOUBLE * scale)

    fits.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        slope, (0, 1e9), np.zeros(A.shape[1]), "LSODA", events=fits, rtol=1e-12, atol=1e-14 * scale
    )
    if found.status != 1:
        raise NumericalError("the flow did not reach X w = y in doubles")
    return [mpmath.mpf(x) for x in found.y[:, -1]]


def _read(X: object, y: object, start: object) -> tuple[list[Vector], Vector, Vector]:
    """Return X, y and the start as fractions."""
    rows, target = read_data(X, y)
    w0 = [Fraction(0)] * len(rows[0]) if start is None else read_vector(start, "start")
    if len(rows[0]) != len(w0):
        raise InputError("the rows of X, and the start, must be of one length")
    return rows, target, w0


def saddle_path(derivation: Derivation, X: Any, y: Any, variable: str | None = None) -> SaddlePath:
    """Return the path of beta as a symbol of the start tends to 0, in fractions.

    >>> from derive import Parameterization, derive
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> s = saddle_path(derive(p), [[1, 2], [1, -1]], [1, 3])
    >>> [str(t) for t in s.times], [str(x) for x in s.limit], s.ground
    (['1/8', '1/4'], ['7/3', '-2/3'], 'proved (cited)')

    Args:
        derivation: of a Q that is a sum over coordinates; one output stands for copies from equal
            starts.
        X, y: m rows of d numbers, each at its exact value, and m numbers.
        variable: the symbol that tends to 0, where the start has several.

    Raises:
        InputError: no matrix and vector that fit; Q/N has no limit that is linear on both sides of
            0; coordinates arrive at one time, or their columns are dependent.

    Source: Pesme, Flammarion 2023.
    """
    if not isinstance(derivation, Derivation):
        raise InputError("give a derivation: Q at numbers has no start symbol that tends to 0")
    return follow_saddles(derivation, *read_data(X, y), variable)
