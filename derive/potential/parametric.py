"""Q of a single output through its dual coordinate: beta = h(mu), Q = mu h(mu) - R(w(mu)).

The dual coordinate y of the flow satisfies <grad y, grad F> = 1, so mu = y - y(w_0) is both the
mirror map dQ/dbeta and the time along w' = grad F. Where every weight is an algebraic function
of y and of the conserved quantities, or a sum of exponentials of mu, the weights can be written
in mu, and with them beta and Q. For p^D - m^D this is the closed form of Woodworth et al. 2020
(section 4) with h_D; no closed form in beta exists there for D >= 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.implicitization import Coordinates
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import Evaluator, independent_rows, random_point
from derive.exact.positivity import is_nonnegative, is_positive
from derive.model.notation import (
    AssumePositive,
    BranchOpen,
    Notation,
    rational,
    to_expr,
    to_factored_expr,
)
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.curve import CurveProposal, accept_curve
from derive.potential.piece import Parametric
from derive.potential.variables import find_variable, inverted, power_of
from derive.weights.dual import DualCoordinates

MU = "_mu"
"""The parameter in exact fields; no name of the user starts with an underscore."""


def parametrize(dual: DualCoordinates, notation: Notation) -> Parametric | None:
    """Return Q with the dual coordinate as parameter, or None where the weights resist."""
    p = dual.parameterization
    if dual.R is None or dual.R.logs:
        return None
    if not dual.y[0].logs:
        return _algebraic_weights(dual, p, notation)
    return _exponential_weights(dual, p, notation)


def _algebraic_weights(
    dual: DualCoordinates, p: Parameterization, notation: Notation
) -> Parametric | None:
    """Each weight w_i with w_i^n a rational function of y and the conserved quantities."""
    conserved = dual.metric.conserved
    y = dual.y[0].rational
    laws = [(f"c{i}", law) for i, law in enumerate(conserved.laws)]
    coordinates = Coordinates.of([("y", y), *laws])
    field = p.start_field.extended((MU,))
    try:
        y0 = p.at_start(y).compose(field.gens[1:], field)
        constants = [p.at_start(law).compose(field.gens[1:], field) for _, law in laws]
    except ZeroDivisionError:
        return None
    powers: dict[str, tuple[RationalFunction, RationalFunction]] = {}
    for name in p.weights:
        found = find_variable(p, name, y, conserved.laws) if p.field.generators else None
        if found is None:
            weight = p.field.named(name)
            rooted = power_of(weight, coordinates, p.degree or 1)
            if rooted is None:
                return None
            found = name, *rooted
        variable, quotient, n = found
        if quotient.field.names == coordinates.field.names:
            images_of_laws = (field.gens[0] + y0, *constants)
        else:
            images_of_laws = (
                field.gens[0] + y0,
                *constants,
                *(field.named(x) for x in p.parameters),
            )
        try:
            powers[variable] = quotient.compose(images_of_laws, field), field.embed(n)
        except ZeroDivisionError:
            return None
    z = notation.fresh("z")
    scale = _scale(powers, field)
    # From here the parameter is z = scale * mu.
    rescaled = (field.gens[0] / scale, *field.gens[1:])
    powers = {name: (x.compose(rescaled, field), n) for name, (x, n) in powers.items()}
    images = {MU: z, **notation.start_symbols}
    units = Units(images, notation)
    weights: dict[str, Expr] = {}
    for name, (element, n) in powers.items():
        value = _radical(p.at_start(p.field.named(name)), element, n, notation, units)
        weights.update(inverted(p, name, value, notation.start_symbols))
    interval = _interval(units, notation)
    if interval is None:
        return None
    known = {**weights, **{x: notation.start_symbols[x] for x in p.parameters}}
    mu = z / to_factored_expr(scale, images)
    mu = sympy.powsimp(mu) if p.parameters else mu
    return accept_curve(dual, notation, CurveProposal(z, mu, known, units.expressions, interval))


def _scale(
    powers: Mapping[str, tuple[RationalFunction, RationalFunction]], field: FunctionField
) -> RationalFunction:
    """Return s such that z = s mu makes the first linear factor in mu a multiple of 1 - z."""
    for element, _ in powers.values():
        for polynomial in (element.denominator, element.numerator):
            for factor, _ in factorize(polynomial)[1]:
                linear = field.quotient(factor, field.ring.constant(1))
                slope = linear.partial(0)
                offset = linear - slope * field.gens[0]
                if slope.is_zero() or offset.is_zero() or not slope.partial(0).is_zero():
                    continue
                return -slope / offset
    return field.one


class Units:
    """Positive symbols for the factors of the weights' powers that depend on z, 1 at z = 0."""

    def __init__(self, images: Mapping[str, Expr], notation: Notation) -> None:
        self.images, self._notation = images, notation
        self.symbols: dict[RationalFunction, Symbol] = {}

    def symbol(self, unit: RationalFunction) -> Symbol:
        """Return the symbol of a unit, the same one for equal units."""
        if unit not in self.symbols:
            name = f"unit{len(self.symbols) + 1}"
            self.symbols[unit] = self._notation.fresh(name, positive=True)
        return self.symbols[unit]

    @property
    def expressions(self) -> dict[Symbol, Expr]:
        """What the symbols stand for, in z."""
        return {s: sympy.expand(to_expr(u, self.images)) for u, s in self.symbols.items()}


