"""The dual problem in m unknowns: a function through the data of least cost.

    h(x) = E alpha sigma(w x - b),  phi'(alpha) - phi'(0) = sum_i lambda_i sigma(w x_i - b),

with lambda = argmin E phi*(sum_i lambda_i sigma(w x_i - b)) - <lambda, y>: it makes h(x_i) = y_i. A
quadratic phi gives a linear system, over the rationals where the density is piecewise polynomial;
for others Newton's method ends in a ball that Krawczyk's operator maps into itself.

Integrals over the biases are sums over cells on which the density is one formula and features are
linear: feature i is g_i (x_i - b), so that the dual s(b) = sum_i lambda_i g_i (x_i - b) is linear
in b. With alpha in the place of b no inverse of phi' is left under the integral,

    int p(b) b^k alpha db = int p(b) b^k alpha phi''(alpha)/c_1 d alpha,  s = c_0 + c_1 b,

an integral of a polynomial where phi and p are polynomials: then it is written out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import TypeAlias

import numpy as np
from flint import acb, arb, arb_mat, arb_poly, ctx, fmpq, fmpq_mat
from scipy.optimize import minimize

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq
from derive.univariate.formulas import Formula, Piecewise, Value
from derive.univariate.problem import Activation, Density, DensityPiece, Potential
from numerics.evaluate.numbers import Array
from numerics.margins.interval import contracted, solve_near


@dataclass(frozen=True)
class Cell:
    """An interval of biases, of one sign of w, on which feature i is ``slopes[i] (x_i - b)``."""

    weight: fmpq
    left: fmpq
    right: fmpq
    piece: DensityPiece
    slopes: tuple[fmpq, ...]


def cells(points: Sequence[Fraction], density: Density, activation: Activation) -> list[Cell]:
    """Return the cells between all points and the ends of all pieces."""
    e, o = as_fmpq(activation.even), as_fmpq(activation.odd)
    sheets = [(fmpq(1, 2), o), (fmpq(1, 2), -o)] if o else [(fmpq(1), o)]
    found = []
    for piece in density.pieces:
        inside = sorted({x for x in points if piece.left < x < piece.right})
        for left, right in pairwise([piece.left, *inside, piece.right]):
            ends = as_fmpq(left), as_fmpq(right)
            for weight, odd in sheets:
                slopes = tuple(e + odd if x >= right else -e + odd for x in points)
                found.append(Cell(weight, *ends, piece, slopes))
    return found


def integrals(
    cell: Cell, density: Density, law: Law, points: Sequence[Value], coefficients: Sequence[Value]
) -> Integrals:
    """Return the integrals of a cell at lambda: rational where all is, else balls.

    They are int p b^k alpha for k < 2, int p b^k d alpha/ds for k < 3, int p D_phi(alpha, 0).
    """
    terms = [c * g for c, g in zip(coefficients, cell.slopes, strict=True)]
    c0 = sum((t * x for t, x in zip(terms, points, strict=True)), fmpq(0))
    c1 = -sum(terms, fmpq(0))
    if law.constant is not None:
        moments = density.moments(cell.piece, cell.left, cell.right, 3)
        return _Linear(moments, c0, c1, law.constant)
    return _Substituted(cell, density, law, arb(c0), arb(c1))


@dataclass(frozen=True)
class _Linear:
    """The integrals of a cell where alpha = s/k, from the moments of p there."""

    moments: Sequence[Value]
    c0: Value
    c1: Value
    k: fmpq

    @property
    def first(self) -> Sequence[Value]:
        m = self.moments
        return [(self.c0 * m[i] + self.c1 * m[i + 1]) / self.k for i in range(2)]

    @property
    def second(self) -> Sequence[Value]:
        return [m / self.k for m in self.moments]

    @property
    def divergence(self) -> Value:
        m, c0, c1 = self.moments, self.c0, self.c1
        return (c0 * c0 * m[0] + 2 * c0 * c1 * m[1] + c1 * c1 * m[2]) / (2 * self.k)


class _Substituted:
    """The integrals of a cell in alpha."""

    def __init__(self, cell: Cell, density: Density, law: Law, c0: arb, c1: arb) -> None:
        self.cell, self.density, self.law, self.c0, self.c1 = cell, density, law, c0, c1
        self.low, self.high = (law.inverse(c0 + c1 * b) for b in (cell.left, cell.right))
        self.flat = c1.contains(0) or abs(c1) < arb(2) ** (-ctx.prec // 2)
        self.zero = [law.at_zero(f) for f in (law.potential.function, law.potential.slope)]

    @functools.cached_property
    def first(self) -> Sequence[arb]:
        return [self._integral(_ALPHA, k) for k in range(2)]

    @functools.cached_property
    def second(self) -> Sequence[arb]:
        return [self._integral(_RESPONSE, k) for k in range(3)]

    @functools.cached_property
    def divergence(self) -> arb:
        return self._integral(_DIVERGENCE, 0)

    def _integral(self, of: Integrand, k: int) -> arb:
        """Return int p(b) b^k F db."""
        if self.flat:
            return self._flat(of, k)
        total, low, high = arb(0), self.low, self.high
        breaks = [arb(as_fmpq(x)) for x in self.law.potential.function.breaks]
        for number, (left, right) in enumerate(pairwise([arb("-inf"), *breaks, arb("inf")])):
            # What is beyond an end of a piece, surely or not, is taken for the end.
            if not ((low < left and high < left) or (low > right and high > right)):
                begin, end = (alpha.max(left).min(right) for alpha in (low, high))
                total += self._piece(number, begin, end, (of, k))
        return total

    def _flat(self, of: Integrand, k: int) -> arb:
        """Return it where alpha is nearly constant."""
        cell, alpha = self.cell, self.low.union(self.high)
        potential = self.law.potential
        functions = (potential.function, potential.curvature)
        phi, curvature = (self.law.on_ball(f, alpha) for f in functions)
        above = phi - self.zero[0] - self.zero[1] * alpha
        value = of.plain(lambda: above, lambda: curvature, alpha)
        moments = self.density.moments(cell.piece, cell.left, cell.right, k + 1)
        spread = value.rad() * max(abs(cell.left), abs(cell.right)) ** k * moments[0]
        return arb(value.mid() * moments[k] + arb(0, spread.abs_upper()))

    def _piece(self, number: int, low: arb, high: arb, of: tuple[Integrand, int]) -> arb:
        """Return the part from low to high in one piece of phi."""
        potential = self.law.potential
        orders = (potential.function, potential.slope, potential.curvature)
        phi, slope, curvature = (f.formulas[number] for f in orders)
        density = self.cell.piece.formula
        unit, factor = 1 / self.c1, 1 / (self.c1 * self.density.mass)
        origin = self.zero[1] + self.c0

        def value(alpha: Value, evaluate: Callable[[Formula, Value], Value]) -> Value:
            b = (evaluate(slope, alpha) - origin) * unit
            weight = evaluate(density, b) * factor
            for _ in range(of[1]):
                weight = weight * b

            def divergence() -> Value:
                return evaluate(phi, alpha) - self.zero[0] - alpha * self.zero[1]

            return weight * of[0].curved(divergence, lambda: evaluate(curvature, alpha), alpha)

        if all(f.polynomial is not None for f in (phi, density)):
            whole = value(arb_poly([0, 1]), lambda f, x: arb_poly(f.polynomial)(x)).integral()
            return arb(whole(high) - whole(low))
        return acb.integral(
            lambda z, analytic: value(z, lambda f, x: f.on_balls(x, analytic)), acb(low), acb(high)
        ).real


Integrals: TypeAlias = _Linear | _Substituted
Later: TypeAlias = Callable[[], Value]
"""A value that is computed where it is needed: under an integral every evaluation counts."""


@dataclass(frozen=True)
class Integrand:
    """F, of which int p b^k F db is asked, and F phi'': of D_phi(alpha), phi''(alpha) and alpha."""

    plain: Callable[[Later, Later, Value], Value]
    curved: Callable[[Later, Later, Value], Value]


_ALPHA = Integrand(lambda d, c, alpha: alpha, lambda d, c, alpha: alpha * c())
_RESPONSE = Integrand(lambda d, c, alpha: 1 / c(), lambda d, c, alpha: alpha * 0 + 1)
_DIVERGENCE = Integrand(lambda d, c, alpha: d(), lambda d, c, alpha: d() * c())


_GROWTHS, _STEPS = 400, 100


@dataclass(frozen=True)
class Law:
    """A potential phi and the inverse of s = phi'(alpha) - phi'(0)."""

    potential: Potential

    @property
    def constant(self) -> fmpq | None:
        """phi'' of a quadratic potential; s is that times alpha."""
        return self.potential.quadratic

    def at_zero(self, function: Piecewise) -> arb:
        """Return the value of phi or a derivative at 0."""
        return function.at(Fraction(0)).on_balls(acb(0)).real

    def dual(self, alpha: arb) -> arb:
        """Return s on a ball."""
        return self.on_ball(self.potential.slope, alpha) - self.at_zero(self.potential.slope)

    def on_ball(self, function: Piecewise, alpha: arb) -> arb:
        """Return the values of all pieces that a ball may meet."""
        breaks = [arb(as_fmpq(b)) for b in function.breaks]
        first = sum(1 for b in breaks if alpha > b)
        last = sum(1 for b in breaks if not alpha < b)
        values = [f.on_balls(acb(alpha)).real for f in function.formulas[first : last + 1]]
        found = values[0]
        for value in values[1:]:
            found = found.union(value)
        return found

    def inverse(self, s: Value) -> arb:
        """Return a ball around the only alpha of a ball of duals; NumericalError without one."""
        s = arb(s)
        if self.constant is not None or s.is_zero():
            return arb(s / (self.constant or 1))
        alpha, tiny = self._near(s.mid()), arb(2) ** -ctx.prec
        radius = tiny * (1 + abs(alpha))
        for _ in range(_STEPS):
            below, above = self.dual((alpha - radius).mid()), self.dual((alpha + radius).mid())
            if below < s and above > s:
                return alpha + arb(0, radius.abs_upper())
            radius *= 8
        raise NumericalError(f"phi'(alpha) = {s.str(5)} could not be solved")

    def _near(self, s: arb) -> arb:
        """Return an exact number near alpha, by Newton's method from doubles."""
        alpha = arb(float(self.on_arrays(np.array([float(s)]))[0]))
        for _ in range(_STEPS):
            slope = self.on_ball(self.potential.curvature, alpha).mid()
            step = (self.dual(alpha).mid() - s) / slope if not slope.is_zero() else arb(0)
            if not step.is_finite():
                break
            alpha = (alpha - step.mid()).mid()
            if abs(step) <= arb(2) ** (10 - ctx.prec) * (1 + abs(alpha)):
                break
        return alpha

    def on_arrays(self, s: Array, near: Array | None = None) -> Array:
        """Return alpha of doubles: Newton's method inside brackets, *near* if there is a guess."""
        if self.constant is not None:
            return s / float(self.constant.p) * float(self.constant.q)
        slope, curvature = self.potential.slope, self.potential.curvature
        offset = float(slope.on_arrays(np.zeros(1))[0])
        low, high = self._bracket(s, offset)
        alpha = np.zeros_like(s) if near is None else near
        for _ in range(_STEPS):
            excess = slope.on_arrays(alpha) - offset - s
            low, high = np.where(excess < 0, alpha, low), np.where(excess > 0, alpha, high)
            with np.errstate(all="ignore"):
                moved = alpha - excess / curvature.on_arrays(alpha)
            inside = (moved >= low) & (moved <= high)
            moved = np.where(inside, moved, (low + high) / 2)
            if np.all(np.abs(moved - alpha) <= 4e-16 * np.abs(moved)):
                return moved
            alpha = moved
        return alpha

    def _bracket(self, s: Array, offset: float) -> tuple[Array, Array]:
        """Return numbers below and above all alpha."""
        ends = []
        for side, far in ((-1.0, min(0.0, float(s.min()))), (1.0, max(0.0, float(s.max())))):
            end = np.array([side])
            for _ in range(_GROWTHS):
                with np.errstate(over="ignore"):
                    reached = self.potential.slope.on_arrays(end)[0] - offset
                if side * reached >= side * far:
                    break
                end = 1.5 * end
            else:
                raise NumericalError(f"phi' is bounded: no alpha has phi'(alpha) = {far:.4g}")
            ends.append(np.full_like(s, end[0]))
        return ends[0], ends[1]


