"""Q at one point on balls of python-flint: the formulas of the doubles, on other numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add, mul
from typing import Any, Protocol

from flint import acb, arb, ctx

from numerics.evaluate.balls.functions import Function, Undefined, ball, length
from numerics.evaluate.doubles.arithmetic import Constants, Formula


class OnBalls(Protocol):
    """Q of one block, by the constants of a start and one or two points."""

    # ruff: noqa: D102
    def at(self, what: str, c: Constants, *points: Any) -> Sequence[arb]: ...


@dataclass(frozen=True, slots=True)
class Closed:
    """Q of one block by formulas of the constants and d balls, as :class:`ClosedFormulas` has."""

    gradient: Formula
    hessian: Formula
    value: Formula | None = None
    inverse: Formula | None = None
    divergence: Formula | None = None
    walls: Formula | None = None

    def at(self, what: str, c: Constants, *points: arb) -> Sequence[arb]:
        """Return what is asked for; see :meth:`ClosedFormulas.forms`."""
        d, inverse = len(c.origin), self.inverse
        if what == "inverse":
            assert inverse is not None
            return self._inside(c, inverse(c, *points))
        for first in range(0, d if what == "stretch" else len(points), d):
            self._inside(c, points[first : first + d])
        match what:
            case "primitive" if self.value is not None:
                return self.value(c, *points)
            case "value" | "primitive":
                return [self.above_start(c, points)]
            case "bregman":
                return [self.difference(c, points[:d], points[d:])]
            case "gradient" | "hessian":
                return self.gradient(c, *points) if what == "gradient" else self.hessian(c, *points)
            case "stretch":
                return [1 / ball(self.hessian(c, points[0])[0])]
        raise ValueError(f"Q has no {what!r}")

    def above_start(self, c: Constants, b: Sequence[arb]) -> arb:
        """Return Q(b) - Q(beta_0), a divergence where it has a formula, as grad Q(beta_0) = 0."""
        if self.value is None or self.divergence is not None:
            return self.difference(c, b, c.origin)
        return arb(self.value(c, *b)[0] - self.value(c, *c.origin)[0])

    def difference(self, c: Constants, b: Sequence[arb], b0: Sequence[arb]) -> arb:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        if self.divergence is not None:
            return arb(self.divergence(c, *b, *b0)[0])
        assert self.value is not None
        steps = zip(self.gradient(c, *b0), b, b0, strict=True)
        rise = self.value(c, *b)[0] - self.value(c, *b0)[0]
        return arb(rise - reduce(add, (slope * (x - x0) for slope, x, x0 in steps)))

    def _inside(self, c: Constants, b: Sequence[arb]) -> Sequence[arb]:
        """Return a point, unless what keeps its sign on the domain of Q has certainly another."""
        if self.walls is not None:
            for here, start in zip(self.walls(c, *b), self.walls(c, *c.origin), strict=True):
                if (here < 0 < start) or (start < 0 < here):
                    raise Undefined
        return b


@dataclass(frozen=True, slots=True)
class Integral(Closed):
    """Q of one block with a formula of its Hessian H on complex balls, but none of Q."""

    complex_hessian: Formula | None = None

    def difference(self, c: Constants, b: Sequence[arb], b0: Sequence[arb]) -> arb:
        """Integrate ``(1-t) s^T H(b0 + t s) s`` over [0, 1], s = b - b0, half from either end.

        Next to an end of the domain both the end that is near and the distance have their digits.
        """
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
            return arb.nan()
        total = reduce(add, (acb.integral(f, acb(0), half, **limits).real for f in halves))
        if ctx.prec >= _FINEST and total.rel_accuracy_bits() < _SOME:
            raise Undefined
        return total


_DEEPEST, _EVALUATIONS = 4096, 10_000
"""Bisections towards an end of the domain, and evaluations after which there is no result."""
_BEYOND = arb(2) ** 4096
"""Of an integrand with that at an end no double is the integral."""
_FINEST, _SOME = 128, 8
"""Bits of which some have to be right, as otherwise more of them make no difference."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Q of one output along beta = h(z), as :class:`ParametricFormulas` has it."""

    curve: Formula
    slope: Formula
    conjugate: Formula

    def at(self, what: str, c: Constants, *points: arb) -> Sequence[arb]:
        """Return what is asked for; Q' = rate z, Q = rate z beta - H(z)."""
        match what:
            case "inverse":
                return [self._height(c, _place(c, points[0] / c.rate))]
            case "stretch":
                return [self._rise(c, _place(c, points[1] / c.rate)) / c.rate]
        place = self._above(c, points[0])
        match what:
            case "gradient":
                return [c.rate * place[0]]
            case "hessian":
                return [c.rate / self._rise(c, place)]
            case "value" | "primitive":
                return [self._difference(c, points[0], place, _place(c, arb(0)))]
            case "bregman":
                return [self._difference(c, points[0], place, self._above(c, points[1]))]
        raise ValueError(f"Q has no {what!r}")

    def _difference(self, c: Constants, b: arb, place: Any, place0: Any) -> arb:
        """Return the divergence, ``rate (z - z0) b - H(z) + H(z0)``."""
        H, H0 = (ball(self.conjugate(c, *p)[0]) for p in (place, place0))
        return arb(c.rate * (place[0] - place0[0]) * b - (H - H0))

    def _height(self, c: Constants, place: Any) -> arb:
        for distance in place[1:]:
            if distance is not None and distance <= 0:
                raise Undefined
        return ball(self.curve(c, *place)[0])

    def _rise(self, c: Constants, place: Any) -> arb:
        return ball(self.slope(c, *place)[0])

    def _above(self, c: Constants, beta: arb) -> Any:
        """Return z with h(z) = beta, by its distances: proved by signs on both sides of it."""
        origin = c.origin[0]
        zero = self._rise(c, _place(c, arb(0)))
        if (beta - origin).contains(0):
            around = arb(0, (2 * abs((beta - origin) / zero)).upper())
            image = (beta - origin) / self._rise(c, _place(c, around))
            return _place(c, image if around.contains(image) else arb.nan())
        rising = zero > 0
        upward = (beta > origin) == rising
        sign, end = (1, c.high) if upward else (-1, c.low)

        def beyond(place: Any) -> arb:
            """Return what is positive from the z that is looked for outwards."""
            return (self._height(c, place) - beta) * (1 if (beta > origin) else -1)

        chart: Function = partial(_from_zero, c, sign)
        outward, most = 1, None if end is None else abs(end) / 2
        if end is not None and not beyond(_place(c, end / 2)) > 0:
            chart, outward = partial(_from_end, c, sign), -1
        x = _near_zero(lambda x: beyond(chart(x)) * outward, most)
        for _ in range(ctx.prec.bit_length()):
            place = chart(x)
            change = (self._height(c, place) - beta) / self._rise(c, place)
            x = (x - change * (sign * outward)).mid()
        place = chart(x)
        change = (self._height(c, place) - beta) / self._rise(c, place)
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


