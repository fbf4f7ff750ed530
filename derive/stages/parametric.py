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

from derive.exact.field import FunctionField, RationalFunction
from derive.exact.implicitization import Coordinates
from derive.exact.linear import dot
from derive.exact.modular import Evaluator, independent_rows, random_point
from derive.exact.polynomial import factorize
from derive.stages.dual import DualCoordinates
from derive.stages.notation import AssumePositive, BranchOpen, Notation, rational, to_expr
from derive.stages.parameterization import Parameterization
from derive.stages.piece import Curve, Piece
from derive.stages.signs import start_sign
from derive.stages.variables import find_variable, inverted, power_of
from derive.verdict import Identity

MU = "_mu"
"""The parameter in exact fields; no name of the user starts with an underscore."""


def parametrize(dual: DualCoordinates, notation: Notation) -> Piece | None:
    """Return Q with the dual coordinate as parameter, or None where the weights resist."""
    p = dual.warping.hessian.metric.parameterization
    if dual.R is None or dual.R.logs:
        return None
    if not dual.y[0].logs:
        return _algebraic_weights(dual, p, notation)
    return _exponential_weights(dual, p, notation)


def _algebraic_weights(
    dual: DualCoordinates, p: Parameterization, notation: Notation
) -> Piece | None:
    """Each weight w_i with w_i^n a rational function of y and the conserved quantities."""
    conserved = dual.warping.hessian.metric.conserved
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
    weights = {}
    for name, (element, n) in powers.items():
        start = p.at_start(p.field.named(name))
        value = _radical(start, element, to_expr(n, images), images, notation)
        weights.update(inverted(p, name, value))
    interval = _interval(powers, field, notation)
    if interval is None:
        return None
    known = {**weights, **{x: notation.start_symbols[x] for x in p.parameters}}
    mu = z / to_expr(scale, images, factored=True)
    mu = sympy.powsimp(mu) if p.parameters else mu
    return _parametric_piece(dual, p, notation, known, z, mu, interval)


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


def _interval(
    powers: Mapping[str, tuple[RationalFunction, RationalFunction]],
    field: FunctionField,
    notation: Notation,
) -> tuple[Expr, Expr] | None:
    """Return the interval around z = 0 between the poles and zeros of the weights' powers.

    None where the start does not say on which side of 0 one of them is.
    """
    ends: list[Expr] = []
    for element, _ in powers.values():
        for polynomial in (element.denominator, element.numerator):
            for factor, _ in factorize(polynomial)[1]:
                linear = field.quotient(factor, field.ring.constant(1))
                slope = linear.partial(0)
                if slope.is_zero() or not slope.partial(0).is_zero():
                    continue
                at = -(linear - slope * field.gens[0]) / slope
                images = {MU: Symbol("mu"), **notation.start_symbols}
                ends.append(sympy.powsimp(to_expr(at, images, factored=True)))
    undecided = [e for e in ends if not (e.is_negative or e.is_positive)]
    if undecided:
        names = {s.name for e in undecided for s in e.free_symbols if not s.is_positive}
        if names:
            raise AssumePositive(frozenset(names))
        return None
    below = [e for e in ends if e.is_negative]
    above = [e for e in ends if e.is_positive]
    return (
        sympy.Max(*below) if below else -sympy.oo,
        sympy.Min(*above) if above else sympy.oo,
    )


def _radical(
    start: RationalFunction,
    element: RationalFunction,
    n: Expr,
    images: Mapping[str, Expr],
    notation: Notation,
) -> Expr:
    """Return the real n-th root of *element* that is the weight at the start."""
    base, units = _normalized(element, images)
    sign = 1
    if n.is_integer and abs(n) > 1:
        sign, assumed = start_sign(start, notation)
        if assumed:
            raise BranchOpen(
                f"the sign of {assumed[0].removesuffix(' > 0')} selects the branch of Q"
            )
    base = sympy.powsimp(base if sign == 1 else sign**n * base)
    root = sign * sympy.expand_power_base(sympy.Pow(base, 1 / n))
    return sympy.powdenest(root).xreplace(units)


def _normalized(
    element: RationalFunction, images: Mapping[str, Expr]
) -> tuple[Expr, dict[Symbol, Expr]]:
    """Return *element* with each factor that depends on z as a constant times a unit.

    A unit is 1 at z = 0 and positive on the interval; it is a positive symbol until the powers
    are taken, then replaced by what the mapping says.
    """
    field = element.field
    result: Expr = sympy.Integer(1)
    units: dict[Symbol, Expr] = {}
    for polynomial, power in ((element.numerator, 1), (element.denominator, -1)):
        content, factors = factorize(polynomial)
        result *= sympy.Integer(int(content)) ** power
        for factor, multiplicity in factors:
            exponent = power * multiplicity
            whole = field.quotient(factor, field.ring.constant(1))
            at_zero = whole.compose((field.zero, *field.gens[1:]), field)
            if at_zero.is_zero() or whole == at_zero:
                result *= to_expr(whole, images) ** exponent
                continue
            unit = sympy.Dummy("unit", positive=True)
            units[unit] = sympy.expand(to_expr(whole / at_zero, images))
            result *= to_expr(at_zero, images) ** exponent * unit**exponent
    return result, units


def _exponential_weights(
    dual: DualCoordinates, p: Parameterization, notation: Notation
) -> Piece | None:
    """Weights that are sums of exponentials: linear forms P_k with grad F . grad P_k = r_k P_k."""
    forms: list[tuple[RationalFunction, Fraction]] = []
    for form in dual.warping.hessian.metric.conserved.darboux:
        rate = dot(p.jacobian[0], p.field.gradient(form)) / form
        if form.is_polynomial() and form.degree() == 1 and rate.is_constant():
            forms.append((form, rate.value()))
    forms += [(w, Fraction(0)) for w, x in zip(p.w, p.jacobian[0], strict=True) if x.is_zero()]
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
    return _parametric_piece(dual, p, notation, weights, z, z, (-sympy.oo, sympy.oo))


def _parametric_piece(
    dual: DualCoordinates,
    p: Parameterization,
    notation: Notation,
    weights: Mapping[str, Expr],
    z: Symbol,
    mu: Expr,
    interval: tuple[Expr, Expr],
) -> Piece:
    if dual.R is None:
        raise AssertionError("parametric forms need the conjugate")
    beta = _tidy(to_expr(p.F[0], weights))
    if any(g.kind == "power" for g in p.field.generators):
        # Bases of real powers are positive on the interval.
        beta = sympy.powdenest(sympy.expand_power_base(beta, force=True), force=True)
    conjugate = _tidy(to_expr(dual.R.rational, weights))
    evidence = (
        Identity("dQ/dbeta = y - y(w_0)", "y", "mu"),
        Identity("each weight is the printed function of mu on the leaf", "w", "w(mu)"),
        *dual.evidence,
    )
    assumptions = tuple(f"{name} > 0" for name in sorted(notation.assumed))
    return Piece(
        "parametric",
        notation.betas,
        mu * notation.betas[0] - conjugate,
        (mu,),
        curve=Curve(z, beta, interval, tuple(weights.items())),
        assumptions=assumptions,
        evidence=evidence,
    )


def _tidy(expression: Expr) -> Expr:
    """Collect the exponentials in a sum; cosmetic."""
    if not expression.has(sympy.exp):
        return expression
    expanded = sympy.expand(expression)
    exponentials = sorted(expanded.atoms(sympy.exp), key=str)
    collected = sympy.collect(expanded, exponentials, evaluate=False)
    return sympy.Add(*(sympy.factor(c) * e for e, c in collected.items()))
