"""Interpolants of least norm, and limits of steepest descent that are or are not among them.

w minimises |w|_p subject to X w = y, 1 < p < inf, where <n, sign(w) |w|^(p-1)> = 0 for all n with
X n = 0. A limit of steepest descent that comes on a straight line does: w is a multiple of
sign(g) |g|^(q-1), g = X^T r, so that sign(w) |w|^(p-1) is one of g.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from derive.errors import InputError
from derive.exact.balls import ball
from derive.optimizers.angle import limit_by_angle
from derive.optimizers.bounded import (
    Vector,
    dot,
    fractions_of,
    null_vectors,
    rank,
    rational_matrix,
    times,
)
from derive.optimizers.norms import Norm, total

THIRDS = 100
"""Steps to where a convex function of one variable is least."""


def require_full_rank(X: Sequence[Vector]) -> None:
    """Refuse rows that are dependent."""
    if rank(X) < len(X):
        raise InputError("the rows of X are linearly dependent: leave out those that follow")


def least_l2(X: Sequence[Vector], y: Vector) -> Vector:
    """Return the w of least l2 norm with X w = y, for independent rows."""
    A = rational_matrix(X, len(X[0]))
    a = (A * A.transpose()).solve(rational_matrix([[b] for b in y], 1))
    return [row[0] for row in fractions_of(A.transpose() * a)]


def straight_step(X: Sequence[Vector], r: Vector, norm: Norm) -> Vector | None:
    """Return w(inf) - w(0) where the residual r = y - X w keeps its direction, in fractions.

    None where it turns, or where q is no whole number.
    """
    q = norm.dual.p
    if not any(r):
        return [Fraction(0)] * len(X[0])
    if q is None or q.denominator != 1:
        return None
    g = times(list(map(list, zip(*X, strict=True))), r)
    v = [x ** int(q - 1) if x > 0 or q % 2 == 0 else -((-x) ** int(q - 1)) for x in g]
    moved = times(X, v)
    share = dot(r, r) / dot(r, moved)
    turns = any(share * x != z for x, z in zip(moved, r, strict=True))
    return None if turns else [share * x for x in v]


def step_in_balls(X: Sequence[Vector], r: Vector, norm: Norm, digits: int) -> list[arb] | None:
    """Return w(inf) - w(0) in balls for one row, and for two where q is even; None elsewhere."""
    q = norm.dual.p
    assert q is not None
    if len(X) == 1:
        v = norm.dual.slope([ball(r[0] * x) for x in X[0]])
        share = ball(r[0]) / total(ball(x) * z for x, z in zip(X[0], v, strict=True))
        return [share * x for x in v]
    return limit_by_angle(X, r, int(q), digits) if len(X) == 2 and q % 2 == 0 else None


def defect(X: Sequence[Vector], w: Sequence[arb], norm: Norm) -> arb:
    """Return that <n, sign(w) |w|^(p-1)>, n of a basis, which is the largest in size."""
    slope = norm.slope(w)
    found = (total(ball(a) * b for a, b in zip(n, slope, strict=True)) for n in null_vectors(X))
    return max(found, key=lambda x: abs(float(x.mid())), default=arb(0))


def shorter(X: Sequence[Vector], y: Vector, w: Sequence[arb], norm: Norm) -> Vector | None:
    """Return an interpolant that is proved to be shorter than w, or None where none was found."""
    origin, basis = least_l2(X, y), null_vectors(X)
    free = [max(j for j, x in enumerate(n) if x) for n in basis]
    t = [Fraction(float(w[j].mid())) - origin[j] for j in free]

    def at(t: Sequence[Fraction]) -> Vector:
        return [o + dot(t, n) for o, n in zip(origin, zip(*basis, strict=True), strict=True)]

    for k in range(len(t)):
        others = [float(x) for x in at([*t[:k], Fraction(0), *t[k + 1 :]])]
        line = [(o, float(a)) for o, a in zip(others, basis[k], strict=True)]
        t[k] = _least(line, norm, float(t[k])).limit_denominator(1000)
    found = at(t)
    return found if norm.value(list(map(ball, found))) < norm.value(w) else None


def _least(line: Sequence[tuple[float, float]], norm: Norm, near: float) -> Fraction:
    """Return about the t at which |o + t a| is least, by thirds of an interval."""

    def value(t: float) -> float:
        return float(norm.value([arb(o + t * a) for o, a in line]).mid())

    reach = 1 + abs(near) + max(abs(o) for o, _ in line) / min(abs(a) for _, a in line if a)
    low, high = near - reach, near + reach
    for _ in range(THIRDS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return Fraction((low + high) / 2)
