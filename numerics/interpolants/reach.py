"""What no beta in the domain of Q reaches, and what gradient flow does not.

Targets are told by linear programming for separable Q. Q is Q along the flow from w_0 up to a zero
of its warp, of what it divides by, or of a function whose sign it takes for kept; what solves its
equations behind is no limit: the weights are followed to a predicted one. On one row
<x, beta> = y the flow is a curve, whatever the loss: with tau = <x, beta> for its time

    dw/dtau = v/<x, K x>,   G v = J^T x,

which ends where tau = y. On several rows it is that of the squared loss, ``G w' = -J^T X^T r``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.integrate
import scipy.optimize

from numerics.evaluate.leaf import Leaves, OfVector
from numerics.evaluate.numbers import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.design import Dense, Design
from numerics.interpolants.equations import Equations, Point

_STEPS = 4000
_FINE = 1e-10
_CLOSE = 1e-4
"""Distance from the limit, relative to that of the start, from which on the flow stays near it."""


def beyond(leaves: Leaves, design: Design, y: Array, beta: Array) -> str:
    """Say why gradient flow on X beta = y does not end at beta; "" where it does."""
    if not leaves:
        return ""
    leaves, design, beta = _in_the_span(leaves, design, beta)
    way = _Way(leaves, design, y)
    if not np.any(way.residual(way.start)):
        return ""
    with np.errstate(all="ignore"):
        end, over = way.along_row() if design.shape[0] == 1 else way.down(beta)
    size = max(np.abs(beta).max(), np.abs(way.outputs(way.start)).max())
    near = _NEAR if design.shape[0] == 1 else 2 * _CLOSE
    if np.abs(way.outputs(end) - beta).max() <= near * size:
        return ""
    if not over:
        return "it ends before"
    broken = way.broken(end)
    return f"there {' and '.join(broken)} has another sign" if broken else "it passes by"


def _in_the_span(leaves: Leaves, design: Design, beta: Array) -> tuple[Leaves, Design, Array]:
    """Return the same in m + 1 coordinates, where beta = phi u turns within that many.

    u stays in the span of u_0 and of the rows of X, and so does a beta with grad Q = X^T nu.
    """
    (_, leaf), *others = leaves
    if others or not isinstance(leaf, OfVector) or leaf.spanned().size <= design.shape[0] + 1:
        return leaves, design, beta
    rows = design.dense()
    basis = np.linalg.qr(np.column_stack([rows.T, leaf.spanned()]))[0]
    turned = [(range(basis.shape[1]), leaf.within(basis))]
    return turned, Dense(rows @ basis), basis.T @ beta


class _Way:
    """The flow of the weights of all leaves on data."""

    def __init__(self, leaves: Leaves, design: Design, y: Array) -> None:
        self.leaves, self.design, self.y = leaves, design, y
        self.start = np.concatenate([leaf.start for _, leaf in leaves])
        self._ends = np.cumsum([0, *(leaf.start.size for _, leaf in leaves)])

    def _parts(self, w: Array) -> list[Array]:
        return [w[i:j] for i, j in zip(self._ends[:-1], self._ends[1:], strict=True)]

    def outputs(self, w: Array) -> Array:
        beta = np.zeros(self.design.shape[1])
        for (places, leaf), part in zip(self.leaves, self._parts(w), strict=True):
            beta[list(places)] = leaf.outputs(part)
        return beta

    def residual(self, w: Array) -> Array:
        return self.design.apply(self.outputs(w)) - self.y

    def motion(self, steering: Array, w: Array) -> tuple[Array, float]:
        """Return w' and <lambda, K lambda>."""
        pairs = zip(self.leaves, self._parts(w), strict=True)
        found = [leaf.motion(steering[list(places)], part) for (places, leaf), part in pairs]
        return np.concatenate([v for v, _ in found]), sum(rate for _, rate in found)

    def broken(self, w: Array) -> tuple[str, ...]:
        pairs = zip(self.leaves, self._parts(w), strict=True)
        return tuple(text for (_, leaf), part in pairs for text in leaf.broken(part))

    def along_row(self) -> tuple[Array, bool]:
        """Return how far the curve of the flow on one row goes, and whether X beta = y there."""
        x, (left,) = self.design.adjoint(np.ones(1)), -self.residual(self.start)

        def velocity(_: float, w: Array) -> Array:
            v, rate = self.motion(x, w)
            return np.asarray(v * (left / rate))

        size = _FINE * np.abs(self.start).max()
        run = scipy.integrate.DOP853(velocity, 0.0, self.start, 1.0, rtol=_FINE, atol=size)
        first = self.motion(x, self.start)[1]
        # At a critical point the flow stays, which a step might jump over.
        _run(run, lambda w: self.motion(x, w)[1] < _FINE * first)
        return np.asarray(run.y), run.status == "finished"

    def down(self, beta: Array) -> tuple[Array, bool]:
        """Return where the flow of the squared loss is next to a limit, and whether it gets there.

        It is followed until X beta - y is as small as next to *beta*.
        """

        def velocity(_: float, w: Array) -> Array:
            return self.motion(-self.design.adjoint(self.residual(w)), w)[0]

        first = np.abs(self.outputs(self.start) - beta).max()
        units = np.abs(self.residual(self.start)).max()

        def arrived(w: Array) -> bool:
            near = np.abs(self.outputs(w) - beta).max() <= _CLOSE * first
            return bool(near or np.abs(self.residual(w)).max() <= _FINE * units)

        size = _FINE * np.abs(self.start).max()
        run = scipy.integrate.LSODA(velocity, 0.0, self.start, np.inf, rtol=_FINE, atol=size)
        _run(run, arrived)
        return np.asarray(run.y), arrived(run.y)


