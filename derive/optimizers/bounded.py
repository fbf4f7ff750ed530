"""Least squares with bounds, over the rationals: min |A v - b|^2 subject to l <= v <= u.

Stark and Parker's active sets (Computational Statistics 1995), which in exact arithmetic end: each
round lowers the objective, and the columns that are free stay independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq_mat

from derive.exact.rationals import as_fmpq, as_fraction, nullspace

Bound: TypeAlias = tuple[Fraction | None, Fraction | None]
"""The least and the largest value of a variable; None where there is none."""
Vector: TypeAlias = list[Fraction]


def rational_matrix(rows: Sequence[Sequence[Fraction]], width: int) -> fmpq_mat:
    """Return rows of that width as a matrix of FLINT; there may be none."""
    return fmpq_mat(len(rows), width, [as_fmpq(x) for r in rows for x in r])


def fractions_of(A: fmpq_mat) -> list[Vector]:
    """Return the rows of a matrix of FLINT."""
    return [[as_fraction(x) for x in row] for row in A.tolist()]


def times(rows: Sequence[Sequence[Fraction]], v: Sequence[Fraction]) -> Vector:
    """Return the product of rows and a vector."""
    return [dot(row, v) for row in rows]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return an inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def rank(vectors: Sequence[Sequence[Fraction]]) -> int:
    """Return the rank of some vectors."""
    return int(rational_matrix(vectors, len(vectors[0])).rref()[1]) if vectors else 0


def null_vectors(rows: Sequence[Vector]) -> list[Vector]:
    """Return a basis of the n with X n = 0: each has 1 at one coordinate that is free."""
    found = nullspace(rational_matrix(rows, len(rows[0])).tolist())
    return [[as_fraction(x) for x in n] for n in found]


def projected(columns: Sequence[Vector], b: Vector) -> Vector:
    """Return the coefficients of the combination of independent columns that is nearest to b."""
    if not columns:
        return []
    A = rational_matrix(columns, len(b))
    right = A * rational_matrix([[x] for x in b], 1)
    return [row[0] for row in fractions_of((A * A.transpose()).solve(right))]


def nearest_within(
    columns: Sequence[Vector], b: Vector, bounds: Sequence[Bound]
) -> tuple[Vector, bool]:
    """Return the v within bounds with A v nearest to b, and whether it is proved to be alone.

    Args:
        columns: those of A; those of variables without bounds are independent.
        b: the target.
        bounds: for each column.
    """
    if not columns:
        return [], True
    free = [j for j, bound in enumerate(bounds) if bound == (None, None)]
    v = [Fraction(0) if j in free else _finite(bounds[j]) for j in range(len(bounds))]
    while True:
        while not _moved(columns, b, bounds, v, free):
            pass
        rest = _rest(columns, b, v)
        slopes = times(columns, rest)
        waiting = (j for j in range(len(v)) if j not in free)
        inward = [j for j in waiting if _leads_inward(slopes[j], v[j], bounds[j])]
        if not inward:
            loose = [j for j, (low, top) in enumerate(bounds) if low is None or low != top]
            tight = [columns[j] for j in loose if slopes[j] == 0]
            return v, rank(tight) == len(tight)
        free.append(max(inward, key=lambda j: abs(slopes[j])))


def _finite(bound: Bound) -> Fraction:
    least, largest = bound
    return least if least is not None else largest  # type: ignore[return-value]


def _rest(columns: Sequence[Vector], b: Vector, v: Vector) -> Vector:
    return [x - dot(row, v) for x, row in zip(b, zip(*columns, strict=True), strict=True)]


def _leads_inward(slope: Fraction, value: Fraction, bound: Bound) -> bool:
    least, largest = bound
    return (slope > 0 and value != largest) or (slope < 0 and value != least)


def _moved(
    columns: Sequence[Vector], b: Vector, bounds: Sequence[Bound], v: Vector, free: list[int]
) -> bool:
    """Move the free variables to their best values; False where a bound is met on the way."""
    others = [Fraction(0) if j in free else x for j, x in enumerate(v)]
    best = projected([columns[j] for j in free], _rest(columns, b, others))
    share, met = Fraction(1), None
    for j, z in zip(free, best, strict=True):
        end = _passed(z, bounds[j])
        if end is not None and (end - v[j]) / (z - v[j]) < share:
            share, met = (end - v[j]) / (z - v[j]), j
    for j, z in zip(free, best, strict=True):
        v[j] += share * (z - v[j])
    if met is None:
        return True
    free.remove(met)
    return False


def _passed(value: Fraction, bound: Bound) -> Fraction | None:
    """Return the bound that a value is beyond."""
    least, largest = bound
    if least is not None and value < least:
        return least
    return largest if largest is not None and value > largest else None
