"""Linear measurements <A_i, beta> = tr(A_i beta) of a symmetric matrix, held exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.numbers import read_vector
from numerics.reals import Real, rational

Rows = tuple[tuple[Fraction, ...], ...]


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
        """Take m symmetric matrices and m numbers, of any library or as text, at exact value.

        Raises:
            InputError: a shape or a number is wrong, or a matrix is not symmetric.
        """
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
        terms = zip(s, self.matrices, strict=True)
        return sum((x * _matrix(rows) for x, rows in terms), mpmath.zeros(self.size))

    def array(self) -> Array:
        """Return the matrices in doubles, (m, n, n)."""
        return np.array([[[float(x) for x in row] for row in rows] for rows in self.matrices])

    def values(self) -> Array:
        """Return y in doubles, (m,)."""
        return np.array([float(x) for x in self.target])


def read_square(rows: object, name: str) -> Rows:
    """Return the exact entries of a square matrix; InputError for anything else."""
    matrix = read_rows(rows, name)
    if len(matrix) != len(matrix[0]):
        raise InputError(f"{name} must be square, not {len(matrix)} by {len(matrix[0])}")
    return matrix


def read_rows(rows: object, name: str) -> Rows:
    """Return the exact entries of a matrix; InputError for anything else."""
    given = rows.tolist() if hasattr(rows, "tolist") else rows
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a matrix: a sequence of rows")
    matrix = tuple(tuple(read_vector(r, f"row {i} of {name}")) for i, r in enumerate(given, 1))
    if len({len(row) for row in matrix}) != 1:
        raise InputError(f"{name} must have rows of one length, and at least one")
    return matrix


def _matrix(rows: Rows) -> Real:
    """Return an mpmath matrix, rounded to the working precision."""
    return mpmath.matrix([[rational(x) for x in row] for row in rows])


def _commute(a: Rows, b: Rows) -> bool:
    # A B is symmetric, for symmetric A and B, exactly where they commute.
    columns = tuple(zip(*b, strict=True))
    product = [[sum(map(Fraction.__mul__, r, c)) for c in columns] for r in a]
    return all(product[i][j] == product[j][i] for i in range(len(a)) for j in range(i))
