"""Limits of a parametric Q: beta = h(z), dQ/dbeta = mu(z), h increasing on an interval of z.

Where h is a power of the start symbol c times what is free of it, and tends to 0 at every z, beta =
h(z) > 0 fixed forces z to the upper end of the interval, as h increases, and mu to its value there:
Q -> a multiple of |beta| on each side. Where h tends to a limit at every z, so does its inverse,
and Q tends to the parametric Q of the limits.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.stages.coefficients import Coefficients, Unexpanded
from derive.stages.expansion import Expander, Expansion, Growth
from derive.stages.limit import Limit, Point, Regime, growth_expression, undecided
from derive.stages.limit_form import LimitForm
from derive.stages.piece import Curve
from derive.verdict import Finding, Identity, Verdict

_ASSUMED = Symbol("depth_", positive=True)
_EXACT = 100
"""The order of an error that is not there."""


def curve_limit(curve: Curve, gradient: Expr, beta: Symbol, point: Point) -> Limit:
    """Return the limit of a parametric Q, PROVED or UNDECIDED."""
    symbol = next((s for s in curve.beta.free_symbols if s.name == point.variable), None)
    if symbol is None:
        return undecided(point, f"h does not depend on {point.variable}")
    try:
        return _ends(curve, gradient, beta, point, symbol)
    except Unexpanded as first:
        try:
            return _stays(curve, gradient, beta, point, symbol)
        except Unexpanded as second:
            return undecided(point, f"{first}; {second}")


def _ends(curve: Curve, gradient: Expr, beta: Symbol, point: Point, symbol: Symbol) -> Limit:
    """Return c |beta| where h -> 0, mu at the ends being finite."""
    if point.side not in ("0", "oo"):
        raise Unexpanded("no power of what tends to 0")
    rise, slope = _exponent(curve.beta, symbol), _exponent(gradient, symbol)
    toward = 1 if point.side == "0" else -1
    assumed = _above_two(rise)
    if not (toward * rise.xreplace(assumed)).is_positive:
        raise Unexpanded("h does not tend to 0")
    low, high = curve.interval
    if not (low.is_finite and high.is_finite):
        raise Unexpanded("the interval of z is infinite")
    values, errors = [], []
    for end, sign in ((high, 1), (low, -1)):
        # |z - end|^-q c^rise ~ beta, and mu is smooth at the end.
        errors.append(symbol ** sympy.cancel(-rise / _pole(curve, end, sign, assumed)))
        value = (gradient / symbol**slope).xreplace({curve.parameter: end})
        values.append(sympy.expand(value))
    above, below = values
    if any(v.has(sympy.oo, -sympy.oo, sympy.zoo, sympy.nan) for v in values):
        raise Unexpanded("mu is infinite at an end")
    decide = Coefficients(())
    scale = above if not decide.is_zero(above) else below
    if not _is_even(above, below):
        Q = (above - below) / 2 * sympy.Abs(beta) + (above + below) / 2 * beta
        form = LimitForm("power", Q, (above,), sympy.S.One)
        unit = symbol**slope
    else:
        form = LimitForm("l1", sympy.Abs(beta), (sympy.S.One,), sympy.S.One)
        unit, above, below = scale * symbol**slope, sympy.S.One, -sympy.S.One
    evidence = (
        Identity(f"{symbol} dh/d{symbol} = ({rise}) h", str(curve.beta), str(curve.beta)),
        Identity(f"{symbol} dmu/d{symbol} = ({slope}) mu", str(gradient), str(gradient)),
    )
    reason = "h -> 0 at every z, so beta fixed forces z to an end of its interval"
    if assumed:
        reason += f"; assuming {next(iter(assumed))} > 2"
    regime: Regime = "rich" if form.shape == "l1" else "intermediate"
    finding = Finding(Verdict.PROVED, reason, evidence)
    error = errors[0] if errors[0] == errors[1] else None
    return Limit(point, finding, regime, (beta,), None, unit, form, (below,), error)


def _is_even(above: Expr, below: Expr) -> bool:
    return bool(sympy.expand(above + below) == 0)


def _above_two(exponent: Expr) -> dict[Symbol, Expr]:
    """Return D = 2 + positive for a symbolic depth D."""
    return dict.fromkeys(exponent.free_symbols, 2 + _ASSUMED)


def _exponent(f: Expr, symbol: Symbol) -> Expr:
    """Return q with c df/dc = q f, free of z: tested term by term on a sum of products."""
    found = set()
    for term in sympy.Add.make_args(sympy.expand_mul(f, deep=False)):
        powers = [sympy.S.Zero]
        for factor in sympy.Mul.make_args(term):
            if factor == symbol:
                powers.append(sympy.S.One)
            elif factor.is_Pow and factor.base == symbol and not factor.exp.has(symbol):
                powers.append(factor.exp)
            elif factor.has(symbol):
                raise Unexpanded(f"{f} is no power of {symbol} times what is free of it")
        found.add(sympy.expand(sympy.Add(*powers)))
    if len(found) != 1:
        raise Unexpanded(f"{f} is no power of {symbol} times what is free of it")
    return found.pop()


def _pole(curve: Curve, end: Expr, sign: int, assumed: dict[Symbol, Expr]) -> Expr:
    """Return the exponent -q < 0 with which h tends to sign infinity at an end.

    One term of h must be a positive multiple of sign times a negative power of the distance from
    the end, and the others be finite there.
    """
    z, poles = curve.parameter, []
    for term in sympy.Add.make_args(sympy.expand_mul(curve.beta, deep=False)):
        for factor in sympy.Mul.make_args(term):
            base, exponent = factor.as_base_exp()
            if not base.has(z) or sympy.expand(base.xreplace({z: end})) != 0:
                continue
            rest = (term / factor).xreplace({z: end, **assumed})
            power = sympy.together(exponent.xreplace(assumed))
            if not (power.is_negative and (sign * rest).is_positive):
                raise Unexpanded("h is not seen to tend to infinity at the end of its interval")
            poles.append(exponent)
    if len(poles) != 1:
        raise Unexpanded("h is not seen to tend to infinity at the end of its interval")
    return poles[0]


def _stays(curve: Curve, gradient: Expr, beta: Symbol, point: Point, symbol: Symbol) -> Limit:
    """Return the parametric limit where h has one at every z."""
    e = Symbol("e_", positive=True)
    z = curve.parameter
    if curve.interval != (-1, 1):
        raise Unexpanded("the interval of z is not (-1, 1)")
    # log(1 - z) and log(1 + z) are real in the interval: both bases are named positive.
    names = {1 - z: Symbol("below_", positive=True), 1 + z: Symbol("above_", positive=True)}
    back = {v: k for k, v in names.items()}

    def prepared(f: Expr) -> Expr:
        return f.subs(names).xreplace({symbol: point.image(e)})

    for span in (1, 2, 4):
        expander = Expander(e, Coefficients(("below_", "above_")), Fraction(span))
        h, mu = (expander.expand(prepared(f)) for f in (curve.beta, gradient))
        if h.leading == (Fraction(0), 0) and h.reaches(h.leading) and mu.terms:
            limits = [x.terms[x.leading].xreplace(back) for x in (h, mu)]
            unit = growth_expression(mu.leading, point.small)
            finding = Finding(
                Verdict.PROVED,
                "h and mu converge at every z, and the inverse of an increasing function with them",
                (
                    Identity("h(z) -> limit", str(curve.beta), str(limits[0])),
                    Identity("mu(z)/N -> limit", str(gradient), str(limits[1])),
                ),
            )
            form = LimitForm("other", None, (limits[1],), None, limits[0])
            growth, sharp = min(_next(h), _next(mu))
            error = growth_expression(growth, point.small)
            return Limit(
                point, finding, "intermediate", (beta,), None, unit, form, (), error, not sharp
            )
    raise Unexpanded("h has no finite limit at fixed z")


def _next(x: Expansion) -> tuple[Growth, bool]:
    """Return the growth of the second term over the first, and whether it is only a bound."""
    first, *rest = sorted(x.terms)
    bounds = [(growth, False) for growth in rest[:1]]
    if x.order is not None:
        bounds.append(((x.order, 0), True))
    (r, k), bound = min(bounds, default=((first[0] + _EXACT, 0), True))
    return (r - first[0], k - first[1]), bound
