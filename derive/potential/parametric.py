"""Q of a single output along the flow: beta = h(mu), mu = dQ/dbeta, Q = mu beta - H(mu), H' = h.

The mirror map is the time mu of w' = grad F. A weight T, or a function of weights in F, is known in
mu by its derivatives at the start alone, where on every leaf these solve one of the equations

    T' T''' = k T''^2                    b + c (1 + s mu)^e, e = (2 - k)/(1 - k); or log, exp
    prod_j (d/dmu - q_j) T' = 0          a sum of exponentials exp(q_j mu), and mu
    T'''/T' - 3/2 (T''/T')^2 = -q^2/2    a quotient of linear functions of exp(q mu)

with numbers k and q_j, and a q that the flow keeps. For p^D - m^D the first is the closed form of
Woodworth et al. 2020 (section 4) with h_D; no closed form in beta exists there for D >= 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.field.factors import exact_square_root, factored
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot, nullspace_over_constants
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.model.condition import Condition, Sign
from derive.model.notation import (
    AssumePositive,
    Notation,
    to_expr,
    to_factored_expr,
    to_shorter_expr,
)
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors
from derive.model.signs import start_sign
from derive.potential.accept import CurveProposal, ZeroTest, accept_parametric
from derive.potential.branch import square_root
from derive.potential.piece import Curve, Piece
from derive.weights.conserved import along
from derive.weights.dual import DualCoordinates, conjugate_in_time
from derive.weights.metric import Metric

EXPONENTIALS, MAXIMAL_TERMS, GROWTH = 4, 12, 1024
"""Exponentials in a sum; terms of T' beyond which its derivatives grow too fast; c of a bound."""
LONG = 40
"""Operations beyond which z of beta is not written."""
SMOOTH = frozenset({"exp", "sin", "cos", "parameter"})
"""Generators that a weight may be inside of wherever it is."""


def parametrize(metric: Metric, dual: DualCoordinates | None, notation: Notation) -> Piece | None:
    """Return beta = h(z), Q = mu beta - H(z) with mu = dQ/dbeta a multiple of z, or None.

    Source: Woodworth et al. 2020, for h of p^D - m^D.
    """
    p = metric.parameterization
    motions = _find_motions(p)
    R = None if motions is None else conjugate_in_time(metric.conserved, dual)
    if motions is None or R is None or R.logs:
        return None
    time = _time_of(p, notation, motions.values())
    known = {name: motion.written(time) for name, motion in motions.items()}
    time.assumed += _signs(p, motions, notation)
    interval = time.interval()
    if interval is None:
        return None
    parameters = {x: notation.start_symbols[x] for x in p.parameters}
    mu = sympy.powsimp(time.z / to_factored_expr(time.scale, notation.start_symbols))
    curve = CurveProposal(time.z, mu, {**known, **parameters}, time.units, interval)
    piece = accept_parametric(p, R.rational, notation, curve)
    if piece is None or piece.curve is None:
        return None
    return replace(
        piece,
        curve=replace(piece.curve, inverse=_inverse(piece.curve, notation)),
        assumptions=(*piece.assumptions, *time.assumed),
        evidence=(*piece.evidence, *(() if dual is None else dual.evidence)),
    )


def _inverse(curve: Curve, notation: Notation) -> Expr | None:
    """Return z of beta where h is a quotient of degree 2 in z, None of another, or if it is long.

    Of A z^2 + B z + C = 0 it is the root -2 C/(B + s sqrt(B^2 - 4 A C)) with the sign s of
    2 A z + B, which is 0 nowhere as h is monotone, and is that of B at the start.
    """
    z, (beta,) = curve.parameter, notation.betas
    top, bottom = sympy.fraction(sympy.together(curve.beta))
    equation = sympy.expand(beta * bottom - top)
    if not equation.is_polynomial(z) or sympy.degree(equation, z) != 2:
        return None
    A, B, C = sympy.Poly(equation, z).all_coeffs()
    try:
        decide = ElementarySigns(notation.positive)
        sign = decide.sign(B.xreplace({beta: curve.beta.xreplace({z: sympy.S.Zero})}))
    except Undecided:
        return None
    square = sympy.expand(B**2 - 4 * A * C)
    solved = ((2 * A * z + B) ** 2 - square).xreplace({beta: curve.beta})
    if not ZeroTest(notation.parameterization, {}).vanishes(solved):
        return None
    root = square_root(square)
    found = sympy.factor_terms(-sign * C) / (sympy.expand(sign * B / 2) + root / 2)
    return found if found.count_ops() <= LONG else None


