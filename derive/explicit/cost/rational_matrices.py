"""Rational matrices: what FLINT leaves to its users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flint import fmpq, fmpq_mat


def identity(size: int) -> Any:
    """Return the identity."""
    return fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def trace(A: Any) -> Any:
    """Return the sum of the diagonal."""
    return sum((A[k, k] for k in range(A.nrows())), fmpq(0))


def reduced(rows: Sequence[Sequence[Any]]) -> list[tuple[int, list[Any]]]:
    """Return the rows of the reduced echelon form with the places of their pivots."""
    echelon, rank = fmpq_mat(rows).rref()
    return [(next(k for k, x in enumerate(row) if x), row) for row in echelon.tolist()[:rank]]


def nullspace(rows: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Yield a basis of the v with <row, v> = 0 for all rows."""
    found = reduced(rows)
    pivots = {pivot for pivot, _ in found}
    for free in range(len(rows[0])):
        if free not in pivots:
            vector = [fmpq(0)] * len(rows[0])
            vector[free] = fmpq(1)
            for pivot, row in found:
                vector[pivot] = -row[free]
            yield vector
