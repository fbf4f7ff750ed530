"""Q of one block by its formulas: in closed form, along a curve beta = h(z), or of vectors.

Integrals of the Hessian never cancel; z is known by its distances from 0 and from the ends of its
range. In R^d, ``Q(beta) = q(|beta|) - slope <u_0, beta>`` is made of formulas of q, on doubles
(n, d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from numerics.evaluate.doubles.arithmetic import (
    Array,
    Constants,
    Double,
    Formula,
    Quantity,
    column,
    dot,
    length,
    pairwise_sum,
    select,
    signed,
    unit,
)

_RULES = [np.polynomial.legendre.leggauss(n) for n in (16, 10)]


@dataclass(frozen=True)
class ClosedFormulas:
    """Q of one block in closed form, by functions of the constants and d numbers of any kind.

    Attributes:
        gradient: dQ/dbeta_i.
        hessian: d^2 Q/dbeta_i dbeta_j, row by row.
        value: Q, up to a constant; of an integral there is none.
        inverse: the beta with grad Q = y.
        walls: what keeps on the domain of Q the sign that it has at the start; None: nothing.
    """

    gradient: Formula
    hessian: Formula
    value: Formula | None = None
    inverse: Formula | None = None
    walls: Formula | None = None

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for; its functions are of the constants and d numbers.

        "value" is 0 at the start, "primitive" is Q up to a constant, "bregman" is ``Q(b) - Q(b0) -
        <grad Q(b0), b - b0>`` of 2 d numbers, "stretch" dbeta/dy of one output at beta and y =
        Q'(beta). Of "inverse" there are none where it is not known, nor in doubles of Q as an
        integral. The first needs no doubles.
        """
        inside, inverse, value = self._inside, self.inverse, self.value
        match what:
            case "value":
                # Where J has lower rank at the start grad Q has no value there, and needs none.
                from_start = [lambda c, *b, f=f: f(c, *b, *c.origin) for f in self.forms("bregman")]
                return [inside(self._above_start), *from_start] if value else from_start
            case "primitive":
                return [inside(value)] if value else []
            case "gradient":
                return [inside(self.gradient)]
            case "hessian":
                return [inside(self.hessian)]
            case "stretch":
                return [lambda c, b, y: [1 / c.of(inside(self.hessian)(c, b)[0])]]
            case "bregman":
                return [inside(f) for f in self.differences]
            case "inverse":
                return [] if inverse is None else [lambda c, *y: self._kept(c, inverse(c, *y))]
        raise ValueError(f"Q has no {what!r}")

    @property
    def differences(self) -> list[Formula]:
        """Forms of the divergence: by subtraction, by an integral; none where Q is one."""
        return [self._difference, self._segment] if self.value else []

    def _inside(self, formula: Formula) -> Formula:
        """Return a formula that is undefined outside the domain."""
        if self.walls is None:
            return formula
        return lambda c, *points: formula(c, *self._kept(c, points))

    def _kept(self, c: Constants, points: Sequence[Quantity]) -> Sequence[Quantity]:
        """Return the points, undefined where one of d numbers has certainly left the domain."""
        if self.walls is None:
            return points
        d, at_start = len(c.origin), self.walls(c, *c.origin)
        kept: list[Quantity] = []
        for first in range(0, len(points), d):
            b = points[first : first + d]
            for wall, start in zip(self.walls(c, *b), at_start, strict=True):
                b = self._on_side(b, wall, start)
            kept += b
        return kept

    @staticmethod
    def _on_side(b: Sequence[Quantity], wall: Quantity, start: Quantity) -> Sequence[Quantity]:
        """Return a point, undefined where a wall has certainly another sign than at the start."""
        certain = (abs(wall.v) > wall.d) & (abs(start.v) > start.d)
        beyond = np.asarray(certain & ((wall.v < 0) != (start.v < 0)), dtype=bool)
        return [x.outside(beyond, False) for x in b] if np.any(beyond) else b

    def _above_start(self, c: Constants, *b: Quantity) -> Sequence[Quantity]:
        assert self.value is not None
        return [self.value(c, *b)[0] - self.value(c, *c.origin)[0]]

    def _difference(self, c: Constants, *points: Quantity) -> Sequence[Quantity]:
        assert self.value is not None
        return divergence(partial(self.value, c), partial(self.gradient, c), points)

    def _segment(self, c: Constants, *points: Double) -> Sequence[Double]:
        """Integrate ``(1-t) s^T H(b0 + t s) s``: no terms cancel, as H > 0."""
        d = len(points) // 2
        b0, s = points[d:], [x - x0 for x, x0 in zip(points[:d], points[d:], strict=True)]

        def entries(t: float) -> Sequence[Double]:
            at = (y + x.of(t) * x for y, x in zip(b0, s, strict=True))
            return [s[0].of(x) for x in self.hessian(c, *at)]

        H = integrate(entries, range(0, d * d, d + 1))
        rows = (pairwise_sum([H[i * d + j] * s[j] for j in range(d)]) for i in range(d))
        return [sum(x * row for x, row in zip(s, rows, strict=True))]


