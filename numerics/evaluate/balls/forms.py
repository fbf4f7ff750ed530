"""Q at one point on balls of python-flint: the forms of the doubles, and where balls differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from flint import acb, arb, ctx

from numerics.evaluate.balls.functions import Function, Undefined, length
from numerics.evaluate.doubles.arithmetic import Constants, Formula, Quantity
from numerics.evaluate.doubles.closed import ClosedFormulas
from numerics.evaluate.doubles.parametric import ParametricFormulas, Place, Point, point
from numerics.evaluate.doubles.vectors import Polar, Ray, VectorFormulas


class Closed(ClosedFormulas):
    """Q of one block by formulas of the constants and d balls."""

    @staticmethod
    def _on_side(b: Sequence[arb], wall: arb, start: arb) -> Sequence[arb]:
        if (wall < 0 < start) or (start < 0 < wall):
            raise Undefined
        return b


@dataclass(frozen=True)
class Integral(Closed):
    """Q of one block with a formula of its Hessian H on complex balls, but none of Q."""

    complex_hessian: Formula | None = None

    def forms(self, what: str) -> list[Formula]:
        """Return the form of what is asked for; Q is 0 at the start."""
        return super().forms("value" if what == "primitive" else what)

    @property
    def differences(self) -> list[Formula]:
        """The divergence by an integral."""
        return [self._integrated]

    def _integrated(self, c: Constants, *points: arb) -> Sequence[arb]:
        """Integrate ``(1-t) s^T H(b0 + t s) s`` over [0, 1], s = b - b0, half from either end.

        Next to an end of the domain both the end that is near and the distance have their digits.
        """
        d = len(points) // 2
        b, b0 = points[:d], points[d:]
        assert self.complex_hessian is not None
        hessian, s = self.complex_hessian, [x - x0 for x, x0 in zip(b, b0, strict=True)]

        def curvature(origin: Sequence[arb], t: acb) -> acb:
            try:
                entries = iter(hessian(c, *(x0 + t * x for x0, x in zip(origin, s, strict=True))))
                return acb(reduce(add, (x * y * next(entries) for x in s for y in s)))
            except Undefined:
                return acb("nan")

        halves = (lambda t, _: (1 - t) * curvature(b0, t), lambda t, _: t * curvature(b, -t))
        half, limits = acb(0.5), dict[str, Any](depth_limit=_DEEPEST, eval_limit=_EVALUATIONS)
        limits["abs_tol"] = arb(0)  # an integral may be as small as a double
        ends = [abs(curvature(end, acb(0))) for end in (b, b0)]
        if any(x > _BEYOND for x in ends):
            raise Undefined
        # A ball that holds all that is small, too, would be integrated in vain.
        if any(x.rel_accuracy_bits() < _SOME for x in ends):
            return [arb.nan()]
        total = reduce(add, (acb.integral(f, acb(0), half, **limits).real for f in halves))
        if ctx.prec >= _FINEST and total.rel_accuracy_bits() < _SOME:
            raise Undefined
        return [total]


_DEEPEST, _EVALUATIONS = 4096, 10_000
"""Bisections towards an end of the domain, and evaluations after which there is no result."""
_BEYOND = arb(2) ** 4096
"""Of an integrand with that at an end no double is the integral."""
_FINEST, _SOME = 128, 8
"""Bits of which some have to be right, as otherwise more of them make no difference."""


class Curve(ParametricFormulas):
    """Q of one output along beta = h(z)."""

    def _rise(self, c: Constants, at: Place, at0: Place) -> Sequence[arb]:
        """Return the divergence, ``rate (z - z0) b - H(z) + H(z0)``."""
        (b, p), (_, p0) = at, at0
        H, H0 = (self._at(self.conjugate, c, x) for x in (p, p0))
        return [c.rate * (p[0] - p0[0]) * b - (H - H0)]

    def _image(self, c: Constants, y: arb) -> Sequence[arb]:
        return [self._height(c, point(c, y / c.rate))]

    def _height(self, c: Constants, p: Point) -> Quantity:
        if any(distance is not None and distance <= 0 for distance in p[1:]):
            raise Undefined
        return self._at(self.curve, c, p)

    def _invert(self, c: Constants, beta: arb) -> Point:
        """Return z with h(z) = beta, by its distances: proved by signs on both sides of it."""
        origin = c.origin[0]
        zero = self._at(self.slope, c, point(c, arb(0)))
        if (beta - origin).contains(0):
            around = arb(0, (2 * abs((beta - origin) / zero)).upper())
            image = (beta - origin) / self._at(self.slope, c, point(c, around))
            return point(c, image if around.contains(image) else arb.nan())
        rising = zero > 0
        upward = (beta > origin) == rising
        sign, end = (1, c.high) if upward else (-1, c.low)

        def beyond(p: Point) -> Quantity:
            """Return what is positive from the z that is looked for outwards."""
            return (self._height(c, p) - beta) * (1 if (beta > origin) else -1)

        most = None if end is None else abs(end) / 2
        outward = 1 if end is None or beyond(point(c, end / 2)) > 0 else -1

        def chart(x: arb) -> Point:
            return point(c, sign * x) if outward > 0 else _from_end(c, sign, x)

        x = _near_zero(lambda x: beyond(chart(x)) * outward, most)
        for _ in range(ctx.prec.bit_length()):
            p = chart(x)
            change = (self._height(c, p) - beta) / self._at(self.slope, c, p)
            x = (x - change * (sign * outward)).mid()
        p = chart(x)
        change = (self._height(c, p) - beta) / self._at(self.slope, c, p)
        room = (2 * abs(change) + abs(x) * arb(2) ** (4 - ctx.prec)).upper()
        sides = (beyond(chart(x + s * room)) * (s * outward) for s in (-1, 1))
        if not all(side > 0 for side in sides):
            return (arb.nan(),) * 3
        return chart(arb(x, room))


_FARTHEST = 2**14
"""Binary exponents up to which a z is looked for."""
_COARSE = 2**-8
"""Width in binary exponents from which on Newton's method is trusted."""


