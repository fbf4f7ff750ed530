"""Largest margins in the nuclear norm and in |DFT beta|_1, between two bounds proved in balls.

Both norms are sums of the singular values of blocks that are linear in beta: one matrix, or the
numbers of its discrete Fourier transform. The dual norm is the largest singular value.

Programs of positive matrices, followed along their central path:

    max <b, y>    s.t. S = 1 - sum_i y_i F_i >= 0,          y_i >= 0 for bounded i,
    min trace P   s.t. <F_i, P> - t_i = b_i, P >= 0, t >= 0, t_i = 0 for the others,

are <P, S> + <t, y> apart, and P S = mu, t y = mu on the path. Of blocks F = -[[0, X], [X*, 0]] the
trace is the sum of the singular values of B = -2 P_12, and <F, P> = <X, B>.

Source: Mehrotra 1992, "On the implementation of a primal-dual interior point method".
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from derive.errors import InputError
from derive.exact.balls import ball
from numerics.evaluate.numbers import Array
from numerics.margins.interval import Bounded, Near

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


CLOSE = 1e-11
"""What is between the bounds at the end, relative."""


def nuclear(shape: tuple[int, int], d: int) -> Bounded:
    """Return the nuclear norm of matrices of a shape, row by row."""
    if len(shape) != 2 or not all(isinstance(k, int) for k in shape):
        raise InputError(f"shape must be two whole numbers, not {shape!r}")
    n, m = shape
    if n * m != d or min(n, m) < 1:
        raise InputError(f"rows of {d} numbers are no {n} x {m} matrices")
    return Bounded(
        _central(lambda X: X.reshape(-1, 1, n, m), lambda B: B.reshape(-1)),
        lambda w: _singular([w[i * m : (i + 1) * m] for i in range(n)]),
    )


def dft(d: int) -> Bounded:
    """Return |DFT beta|_1; of real beta the frequencies k and d - k have one block."""
    both = np.array([2 - (2 * k % d == 0) for k in range(d // 2 + 1)])
    blocks = _central(
        lambda X: (np.fft.rfft(X, axis=1) / d)[:, :, None, None],
        lambda B: np.fft.irfft(B[:, 0, 0] / both, d),
    )
    return Bounded(blocks, _frequencies)


def _central(blocks: Callable[[Array], Array], joined: Callable[[Array], Array]) -> Near:
    """Return what finds w and lambda by the central path.

    Args:
        blocks: from an array (m, d) to one (m, K, a, b), with the pairing Re sum conj(A) B.
        joined: from blocks B to beta, whose pairing with rows is that of blocks.
    """

    def near(X: Array) -> tuple[Array, Array] | None:
        """Return the best of both on the way."""
        m, d = X.shape
        C, parts = (X, blocks(np.eye(d))) if d < m else (np.eye(m), blocks(X))
        program, a = Program(C, corners(parts), np.ones(m), np.arange(m)), parts.shape[2]
        best, multiplier, least, most = None, None, np.inf, 0.0
        for at in program.path():
            B = -2 * at.P[:, :a, a:]
            norm, margin = (
                np.linalg.svd(B, compute_uv=False).sum(),
                float(program.paired(at.P).min()),
            )
            if margin > 0 and norm < least * margin:
                best, least = B, norm / margin
            if at.y.sum() > most:
                multiplier, most = at.y, at.y.sum()
            if program.gap(at) <= CLOSE * most:
                break
        return None if best is None or multiplier is None else (joined(best), multiplier)

    return near


def _singular(rows: Sequence[Sequence[Fraction]]) -> tuple[arb, arb]:
    """Bound the sum and the largest of the singular values of A = U S V + E, E small.

    |A|_* <= |U| |V| sum S + sqrt(n) |E| and likewise without the sum: U and V need not be exact.
    """
    U, s, V = np.linalg.svd(
        np.array([[float(x) for x in row] for row in rows]), full_matrices=False
    )
    A = arb_mat([[ball(x) for x in row] for row in rows])
    E = A - _balls(U * s) * _balls(V)
    size = _operator(_balls(U).transpose()) * _operator(_balls(V))
    rest = sum((x * x for x in E.entries()), arb(0)).upper().sqrt()
    total = sum((arb(float(x)) for x in s), arb(0))
    return size * total + arb(len(s)).sqrt() * rest, size * arb(float(s[0])) + rest


def _operator(A: arb_mat) -> arb:
    """Bound the operator norm by the row sums of A A^T."""
    sums = (sum((abs(x) for x in row), arb(0)) for row in (A * A.transpose()).tolist())
    return functools.reduce(arb.max, sums).sqrt()


def _frequencies(w: Sequence[Fraction]) -> tuple[arb, arb]:
    """Return sum_k |DFT w|_k and the dual norm, max_k |DFT w|_k/d."""
    d = len(w)
    values = [ball(x) for x in w]
    turns = [arb.sin_cos_pi_fmpq(fmpq(2 * j, d)) for j in range(d)]
    sizes = []
    for k in range(d):
        parts = ((x * turns[j * k % d][0], x * turns[j * k % d][1]) for j, x in enumerate(values))
        sine, cosine = (sum(part, arb(0)) for part in zip(*parts, strict=True))
        sizes.append((sine * sine + cosine * cosine).upper().sqrt())
    return sum(sizes, arb(0)), functools.reduce(arb.max, sizes) / d


def _balls(A: Array) -> arb_mat:
    return arb_mat([[arb(float(x)) for x in row] for row in A])