def _find_motions(p: Parameterization) -> dict[str, Motion] | None:
    """Return all weights as functions of mu, and functions of them in F where they have one."""
    names = (*p.weights, *(g.name for g in p.field.generators if g.kind != "parameter"))
    motions = dict[str, Motion]()
    for name in names:
        if (motion := _find_motion(p, name)) is not None:
            motions[name] = motion
        elif name in p.weights:
            return None
    return motions


def _signs(
    p: Parameterization, motions: Mapping[str, Motion], notation: Notation
) -> Iterator[Condition]:
    """Yield what is assumed of the signs of weights at whose zeros F may end."""
    for name in p.weights:
        if isinstance(motion := motions[name], Power) and not _is_smooth(p, name):
            yield from start_sign(motion.c, notation)[1]


@dataclass
class Time:
    """The parameter z = scale * mu, with positive symbols for what bounds its interval.

    Attributes:
        units: functions of z that are 1 at z = 0, by the symbols that stand for them.
        ends: the zeros of linear ones.
        others: those of others, with their signs.
        assumed: of the start.
    """

    notation: Notation
    z: Symbol
    scale: RationalFunction
    units: dict[Symbol, Expr] = field(default_factory=dict)
    ends: list[RationalFunction] = field(default_factory=list)
    others: list[tuple[int, Expr]] = field(default_factory=list)
    assumed: list[Condition] = field(default_factory=list)

    def expr(self, element: RationalFunction) -> Expr:
        """Return a function of the start."""
        return to_expr(element, self.notation.start_symbols)

    def shorter(self, element: RationalFunction) -> Expr:
        """Return a function of the start, in factors where that is shorter."""
        return to_shorter_expr(element, self.notation.start_symbols)

    def exponential(self, rate: RationalFunction) -> Expr:
        """Return exp(rate mu)."""
        return sympy.exp(self.expr(rate / rate.field.embed(self.scale)) * self.z)

    def unit(self, value: Expr) -> Symbol:
        """Return the positive symbol of a unit, the same one for equal units."""
        for symbol, known in self.units.items():
            if known == value:
                return symbol
        symbol = self.notation.fresh(f"unit{len(self.units) + 1}", positive=True)
        self.units[symbol] = value
        return symbol

    def linear(self, rate: RationalFunction) -> Symbol:
        """Return 1 + rate mu, which is positive up to its zero."""
        slope = rate / self.scale
        self.ends.append(-slope.field.one / slope)
        return self.unit(1 + self.expr(slope) * self.z)

    def interval(self) -> tuple[Expr, Expr] | None:
        """Return the interval around z = 0 on which the units are positive, None if not known."""
        sides: dict[int, list[RationalFunction]] = {1: [], -1: []}
        for end in self.ends:
            sign, assumed = start_sign(end, self.notation)
            if assumed:
                open_ones = {*end.variables()} & {*self.notation.start_symbols}
                if open_ones := open_ones - self.notation.positive:
                    raise AssumePositive(frozenset(open_ones))
                return None
            sides[sign].append(end)
        low, high = (
            [
                *(
                    sympy.powsimp(to_factored_expr(end, self.notation.start_symbols))
                    for end in Signs(self.notation.positive).nearest(sign, sides[sign])
                ),
                *(end for side, end in self.others if side == sign),
            ]
            for sign in (-1, 1)
        )
        return sympy.Max(*low) if low else -sympy.oo, sympy.Min(*high) if high else sympy.oo


@dataclass(frozen=True)
class Sum:
    """constant + slope mu + sum_j c_j exp(q_j mu), with constants in start symbols."""

    constant: RationalFunction
    slope: RationalFunction
    exponentials: tuple[tuple[RationalFunction, RationalFunction], ...] = ()

    @property
    def is_line(self) -> bool:
        """Whether it is a multiple of 1 + s mu."""
        return not (self.slope.is_zero() or self.constant.is_zero())

    def written(self, time: Time) -> Expr:
        """Return the function of z."""
        exponentials = (time.shorter(c) * time.exponential(q) for q, c in self.exponentials)
        linear = time.expr(self.slope / self.slope.field.embed(time.scale)) * time.z
        return sympy.Add(time.shorter(self.constant), linear, *exponentials)


