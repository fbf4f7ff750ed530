"""The data X behind the products that a solver needs, and which of its rows are independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpstrf
from scipy.sparse.linalg import LinearOperator

from derive.errors import InputError
from numerics.evaluate.numbers import Array, read_array, refuse_masked

Matrix: TypeAlias = Any
"""X as it is given: what makes an array, a sparse matrix or a linear operator (without types)."""
_ADJOINT = 1e-6
"""Relative difference of ``<u, X v>`` and ``<X^T u, v>`` that single precision explains."""
_BLOCK = 2**19
"""Numbers in a block of columns: its scaled copy stays in the cache, and X is never copied."""


class Design:
    """X of m rows and d columns by its products: a Gram matrix costs m with X^T and m with X."""

    def __init__(self, X: Matrix) -> None:
        self._X, self.shape = X, X.shape

    def apply(self, beta: Array) -> Array:
        """Return X beta (m,)."""
        return np.asarray(self._X.matvec(beta), dtype=np.float64).reshape(-1)

    def adjoint(self, multiplier: Array) -> Array:
        """Return X^T nu (d,)."""
        return np.asarray(self._X.rmatvec(multiplier), dtype=np.float64).reshape(-1)

    def gram(self, weights: Array) -> Array:
        """Return X diag(weights) X^T (m, m), for weights >= 0 (d,)."""
        rows = np.eye(self.shape[0])
        total = np.stack([self.apply(weights * self.adjoint(row)) for row in rows], axis=-1)
        return np.asarray((total + total.T) / 2)

    def columns(self, chosen: Array | slice) -> Array:
        """Return some of the columns of X as an array (m, k)."""
        return np.stack([self.adjoint(row)[chosen] for row in np.eye(self.shape[0])])

    def dense(self) -> Array:
        """Return X as an array (m, d)."""
        return self.columns(slice(None))


class Dense(Design):
    """X in memory or mapped to it, of any real type; only blocks of columns are ever converted."""

    def __init__(self, X: Matrix) -> None:
        super().__init__(X)
        self._width = X.shape[1] if X.dtype == np.float64 else max(1, _BLOCK // X.shape[0])

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        for i in range(0, self.shape[1], self._width):
            columns = slice(i, i + self._width)
            yield columns, np.asarray(self._X[:, columns], dtype=np.float64)

    def apply(self, beta: Array) -> Array:  # noqa: D102
        if not beta.any():
            return np.zeros(self.shape[0])
        return np.asarray(
            np.sum([block @ beta[columns] for columns, block in self._blocks()], axis=0)
        )

    def adjoint(self, multiplier: Array) -> Array:  # noqa: D102
        if not multiplier.any():
            return np.zeros(self.shape[1])
        return np.concatenate([multiplier @ block for _, block in self._blocks()])

    def gram(self, weights: Array) -> Array:  # noqa: D102
        used = np.flatnonzero(weights)
        m, d = self.shape
        roots, width = np.sqrt(weights), max(1, _BLOCK // m)
        if 2 * used.size < d:
            chosen: list[Array | slice] = [used[i : i + width] for i in range(0, used.size, width)]
        else:
            chosen = [slice(i, i + width) for i in range(0, d, width)]
        total = np.zeros((m, m))
        for columns in chosen:
            block = self._X[:, columns] * roots[columns]
            total += block @ block.T
        return total

    def columns(self, chosen: Array | slice) -> Array:  # noqa: D102
        return np.asarray(self._X[:, chosen], dtype=np.float64)


class Sparse(Dense):
    """X as a sparse matrix by rows."""

    def __init__(self, X: sparse.csr_array) -> None:
        super().__init__(X)
        self._transposed = X.T.tocsr()

    def apply(self, beta: Array) -> Array:  # noqa: D102
        return np.asarray(self._X @ beta)

    def adjoint(self, multiplier: Array) -> Array:  # noqa: D102
        return np.asarray(self._transposed @ multiplier)

    def gram(self, weights: Array) -> Array:  # noqa: D102
        scaled = self._X.copy()
        scaled.data = scaled.data * weights[scaled.indices]
        return np.asarray((scaled @ self._transposed).toarray())

    def columns(self, chosen: Array | slice) -> Array:  # noqa: D102
        return np.asarray(self._transposed[chosen].toarray().T)


class Scaled(Design):
    """Some rows of X, times scales; exact where these are powers of 2. X is not copied."""

    def __init__(self, X: Design, rows: Sequence[int], scales: Array) -> None:
        self._X, self._rows, self._scales = X, list(rows), scales
        self.shape = (len(rows), X.shape[1])

    def apply(self, beta: Array) -> Array:  # noqa: D102
        return np.asarray(self._scales * self._X.apply(beta)[self._rows])

    def adjoint(self, multiplier: Array) -> Array:  # noqa: D102
        spread = np.zeros(self._X.shape[0])
        spread[self._rows] = self._scales * multiplier
        return np.asarray(self._X.adjoint(spread))

    def gram(self, weights: Array) -> Array:  # noqa: D102
        chosen = self._X.gram(weights)[np.ix_(self._rows, self._rows)]
        return np.asarray(chosen * self._scales * self._scales[:, None])

    def columns(self, chosen: Array | slice) -> Array:  # noqa: D102
        return np.asarray(self._scales[:, None] * self._X.columns(chosen)[self._rows])


def read_design(X: Matrix) -> Design:
    """Return X, an array, a sparse matrix or a linear operator, in double precision.

    Raises:
        InputError: X is empty, not a matrix, or has entries that are not finite real numbers.
    """
    if isinstance(X, LinearOperator):
        _check(X.shape, X.dtype)
        _refuse_faulty(X)
        return Design(X)
    if sparse.issparse(X):
        _check(X.shape, X.dtype)
        matrix = sparse.csr_array(X, dtype=np.float64)
        _refuse_undefined(np.asarray(matrix.sum(axis=1)).reshape(-1))
        return Sparse(matrix)
    refuse_masked(X, "X")
    try:
        array = np.asarray(X)
        _check(array.shape, array.dtype)
        if array.dtype.kind not in "biufO":
            raise TypeError
        if array.dtype.kind != "f" or array.dtype.itemsize > 8:
            array = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("X must be a matrix of real numbers, its rows of one length") from None
    with np.errstate(over="ignore", invalid="ignore"):
        _refuse_undefined(array.sum(axis=1, dtype=np.float64))
    return Dense(array)


def _refuse_faulty(X: LinearOperator) -> None:
    """Refuse products that are not those of one real matrix, as far as one of each shows."""
    m, d = X.shape
    u, v = np.cos(np.arange(m)), np.cos(np.arange(d))
    try:
        forth, back = np.asarray(X.matvec(v)), np.asarray(X.rmatvec(u))
    except NotImplementedError:
        raise InputError("X has no rmatvec: give the operator its adjoint") from None
    except ValueError as reason:
        raise InputError(f"a product with X fails: {reason}") from None
    if not all(x.dtype.kind in "biuf" for x in (forth, back)):
        raise InputError("products with X are not real numbers: give a real operator")
    if not (np.isfinite(forth).all() and np.isfinite(back).all()):
        raise InputError("a product with X is nan or inf")
    left, right = u * forth, back * v
    if abs(left.sum() - right.sum()) > _ADJOINT * (np.abs(left).sum() + np.abs(right).sum()):
        raise InputError("rmatvec of X is not the adjoint of its matvec: <u, X v> != <X^T u, v>")


def _check(shape: tuple[int, ...], dtype: np.dtype[Any] | None) -> None:
    if len(shape) != 2:
        raise InputError(f"X must be a matrix (m, d), not of shape {tuple(shape)}")
    if 0 in shape:
        raise InputError(f"X is empty: its shape is {tuple(shape)}")
    if dtype is not None and np.issubdtype(dtype, np.complexfloating):
        raise InputError("X has complex entries: give real ones")


def _refuse_undefined(sums: Array) -> None:
    """Refuse rows with nan or inf, which their sums show."""
    if not np.isfinite(sums).all():
        row = int(np.flatnonzero(~np.isfinite(sums))[0])
        raise InputError(f"row {row} of X (counted from 0) has an entry that is nan or inf")


def read_target(y: ArrayLike, m: int) -> Array:
    """Return the m numbers of y; InputError for anything else."""
    array = read_array(y, "y", "a vector")
    if array.shape != (m,):
        raise InputError(f"X has {m} rows but y has shape {array.shape}: give ({m},)")
    if not np.isfinite(array).all():
        entry = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"entry {entry} of y (counted from 0) is nan or inf")
    return array


_SUSPECT = 1e-10
"""Squared relative distance from the other rows below which a row is looked at closely."""
_DEPENDENT = 1e-12
"""Relative distance from the other rows below which a row counts as their combination."""
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of X that are independent, in order, and those that follow from them.

    ``distance`` is about the least relative distance of an independent row from the others.
    """

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    distance: float