def _run(run: scipy.integrate.OdeSolver, over: Callable[[Array], bool]) -> None:
    """Take steps to the end, or as far as they go; where they cannot, the status says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_STEPS):
            if run.status != "running" or not np.isfinite(run.y).all() or over(run.y):
                return
            run.step()


_FAR = 1e300
_NEAR = 1e-6
"""Distance to the boundary, relative to that of the start, below which a coordinate is at it."""
_EXACT = 1e-12
"""Relative error of a sum of doubles that is 0 in exact numbers."""
_COLUMNS, _ROUNDS = 500, 100
"""Columns of X that enter a linear program at once, and how often."""
_NOISE = 1e-10
"""Of the largest slope: what is smaller is 0."""
_ROOT = 1e150
_CLEAR = 1e-7
"""Least misfit, relative to the target, from which it is more than the program's own error."""


@dataclass(frozen=True, slots=True)
class Box:
    """The beta that are images of the mirror map: ``low < beta < high`` (d,), infinite or not."""

    low: Array
    high: Array

    def separates(self, nu: Array, slopes: Array, y: Array) -> bool:
        """Tell whether ``<nu, y> > <nu, X beta>`` for every beta in the box; *slopes* is X^T nu."""
        ends = np.where(slopes > 0, self.high, self.low)
        terms = np.where(slopes != 0, slopes * ends, 0)
        size = np.abs(nu) @ np.abs(y) + np.abs(terms).sum()
        return bool(np.isfinite(size) and nu @ y - terms.sum() > _CLEAR * size)


