"""Exact linear algebra over a function field, and over its constants Q(parameters)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import grouped

Matrix = tuple[tuple[RationalFunction, ...], ...]


def rank(rows: Sequence[Sequence[RationalFunction]]) -> int:
    """Return the rank of a matrix over its field."""
    return len(echelon(rows))


def spanning_rows(rows: Sequence[Sequence[RationalFunction]]) -> tuple[int, ...]:
    """Return the positions of the first rows that span all rows: the pivots of the columns."""
    return tuple(sorted(map(pivot_of, echelon([*zip(*rows, strict=True)]))))


def echelon(rows: Sequence[Sequence[RationalFunction]]) -> list[list[RationalFunction]]:
    """Return the reduced echelon form without zero rows, in the order in which they came."""
    found: list[list[RationalFunction]] = []
    for given in rows:
        row = list(given)
        for other in found:
            row = _without(row, other)
        if all(x.is_zero() for x in row):
            continue
        pivot = row[pivot_of(row)]
        row = [x / pivot for x in row]
        found = [*(_without(other, row) for other in found), row]
    return found


def _without(row: list[RationalFunction], other: list[RationalFunction]) -> list[RationalFunction]:
    """Return a row less the multiple of another, whose pivot is 1, that has its entry there."""
    factor = row[pivot_of(other)]
    if factor.is_zero():
        return row
    return [x - factor * y for x, y in zip(row, other, strict=True)]


def pivot_of(row: Sequence[RationalFunction]) -> int:
    """Return the place of the first entry that is not zero."""
    return next(k for k, x in enumerate(row) if not x.is_zero())


def determinant(matrix: Matrix) -> RationalFunction:
    """Return the determinant of a square matrix, by elimination."""
    rows = [list(row) for row in matrix]
    result = rows[0][0].field.one
    for column in range(len(rows)):
        at = next((r for r in range(column, len(rows)) if not rows[r][column].is_zero()), None)
        if at is None:
            return result.field.zero
        if at != column:
            rows[column], rows[at] = rows[at], rows[column]
            result = -result
        pivot = rows[column]
        result *= pivot[column]
        for r in range(column + 1, len(rows)):
            factor = rows[r][column] / pivot[column]
            rows[r] = [x - factor * y for x, y in zip(rows[r], pivot, strict=True)]
    return result


def inverse(matrix: Matrix) -> Matrix:
    """Return the inverse of a square matrix, exactly; ZeroDivisionError where it is singular."""
    size = len(matrix)
    field = matrix[0][0].field
    if size == 2:
        # By cofactors one element is inverted, which is dear among roots.
        (a, b), (c, d) = matrix
        inverted = 1 / (a * d - b * c)
        return (d * inverted, -b * inverted), (-c * inverted, a * inverted)
    unit = [[field.one if i == j else field.zero for j in range(size)] for i in range(size)]
    rows = echelon([[*row, *ones] for row, ones in zip(matrix, unit, strict=True)])
    if any(pivot_of(row) >= size for row in rows):
        raise ZeroDivisionError("the matrix is singular")
    return tuple(tuple(row[size:]) for row in sorted(rows, key=pivot_of))


def dot(u: Sequence[RationalFunction], v: Sequence[RationalFunction]) -> RationalFunction:
    """Return the inner product of two vectors."""
    pairs = zip(u, v, strict=True)
    products = [x * y for x, y in pairs if not (x.is_zero() or y.is_zero())]
    return reduce(add, products) if products else u[0].field.zero


def connected(size: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers below *size* in the groups that pairs hold together."""
    group = list(range(size))
    for i, j in pairs:
        group = [group[j] if g == group[i] else g for g in group]
    return [[k for k in range(size) if group[k] == name] for name in sorted({*group})]


def nullspace_over_constants(
    columns: Sequence[Sequence[RationalFunction]],
) -> list[tuple[RationalFunction, ...]]:
    """Return a basis of the constant vectors v with sum_k v_k columns[k] = 0, exactly."""
    equations = zip(*columns, strict=True)
    rows = [row for equation in equations for row in _coefficient_rows(equation)]
    return nullspace(rows, columns[0][0].field, len(columns))


def nullspace(
    rows: Sequence[Sequence[RationalFunction]], field: FunctionField, size: int
) -> list[tuple[RationalFunction, ...]]:
    """Return a basis of the vectors v of some size with <row, v> = 0 for all rows."""
    reduced = echelon(rows)
    pivots = [pivot_of(row) for row in reduced]
    basis = []
    for free in sorted({*range(size)} - {*pivots}):
        vector = [field.zero] * size
        vector[free] = field.one
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free]
        basis.append(tuple(vector))
    return basis


def _coefficient_rows(equation: Sequence[RationalFunction]) -> list[list[RationalFunction]]:
    field = equation[0].field
    common = field.ring.constant(1)
    for x in equation:
        common = common * x.denominator / common.gcd(x.denominator)
    moving = [k for k, name in enumerate(field.names) if name not in field.constants]
    collected: dict[tuple[int, ...], list[RationalFunction]] = {}
    for k, x in enumerate(equation):
        for key, c in grouped(x.numerator * (common / x.denominator), moving).items():
            row = collected.setdefault(key, [field.zero] * len(equation))
            row[k] = field.polynomial(c)
    return [row for _, row in sorted(collected.items())]