def independent_rows(design: Design, y: Array, gram: Array) -> Rows:
    """Split the rows of X; *gram* is ``X X^T``.

    A pivoted Cholesky factorization of the Gram matrix of the normalized rows proposes a basis;
    as it squares distances, each suspect row is then compared with its projection itself.

    Raises:
        InputError: a row is a combination of others and y is not: no beta interpolates.
    """
    m = len(gram)
    norms = np.sqrt(np.diag(gram))
    unit = np.where(norms > 0, norms, 1)
    normal = gram / unit / unit[:, None]
    factor, pivots, rank, _ = dpstrf(normal, tol=_SUSPECT, lower=1)
    distance = float(np.diag(factor)[:rank].min(initial=1))
    if rank == m:
        return Rows(tuple(range(m)), (), distance)
    order = [int(i) - 1 for i in pivots]
    kept, dropped = order[:rank], []
    for row in order[rank:]:
        combination = _combination(design, gram, kept, row, unit)
        if combination is None:
            kept.append(row)
            distance = 0.0
            continue
        dropped.append(row)
        _check_target(y, kept, row, combination)
    return Rows(tuple(sorted(kept)), tuple(sorted(dropped)), distance)


def _combination(
    design: Design, gram: Array, kept: list[int], row: int, unit: Array
) -> Array | None:
    """Return c with ``x_row = sum_k c_k x_k`` over the kept rows; None where it is independent."""
    if not gram[row, row]:
        return np.zeros(len(kept))
    scale = unit[kept]
    normal = gram[np.ix_(kept, kept)] / scale / scale[:, None]
    selector = np.zeros(len(unit))
    selector[row] = 1
    own = design.adjoint(selector)
    c, left = np.zeros(len(kept)), own
    for _ in range(3):  # the later rounds refine
        step = scipy.linalg.lstsq(normal, design.apply(left)[kept] / scale)[0] / scale
        c = c + step
        spread = np.zeros(len(unit))
        spread[kept] = c
        left = own - design.adjoint(spread)
    size = np.linalg.norm(own) + np.abs(c) @ scale
    return c if np.linalg.norm(left) <= _DEPENDENT * size else None


def _check_target(y: Array, kept: list[int], row: int, c: Array) -> None:
    terms = c * y[kept]
    if abs(y[row] - terms.sum()) <= 1e-10 * (abs(y[row]) + np.abs(terms).sum()):
        return
    used = sorted(
        k for k, x in zip(kept, c, strict=True) if abs(x) > 1e-9 * max(np.abs(c).max(), 1e-300)
    )
    what = f"a combination of {named(used)}" if used else "zero"
    why = "y is not" if used else f"y is {y[row]:g} there"
    raise InputError(
        f"row {row} of X (counted from 0) is {what}; {why}: no beta has X beta = y, so drop a row"
    )


def named(rows: list[int]) -> str:
    """Return "row 3" or "rows 0, 1, ...", a few of them."""
    shown = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}"
