"""The largest margin in Q, at margins c, is not what a flow of ever larger scale tends to.

The flow tends to the monotone dual path, on which multipliers only rise. The largest margin in Q,
argmin Q subject to X beta >= c, has on a set S of rows

    grad Q(beta) = X_S^T s,   X_S beta = c,   s > 0,     <x_i, beta> > c on the others,

which decides, as Q is convex; beta is the only one, and with independent rows s is. So where some
s_i is smaller at one c than at an earlier one, both are not one path. Newton's steps propose beta
and s on the rows of the path in doubles, a step of Krawczyk's encloses them in balls.

Q is given in coordinates tau of its pieces: beta itself, or the z of a curve beta = h(z).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from flint import arb
from numpy.typing import ArrayLike
from sympy import Expr, Symbol

from derive.errors import NumericalError
from derive.exact.balls import precise
from derive.exact.elementary_signs import ball_of
from derive.potential.piece import Piece, written_out
from derive.records import Potential
from derive.verdict import Finding, Verdict
from numerics.evaluate.numbers import read_matrix
from numerics.evaluate.potential import NumericPotential
from numerics.margins.interval import BITS, enclose, system_of
from numerics.margins.margin_path import MarginPath, margin_path

LATER = (1 / 64, 1 / 8, 1)
"""How much later than where a row leaves its multiplier is looked at, relative."""


@dataclass(frozen=True)
class Coincidence:
    """Whether the largest margin in Q is the monotone dual path.

    Attributes:
        finding: REFUTED, or UNDECIDED up to the level that was asked for.
        levels: the margins between which a multiplier falls.
        row: whose multiplier that is, from 0.
    """

    finding: Finding
    levels: tuple[float, float] | None = None
    row: int | None = None


def path_is_margin(q: object, X: ArrayLike, level: float) -> Coincidence:
    """Refute that the monotone dual path is that of the largest margin in Q.

    Args:
        q: ``d.potential.numeric(start)``; one of a single output is used for each column of X.
        X: m rows of d numbers that carry their labels, each at its exact value.
        level: up to which rows that leave the path are looked for.

    Raises:
        InputError: Q, X or the level do not fit.
        NumericalError: Q has no formula that balls evaluate, or no path was found in doubles.
    """
    path = margin_path(q, X, [level])
    assert isinstance(q, NumericPotential)
    rows = read_matrix(X, len(path.value[0]))
    for row, left in path.left:
        begin = margin_path(q, X, [left])
        for later in LATER:
            levels = left, left * (1 + later)
            first, last = (_multipliers(q, rows, begin, c) for c in levels)
            if first and last and first[row] > last[row]:
                between = f"between the margins {levels[0]:.6g} and {levels[1]:.6g}"
                reason = f"the multiplier of row {row + 1} falls {between}, in balls"
                return Coincidence(Finding(Verdict.REFUTED, reason), levels, row)
    reason = f"no multiplier is seen to fall up to the margin {level:g}, which proves nothing"
    return Coincidence(Finding(Verdict.UNDECIDED, reason))


def _multipliers(
    q: NumericPotential, X: Sequence[Sequence[Fraction]], near: MarginPath, c: float
) -> dict[int, arb] | None:
    """Return s at the largest margin in Q, by rows, which are those near it; None: not proved."""
    (s,) = near.multiplier
    rows, coordinates = np.flatnonzero(s).tolist(), _coordinates(q, len(X[0]))
    pairs = zip(near.value[0], np.array(X, float).T @ s, strict=True)
    tau = [x.near(*pair) for x, pair in zip(coordinates, pairs, strict=True)]
    steering = [Symbol(f"s {i}") for i in rows]
    matrix, level = sympy.Matrix(X), sympy.Rational(*c.as_integer_ratio())
    margins = matrix * sympy.Matrix([x.beta for x in coordinates])
    pulled = matrix.extract(rows, range(matrix.cols)).T * sympy.Matrix(steering)
    gaps = [x.gradient - pull for x, pull in zip(coordinates, pulled, strict=True)]
    functions = [*gaps, *(margins[i] - level for i in rows)]
    unknowns = [*(x.tau for x in coordinates), *steering]
    with precise(BITS):
        found = enclose(system_of(functions, unknowns), [*tau, *s[rows]])
        if found is None:
            return None
        point, own = dict(zip(unknowns, found, strict=True)), found[len(tau) :]
        others = (u for i, u in enumerate(margins) if i not in rows)
        above = all(ball_of(u - level, point) > 0 for u in others)
        convex = all(x.has(point[x.tau]) for x in coordinates)
        if not (above and convex and all(x > 0 for x in own)):
            return None
    return dict(zip(rows, own, strict=True))


@dataclass(frozen=True)
class _Coordinate:
    """A coordinate of beta and of grad Q, in all tau; its own, and the ends of that."""

    tau: Symbol
    beta: Expr
    gradient: Expr
    ends: tuple[Expr, Expr] = (-sympy.oo, sympy.oo)

    def has(self, x: arb) -> bool:
        """Tell whether tau is where Q is convex."""
        low, high = (end.is_finite and ball_of(end, {}) for end in self.ends)
        return (low is False or x > low) and (high is False or x < high)

    def near(self, beta: float, slope: float) -> float:
        """Return tau where dQ/dbeta, which is linear along curves, has a value."""
        if self.beta == self.tau:
            return beta
        rate = self.gradient.diff(self.tau)
        return float((slope - self.gradient.subs(self.tau, 0)) / rate)


def _coordinates(q: NumericPotential, d: int) -> list[_Coordinate]:
    """Return those of all columns of X, of copies one after the other.

    Raises:
        NumericalError: Q has no formula that balls evaluate, or is not known to live everywhere.
    """
    if not isinstance(source := q.source, Potential):
        raise NumericalError("there is no formula of Q")
    start = {name: sympy.Rational(*v.as_integer_ratio()) for name, v in q.start}
    found: dict[int, _Coordinate] = {}
    for first in range(0, d, q.d):
        for block, piece in zip(source.parameterization.blocks, source.pieces, strict=True):
            own = _own(piece, start, first)
            found |= {first + i: x for i, x in zip(block, own, strict=True)}
    return [found[i] for i in range(d)]


def _own(piece: Piece, start: Mapping[str, Expr], copy: int) -> list[_Coordinate]:
    """Return the coordinates of a piece, in names of that copy."""
    if (curve := piece.time_curve) is not None:
        tau, beta, ends = (curve.parameter,), (curve.beta,), curve.interval
    else:
        tau, beta, ends = piece.betas, piece.betas, (-sympy.oo, sympy.oo)
        if piece.domain is None or piece.domain.walls:
            raise NumericalError("Q is not known to live on all of R^d")
    names = {t: Symbol(f"{t} {copy}", real=True) for t in tau}

    def numbers(f: Expr) -> Expr:
        whole = written_out(f, piece.roots, piece.constants)
        at = {s: start[s.name] for s in whole.free_symbols if s.name in start}
        return whole.xreplace({**at, **names})

    low, high, *parts = map(numbers, (*ends, *beta, *piece.gradient))
    if any(f.free_symbols - {*names.values()} or f.has(sympy.Integral) for f in parts):
        raise NumericalError("Q has no formula that balls evaluate")
    columns = names.values(), parts[: len(tau)], parts[len(tau) :]
    return [_Coordinate(*x, (low, high)) for x in zip(*columns, strict=True)]
