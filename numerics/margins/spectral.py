"""Largest margins in the nuclear norm and in |DFT beta|_1, between two bounds proved in balls.

Both norms are sums of the singular values of blocks that are linear in beta: one matrix, or the
numbers of its discrete Fourier transform. The dual norm is the largest singular value. With
G = sum lambda_i X_i and B = -2 P_12 both bounds are programs of positive matrices,

    max sum lambda   s.t. S = [[1, G], [G*, 1]] >= 0, lambda >= 0,
    min trace P      s.t. <X_i, B> - t_i = 1, P >= 0, t >= 0,

which are <P, S> + <t, lambda> apart, and P S = mu, t lambda = mu on the central path.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from derive.errors import InputError
from derive.exact.balls import ball
from numerics.evaluate.numbers import Array
from numerics.margins.interval import Bounded, Near

STEPS = 40
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
        m, d = X.shape
        known = (X, blocks(np.eye(d))) if d < m else (np.eye(m), blocks(X))
        found = _followed(_Rows(*known))
        return None if found is None else (joined(found[0]), found[1])

    return near


@dataclass(frozen=True)
class _Point:
    """P, S, t and lambda, or a step of them."""

    P: Array
    S: Array
    t: Array
    y: Array

    @property
    def gap(self) -> float:
        return float(np.real(np.vdot(self.P, self.S)) + self.t @ self.y)

    def moved(self, by: _Point) -> _Point:
        """Return what lies ahead, nearly as far as all stays positive."""
        h = min(_reach(self.P, by.P), _reach(_numbers(self.t), _numbers(by.t)))
        k = min(_reach(self.S, by.S), _reach(_numbers(self.y), _numbers(by.y)))
        P, S = _hermitian(self.P + h * by.P), self.S + k * by.S
        return _Point(P, S, self.t + h * by.t, self.y + k * by.y)


@dataclass(frozen=True)
class _Rows:
    """X_i = sum_j C_ij E_j."""

    C: Array
    E: Array

    def corner(self, A: Array) -> Array:
        """Return the blocks A_12."""
        a = self.E.shape[2]
        return np.asarray(A[:, :a, a:])

    def together(self, y: Array) -> Array:
        """Return S - 1."""
        G = np.tensordot(self.C.T @ y, self.E, axes=1)
        zero = [np.zeros((len(G), k, k)) for k in G.shape[1:]]
        return np.block([[zero[0], G], [_adjoint(G), zero[1]]])

    def paired(self, B: Array) -> Array:
        """Return <X_i, B>."""
        return np.asarray(self.C @ np.real(self.E.reshape(len(self.E), -1).conj() @ B.ravel()))

    def start(self) -> _Point:
        """Return P and S near multiples of 1."""
        sizes = np.abs(self.C) @ np.linalg.norm(self.E, 2, axis=(2, 3)).max(axis=1)
        y = np.full(len(sizes), 0.5 / sizes.sum())
        S = self.together(y)
        one = np.broadcast_to(np.eye(S.shape[1]), S.shape)
        return _Point(max(1.0, y.sum()) / 2 * one, one + S, np.ones(len(y)), y)

    def step(self, at: _Point) -> _Point:
        """Return a step of Mehrotra's: what mu = 0 leaves of second order, and how far it goes."""
        V, mu = _hermitian(np.linalg.inv(at.S)), at.gap / (at.S[..., 0].size + len(at.y))
        a = self.E.shape[2]
        parts = ((A[:, :a, :a], A[:, :a, a:], A[:, a:, a:]) for A in (at.P, V))
        (P11, P12, P22), (V11, V12, V22) = parts
        E, star = self.E, _adjoint(self.E)
        pulled = P11 @ E @ V22 + V11 @ E @ P22 + P12 @ star @ V12 + V12 @ star @ P12
        bend = np.real(E.reshape(len(E), -1).conj() @ pulled.reshape(len(E), -1).T)
        H = self.C @ bend @ self.C.T + np.diag(at.t / at.y)

        def toward(P: Array, t: Array) -> _Point:
            """Return the step to P and t but for the part that is linear in that of S and y."""
            y = np.linalg.solve(H, 1 + t + self.paired(self.corner(2 * P)))
            S = self.together(y)
            return _Point(P - at.P - _hermitian(at.P @ S @ V), S, t - at.t - at.t / at.y * y, y)

        first = toward(0 * V, 0 * at.t)
        aim = np.clip(at.moved(first).gap / at.gap, 0.1, 1) ** 3 * mu
        left = _hermitian(first.P @ first.S @ V)
        return toward(aim * V - left, (aim - first.y * first.t) / at.y)


def _followed(rows: _Rows) -> tuple[Array, Array] | None:
    """Return the best B and lambda on the way."""
    best, multiplier, least, most = None, None, np.inf, 0.0
    at = rows.start()
    for _ in range(STEPS):
        B = rows.corner(-2 * at.P)
        norm, margin = np.linalg.svd(B, compute_uv=False).sum(), float(np.min(rows.paired(B)))
        if margin > 0 and norm < least * margin:
            best, least = B, norm / margin
        if at.y.sum() > most:
            multiplier, most = at.y, at.y.sum()
        if at.gap <= CLOSE * most:
            break
        try:
            at = at.moved(rows.step(at))
        except np.linalg.LinAlgError:
            break
    return None if best is None or multiplier is None else (best, multiplier)


def _reach(A: Array, step: Array) -> float:
    """Return how far A + h step stays positive, nearly, and at most 1."""
    L = np.linalg.inv(np.linalg.cholesky(A))
    least = float(np.min(np.linalg.eigvalsh(_hermitian(L @ step @ _adjoint(L)))))
    return 1.0 if least > -0.95 else -0.95 / least


def _numbers(t: Array) -> Array:
    return t[:, None, None]


def _adjoint(A: Array) -> Array:
    return np.swapaxes(A.conj(), -1, -2)


def _hermitian(A: Array) -> Array:
    return (A + _adjoint(A)) / 2


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
