"""Shallow nets of finite width, trained by mirror flow in their dual variables.

u = phi'(s (theta - theta(0))) - phi'(0), s = n for scaled potentials and 1 for others, moves by
u' = -J^T r, r = f - y: all that is learned goes through the m residuals. A step integrates them
exactly at a tangent kernel K = J diag(1/phi'') J^T/s that is held fixed,

    u <- u - J^T K^-1 (1 - exp(-K dt)) r,

where mirror descent would take K^-1 (1 - exp(-K dt)) = dt and need thousands of steps, as K has
eigenvalues far apart. dt, in units of 1/max K, is as large as the residuals after the step are
those predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from derive.errors import NumericalError
from derive.univariate.potential import Density
from derive.univariate.problem import Activation
from numerics.evaluate.numbers import Array
from numerics.univariate.dual import Law

TRUSTED = 0.02
"""What residuals may differ from those predicted, relative to those before the step."""
FITTED = 1e-10
SLOWEST = 1e-13
"""Eigenvalues of K, relative to the largest, that count as 0."""
_STEPS = 20_000
_CELLS = 4096
_AGREED = 8
"""Rounds in which sides and what is learned agree."""


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
        e, o, z = float(self.activation.even), float(self.activation.odd), self._inside(x)
        return np.asarray((e * np.abs(z) + o * z) @ self.a + self.d)

    def _inside(self, x: Array) -> Array:
        return x[:, None] * self.w - self.b

    def jacobian(self, x: Array, sides: Array | None = None) -> Array:
        """Return the derivatives (k, 3 n + 1) by a, w, b and d; *sides* for the signs of z."""
        e, o, z = float(self.activation.even), float(self.activation.odd), self._inside(x)
        force = (e * (np.sign(z) if sides is None else sides) + o) * self.a
        value = e * np.abs(z) + o * z
        return np.hstack([value, force * x[:, None], -force, np.ones((len(x), 1))])

    def sides(self, x: Array, J: Array, learned: Array, pace: Array) -> Array:
        """Return the signs (k, n) of z at the end of a step by -pace J^T learned.

        Where either sign leads to the other one z is held at 0, by a side between: the kink stays
        at the point (Filippov).
        """
        z, even = self._inside(x), float(self.activation.even)
        _, w, b = np.split((pace * (learned @ J))[:-1], 3)
        _, of_w, of_b = np.split(pace[:-1], 3)
        moved, now = z - x[:, None] * w + b, np.sign(z)
        pull = even * self.a * learned[:, None] * (x[:, None] ** 2 * of_w + of_b)
        with np.errstate(all="ignore"):
            return np.where(pull > 0, np.clip(moved / pull + now, -1, 1), now)

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
    """Run mirror flow on sum (f(x_i) - y_i)^2 until the data are fitted, or nothing moves.

    Raises:
        NumericalError: the residuals do not vanish in the steps that are allowed.
    """
    law, scale = flow.law, flow.scale
    points, target = np.asarray(x, float), np.asarray(y, float)
    n = len(net.a)
    mask = np.repeat([c in flow.weights for c in "awbd"], [n, n, n, 1])
    u = alpha = np.zeros(int(mask.sum()))
    pace, change = np.zeros(len(mask)), np.zeros(len(mask))
    now, size = net, float(np.linalg.norm(target)) or 1.0
    misfit, step = now(points) - target, 0.1
    curvature = law.potential.curvature
    for count in range(_STEPS):
        residual = float(np.linalg.norm(misfit))
        if residual <= FITTED * size:
            return Trained(now, residual / size, count)
        pace[mask] = 1 / (scale * curvature.on_arrays(alpha))
        while True:
            force, left = _followed(now, points, misfit, pace, step)
            dual = u - force[mask]
            moved = law.on_arrays(dual, alpha)
            change[mask] = moved / scale
            after = net.moved(change)
            found = after(points) - target
            gap = np.linalg.norm(found - left)
            if gap <= TRUSTED * residual or gap <= FITTED * size / 10:
                break
            step /= 2
        if step * SLOWEST > 1 and np.linalg.norm(found - misfit) <= FITTED * residual:
            return Trained(now, residual / size, count)
        u, alpha, now, misfit = dual, moved, after, found
        step *= 2 if gap <= TRUSTED / 4 * residual else 1
    raise NumericalError(f"the net of width {n} was not trained in {_STEPS} steps")


def _followed(net: Net, x: Array, misfit: Array, pace: Array, step: float) -> tuple[Array, Array]:
    """Return J^T K^-1 (1 - exp(-K dt)) r and the residuals after it, with the sides it leads to."""
    J = whole = net.jacobian(x)
    learned, left = _learned(J, pace, misfit, step)
    for _ in range(_AGREED):
        sides = net.sides(x, whole, learned, pace)
        J = net.jacobian(x, sides)
        learned, left = _learned(J, pace, misfit, step)
        if np.all(np.abs(sides) == 1):
            break
    return learned @ J, left


def _learned(J: Array, pace: Array, misfit: Array, step: float) -> tuple[Array, Array]:
    """Return K^-1 (1 - exp(-K dt)) r and exp(-K dt) r for K = J diag(pace) J^T, dt = step/max K."""
    values, vectors = np.linalg.eigh(J * pace @ J.T)
    parts = np.where(values > SLOWEST * values[-1], vectors.T @ misfit, 0)
    values = np.maximum(values, SLOWEST * values[-1])
    passed = -np.expm1(-values / values[-1] * step) * parts
    return vectors @ (passed / values), misfit - vectors @ passed
