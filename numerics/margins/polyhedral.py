"""The predictor of largest l1 or linf margin, and data that no predictor separates: exact programs.

For min |w| s.t. X w >= 1 a certificate is a y >= 0 with |X^T y|_* <= 1 and sum y = |w|: for every
w' with X w' >= 1, |w'| >= <X^T y, w'> >= sum y. A y >= 0 with X^T y = 0 and sum y = 1 proves that
no w has X w > 0 (Gordan). In doubles X is divided by its largest number M.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numerics.margins.linear_program import NEAR, Program, certified, in_doubles, is_strict, optimum
from numerics.margins.predictor import MaxMargin
from numerics.margins.working_rows import largest

Rows = Sequence[Sequence[int]]


def least_norm(rows: Rows, norm: str) -> MaxMargin | None:
    """Return the solution for l1 or linf, or None where none was certified.

    With v = M w: min sum t s.t. X v >= M, |v_j| <= t_j; of linf there is one t. w is the only
    solution where the program is strictly complementary at it, as some solution always is.
    """
    m, d, unit = len(rows), len(rows[0]), largest(rows)
    sizes = _unit(d) if norm == "l1" else [[1]] * d
    k = len(sizes[0])
    within = [[s * x for x in e] + t for s in (1, -1) for e, t in zip(_unit(d), sizes, strict=True)]
    A = [*([*row, *[0] * k] for row in rows), *within]
    right, scales = [unit] * m + [0] * (2 * d), [unit] * m + [1] * (2 * d)
    program = Program(A, right, [0] * d + [1] * k, scales)
    found = optimum(program)
    if found is None:
        return None
    w, tight = tuple(x / unit for x in found.v[:d]), tuple(i for i in found.tight if i < m)
    unique = is_strict(program, found)
    if unique is None:
        return None
    return MaxMargin(norm, w, found.y[:m], tight, degenerate=not unique, determined=False)


def cancelling(rows: Rows) -> tuple[Fraction, ...] | None:
    """Return y >= 0 with X^T y = 0 and sum y = 1, or None where none was found.

    They are multipliers of max tau s.t. X v >= tau, |v_j| <= 1 where that is 0. Where it is not,
    to doubles, a predictor of positive margin is the proof that there are none.
    """
    m, d, unit = len(rows), len(rows[0]), largest(rows)
    within = [[s * x for x in e] + [0] for s in (1, -1) for e in _unit(d)]
    A = [*([*row, -unit] for row in rows), *within]
    right, scales = [0] * m + [-1] * (2 * d), [unit] * m + [1] * (2 * d)
    program = Program(A, right, [0] * d + [-1], scales)
    seen = in_doubles(program)
    if seen is None or seen.value < -NEAR:
        return None
    found = certified(program, seen)
    if found is None or found.v[-1] != 0:
        return None
    return tuple(unit * y for y in found.y[:m])


def _unit(d: int) -> list[list[int]]:
    return [[int(i == j) for j in range(d)] for i in range(d)]
