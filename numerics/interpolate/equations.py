"""X beta = y made ready for a solver: sizes that doubles hold, rows of lengths that compare."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.vectors.vector_potential import NumericVectorPotential
from numerics.interpolate.design import Design
from numerics.interpolate.dual_newton import Equations

_LARGEST = 1e150
"""Squares of larger numbers overflow."""
_SMALLEST = 1e-280
"""Sums of squares below it have lost digits."""
_APART = 2.0**10
"""Ratio of the lengths of rows from which a sum over them says little of the shorter ones."""

AnyPotential: TypeAlias = NumericPotential | NumericVectorPotential


def gram_of(design: Design) -> Array:
    """Return X X^T (m, m), whose entries neither overflow nor vanish."""
    gram = design.gram(np.ones(design.shape[1]))
    if not np.isfinite(gram).all():
        raise InputError("X overflows: X X^T is not finite; divide X and y by a constant")
    for row in np.flatnonzero(np.diag(gram) < _SMALLEST):
        unit = np.zeros(design.shape[0])
        unit[row] = 1
        if design.adjoint(unit).any():
            raise InputError(
                f"row {row} of X (counted from 0) is so small that its square underflows: "
                "multiply it, and y there, by a constant"
            )
    return gram


def start_of(q: AnyPotential, design: Design) -> Array:
    """Return beta_0 (d,), repeated where Q is that of a single output."""
    d = design.shape[1]
    if q.d not in (1, d):
        raise InputError(f"X has {d} columns but Q has {q.d} coordinates")
    return np.broadcast_to(np.array(q.beta0, dtype=np.float64), (d,)).copy()


def units_of(gram: Array) -> Array:
    """Return powers of 2 near the lengths of the rows; ones where these are alike."""
    exponents = np.frexp(np.sqrt(np.diag(gram)))[1]
    apart = exponents.size and 2.0 ** (exponents.max() - exponents.min()) > _APART
    return np.asarray(np.ldexp(1.0, exponents if apart else 0 * exponents))


def equations_of(design: Design, y: Array, gram: Array, beta: Array) -> Equations:
    """Return the equations with the scale of y and of ``X beta_0 - y``."""
    sizes = [np.abs(v).max(initial=0) for v in (y, design.apply(beta) - y)]
    scale = max(sizes)
    if not scale < _LARGEST:
        raise InputError(f"y is too large for double precision: its norm must be below {_LARGEST}")
    if scale:
        scale *= max(np.linalg.norm(v / scale) for v in (y, design.apply(beta) - y))
    return Equations(design, y, gram, float(scale) or 1.0)