def divergence(
    value: Callable[..., Sequence[Any]],
    gradient: Callable[..., Sequence[Any]],
    points: Sequence[Any],
) -> list[Any]:
    """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>`` of 2 d numbers."""
    d = len(points) // 2
    b, b0 = points[:d], points[d:]
    (top,), (low,) = value(*b), value(*b0)
    total = top - low
    for slope, x, x0 in zip(gradient(*b0), b, b0, strict=True):
        total = total - slope * (x - x0)
    return [total]


def integrate(
    function: Callable[[float], Sequence[Double]], positive: Sequence[int]
) -> list[Double]:
    """Return ``int_0^1 (1-t) f_i(t) dt`` by two Gauss-Legendre rules.

    Their distance is added to the running error: an estimate of the error of the finer one, which
    is far better, and no proof. There is no bound where the f_i that are *positive* vary by more
    than a factor of 4: a rule may step over what happens close to an end.
    """
    totals, even = [], np.ones(1, dtype=bool)
    for nodes, weights in _RULES:
        columns = list(zip(*(function((1 + x) / 2) for x in nodes), strict=True))
        factors = weights * (1 - nodes) / 4
        for i in positive:
            sizes = np.broadcast_arrays(*(abs(x.v) for x in columns[i]))
            even = even & (np.maximum.reduce(sizes) <= 4 * np.minimum.reduce(sizes))
        terms = ([x.of(w) * x for w, x in zip(factors, column, strict=True)] for column in columns)
        totals.append(list(map(pairwise_sum, terms)))
    scale, found = sum(abs(totals[0][i].v) for i in positive), []
    for fine, coarse in zip(*totals, strict=True):
        distance = abs(fine.v - coarse.v)
        far = ~np.asarray(distance * 2**20 < scale, dtype=bool)  # which shows no agreement
        d = np.where(far & (distance != 0), np.inf, fine.d + distance)
        found.append(type(fine)(fine.v, d).outside(False, ~even))
    return found


Point: TypeAlias = Sequence[Any]  # z, high - z and z - low; None for an infinite end
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
        at, invert = self._at, self._invert

        def rise(c: Constants, b: Double, b0: Double | None = None) -> Sequence[Quantity]:
            """Return ``Q(b) - Q(b0) - Q'(b0) (b - b0) = rate (z - z0) b - H(z) + H(z0)``."""
            places = invert(c, b), point(c, c.of(0)) if b0 is None else invert(c, b0)
            (z, *_), (z0, *_) = places
            H, H0 = (at(self.conjugate, c, p) for p in places)
            return [c.rate * (z - z0) * b - (H - H0)]

        known: dict[str, Formula] = {
            **dict.fromkeys(("value", "primitive", "bregman"), rise),
            "gradient": lambda c, b: [c.rate * invert(c, b)[0]],
            "hessian": lambda c, b: [c.rate / at(self.slope, c, invert(c, b))],
            "stretch": lambda c, b, y: [at(self.slope, c, point(c, y / c.rate)) / c.rate],
            "inverse": self._image,
        }
        if what not in known:
            raise ValueError(f"Q has no {what!r}")
        return [known[what]]

    def _image(self, c: Constants, y: Quantity) -> Sequence[Quantity]:
        p = point(c, y / c.rate)
        image = self._at(self.curve, c, p)
        for end in (x for x in p[1:] if x is not None):
            image = image.outside(end.v + end.d < 0, (end.v <= end.d) & (end.v + end.d >= 0))
        return [image]

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


def from_end(c: Constants, sign: int, x: Quantity) -> Point:
    """Return the same of what lies x away from the upper end (1) or the lower one (-1)."""
    other = None if c.high is None or c.low is None else c.high - c.low - x
    return (c.high - x, x, other) if sign > 0 else (c.low + x, other, x)


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
        p = point(self._c, signed(x, self._side))
        for mask, sign in ((self._upper, 1), (self._lower, -1)):
            if np.any(mask):
                pairs = zip(from_end(self._c, sign, x), p, strict=True)
                p = tuple(None if y is None else select(mask, y, z) for y, z in pairs)
        return p


