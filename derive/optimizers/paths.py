"""Paths of small steps that are piecewise linear, in rational numbers.

With the residual r = y - X w and c = X^T r, steepest descent in a norm moves w along a v of norm 1
with <v, c> = |c|_*, so r follows the gradient flow of the convex function |X^T r|_*: that path is
unique, and where the dual norm is a maximum of linear functions it is piecewise linear. On a piece

* l1 (coordinate descent): v lives on the coordinates with |c_j| = |c|_inf =: level, with the signs
  of c, and X v is the point nearest to r/level in the cone of these columns; the level falls at
  rate 1;
* linf (descent along signs): v_j = sign c_j, and where c_j = 0 any number in [-1, 1]; X v is the
  point nearest to 0;
* the lasso: as for l1, but coordinates that are not 0 may move either way.

Coordinates that tie at a breakpoint share the move. Where columns between others are left aside
and still several v give one X v, small steps depend on how ties are broken.

Source: derived; the first and the last are forward stagewise and the lasso of Efron, Hastie,
Johnstone, Tibshirani 2004, "Least angle regression".

Least squares with bounds, over the rationals: min |A v - b|^2 subject to l <= v <= u.

Stark and Parker's active sets (Computational Statistics 1995), which in exact arithmetic end: each
round lowers the objective, and the columns that are free stay independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from flint import fmpq_mat

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq, as_fraction, nullspace

PIECES = 10_000
"""Pieces after which a path is given up."""
Bound: TypeAlias = tuple[Fraction | None, Fraction | None]
"""The least and the largest value of a variable; None where there is none."""
Vector: TypeAlias = list[Fraction]
Rows = Sequence[Vector]


@dataclass(frozen=True)
class Path:
    """A piecewise linear path of w.

    Attributes:
        breakpoints: w where its direction changes, from the start to the limit, each of d numbers.
        levels: the dual norm of X^T (y - X w) there; the last is 0.
        direction: of r on the last piece, negative: for the lasso it certifies the least l1 norm.
    """

    breakpoints: tuple[tuple[Fraction, ...], ...]
    levels: tuple[Fraction, ...]
    direction: tuple[Fraction, ...]

    @property
    def limit(self) -> tuple[Fraction, ...]:
        """Where the path ends: X w is as near to y as it can be."""
        return self.breakpoints[-1]


@dataclass(frozen=True)
class Rule:
    """What a path does at w, from c = X^T r.

    Attributes:
        level: the dual norm.
        bounds: for each coordinate those of v; (0, 0) where it rests.
        target: X v is as near as it can be to r/level times this.
        events: the times, in the unit of v, at which some bound changes.
    """

    level: Callable[[Vector], Fraction]
    bounds: Callable[[Vector, Vector], list[Bound]]
    target: int
    events: Callable[[Vector, Vector, Vector, Vector], Iterator[Fraction]]


_ZERO, _ONE = Fraction(0), Fraction(1)
_REST: Bound = (_ZERO, _ZERO)
_RIGHT: Bound = (_ZERO, None)
_LEFT: Bound = (None, _ZERO)
_ANY: Bound = (None, None)


def _largest(c: Vector) -> Fraction:
    return max(map(abs, c))


def _along_largest(w: Vector, c: Vector) -> list[Bound]:
    level = _largest(c)
    return [_REST if abs(x) < level else _RIGHT if x > 0 else _LEFT for x in c]


def _catching_up(w: Vector, c: Vector, dw: Vector, dc: Vector) -> Iterator[Fraction]:
    """Yield when a |c_j| meets the level, which falls at rate 1, and when the level is 0."""
    level = _largest(c)
    yield level
    for x, slope in zip(c, dc, strict=True):
        for sign in (1, -1):
            if sign * slope != -1:
                yield (level - sign * x) / (1 + sign * slope)


def _vanishing(x: Vector, dx: Vector) -> Iterator[Fraction]:
    return (-value / slope for value, slope in zip(x, dx, strict=True) if slope)


RULES = {
    "l1": Rule(_largest, _along_largest, 1, _catching_up),
    "linf": Rule(
        lambda c: sum(map(abs, c), _ZERO),
        lambda w, c: [(_ONE if x > 0 else -_ONE, -_ONE if x < 0 else _ONE) for x in c],
        0,
        lambda w, c, dw, dc: _vanishing(c, dc),
    ),
    "lasso": Rule(
        _largest,
        lambda w, c: [_ANY if x else at for x, at in zip(w, _along_largest(w, c), strict=True)],
        1,
        lambda w, c, dw, dc: chain(_catching_up(w, c, dw, dc), _vanishing(w, dw)),
    ),
}
"""The rules by name: of the norm in which descent is steepest, and of the lasso."""


def path(rule: str, X: Rows, y: Vector, start: Vector) -> Path:
    """Follow a path from *start* until X^T (y - X w) = 0.

    >>> half, X = Fraction(1, 2), [[Fraction(1), Fraction(2)]]
    >>> [str(x) for x in path("l1", X, [Fraction(1)], [Fraction(0)] * 2).limit]
    ['0', '1/2']

    Raises:
        InputError: tied coordinates may share a step in several ways.
        NumericalError: the path has too many pieces.
    """
    rules, columns = RULES[rule], [list(column) for column in zip(*X, strict=True)]
    w, points, levels, move = list(start), [tuple(start)], [], [Fraction(0)] * len(y)
    for _ in range(PIECES):
        r = [a - b for a, b in zip(y, times(X, w), strict=True)]
        c = times(columns, r)
        levels.append(rules.level(c))
        if not any(c):
            return Path(tuple(points), tuple(levels), tuple(move))
        v = _direction(rules, columns, (w, c, r))
        move = times(X, v)
        dc = [-x for x in times(columns, move)]
        h = min(t for t in rules.events(w, c, v, dc) if t > 0)
        w = [x + h * slope for x, slope in zip(w, v, strict=True)]
        points.append(tuple(w))
    raise NumericalError(f"the path has more than {PIECES} pieces")


def _direction(rule: Rule, columns: Rows, state: tuple[Vector, Vector, Vector]) -> Vector:
    w, c, r = state
    bounds = rule.bounds(w, c)
    moving = [j for j, bound in enumerate(bounds) if bound != _REST and any(columns[j])]
    scale = rule.target / rule.level(c)
    for chosen in (moving, _extreme(columns, bounds, moving)):
        found, unique = nearest_within(
            [columns[j] for j in chosen], [scale * x for x in r], [bounds[j] for j in chosen]
        )
        if unique:
            v = dict(zip(chosen, found, strict=True))
            return [v.get(j, _ZERO) for j in range(len(bounds))]
    tied = ", ".join(str(j + 1) for j in moving)
    raise InputError(
        f"coordinates {tied} tie, and their columns are dependent: small steps may share the "
        "move in several ways; change the data or the start"
    )


def _extreme(columns: Rows, bounds: Sequence[Bound], moving: Sequence[int]) -> list[int]:
    """Return the moving coordinates but those whose columns are between others, with their signs.

    The slope of such a one is between those of the others: it is never alone the largest.
    """
    signed = {j: [x if bounds[j] == _RIGHT else -x for x in columns[j]] for j in moving}
    if any(bounds[j] not in (_RIGHT, _LEFT) for j in moving):
        return list(moving)
    found = []
    for j, column in signed.items():
        others = [other for other in signed.values() if other != column]
        share, _ = nearest_within(others, column, [_RIGHT] * len(others))
        if not others or times(list(map(list, zip(*others, strict=True))), share) != column:
            found.append(j)
    return found


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
    finite = [least if least is not None else largest for least, largest in bounds]
    v = [x or Fraction(0) for x in finite]
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


def _leads_inward(slope: Fraction, value: Fraction, bound: Bound) -> bool:
    least, largest = bound
    return (slope > 0 and value != largest) or (slope < 0 and value != least)


def _rest(columns: Sequence[Vector], b: Vector, v: Vector) -> Vector:
    return [x - dot(row, v) for x, row in zip(b, zip(*columns, strict=True), strict=True)]


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