@dataclass(frozen=True)
class Power:
    """b + c (1 + s mu)^e, a logarithm for e = 0."""

    b: RationalFunction
    c: RationalFunction
    s: RationalFunction
    e: RationalFunction

    def written(self, time: Time) -> Expr:
        """Return the function of z, with a unit."""
        unit, b, c = time.linear(self.s), time.expr(self.b), time.expr(self.c)
        top, bottom = sympy.fraction(time.expr(self.e))
        e = -top / -bottom if top.could_extract_minus_sign() else top / bottom  # D/(2 - D)
        return b + c * (unit**e if e else sympy.log(unit))


@dataclass(frozen=True)
class Quotient:
    """(a E + b)/(c E + d) with E = exp(q mu) and c + d = 1."""

    q: RationalFunction
    above: tuple[RationalFunction, RationalFunction]
    below: tuple[RationalFunction, RationalFunction]

    def written(self, time: Time) -> Expr:
        """Return the function of z, which ends where E = -d/c."""
        E, (c, d) = time.exponential(self.q), self.below
        if not self.q.is_constant():
            time.assumed.append(Condition(time.expr(self.q), Sign.NONZERO))
        top, bottom = (time.expr(x) * E + time.expr(y) for x, y in (self.above, self.below))
        at_zero = -d / c
        sign, assumed = start_sign(at_zero, time.notation)
        if assumed:
            raise AssumePositive(frozenset())
        if sign > 0:
            # log(-d/c)/q has the sign of (-d/c - 1)/q = -1/(c q), as c + d = 1.
            side, _ = start_sign(-c * self.q, time.notation)
            time.others.append((side, sympy.log(time.expr(at_zero)) / time.expr(self.q)))
        return top / bottom


Motion = Sum | Power | Quotient


def _time_of(p: Parameterization, notation: Notation, motions: Iterable[Motion]) -> Time:
    """Return the parameter mu, or that of which the first linear unit is 1 - z."""
    scale, motions = p.start_field.one, list(motions)
    if not any(isinstance(m, Quotient) or (isinstance(m, Sum) and m.exponentials) for m in motions):
        powers = [m.s for m in motions if isinstance(m, Power)]
        lines = [m.slope / m.constant for m in motions if isinstance(m, Sum) and m.is_line]
        scale = -next(iter((*powers, *lines)), -scale)
    return Time(notation, notation.fresh("z"), scale)


def _find_motion(p: Parameterization, name: str) -> Motion | None:
    """Return a weight, or a function of weights that F uses, as a function of mu, or None."""
    slopes = [p.field.named(name)]
    for _ in range(3):
        slopes.append(along(p.fields[0], slopes[-1]))
        if sum(map(len, slopes[1].parts)) > MAXIMAL_TERMS:
            return None
    smooth = _is_smooth(p, name)
    try:
        found = _power(p, slopes, smooth)
        if found is None and smooth:
            found = _sum(p, slopes) or _quotient(p, slopes)
    except ZeroDivisionError:
        return None
    return found


def _is_smooth(p: Parameterization, name: str) -> bool:
    """Tell whether F and the flow are smooth whatever the weight is: it may change its sign."""
    below = [p.field.polynomial(p.F[0].denominator), *open_factors(p)]
    inside = {g.name: p.field.embed(g.argument) for g in p.field.generators if g.kind not in SMOOTH}
    own = [f for f in (*below, *inside.values()) if name in f.variables()]
    return all(_is_kept(p, f) for f in (*own, *(f for n, f in inside.items() if n == name)))


def _is_kept(p: Parameterization, f: RationalFunction) -> bool:
    """Tell whether |df/dmu| <= c (1 + |w|^2) f is seen: f is then positive as long as w is finite.

    So it is of |w|^2 under a norm, of which the slope is a multiple of a norm itself.
    """
    bound = f * (p.field.one + dot(p.w, p.w)) * p.field.constant(GROWTH)
    slope, known = along(p.fields[0], f), Signs(p.nonnegative)
    return all(known.of(bound + way) > 0 for way in (slope, -slope))


def _power(p: Parameterization, slopes: Sequence[RationalFunction], smooth: bool) -> Motion | None:
    """Return b + c (1 + s mu)^e, or what that is a limit of; where F may end at 0, b is 0."""
    _, T1, T2, T3 = slopes
    zero, one = p.start_field.zero, p.start_field.one
    T0, d1, d2 = map(p.at_start, slopes[:3])
    found: Motion
    if T1.is_zero() or (T2.is_zero() and (smooth or T0.is_zero())):
        return Sum(T0, d1)
    if T2.is_zero():
        return Power(zero, T0, d1 / T0, one)
    k = T1 * T3 / (T2 * T2)
    if {*k.variables()} - p.field.constants.keys():
        return None
    k, s = p.at_start(k), d2 / d1
    if k == one:
        found, b = Sum(T0 - d1 / s, zero, ((s, d1 / s),)), T0 - d1 / s
    elif k == 2:
        found, b = Power(T0, -d1 / s, -s, zero), T0
    else:
        e = (2 - k) / (1 - k)
        s = s / (e - 1)
        b = T0 - d1 / (e * s)
        found = Power(b, T0 - b, s, e)
    return found if smooth or b.is_zero() else None


