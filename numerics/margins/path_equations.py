"""grad Q(beta) = X_S^T s and X_S beta = c on a set S of rows, in balls.

Q is given in coordinates tau of its pieces: beta itself, or the z of a curve beta = h(z).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Expr, Symbol

from derive.errors import NumericalError
from derive.exact.balls import ball
from derive.exact.elementary_signs import ball_of
from derive.potential.piece import Piece, written_out
from derive.records import Potential
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.start import start_point
from numerics.margins.linear_program import dot


@dataclass(frozen=True)
class _Chart:
    """Coordinates tau of a block, in an interval, and its betas and grad Q in them."""

    tau: tuple[Symbol, ...]
    beta: tuple[Expr, ...]
    gradient: tuple[Expr, ...]
    interval: tuple[Expr, Expr] = (-sympy.oo, sympy.oo)

    def has(self, x: Sequence[arb]) -> bool:
        """Tell whether tau is in its interval, where Q is convex."""
        low, high = ((end.is_finite and ball_of(end, {})) for end in self.interval)
        return all((low is False or t > low) and (high is False or t < high) for t in x)

    def at(self, x: Sequence[arb]) -> tuple[list[arb], list[arb], list[list[arb]], list[list[arb]]]:
        """Return beta, grad Q and their derivatives."""
        point = dict(zip(self.tau, x, strict=True))
        beta, gradient = ([ball_of(f, point) for f in fs] for fs in (self.beta, self.gradient))
        by, gy = ([[ball_of(f, point) for f in row] for row in rows] for rows in self.slopes)
        return beta, gradient, by, gy

    @functools.cached_property
    def slopes(self) -> list[list[list[Expr]]]:
        """The derivatives of beta and of grad Q."""
        return [[[f.diff(t) for t in self.tau] for f in fs] for fs in (self.beta, self.gradient)]


@dataclass(frozen=True)
class Equations:
    """grad Q(beta) = X_S^T s and X_S beta = c, in tau and s on the rows S; tau_0 at the start."""

    X: list[list[arb]]
    charts: list[_Chart]
    start: list[arb]
    rows: list[int] = field(default_factory=list)
    c: arb = field(default_factory=lambda: arb(0))

    def has(self, x: Sequence[arb]) -> bool:
        """Tell whether tau is where Q is convex."""
        ends = np.cumsum([0, *(len(chart.tau) for chart in self.charts)])
        parts = zip(self.charts, ends, ends[1:], strict=False)
        return all(chart.has(x[i:j]) for chart, i, j in parts)

    def beta(self, x: Sequence[arb]) -> tuple[list[arb], list[arb], arb_mat, arb_mat]:
        """Return beta, grad Q and their derivatives by tau, block by block."""
        d = len(self.start)
        beta, gradient = list[arb](), list[arb]()
        by, gy = arb_mat(d, d), arb_mat(d, d)
        for chart in self.charts:
            k, n = len(beta), len(chart.tau)
            b, g, db, dg = chart.at(x[k : k + n])
            beta, gradient = beta + b, gradient + g
            for i in range(n):
                for j in range(n):
                    by[k + i, k + j], gy[k + i, k + j] = db[i][j], dg[i][j]
        return beta, gradient, by, gy

    def __call__(self, x: list[arb]) -> tuple[arb_mat, arb_mat]:
        """Return the residuals at tau and s, and their derivatives."""
        d = len(self.start)
        beta, gradient, by, gy = self.beta(x)
        XS = arb_mat([self.X[i] for i in self.rows])
        left = (XS.transpose() * arb_mat([[s] for s in x[d:]])).entries()
        values = [g - y for g, y in zip(gradient, left, strict=True)]
        values += [u - self.c for u in (XS * arb_mat([[b] for b in beta])).entries()]
        top = [[*gy.tolist()[j], *(-XS[i, j] for i in range(XS.nrows()))] for j in range(d)]
        bottom = [[*row, *[arb(0)] * XS.nrows()] for row in (XS * by).tolist()]
        return arb_mat([[v] for v in values]), arb_mat(top + bottom)

    def on(self, rows: list[int], c: arb) -> Equations:
        """Return the same on other rows, at another c."""
        return Equations(self.X, self.charts, self.start, rows, c)


def derivative(system: Equations, x: list[arb]) -> list[arb] | None:
    """Return d(tau, s)/dc in balls."""
    right = [[arb(0)]] * len(system.start) + [[arb(1)]] * len(system.rows)
    return solved(system(x)[1], arb_mat(right))


def solved(A: arb_mat, b: arb_mat) -> list[arb] | None:
    """Return A^-1 b; next to the identity, wide balls are solved for without loss."""
    try:
        Y = A.mid().inv().mid()
        return (Y * A).solve(Y * b).entries()
    except ZeroDivisionError:
        return None


def equations_of(
    q: NumericPotential, X: Sequence[Sequence[Fraction]]
) -> tuple[Equations, list[Fraction]]:
    """Return the equations of Q at a start, on no rows yet, and X beta_0.

    Raises:
        NumericalError: Q has no formula that balls evaluate.
    """
    source, d = q.source, len(X[0])
    if not isinstance(source, Potential):
        raise NumericalError("there is no formula of Q")
    start = {name: sympy.Rational(*v.as_integer_ratio()) for name, v in q.start}
    p, copies = source.parameterization, d // q.d
    _, beta0 = start_point(p, dict(q.start))
    charts = [_chart(piece, start) for piece in source.pieces]
    parts = zip(charts, p.blocks, strict=True)
    begin = [t for chart, block in parts for t in _begin(chart, [beta0[i] for i in block])]
    # Columns in the order of the blocks of outputs.
    places = [i for block in p.blocks for i in block] if q.d > 1 else range(d)
    balls = [[ball(row[i]) for i in places] for row in X]
    margins = [dot(beta0 * copies, row) for row in X]
    return Equations(balls, charts * copies, begin * copies), margins


def _begin(chart: _Chart, beta0: Sequence[Fraction]) -> list[arb]:
    """Return tau where grad Q = 0: beta_0, or the z of it."""
    if chart.beta == chart.tau:
        return list(map(ball, beta0))
    (t,), (g,) = chart.tau, chart.gradient
    return [ball_of(-g.subs(t, 0) / g.diff(t), {})]


def _chart(piece: Piece, start: Mapping[str, Expr]) -> _Chart:
    def numbers(f: Expr) -> Expr:
        whole = written_out(f, piece.roots, piece.constants)
        return whole.xreplace({s: start[s.name] for s in whole.free_symbols if s.name in start})

    gradient = tuple(map(numbers, piece.gradient))
    if (curve := piece.time_curve) is not None:
        low, high = map(numbers, curve.interval)
        chart = _Chart((curve.parameter,), (numbers(curve.beta),), gradient, (low, high))
    else:
        chart = _Chart(piece.betas, piece.betas, gradient)
        if piece.domain is None or piece.domain.walls:
            raise NumericalError("Q is not known to live on all of R^d")
    left = {s for f in (*chart.beta, *gradient) for s in f.free_symbols} - set(chart.tau)
    if left or any(f.has(sympy.Integral) for f in gradient):
        raise NumericalError("Q has no formula that balls evaluate")
    return chart


def inner(a: Sequence[arb], b: Sequence[arb]) -> arb:
    """Return <a, b>."""
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))