def _place(c: Constants, z: arb) -> Any:
    """Return z, high - z and z - low; None for an infinite end."""
    return z, None if c.high is None else c.high - z, None if c.low is None else z - c.low


def _from_zero(c: Constants, sign: int, x: arb) -> Any:
    return _place(c, sign * x)


def _from_end(c: Constants, sign: int, x: arb) -> Any:
    """Return what lies x away from an end of z."""
    span = None if c.high is None or c.low is None else c.high - c.low
    other = None if span is None else span - x
    return (c.high - x, x, other) if sign > 0 else (c.low + x, other, x)


@dataclass(frozen=True, slots=True)
class Vector:
    """``Q(beta) = q(|beta|) - slope <u_0, beta>`` in R^d; see :class:`VectorFormulas`."""

    q: Closed
    tangential: Formula
    sign: int

    def at(self, what: str, c: Constants, *points: Sequence[arb]) -> Sequence[arb]:
        """Return what is asked for, row by row."""
        match what:
            case "origin":
                return self._origin(c)
            case "pull":
                return [c.slope * x for x in c.vector]
            case "value":
                return [self._above_start(c, points[0])]
            case "bregman":
                return [self._difference(c, points[0], points[1], length(points[1]))]
            case "gradient":
                T, _ = self._spectrum(c, length(points[0]))
                return [T * b - c.slope * u for b, u in zip(points[0], c.vector, strict=True)]
            case "spectrum":
                return self._spectrum(c, length(points[0]))
            case "product":
                return self._product(c, *points)
            case "hessian":
                identity = [
                    [arb(i == j) for j in range(len(c.vector))] for i in range(len(c.vector))
                ]
                return [x for row in identity for x in self._product(c, points[0], row)]
            case "inverse":
                dual = [y + c.slope * u for y, u in zip(points[0], c.vector, strict=True)]
                size = length(dual)
                (s,) = self.q.at("inverse", c, size)
                return [s * x / size for x in dual] if any(x != 0 for x in dual) else dual
        raise ValueError(f"Q has no {what!r}")

    def _origin(self, c: Constants) -> Sequence[arb]:
        size = length(c.vector)
        return [self.sign * c.origin[0] * x / size for x in c.vector] if size != 0 else c.vector

    def _spectrum(self, c: Constants, s: arb) -> Sequence[arb]:
        return [ball(self.tangential(c, s)[0]), ball(self.q.at("hessian", c, s)[0])]

    def _product(self, c: Constants, b: Sequence[arb], x: Sequence[arb]) -> Sequence[arb]:
        """Return ``T x + (R - T) <e, x> e`` with e = b/|b|."""
        s = length(b)
        T, R = self._spectrum(c, s)
        if not any(y != 0 for y in b):
            return [T * y for y in x]
        along = (R - T) * reduce(add, map(mul, b, x)) / (s * s)
        return [T * y + along * z for y, z in zip(x, b, strict=True)]

    def _above_start(self, c: Constants, b: Sequence[arb]) -> arb:
        """Return Q(b) - Q(beta_0), a divergence where q has a formula of it."""
        b0, s0 = self._origin(c), c.origin[0]
        if self.q.value is None or self.q.divergence is not None:
            return self._difference(c, b, b0, s0)
        rise = self.q.value(c, length(b))[0] - self.q.value(c, s0)[0]
        steps = (u * (x - x0) for u, x, x0 in zip(c.vector, b, b0, strict=True))
        return arb(rise - c.slope * reduce(add, steps))

    def _difference(self, c: Constants, b: Sequence[arb], b0: Sequence[arb], s0: arb) -> arb:
        """Return that of q from s0 to s, and ``q'(s0) (s - <b, b0>/s0)`` of the directions."""
        s = length(b)
        rise = self.q.difference(c, [s], [s0])
        slope = ball(self.q.gradient(c, s0)[0])
        if s0 == 0:
            if slope != 0:
                raise Undefined
            return rise
        return arb(rise + slope * (s - reduce(add, map(mul, b, b0)) / s0))
