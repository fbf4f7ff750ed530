"""Values that quadratic outputs never take, by a hyperplane between them and beta.

With F_i = <w, A_i w> and M(l) = sum_i l_i A_i, <l, F(w)> = <w, M(l) w>. Some l with

    M(l) negative semidefinite and <l, beta> > 0

therefore proves that no w has F(w) = beta. It is proposed as beta - (<A_i, X>)_i, where X is the
positive semidefinite matrix for which that is shortest, found in floating point; rounded, it is
checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from derive.explicit.cost.feasible import Array
from derive.explicit.cost.rationals import as_fmpq, as_fraction, combined

STEPS = 400
DENOMINATORS = (1, 6, 60, 2**10, 2**40)
SHIFTS = tuple(2.0**-k for k in range(2, 30, 3))
"""Towards l with M(l) negative definite, which leave room for rounding."""


def is_out_of_reach(forms: Sequence[fmpq_mat], beta: Sequence[Fraction]) -> bool:
    """Tell whether a hyperplane proves that no w has F(w) = beta; False means that none was found.

    >>> squares = [fmpq_mat([[1, 0], [0, 0]]), fmpq_mat([[0, 0], [0, 1]])]
    >>> is_out_of_reach(squares, [Fraction(-1), Fraction(2)])
    True
    >>> is_out_of_reach(squares, [Fraction(1), Fraction(2)])
    False
    """
    return any(_separates(forms, beta, normal) for normal in _proposals(forms, beta))


def _separates(
    forms: Sequence[fmpq_mat], beta: Sequence[Fraction], normal: Sequence[Fraction]
) -> bool:
    if sum((x * b for x, b in zip(normal, beta, strict=True)), Fraction(0)) <= 0:
        return False
    image = combined(forms, [as_fmpq(x) for x in normal])
    # All roots of det(t - M) are real: none is positive where no coefficient is negative.
    return all(c >= fmpq(0) for c in fmpq_poly(image.charpoly()).coeffs())


def _proposals(forms: Sequence[fmpq_mat], beta: Sequence[Fraction]) -> Iterator[list[Fraction]]:
    size = forms[0].nrows()
    A = np.array([[float(as_fraction(x)) for x in B.entries()] for B in forms])
    greatest = max(abs(b) for b in beta) or Fraction(1)
    normal = _residual(A, np.array([float(b / greatest) for b in beta]), size)
    longest = float(np.abs(normal).max())
    if not longest > 0:
        return
    normal = normal / longest
    yield from (_rounded(normal, n) for n in DENOMINATORS)
    inward = -np.linalg.lstsq(A @ A.T, A @ np.eye(size).ravel(), rcond=None)[0]
    yield from (_rounded(normal + shift * inward, DENOMINATORS[-1]) for shift in SHIFTS)


def _residual(A: Array, goal: Array, size: int) -> Array:
    """Return goal - A X for the X >= 0 for which it is shortest, by accelerated projections."""
    step = 1 / float(np.linalg.eigvalsh(A @ A.T)[-1])
    X = ahead = np.zeros((size, size))
    inertia = 1.0
    for _ in range(STEPS):
        moved = ahead + step * (A.T @ (goal - A @ ahead.ravel())).reshape(size, size)
        values, vectors = np.linalg.eigh(moved)
        new = (vectors * np.maximum(values, 0)) @ vectors.T
        later = (1 + (1 + 4 * inertia**2) ** 0.5) / 2
        ahead = new + (inertia - 1) / later * (new - X)
        X, inertia = new, later
    return goal - A @ X.ravel()


def _rounded(values: Array, denominator: int) -> list[Fraction]:
    return [Fraction(round(float(x) * denominator), denominator) for x in values]
