"""Targets that no beta in the domain of a separable Q reaches, told by linear programming."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from numerics.backend import Array
from numerics.design import Design
from numerics.dual_newton import Mirror

_FAR = 1e300
_CLEAR = 1e-7
"""Least misfit, relative to the target, from which it is more than the program's own error."""


def blocking_rows(mirror: Mirror, design: Design, y: Array) -> list[int]:
    """Return rows with a combination that is bounded on the domain of Q, and y beyond; or none.

    ``min |X beta - y|_1`` over the box of all beta that are images of the mirror map. Where it is
    positive, its dual vector nu proves ``<nu, y> > <nu, X beta>`` for every beta in the box
    (Farkas 1902).
    """
    m, d = design.shape
    sides = [mirror.inverse_gradient(np.full(d, far)) for far in (-_FAR, _FAR)]
    bounds = [
        (low if np.isfinite(low) else None, high if np.isfinite(high) else None)
        for low, high in zip(*sides, strict=True)
    ]
    if all(bound == (None, None) for bound in bounds):
        return []
    matrix = design.dense()
    scales = np.abs(matrix).max(axis=1)
    scales = np.maximum(scales, np.abs(y))
    rows, target = matrix / scales[:, None], y / scales
    program = scipy.optimize.linprog(
        np.repeat([0, 1], [d, 2 * m]),
        A_eq=np.hstack([rows, np.eye(m), -np.eye(m)]),
        b_eq=target,
        bounds=bounds + [(0, None)] * (2 * m),
        method="highs",
    )
    if program.status != 0 or not program.fun > _CLEAR * np.abs(target).sum():
        return []
    multiplier = np.abs(program.eqlin.marginals)
    return [int(i) for i in np.flatnonzero(multiplier > 1e-9)]