@dataclass(frozen=True)
class VectorFormulas:
    """Q from q, where ``Hess Q = T I + (R - T) beta beta^T/s^2``, T = q'(s)/s, R = q''(s).

    The constants c hold u_0 as ``vector``, (1, d) in doubles, s_0 as ``origin[0]``, and ``slope``.

    Attributes:
        q: the formulas of q, functions of s = |beta|.
        tangential: T.
        sign: that of <beta_0, u_0>.
    """

    q: Any
    tangential: Formula
    sign: int

    column: ClassVar[Callable[..., Any]] = staticmethod(column)
    dot: ClassVar[Callable[..., Any]] = staticmethod(dot)
    length: ClassVar[Callable[..., Any]] = staticmethod(length)
    unit: ClassVar[Callable[..., Any]] = staticmethod(unit)

    @staticmethod
    def basis(b: Quantity) -> list[Quantity]:
        """Return the unit vectors."""
        return [b.of(row[None, :]) for row in np.eye(b.v.shape[-1])]

    @staticmethod
    def off_kinks(slope: Quantity, s: Quantity) -> Quantity:
        """Return q'(s), undefined at a kink in 0."""
        return slope.outside((s.v == 0) & (slope.v != 0), False)

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for: numbers (n,), vectors (n, d), or d rows of matrices.

        "origin" is beta_0, "pull" the linear term's ``slope u_0``, "product" ``Hess Q(beta) x``;
        the others are as of closed formulas.
        """
        differs = bool(self.q.differences)
        from_origin = [lambda c, b: self._divergence(c, b, self._origin(c)[1:])] * differs
        total = [self._above_start] if self.q.value else from_origin
        known: dict[str, list[Formula]] = {
            "origin": [lambda c, b: [self._origin(c)[0]]],
            "pull": [lambda c, b: [c.slope * c.vector]],
            "value": total,
            "primitive": total,
            "bregman": [self._bregman] * differs,
            "inverse": [] if self.q.inverse is None else [self._inverse],
            "gradient": [self._gradient],
            "hessian": [lambda c, b: [self._product(c, b, e)[0] for e in self.basis(b)]],
            "product": [self._product],
        }
        if what not in known:
            raise ValueError(f"Q has no {what!r}")
        return known[what]

    def _origin(self, c: Constants) -> tuple[Quantity, Quantity, Quantity]:
        """Return beta_0, its length, which is known better than from its entries, and direction."""
        s0: Quantity = c.origin[0]
        e0 = self.unit(c.vector, self.length(c.vector)) * self.sign
        return e0 * s0, s0, e0

    def _above_start(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        b0, s0, _ = self._origin(c)
        (top,), (low,) = self.q.value(c, self.length(b)), self.q.value(c, s0)
        return [top - low - self.dot(c.slope * c.vector, b - b0)]

    def _gradient(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        (T,) = self.tangential(c, self.length(b))
        return [self.column(c.of(T)) * b - c.slope * c.vector]

    def _product(self, c: Constants, b: Quantity, x: Quantity) -> Sequence[Quantity]:
        s, (along, *_) = self.length(b), self.q.forms("hessian")
        T, R = (c.of(x) for x in (*self.tangential(c, s), *along(c, s)))
        e = self.unit(b, s)
        return [self.column(T) * x + self.column((R - T) * self.dot(e, x)) * e]

    def _inverse(self, c: Constants, y: Quantity) -> Sequence[Quantity]:
        dual = y + c.slope * c.vector
        size = self.length(dual)
        (inverse,) = self.q.forms("inverse")
        return [self.column(c.of(inverse(c, size)[0])) * self.unit(dual, size)]

    def _bregman(self, c: Constants, b: Quantity, b0: Quantity) -> Sequence[Quantity]:
        size = self.length(b0)
        return self._divergence(c, b, (size, self.unit(b0, size)))

    def _divergence(
        self, c: Constants, b: Quantity, at0: tuple[Quantity, Quantity]
    ) -> Sequence[Quantity]:
        """Return that of q from s0 to s, and ``q'(s0) (s - <b, e0>)`` of the directions."""
        (s0, e0), s = at0, self.length(b)
        along, *_ = self.q.differences
        slope = self.off_kinks(c.of(self.q.gradient(c, s0)[0]), s0)
        return [along(c, s, s0)[0] + slope * (s - self.dot(b, e0))]
