"""Which beta are reached along a monotone function: of the parameter of a curve, or of another F.

A curve beta = h(z) is expanded at the ends of z: it tends to a number, or is infinite.

F = h(G): gradient flow has one curve for both. Along w' = grad G the output F moves by
grad F = h'(G) grad G, so that K_F = h'^2 K_G. The flow of F ends where that of G does, and where G
meets an end of the interval on which h is smooth with h' != 0. So sqrt(G) and log(G) end where G
is 0, and tanh(G) never passes its own bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.asymptotics import CONSTANT, FLAT, SMALL, Expander, Expansion, widened
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.field.factors import linear_terms
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.tower import Tower
from derive.language import to_sympy
from derive.language.functions import RECORDS
from derive.language.reader import template
from derive.language.tree import Call, Number, Operation, Power, RealPower, Tree, names, substituted
from derive.model.notation import (
    AssumePositive,
    BranchOpen,
    Notation,
    from_expr,
    positive_generators,
    rational,
    to_expr,
)
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.model.validity import bases_at_start
from derive.potential.domain import Domain, Wall
from derive.potential.piece import Curve, Piece
from derive.potential.rewriting import fewest

LONG = 20
"""Operations of what a start must not make 0, beyond which the interval of z is told alone."""


def along_curve(piece: Piece, curve: Curve, notation: Notation) -> Domain:
    """Return the domain of a parametric Q, in beta where the limits of h are known.

    That is unless the start makes a coefficient 0 on which they rest.
    """
    (beta,) = piece.betas
    interval = (curve.parameter, *curve.interval)
    decide = ElementarySigns(notation.positive, parameters=notation.parameterization.parameters)
    start, walls = curve.beta.subs(curve.parameter, 0), list[Wall]()
    unless = dict[Expr, None]()
    try:
        for end in curve.interval:
            h = _far(curve, end, decide)
            if growing := _growing(h, decide):
                fewest_zeros: list[Expr] = min(growing, key=len)
                unless |= dict.fromkeys(fewest_zeros)
            else:
                walls.append(_wall(beta, _shortest(h.limit, curve, end), start, decide))
    except Undecided:
        return Domain(piece.betas, "slope", undecided=("curve",), interval=interval)
    if any(f.count_ops() > LONG for f in unless):
        return Domain(piece.betas, "slope", undecided=("curve",), interval=interval)
    return Domain(piece.betas, "slope", tuple(walls), unless=tuple(unless), interval=interval)


def _wall(beta: Symbol, end: Expr, start: Expr, decide: ElementarySigns) -> Wall:
    try:
        sign = decide.sign(start - end)
    except Undecided:
        return Wall(beta - end, oriented=False)
    return Wall(sign * (beta - end), oriented=True)


def _far(curve: Curve, end: Expr, decide: ElementarySigns) -> Expansion:
    """Return h(z) as e -> 0 where z is end (1 - e), or +-1/e.

    There an exponential is a power of e above, or below, all that are met.
    """
    if end.has(sympy.Min, sympy.Max):
        raise Undecided("which of several ends is the nearest")
    z, h = curve.parameter, sympy.expand(curve.in_exponentials.beta)
    there, faster = end * (1 - SMALL), dict[Expr, Expr]()
    if end.is_infinite:
        there = sympy.sign(end) / SMALL
        rates = {x: x.exp / (z * sympy.sign(end)) for x in h.atoms(sympy.exp) if x.has(z)}
        if not all(k.is_Rational for k in rates.values()):
            raise Undecided("the order of a term")
        unit = rational(FLAT) / min(map(abs, rates.values()), default=sympy.S.One)
        faster = {x: SMALL ** (-k * unit) for x, k in rates.items()}
    h = h.xreplace(faster).xreplace({z: there})
    if any(x.base.has(SMALL) and x.exp.free_symbols for x in h.atoms(sympy.Pow)):
        raise Undecided("the order of a term")
    return widened(lambda span: Expander(SMALL, decide, span).expand(h))


def _shortest(limit: Expr, curve: Curve, end: Expr) -> Expr:
    """Return a limit as it is expanded, or with the end put in, which may be no number."""
    shown = (sympy.factor_terms(x) for x in (curve.beta.subs(curve.parameter, end), limit))
    return fewest(x for x in shown if x.is_finite is not False and x is not sympy.nan)


def _growing(h: Expansion, decide: ElementarySigns) -> list[list[Expr]]:
    """Return where the coefficients of what grows may be 0; h is infinite as long as one is not."""

    def may_vanish(f: Expr) -> bool:
        try:
            return not any(map(decide.is_positive, (f, -f)))
        except Undecided:
            return True

    bases = (sympy.Mul.make_args(sympy.factor(c)) for g, c in h.terms.items() if g < CONSTANT)
    return [[f for f in (x.as_base_exp()[0] for x in c) if may_vanish(f)] for c in bases]


Interval = tuple[Expr, Expr]
REAL: Interval = (-sympy.oo, sympy.oo)
POSITIVE: Interval = (sympy.S.Zero, sympy.oo)
Inverse = Callable[[Expr], Expr]
CALLS: dict[str, tuple[Inverse, Interval, Interval]] = {
    "exp": (sympy.log, REAL, POSITIVE),
    "log": (sympy.exp, POSITIVE, REAL),
    "tanh": (lambda y: sympy.log((1 + y) / (1 - y)) / 2, REAL, (-sympy.S.One, sympy.S.One)),
    "sinh": (lambda y: sympy.log(y + sympy.sqrt(1 + y * y)), REAL, REAL),
    "asinh": (sympy.sinh, REAL, REAL),
    "atan": (sympy.tan, REAL, (-sympy.pi / 2, sympy.pi / 2)),
}
"""Monotone functions: the inverse, by logarithms, where each is smooth, and its limits there."""


@dataclass(frozen=True)
class Layer:
    """The outermost function h of F = h(G).

    Attributes:
        inner: G, from the same start.
        image: h.
        inverse: of h, where a sign that it needs is known, or another one that is no inverse.
        interval: the open interval of G on which h is smooth and h' is not 0.
        limits: of h at its ends.
        broken: whether h is not smooth at the end 0 of the interval; else h' is 0 there.
        side: where 0 ends the interval, the sign of G on it; 0 for an even power where the sign of
            G at the start is not known.
    """

    inner: Parameterization
    image: Callable[[Expr], Expr]
    inverse: Callable[[Expr], Expr]
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
        return Layer(of(inner), lambda x: a * x + b, lambda y: (y - b) / a, REAL, limits)

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
                return square and replace(
                    square, image=sympy.cosh, inverse=sympy.acosh, limits=tuple(limits)
                )
            case Call(function, x) if function in CALLS:
                side = 1 if CALLS[function][1] == POSITIVE else None
                return Layer(of(x), getattr(sympy, function), *CALLS[function], side=side)
            case Call(function, x) if whole := RECORDS[function].rewritten:
                return outermost(of(substituted(template(whole), {"x": x})), notation)
    except Undecided:
        return None
    return None


def logarithmic(p: Parameterization, notation: Notation) -> Layer | None:
    """Return the logarithm of F = c log E + b, None of another."""
    if (found := find_logarithm(p)) is None:
        return None
    E, c, b = found
    inner = p.with_(outputs=[from_expr(to_expr(E, notation.weights))])
    shift = to_expr(b, notation.start_symbols)
    limits = REAL if c > 0 else REAL[::-1]

    def image(x: Expr) -> Expr:
        return rational(c) * sympy.log(x) + shift

    def inverse(y: Expr) -> Expr:
        return sympy.exp((y - shift) / rational(c))

    return Layer(inner, image, inverse, POSITIVE, limits, side=1)


def _power(inner: Parameterization, q: Expr, sign: int, notation: Notation) -> Layer | None:
    """Return x -> x^q on the side of 0 on which the start lies."""
    sign, side = sign or (1 if q > 0 else -1), 1
    if q.is_integer:
        try:
            side, assumed = start_sign(inner.at_start(inner.F[0]), notation)
            side = 0 if assumed else side
        except (AssumePositive, BranchOpen):
            side = 0
        if q % 2 and not side:
            return None
    far = -sympy.oo if side < 0 and q % 2 else sympy.oo
    # What h tends to where G is 0, and where it is infinite.
    low, high = (sympy.S.Zero, far)[::sign]
    smooth = q.is_integer is True and sign > 0
    both = (lambda x: x**q), (lambda y: (side or 1) * (y if side > 0 else sympy.Abs(y)) ** (1 / q))
    if side < 0:
        return Layer(inner, *both, (-sympy.oo, sympy.S.Zero), (high, low), not smooth, -1)
    return Layer(inner, *both, POSITIVE, (low, high), not smooth, side)


def through(layer: Layer, domain: Domain, notation: Notation) -> Domain | None:
    """Return the image of a domain of G under h, None where signs that it needs are not known."""
    (beta,), (x,) = notation.betas, domain.betas
    # Both sides of an even power are alike where 0 is the only end.
    if any(w.end(x) != 0 if layer.side == 0 else not w.oriented for w in domain.walls):
        return None
    decide = ElementarySigns(notation.positive, parameters=notation.parameterization.parameters)
    increasing = bool(layer.limits[0] < layer.limits[1])
    try:
        sides = [_ends(layer, domain, k, decide) for k in (0, 1)]
    except Undecided:
        return None
    low, high = sides if increasing else sides[::-1]
    shown = to_expr(layer.inner.F[0], notation.weights)
    below = [Wall(beta - e, True, shown if at_zero else v) for e, v, at_zero in low]
    above = [Wall(e - beta, True, shown if at_zero else v) for e, v, at_zero in high]
    return replace(domain, betas=(beta,), walls=(*below, *above))


def _ends(
    layer: Layer, domain: Domain, k: int, decide: ElementarySigns
) -> list[tuple[Expr, Expr | None, bool]]:
    """Return the ends of h(G) where G is low (k = 0) or high; whether F is not smooth, as G is 0.

    Each with what else of the weights is 0 there.
    """
    (x,), bound, limit = domain.betas, layer.interval[k], layer.limits[k]
    side = 1 - 2 * k
    walls = [w for w in domain.walls if w.oriented and w.form.diff(x) == side]
    if bound == 0:
        walls = [w for w in walls if _sign(w.end(x), decide) == side]
    if not walls and limit.is_finite:
        return [(limit, None, bool(bound == 0 and layer.broken))]
    return [(layer.image(w.end(x)), w.vanishing, False) for w in walls]


def _sign(end: Expr, decide: ElementarySigns) -> int:
    return 0 if decide.is_zero(end) else decide.sign(end)


def find_logarithm(
    p: Parameterization,
) -> tuple[RationalFunction, Fraction, RationalFunction] | None:
    """Return E > 0 in the field of F = c log E + b, the number c and the constant b, or None.

    >>> find_logarithm(Parameterization.parse(["log(p)/2 - log(m)"]))
    (p/m**2, Fraction(1, 2), 0)
    """
    if not p.field.kinds & {"log", "asinh"}:
        return None
    b = constant_part(p.F[0])
    logs = {g.name for g in p.field.generators if g.kind == "log"}
    plain = sum((t for t in _terms(b) if not logs & {*t.variables()}), b.field.zero)
    # log(k w) is log|k| + log|w|, of which k w alone has a known sign.
    return next(filter(None, (_find_logarithm(p, b) for b in dict.fromkeys((b, plain)))), None)


def _find_logarithm(
    p: Parameterization, b: RationalFunction
) -> tuple[RationalFunction, Fraction, RationalFunction] | None:
    terms = linear_terms(p.F[0] - b)
    bottom = lcm(*(t.coefficient.denominator for t in terms))
    c = Fraction(gcd(*(int(t.coefficient * bottom) for t in terms)), bottom)
    try:
        E = Tower.over(p.field, p.positive).exp((p.F[0] - b) / p.field.constant(c))
    except InputError:
        return None
    if {*E.variables()} - {*p.field.names}:
        return None
    sign = sign_where_defined(p.at_start(E := p.field.embed(E)), Notation(p))
    return (sign * E, c, b) if sign else None


class Outer(NamedTuple):
    """F = c h(G) + b with h = log, G > 0, or h = atan, and c of numbers and parameters.

    Attributes:
        G: in the weights, or as a function of a coordinate.
    """

    h: type[Expr]
    G: RationalFunction
    c: RationalFunction
    b: RationalFunction

    @property
    def slope(self) -> RationalFunction:
        """Return c h'(G)."""
        G, one = self.G, self.G.field.one
        return G.field.embed(self.c) / (G if self.h is sympy.log else one + G * G)

    def line(self, notation: Notation) -> tuple[Expr, Expr]:
        """Return c and b as they are printed."""
        c, b = (to_expr(x, notation.start_symbols) for x in (self.c, self.b))
        return c, b

    def inverse(self, notation: Notation) -> Expr:
        """Return G in beta."""
        (beta,), (c, b) = notation.betas, self.line(notation)
        return (sympy.exp if self.h is sympy.log else sympy.tan)((beta - b) / c)