def _near_zero(beyond: Function, most: arb | None) -> arb:
    """Return an x > 0 next to the zero of an increasing function, which is at *most* so large."""

    def over(s: arb) -> bool:
        return bool(beyond((arb(2) ** s).mid()) > 0)

    high = arb(0) if most is None else (most.log() / arb(2).log()).mid()
    step = arb(1)
    while most is None and step < _FARTHEST and not over(high):
        high, step = high + step, 2 * step
    low, step = high - step, arb(1)
    while step < _FARTHEST and over(low):
        low, high, step = low - step, low, 2 * step
    while high - low > _COARSE:
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if over(middle) else (middle, high)
    return (arb(2) ** high).mid()


def _from_end(c: Constants, sign: int, x: arb) -> Point:
    """Return what lies x away from an end of z."""
    span = None if c.high is None or c.low is None else c.high - c.low
    other = None if span is None else span - x
    return (c.high - x, x, other) if sign > 0 else (c.low + x, other, x)


class Vector(VectorFormulas):
    """``Q(beta) = q(|beta|) - slope <u_0, beta>``, where vectors are arrays (d,) of balls."""

    column, length = staticmethod(lambda x: x), staticmethod(length)
    dot = staticmethod(lambda x, y: (x * y).sum())
    unit = staticmethod(lambda x, size: x / size if any(y != 0 for y in x) else x)

    def _rays(self) -> list[Ray]:
        first, *_ = self.q.differences
        return [lambda c, s, s0, _: first(c, s, s0)[0]]

    def _hessian(self, c: Constants, b: Any) -> Sequence[Any]:
        identity = np.array([[arb(i == j) for j in range(len(b))] for i in range(len(b))])
        return [self._product(c, b, row)[0] for row in identity]

    def _bregman(self, c: Constants, at: Polar, at0: Polar, along: Ray) -> Sequence[arb]:
        """Return that of q from s0 to s, and ``q'(s0) (s - <b, e0>)`` of the directions."""
        (b, s, _), (_, s0, e0) = at, at0
        slope, rise = c.of(self.q.gradient(c, s0)[0]), along(c, s, s0, s - s0)
        if s0 == 0 and slope != 0:
            raise Undefined
        return [rise if s0 == 0 else rise + slope * (s - self.dot(b, e0))]
