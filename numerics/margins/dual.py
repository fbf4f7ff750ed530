"""beta and margins as functions of the multipliers: grad Q(beta) = X^T s."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.numbers import read_array
from numerics.evaluate.potential import NumericPotential


@dataclass(frozen=True)
class Dual:
    """The predictors with grad Q in the span of the rows of X, which carry their labels."""

    q: NumericPotential
    X: Array

    def beta(self, s: Array) -> Array:
        """Return the beta with grad Q(beta) = X^T s."""
        found = np.asarray(self.q.inverse_gradient(self.X.T @ s), float)
        if not np.all(np.isfinite(found)):
            raise FloatingPointError("grad Q = X^T s has no solution in doubles")
        return found

    def gram(self, beta: Array, s: Array) -> Array:
        """Return X K X^T, K = (Hess Q)^-1 at beta(s): how the margins change with s."""
        if self.q.separable:
            # Not 1/Q''(beta), which may have to look for s once more.
            return np.asarray((self.X * self.q.stretch(beta, self.X.T @ s)) @ self.X.T)
        return np.asarray(self.X @ np.linalg.solve(self.q.hessian(beta), self.X.T))


def read_dual(q: object, X: ArrayLike) -> Dual:
    """Read Q in numbers and rows; one Q of a single output is used for each column."""
    if not isinstance(q, NumericPotential):
        raise InputError("Q must be in numbers: give d.potential.numeric(start)")
    rows = read_array(X, "X")
    if rows.ndim != 2 or not rows.size or (q.d > 1 and rows.shape[1] != q.d):
        raise InputError(f"X must have rows of {q.d if q.d > 1 else 'some'} numbers")
    if not np.all(np.isfinite(rows)):
        raise InputError("X must be finite")
    return Dual(q.in_doubles, rows)


def read_levels(levels: ArrayLike, least: float, what: str) -> Array:
    """Read levels that increase from above *least*."""
    found = read_array(levels, what)
    if found.ndim != 1 or not found.size or not np.all(np.diff(found, prepend=least) > 0):
        raise InputError(f"{what} must increase, from above {least:g}")
    return found
