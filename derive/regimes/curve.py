"""Limits of a parametric Q: beta = h(z), dQ/dbeta = mu(z), h increasing on an interval of z.

Where h is a power of the start symbol c times what is free of it, and tends to 0 at every z, beta =
h(z) > 0 fixed forces z to the upper end of the interval, as h increases, and mu to its value there:
Q -> a multiple of |beta| on each side. Where h tends to a limit at every z, so does its inverse,
and Q tends to the parametric Q of the limits.
"""

from __future__ import annotations

import re
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.potential.piece import Curve
from derive.regimes.coefficients import Coefficients, Unexpanded
from derive.regimes.expansion import Expander, Expansion, Growth
from derive.regimes.limit import Limit, Point, Regime, growth_expression, undecided
from derive.regimes.limit_form import LimitForm
from derive.verdict import Finding, Identity, Verdict

_ABOVE_TWO = Symbol("depth_", positive=True)
_EXACT = 100
"""The order of an error that is not there."""
_OPEN_POLE = "h is not seen to tend to infinity at the end of its interval"


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
    rise, slope = (_exponent(f, symbol, curve.parameter) for f in (curve.beta, gradient))
    if not is_positive_exponent(rise if point.side == "0" else -rise):
        raise Unexpanded("h does not tend to 0")
    low, high = curve.interval
    if any(end in (sympy.oo, -sympy.oo) for end in (low, high)):
        raise Unexpanded("the interval of z is infinite")
    # |z - end|^-q c^rise ~ beta, and mu is differentiable at the end.
    above, below = (_at_end(gradient / symbol**slope, curve, end) for end in (high, low))
    errors = [sympy.cancel(-rise / _pole(curve, end, n)) for end, n in ((high, 1), (low, -1))]
    ends = above, below
    decide = _coefficients(above + below)
    scale = above if not decide.is_zero(above) else below
    if not decide.is_zero(above + below):
        Q = (above - below) / 2 * sympy.Abs(beta) + (above + below) / 2 * beta
        form = LimitForm("power", Q, (above,), sympy.S.One)
        unit = symbol**slope
    else:
        form = LimitForm("l1", sympy.Abs(beta), (sympy.S.One,), sympy.S.One)
        unit, above, below = scale * symbol**slope, sympy.S.One, -sympy.S.One
    evidence = tuple(
        Identity(
            f"{symbol} d{name}/d{symbol} = ({q}) {name}",
            str(symbol * sympy.diff(f, symbol)),
            f"({q})*({f})",
        )
        for name, f, q in (("h", curve.beta, rise), ("mu", gradient, slope))
    )
    free, z = str(gradient / symbol**slope), str(curve.parameter)
    evidence += tuple(
        Identity(
            f"({symbol})**({-slope}) mu at z = {end}",
            re.sub(rf"\b{z}\b", f"({end})", free),
            str(value),
        )
        for end, value in zip((high, low), ends, strict=True)
    )
    reason = "h -> 0 at every z, so beta fixed forces z to an end of its interval"
    for depth in sorted(rise.free_symbols, key=str):
        reason += f"; assuming {depth} > 2"
    regime: Regime = "rich" if form.shape == "l1" else "intermediate"
    finding = Finding(Verdict.PROVED, reason, evidence)
    error = symbol ** errors[0] if decide.is_zero(errors[0] - errors[1]) else None
    return Limit(point, finding, regime, (beta,), None, unit, form, (below,), error)


def is_positive_exponent(exponent: Expr) -> bool:
    """Tell whether an exponent is proved to be positive; for a symbolic depth D, for all D > 2."""
    above_two = dict.fromkeys(exponent.free_symbols, 2 + _ABOVE_TWO)
    return Coefficients((_ABOVE_TWO.name,)).is_positive(exponent.xreplace(above_two))


def _coefficients(*expressions: Expr) -> Coefficients:
    """Return exact decisions where all that is not in an exponent is known to be positive."""
    powers = {s for f in expressions for p in f.atoms(sympy.Pow) for s in p.exp.free_symbols}
    symbols = {s for f in expressions for s in f.free_symbols}
    positive = {s.name for s in symbols if s.is_positive}
    return Coefficients(positive, parameters={s.name for s in powers})


