"""Outputs that are quadratic forms, as matrices, and the weights that meet in them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import product

from flint import fmpq, fmpq_mat

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.explicit.constrained import ConstrainedProblem


def quadratic_forms(problem: ConstrainedProblem) -> list[fmpq_mat] | None:
    """Return A_i with F_i = <w, A_i w>; None where an output is no quadratic form."""
    if any({sum(e) for e, _ in terms(f.numerator)} != {2} for f in problem.F):
        return None
    return [_matrix(f, len(problem.weights)) for f in problem.F]


def _matrix(f: RationalFunction, size: int) -> fmpq_mat:
    A, below = fmpq_mat(size, size), 2 * int(f.denominator.leading_coefficient())
    for exponents, c in terms(f.numerator):
        i, j = (k for k, e in enumerate(exponents) for _ in range(e))
        A[i, j] += fmpq(c, below)
        A[j, i] += fmpq(c, below)
    return A


def links(forms: Sequence[fmpq_mat]) -> set[tuple[int, int]]:
    """Return the pairs of weights that meet in a product."""
    places = product(range(forms[0].nrows()), repeat=2)
    return {(i, j) for i, j in places if any(A[i, j] for A in forms)}


def components(size: int, pairs: Set[tuple[int, int]]) -> list[list[int]]:
    """Return what the pairs hold together."""
    group = list(range(size))
    for i, j in pairs:
        group = [group[j] if g == group[i] else g for g in group]
    return [[k for k in range(size) if group[k] == name] for name in sorted(set(group))]


def sides(group: Sequence[int], pairs: Set[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Return the weights of a group by the parity of their distance from the first."""
    near: tuple[set[int], set[int]] = ({group[0]}, set())
    for step in range(len(group)):
        near[1 - step % 2].update(j for i, j in pairs if i in near[step % 2])
    return near
