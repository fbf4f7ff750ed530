"""Q of a single output through its dual coordinate: beta = h(mu), Q = mu h(mu) - R(w(mu)).

The dual coordinate y of the flow satisfies <grad y, grad F> = 1, so mu = y - y(w_0) is both the
mirror map dQ/dbeta and the time along w' = grad F. Where every weight is an algebraic function
of y and of the conserved quantities, or a sum of exponentials of mu, the weights can be written
in mu, and with them beta and Q. For p^D - m^D this is the closed form of Woodworth et al. 2020
(section 4) with h_D; no closed form in beta exists there for D >= 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.field.factors import factored
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.implicitization import Coordinates
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import Evaluator, independent_rows, random_point
from derive.exact.positivity import is_positive, nearest
from derive.model.condition import Condition
from derive.model.notation import AssumePositive, Notation, rational, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.accept import CurveProposal, accept_parametric
from derive.potential.dual_powers import find_variable, inverted, power_of
from derive.potential.piece import Parametric
from derive.weights.dual import DualCoordinates

MU = "_mu"
"""The parameter in exact fields; no name of the user starts with an underscore."""


Powers: TypeAlias = dict[str, tuple[RationalFunction, RationalFunction]]
"""Of a variable, which is a weight or a function of one: (r, n) with variable^n = r(mu)."""


def parametrize(dual: DualCoordinates, notation: Notation) -> Parametric | None:
    """Return beta = h(z), Q = mu beta - H(z) with mu = dQ/dbeta a multiple of z, or None.

    Source: Woodworth et al. 2020, for h of p^D - m^D.
    """
    if dual.R is None or dual.R.logs:
        return None
    return (_exponential_weights if dual.y[0].logs else _algebraic_weights)(dual, notation)


def _algebraic_weights(dual: DualCoordinates, notation: Notation) -> Parametric | None:
    """Each weight w_i with w_i^n a rational function of y and the conserved quantities."""
    p = dual.parameterization
    field = p.start_field.extended((MU,))
    try:
        powers = _powers_of_weights(dual, field)
    except ZeroDivisionError:
        return None
    if powers is None:
        return None
    z = notation.fresh("z")
    scale = _scale(powers, field)
    # From here the parameter is z = scale * mu.
    rescaled = (field.gens[0] / scale, *field.gens[1:])
    images = {MU: z, **notation.start_symbols}
    units = Units(images, notation)
    parameters = {x: notation.start_symbols[x] for x in p.parameters}
    weights: dict[str, Expr] = {}
    for name, (element, n) in powers.items():
        element = element.compose(rescaled, field)
        if n == 1 and _is_entire(p, name, element):
            value = to_factored_expr(element, images)
        else:
            value = _radical(p.at_start(p.field.named(name)), element, n, units)
        weights.update(inverted(p, name, value, notation.start_symbols))
    interval = _interval(units)
    if interval is None:
        return None
    mu = sympy.powsimp(z / to_factored_expr(scale, images))
    curve = CurveProposal(z, mu, {**weights, **parameters}, units.expressions, interval)
    piece = accept_parametric(dual, notation, curve)
    return piece and replace(piece, assumptions=(*piece.assumptions, *units.assumed))


def _is_entire(p: Parameterization, name: str, element: RationalFunction) -> bool:
    """Tell whether a weight is a polynomial in mu, and F one in it: it may change its sign."""
    inside = (g.argument for g in p.field.generators if g.argument is not None)
    used = {x for f in (p.field.polynomial(p.F[0].denominator), *inside) for x in f.variables()}
    return name in p.weights and name not in used and not element.denominator.degrees()[0]


def _powers_of_weights(dual: DualCoordinates, field: FunctionField) -> Powers | None:
    """Return a power of each weight, or of a function of it, in mu = y - y(w_0), or None."""
    p, y = dual.parameterization, dual.y[0].rational
    laws = dual.metric.conserved.laws
    named = {"y": y, **{f"c{i}": law for i, law in enumerate(laws)}, **p.field.constants}
    coordinates = Coordinates.of([*named.items()])
    y0, *constants = (p.at_start(f).compose(field.gens[1:], field) for f in named.values())
    on_leaf = (field.gens[0] + y0, *constants)
    powers: Powers = {}
    for name in p.weights:
        found = find_variable(p, name, y, laws) if p.field.generators else None
        if found is None:
            rooted = power_of(p.field.named(name), coordinates, p.degree or 1)
            if rooted is None:
                return None
            found = name, *rooted
        variable, power, n = found
        powers[variable] = power.compose(on_leaf, field), field.embed(n)
    return powers


def _scale(powers: Powers, field: FunctionField) -> RationalFunction:
    """Return s such that z = s mu makes the first linear factor in mu a multiple of 1 - z."""
    for element, _ in powers.values():
        for linear, _ in sorted(factored(element)[1], key=lambda power: power[1] > 0):
            slope = linear.partial(0)
            offset = linear - slope * field.gens[0]
            if not (slope.is_zero() or offset.is_zero() or slope.depends_on(0)):
                return -slope / offset
    return field.one


class Units:
    """Positive symbols for the factors of the weights' powers that depend on z, 1 at z = 0."""

    def __init__(self, images: Mapping[str, Expr], notation: Notation) -> None:
        self.images, self.notation = images, notation
        self.symbols: dict[RationalFunction, Symbol] = {}
        self.assumed = list[Condition]()

    def symbol(self, unit: RationalFunction) -> Symbol:
        """Return the symbol of a unit, the same one for equal units."""
        if unit not in self.symbols:
            name = f"unit{len(self.symbols) + 1}"
            self.symbols[unit] = self.notation.fresh(name, positive=True)
        return self.symbols[unit]

    @property
    def expressions(self) -> dict[Symbol, Expr]:
        """What the symbols stand for, in z."""
        return {
            s: sympy.expand(to_expr(u, self.images), power_exp=False)
            for u, s in self.symbols.items()
        }


