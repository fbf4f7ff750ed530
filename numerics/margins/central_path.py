"""Programs of positive matrices, followed along their central path.

    max <b, y>    s.t. S = 1 - sum_i y_i F_i >= 0,          y_i >= 0 for bounded i,
    min trace P   s.t. <F_i, P> - t_i = b_i, P >= 0, t >= 0, t_i = 0 for the others,

are <P, S> + <t, y> apart, and P S = mu, t y = mu on the path. Of blocks F = -[[0, X], [X*, 0]] the
trace is the sum of the singular values of B = -2 P_12, and <F, P> = <X, B>.

Source: Mehrotra 1992, "On the implementation of a primal-dual interior point method".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from numerics.evaluate.numbers import Array

STEPS = 40
AHEAD = 0.95
"""The part of the way to where a matrix is no longer positive that a step goes."""


@dataclass(frozen=True)
class Point:
    """P, S, t and y, or a step of them; t and y of the bounded rows are positive."""

    P: Array
    S: Array
    t: Array
    y: Array


@dataclass(frozen=True)
class Program:
    """F_i = sum_j C_ij E_j.

    Attributes:
        C: (m, k).
        E: (k, K, n, n), K blocks that are Hermitian.
        b: (m,).
        bounded: the rows with y_i >= 0.
    """

    C: Array
    E: Array
    b: Array
    bounded: Array

    def path(self) -> Iterator[Point]:
        """Yield points ever nearer to the optimum, as far as doubles lead."""
        sizes = np.abs(self.C) @ np.linalg.norm(self.E, 2, axis=(2, 3)).max(axis=1)
        y = np.zeros(len(sizes))
        y[self.bounded] = 0.5 / sizes.sum()
        one = np.broadcast_to(np.eye(self.E.shape[2]), self.E.shape[1:])
        P, S = max(1.0, y.sum()) / 2 * one, one + self._slack(y)
        at = Point(P, S, np.ones(len(self.bounded)), y)
        for _ in range(STEPS):
            yield at
            try:
                with np.errstate(all="ignore"):
                    at = self._moved(at, self._step(at))
            except np.linalg.LinAlgError:
                return
            if not np.isfinite(self.gap(at)):
                return

    def gap(self, at: Point) -> float:
        """Return what is between both programs where their constraints hold."""
        return float(np.real(np.vdot(at.P, at.S)) + at.t @ at.y[self.bounded])

    def paired(self, P: Array) -> Array:
        """Return <F_i, P>."""
        return np.asarray(self.C @ np.real(self.E.reshape(len(self.E), -1).conj() @ P.ravel()))

    def _slack(self, y: Array) -> Array:
        """Return S - 1."""
        return np.asarray(-np.tensordot(self.C.T @ y, self.E, axes=1))

    def _step(self, at: Point) -> Point:
        """Return a step: what mu = 0 leaves of second order, and how far it goes, decide it."""
        V, y, k = hermitian(np.linalg.inv(at.S)), at.y[self.bounded], self.bounded
        mu = self.gap(at) / (at.S[..., 0].size + len(y))
        rows = self.E.reshape(len(self.E), -1)
        bend = np.real(rows.conj() @ (at.P @ self.E @ V).reshape(rows.shape).T)
        H = self.C @ bend @ self.C.T
        H[k, k] += at.t / y

        def toward(P: Array, t: Array) -> Point:
            """Return the step to P and t but for the part that is linear in that of S and y."""
            rest = self.b - self.paired(P)
            rest[k] += t
            move = np.linalg.solve(H, rest)
            S = self._slack(move)
            return Point(P - at.P - hermitian(at.P @ S @ V), S, t - at.t - at.t / y * move[k], move)

        first = toward(0 * V, 0 * at.t)
        left = np.clip(self.gap(self._moved(at, first)) / self.gap(at), 0.1, 1)
        aim = left**3 * mu
        return toward(aim * V - hermitian(first.P @ first.S @ V), (aim - first.y[k] * first.t) / y)

    def _moved(self, at: Point, by: Point) -> Point:
        """Return what lies ahead, nearly as far as all stays positive."""
        y, step = at.y[self.bounded], by.y[self.bounded]
        h = min(_reach(at.P, by.P), _reach(at.t[:, None, None], by.t[:, None, None]))
        k = min(_reach(at.S, by.S), _reach(y[:, None, None], step[:, None, None]))
        P, S = hermitian(at.P + h * by.P), at.S + k * by.S
        return Point(P, S, at.t + h * by.t, at.y + k * by.y)


def corners(X: Array) -> Array:
    """Return the blocks -[[0, X], [X*, 0]]."""
    *shape, a, b = X.shape
    found = np.zeros((*shape, a + b, a + b), X.dtype)
    found[..., :a, a:], found[..., a:, :a] = -X, -np.swapaxes(X.conj(), -1, -2)
    return found


def hermitian(A: Array) -> Array:
    """Return (A + A*)/2."""
    return np.asarray((A + np.swapaxes(A.conj(), -1, -2)) / 2)


def _reach(A: Array, step: Array) -> float:
    """Return how far A + h step stays positive, nearly, and at most 1."""
    L = np.linalg.inv(np.linalg.cholesky(A))
    turned = hermitian(L @ step @ np.swapaxes(L.conj(), -1, -2))
    least = float(np.min(np.linalg.eigvalsh(turned), initial=0))
    return 1.0 if least > -AHEAD else -AHEAD / least
