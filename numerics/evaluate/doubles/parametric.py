"""Q along a curve beta = h(z): z by its distances from 0 and from the ends of its range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from numerics.evaluate.doubles.arithmetic import (
    Array,
    Constants,
    Double,
    Formula,
    Quantity,
    select,
    signed,
)

Point: TypeAlias = Sequence[Any]  # z, high - z and z - low; None for an infinite end
Place: TypeAlias = tuple[Quantity, Point]
"""A number beta and the z with h(z) = beta."""

FAR = 10**99
"""A z at which h is next to its limit at an infinite end."""
FADED = 1e-9
"""What part of h(0) is left of h there, if it falls to 0."""
BRACKETS, POLISHES = 40, 2
"""Newton steps within brackets, on logarithms, and of z itself."""
CLOSE = 1e-10
"""The relative change of log z that ends the former."""
BOUNDED = 65 / 64
"""What the second order adds to the bound of a zero, at most."""


@dataclass(frozen=True)
class ParametricFormulas:
    """Q of one output with ``beta = h(z)``, ``Q' = rate z`` and ``Q = rate z beta - H(z)``.

    The formulas are functions of the constants c and of z, ``high - z`` and ``z - low``, None
    for an infinite end. ``h(0) = c.origin[0]``.

    Attributes:
        curve: h.
        slope: dh/dz.
        conjugate: H, with ``dH/dz = rate h``.
    """

    curve: Formula
    slope: Formula
    conjugate: Formula

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for, as those of closed formulas."""
        match what:
            case "value" | "primitive":
                return [
                    lambda c, b: self._rise(c, self._place(c, b), (c.origin[0], point(c, c.of(0))))
                ]
            case "gradient":
                return [lambda c, b: [c.rate * self._invert(c, b)[0]]]
            case "hessian":
                return [lambda c, b: [c.rate / self._at(self.slope, c, self._invert(c, b))]]
            case "stretch":  # from y alone
                return [lambda c, b, y: [self._at(self.slope, c, point(c, y / c.rate)) / c.rate]]
            case "bregman":
                return [lambda c, b, b0: self._rise(c, self._place(c, b), self._place(c, b0))]
            case "inverse":
                return [self._image]
        raise ValueError(f"Q has no {what!r}")

    def _place(self, c: Constants, b: Double) -> Place:
        return b, self._invert(c, b)

    def _image(self, c: Constants, y: Quantity) -> Sequence[Quantity]:
        p = point(c, y / c.rate)
        image = self._at(self.curve, c, p)
        for end in (x for x in p[1:] if x is not None):
            image = image.outside(end.v + end.d < 0, (end.v <= end.d) & (end.v + end.d >= 0))
        return [image]

    def _rise(self, c: Constants, at: Place, at0: Place) -> Sequence[Quantity]:
        """Return ``Q(b) - Q(b0) - Q'(b0) (b - b0) = rate (z - z0) b - H(z) + H(z0)``."""
        (b, p), (_, p0) = at, at0
        H, H0 = (self._at(self.conjugate, c, x) for x in (p, p0))
        return [c.rate * (p[0] - p0[0]) * b - (H - H0)]

    def _at(self, formula: Formula, c: Constants, p: Point) -> Quantity:
        return c.of(formula(c, *p)[0])

    def _invert(self, c: Constants, beta: Quantity) -> Point:
        """Return z with h(z) = beta, in the chart where h is near a power of x."""
        zero = point(c, beta.of(0))
        target = beta - c.origin[0]
        if np.all(target.v == 0):
            gap = self._at(self.curve, c, zero) - c.origin[0]
            z = target / self._at(self.slope, c, zero)
            return point(c, z.outside(abs(gap.v) > gap.d, False))
        rising = np.where(self._at(self.slope, c, zero).v > 0, 1, -1)
        side = np.where(target.v < 0, -1, 1) * rising
        upper = self._beyond(c, c.high, target, side > 0)
        chart = _Chart(c, side, upper, self._beyond(c, c.low, target, side < 0))
        fading = self._fading(c, beta, side)

        def rise(x: Double) -> Double:
            whole = self._at(self.curve, c, chart.point(x))
            return select(fading, whole, whole - c.origin[0])

        def left(x: Double) -> Double:
            return self._at(self.curve, c, chart.point(x)) - beta  # type: ignore[no-any-return]

        def slope(x: Double) -> Double:
            return signed(self._at(self.slope, c, chart.point(x)), chart.direction)

        near = abs(target.v) / abs(self._at(self.slope, c, zero).v)
        first = np.where(chart.outward > 0, near, 1 / 3)
        outward, goal = np.where(fading, -1, chart.outward), select(fading, beta, target)
        x = type(beta)(np.exp(_bracketed(rise, slope, goal, np.log(first), (outward, chart.most))))
        for _ in range(POLISHES):
            x = type(beta)(x.v - left(x).v / slope(x).v)
        x = _enclosed(x, left(x), slope(x), goal)
        for end in (distance for distance in chart.point(x)[1:] if distance is not None):
            x = x.outside(end.v + end.d < 0, end.v != end.v)
        return chart.point(x)

    def _beyond(self, c: Constants, end: Double | None, target: Double, there: Array) -> Array:
        """Tell where h - h(0) is more than at a quarter of the way to an end."""
        if end is None:
            return False
        quarter = self._at(self.curve, c, point(c, end / 4)) - c.origin[0]
        return np.asarray(there & (abs(target.v) > abs(quarter.v)), dtype=bool)

    def _fading(self, c: Constants, beta: Double, side: Array) -> Array:
        """Tell where beta lies between h(0) and 0, to which h falls at an infinite end."""
        fading = np.zeros_like(side, dtype=bool)
        for end, sign in ((c.high, 1), (c.low, -1)):
            if end is None and np.all(c.origin[0].v != 0):
                far = self._at(self.curve, c, point(c, beta.of(sign * FAR))) / c.origin[0]
                part = beta.v / c.origin[0].v
                small = (far.v >= 0) & (far.v < FADED) & (part > 0) & (part * 4 < 1)
                fading |= np.asarray(small & (side == sign), dtype=bool)
        return fading


