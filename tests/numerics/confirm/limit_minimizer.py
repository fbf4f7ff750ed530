"""The minimizer of a limit of Q subject to X beta = y, from the limit alone.

Where the limit is smooth at its minimizer, that of Q is at a distance of the order of the relative
error of the gradient, or nearer where that error is orthogonal to {X v = 0}. Where it is l1, a
coordinate at which the dual leaves room, x_j^T nu strictly between the slopes, vanishes as the
inverse mirror map says: beta_j = (grad Q)^-1(N x_j^T nu).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.optimize
import sympy
from sympy import Expr

from derive.errors import NumericalError
from derive.limits.limit import Limit, LimitingPotential
from derive.records import Potential
from numerics.evaluate.backend import Array, on_arrays, quiet
from numerics.evaluate.lowering import lower
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.least_l1 import least_l1

_SUPPORT = 1e-9
"""Of the largest coordinate: what is smaller is 0."""
_ROOM = 0.15
"""Of a slope: the room in the dual of a linear program with which its end is soon reached."""
_CLEAR = 0.05
"""Of an error: the component that moves the minimizer."""
_SOLVED = 1e-9


@dataclass(frozen=True, slots=True)
class LimitProblem:
    """A limit of Q with numbers: X (m, d), y (m,) in its coordinates, the *rest* of the symbols."""

    Q: Potential
    limit: Limit
    X: Array
    y: Array
    rest: Mapping[str, Fraction]

    @property
    def basis(self) -> Array:
        """M (d, d) with beta = origin + M x."""
        return basis_of(self.limit, self.X.shape[1])

    @property
    def rows(self) -> Array:
        """The constraints (m, d) on the coordinates of the limit."""
        return self.X @ self.basis

    @property
    def limiting(self) -> LimitingPotential:
        """The limit."""
        if self.limit.potential is None:
            raise NumericalError("there is no limit to minimise")
        return self.limit.potential

    def potential(self, scale: Fraction) -> NumericPotential:
        """Return Q in numbers at a value of the symbol that moves."""
        return lower(self.Q, {**self.rest, self.limit.point.variable: scale}).in_doubles

    def number(self, expression: Expr | None, scale: Fraction, x: Array) -> float:
        """Return an expression at a value of the symbol that moves and at x; 0 for None."""
        if expression is None:
            return 0.0
        at = {c.name: v for c, v in zip(self.limit.coordinates, x, strict=False)}
        return float(self.values([expression], {**at, self.limit.point.variable: scale})[0])

    def values(
        self, expressions: Sequence[Expr], more: Mapping[str, Array | Fraction | float]
    ) -> list[Array]:
        """Return expressions in the start symbols and others, in doubles."""
        with quiet():
            given = {**self.rest, **more}
            known = {n: np.asarray(v, dtype=np.float64) for n, v in given.items()}
            return on_arrays(expressions)(known)

    def origin(self, scale: Fraction) -> Array:
        """Return the point of beta that is 0 in the coordinates of the limit."""
        d = self.X.shape[1]
        origin = self.limit.origin or (sympy.S.Zero,)
        return np.resize([self.number(c, scale, np.zeros(d)) for c in origin], d)


def basis_of(limit: Limit, d: int) -> Array:
    """Return M (d, d) with beta = origin + M x, of as many copies of the outputs as there are."""
    M = np.eye(1) if limit.basis is None else np.array(limit.basis, dtype=np.float64)
    return np.kron(np.eye(d // len(M)), M)


@dataclass(frozen=True, slots=True)
class Least:
    """The minimizer of a limit (d,), and the order, or if not *sharp* a bound, of the distance."""

    beta: Array
    rate: Callable[[Fraction], float]
    sharp: bool


def least_of_limit(problem: LimitProblem, scale: Fraction) -> Least:
    """Return the minimizer of a limit, and how fast that of Q tends to it; *scale* is near."""
    if _is_linear(problem):
        return _by_program(problem)
    # The limit is smooth: G(beta) = X^T nu, X beta = y.
    if problem.limiting.degree == 2:
        beta = _by_linear_algebra(problem)
    elif problem.limiting.shape == "l2":
        beta = np.asarray(np.linalg.pinv(problem.rows) @ problem.y)
    else:
        beta = _by_iteration(problem)
    inexact = problem.limit.error is not None and problem.limit.sharp
    sharp = inexact and _moves(problem, beta, scale)
    return Least(beta, lambda at: abs(problem.number(problem.limit.error, at, beta)), sharp)


def _is_linear(problem: LimitProblem) -> bool:
    """Tell whether the limit of Q is linear on each side of 0."""
    if problem.limiting.curve is not None:
        return False
    names = {c.name for c in problem.limit.coordinates}
    slopes = filter(None, (*problem.limiting.gradient, *problem.limit.below))
    return names.isdisjoint(s.name for g in slopes for s in g.free_symbols)


def _by_program(problem: LimitProblem) -> Least:
    """Minimise the sum of up_j beta_j where beta_j > 0 and of down_j beta_j where beta_j < 0."""
    X = problem.rows
    m, d = X.shape
    up, down = (
        np.resize([np.nan if g is None else float(problem.values([g], {})[0]) for g in side], d)
        for side in (problem.limiting.gradient, problem.limit.below)
    )
    open_below = np.isfinite(down)  # elsewhere Q ends at 0
    least = least_l1(X, problem.y, up, np.where(open_below, -down, np.inf))
    beta, slopes = least.value, X.T @ least.multiplier
    size = np.abs(beta).max()
    off = np.flatnonzero(np.abs(beta) <= _SUPPORT * size)
    room = np.fmin(up - slopes, np.where(open_below, slopes - down, np.inf))[off]
    if len(off) != d - m or room.min() < _ROOM * np.abs(up).max():
        raise NumericalError("the linear program has several solutions, or nearly so")

    def rate(scale: Fraction) -> float:
        duals = np.zeros(d)
        duals[off] = problem.number(problem.limit.unit, scale, beta) * slopes[off]
        M = problem.basis
        moved = problem.potential(scale).inverse_gradient(np.linalg.solve(M.T, duals))
        moved = moved - problem.origin(scale)
        return float(np.abs(np.linalg.solve(M, moved)[off]).max() / size)

    return Least(beta, rate, True)


def _by_linear_algebra(problem: LimitProblem) -> Array:
    X, names = problem.rows, problem.limit.coordinates
    m, d = X.shape
    zeros = {c.name: 0.0 for c in names}
    slopes = [float(g) for g in problem.values(problem.limiting.gradient, zeros)]
    known = {s.name: s for g in problem.limiting.gradient for s in g.free_symbols}
    variables = [known.get(c.name, c) for c in names]  # as the gradient of the limit has them
    entries = [sympy.diff(g, c) for g in problem.limiting.gradient for c in variables]
    H = np.array([float(h) for h in problem.values(entries, zeros)]).reshape(len(names), -1)
    if len(names) < d:
        H = H[0, 0] * np.eye(d)
    system = np.block([[H, -X.T], [X, np.zeros((m, m))]])
    return np.linalg.solve(system, np.concatenate([-np.resize(slopes, d), problem.y]))[:d]


def _by_iteration(problem: LimitProblem) -> Array:
    """Solve by SciPy's hybrid method, in the parameter of the limit where it has one."""
    X, curve = problem.rows, problem.limiting.curve
    d = X.shape[1]

    def position(t: Array) -> Array:
        return t if curve is None else problem.values([curve], _named(problem, t))[0]

    def equations(unknown: Array) -> Array:
        t, nu = unknown[:d], unknown[d:]
        return np.concatenate([_gradient(problem, t) - X.T @ nu, X @ position(t) - problem.y])

    near = np.linalg.pinv(X) @ problem.y
    start = near if curve is None else np.tanh(near)
    nu = np.linalg.lstsq(X.T, _gradient(problem, start), rcond=None)[0]
    found = scipy.optimize.root(equations, np.concatenate([start, nu]), tol=1e-14).x
    if not np.abs(equations(found)).max() < _SOLVED:
        raise NumericalError("the minimizer of the limit was not found")
    beta = position(found[:d])
    separable = any(len(b) == 1 for b in problem.Q.parameterization.blocks)
    if separable and curve is None and beta.min() <= 0:
        raise NumericalError("the minimizer of the limit has negative coordinates")
    return beta


