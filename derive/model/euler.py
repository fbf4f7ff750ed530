"""Homogeneity by Euler's identity: F(c w) = c^D F(w) exactly where <w, dF> = D F."""

from __future__ import annotations

from collections.abc import Sequence

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, dot


def euler_degree(
    weights: Sequence[RationalFunction], F: Sequence[RationalFunction], covectors: Matrix
) -> RationalFunction | None:
    """Return D with <w, dF_a> = D F_a for every a, made of numbers and parameters, else None."""
    moved = [dot(weights, row) for row in covectors]
    ratio = moved[0] / F[0]
    if set(ratio.variables()) - ratio.field.parameters:
        return None
    return ratio if all(m == ratio * f for m, f in zip(moved, F, strict=True)) else None
