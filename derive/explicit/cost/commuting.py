"""Commuting linear families of symmetric matrices M with M^3 = s M, s a quadratic form.

See :mod:`derive.explicit.cost.duality` for what they are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import (
    accumulate,
    chain,
    combinations,
    combinations_with_replacement,
    pairwise,
    permutations,
    product,
)
from math import prod

from flint import fmpq, fmpq_mat, fmpq_poly

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.matrix import determinant
from derive.exact.rationals import as_fraction, combined, identity, nullspace, trace
from derive.explicit.cost.closed_cost import QuadraticForm, form_of
from derive.explicit.cost.quadratic_forms import form_matrix

MAXIMAL_SIZE = 6
"""Of the matrices M(l) whose determinant is factored."""
MAXIMAL_OUTPUTS = 9


@dataclass(frozen=True)
class Subspace:
    """Some L_a: a basis in R^d, the rows of a matrix; M of each; and s_a in this basis."""

    basis: fmpq_mat
    images: tuple[fmpq_mat, ...]
    square: fmpq_mat


def find_subspaces(
    matrices: Sequence[fmpq_mat], sizes: Sequence[int]
) -> tuple[Subspace, ...] | None:
    """Return the L_a of matrices with blocks of given sizes, by their identities; else None."""
    gram = fmpq_mat([[trace(A * B) for B in matrices] for A in matrices])
    if gram.rank() < len(matrices):
        return None
    for form in (gram, *_quadratic_factors(matrices, sizes)):
        bases = _eigenspaces(gram.inv() * form)
        parts = [_subspace(matrices, basis) for basis in bases]
        found = tuple(part for part in parts if part is not None)
        if found and len(found) == len(parts) and _commute(found):
            return found
    return None


def _quadratic_factors(matrices: Sequence[fmpq_mat], sizes: Sequence[int]) -> Iterator[fmpq_mat]:
    """Yield the quadratic factors of det M(l), block by block, as matrices."""
    if max(sizes) > MAXIMAL_SIZE or len(matrices) > MAXIMAL_OUTPUTS:
        return
    field = FunctionField(tuple(f"l{i + 1}" for i in range(len(matrices))))

    def entry(i: int, j: int) -> RationalFunction:
        used = ((x, A[i, j]) for x, A in zip(field.gens, matrices, strict=True) if A[i, j])
        return sum((x * field.constant(as_fraction(c)) for x, c in used), field.zero)

    for start, end in pairwise(accumulate(sizes, initial=0)):
        rows = tuple(tuple(entry(i, j) for j in range(start, end)) for i in range(start, end))
        for factor, _ in factorize(determinant(rows).numerator)[1]:
            if factor.total_degree() == 2:
                yield form_matrix(factor, len(matrices))


def _eigenspaces(T: fmpq_mat) -> list[fmpq_mat]:
    """Return bases of the eigenspaces; none unless these fill the space over Q."""
    size = T.nrows()
    one = identity(size)
    bases = []
    for factor, _ in fmpq_poly(T.charpoly()).factor()[1]:
        if factor.degree() > 1:
            return []
        root = -factor[0] / fmpq(factor[1])
        bases.append(fmpq_mat(list(nullspace((T - one * root).tolist()))))
    return bases if sum(basis.nrows() for basis in bases) == size else []


def _subspace(matrices: Sequence[fmpq_mat], basis: fmpq_mat) -> Subspace | None:
    """Return a subspace where M(l)^3 = s(l) M(l), by comparing the coefficients of l."""
    images = tuple(combined(matrices, row) for row in basis.tolist())
    square = images[0] * images[0]
    # M^2 is s times a projector, of which this is the rank.
    rank = trace(square) ** 2 / trace(square * square)
    s = fmpq_mat([[trace(X * Y) / rank for Y in images] for X in images])
    for chosen in combinations_with_replacement(range(len(images)), 3):
        zero = fmpq_mat(square.nrows(), square.nrows())
        cubes = sum((images[i] * images[j] * images[k] for i, j, k in permutations(chosen)), zero)
        if cubes != sum((images[k] * s[i, j] for i, j, k in permutations(chosen)), zero):
            return None
    return Subspace(basis, images, s)


def _commute(parts: Sequence[Subspace]) -> bool:
    pairs = (product(a.images, b.images) for a, b in combinations(parts, 2))
    return all(X * Y == Y * X for X, Y in chain.from_iterable(pairs))


def full_supports(parts: Sequence[Subspace]) -> list[tuple[int, ...]] | None:
    """Return the greatest S with joint eigenvectors; None unless all signs + occur there.

    The trace of prod_{a in S} M(l_a)^2 is prod s_a(l_a) times the number of joint eigenvectors,
    which is constant. Expanding prod (M(l_a)^2 + sqrt(s_a) M(l_a)), as many as one in 2^|S| of
    them have all signs + where the mixed products have trace 0.
    """
    found: list[tuple[int, ...]] = []
    for count in range(len(parts), 0, -1):
        for S in combinations(range(len(parts)), count):
            if any(set(S) <= set(other) for other in found):
                continue
            squares = [parts[a].images[0] * parts[a].images[0] for a in S]
            if not trace(prod(squares[1:], start=squares[0])):
                continue
            if not _is_balanced([parts[a] for a in S]):
                return None
            found.append(S)
    return found


def _is_balanced(parts: Sequence[Subspace]) -> bool:
    """Tell whether products of M(l_a) or M(l_a)^2, not all squares, have trace 0."""
    choices = []
    for part in parts:
        squares = [X * Y + Y * X for X, Y in combinations_with_replacement(part.images, 2)]
        choices.append([*((X, False) for X in part.images), *((X, True) for X in squares)])
    mixed = (chosen for chosen in product(*choices) if not all(square for _, square in chosen))
    return not any(trace(prod((X for X, _ in c[1:]), start=c[0][0])) for c in mixed)


def vertices(supports: Sequence[Sequence[int]], size: int) -> list[tuple[Fraction, ...]]:
    """Return the vertices of {x >= 0: sum_{a in S} x_a <= 1} that no other vertex exceeds.

    >>> vertices([(0, 1)], 2) == [(0, 1), (1, 0)], vertices([(0,), (1,)], 2) == [(1, 1)]
    (True, True)
    """
    planes = [[*(int(a in S) for a in range(size)), 1] for S in supports]
    walls = [[*(int(a == b) for a in range(size)), 0] for b in range(size)]
    found: set[tuple[Fraction, ...]] = set()
    for chosen in combinations([*planes, *walls], size):
        matrix = fmpq_mat([row[:-1] for row in chosen])
        if matrix.det():
            x = matrix.solve(fmpq_mat([row[-1:] for row in chosen])).entries()
            if min(x) >= 0 and all(sum(x[a] for a in S) <= 1 for S in supports):
                found.add(tuple(map(as_fraction, x)))
    return sorted(v for v in found if not any(_exceeds(x, v) for x in found))


def _exceeds(x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
    return x != y and all(a >= b for a, b in zip(x, y, strict=True))


def dual_norm(part: Subspace) -> QuadraticForm:
    """Return q with q(beta) = max {<l, beta>^2: l in L_a, s_a(l) = 1}."""
    Q = part.basis.transpose() * part.square.inv() * part.basis
    return form_of([[fmpq_poly([x]) for x in row] for row in Q.tolist()])