@dataclass(frozen=True, slots=True)
class Walled:
    """The mirror map of Q on its closed box: where grad Q is bounded, beta stays at an end.

    It is the gradient of the dual of Q plus 0 on the box and infinity outside.
    """

    q: NumericPotential
    box: Box

    def inverse_gradient(self, y: Array) -> Array:
        """Return the beta at which ``Q - <y, beta>`` is least on the box."""
        beta = self.q.inverse_gradient(y)
        end = np.where(y > 0, self.box.high, self.box.low)
        return np.asarray(np.where(self.beyond(y, beta), end, beta))

    def beyond(self, y: Array, beta: Array) -> Array:
        """Tell where y is a slope that Q reaches nowhere, beyond that at a finite end."""
        end = np.where(y > 0, self.box.high, self.box.low)
        slope = self.q.gradient(np.where(np.isfinite(end), end * (1 - _EXACT), 0))
        return np.asarray(np.isnan(beta) & np.isfinite(end) & (np.abs(y) >= np.abs(slope)))

    def gradient(self, beta: Array) -> Array:
        """Return grad Q."""
        return np.asarray(self.q.gradient(beta))

    def stretch(self, beta: Array, y: Array) -> Array:
        """Return dbeta/dy, 0 at an end."""
        at_end = (beta == self.box.low) | (beta == self.box.high)
        return np.asarray(np.where(at_end, 0, self.q.stretch(beta, y)))


Mirror: TypeAlias = NumericPotential | Walled
"""A mirror map by its inverse, and the slope of that at beta and grad Q."""


def box_of(mirror: NumericPotential, start: Array) -> Box:
    """Return the ends of the domain on both sides of the start, infinite where none is known.

    They are those of the domain of Q, and what grad Q is infinite at, where its inverse is a
    formula.
    """
    below, above = np.broadcast_to(np.array(mirror.functions.bounds), (start.size, 2)).T
    if not mirror.invertible:
        return Box(below, above)
    low, high = (mirror.inverse_gradient(np.full(start.size, far)) for far in (-_FAR, _FAR))
    # 1/beta = 1e300 stands for beta = 0.
    low, high = (np.where(np.abs(x) < 1 / _ROOT, 0, x) for x in (low, high))
    low, high = np.where(low < start, low, -np.inf), np.where(high > start, high, np.inf)
    return Box(np.maximum(low, below), np.minimum(high, above))


def blocking_row(box: Box, equations: Equations) -> list[int]:
    """Return a row that is bounded on the domain of Q, and y beyond; or none."""
    design, y = equations.design, equations.y
    for i, row in enumerate(np.eye(design.shape[0])):
        slopes = design.adjoint(row)
        if box.separates(row, slopes, y) or box.separates(-row, -slopes, y):
            return [i]
    return []


def blocking_rows(box: Box, equations: Equations, start: Array, guess: Array) -> list[int]:
    """Return rows with a combination that is bounded on the domain of Q, and y beyond; or none.

    One row may do. Else ``min |X beta - y|_1`` over the box tells: where it is
    positive, its dual vector nu proves ``<nu, y> > <nu, X beta>`` for every beta in the box
    (Farkas 1902). Of the columns of X only those that lower the misfit enter the program, as they
    are found (Dantzig & Wolfe 1960), so that X is not copied as a whole; a *guess* of nu (m,)
    finds the first.
    """
    design, y = equations.design, equations.y
    m, d = design.shape
    rest = np.where(np.isfinite(box.low), box.low, np.where(np.isfinite(box.high), box.high, start))
    low, high = box.low - rest, box.high - rest
    if not (np.isfinite(low) | np.isfinite(high)).any():
        return []
    if row := blocking_row(box, equations):
        return row
    scales = np.maximum(np.sqrt(np.diag(equations.gram)), np.abs(y))
    target = (y - design.apply(rest)) / scales
    size = np.abs(y / scales).sum() + np.abs(target).sum()
    used = np.zeros(d, dtype=bool)

    def lowering(slopes: Array) -> Array:
        gain = np.where(slopes > 0, slopes * (high > 0), -slopes * (low < 0))
        gain[used] = 0
        best = np.argsort(gain)[-_COLUMNS:]
        return np.asarray(best[gain[best] > _NOISE * np.abs(slopes).max()])

    for nu in (guess, target / scales):
        used[lowering(design.adjoint(nu))] = True
    for _ in range(_ROUNDS):
        columns = np.flatnonzero(used)
        program = scipy.optimize.linprog(
            np.repeat([0, 1], [columns.size, 2 * m]),
            A_eq=np.hstack([design.columns(columns) / scales[:, None], np.eye(m), -np.eye(m)]),
            b_eq=target,
            bounds=[*zip(low[columns], high[columns], strict=True), *[(0, None)] * (2 * m)],
            method="highs",
        )
        if program.status != 0 or not program.fun > _CLEAR * size:
            return []
        nu = program.eqlin.marginals
        best = lowering(design.adjoint(nu / scales))
        if not best.size:
            return [int(i) for i in np.flatnonzero(np.abs(nu) > 1e-9 * np.abs(nu).max())]
        used[best] = True
    return []


