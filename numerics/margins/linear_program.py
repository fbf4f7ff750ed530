"""Exact vertices of linear programs: found in doubles, solved and checked in rational numbers.

    min <c, v> s.t. A v >= b        max <b, y> s.t. A^T y = c, y >= 0

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
from flint import fmpz_mat
from scipy.optimize import linprog

from derive.exact.balls import as_fraction

NEAR = 1e-9
"""What is tight in doubles, relative to the largest number of its kind."""


@dataclass(frozen=True)
class LinearProgram:
    """min <c, v> subject to A v >= b, over the integers.

    Attributes:
        scales: one for each row, A and b: in doubles they are divided by that.
    """

    A: Sequence[Sequence[int]]
    b: Sequence[int]
    c: Sequence[int]
    scales: Sequence[int]


@dataclass(frozen=True)
class Optimum:
    """Both solutions, and the rows at which A v = b."""

    v: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    tight: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """A vertex as the simplex method sees it in doubles.

    Attributes:
        value: of <c, v>.
        tight: rows at which A v = b; rows: those with y_i > 0.
        idle: unit rows where v_j = 0: what the tight rows leave open the method leaves at 0.
    """

    value: float
    tight: list[int]
    rows: list[int]
    idle: list[list[int]]


def optimum(program: LinearProgram) -> Optimum | None:
    """Return an exact optimal vertex and its multipliers, or None where none was certified."""
    seen = in_doubles(program)
    return None if seen is None else certified(program, seen)


def certified(program: LinearProgram, seen: Seen) -> Optimum | None:
    """Return what was seen, exactly and with its proof, or None where it is not so."""
    A, b, c = program.A, program.b, program.c
    tight, rows, idle = seen.tight, seen.rows, seen.idle
    chosen, values = [list(A[i]) for i in tight], [b[i] for i in tight]
    v = _solved(chosen, values) or _solved(chosen + idle, values + [0] * len(idle))
    own = _solved(list(map(list, zip(*(A[i] for i in rows), strict=True))), c)
    if v is None or own is None or min(own) < 0:
        return None
    margins, q = product(fmpz_mat([list(row) for row in A]), v)
    met = [x - y * q for x, y in zip(margins, b, strict=True)]
    if min(met) < 0 or dot(c, v) != dot([b[i] for i in rows], own):
        return None
    return Optimum(tuple(v), spread(rows, own, len(b)), zeros_of(met))


def in_doubles(program: LinearProgram) -> Seen | None:
    """Return what the simplex method ends at, or None where it does not end."""
    pairs = zip(program.A, program.scales, strict=True)
    A = np.array([[x / scale for x in row] for row, scale in pairs])
    b = np.array([x / scale for x, scale in zip(program.b, program.scales, strict=True)])
    found = linprog(program.c, A_ub=-A, b_ub=-b, bounds=(None, None), method="highs-ds")
    if found.status != 0:
        return None
    slack, y = A @ found.x - b, -found.ineqlin.marginals
    near, least = (NEAR * max(1.0, float(np.max(np.abs(x)))) for x in (found.x, y))
    tight, rows, at_zero = (
        np.flatnonzero(x).tolist() for x in (slack <= near, y > least, found.x == 0)
    )
    idle = [[int(i == j) for j in range(len(program.c))] for i in at_zero]
    return Seen(float(found.fun), tight, rows, idle)


def has_positive(E: Sequence[Sequence[int]], e: Sequence[int], scale: int) -> bool | None:
    """Decide whether some y has E y = e and all y_i > 0, where some y >= 0 has E y = e.

    The largest tau <= 1 with E y = theta e, y_i >= tau and theta >= 1 is 1 or else 0. In doubles E
    is divided by *scale* = M, and y multiplied. None where no optimum was certified.
    """
    n = len(E[0])
    pairs = list(zip(E, e, strict=True))
    equal = [[s * x for x in row] + [-s * scale * x_, 0] for s in (1, -1) for row, x_ in pairs]
    above = [[int(i == j) for j in range(n)] + [0, -1] for i in range(n)]
    ends = [[0] * n + [1, 0], [0] * n + [0, -1]]
    right, scales = [0] * (len(equal) + n) + [1, -1], [scale] * len(equal) + [1] * (n + 2)
    found = optimum(LinearProgram(equal + above + ends, right, [0] * (n + 1) + [-1], scales))
    return None if found is None else found.v[-1] == 1


def is_strict(program: LinearProgram, found: Optimum) -> bool | None:
    """Decide whether some multipliers are positive on all tight rows."""
    if all(found.y[i] > 0 for i in found.tight):
        return True
    # Rows in units of their scales, so that doubles see numbers of one size.
    rows = [program.A[i] for i in found.tight]
    return has_positive(list(zip(*rows, strict=True)), program.c, max(program.scales))


def solve(A: fmpz_mat, b: Sequence[int]) -> list[Fraction] | None:
    """Return the only solution of A x = b over the rationals, or None where it is not one."""
    n = A.ncols()
    if A.nrows() == n:
        try:
            return [as_fraction(x) for x in A.solve(fmpz_mat(n, 1, list(b))).entries()]
        except ZeroDivisionError:
            return None
    whole = fmpz_mat([[*row, x] for row, x in zip(A.tolist(), b, strict=True)])
    reduced, denominator, rank = whole.rref()
    if rank != n or any(reduced[i, i] != denominator for i in range(n)):
        return None
    return [Fraction(int(reduced[i, n]), int(denominator)) for i in range(n)]


def spread(places: Sequence[int], values: Sequence[Fraction], size: int) -> tuple[Fraction, ...]:
    """Return values at their places, and 0 elsewhere."""
    of = dict(zip(places, values, strict=True))
    return tuple(of.get(i, Fraction(0)) for i in range(size))


def zeros_of(values: Sequence[int]) -> tuple[int, ...]:
    """Return the places of zeros."""
    return tuple(i for i, x in enumerate(values) if x == 0)


def _solved(rows: list[list[int]], b: Sequence[int]) -> list[Fraction] | None:
    return solve(fmpz_mat(rows), b) if rows else None


def over_one(values: Sequence[Fraction]) -> tuple[fmpz_mat, int]:
    """Return whole numbers as a column, and the denominator that they share."""
    q = math.lcm(*(x.denominator for x in values))
    return fmpz_mat(len(values), 1, [x.numerator * (q // x.denominator) for x in values]), q


def product(A: fmpz_mat, values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return A x as whole numbers over one denominator, not reduced, which would be slow."""
    column, q = over_one(values)
    return [int(x) for x in (A * column).entries()], q


def dot(a: Sequence[int | Fraction], x: Sequence[Fraction]) -> Fraction:
    """Return <a, x>."""
    return sum((i * j for i, j in zip(a, x, strict=True) if i), Fraction(0))
