"""Linear measurements <A_i, W W^T>, and their gradient flow at high precision, by reverse mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, pairwise

import mpmath
import numpy as np

from derive.errors import InputError
from numerics.evaluate.numbers import Array, Real, check_digits, rational, read_matrix, read_vector
from numerics.integrator.builder import Builder, Tape
from numerics.integrator.taylor import integrate

Rows = tuple[tuple[Fraction, ...], ...]
GUARD = 6
"""Digits that a path is run to beyond those asked for."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """Symmetric matrices A_1 .. A_m (n, n), exact, and the numbers y_i (m) that they should give.

    >>> Measurements.read([[[1, 0], [0, 2]], [[0, 1], [1, 0]]], [1, 0]).noncommuting
    (0, 1)
    """

    matrices: tuple[Rows, ...]
    target: tuple[Fraction, ...]

    @classmethod
    def read(cls, matrices: Iterable[object], target: Iterable[object]) -> Measurements:
        """Take m symmetric matrices and m numbers, of any library or as text; else InputError."""
        try:
            given = list(matrices)
        except TypeError:
            raise InputError("the measurements must be a sequence of matrices") from None
        read = tuple(read_square(rows, f"A_{i}") for i, rows in enumerate(given, 1))
        y = tuple(read_vector(target, "y"))
        if len(read) != len(y):
            raise InputError(f"there are {len(read)} measurements but y has {len(y)} numbers")
        for i, rows in enumerate(read, 1):
            if len(rows) != len(read[0]):
                raise InputError(f"A_{i} has {len(rows)} rows but A_1 has {len(read[0])}")
            if rows != tuple(zip(*rows, strict=True)):
                raise InputError(f"A_{i} is not symmetric; give (A + A^T)/2, which measures alike")
        return cls(read, y)

    @property
    def size(self) -> int:
        """The number n of rows of each matrix."""
        return len(self.matrices[0])

    @property
    def noncommuting(self) -> tuple[int, int] | None:
        """The first two places, from 0, of matrices with A B != B A, decided exactly; else None."""
        pairs = combinations(range(len(self.matrices)), 2)
        return next((p for p in pairs if not _commute(*(self.matrices[i] for i in p))), None)

    def adjoint(self, s: Sequence[Real]) -> Real:
        """Return ``X*(s) = sum_i s_i A_i``, an mpmath matrix in the working precision."""
        total = mpmath.zeros(self.size)
        for x, rows in zip(s, self.matrices, strict=True):
            total += x * mpmath.matrix([[rational(a) for a in row] for row in rows])
        return total

    def array(self) -> Array:
        """Return the matrices in doubles, (m, n, n)."""
        return np.array([[[float(x) for x in row] for row in rows] for rows in self.matrices])

    def values(self) -> Array:
        """Return y in doubles, (m,)."""
        return np.array([float(x) for x in self.target])


@dataclass(frozen=True, slots=True, eq=False)
class MatrixState:
    """A point of the flow, in mpmath matrices and numbers.

    Attributes:
        weights: W (n, k).
        integral: ``s_i = -2 int_0^t r_i`` (m), the dual time that the formulas run in.
        misfit: ``r_i = <A_i, beta> - y_i`` (m).
    """

    time: Real
    weights: Real
    integral: tuple[Real, ...]
    misfit: tuple[Real, ...]

    @property
    def beta(self) -> Real:
        """The predictor ``W W^T`` (n, n), in the working precision."""
        return self.weights * self.weights.T


def matrix_flow(
    measurements: Measurements, start: Iterable[object], times: Iterable[object], digits: int = 30
) -> tuple[MatrixState, ...]:
    """Run gradient flow of ``|r|^2/2``, ``r_i = <A_i, W W^T> - y_i``, to each of the times.

    ``W' = -grad_W |r|^2/2 = -2 X*(r) W`` with ``X*(r) = sum_i r_i A_i``; the last form is not used.

    Args:
        measurements, start: A_1 .. A_m and y; W(0), n rows of k numbers.
        times: increasing, >= 0.
        digits: decimal digits of the weights, which carry guard digits besides.

    Raises:
        InputError: a number or a shape is wrong.
        NumericalError: the flow is too slow.

    Source: Gunasekar et al. 2017, up to the scale of time.

    >>> data = Measurements.read([[[1, 0], [0, 1]]], [2])
    >>> (end,) = matrix_flow(data, [[1, 0], [0, "1/2"]], [20], digits=20)
    >>> mpmath.nstr(end.beta[0, 0] + end.beta[1, 1], 12)
    '2.0'
    """
    rows, n = read_matrix(start, None, "the start W(0)"), measurements.size
    if len(rows) != n:
        raise InputError(f"the start W(0) has {len(rows)} rows but the measurements have {n}")
    instants = read_vector(times, "times")
    if instants[0] < 0 or any(a >= b for a, b in pairwise(instants)):
        raise InputError("times must be at least 0 and increase")
    check_digits(digits)
    field = _field(measurements, len(rows[0]))
    state: Sequence[Real] = [*chain(*rows), *[Fraction(0)] * len(measurements.target)]
    found = []
    for before, time in pairwise([Fraction(0), *instants]):
        state = integrate(field, state, digits + GUARD, time=time - before).state
        found.append(_state(measurements, len(rows[0]), time, state, digits))
    return tuple(found)


def _field(measurements: Measurements, k: int) -> Tape:
    """Return the tape of W' and of s' = -2 r, in n k + m registers."""
    n, m = measurements.size, len(measurements.target)
    weights = [f"w {i} {j}" for i in range(n) for j in range(k)]
    builder = Builder((*weights, *(f"s {i}" for i in range(m))))
    w = [[builder.input(f"w {i} {j}") for j in range(k)] for i in range(n)]
    beta = [builder.dot(a, b) for a in w for b in w]
    pairs = zip(measurements.matrices, measurements.target, strict=True)
    misfits = [builder.linear(zip(beta, chain(*a), strict=True), -y) for a, y in pairs]
    falling = [builder.linear([(r, Fraction(-1))]) for r in misfits]
    moves = builder.reverse(misfits, falling)[: len(weights)]
    return builder.tape([*moves, *(builder.linear([(r, Fraction(-2))]) for r in misfits)])


def _state(
    measurements: Measurements, k: int, time: Fraction, state: Sequence[Real], digits: int
) -> MatrixState:
    n = measurements.size
    with mpmath.workdps(digits + GUARD):
        weights = mpmath.matrix([list(state[i * k : (i + 1) * k]) for i in range(n)])
        beta = weights * weights.T

        def misfit(a: Rows, y: Fraction) -> Real:
            entries = zip(beta, chain(*a), strict=True)
            return mpmath.fsum(b * x.numerator / x.denominator for b, x in entries) - rational(y)

        misfits = tuple(map(misfit, measurements.matrices, measurements.target))
        return MatrixState(rational(time), weights, tuple(state[n * k :]), misfits)


def read_square(rows: object, name: str) -> Rows:
    """Return the exact entries of a square matrix; InputError for anything else."""
    matrix = read_matrix(rows, None, name)
    if len(matrix) != len(matrix[0]):
        raise InputError(f"{name} must be square, not {len(matrix)} by {len(matrix[0])}")
    return tuple(map(tuple, matrix))


def _commute(a: Rows, b: Rows) -> bool:
    # A B is symmetric, for symmetric A and B, exactly where they commute.
    columns = tuple(zip(*b, strict=True))
    product = [[sum(map(Fraction.__mul__, r, c)) for c in columns] for r in a]
    return all(product[i][j] == product[j][i] for i in range(len(a)) for j in range(i))
