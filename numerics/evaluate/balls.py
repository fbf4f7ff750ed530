"""Q at one point on balls of python-flint: the forms of the doubles, and where balls differ.

Balls are enclosures: what they tell is proved, and their bits are doubled until enough of them are
right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise
from operator import add, methodcaller
from typing import Any, TypeAlias

import numpy as np
from flint import acb, acb_poly, arb, arb_poly, ctx, fmpq

from numerics.evaluate.doubles.arithmetic import Constants, Formula, Quantity
from numerics.evaluate.doubles.formulas import (
    ClosedFormulas,
    ParametricFormulas,
    Point,
    VectorFormulas,
    from_end,
    point,
)

Function: TypeAlias = Callable[..., Any]
LADDER = tuple(2**k for k in range(6, 14))
"""Working precisions in bits, tried in turn."""
DOUBLE = 50
"""Bits after which a ball is a double."""


class Undefined(ArithmeticError):
    """There is no number, whatever the precision: the point is outside."""


def ball(x: Any) -> arb:
    """Return an exact number, or a ball itself, as a ball."""
    return arb(fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else arb(x)


def refined(
    evaluate: Callable[[], Sequence[arb]], suffices: Callable[[arb], bool], ladder: Sequence[int]
) -> Sequence[arb] | None:
    """Return the first numbers that suffice, else those of the last precision; None: undefined."""
    numbers: Sequence[arb] | None = None
    for bits in ladder:
        with ctx.workprec(bits):
            try:
                numbers = evaluate()
            except Undefined:
                return None
            if all(map(suffices, numbers)):
                break
    return numbers


def as_doubles(evaluate: Callable[[], Sequence[arb]], least: float) -> list[float] | None:
    """Return the nearest doubles; None where they are not known, but for parts below *least*."""
    known = partial(suffices, bits=DOUBLE, least=least)
    numbers = refined(evaluate, known, LADDER)
    if numbers is None or not all(map(known, numbers)):
        return None
    # What underflows from below is 0.0, too.
    return [0.0 if x.contains(0) else float(x.mid()) + 0.0 for x in numbers]


def suffices(x: arb, bits: int, least: float) -> bool:
    """Tell whether a ball has so many bits right, or is below *least*."""
    return bool(x.is_finite() and (x.rel_accuracy_bits() >= bits or x.abs_upper() < least))


# Functions of the texts of formulas, on real and on complex balls.


def _log(x: arb) -> arb:
    if x <= 0:
        raise Undefined
    return x.log()


def _sqrt(x: arb) -> arb:
    """Return the square root; of a ball about 0, that of the part where there is one."""
    if x < 0:
        raise Undefined
    return x.nonnegative_part().sqrt()


def _tangent(x: arb) -> arb:
    """Return tan x for |x| < pi/2 alone, where atan takes it back."""
    size, right = abs(x), arb.pi() / 2
    if size > right:
        raise Undefined
    return x.tan() if size < right else arb.nan()


def _power(x: arb, exponent: Any) -> arb:
    """Return x^p: for x > 0, or for 0 and p > 0, and of whole and half p as products."""
    if not isinstance(exponent, arb) and Fraction(exponent).denominator <= 2:
        n = Fraction(exponent)
        return x**n.numerator if n.denominator == 1 else _sqrt(x) ** n.numerator
    if x < 0:
        raise Undefined
    return x ** ball(exponent)


def length(vector: Iterable[arb]) -> arb:
    """Return the Euclidean norm."""
    return reduce(add, (x * x for x in vector)).sqrt()


def largest_root(*coefficients: Any) -> arb:
    """Return the largest real root t of ``c_0 + c_1 t + ... + c_n t^n``.

    Newton's steps fall to it from a bound of all roots. P < 0 on one side of where they end, and
    no derivative of P is negative on the other, so that no root is beyond.
    """
    *lower, leading = map(ball, coefficients)
    if len(lower) == 2:
        half, product = -lower[1] / leading / 2, lower[0] / leading
        root = _sqrt(half * half - product)
        return product / (half - root) if half < 0 else half + root
    monic = [*(c / leading for c in lower), arb(1)]
    P = arb_poly(monic)
    sizes = (abs(c).upper().root(k) for k, c in enumerate(monic[-2::-1], 1) if c != 0)
    # 2 max_k |c_{n-k}|^(1/k), above all roots, or a little more
    slope, x = P.derivative(), (2 * reduce(arb.max, sizes, arb(0))).upper()
    for _ in range(2 * ctx.prec):
        new = (x - P(x) / slope(x)).mid()
        if not new < x:
            break
        x = new
    # Next to another root more than twice P/P' is needed to see signs through rounding; where it
    # is not small, a step from above went past the root.
    room = 8 * abs(P(x) / slope(x)) + abs(x) * arb(2) ** (4 - ctx.prec)
    low, high = (x - room).lower(), (x + room).upper()
    ended = room < abs(x) * arb(2) ** (-ctx.prec // 4)
    if ended and P(low) < 0 and all(c >= 0 for c in P(arb_poly([high, 1])).coeffs()):
        return low.union(high)
    return lower_root(0, *coefficients)


def lower_root(number: int, *coefficients: Any) -> arb:
    """Return the real root that has *number* others above it; nan where it is not told apart."""
    polynomial = arb_poly([ball(c) for c in coefficients])
    try:
        roots = polynomial.complex_roots(maxprec=2 * ctx.prec)
    except ValueError:
        return arb.nan()
    # Of a real polynomial isolated balls that meet the real line have real roots.
    real = sorted((x.real for x in roots if x.imag.contains(0)), key=lambda x: float(x.mid()))
    if any(not low < high for low, high in pairwise(real)):
        return arb.nan()
    if number >= len(real):
        raise Undefined
    x, slope = arb(real[-1 - number]), polynomial.derivative()
    for _ in range(ctx.prec.bit_length()):
        middle = x.mid()
        image = middle - polynomial(middle) / slope(x)
        if not (image.is_finite() and image.rad() < x.rad()):
            break
        x = image
    return x


def _dilogarithm(x: arb) -> arb:
    """Return Li_2(x) of x < 1."""
    if x >= 1:
        raise Undefined
    return x.polylog(2) if x < 1 else arb.nan()


_ENTIRE = ("exp", "expm1", "sinh", "cosh", "sin", "cos", "erf", "erfi")
REAL: Mapping[str, Function] = {
    **{name: methodcaller(name) for name in (*_ENTIRE, "tan", "tanh", "asinh", "atan")},
    "sqrt": _sqrt,
    "Ei": methodcaller("ei"),
    "Li2": _dilogarithm,
    "log": _log,
    "tangent": _tangent,
    "power": _power,
    "minimum": lambda x, y: x.min(y),
    "maximum": lambda x, y: x.max(y),
    "length": length,
    "largest_root": largest_root,
    "lower_root": lower_root,
    "Fraction": lambda a, b: arb(fmpq(a, b)),
}
"""What the texts of formulas call, on real balls."""


def _complex_log(z: Any) -> acb:
    return acb(z).log(analytic=True)


def _complex_sqrt(z: Any) -> acb:
    return acb(z).sqrt(analytic=True)


def _complex_exponential_integral(z: Any) -> acb:
    """Return Ei(z) on the side of 0 where z is."""
    z = acb(z)
    if z.real < 0:
        return acb(-(-z).expint(1))
    return acb(z.ei()) if z.real > 0 else acb("nan")


def _complex_power(z: Any, exponent: Any) -> acb:
    if not isinstance(exponent, arb) and Fraction(exponent).denominator == 1:
        return acb(z) ** int(exponent)
    return acb(z).pow(acb(ball(exponent)), analytic=True)


def _complex_root(number: int, *coefficients: Any) -> acb:
    """Return the root that continues the real one with *number* others above it, by Newton.

    Where an image of a ball under Newton's operator lies in the ball there is one root in it, an
    analytic function of the coefficients.
    """
    given = [acb(ball(c) if isinstance(c, int | Fraction) else c) for c in coefficients]
    middles = [c.real.mid() for c in given]
    near = largest_root(*middles) if number == 0 else lower_root(number, *middles)
    middle = acb(near.mid())
    P = acb_poly(given)
    slope = P.derivative()
    room = (2 * abs(P(middle) / slope(middle)) + abs(middle) * arb(2) ** (4 - ctx.prec)).upper()
    around = middle + acb(arb(0, room), arb(0, room))
    image = middle - P(middle) / slope(around)
    return image if around.contains(image) else acb("nan")


COMPLEX: Mapping[str, Function] = {
    **{name: (lambda z, f=methodcaller(name): f(acb(z))) for name in (*_ENTIRE, "tan", "tanh")},
    "sqrt": _complex_sqrt,
    "log": _complex_log,
    "asinh": lambda z: _complex_log(z + _complex_sqrt(1 + z * z)),
    "atan": lambda z: (
        (_complex_log(1 + acb(0, 1) * z) - _complex_log(1 - acb(0, 1) * z)) / acb(0, 2)
    ),
    "tangent": lambda z: acb(z).tan(),
    "Ei": _complex_exponential_integral,
    "Li2": lambda z: acb(z).polylog(2) if acb(z).real < 1 else acb("nan"),
    "power": _complex_power,
    "minimum": lambda z, w: acb(z).real_min(acb(w), analytic=True),
    "maximum": lambda z, w: acb(z).real_max(acb(w), analytic=True),
    "abs": lambda z: acb(z).real_abs(analytic=True),
    "largest_root": partial(_complex_root, 0),
    "lower_root": _complex_root,
    "Fraction": lambda a, b: arb(fmpq(a, b)),
}
"""The same on complex balls, not finite where they are not analytic, as integrals need them."""


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
            return point(c, sign * x) if outward > 0 else from_end(c, sign, x)

        def change(x: arb) -> Quantity:
            return (self._height(c, p := chart(x)) - beta) / self._at(self.slope, c, p)

        x = _near_zero(lambda x: beyond(chart(x)) * outward, most)
        for _ in range(ctx.prec.bit_length()):
            x = (x - change(x) * (sign * outward)).mid()
        room = (2 * abs(change(x)) + abs(x) * arb(2) ** (4 - ctx.prec)).upper()
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


class Vector(VectorFormulas):
    """``Q(beta) = q(|beta|) - slope <u_0, beta>``, where vectors are arrays (d,) of balls."""

    column, length = staticmethod(lambda x: x), staticmethod(length)
    dot = staticmethod(lambda x, y: (x * y).sum())
    unit = staticmethod(lambda x, size: x / size if any(y != 0 for y in x) else x)

    @staticmethod
    def basis(b: Any) -> list[Any]:
        """Return the unit vectors."""
        return [np.array([arb(i == j) for j in range(len(b))]) for i in range(len(b))]

    @staticmethod
    def off_kinks(slope: arb, s: arb) -> arb:
        """Return q'(s), undefined at a kink in 0."""
        if s == 0 and slope != 0:
            raise Undefined
        return slope