def only_at_the_boundary(box: Box, equations: Equations, start: Array, beta: Array) -> bool:
    """Tell whether ``X beta = y`` holds on the boundary of the box of the mirror map alone.

    Then a nu has ``<nu, X_j> = 0`` for the coordinates inside, ``<nu, X_j>`` of one sign (not all
    0) for those at a bound b, and ``<nu, y> = sum_j <nu, X_j> b_j``. Where the columns inside have
    full rank, which takes one Gram product to see, there is none.
    """
    design = equations.design
    low, high = box.low, box.high
    lower = beta - low <= _NEAR * (start - low)
    upper = high - beta <= _NEAR * (high - start)
    lower, upper = lower & np.isfinite(low), upper & np.isfinite(high)
    at = np.flatnonzero(lower | upper)
    if not at.size:
        return False
    inside = np.ones(start.size)
    inside[at] = 0
    # An orthogonal basis of the nu with <nu, G nu> = 0, G the Gram matrix of what is inside.
    scale = 1 / np.sqrt(np.diag(equations.gram))
    values, vectors = np.linalg.eigh(design.gram(inside) * scale * scale[:, None])
    null = np.asarray(scale[:, None] * vectors[:, values <= _EXACT])
    sizes = np.sqrt(sum((design.adjoint(v)[at] ** 2 for v in null.T), np.zeros(at.size)))
    signs = np.where(lower, 1.0, -1.0)[at] / np.where(sizes > 0, sizes, np.inf)
    multiplier = _separating(design, null, at, signs)
    if multiplier is None:
        return False
    bounds = np.where(lower, low, high)[at]
    left, right = multiplier * equations.y, design.adjoint(multiplier)[at] * bounds
    size = np.abs(multiplier) @ np.abs(equations.y) + np.abs(right).sum()
    return bool(abs(left.sum() - right.sum()) <= _EXACT * size)


def _separating(design: Design, null: Array, at: Array, signs: Array) -> Array | None:
    """Return a nu, of the span of *null*, with ``signs_j <nu, X_j> >= 0`` at all j, some > 0."""
    rows = (null.T @ design.columns(at) * signs).T
    center = rows.sum(axis=0)
    size = np.abs(center).sum()
    if not size > 0:
        return None
    program = scipy.optimize.linprog(
        -center / size, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs"
    )
    if program.status != 0 or not (rows @ program.x > _CLEAR).any():
        return None
    return np.asarray(null @ program.x)


def at_the_edge(mirror: NumericPotential, equations: Equations, point: Point, start: Array) -> bool:
    """Tell whether the domain of Q ends where rounding and the residual leave the point.

    For coupled Q, whose domain is known by its grad Q alone: it is undefined a little further out
    from the start. The domain of a convex Q is convex, so that nothing further out belongs to it.
    """
    unknown = 8 * max(equations.size(point.residual), float(np.finfo(float).eps))
    outside = point.beta + unknown * (point.beta - start)
    return bool(np.isnan(mirror.gradient(outside)).any())


def leads_outside(q: NumericPotential, equations: Equations, beta: Array, start: Array) -> bool:
    """Tell whether the interpolant nearest to beta lies outside the domain, not just at its end."""
    nearest = beta - np.linalg.lstsq(equations.design.dense(), equations.misfit(beta))[0]
    return bool(np.isnan(q.gradient(nearest + _NEAR * (start - nearest))).any())
