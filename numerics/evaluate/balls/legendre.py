"""The rule of Gauss and Legendre to any number of digits, from NumPy's in doubles."""

from __future__ import annotations

import decimal
import functools
from fractions import Fraction

import numpy as np


@functools.lru_cache
def precise_rule(n: int, digits: int) -> list[tuple[Fraction, Fraction]]:
    """Return n nodes and weights on [0, 1] to *digits* digits."""
    steps = 1 + ((digits - 1) // 16).bit_length()  # each doubles the 16 digits of the first
    with decimal.localcontext() as context:
        context.prec = digits
        nodes = np.polynomial.legendre.leggauss(n)[0]
        return [_node(n, decimal.Decimal(float(x)), steps) for x in nodes]


def _node(n: int, x: decimal.Decimal, steps: int) -> tuple[Fraction, Fraction]:
    """Return the node that is near x on [-1, 1], by Newton's method, and its weight."""
    for _ in range(steps):
        before, value = decimal.Decimal(1), x
        for k in range(2, n + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = n * (x * value - before) / (x * x - 1)
        x -= value / slope
    return (1 + Fraction(x)) / 2, 1 / ((1 - Fraction(x) ** 2) * Fraction(slope) ** 2)
