"""The size of a Taylor step, and the order that costs least for each unit of time.

Jorba & Zou, *A software package for the numerical integration of ODEs by means of high-order Taylor
methods*, Experimental Mathematics 14:1 (2005), section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from numerics.flow.fixed_point import Series

_LINEAR = 130  # an order up to which linear operations cost more than convolutions
_FIXED = 2000  # what a step costs besides, in the unit of these


def log_steps(jets: Sequence[Series], accuracy: float, orders: Sequence[int]) -> list[float]:
    """Return, for each order, log2 of the step at which its last terms fall to ``2^accuracy``.

    ``h_j = (eps |w| / |w_j|)^(1/j)`` for the last two j, which for
    their order is ``rho_j / e^2``, and their factor of safety. Here it is taken weight by weight,
    as small weights that grow keep their relative errors; near 0, the first coefficients stand for
    |w|. A coefficient of 0 is below the grid.
    """
    moving = [jet for jet in jets if jet.exponent is not None]
    largest = max((jet.grid + jet.cells[0].bit_length() for jet in moving), default=0)
    steps = [math.inf] * len(orders)
    for jet in moving:
        cells = jet.cells
        known = list(islice((m for m in range(1, len(cells)) if cells[m]), 2))
        large = max(cells[0].bit_length(), largest + accuracy - jet.grid) + accuracy
        first = [(0, large), *((m, cells[m].bit_length() + accuracy) for m in known)]
        lowest = max(known, default=0)
        for i, order in enumerate(orders):
            # A polynomial of low degree is exact at any step.
            low = max(order // 2, lowest)
            for j in islice((j for j in range(order, low, -1) if cells[j]), 2):
                size = cells[j].bit_length()
                reach = max((large - size) / (j - m) for m, large in first)
                steps[i] = min(steps[i], reach)
    pairs = zip(orders, steps, strict=True)
    return [step - 0.7 / (order - 1) * math.log2(math.e) for order, step in pairs]


def cheapest(orders: Sequence[int], log_steps: Sequence[float]) -> int:
    """Return the order that costs least for each unit of time: its convolutions and the rest."""
    return min(
        zip(orders, log_steps, strict=True),
        key=lambda pair: math.log2(pair[0] * (pair[0] + _LINEAR) + _FIXED) - pair[1],
    )[0]
