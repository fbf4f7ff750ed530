"""Integrals over [0, 1] in either number type, by Gauss-Legendre panels that are halved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numerics.evaluate.backend import GUARD, Array, Backend, Multiprecision, Number
from numerics.evaluate.balls.legendre import precise_rule

_PANELS, _DOUBLINGS = 4, 7


def integrate_unit(function: Callable[[Number], Array], backend: Backend) -> Array:
    """Return ``int_0^1 f(t) dt``, elementwise; *function* takes a number t."""

    def total(panels: int) -> Array:
        found: Array = sum(weight * function(t) for t, weight in _nodes(backend, panels))
        return found

    coarse, close = total(_PANELS), backend.number(10) ** -backend.digits
    for doubling in range(1, _DOUBLINGS):
        fine = total(_PANELS << doubling)
        # What is undefined stays so, however fine the panels are.
        if not np.any(np.abs(fine - coarse) > close * np.abs(fine)):
            return fine
        coarse = fine
    return coarse


def _nodes(backend: Backend, panels: int) -> list[tuple[Number, Number]]:
    """Return nodes and weights of [0, 1] in equal panels, enough nodes for smooth integrands."""
    if isinstance(backend, Multiprecision):
        n = 12 << max(2, (backend.digits // 15).bit_length())
        rule = precise_rule(n, backend.digits + 2 * GUARD)
        base = [(backend.number(2 * t - 1), backend.number(2 * w)) for t, w in rule]
    else:
        base = list(zip(*np.polynomial.legendre.leggauss(40), strict=True))
    return [
        ((k + (1 + x) / 2) / panels, weight / (2 * panels))
        for k in range(panels)
        for x, weight in base
    ]
