"""Is a solution strictly complementary: has every tight constraint a positive multiplier?

At an optimal v of min <c, v> s.t. A v >= b, v >= 0 the multipliers are the y >= 0 on tight rows
with A^T y <= c, equal where v_j > 0. In the cone over them, theta c for c with theta >= 1, the sum
of all min(y_i, 1) and min(theta c_j - (A^T y)_j, 1) over tight constraints has the number of those
that can be positive as its largest value: they can be so together. An exact optimum of that program
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz_mat

from numerics.margins.linear_program import Optimum, Program, optimum, product


def is_strict(program: Program, found: Optimum) -> bool | None:
    """Decide whether v has multipliers that are positive on all tight constraints."""
    A, v = program.A, found.v
    (values, q), (reduced, r) = product(A, v), product(A.transpose(), found.y)
    rows = [i for i, x in enumerate(values) if x == program.b[i] * q]
    idle = [j for j, x in enumerate(v) if x == 0]
    if all(found.y[i] > 0 for i in rows) and all(reduced[j] < program.c[j] * r for j in idle):
        return True
    moving = [j for j, x in enumerate(v) if x != 0]
    return all_positive(
        fmpz_mat([[A[i, j] for i in rows] for j in moving]),
        [program.c[j] for j in moving],
        fmpz_mat([[A[i, j] for i in rows] for j in idle]) if idle else None,
        [program.c[j] for j in idle],
        max(program.scales),
    )


def all_positive(
    equal: fmpz_mat, of: Sequence[int], below: fmpz_mat | None, bounds: Sequence[int], scale: int
) -> bool | None:
    """Decide whether some y has E y = e, B y <= f, and all y_i and f_j - (B y)_j positive.

    None where no optimum was certified. Unknowns are M y for M = scale, theta - 1, and the sums'
    terms s.
    """
    n, k = equal.ncols(), len(bounds)
    size = n + k
    rows: list[list[int]] = []
    right: list[int] = []
    scales: list[int] = []

    def add(y: Sequence[int], theta: int, s: int | None, b: int, unit: int) -> None:
        terms = [0] * size
        if s is not None:
            terms[s] = -unit
        rows.append([*y, theta, *terms])
        right.append(b)
        scales.append(unit)

    for row, e in zip(equal.tolist(), of, strict=True):
        for sign in (1, -1):
            add([sign * int(x) for x in row], -sign * scale * e, None, sign * scale * e, scale)
    for j, (row, f) in enumerate(zip([] if below is None else below.tolist(), bounds, strict=True)):
        add([-int(x) for x in row], scale * f, n + j, -scale * f, scale)
    for i in range(n):
        add([int(i == j) for j in range(n)], 0, i, 0, 1)
    for s in range(size):
        add([0] * n, 0, s, -1, 1)
    program = Program(fmpz_mat(rows), right, [0] * (n + 1) + [-1] * size, scales)
    found = optimum(program)
    return None if found is None else sum(found.v[n + 1 :], Fraction(0)) == size
