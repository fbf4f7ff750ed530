"""Linear programs in fractions, by the simplex method with Bland's rule."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Vector = list[Fraction]


def largest(
    cost: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], sides: Sequence[Fraction]
) -> Vector | None:
    """Return a vertex x >= 0 of largest cost.x with rows x = sides, or None where there is no x.

    >>> largest([Fraction(1), Fraction(2)], [[Fraction(1), Fraction(1)]], [Fraction(1)])
    [Fraction(0, 1), Fraction(1, 1)]

    Args:
        cost: bounded from above on the x that there are.
        rows, sides: equations, with sides >= 0.
    """
    m, n, none = len(rows), len(cost), Fraction(0)
    unit = [[Fraction(i == j) for j in range(m)] for i in range(m)]
    table = [[*row, *e, side] for row, e, side in zip(rows, unit, sides, strict=True)]
    basis = [*range(n, n + m)]
    # One slack an equation, each of which costs more than all the rest.
    prices = [none] * n + [Fraction(-1)] * m, [*cost, *[none] * m]
    while (j := next((j for j in range(n) if _gains(prices, basis, table, j)), None)) is not None:
        _, _, i = min((r[-1] / r[j], basis[i], i) for i, r in enumerate(table) if r[j] > 0)
        pivot = [x / table[i][j] for x in table[i]]
        table = [[x - r[j] * y for x, y in zip(r, pivot, strict=True)] for r in table]
        table[i], basis[i] = pivot, j
    found = {k: row[-1] for k, row in zip(basis, table, strict=True)}
    if any(k >= n and x > 0 for k, x in found.items()):
        return None
    return [found.get(k, none) for k in range(n)]


def _gains(prices: Sequence[Vector], basis: Sequence[int], table: Sequence[Vector], j: int) -> bool:
    """Tell whether the cost grows with variable j, slacks first."""
    pairs = [*zip(basis, table, strict=True)]
    gain = [c[j] - sum((c[k] * row[j] for k, row in pairs), Fraction(0)) for c in prices]
    return gain > [Fraction(0)] * 2
