"""Exact vertices of linear programs: found in doubles, solved and checked in rational numbers.

    min <c, v> s.t. A v >= b, v >= 0        max <b, y> s.t. A^T y <= c, y >= 0

A vertex is the only solution of the constraints that are tight there. Which ones are is read off
the simplex method's doubles; the linear systems are then solved over the rationals, and v and y are
accepted where they are feasible and <c, v> = <b, y>, which proves that both are optimal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpz_mat
from scipy.optimize import linprog

from numerics.evaluate.backend import Array

NEAR = 1e-9
"""What is tight in doubles, relative to the largest number of its kind."""


@dataclass(frozen=True)
class Program:
    """min <c, v> subject to A v >= b and v >= 0, over the integers.

    Attributes:
        scales: one for each row, A and b: in doubles they are divided by that.
    """

    A: fmpz_mat
    b: Sequence[int]
    c: Sequence[int]
    scales: Sequence[int]

    def doubles(self) -> tuple[Array, Array]:
        """Return A and b, each row over its scale."""
        rows = zip(self.A.tolist(), self.scales, strict=True)
        A = np.array([[int(x) / scale for x in row] for row, scale in rows])
        return A, np.array([b / scale for b, scale in zip(self.b, self.scales, strict=True)])


@dataclass(frozen=True)
class Optimum:
    """Both solutions."""

    v: tuple[Fraction, ...]
    y: tuple[Fraction, ...]


def optimum(program: Program) -> Optimum | None:
    """Return an exact optimal vertex and its multipliers, or None where none was certified."""
    tight = _tight(program)
    if tight is None:
        return None
    v, y = _primal(program, *tight[:2]), _dual(program, *tight[2:])
    if v is None or y is None or not (_feasible(program, v) and _dual_feasible(program, y)):
        return None
    equal = dot(program.c, v) == dot(program.b, y)
    return Optimum(v, y) if equal else None


def feasible_vertex(program: Program) -> tuple[Fraction, ...] | None:
    """Return an exact vertex that the simplex method ends at, feasible, optimal or not."""
    tight = _tight(program)
    v = None if tight is None else _primal(program, *tight[:2])
    return v if v is not None and _feasible(program, v) else None


def _tight(program: Program) -> tuple[list[int], list[int], list[int], list[int]] | None:
    """Return rows that are tight, v_j > 0; y_i > 0 and dual constraints that are tight."""
    (A, b), c = program.doubles(), np.array(program.c, float)
    found = linprog(c, A_ub=-A, b_ub=-b, bounds=(0, None), method="highs-ds")
    if found.status != 0:
        return None
    v, y = found.x, -found.ineqlin.marginals
    near_v, near_y = (NEAR * max(1.0, float(np.max(np.abs(x), initial=0))) for x in (v, y))
    slack, reduced = A @ v - b, c - A.T @ y
    chosen = (slack <= near_v, v > near_v, y > near_y, reduced <= near_y)
    rows, columns, multipliers, duals = ([int(i) for i in np.flatnonzero(x)] for x in chosen)
    return rows, columns, multipliers, duals


def _primal(p: Program, rows: list[int], columns: list[int]) -> tuple[Fraction, ...] | None:
    A = fmpz_mat([[p.A[i, j] for j in columns] for i in rows]) if columns and rows else None
    return _placed(A, [p.b[i] for i in rows], columns, p.A.ncols())


def _dual(p: Program, rows: list[int], columns: list[int]) -> tuple[Fraction, ...] | None:
    A = fmpz_mat([[p.A[i, j] for i in rows] for j in columns]) if columns and rows else None
    return _placed(A, [p.c[j] for j in columns], rows, p.A.nrows())


def _placed(
    A: fmpz_mat | None, b: Sequence[int], places: list[int], size: int
) -> tuple[Fraction, ...] | None:
    solved = None if A is None else solve(A, b)
    if solved is None:
        return None
    whole = [Fraction(0)] * size
    for place, x in zip(places, solved, strict=True):
        whole[place] = x
    return tuple(whole)


def solve(A: fmpz_mat, b: Sequence[int]) -> list[Fraction] | None:
    """Return the only solution of A x = b over the rationals, or None where it is not one."""
    n = A.ncols()
    right = fmpz_mat(len(b), 1, list(b))
    if A.nrows() == n:
        try:
            return _fractions(A.solve(right))
        except ZeroDivisionError:
            return None
    whole = fmpz_mat([[*row, x] for row, x in zip(A.tolist(), b, strict=True)])
    reduced, denominator, rank = whole.rref()
    if rank != n or any(reduced[i, i] != denominator for i in range(n)):
        return None
    return [Fraction(int(reduced[i, n]), int(denominator)) for i in range(n)]


def _fractions(column: object) -> list[Fraction]:
    return [as_fraction(x) for x in column.entries()]  # type: ignore[attr-defined]


def as_fraction(x: fmpq) -> Fraction:
    """Return a rational number of FLINT as one of Python."""
    return Fraction(int(x.p), int(x.q))


def over_one(values: Sequence[Fraction]) -> tuple[fmpz_mat, int]:
    """Return whole numbers as a column, and the denominator that they share."""
    q = math.lcm(*(x.denominator for x in values))
    return fmpz_mat(len(values), 1, [x.numerator * (q // x.denominator) for x in values]), q


def product(A: fmpz_mat, values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return A x as whole numbers over one denominator, not reduced, which would be slow."""
    column, q = over_one(values)
    return [int(x) for x in (A * column).entries()], q


def _feasible(p: Program, v: Sequence[Fraction]) -> bool:
    rows, q = product(p.A, v)
    return min(v) >= 0 and all(x >= b * q for x, b in zip(rows, p.b, strict=True))


def _dual_feasible(p: Program, y: Sequence[Fraction]) -> bool:
    columns, q = product(p.A.transpose(), y)
    return min(y) >= 0 and all(x <= c * q for x, c in zip(columns, p.c, strict=True))


def dot(a: Sequence[int], x: Sequence[Fraction]) -> Fraction:
    """Return <a, x>."""
    return sum((i * j for i, j in zip(a, x, strict=True) if i), Fraction(0))