def _sum(p: Parameterization, slopes: Sequence[RationalFunction]) -> Sum | None:
    """Return T with prod_j (d/dmu - q_j) T' = 0 for distinct numbers q_j, or None."""
    derivatives = [*slopes[1:]]
    for count in range(2, EXPONENTIALS + 1):
        derivatives += [along(p.fields[0], derivatives[-1])] * (len(derivatives) == count)
        if not (relations := nullspace_over_constants([(x,) for x in derivatives[: count + 1]])):
            continue
        rates = _real_roots(relations[0], p.start_field)
        if len(rates) < count:
            return None
        field = rates[0].field
        start, *values = (field.embed(p.at_start(x)) for x in (slopes[0], *derivatives[:count]))
        parts = {q: _part(q, rates, values) for q in rates}
        slope = parts.pop(field.zero, field.zero)
        exponentials = tuple((q, c / q) for q, c in parts.items())
        constant = start - sum((c for _, c in exponentials), field.zero)
        return Sum(constant, slope, exponentials)
    return None


def _real_roots(
    coefficients: Sequence[RationalFunction], field: FunctionField
) -> list[RationalFunction]:
    """Return the simple real roots of sum_n c_n q^n with numbers c_n, rational or square roots."""
    if not all(c.is_constant() for c in coefficients):
        return []
    (q,) = FunctionField(("q",)).gens
    terms = (q.field.constant(c.value()) * q**n for n, c in enumerate(coefficients))
    parts = [f for f, n in factored(sum(terms, q.field.zero))[1] if n == 1 and f.degree() <= 2]
    halves = list[tuple[Fraction, Fraction]]()  # b/(2 a) and (b^2 - 4 a c)/(2 a)^2 of each
    for f in parts:
        slope = f.partial(0)
        a = slope.partial(0)
        middle = (q - f / slope if a.is_zero() else q - slope / a).value()
        there = f.compose([q.field.constant(middle)], q.field).value()
        halves.append((middle, Fraction(0) if a.is_zero() else -2 * there / a.value()))

    def build(units: dict[str, int]) -> list[RationalFunction]:
        tower = Tower.over(field)
        tower.units |= units
        squares = [(m, tower.power(field.constant(D), Fraction(1, 2))) for m, D in halves if D > 0]
        whole = tower.field
        pairs = [(whole.constant(m), whole.embed(root)) for m, root in squares]
        plain = [whole.constant(m) for m, D in halves if D == 0]
        return [*plain, *(m + n * root for m, root in pairs for n in (1, -1))]

    return refined(build, "the roots of numbers in the rates of exponentials")


def _part(
    q: RationalFunction, rates: Sequence[RationalFunction], values: Iterable[RationalFunction]
) -> RationalFunction:
    """Return c_q of T' = sum_q c_q exp(q mu): prod_(r != q) (d/dmu - r)/(q - r) T' at the start."""
    left = [*values]
    for r in (r for r in rates if r != q):
        left = [(y - x * r) / (q - r) for x, y in pairwise(left)]
    return left[0]


def _quotient(p: Parameterization, slopes: Sequence[RationalFunction]) -> Quotient | None:
    """Return T where T'''/T' - 3/2 (T''/T')^2 is -q^2/2 for a q in the field of the start."""
    _, T1, T2, T3 = slopes
    square = 3 * (T2 / T1) ** 2 - 2 * T3 / T1
    if not along(p.fields[0], square).is_zero():
        return None
    q, (T0, d1, d2) = exact_square_root(p.at_start(square)), map(p.at_start, slopes[:3])
    if q is None or q.is_zero():
        return None
    # T = T_0 + 2 d1 (E - 1)/(q (E + 1) - (E - 1) d2/d1)
    ratio, whole = d2 / d1, 2 * q
    c, d = (q - ratio) / whole, (q + ratio) / whole
    shift = 2 * d1 / whole
    return Quotient(q, (T0 * c + shift, T0 * d - shift), (c, d))
