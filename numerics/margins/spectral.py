"""Largest margins in the nuclear norm and in |DFT beta|_1, between two bounds proved in balls.

Both norms are sums of the singular values of blocks that are linear in beta: one matrix, or the
numbers of its discrete Fourier transform. The dual norm is the largest singular value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from derive.errors import InputError
from derive.exact.balls import ball
from numerics.evaluate.numbers import Array
from numerics.margins.central_path import Program, corners
from numerics.margins.interval import Bounded, Near

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
