"""Whether gradient flow goes to a predicted limit: the weights are followed to it.

Q is Q along the flow from w_0 up to a zero of its warp, of what it divides by, or of a function
whose sign it takes for kept; what solves its equations behind is no limit. On one row <x, beta> = y
the flow is a curve, whatever the loss: with tau = <x, beta> for its time

    dw/dtau = v/<x, K x>,   G v = J^T x,

which ends where tau = y. On several rows it is that of the squared loss, ``G w' = -J^T X^T r``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import scipy.integrate

from numerics.evaluate.leaf import Leaves, OfVector
from numerics.evaluate.numbers import Array
from numerics.interpolants.design import Dense, Design

_STEPS = 4000
_FINE, _NEAR = 1e-10, 1e-6
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
