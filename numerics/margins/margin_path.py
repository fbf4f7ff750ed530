"""The monotone dual path: what a flow of exponential loss tends to as all is scaled up.

At a level c of the smallest margin, s(c) starts from s(c - dc) and may only rise:

    s(c) = argmin { Q*(X^T s) - c sum_i s_i : s >= s(c - dc) },   beta = grad Q*(X^T s),

so that u_i = <x_i, beta> >= c, with equality where s_i rises. On these rows ds/dc = (X K X^T)^-1 1.
A row at which that turns negative leaves: its s_i stays, where the largest margin in Q, with s >= 0
alone, would let it fall.

Source: our own derivation. Moroshko et al. 2020 have the margin in Q, under hypotheses not at hand;
both are one as long as no row leaves.

beta and margins as functions of the multipliers: grad Q(beta) = X^T s.

Gradient flow under exponential loss in the dual numbers s and the logarithm of the loss.

With u = X grad Q*(X^T s) and L = sum exp(-u_i), s' = exp(-u) up to the clock, so with p = exp(-u)/L

    ds/dl = p/(p^T X K X^T p),   l = log(1/L),   K = (Hess Q)^-1,

which has no time in it and m unknowns: l = 10^9 is as near as l = 10.
A warp changes the clock alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.special import logsumexp, softmax

from derive.errors import InputError, NumericalError
from derive.printable import Held
from numerics.evaluate.numbers import Array, read_array
from numerics.evaluate.potential import NumericPotential


@dataclass(frozen=True)
class Dual:
    """The predictors with grad Q in the span of the rows of X, which carry their labels."""

    q: NumericPotential
    X: Array

    def beta(self, s: Array) -> Array:
        """Return the beta with grad Q(beta) = X^T s."""
        found = np.asarray(self.q.inverse_gradient(self.X.T @ s), float)
        if not np.all(np.isfinite(found)):
            raise FloatingPointError("grad Q = X^T s has no solution in doubles")
        return found

    def gram(self, beta: Array, s: Array) -> Array:
        """Return X K X^T, K = (Hess Q)^-1 at beta(s): how the margins change with s."""
        if self.q.separable:
            # Not 1/Q''(beta), which may have to look for s once more.
            return np.asarray((self.X * self.q.stretch(beta, self.X.T @ s)) @ self.X.T)
        return np.asarray(self.X @ np.linalg.solve(self.q.hessian(beta), self.X.T))


def read_dual(q: object, X: ArrayLike) -> Dual:
    """Read Q in numbers and rows; one Q of a single output is used for each column."""
    if not isinstance(q, NumericPotential):
        raise InputError("Q must be in numbers: give d.potential.numeric(start)")
    rows = read_array(X, "X")
    if rows.ndim != 2 or not rows.size or (q.d > 1 and rows.shape[1] != q.d):
        raise InputError(f"X must have rows of {q.d if q.d > 1 else 'some'} numbers")
    if not np.all(np.isfinite(rows)):
        raise InputError("X must be finite")
    return Dual(q.in_doubles, rows)


def read_levels(levels: ArrayLike, least: float, what: str) -> Array:
    """Read levels that increase from above *least*."""
    found = read_array(levels, what)
    if found.ndim != 1 or not found.size or not np.all(np.diff(found, prepend=least) > 0):
        raise InputError(f"{what} must increase, from above {least:g}")
    return found


NEWTON, STEPS = 30, 20_000
TOLERANCE = 1e-12
"""Of margins, relative to the level."""
DEPENDENT = 1e-12
EVENT = 1e-6
"""Steps in c, relative, to which a change of the rows that rise is found."""


@dataclass(frozen=True, eq=False, repr=False)
class LossFlow(Held):
    """The flow at some levels of the loss.

    Attributes:
        levels: log(1/L) (n).
        value: beta (n, d).
        multiplier: s (n, m).
    """

    levels: Array
    value: Array
    multiplier: Array


@dataclass(frozen=True, eq=False)
class MarginPath(LossFlow):
    """The path at levels c of the smallest margin.

    Attributes:
        left: rows, from 0, that stopped rising, each with its level: from the first on, the largest
            margin in Q is another predictor.
    """

    left: tuple[tuple[int, float], ...]


def margin_path(q: object, X: ArrayLike, levels: ArrayLike) -> MarginPath:
    """Follow the monotone dual path of Q.

    Args:
        q: ``d.potential.numeric(start)``; one of a single output is used for each column of X.
        X: m rows of d numbers that carry their labels.
        levels: increasing smallest margins, above that of beta_0.

    Raises:
        InputError: Q, X or the levels do not fit.
        NumericalError: the path could not be followed to a level.
    """
    dual = read_dual(q, X)
    walk = _Walk(dual)
    wanted = read_levels(levels, walk.c, "levels")
    rows = []
    with np.errstate(all="ignore"):
        for c in wanted:
            walk.to(float(c))
            rows.append((dual.beta(walk.s), walk.s.copy()))
    value, multiplier = (np.array(x) for x in zip(*rows, strict=True))
    return MarginPath(wanted, value, multiplier, tuple(walk.left))


class _Walk:
    """The state of the path: c, s, and the rows that rise."""

    def __init__(self, dual: Dual) -> None:
        self.dual, self.s = dual, np.zeros(len(dual.X))
        self.c = float(np.min(dual.X @ dual.beta(self.s)))
        self.rising: frozenset[int] = frozenset()
        self.left: list[tuple[int, float]] = []
        self._step = 1e-3

    def to(self, end: float) -> None:
        """Go on to a level: steps that change which rows rise are made small."""
        for _ in range(STEPS):
            if self.c >= end:
                return
            c = min(end, self.c + self._step * max(1.0, abs(self.c)))
            small = self._step <= EVENT
            found = self._solved(c)
            if found is None or not (small or self._alike(*found)):
                self._step /= 4
                if self._step < EVENT / 100:
                    break
                continue
            s, rising = found
            self.left += [(i, self.c) for i in sorted(self.rising - rising)]
            self.s, self.rising, self.c = s, rising, c
            self._step *= 2
        raise NumericalError(f"the path was followed to the margin {self.c:.6g}, not to {end:.6g}")

    def _alike(self, s: Array, rising: frozenset[int]) -> bool:
        """Tell whether the same rows rise as before, and still do at the end of a step."""
        rows = sorted(rising)
        gram = self.dual.gram(self.dual.beta(s), s)[np.ix_(rows, rows)]
        return rising == self.rising and bool(np.all(np.linalg.solve(gram, np.ones(len(rows))) > 0))

    def _solved(self, c: float) -> tuple[Array, frozenset[int]] | None:
        """Return s >= the last s with margins >= c, equal where s rises; None where it fails."""
        rows = set(self.rising)
        for _ in range(3 * len(self.s) + 3):
            s = self._newton(sorted(rows), c)
            if s is None:
                return None
            falling = [i for i in rows if s[i] < self.s[i]]
            if falling:
                rows.remove(min(falling, key=lambda i: s[i] - self.s[i]))
                continue
            margins = self.dual.X @ self.dual.beta(s)
            margins[sorted(rows)] = np.inf
            worst = int(np.argmin(margins))
            if margins[worst] >= c - TOLERANCE * max(1.0, abs(c)):
                return s, frozenset(rows)
            if not self._make_room(rows, s, worst):
                return None
            rows.add(worst)
        return None

    def _make_room(self, rows: set[int], s: Array, new: int) -> bool:
        """Take out the row whose s falls first, as that of one that depends on *rows* rises."""
        old, X = sorted(rows), self.dual.X
        z = np.linalg.lstsq(X[old].T, -X[new])[0]
        if np.linalg.norm(X[new] + z @ X[old]) > DEPENDENT * np.linalg.norm(X[new]):
            return True
        room = {i: (s[i] - self.s[i]) / -a for i, a in zip(old, z, strict=True) if a < 0}
        rows -= {min(room, key=room.__getitem__, default=-1)}
        return bool(room)

    def _newton(self, rows: list[int], c: float) -> Array | None:
        """Return s that is the last one but on *rows*, where the margins are c."""
        s = self.s.copy()
        if not rows:
            return s
        try:
            for _ in range(NEWTON):
                beta = self.dual.beta(s)
                gap = c - (self.dual.X @ beta)[rows]
                if np.max(np.abs(gap)) <= TOLERANCE * max(1.0, abs(c)):
                    return s
                s[rows] += np.linalg.solve(self.dual.gram(beta, s)[np.ix_(rows, rows)], gap)
        except (FloatingPointError, np.linalg.LinAlgError):
            return None
        return None


EVALUATIONS = 20_000
"""Of the field, after which the flow is given up."""


def loss_flow(q: object, X: ArrayLike, levels: ArrayLike, tolerance: float = 1e-10) -> LossFlow:
    """Follow gradient flow on sum_i exp(-<x_i, beta>) to losses exp(-level).

    Args:
        q: ``d.potential.numeric(start)``; one of a single output is used for each column of X.
        X: m rows of d numbers that carry their labels, separable.
        levels: increasing log(1/L), above that at the start.
        tolerance: relative, of s.

    Raises:
        InputError: Q, X or the levels do not fit.
        NumericalError: the flow did not reach a level.
    """
    dual = read_dual(q, X)
    zero = np.zeros(len(dual.X))
    first = -float(logsumexp(-dual.X @ dual.beta(zero)))
    wanted = read_levels(levels, first, "levels")
    field = _Field(dual)
    with np.errstate(all="ignore"):
        try:
            found = solve_ivp(
                field.slope,
                (first, wanted[-1]),
                zero,
                method="BDF",
                t_eval=wanted,
                jac=field.jacobian,
                rtol=tolerance,
                atol=tolerance / 100,
            )
        except (FloatingPointError, ValueError) as error:  # not finite, here or in SciPy
            raise NumericalError(f"the flow was not followed: {error}") from None
    if not found.success:
        raise NumericalError(f"the flow was not followed to log(1/L) = {wanted[-1]:g}")
    s = found.y.T
    return LossFlow(wanted, np.array([dual.beta(x) for x in s]), s)


class _Field:
    """ds/dl and about its derivative: X K X^T p is nearly constant where p is not 0."""

    def __init__(self, dual: Dual) -> None:
        self.dual, self.left = dual, EVALUATIONS

    def _parts(self, s: Array) -> tuple[Array, Array, float]:
        self.left -= 1
        if self.left < 0:
            raise FloatingPointError("doubles do not tell its margins apart at such levels")
        beta = self.dual.beta(s)
        p, gram = softmax(-self.dual.X @ beta), self.dual.gram(beta, s)
        return p, gram, float(p @ gram @ p)

    def slope(self, level: float, s: Array) -> Array:
        p, _, rate = self._parts(s)
        return p / rate

    def jacobian(self, level: float, s: Array) -> Array:
        p, gram, rate = self._parts(s)
        return np.asarray(-(np.diag(p) - np.outer(p, p)) @ gram / rate)
