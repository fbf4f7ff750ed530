"""The least sum |c_j| of ReLU nets sum_j c_j (w_j x - b_j)_+ + d that are a piecewise linear f.

    R(f) = max(int |f''|, |f'(-inf) + f'(inf)|),  w_j = 1 or -1, biases and offset free,

the cost of f under l2 regularization of all weights but biases. Both sides of a linear program
certify it: the units of a net of that cost, and a linear functional that is at most 1 in absolute
value on every unit, (x - b)_+ or (-x - b)_+, and R(f) on f: the sum of jumps of f', each with its
sign, or f'(-inf) + f'(inf) (Savarese et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from derive.errors import InputError
from numerics.evaluate.numbers import read_vector


@dataclass(frozen=True)
class Unit:
    """c (w x - b)_+ with w = 1 or -1."""

    c: Fraction
    w: int
    b: Fraction

    def __call__(self, x: Fraction) -> Fraction:
        """Return its value."""
        return self.c * max(self.w * x - self.b, Fraction(0))


@dataclass(frozen=True)
class Cost:
    """R(f) with its certificate.

    Attributes:
        bending: int |f''|.
        slopes: f'(-inf) + f'(inf).
        units, offset: a net that is f.
        signs: the functional: one factor for each jump of f', none for the sum of the slopes.
    """

    bending: Fraction
    slopes: Fraction
    units: tuple[Unit, ...]
    offset: Fraction
    signs: tuple[int, ...]

    @property
    def value(self) -> Fraction:
        """R(f)."""
        return max(self.bending, abs(self.slopes))


def _read(
    x: Sequence[Fraction], y: Sequence[Fraction], ends: Sequence[Fraction] | None
) -> tuple[list[tuple[Fraction, Fraction]], list[Fraction]]:
    """Return the points in order, and the slopes before, between and after them."""
    places, values = read_vector(x, "x"), read_vector(y, "y")
    beyond = [] if ends is None else read_vector(ends, "ends")
    if len(places) != len(values):
        raise InputError(f"there are {len(places)} points x but {len(values)} values y")
    if len(beyond) not in (0, 2):
        raise InputError(f"ends must be two slopes, not {len(beyond)}")
    points = sorted(zip(places, values, strict=True))
    if len(points) < (1 if beyond else 2):
        raise InputError("a piecewise linear function needs two points")
    if any(a == b for (a, _), (b, _) in pairwise(points)):
        raise InputError("two points have the same x")
    inner = [(v - u) / (b - a) for (a, u), (b, v) in pairwise(points)]
    first, last = beyond or (inner[0], inner[-1])
    return points, [first, *inner, last]


def relu_cost(
    x: Sequence[Fraction], y: Sequence[Fraction], ends: tuple[Fraction, Fraction] | None = None
) -> Cost:
    """Return R of the f that is linear between points, with slopes *ends* beyond them.

    >>> relu_cost([Fraction(0), Fraction(1)], [Fraction(0), Fraction(1)]).value
    Fraction(2, 1)

    Args:
        x, y: the points, in any order, two or more; one where slopes are given.
        ends: f'(-inf) and f'(inf); those of the first and last interval if not given.

    Raises:
        InputError: too few points, two at the same x, not two *ends*, or what is no finite number.
    """
    points, slopes = _read(x, y, ends)
    jumps = [b - a for a, b in pairwise(slopes)]
    bending, total = sum(map(abs, jumps), Fraction(0)), slopes[0] + slopes[-1]
    units = []
    for j, ((t, _), v) in enumerate(zip(points, jumps, strict=True)):
        share = abs(v) / bending if bending else Fraction(int(j == 0))
        right, left = (v + total * share) / 2, (v - total * share) / 2
        units += [Unit(c, w, w * t) for c, w in ((right, 1), (left, -1)) if c]
    offset = points[0][1] - sum(unit(points[0][0]) for unit in units)
    signs = tuple((v > 0) - (v < 0) for v in jumps) if bending >= abs(total) else ()
    return Cost(bending, total, tuple(units), offset, signs)