def _interval(units: Units) -> tuple[Expr, Expr] | None:
    """Return the interval around z = 0 on which the units are positive, None where not known."""
    notation = units.notation
    sides: dict[int, list[RationalFunction]] = {1: [], -1: []}
    for unit in units.symbols:
        slope = unit.partial(0)
        if slope.depends_on(0):
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
    low, high = (
        [
            sympy.powsimp(to_factored_expr(end, units.images))
            for end in nearest(sign, sides[sign], notation.positive)
        ]
        for sign in (-1, 1)
    )
    return sympy.Max(*low) if low else -sympy.oo, sympy.Min(*high) if high else sympy.oo


def _radical(
    start: RationalFunction, element: RationalFunction, n: RationalFunction, units: Units
) -> Expr:
    """Return the real n-th root of *element* that is the weight at the start, in units."""
    base = _in_units(element, units)
    sign = 1
    if n.is_constant() and n.value().denominator == 1 and abs(n.value()) > 1:
        sign, assumed = start_sign(start, units.notation)
        units.assumed += assumed
    index = to_expr(n, units.images)
    base = sympy.powsimp(base if sign == 1 else sign**index * base)
    return sympy.powdenest(sign * sympy.expand_power_base(sympy.Pow(base, 1 / index)))


def _in_units(element: RationalFunction, units: Units) -> Expr:
    """Return *element* with each factor that depends on z as a constant times a unit."""
    field = element.field
    number, powers = factored(element)
    result = rational(number)
    for whole, n in powers:
        at_zero = whole.compose((field.zero, *field.gens[1:]), field)
        if at_zero.is_zero() or whole == at_zero:
            result *= to_expr(whole, units.images) ** n
        else:
            result *= to_expr(at_zero, units.images) ** n * units.symbol(whole / at_zero) ** n
    return result


def _exponential_weights(dual: DualCoordinates, notation: Notation) -> Parametric | None:
    """Weights that are sums of exponentials: linear forms P_k with grad F . grad P_k = r_k P_k."""
    p = dual.parameterization
    eigenforms = _linear_eigenforms(dual)
    if len(eigenforms) != p.p or any(not f.is_homogeneous() for f, _ in eigenforms):
        return None
    z = notation.fresh("z")
    slopes = [[rational(g.value()) for g in p.field.gradient(f)] for f, _ in eigenforms]
    starts = (to_expr(p.at_start(f), notation.start_symbols) for f, _ in eigenforms)
    rates = (sympy.exp(rational(rate) * z) for _, rate in eigenforms)
    grown = sympy.Matrix([start * rate for start, rate in zip(starts, rates, strict=True)])
    weights = dict(zip(p.weights, sympy.Matrix(slopes).LUsolve(grown), strict=True))
    curve = CurveProposal(z, z, weights, {}, (-sympy.oo, sympy.oo))
    return accept_parametric(dual, notation, curve)


def _linear_eigenforms(dual: DualCoordinates) -> list[tuple[RationalFunction, Fraction]]:
    """Return independent linear P with <grad F, grad P> = r P, each with the number r."""
    p = dual.parameterization
    found: list[tuple[RationalFunction, Fraction]] = []
    for P in dual.metric.conserved.darboux:
        rate = dot(p.fields[0], p.field.gradient(P)) / P
        if P.is_polynomial() and P.degree() == 1 and rate.is_constant():
            found.append((P, rate.value()))
    found += [(w, Fraction(0)) for w, x in zip(p.w, p.fields[0], strict=True) if x.is_zero()]
    point = random_point(p.field, Random(7))
    rows = [[Evaluator(g)(point) for g in p.field.gradient(P)] for P, _ in found]
    return [found[i] for i in independent_rows(rows)] if rows else []
