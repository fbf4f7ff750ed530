"""Which beta are reached along a monotone function: of the parameter of a curve, or of another F.

A curve beta = h(z): where z ends at a number and some weight is infinite there, beta is too: the
way of the weights, of length int sqrt(K) dmu, is at most sqrt(int dmu int dbeta), by the
Cauchy-Schwarz inequality. Otherwise the limit is a value of h. Where z is unbounded, the term of
the highest order decides, if there is one.

F = h(G): gradient flow has one curve for both. Along w' = grad G the output F moves by
grad F = h'(G) grad G, so that K_F = h'^2 K_G. The flow of F ends where that of G does, and where G
meets an end of the interval on which h is smooth with h' != 0. So sqrt(G) and log(G) end where G
is 0, and tanh(G) never passes its own bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
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
from derive.potential.rewriting import without_hyperbolic

INFINITE = sympy.zoo


def along_curve(piece: Piece, curve: Curve, notation: Notation) -> Domain:
    """Return the domain of a parametric Q, in beta where the limits of h are known.

    That is unless the start makes a coefficient 0 on which they rest.
    """
    (beta,) = piece.betas
    interval = (curve.parameter, *curve.interval)
    ends = _Ends(curve, notation)
    try:
        finite = [x for x in map(ends.limit, curve.interval) if x is not INFINITE]
        start = curve.beta.subs(curve.parameter, 0)
        walls = tuple(_wall(beta, sympy.factor_terms(x), start, ends.decide) for x in finite)
    except Undecided:
        return Domain(piece.betas, "slope", undecided=("curve",), interval=interval)
    unless = dict.fromkeys(f for c in ends.relied for f in ends.zeros(c))
    return Domain(piece.betas, "slope", walls, unless=tuple(unless), interval=interval)


def _wall(beta: Symbol, end: Expr, start: Expr, decide: ElementarySigns) -> Wall:
    try:
        sign = decide.sign(start - end)
    except Undecided:
        return Wall(beta - end, oriented=False)
    return Wall(sign * (beta - end), oriented=True)


class _Ends:
    """The limits of beta = h(z) at the ends of z, and the coefficients *relied* on not to be 0."""

    def __init__(self, curve: Curve, notation: Notation) -> None:
        parameters = notation.parameterization.parameters
        self.curve, self.z = curve, curve.parameter
        self.decide = ElementarySigns(notation.positive, parameters=parameters)
        self.relied = dict[Expr, None]()

    def zeros(self, c: Expr) -> list[Expr]:
        """Return the factors of a function of the start that may be 0."""
        factors = (x.as_base_exp()[0] for x in sympy.Mul.make_args(sympy.factor(c)))
        return [f for f in factors if not self._is_nonzero(f)]

    def _is_nonzero(self, f: Expr) -> bool:
        try:
            return any(map(self.decide.is_positive, (f, -f)))
        except Undecided:
            return False

    def limit(self, end: Expr) -> Expr:
        """Return the limit of h at an end of its interval, INFINITE for either sign."""
        if end in (sympy.oo, -sympy.oo):
            return self._far(1 if end == sympy.oo else -1)
        if end.has(sympy.Min, sympy.Max):
            raise Undecided("which of several ends is the nearest")
        return self._at_number(end)

    def _at_number(self, end: Expr) -> Expr:
        z, h = self.z, self.curve.beta
        functions = [h, *(weight for _, weight in self.curve.weights)]
        images = {
            node: image
            for node in set[Expr]().union(*(x.atoms(sympy.Pow, sympy.log) for x in functions))
            if node.has(z) and (image := self._image(node, end)) is not None
        }
        infinite = [x for x, image in images.items() if image is INFINITE]
        if not infinite:
            return h.xreplace(images).subs(z, end)
        products = (_beside(x, infinite, images) for x in functions)
        rests = [rest.subs(z, end) for rest in products if rest is not None]
        if not rests:
            raise Undecided("what is infinite may cancel")
        self.relied[min(rests, key=lambda rest: len(self.zeros(rest)))] = None
        return INFINITE

    def _image(self, node: Expr, end: Expr) -> Expr | None:
        """Return what a power or a logarithm tends to where its inside is 0; None elsewhere."""
        inner = node.args[0]
        if node.is_Pow and node.exp.has(self.z):
            return None
        if not self.decide.is_zero(inner.subs(self.z, end)):
            return None
        return _power_of_zero(node.exp) if node.is_Pow else INFINITE

    def _far(self, side: int) -> Expr:
        """Return the limit of a sum of terms c z^n e^(k z) prod (a + b z)^m as z -> side oo.

        Terms of one order that are c z^n e^(k z) are one term. So h is infinite where a growing
        order has a coefficient that is not 0, whatever those above it are.
        """
        z, orders = self.z, dict[tuple[Expr, Expr], list[Expr]]()
        for term in sympy.Add.make_args(sympy.expand(without_hyperbolic(self.curve.beta))):
            orders.setdefault(self._order(term, side), []).append(term)
        constant, coefficients = (sympy.S.Zero, sympy.S.Zero), list[Expr]()
        for order in sorted((x for x in orders if x > constant), reverse=True):
            terms = orders[order]
            if terms[1:] and any(_has_tail(term, z) for term in terms):
                raise Undecided("terms that may cancel")
            total = sympy.Add(*(term.as_independent(z, as_Add=False)[0] for term in terms))
            if not self.decide.is_zero(total):
                coefficients.append(total)
        if coefficients:
            self.relied[min(coefficients, key=lambda c: len(self.zeros(c)))] = None
            return INFINITE
        limit = sympy.Add(*orders.get(constant, ()))
        if limit.has(z):
            raise Undecided("a limit that is no value")
        return limit

    def _order(self, term: Expr, side: int) -> tuple[Expr, Expr]:
        """Return (k, n) for a term that grows as e^(k |z|) |z|^n."""
        rate, power, z = sympy.S.Zero, sympy.S.Zero, self.z
        for factor in sympy.Mul.make_args(term):
            base, exponent = factor.as_base_exp()
            if isinstance(factor, sympy.exp):
                rate += side * sympy.diff(factor.args[0], z)
            elif base.is_polynomial(z) and not exponent.has(z):
                leading = sympy.Poly(base, z).LC()
                if self.decide.is_zero(leading):
                    raise Undecided("the order of a term")
                if base.has(z):
                    self.relied[leading] = None
                power += exponent * sympy.degree(base, z)
            else:
                raise Undecided("a term of another kind")
        if not (rate.is_Rational and power.is_Rational):
            raise Undecided("the order of a term")
        return rate, power


def _power_of_zero(exponent: Expr) -> Expr:
    if exponent.is_positive:
        return sympy.S.Zero
    if exponent.is_negative:
        return INFINITE
    raise Undecided(f"the sign of {exponent}")


def _beside(expression: Expr, infinite: Iterable[Expr], images: Mapping[Expr, Expr]) -> Expr | None:
    """Return what stands beside the one infinite factor of a product, if it is finite there."""
    factors = sympy.Mul.make_args(expression)
    rest = [x for x in factors if x not in infinite]
    alone = len(rest) == len(factors) - 1
    return sympy.Mul(*rest) if alone and not any(x.has(*images) for x in rest) else None


def _has_tail(term: Expr, z: Symbol) -> bool:
    """Tell whether a term is its leading part, and less: a power of a sum."""
    return any(x.as_base_exp()[0].is_Add and x.has(z) for x in sympy.Mul.make_args(term))


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
