"""The interpolant of least Q to any number of digits: a solution in doubles, made precise.

Newton's method on ``grad Q(beta) = X^T nu`` and ``X beta = y`` with the matrix of its first step,
as the Hessian in doubles is right to more digits than a step has to gain (Kelley 1995, *Iterative
Methods for Linear and Nonlinear Equations*, section 5.4, the chord method).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import mpmath
import numpy as np

from derive.errors import NumericalError
from numerics.evaluate.numbers import Array, Real, rational
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.interpolant import interpolate

_SLOWEST = 0.3
"""The share of a step that the next may be, lest the method count as stalled."""
_TINY = 1e-12
"""Relative singular values that dependent rows of X have by rounding."""
Gradient = Callable[[Sequence[Real]], Sequence[Real]]


@dataclass(frozen=True, slots=True)
class Interpolant:
    """The end of a chord iteration, in mpf.

    Attributes:
        value: beta (d).
        multiplier: nu (m), with ``grad Q(beta) = X^T nu``.
    """

    value: tuple[Real, ...]
    multiplier: tuple[Real, ...]


def polished_interpolant(
    q: NumericPotential,
    gradient: Gradient,
    X: Sequence[Sequence[Fraction]],
    y: Sequence[Fraction],
    digits: int,
) -> Interpolant:
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
        return Interpolant(tuple(beta), tuple(nu))
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
