"""Limits of a parametric Q, beta = h(z), dQ/dbeta = mu(z), where h tends to a limit at every z.

h increases on an interval of z, and so does its limit: with h the inverse of h converges, and Q
tends to the parametric Q of the limits.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import (
    CONSTANT,
    FLAT,
    SMALL,
    Expander,
    Expansion,
    Growth,
    Unexpanded,
    widened,
)
from derive.limits.limit import Limit, LimitingPotential, growth_expression
from derive.limits.point import Point
from derive.potential.piece import Curve
from derive.verdict import Finding, Identity, Verdict


def parametric_limit(curve: Curve, gradient: Expr, beta: Symbol, point: Point) -> Limit | None:
    """Return the limit at fixed z, or None where that is not proved, or h tends to a constant."""
    try:
        h, mu, back = _at_fixed_z(curve, gradient, point)
    except Undecided:
        return None
    at, slope = (x.first.xreplace(back) for x in (h, mu))
    if not at.has(curve.parameter):
        return None
    unit, rates = growth_expression(mu.leading, point.small), (_next(h), _next(mu))
    h_order, mu_order = (growth_expression(growth, point.small) for growth, _ in rates)
    evidence = (
        Identity("h = limit + ...", str(curve.beta), f"(1)*({at} + O({h_order}))"),
        Identity("mu = N (limit + ...)", str(gradient), f"({unit})*({slope} + O({mu_order}))"),
    )
    reason = (
        "`h` and `mu` converge at every `z`, and the inverse of an increasing function with them"
    )
    finding = Finding(Verdict.PROVED, reason, evidence)
    potential = LimitingPotential("other", None, (slope,), None, at)
    # Of a bound the logarithms are not known, and terms of one order may cancel.
    (growth, bound), (other, unknown) = sorted(rates)
    known = not bound and not (unknown and other[0] <= growth[0])
    error = growth_expression(growth, point.small) if known else None
    return Limit(
        point, finding, "intermediate", (beta,), None, unit, potential, (), error, growth != other
    )


def _at_fixed_z(
    curve: Curve, gradient: Expr, point: Point
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
    symbols = curve.beta.free_symbols | gradient.free_symbols
    small = {s: point.image(SMALL) for s in symbols if s.name == point.variable}
    named = [f.subs(names).xreplace(small) for f in (curve.beta, gradient)]

    def expanded(span: Fraction) -> tuple[Expansion, Expansion]:
        h, mu = (Expander(SMALL, decide, span).expand(f) for f in named)
        if h.leading != CONSTANT or not h.reaches(CONSTANT) or not mu.terms:
            raise Unexpanded("h has no finite limit at fixed z")
        if not all(x.order is None or len(x.terms) > 1 for x in (h, mu)):
            raise Unexpanded("what follows the limits of h and mu is not known")
        return h, mu

    return (*widened(expanded), back)


def _next(x: Expansion) -> tuple[Growth, bool]:
    """Return the growth of the second term over the first, and whether it is only a bound."""
    first, *rest = sorted(x.terms)
    ends = [(growth, False) for growth in rest[:1]]
    ends += [] if x.order is None else [((x.order, 0), True)]
    (r, k), bound = min(ends, default=((FLAT, 0), True))
    return (r - first[0], k - first[1]), bound
