"""F = h(G) with h monotone: gradient flow has one curve for both, and F reaches h of what G does.

Along w' = grad G the output F moves by grad F = h'(G) grad G, so that K_F = h'^2 K_G. The flow of
F ends where that of G does, and where G meets an end of the interval on which h is smooth with
h' != 0. So sqrt(G) and log(G) end where G is 0, and tanh(G) never passes its own bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.language import to_sympy
from derive.language.tree import Call, Number, Operation, Power, RealPower, Tree, names
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.domain import Domain, Wall

Interval = tuple[Expr, Expr]
REAL: Interval = (-sympy.oo, sympy.oo)
POSITIVE: Interval = (sympy.S.Zero, sympy.oo)
CALLS: dict[str, tuple[Interval, Interval]] = {
    "exp": (REAL, POSITIVE),
    "log": (POSITIVE, REAL),
    "tanh": (REAL, (-sympy.S.One, sympy.S.One)),
    "sinh": (REAL, REAL),
    "asinh": (REAL, REAL),
    "atan": (REAL, (-sympy.pi / 2, sympy.pi / 2)),
}
"""Monotone functions: the interval on which each is smooth, and its limits at the ends of that."""


@dataclass(frozen=True)
class Layer:
    """The outermost function h of F = h(G).

    Attributes:
        inner: G, from the same start.
        image: h.
        interval: the open interval of G on which h is smooth and h' is not 0.
        limits: of h at its ends.
        broken: whether h is not smooth at the end 0 of the interval; else h' is 0 there.
        side: where 0 ends the interval, the sign of G on it; 0 for an even power where the sign of
            G at the start is not known.
    """

    inner: Parameterization
    image: Callable[[Expr], Expr]
    interval: Interval
    limits: Interval
    broken: bool = True
    side: int | None = None


def outermost(p: Parameterization, notation: Notation) -> Layer | None:
    """Return the outermost function of F, where it is monotone near the start; None elsewhere."""
    symbols = {name: notation.start_symbols[name] for name in p.parameters}
    decide = ElementarySigns(notation.positive, parameters=p.parameters)

    def fixed(tree: Tree) -> bool:
        return not {*names((tree,))} & {*p.weights}

    def of(inner: Tree) -> Parameterization:
        return p.with_(outputs=[inner])

    def affine(inner: Tree, slope: Tree, shift: Tree) -> Layer:
        a, b = (to_sympy(x, symbols) for x in (slope, shift))
        limits = REAL if decide.sign(a) > 0 else REAL[::-1]
        return Layer(of(inner), lambda x: a * x + b, REAL, limits)

    one, zero = Number(Fraction(1)), Number(Fraction(0))
    try:
        match p.trees[0]:
            case Operation("+", x, y) if fixed(x) or fixed(y):
                return affine(*((y, one, x) if fixed(x) else (x, one, y)))
            case Operation("*", x, y) if fixed(x) or fixed(y):
                return affine(*((y, x, zero) if fixed(x) else (x, y, zero)))
            case Operation("/", x, y) if fixed(y):
                return affine(x, Power(y, Fraction(-1)), zero)
            case Operation("/", x, y) if fixed(x) and x != one:
                return affine(Power(y, Fraction(-1)), x, zero)
            case Operation("/", x, y) if fixed(x):
                return _power(of(y), sympy.S.NegativeOne, 0, notation)
            case Power(x, exponent):
                q = sympy.Rational(exponent.numerator, exponent.denominator)
                return _power(of(x), q, 0, notation)
            case RealPower(x, e) if fixed(e):
                q = to_sympy(e, symbols)
                return _power(of(x), q, decide.sign(q), notation)
            case Call("cosh", x):
                square = _power(of(x), sympy.Integer(2), 0, notation)
                limits = [max(limit, sympy.S.One) for limit in square.limits] if square else ()
                return square and replace(square, image=sympy.cosh, limits=tuple(limits))
            case Call(function, x) if function in CALLS:
                ends = CALLS[function]
                return Layer(
                    of(x), getattr(sympy, function), *ends, side=1 if 0 in ends[0] else None
                )
    except Undecided:
        return None
    return None


def _power(inner: Parameterization, q: Expr, sign: int, notation: Notation) -> Layer | None:
    """Return x -> x^q on the side of 0 on which the start lies."""
    sign, side = sign or (1 if q > 0 else -1), 1
    if q.is_integer:
        try:
            side, assumed = start_sign(inner.at_start(inner.F[0]), notation)
        except (AssumePositive, BranchOpen):
            assumed = ("open",)
        if assumed and q % 2:
            return None
        side = 0 if assumed else side
    far = -sympy.oo if side < 0 and q % 2 else sympy.oo
    # What h tends to where G is 0, and where it is infinite.
    low, high = (sympy.S.Zero, far)[::sign]
    smooth = q.is_integer is True and sign > 0
    if side < 0:
        return Layer(inner, lambda x: x**q, (-sympy.oo, sympy.S.Zero), (high, low), not smooth, -1)
    return Layer(inner, lambda x: x**q, POSITIVE, (low, high), not smooth, side)


def through(layer: Layer, domain: Domain, notation: Notation) -> Domain | None:
    """Return the image of a domain of G under h, None where signs that it needs are not known."""
    (beta,), (x,), walls = notation.betas, domain.betas, list[Wall]()
    shown = to_expr(layer.inner.F[0], notation.weights)
    # Both sides of an even power are alike where 0 is the only end.
    if any(w.end(x) != 0 if layer.side == 0 else not w.oriented for w in domain.walls):
        return None
    decide = ElementarySigns(notation.positive, parameters=notation.parameterization.parameters)
    increasing = bool(layer.limits[0] < layer.limits[1])
    for side, bound, limit in zip((1, -1), layer.interval, layer.limits, strict=True):
        there = [w for w in domain.walls if w.oriented and w.form.diff(x) == side]
        try:
            met = [w for w in there if bound.is_infinite or _sign(w.end(x), decide) == side]
        except Undecided:
            return None
        ends = [(layer.image(w.end(x)), w.vanishing) for w in met]
        if not met and limit.is_finite:
            ends = [(limit, shown if bound == 0 and layer.broken else None)]
        above = increasing == (side > 0)
        walls += [Wall(beta - e if above else e - beta, True, v) for e, v in ends]
    return replace(domain, betas=(beta,), walls=tuple(walls))


def _sign(end: Expr, decide: ElementarySigns) -> int:
    return 0 if decide.is_zero(end) else decide.sign(end)