def _named(problem: LimitProblem, t: Array) -> dict[str, Array]:
    curve, names = problem.limiting.curve, [c.name for c in problem.limit.coordinates]
    if curve is not None:
        (z,) = curve.free_symbols
        return {z.name: t}
    return {names[0]: t} if len(names) < len(t) else dict(zip(names, t, strict=True))


def _gradient(problem: LimitProblem, t: Array) -> Array:
    """Return G (d,), at beta or at the parameter of the limit."""
    found = problem.values(problem.limiting.gradient, _named(problem, t))
    return np.array(np.broadcast_to(found[0] if len(found) < len(t) else np.array(found), t.shape))


def _moves(problem: LimitProblem, beta: Array, scale: Fraction) -> bool:
    """Tell whether the error of the gradient has a component that moves the minimizer."""
    if problem.limiting.curve is not None:
        return False
    q = problem.potential(scale)
    slopes = np.atleast_1d(q.gradient(problem.basis @ beta + problem.origin(scale)))
    found = problem.basis.T @ slopes / problem.number(problem.limit.unit, scale, beta)
    error = found - _gradient(problem, beta)
    along = np.linalg.svd(problem.rows)[2][problem.rows.shape[0] :] @ error
    return bool(np.linalg.norm(along) > _CLEAR * np.linalg.norm(error))