def _interval(units: Units, notation: Notation) -> tuple[Expr, Expr] | None:
    """Return the interval around z = 0 on which the units are positive.

    A unit that is linear in z ends it on one side; None where the start does not say on which, or
    where another unit is not proved positive.
    """
    sides: dict[int, list[RationalFunction]] = {1: [], -1: []}
    for unit in units.symbols:
        slope = unit.partial(0)
        if not slope.partial(0).is_zero():
            if is_positive(unit, notation.positive):
                continue
            return None
        end = -slope.field.one / slope
        sign, assumed = start_sign(end, notation)
        if assumed:
            open_ones = set(end.variables()) & set(notation.start_symbols) - notation.positive
            if open_ones:
                raise AssumePositive(frozenset(open_ones))
            return None
        sides[sign].append(end)
    positive = notation.positive

    def nearest(sign: int) -> Expr:
        ends = sides[sign]
        kept = [
            e
            for k, e in enumerate(ends)
            if not any(
                is_nonnegative(sign * (e - other), positive) and (other != e or j < k)
                for j, other in enumerate(ends)
                if j != k
            )
        ]
        written = [sympy.powsimp(to_factored_expr(e, units.images)) for e in kept]
        if not written:
            return sympy.oo if sign > 0 else -sympy.oo
        return sympy.Min(*written) if sign > 0 else sympy.Max(*written)

    return nearest(-1), nearest(1)


def _radical(
    start: RationalFunction,
    element: RationalFunction,
    n: RationalFunction,
    notation: Notation,
    units: Units,
) -> Expr:
    """Return the real n-th root of *element* that is the weight at the start, in units."""
    base = _in_units(element, units)
    sign = 1
    if n.is_constant() and n.value().denominator == 1 and abs(n.value()) > 1:
        sign, assumed = start_sign(start, notation)
        if assumed:
            raise BranchOpen(
                f"the sign of {assumed[0].removesuffix(' > 0')} selects the branch of Q"
            )
    index = to_expr(n, units.images)
    base = sympy.powsimp(base if sign == 1 else sign**index * base)
    return sympy.powdenest(sign * sympy.expand_power_base(sympy.Pow(base, 1 / index)))


def _in_units(element: RationalFunction, units: Units) -> Expr:
    """Return *element* with each factor that depends on z as a constant times a unit."""
    field = element.field
    result: Expr = sympy.Integer(1)
    for polynomial, power in ((element.numerator, 1), (element.denominator, -1)):
        content, factors = factorize(polynomial)
        result *= sympy.Integer(int(content)) ** power
        for factor, multiplicity in factors:
            exponent = power * multiplicity
            whole = field.quotient(factor, field.ring.constant(1))
            at_zero = whole.compose((field.zero, *field.gens[1:]), field)
            if at_zero.is_zero() or whole == at_zero:
                result *= to_expr(whole, units.images) ** exponent
                continue
            constant = to_expr(at_zero, units.images)
            result *= constant**exponent * units.symbol(whole / at_zero) ** exponent
    return result


def _exponential_weights(
    dual: DualCoordinates, p: Parameterization, notation: Notation
) -> Parametric | None:
    """Weights that are sums of exponentials: linear forms P_k with grad F . grad P_k = r_k P_k."""
    forms: list[tuple[RationalFunction, Fraction]] = []
    for form in dual.metric.conserved.darboux:
        rate = dot(p.fields[0], p.field.gradient(form)) / form
        if form.is_polynomial() and form.degree() == 1 and rate.is_constant():
            forms.append((form, rate.value()))
    forms += [(w, Fraction(0)) for w, x in zip(p.w, p.fields[0], strict=True) if x.is_zero()]
    point = random_point(p.field, Random(7))
    rows = [[Evaluator(g)(point) for g in p.field.gradient(form)] for form, _ in forms]
    chosen = [forms[i] for i in independent_rows(rows)] if rows else []
    if len(chosen) != p.p or any(not f.is_homogeneous() for f, _ in chosen):
        return None
    z = notation.fresh("z")
    matrix = sympy.Matrix(
        [[rational(g.value()) for g in p.field.gradient(form)] for form, _ in chosen]
    )
    grown = sympy.Matrix(
        [
            to_expr(p.at_start(form), notation.start_symbols) * sympy.exp(rational(rate) * z)
            for form, rate in chosen
        ]
    )
    weights = dict(zip(p.weights, matrix.LUsolve(grown), strict=True))
    line = (-sympy.oo, sympy.oo)
    return accept_curve(dual, notation, CurveProposal(z, z, weights, {}, line))
