"""Largest margins in the nuclear norm and in |DFT beta|_1, between two bounds proved in balls.

Both norms are sums of the singular values of blocks that are linear in beta: one matrix, or the
numbers of its discrete Fourier transform. The dual norm is the largest singular value. Both bounds
come from one minimum of the barrier

    -sum lambda - mu (log det(I - G* G) + sum log lambda_i),  G = sum lambda_i X_i:

there 2 mu G (I - G* G)^-1 has the margins 1 + mu/lambda_i, and the bounds are mu (m + n) apart.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from derive.errors import InputError
from derive.exact.balls import ball
from numerics.evaluate.backend import Array
from numerics.margins.interval import Bounded, Near

CLOSE = 1e-11
"""mu at the end, relative to sum lambda."""
CENTRED = 0.05
STEPS = 400
FARTHEST = 1e12
"""Sums of multipliers of rows of size 1, beyond which they are taken for rows that cancel."""


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
        found = _followed(blocks(X))
        return None if found is None else (joined(found[0]), found[1])

    return near


def _followed(A: Array) -> tuple[Array, Array] | None:
    """Return B and lambda from the central path, by damped Newton steps, mu to 0."""
    m, size = len(A), max(float(np.linalg.norm(A, 2, axis=(2, 3)).max()), 1e-300)
    y, mu = np.full(m, 0.5 / (m * size)), 1.0 / size
    best, least, multiplier = None, np.inf, y
    for _ in range(STEPS):
        G = np.tensordot(y, A, axes=1)
        U, s, V = np.linalg.svd(G, full_matrices=False)
        # G (I - G* G)^-1; (1 - s)(1 + s) keeps its digits.
        pulled = (U * (s / ((1 - s) * (1 + s)))[:, None, :]) @ V
        # In units of lambda_i: those of rows that are far from tight tend to 0.
        slope = y * (_pairing(A, 2 * mu * pulled) - 1) / mu - 1
        try:
            step = np.linalg.solve(np.eye(m) + y * _curvature(A, G, pulled) * y[:, None], -slope)
        except np.linalg.LinAlgError:  # rows that depend on each other, where doubles end
            break
        length = np.sqrt(max(float(-slope @ step), 0))
        if not np.isfinite(length) or y.sum() * size > FARTHEST:
            break
        if length < CENTRED:
            multiplier = y
            for B in (2 * mu * pulled, _on_face(A, y, (U, s, V), mu)):
                margin = float(np.min(_pairing(A, B)))
                norm = float(np.linalg.svd(B, compute_uv=False).sum())
                if margin > 0 and norm < least * margin:
                    best, least = B, norm / margin
            if mu * (m + s.size) <= CLOSE * y.sum():
                break
            mu /= 5
        else:
            y = y * (1 + step / (1 + length * (length > 0.25)))
    return None if best is None else (best, multiplier)


def _pairing(A: Array, B: Array) -> Array:
    return np.asarray(np.real(A.reshape(len(A), -1) @ B.conj().ravel()))


def _on_face(A: Array, y: Array, parts: tuple[Array, Array, Array], mu: float) -> Array:
    """Return U H V with H on the singular values that tend to 1, and margins 1 where y_i do not.

    On the central path 1 - s is small, and B has few digits: H is corrected as little as need be.
    """
    U, s, V = parts
    near = min(0.5, np.sqrt(mu / y.sum()))
    on, rows = 1 - s < near, y > y.max() * near
    C = np.swapaxes(U.conj(), -1, -2) @ A @ np.swapaxes(V.conj(), -1, -2)
    C = (C + np.swapaxes(C.conj(), -1, -2)) / 2 * (on[:, :, None] & on[:, None, :])
    H = np.where(on, 2 * mu * s / ((1 - s) * (1 + s)), 0)[:, :, None] * np.eye(s.shape[1])
    chosen = C[rows].reshape(int(rows.sum()), -1)
    gap = 1 - _pairing(C[rows], H)
    c = np.linalg.lstsq(np.real(chosen.conj() @ chosen.T), gap, rcond=1e-12)[0]
    return np.asarray(U @ (H + np.tensordot(c, C[rows], axes=1)) @ V)


def _curvature(A: Array, G: Array, pulled: Array) -> Array:
    """Return the second derivatives of -log det(I - G* G) along the blocks A_i."""
    star = np.swapaxes(G.conj(), -1, -2)
    left, right = np.eye(G.shape[1]) + pulled @ star, np.eye(G.shape[2]) + star @ pulled
    one = (left @ A @ right).reshape(len(A), -1)
    turned = np.swapaxes(pulled.conj(), -1, -2) @ A
    two = np.swapaxes(turned, -1, -2).reshape(len(A), -1)
    whole = A.reshape(len(A), -1).conj() @ one.T + turned.reshape(len(A), -1) @ two.T
    return np.asarray(2 * np.real(whole))


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