def _exponent(f: Expr, symbol: Symbol, z: Symbol) -> Expr:
    """Return q with c df/dc = q f, free of z: read off a term, and proved by its identity."""
    term = sympy.Add.make_args(sympy.expand_mul(f, deep=False))[0]
    powers = [x.as_base_exp() for x in sympy.Mul.make_args(term)]
    q = sympy.expand(sympy.Add(*(n for base, n in powers if base == symbol)))
    scaled = symbol * sympy.diff(f, symbol) - q * f
    if q.has(symbol, z) or not _coefficients(f).is_zero(scaled):
        raise Unexpanded(f"{f} is no power of {symbol} times what is free of it")
    return q


def _at_end(f: Expr, curve: Curve, end: Expr) -> Expr:
    """Return f at an end of the interval, where it and its slope are defined and continuous."""
    at = {curve.parameter: end}
    value, slope = (sympy.expand(x.xreplace(at)) for x in (f, sympy.diff(f, curve.parameter)))
    for x in (value, slope):
        _coefficients(x).element(x)
    return value


def _pole(curve: Curve, end: Expr, sign: int) -> Expr:
    """Return the exponent -q < 0 with which h tends to sign infinity at an end.

    One term of h must be a positive multiple of sign times a negative power of the distance from
    the end, and the others be defined there.
    """
    z, poles = curve.parameter, []
    for term in sympy.Add.make_args(sympy.expand_mul(curve.beta, deep=False)):
        vanishing = [x for x in sympy.Mul.make_args(term) if _vanishes(x, z, end)]
        rest = sympy.Mul(term, *(1 / x for x in vanishing)).xreplace({z: end})
        decide = _coefficients(rest)
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
    return _coefficients(at).is_zero(at)


def _stays(curve: Curve, gradient: Expr, beta: Symbol, point: Point, symbol: Symbol) -> Limit:
    """Return the parametric limit where h has one at every z."""
    e = Symbol("e_", positive=True)
    z = curve.parameter
    if curve.interval != (-1, 1):
        raise Unexpanded("the interval of z is not (-1, 1)")
    # log(1 - z) and log(1 + z) are real in the interval: both bases are named positive. Exact
    # decisions are made in t > 0, z = (t - 1)/(t + 1), which has no relation between the names.
    names = {1 - z: Symbol("below_", positive=True), 1 + z: Symbol("above_", positive=True)}
    back, t = {v: k for k, v in names.items()}, Symbol("t_", positive=True)
    meaning = {v: k.xreplace({z: (t - 1) / (t + 1)}) for v, k in back.items()}
    meaning = {x: sympy.cancel(f) for x, f in {**meaning, z: (t - 1) / (t + 1)}.items()}

    def prepared(f: Expr) -> Expr:
        return f.subs(names).xreplace({symbol: point.image(e)})

    for span in (1, 2, 4):
        decide = Coefficients(("below_", "above_", "t_"), meaning)
        expander = Expander(e, decide, Fraction(span))
        h, mu = (expander.expand(prepared(f)) for f in (curve.beta, gradient))
        if h.leading == (Fraction(0), 0) and h.reaches(h.leading) and mu.terms:
            limits = [x.terms[x.leading].xreplace(back) for x in (h, mu)]
            unit = growth_expression(mu.leading, point.small)
            rates = [growth_expression(_next(x)[0], point.small) for x in (h, mu)]
            finding = Finding(
                Verdict.PROVED,
                "h and mu converge at every z, and the inverse of an increasing function with them",
                tuple(
                    Identity(statement, str(f), f"({N})*({limit} + O({rate}))")
                    for statement, f, N, limit, rate in zip(
                        ("h = limit + ...", "mu = N (limit + ...)"),
                        (curve.beta, gradient),
                        (sympy.S.One, unit),
                        limits,
                        rates,
                        strict=True,
                    )
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