def find_outer(p: Parameterization) -> Outer | None:
    """Return F as a logarithm or an angle of a function of the weights, or None.

    So it is of an exponential in the rates, as of cosh(w), where F is what is inside.
    """
    if (found := find_logarithm(p)) is not None:
        E, number, shift = found
        return Outer(sympy.log, E, p.start_field.constant(number), shift)
    b = constant_part(p.F[0])
    for h, G, value in _calls(p):
        c = (p.F[0] - b) / value
        if {*c.variables()} <= p.field.constants.keys():
            return Outer(h, G, p.at_start(c), b)
    return None


def _calls(p: Parameterization) -> Iterator[tuple[type[Expr], RationalFunction, RationalFunction]]:
    """Yield h, G and h(G) for the logarithms and angles in the field of the weights."""
    for g in (g for g in p.field.generators if g.kind in ("atan", "exp", "log")):
        f, A = p.field.named(g.name), p.field.embed(g.argument)
        if g.kind == "atan":
            yield sympy.atan, A, f
        elif g.kind == "exp":
            yield sympy.log, f, A
        elif sign := sign_where_defined(p.at_start(A), Notation(p)):
            yield sympy.log, sign * A, f


def sign_where_defined(start: RationalFunction, notation: Notation) -> int:
    """Return the sign of a function of the start where F is defined; 0 where none is known.

    There the arguments of logarithms, as they are typed, are positive; in the field a logarithm is
    that of the modulus.
    """
    known = Signs(notation.positive | positive_generators(start.field))
    bases = (value for _, value in bases_at_start(notation.parameterization))
    return known.where_positive(start, bases)


def constant_part(F: RationalFunction) -> RationalFunction:
    """Return the terms of F without a weight."""
    fixed = (t for t in _terms(F) if {*t.variables()} <= F.field.constants.keys())
    return sum(fixed, F.field.zero)


def _terms(F: RationalFunction) -> Iterator[RationalFunction]:
    for t in linear_terms(F):
        yield t.monomial * F.field.constant(t.coefficient)
