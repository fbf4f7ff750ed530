"""Limits of a parametric Q: beta = h(z), dQ/dbeta = mu(z), h increasing on an interval of z.

Where h is a power of the start symbol c times what is free of it, and tends to 0 at every z, beta =
h(z) > 0 fixed forces z to the upper end of the interval, as h increases, and mu to its value there:
Q -> a multiple of |beta| on each side. Where h tends to a limit at every z, so does its inverse,
and Q tends to the parametric Q of the limits.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import (
    CONSTANT,
    SMALL,
    Expander,
    Expansion,
    Growth,
    Unexpanded,
    widened,
)
from derive.limits.limit import Limit, LimitingPotential, growth_expression, sided, undecided
from derive.limits.point import Point
from derive.potential.piece import Curve
from derive.verdict import Finding, Identity, Verdict

ABOVE_TWO = Symbol("depth_", positive=True)
_EXACT = 100
"""The order of an error that is not there."""
_OPEN_POLE = "h is not seen to tend to infinity at the end of its interval"


def parametric_limit(curve: Curve, gradient: Expr, beta: Symbol, point: Point) -> Limit:
    """Return the limit of a parametric Q, PROVED or UNDECIDED."""
    symbol = next((s for s in curve.beta.free_symbols if s.name == point.variable), None)
    if symbol is None:
        return undecided(point, f"h does not depend on {point.variable}")
    try:
        return _limit_at_ends(curve, gradient, beta, point, symbol)
    except Undecided as first:
        try:
            return _limit_along_curve(curve, gradient, beta, point, symbol)
        except Undecided as second:
            return undecided(point, f"{first}; {second}")


def _limit_at_ends(
    curve: Curve, gradient: Expr, beta: Symbol, point: Point, symbol: Symbol
) -> Limit:
    """Return c |beta| where h -> 0, mu at the ends being finite."""
    if point.side not in ("0", "oo"):
        raise Unexpanded("no power of what tends to 0")
    rise, slope = (_exponent(f, symbol, curve.parameter) for f in (curve.beta, gradient))
    if not is_positive_exponent(rise if point.side == "0" else -rise):
        raise Unexpanded("h does not tend to 0")
    low, high = curve.interval
    if any(end in (sympy.oo, -sympy.oo) for end in (low, high)):
        raise Unexpanded("the interval of z is infinite")
    # |z - end|^-q c^rise ~ beta, and mu is differentiable at the end.
    free = gradient / symbol**slope
    above, below = (_at_end(free, curve, end) for end in (high, low))
    errors = [sympy.cancel(-rise / pole_at(curve, end, n)) for end, n in ((high, 1), (low, -1))]
    evidence = [
        Identity(
            f"{symbol} d{name}/d{symbol} = ({power}) {name}",
            str(symbol * sympy.diff(f, symbol)),
            f"({power})*({f})",
        )
        for name, f, power in (("h", curve.beta, rise), ("mu", gradient, slope))
    ]
    for end, value in ((high, above), (low, below)):
        left = re.sub(rf"\b{curve.parameter}\b", f"({end})", str(free))
        evidence.append(Identity(f"({symbol})**({-slope}) mu at z = {end}", left, str(value)))
    reason = "`h -> 0` at every `z`, so fixed `beta` forces `z` to an end of its interval"
    decide = signs_of(above + below)
    error = symbol ** errors[0] if decide.is_zero(errors[0] - errors[1]) else None
    finding, at, unit = Finding(Verdict.PROVED, reason, tuple(evidence)), (beta,), symbol**slope
    if decide.is_zero(above + below):
        unit *= below if decide.is_zero(above) else above
        above, below = sympy.S.One, sympy.S.NegativeOne
    regime, potential = sided(above, below, beta)
    limit = Limit(point, finding, regime, at, None, unit, potential, (below,), error)
    return replace(limit, depths=depths_in(rise))


def depths_in(exponent: Expr) -> tuple[Symbol, ...]:
    """Return the symbols of an exponent, which are assumed to be above 2."""
    return tuple(sorted(exponent.free_symbols, key=str))


def is_positive_exponent(exponent: Expr) -> bool:
    """Tell whether an exponent is proved to be positive; for a symbolic depth D, for all D > 2."""
    above_two = dict.fromkeys(exponent.free_symbols, 2 + ABOVE_TWO)
    return ElementarySigns((ABOVE_TWO.name,)).is_positive(exponent.xreplace(above_two))


def signs_of(*expressions: Expr) -> ElementarySigns:
    """Return exact decisions where all that is not in an exponent is known to be positive."""
    powers = {s for f in expressions for p in f.atoms(sympy.Pow) for s in p.exp.free_symbols}
    symbols = {s for f in expressions for s in f.free_symbols}
    positive = {s.name for s in symbols if s.is_positive}
    return ElementarySigns(positive, parameters={s.name for s in powers})


def _exponent(f: Expr, symbol: Symbol, z: Symbol) -> Expr:
    """Return q with c df/dc = q f, free of z: read off a term, and proved by its identity."""
    term = sympy.Add.make_args(sympy.expand_mul(f, deep=False))[0]
    powers = [x.as_base_exp() for x in sympy.Mul.make_args(term)]
    q = sympy.expand(sympy.Add(*(n for base, n in powers if base == symbol)))
    scaled = symbol * sympy.diff(f, symbol) - q * f
    if q.has(symbol, z) or not signs_of(f).is_zero(scaled):
        raise Unexpanded(f"{f} is no power of {symbol} times what is free of it")
    return q


def _at_end(f: Expr, curve: Curve, end: Expr) -> Expr:
    """Return f at an end of the interval, where it and its slope are defined and continuous."""
    at = {curve.parameter: end}
    value, slope = (sympy.expand(x.xreplace(at)) for x in (f, sympy.diff(f, curve.parameter)))
    for x in (value, slope):
        signs_of(x).element(x)
    return value


def pole_at(curve: Curve, end: Expr, sign: int) -> Expr:
    """Return -q < 0 with which h -> sign infinity at an end: one term does, the others stay."""
    z, poles = curve.parameter, []
    for term in sympy.Add.make_args(sympy.expand_mul(curve.beta, deep=False)):
        vanishing = [x for x in sympy.Mul.make_args(term) if _vanishes(x, z, end)]
        rest = sympy.Mul(term, *(1 / x for x in vanishing)).xreplace({z: end})
        decide = signs_of(rest)
        if not vanishing:
            decide.element(rest)
            continue
        (base, exponent), *more = (x.as_base_exp() for x in vanishing)
        slope = sympy.diff(base, z)
        if more or slope.has(z) or not is_positive_exponent(-exponent):
            raise Unexpanded(_OPEN_POLE)
        # The base is positive inside, so it falls to 0 at the upper end and rises at the lower.
        if not (decide.is_positive(sign * rest) and decide.is_positive(-sign * slope)):
            raise Unexpanded(_OPEN_POLE)
        poles.append(exponent)
    if len(poles) != 1:
        raise Unexpanded(_OPEN_POLE)
    return poles[0]


def _vanishes(factor: Expr, z: Symbol, end: Expr) -> bool:
    """Tell whether a factor is a power of what is 0 at an end."""
    base = factor.as_base_exp()[0]
    if not base.has(z):
        return False
    at = base.xreplace({z: end})
    return signs_of(at).is_zero(at)


def _limit_along_curve(
    curve: Curve, gradient: Expr, beta: Symbol, point: Point, symbol: Symbol
) -> Limit:
    """Return the parametric limit where h has one at every z."""
    z, (h, mu, back) = curve.parameter, _at_fixed_z(curve, gradient, point, symbol)
    limits = [x.first.xreplace(back) for x in (h, mu)]
    if not limits[0].has(z):
        raise Unexpanded("h tends to a constant")
    unit = growth_expression(mu.leading, point.small)
    rates = [growth_expression(_next(x)[0], point.small) for x in (h, mu)]
    h_series, mu_series = (f"({x} + O({rate}))" for x, rate in zip(limits, rates, strict=True))
    evidence = (
        Identity("h = limit + ...", str(curve.beta), f"(1)*{h_series}"),
        Identity("mu = N (limit + ...)", str(gradient), f"({unit})*{mu_series}"),
    )
    reason = (
        "`h` and `mu` converge at every `z`, and the inverse of an increasing function with them"
    )
    finding = Finding(Verdict.PROVED, reason, evidence)
    potential = LimitingPotential("other", None, (limits[1],), None, limits[0])
    growth, sharp = _error(h, mu)
    error = None if growth is None else growth_expression(growth, point.small)
    return Limit(point, finding, "intermediate", (beta,), None, unit, potential, (), error, sharp)


def _at_fixed_z(
    curve: Curve, gradient: Expr, point: Point, symbol: Symbol
) -> tuple[Expansion, Expansion, dict[Expr, Expr]]:
    """Return h and mu near the limit, in names for 1 - z and 1 + z, and what these stand for."""
    z = curve.parameter
    if curve.interval != (-1, 1):
        raise Unexpanded("the interval of z is not (-1, 1)")
    # log(1 - z) and log(1 + z) are real in the interval: both bases are named positive. Exact
    # decisions are made in t > 0, z = (t - 1)/(t + 1), which has no relation between the names.
    names = {1 - z: Symbol("below_", positive=True), 1 + z: Symbol("above_", positive=True)}
    back, t = {v: k for k, v in names.items()}, Symbol("t_", positive=True)
    at_t = {z: (t - 1) / (t + 1)}
    meaning = {x: sympy.cancel(f.xreplace(at_t)) for x, f in {**back, z: z}.items()}
    decide = ElementarySigns(("below_", "above_", "t_"), meaning)
    named = [f.subs(names).xreplace({symbol: point.image(SMALL)}) for f in (curve.beta, gradient)]

    def expanded(span: Fraction) -> list[Expansion]:
        h, mu = (Expander(SMALL, decide, span).expand(f) for f in named)
        if h.leading != CONSTANT or not h.reaches(CONSTANT) or not mu.terms:
            raise Unexpanded("h has no finite limit at fixed z")
        if not all(x.order is None or len(x.terms) > 1 for x in (h, mu)):
            raise Unexpanded("what follows the limits of h and mu is not known")
        return [h, mu]

    h, mu = widened(expanded)
    return h, mu, back


def _error(h: Expansion, mu: Expansion) -> tuple[Growth | None, bool]:
    """Return the growth of what is left out of mu where h(z) = beta, and whether it is sharp.

    Of a bound the logarithms are not known, and terms of one order may cancel.
    """
    (growth, bound), (other, unknown) = sorted((_next(h), _next(mu)))
    known = not bound and not (unknown and other[0] <= growth[0])
    return growth if known else None, growth != other


def _next(x: Expansion) -> tuple[Growth, bool]:
    """Return the growth of the second term over the first, and whether it is only a bound."""
    first, *rest = sorted(x.terms)
    bounds = [(growth, False) for growth in rest[:1]]
    if x.order is not None:
        bounds.append(((x.order, 0), True))
    (r, k), bound = min(bounds, default=((first[0] + _EXACT, 0), True))
    return (r - first[0], k - first[1]), bound
