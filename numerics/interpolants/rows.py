"""The rows of X that are independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpstrf

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.interpolants.design import Design

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
