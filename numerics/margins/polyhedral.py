"""The predictor of largest l1 or linf margin, and data that no predictor separates: exact programs.

For min |w| s.t. X w >= 1 a certificate is a y >= 0 with |X^T y|_* <= 1 and sum y = |w|: for every
w' with X w' >= 1, |w'| >= <X^T y, w'> >= sum y. A y >= 0 with X^T y = 0 and sum y = 1 proves that
no w has X w > 0 (Gordan). In doubles X is divided by its largest number M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz_mat

from numerics.margins.complementarity import is_strict
from numerics.margins.linear_program import Optimum, Program, feasible_vertex, optimum, product


@dataclass(frozen=True)
class Polyhedral:
    """w, y, rows of margin 1, and whether w is the only solution.

    That is so where the program is strictly complementary at it, as some solution always is.
    """

    w: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    tight: tuple[int, ...]
    unique: bool | None


def least_l1(rows: Sequence[Sequence[int]]) -> Polyhedral | None:
    """Return the solution for |w|_1, M w = v_+ - v_-, or None where none was certified."""
    m, d, unit = _sizes(rows)
    A = fmpz_mat([[*row, *(-x for x in row)] for row in rows])
    program = Program(A, [unit] * m, [1] * (2 * d), [unit] * m)
    found = optimum(program)
    if found is None:
        return None
    w = tuple((a - b) / unit for a, b in zip(found.v[:d], found.v[d:], strict=True))
    return _concluded(program, found, w, m)


def least_linf(rows: Sequence[Sequence[int]]) -> Polyhedral | None:
    """Return the solution for max |w_j|, M w = tau - v with 0 <= v_j <= 2 tau."""
    m, d, unit = _sizes(rows)
    above = [[*(-x for x in row), sum(row)] for row in rows]
    within = [[*(-int(i == j) for j in range(d)), 2] for i in range(d)]
    scales = [unit] * m + [1] * d
    program = Program(fmpz_mat(above + within), [unit] * m + [0] * d, [0] * d + [1], scales)
    found = optimum(program)
    if found is None:
        return None
    w = tuple((found.v[d] - x) / unit for x in found.v[:d])
    return _concluded(program, found, w, m)


def _concluded(program: Program, found: Optimum, w: tuple[Fraction, ...], m: int) -> Polyhedral:
    margins, q = product(program.A, found.v)
    tight = tuple(i for i in range(m) if margins[i] == program.b[i] * q)
    return Polyhedral(w, found.y[:m], tight, is_strict(program, found))


def cancelling(rows: Sequence[Sequence[int]]) -> tuple[Fraction, ...] | None:
    """Return y >= 0 with X^T y = 0 and sum y = 1, or None where none was found."""
    m, d, unit = _sizes(rows)
    columns = [list(column) for column in zip(*rows, strict=True)]
    A = fmpz_mat([*columns, *([-x for x in c] for c in columns), [1] * m])
    scales = [unit] * (2 * d) + [1]
    found = feasible_vertex(Program(A, [0] * (2 * d) + [1], [1] * m, scales))
    total = sum(found or (), Fraction(0))
    return None if found is None else tuple(x / total for x in found)


def _sizes(rows: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    return len(rows), len(rows[0]), max(1, *(abs(x) for row in rows for x in row))
