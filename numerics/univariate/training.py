"""Shallow nets of finite width, trained by mirror flow in their dual variables.

u = phi'(s (theta - theta(0))) - phi'(0), s = n for scaled potentials and 1 for others, moves by
u' = -J^T r, r = f - y: all that is learned goes through the m residuals. A step integrates them
exactly at a tangent kernel K = J diag(1/phi'') J^T/s that is held fixed,

    u <- u - J^T K^-1 (1 - exp(-K dt)) r,

where mirror descent would take K^-1 (1 - exp(-K dt)) = dt and need thousands of steps, as K has
eigenvalues far apart. dt is as large as the residuals after the step are those predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from derive.errors import NumericalError
from derive.univariate.activation import Activation
from derive.univariate.density import Density
from numerics.evaluate.backend import Array
from numerics.univariate.law import Law

TRUSTED = 0.02
"""What residuals may differ from those predicted, relative to those before the step."""
FITTED = 1e-10
_STEPS = 20_000
_CELLS = 4096


@dataclass(frozen=True, eq=False)
class Net:
    """f(x) = sum_j a_j sigma(w_j x - b_j) + d."""

    activation: Activation
    a: Array
    w: Array
    b: Array
    d: float

    def __call__(self, x: Array) -> Array:
        """Return f at points (k,)."""
        return np.asarray(self._features(x)[0] @ self.a + self.d)

    def _features(self, x: Array) -> tuple[Array, Array]:
        """Return sigma(z) and sigma'(z), each (k, n)."""
        z, e, o = (
            x[:, None] * self.w - self.b,
            float(self.activation.even),
            float(self.activation.odd),
        )
        return e * np.abs(z) + o * z, e * np.sign(z) + o

    def jacobian(self, x: Array) -> Array:
        """Return the derivatives (k, 3 n + 1) by a, w, b and d."""
        value, slope = self._features(x)
        force = slope * self.a
        return np.hstack([value, force * x[:, None], -force, np.ones((len(x), 1))])

    def moved(self, change: Array) -> Net:
        """Return the net with weights changed by (3 n + 1,) numbers."""
        a, w, b = np.split(change[:-1], 3)
        return replace(self, a=self.a + a, w=self.w + w, b=self.b + b, d=self.d + float(change[-1]))

    def knots(self, low: float, high: float) -> tuple[Array, Array]:
        """Return the points between two where f changes slope, with the two, and f there."""
        e, o = float(self.activation.even), float(self.activation.odd)
        kinks = self.b / self.w
        inside = (kinks > low) & (kinks < high)
        order = np.argsort(kinks[inside])
        points = np.r_[low, kinks[inside][order], high]
        jumps = 2 * e * (np.abs(self.w) * self.a)[inside][order]
        sides = np.where(kinks <= low, 1, -1)
        slope = float(self.a @ (e * sides * np.abs(self.w) + o * self.w))
        slopes = slope + np.r_[0.0, np.cumsum(jumps)]
        start = float(self(np.array([low]))[0])
        return points, start + np.r_[0.0, np.cumsum(slopes * np.diff(points))]


def random_net(
    width: int, density: Density, activation: Activation, rng: np.random.Generator
) -> Net:
    """Draw units in pairs of opposite a, so that f = 0: w = 1 or -1, b from p, a normal/sqrt n."""
    half = width // 2
    b = np.interp(rng.random(half), *_distribution(density))
    w = rng.choice([-1.0, 1.0], half)
    a = rng.standard_normal(half) / np.sqrt(width)
    return Net(activation, np.r_[a, -a], np.r_[w, w], np.r_[b, b], 0.0)


def quantile_net(width: int, density: Density, activation: Activation) -> Net:
    """Return units with b at the quantiles of p, for both w, and a = 0."""
    half = width // 2
    b = np.interp((np.arange(half) + 0.5) / half, *_distribution(density))
    w = np.ones(half)
    return Net(activation, np.zeros(2 * half), np.r_[w, -w], np.r_[b, b], 0.0)


def _distribution(density: Density) -> tuple[Array, Array]:
    """Return values of the distribution function of p and where it has them."""
    points, masses = [np.array([float(density.support[0])])], [np.zeros(1)]
    for piece in density.pieces:
        edges = np.linspace(float(piece.left), float(piece.right), _CELLS + 1)
        middle = piece.formula.on_arrays((edges[1:] + edges[:-1]) / 2)
        ends = piece.formula.on_arrays(edges)
        mass = (ends[1:] + ends[:-1] + 4 * middle) / 6 * np.diff(edges)
        # A piece with a gap before it starts anew, where the distribution function is flat.
        points += [edges[:1], edges[1:]]
        masses += [np.zeros(1), mass]
    total = np.cumsum(np.concatenate(masses))
    return total / total[-1], np.concatenate(points)


@dataclass(frozen=True, eq=False)
class Trained:
    """The net at the end, |f - y|/|y| and the number of steps."""

    net: Net
    residual: float
    steps: int


@dataclass(frozen=True)
class MirrorFlow:
    """Mirror flow of some weights.

    Attributes:
        law: phi.
        scale: s; the width for scaled potentials, 1 for others.
        weights: those that move: "a" alone, or "awbd".
    """

    law: Law
    scale: float = 1.0
    weights: str = "awbd"


def train(net: Net, x: Sequence[float], y: Sequence[float], flow: MirrorFlow) -> Trained:
    """Run mirror flow on sum (f(x_i) - y_i)^2 until the data are fitted.

    Raises:
        NumericalError: the residuals do not vanish in the steps that are allowed.
    """
    law, scale = flow.law, flow.scale
    points, target = np.asarray(x, float), np.asarray(y, float)
    n = len(net.a)
    mask = np.repeat([c in flow.weights for c in "awbd"], [n, n, n, 1])
    u = alpha = np.zeros(int(mask.sum()))
    now, size = net, float(np.linalg.norm(target)) or 1.0
    misfit, step = now(points) - target, 0.0
    curvature = law.potential.curvature
    for count in range(_STEPS):
        residual = float(np.linalg.norm(misfit))
        if residual <= FITTED * size:
            return Trained(now, residual / size, count)
        J = now.jacobian(points)[:, mask]
        values, vectors = np.linalg.eigh((J / (scale * curvature.on_arrays(alpha))) @ J.T)
        values, parts = np.maximum(values, 1e-15 * values[-1]), vectors.T @ misfit
        step = step or 0.1 / values[-1]
        while True:
            learned = -np.expm1(-values * step) / values
            dual = u - J.T @ (vectors @ (learned * parts))
            moved = law.on_arrays(dual, alpha)
            change = np.zeros(len(mask))
            change[mask] = moved / scale
            after = net.moved(change)
            found = after(points) - target
            gap = np.linalg.norm(found - vectors @ (np.exp(-values * step) * parts))
            if gap <= TRUSTED * residual or gap <= FITTED * size / 10:
                break
            step /= 2
        u, alpha, now, misfit = dual, moved, after, found
        step *= 2 if gap <= TRUSTED / 4 * residual else 1
    raise NumericalError(f"the net of width {n} was not trained in {_STEPS} steps")
