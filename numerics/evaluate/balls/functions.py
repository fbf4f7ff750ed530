"""Functions on balls of python-flint, and bits that are doubled until enough of them are right.

Balls are enclosures: what they tell is proved, and what has not the bits that are asked for is
told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise
from operator import add, methodcaller
from typing import Any, TypeAlias

from flint import acb, acb_poly, arb, arb_poly, ctx, fmpq

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
    return [float(x.mid()) + 0.0 for x in numbers]  # 0.0 for what underflows from below


def suffices(x: arb, bits: int, least: float) -> bool:
    """Tell whether a ball has so many bits right, or is below *least*."""
    return bool(x.is_finite() and (x.rel_accuracy_bits() >= bits or x.abs_upper() < least))


# Functions of the texts of formulas, on real and on complex balls.


def _above(low: int, name: str) -> Function:
    """Return a function that is defined above *low*."""
    function = methodcaller(name)

    def value(x: arb) -> Any:
        if x <= low:
            raise Undefined
        return function(x)

    return value


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
    slope, x = P.derivative(), _bound(monic)
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


def _bound(monic: Sequence[arb]) -> arb:
    """Return ``2 max_k |c_{n-k}|^(1/k)``, above all roots, or a little more."""
    sizes = (abs(c).upper().root(k) for k, c in enumerate(monic[-2::-1], 1) if c != 0)
    return (2 * reduce(arb.max, sizes, arb(0))).upper()


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


_ENTIRE = ("exp", "expm1", "sinh", "cosh", "sin", "cos")
REAL: Mapping[str, Function] = {
    **{name: methodcaller(name) for name in (*_ENTIRE, "tan", "tanh", "asinh", "atan")},
    "sqrt": _sqrt,
    "log": _above(0, "log"),
    "log1p": _above(-1, "log1p"),
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


def _log(z: Any) -> acb:
    return acb(z).log(analytic=True)


def _complex_sqrt(z: Any) -> acb:
    return acb(z).sqrt(analytic=True)


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
    "log": _log,
    "log1p": lambda z: _log(1 + z),
    "asinh": lambda z: _log(z + _complex_sqrt(1 + z * z)),
    "atan": lambda z: (_log(1 + acb(0, 1) * z) - _log(1 - acb(0, 1) * z)) / acb(0, 2),
    "tangent": lambda z: acb(z).tan(),
    "power": _complex_power,
    "minimum": lambda z, w: acb(z).real_min(acb(w), analytic=True),
    "maximum": lambda z, w: acb(z).real_max(acb(w), analytic=True),
    "abs": lambda z: acb(z).real_abs(analytic=True),
    "largest_root": partial(_complex_root, 0),
    "lower_root": _complex_root,
    "Fraction": lambda a, b: arb(fmpq(a, b)),
}
"""The same on complex balls, not finite where they are not analytic, as integrals need them."""