LARGEST = 10**100
"""Of the numbers of data, which doubles are to hold with their squares."""
_NODES = 40
_CLOSE = 1e-10
"""Misfit of doubles, relative to y."""
_ALIKE = 36
"""Bits of multipliers, from that of the largest, from which Newton's method begins."""


@dataclass(frozen=True)
class Dual:
    """The dual problem of data on distinct points of the support."""

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    law: Law
    density: Density
    activation: Activation

    def state(self, coefficients: Sequence[Value], at: Fraction | None = None) -> State:
        """Return all integrals at lambda; with another point *at* which h is asked for."""
        points = (*self.x, at) if at is not None else self.x
        values, given = [as_fmpq(x) for x in points], [*coefficients]
        given += [fmpq(0)] * (len(points) - len(given))
        on = cells(points, self.density, self.activation)
        found = [(c, integrals(c, self.density, self.law, values, given)) for c in on]
        return State(tuple(values), tuple(found))

    def solve(self) -> tuple[Value, ...]:
        """Return lambda: rational numbers, or balls that hold it; NumericalError without one."""
        y = [[as_fmpq(v)] for v in self.y]
        if self.law.constant is not None:
            hessian = self.state([fmpq(0)] * len(self.x)).hessian()
            exact = all(isinstance(c, fmpq) for row in hessian for c in row)
            try:
                if exact:
                    return tuple(fmpq_mat(hessian).solve(fmpq_mat(y)).entries())
                return tuple(arb_mat(hessian).solve(arb_mat(y)).entries())
            except ZeroDivisionError:
                raise NumericalError("the kernel matrix of these points is singular") from None
        if not any(self.y):
            return tuple(arb(0) for _ in self.y)
        found = self._near()
        # Of symmetric data s is constant on cells: there doubles that nearly agree are made equal.
        grid = 2.0 ** (np.ceil(np.log2(np.abs(found).max())) - _ALIKE)
        near = [arb(float(c)) for c in np.round(found / grid) * grid]
        polished = solve_near(self._system, near)
        if polished is None:
            raise NumericalError("Newton's method on the dual problem did not converge")
        return self._certified(polished)

    def _system(self, x: list[arb]) -> tuple[arb_mat, arb_mat]:
        """Return h - y at all points, and its derivatives by lambda."""
        state = self.state(x)
        pairs = zip(state.values(), self.y, strict=True)
        return arb_mat([[value - as_fmpq(y)] for value, y in pairs]), arb_mat(state.hessian())

    def _certified(self, near: list[arb]) -> tuple[arb, ...]:
        """Return balls around *near* that Krawczyk's operator maps into themselves."""
        scale = max(abs(c) for c in near) + arb(2) ** -ctx.prec
        radius = (scale * arb(2) ** (-ctx.prec * 3 // 5)).abs_upper()
        box = contracted(self._system, near, [radius] * len(near))
        if box is None:
            raise NumericalError("no ball was certified around the solution of the dual problem")
        return tuple(box)

    def _near(self) -> Array:
        """Return lambda in doubles, by quadrature and a trust region."""
        nodes, weights, y = *self._quadrature(), np.array([float(v) for v in self.y])
        phi, law = self.law.potential, self.law
        zero, one = (float(f.on_arrays(np.zeros(1))[0]) for f in (phi.function, phi.slope))

        def parts(c: Array) -> tuple[Array, Array]:
            s = c @ nodes
            return s, law.on_arrays(s)

        def value(c: Array) -> float:
            s, alpha = parts(c)
            return float(
                weights @ ((s + one) * alpha - phi.function.on_arrays(alpha) + zero) - c @ y
            )

        def gradient(c: Array) -> Array:
            return np.asarray(nodes @ (weights * parts(c)[1]) - y)

        def hessian(c: Array) -> Array:
            curvature = phi.curvature.on_arrays(parts(c)[1])
            return np.asarray((nodes * (weights / np.maximum(curvature, 1e-6))) @ nodes.T)

        start = np.linalg.solve(hessian(np.zeros(len(y))), y)
        close = {"gtol": _CLOSE * float(np.abs(y).max())}
        found = minimize(value, start, (), "trust-exact", gradient, hessian, options=close)
        return np.asarray(found.x)

    def _quadrature(self) -> tuple[Array, Array]:
        """Return features (m, nodes) and weights with the density, by Gauss and Legendre."""
        unit, rule = np.polynomial.legendre.leggauss(_NODES)
        points, mass = np.array([float(x) for x in self.x]), float(arb(self.density.mass))
        features, weights = [], []
        for cell in cells(self.x, self.density, self.activation):
            half, middle = float(cell.right - cell.left) / 2, float(cell.right + cell.left) / 2
            b, g = middle + half * unit, np.array([float(arb(g)) for g in cell.slopes])
            features.append(g[:, None] * (points[:, None] - b))
            p = cell.piece.formula.on_arrays(b) / mass
            weights.append(float(arb(cell.weight)) * half * rule * p)
        return np.hstack(features), np.concatenate(weights)


@dataclass(frozen=True)
class State:
    """The integrals on all cells at some lambda."""

    points: tuple[fmpq, ...]
    found: tuple[tuple[Cell, Integrals], ...]

    def values(self) -> list[Value]:
        """Return h at all points."""
        return [self.value(i) for i in range(len(self.points))]

    def value(self, i: int) -> Value:
        """Return h at a point."""
        x = self.points[i]
        parts = (c.weight * c.slopes[i] * (x * f.first[0] - f.first[1]) for c, f in self.found)
        return sum(parts, fmpq(0))

    def slope(self, i: int) -> Value:
        """Return h' at a point, from the left."""
        return sum((c.weight * c.slopes[i] * f.first[0] for c, f in self.found), fmpq(0))

    def divergence(self) -> Value:
        """Return E D_phi(alpha, 0)."""
        return sum((c.weight * f.divergence for c, f in self.found), fmpq(0))

    def hessian(self) -> list[list[Value]]:
        """Return E alpha'(s) sigma(w x_i - b) sigma(w x_j - b)."""
        m = len(self.points)
        entries: list[list[Value]] = [[fmpq(0)] * m for _ in range(m)]
        for cell, f in self.found:
            for i, j in combinations_with_replacement(range(m), 2):
                x, z, n = self.points[i], self.points[j], f.second
                if factor := cell.weight * cell.slopes[i] * cell.slopes[j]:
                    term = factor * (x * z * n[0] - (x + z) * n[1] + n[2])
                    entries[i][j] = entries[j][i] = entries[i][j] + term
        return entries


def check_data(x: Sequence[Fraction], y: Sequence[Fraction], density: Density) -> None:
    """Raise InputError for data without a function through them, or outside the support."""
    if len(x) != len(y):
        raise InputError(f"there are {len(x)} points x but {len(y)} values y")
    if any(abs(v) > LARGEST for v in (*x, *y)):
        raise InputError("the data have a number beyond 1e100: give them in a larger unit")
    seen: set[Fraction] = set()
    for point in x:
        if point in seen:
            raise InputError(f"two points have x = {point}: give each x once")
        seen.add(point)
    low, high = density.support
    if outside := [p for p in x if not low <= p <= high]:
        end = max(map(abs, outside))
        wider = f"give a density on a wider set, such as --density 'uniform on [-{end}, {end}]'"
        raise InputError(f"x = {outside[0]} is outside the support [{low}, {high}]: {wider}")