def _enclosed(x: Double, residual: Double, slope: Double, goal: Double) -> Double:
    """Return a zero near x with the bound that the residual and the slope there give."""
    room = np.maximum(abs(slope.v) - slope.d, 0.0)
    d = BOUNDED * (abs(residual.v) + residual.d) / room + x.tiny
    zero, known = goal.v == 0, not isinstance(goal.d, np.ndarray) and not goal.d
    return type(x)(np.where(zero, 0.0, x.v), np.where(zero, 0.0 if known else goal.d / room, d))


def _bracketed(
    rise: Callable[[Double], Double],
    slope: Callable[[Double], Double],
    goal: Double,
    s: Array,
    monotone: tuple[Array, Array],
) -> Array:
    """Solve ``rise(e^s) = goal`` by Newton's method on log|rise| against s, within brackets.

    As rise is near a power of x both near 0 and near a pole, that function is near a line. It
    grows (1) or falls (-1); where the second entry of *monotone* is not 0, e^s is at most that.
    """
    kind, (outward, most) = type(goal), monotone
    low = s - np.inf
    high = np.where(np.asarray(most != 0), np.log(np.where(most != 0, most, 1)), s + np.inf)
    logarithm = np.log(abs(goal.v))
    for _ in range(BRACKETS):
        x = kind(np.exp(s))
        grown = rise(x).v
        error = np.log(abs(grown)) - logarithm + (logarithm - logarithm)
        above = error * outward > 0
        high, low = np.where(above, s, high), np.where(above, low, s)
        new, reach = s - error * grown / (x.v * slope(x).v), 1 + abs(s)
        middle = np.where(abs(high) == np.inf, low + reach, (low + high) / 2)
        middle = np.where(abs(low) == np.inf, high - reach, middle)
        new = np.where((new >= low) & (new <= high), new, middle)
        moving = np.logical_and(abs(new - s) > CLOSE * reach, error == error)
        s = np.where(error != error, s, new)
        if not np.any(moving):
            break
    return s


def point(c: Constants, z: Quantity) -> Point:
    """Return z by its three distances."""
    return z, None if c.high is None else c.high - z, None if c.low is None else z - c.low


class _Chart:
    """z as a function of x > 0: ``z = +-x``, ``high - x`` or ``low + x``, point by point."""

    def __init__(self, c: Constants, side: Array, upper: Array, lower: Array) -> None:
        self._c, self._side, self._upper, self._lower = c, side, upper, lower

    @property
    def direction(self) -> Array:
        """dz/dx."""
        return np.where(self._upper, -1, np.where(self._lower, 1, self._side))

    @property
    def outward(self) -> Array:
        """Whether |h - h(0)| grows (1) or falls (-1) with x."""
        return np.where(np.logical_or(self._upper, self._lower), -1, 1)

    @property
    def most(self) -> Array:
        """An upper bound of x: beyond a quarter of the way to an end, the other three; or 0."""
        ends = (self._c.high, self._upper), (self._c.low, self._lower)
        return sum((np.where(at, abs(end.v) * 3 / 4, 0.0) for end, at in ends if end), 0)

    def point(self, x: Double) -> Point:
        """Return z, high - z and z - low."""
        c = self._c
        p = point(c, signed(x, self._side))
        other = None if c.high is None or c.low is None else c.high - c.low - x
        if np.any(self._upper):
            p = _chosen(self._upper, (c.high - x, x, other), p)
        if np.any(self._lower):
            p = _chosen(self._lower, (c.low + x, other, x), p)
        return p


def _chosen(mask: Array, p: Point, other: Point) -> Point:
    pairs = zip(p, other, strict=True)
    return tuple(None if x is None else select(mask, x, y) for x, y in pairs)
