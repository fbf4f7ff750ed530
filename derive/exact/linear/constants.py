"""Linear algebra over the field of constants Q(parameters), by comparing coefficients."""

from __future__ import annotations

from collections.abc import Sequence

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import echelon, pivot_of


def nullspace_over_constants(
    columns: Sequence[Sequence[RationalFunction]],
) -> list[tuple[RationalFunction, ...]]:
    """Return a basis of the vectors v in the parameters with sum_k v_k columns[k][e] = 0 for all e.

    The equations are compared monomial by monomial of the variables that are not parameters,
    so that the result is exact.
    """
    field = columns[0][0].field
    rows: list[list[RationalFunction]] = []
    for equation in zip(*columns, strict=True):
        rows += _coefficient_rows(equation)
    return _nullspace(rows, len(columns), field.zero, field.one)


def _coefficient_rows(equation: Sequence[RationalFunction]) -> list[list[RationalFunction]]:
    field = equation[0].field
    common = field.ring.constant(1)
    for x in equation:
        common = common * x.denominator / common.gcd(x.denominator)
    constant = [name in field.parameters for name in field.names]
    collected: dict[tuple[int, ...], list[dict[tuple[int, ...], int]]] = {}
    for k, x in enumerate(equation):
        for exponents, c in terms(x.numerator * (common / x.denominator)):
            key = tuple(0 if fixed else e for e, fixed in zip(exponents, constant, strict=True))
            rest = tuple(e if fixed else 0 for e, fixed in zip(exponents, constant, strict=True))
            row = collected.setdefault(key, [{} for _ in equation])
            row[k][rest] = row[k].get(rest, 0) + c
    one = field.ring.constant(1)
    return [
        [field.quotient(field.ring.from_dict(entry), one) for entry in row]
        for _, row in sorted(collected.items())
    ]


def _nullspace(
    rows: list[list[RationalFunction]], width: int, zero: RationalFunction, one: RationalFunction
) -> list[tuple[RationalFunction, ...]]:
    """Return the kernel by Gauss-Jordan elimination."""
    reduced = echelon(rows)
    pivots = [pivot_of(row) for row in reduced]
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        vector = [zero] * width
        vector[free] = one
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free]
        basis.append(tuple(vector))
    return basis
