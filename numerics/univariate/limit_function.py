"""Univariate shallow nets under mirror flow: those of finite width, and what wide ones tend to.

sup |f - g| on the support of the biases: extremes are at ends, or where the slopes agree.

Nets are trained in their dual variables. u = phi'(s (theta - theta(0))) - phi'(0), s = n for scaled
potentials and 1 for others, moves by u' = -J^T r, r = f - y: all that is learned goes through the m
residuals. A step integrates them exactly at a tangent kernel K = J diag(1/phi'') J^T/s that is held
fixed,

    u <- u - J^T K^-1 (1 - exp(-K dt)) r,

where mirror descent would take K^-1 (1 - exp(-K dt)) = dt and need thousands of steps, as K has
eigenvalues far apart. dt, in units of 1/max K, is as large as the residuals after the step are
those predicted.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat, fmpq_poly
from scipy.interpolate import CubicHermiteSpline, PPoly

from derive.errors import NumericalError
from derive.exact.balls import as_fmpq, as_fraction
from derive.printable import Held
from derive.univariate.formulas import Value
from derive.univariate.problem import (
    Activation,
    Density,
    VariationalProblem,
    read_activation,
    read_density,
    read_potential,
    variational_problem,
)
from numerics.evaluate.numbers import Array, Number, read_number, read_vector
from numerics.univariate.dual import Dual, Law, State, cells, check_data

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


PRECISIONS = (128, 256, 512)
"""Bits of the balls, more where fewer do not certify."""
_GRID = 256


@dataclass(frozen=True)
class Piece:
    """A polynomial between two points, None where there is no end; coefficients of 1, x, ..."""

    left: Fraction | None
    right: Fraction | None
    coefficients: tuple[Fraction, ...]


@dataclass(frozen=True, repr=False)
class LimitFunction(Held):
    """The limit function h of nets, h(x_i) = y_i.

    Attributes:
        problem: the variational problem that h solves.
        dual: the same as a problem in m unknowns.
        multipliers: its solution lambda, rational or in balls.
        bits: of the balls.
    """

    problem: VariationalProblem
    dual: Dual
    multipliers: tuple[Value, ...]
    bits: int

    @property
    def exact(self) -> bool:
        """Whether h is a spline with rational coefficients; else it is certified by balls."""
        return all(isinstance(c, fmpq) for c in self.multipliers)

    @property
    def coefficients(self) -> tuple[Any, ...]:
        """lambda: phi'(alpha) - phi'(0) = sum_i lambda_i sigma(w x_i - b), h = E alpha sigma."""
        return tuple(_number(c) for c in self.multipliers)

    @property
    def digits(self) -> int | None:
        """Decimal digits of lambda that are certified; None where all are."""
        if self.exact:
            return None
        balls = [arb(c) for c in self.multipliers]
        widest, largest = max(c.rad() for c in balls), max(abs(c) for c in balls)
        exponent = (
            (largest / widest).log_base(10) if widest > 0 else arb(self.bits) * arb(2).log_base(10)
        )
        return max(0, int(float(exponent)))

    def __call__(self, t: Any) -> Any:
        """Return h(t): a fraction where h is exact, else an mpf; of an array, doubles."""
        if isinstance(t, np.ndarray):
            return self.on_arrays(t)
        return _number(self.ball(read_number(t, "t")))

    def ball(self, t: Fraction) -> Value:
        """Return h(t), rational or in a ball."""
        return self._asked(t, State.value)

    def slope(self, t: Fraction) -> Value:
        """Return h'(t), rational or in a ball."""
        return self._asked(t, State.slope)

    def _asked(self, t: Fraction, ask: Callable[[State, int], Value]) -> Value:
        with ctx.workprec(self.bits):
            return ask(self.dual.state(self.multipliers, t), len(self.dual.x))

    @functools.cached_property
    def functionals(self) -> dict[str, Any]:
        """What h minimises: G1, G2 and G3, or the divergence D where they are no sum of these."""
        with ctx.workprec(self.bits):
            state = self.dual.state(self.multipliers)
            total = state.divergence()
            if self.problem.affine is None:
                return {"D": _number(total)}
            # E alpha^2 is G1 + G2 + G3; both sums of slopes are h'(-inf) and h'(inf).
            ends = self.dual.density.support
            left, right = self.slope(ends[0]), self.slope(ends[1] + 1)
            spread = self._asked(ends[1], State.value) + self._asked(ends[0], State.value)
            moment = as_fmpq(ends[1]) * (right - left) - spread
            g2, g3 = self.problem.affine
            second, third = g2 * (left + right) ** 2, g3 * moment**2
            sum_ = 2 * total / self.dual.law.constant if self.dual.law.constant else total
            parts = {"G1": sum_ - second - third, "G2": second, "G3": third}
            return {name: _number(value) for name, value in parts.items()}

    @functools.cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The polynomials of an exact h, from left to right; none where it is not exact."""
        if not self.exact:
            return ()
        parts = self.dual.density.pieces  # between the edges h is one formula
        ends = {e for p in parts for e in (p.left, p.right)}
        edges = sorted(ends | {x for x in self.dual.x if parts[0].left < x < parts[-1].right})
        whole = [(None, edges[0]), *pairwise(edges), (edges[-1], None)]
        return tuple(Piece(a, b, self._interpolated(a, b)) for a, b in whole)

    def _interpolated(self, left: Fraction | None, right: Fraction | None) -> tuple[Fraction, ...]:
        """Return the polynomial between two edges, h'' = 2 e p alpha_e, from its values."""
        formulas = (p.formula.polynomial for p in self.dual.density.pieces)
        degree = max(0 if f is None else f.degree() for f in formulas) + 3
        low = (right or Fraction(0)) - 1 if left is None else left
        high = (left or Fraction(0)) + 1 if right is None else right
        points = [low + (high - low) * Fraction(k, degree) for k in range(degree + 1)]
        powers = fmpq_mat([[as_fmpq(t**k) for k in range(degree + 1)] for t in points])
        found = powers.solve(fmpq_mat([[self.ball(t)] for t in points])).entries()
        return tuple(as_fraction(c) for c in fmpq_poly(found).coeffs())

    @functools.cached_property
    def table(self) -> PPoly:
        """Cubics in doubles on the support, by h'' = 2 e p alpha_e integrated twice."""
        low = self.dual.density.support[0]
        grid = self._grid()
        unit, rule = np.polynomial.legendre.leggauss(5)
        half, middle = np.diff(grid) / 2, (grid[1:] + grid[:-1]) / 2
        b = middle[:, None] + half[:, None] * unit
        second = self.second_derivative(b.ravel()).reshape(b.shape) * half[:, None] * rule
        slope = float(arb(self.slope(low))) + np.r_[0.0, np.cumsum(second.sum(1))]
        steps = slope[:-1] * np.diff(grid) + (second * (grid[1:, None] - b)).sum(1)
        return CubicHermiteSpline(
            grid, float(arb(self.ball(low))) + np.r_[0.0, np.cumsum(steps)], slope
        )

    def _grid(self) -> Array:
        """Return points between which alpha changes little, and those where phi changes form."""
        law, c = self.dual.law, np.array([float(arb(v)) for v in self.multipliers])
        x, found, slope = (
            np.array([float(v) for v in self.dual.x]),
            [],
            law.potential.slope.on_arrays,
        )
        breaks = np.array([float(b) for b in law.potential.function.breaks])
        for cell in cells(self.dual.x, self.dual.density, self.dual.activation):
            g = c * np.array([float(arb(v)) for v in cell.slopes])
            ends = np.array([float(arb(cell.left)), float(arb(cell.right))])
            alpha = law.on_arrays(g @ x - g.sum() * ends)
            between = np.r_[np.linspace(alpha[0], alpha[1], _GRID), breaks]
            with np.errstate(all="ignore"):
                b = (g @ x - (slope(between) - slope(np.zeros(1)))) / g.sum()
            found += [np.linspace(ends[0], ends[1], _GRID), b[(b > ends[0]) & (b < ends[1])]]
        whole = np.unique(np.concatenate(found))
        return whole[np.r_[True, np.diff(whole) > _NEAR]]

    def second_derivative(self, t: Array) -> Array:
        """Return h'' = 2 e p alpha_e at doubles in the support."""
        dual, e, o = self.dual, self.dual.activation.even, self.dual.activation.odd
        c = np.array([float(arb(v)) for v in self.multipliers])
        away = np.array([float(x) for x in dual.x])[:, None] - t
        sizes, sums = float(e) * (c @ np.abs(away)), float(o) * (c @ away)
        alpha = (dual.law.on_arrays(sizes + sums) + dual.law.on_arrays(sizes - sums)) / 2
        p = np.zeros_like(t)
        for piece in dual.density.pieces:
            inside = (t >= float(piece.left)) & (t <= float(piece.right))
            p = np.where(inside, piece.formula.on_arrays(t), p)
        return np.asarray(2 * float(e) * p * alpha / float(arb(dual.density.mass)))

    def on_arrays(self, t: Array) -> Array:
        """Return h at doubles, affine beyond the support."""
        points = np.asarray(t, float)
        inside = np.clip(points, self.table.x[0], self.table.x[-1])
        slope = self.table.derivative()(inside)
        return np.asarray(self.table(inside) + slope * (points - inside))


def limit_function(
    x: Number,
    y: Number,
    potential: str = "x**2",
    activation: str = "relu",
    density: str = "uniform",
    *,
    scaled: bool = False,
) -> LimitFunction:
    """Return the limit h of nets of width n -> infinity, trained by mirror flow on (x_i, y_i).

    min E D_phi(alpha(w, b), 0) subject to h(t) = E alpha(w, b) sigma(w t - b), h(x_i) = y_i. For
    unscaled potentials phi counts by phi''(0) alone: h is the same for all.

    >>> h = limit_function(["-3/5", "0", "1/2"], [1, 0, 1])
    >>> h.exact, h(0), h("1/2")
    (True, Fraction(0, 1), Fraction(1, 1))

    Args:
        x, y: m numbers each, exact: integers, fractions, doubles or text such as "-3/5"; y is what
            nets have still to learn, y_i - f(x_i, theta(0)).
        potential: phi, an expression in one name.
        activation: relu or abs.
        density: of the biases: uniform, or an expression on [-1, 1], or "EXPR on [-2, 2]".
        scaled: whether Phi = sum phi(n (theta - theta(0)))/n^2; else sum phi(theta - theta(0)).

    Raises:
        InputError: no data, two equal points, or a text that is refused.
        NumericalError: no solution was certified.

    Source: Liang and Montufar, implicit bias of mirror flow for shallow neural networks in
    univariate regression.
    """
    setting = read_potential(potential), read_activation(activation), read_density(density)
    return limit_of(variational_problem(*setting, scaled), x, y)


def limit_of(problem: VariationalProblem, x: Number, y: Number) -> LimitFunction:
    """Return the solution of a variational problem on data; errors as of :func:`limit_function`."""
    points, values = read_vector(x, "x"), read_vector(y, "y")
    check_data(points, values, problem.density)
    law = Law(problem.law)
    dual = Dual(tuple(points), tuple(values), law, problem.density, problem.activation)
    *fewer, most = PRECISIONS
    for bits in fewer:
        with contextlib.suppress(NumericalError), ctx.workprec(bits):
            return LimitFunction(problem, dual, dual.solve(), bits)
    with ctx.workprec(most):
        return LimitFunction(problem, dual, dual.solve(), most)


def _number(value: Value) -> Any:
    """Return a fraction, or the midpoint of a ball as an mpf of all its digits."""
    if isinstance(value, fmpq):
        return as_fraction(value)
    mantissa, exponent = arb(value).mid().man_exp()
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(int(mantissa), int(exponent)))


_NEAR = 1e-12
"""Points nearer to each other than that count as one."""


def supremum_distance(h: LimitFunction, other: LimitFunction | Net) -> float:
    """Return the largest |h(t) - other(t)| on the support of the biases, in doubles."""
    if isinstance(other, Net):
        return distance_to_net(h.table, other)
    return _largest(h.table, other.table)


def distance_to_net(table: PPoly, net: Net) -> float:
    """Return the largest |h(t) - net(t)| for the table of a limit function h."""
    x, values = net.knots(table.x[0], table.x[-1])
    apart = np.r_[True, np.diff(x) > _NEAR]
    x, values = x[apart], values[apart]
    slopes = np.diff(values) / np.diff(x)
    return _largest(table, PPoly(np.array([slopes, values[:-1]]), x))


def _largest(f: PPoly, g: PPoly) -> float:
    x = np.unique(np.concatenate([f.x, g.x]))
    order = max(len(f.c), len(g.c))
    difference = PPoly(_expanded(f, x, order) - _expanded(g, x, order), x)
    roots = difference.derivative().roots(discontinuity=False, extrapolate=False)
    points = np.concatenate([x, roots[np.isfinite(roots)]])
    return float(np.max(np.abs(difference(points))))


def _expanded(f: PPoly, x: Array, order: int) -> Array:
    """Return the coefficients of a piecewise polynomial on a finer grid."""
    rows = [f(x[:-1], nu=k) / math.factorial(k) for k in range(order)]
    return np.array(rows[::-1])
