"""Newton's steps on the dual of Q: the Hessian ``X (Hess Q)^-1 X^T`` and what is near it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import LinearOperator, cg

from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.equations import Equations, Point
from numerics.interpolants.reach import Mirror

_FLOOR, _COUPLED = 1e-12, 1e-3
"""Weights are raised to this part of their mean, times the squared relative residual.

Far from the solution few coordinates may carry all curvature; the floor keeps the Hessian regular,
and leaves the quadratic convergence. One that is seen in the steps holds back those along which few
coordinates are steep, as of deep nets from small starts; of coupled Q, whose Hessian is known by
differences only, it has to be seen.
"""
_WIDE, _LARGE, _SHARE = 64, 2**22, 64
"""Columns for each row, of so many entries, from which this part of them counts one by one."""
_SLOW, _SOON, _LATEST, _LITTLE, _MORE = 0.3, 0.1, 12, 0.01, 8
"""What a residual must fall to, once small or late, lest so many times the columns count one by
one, unless the others have so little of all weight."""
_ROWS = 50
"""Rows for each iteration of conjugate gradients that costs less than a Gram product."""
_FEW, _INEXACT = 3, 1e-3
"""Iterations that are too few to be worth it; the residual that they leave, or a tenth at first."""
_STEP = 1e-5
"""Relative change of grad Q in differences of its inverse."""


class SeparableSteps:
    """Newton's steps on the dual of a separable Q, whose Hessian is ``X max(D, floor) X^T``.

    Gram products are saved where they are dear. Of very many columns those that stand out count
    one by one and the others by their mean, as long as the residual falls fast so. Where products
    with X are far cheaper, the equations are solved by conjugate gradients, preconditioned by the
    last Gram matrix that was made.
    """

    def __init__(self, mirror: Mirror, equations: Equations) -> None:
        """Begin without a Gram matrix but X X^T."""
        self._mirror, self._equations, self._before = mirror, equations, math.inf
        m, d = equations.design.shape
        many = d >= _WIDE * m and m * d >= _LARGE
        self._top, self._tries = d // _SHARE if many else d, m // _ROWS
        self._known: Callable[[Array], Array] | None = None

    def __call__(self, point: Point, dual: Array) -> Array:
        """Return the step at a point and its X^T nu."""
        design, size = self._equations.design, self._equations.size(point.residual)
        weights = self._mirror.stretch(point.beta, dual)
        weights = np.asarray(np.where(np.isfinite(weights), weights, 0))
        floor = max(_FLOOR * min(size, 1) ** 2 * weights.mean(), weights.min())
        slow = (size < _SOON or point.iterations >= _LATEST) and size > _SLOW * self._before
        self._before = size
        rest = np.argpartition(weights, -self._top)[: -self._top]
        if slow and weights[rest].sum() > _LITTLE * weights.sum():
            self._top = min(_MORE * self._top, weights.size)
            rest = np.argpartition(weights, -self._top)[: -self._top]
        if rest.size:
            floor = weights[rest].mean()
            weights[rest] = 0
        elif self._known is not None and self._tries > _FEW:
            raised, shape = np.maximum(weights, floor), (len(point.residual),) * 2
            hessian = LinearOperator(
                shape, lambda v: design.apply(raised * design.adjoint(v)), dtype=float
            )
            known = LinearOperator(shape, self._known, dtype=float)
            options = {"rtol": max(_INEXACT, min(size, 1) / 10), "maxiter": self._tries, "M": known}
            step, failed = cg(hessian, point.residual, **options)
            if not failed:
                return np.asarray(step)
        gram = design.gram(np.maximum(weights - floor, 0)) + floor * self._equations.gram
        self._known = inverse_of(gram)
        return self._known(point.residual)


def coupled_step(
    mirror: NumericPotential, equations: Equations, point: Point, dual: Array
) -> Array:
    """Return Newton's step, the Hessian being ``X (D + floor) X^T``.

    D is found by differences of the inverse mirror map: where beta is next to the end of the
    domain, Hess Q at its rounding says nothing.
    """
    d, size = point.beta.size, equations.size(point.residual)
    steps = _STEP * (np.abs(dual).max() or _STEP) * np.eye(d)
    sides = mirror.inverse_gradient(np.concatenate([dual + steps, dual - steps]))
    up, down = sides.reshape(2, d, d)
    D = (up - down) / (2 * np.diag(steps))[:, None]
    D = np.where(np.isfinite(D), (D + D.T) / 2, 0)
    floor = _COUPLED * min(size, 1) ** 2 * np.trace(D) / d
    X = equations.design.dense()
    return inverse_of(X @ D @ X.T + floor * equations.gram)(point.residual)


def inverse_of(matrix: Array) -> Callable[[Array], Array]:
    """Return what solves a positive semidefinite system, but for directions lost to rounding."""
    diagonal = np.sqrt(np.diag(matrix))
    scale = 1 / np.where(diagonal > 0, diagonal, 1)
    normal = matrix * scale * scale[:, None]
    factor, failed = dpotrf(normal, lower=1)
    if not failed:
        return lambda v: np.asarray(scale * dpotrs(factor, scale * v, lower=1)[0])
    values, vectors = np.linalg.eigh(normal)
    values = np.maximum(values, len(values) * np.finfo(float).eps * values[-1])
    return lambda v: np.asarray(scale * (vectors @ ((scale * v @ vectors) / values)))
