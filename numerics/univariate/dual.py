"""The dual problem in m unknowns: a function through the data of least cost.

    h(x) = E alpha sigma(w x - b),  phi'(alpha) - phi'(0) = sum_i lambda_i sigma(w x_i - b),

with lambda = argmin E phi*(sum_i lambda_i sigma(w x_i - b)) - <lambda, y>: it makes h(x_i) = y_i. A
quadratic phi gives a linear system, over the rationals where the density is piecewise polynomial;
for others Newton's method ends in a ball that Krawczyk's operator maps into itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from scipy.optimize import minimize

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq
from derive.univariate.formulas import Value
from derive.univariate.potential import Density
from derive.univariate.problem import Activation
from numerics.evaluate.numbers import Array
from numerics.margins.interval import contracted, solve_near
from numerics.univariate.cells import Cell, Integrals, Law, cells, integrals

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
