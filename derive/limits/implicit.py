"""The solution t of f(t; e) = 0, expanded in e -> 0+: its leading term, then Newton's iteration.

Which solution it is: of a polynomial P(A; e), monic, the largest real root. In B, A = B e^-m, let
its coefficients have limits and be B^n - b at e = 0, b > 0 or n odd, b < 0. The largest real root
b^(1/n) of that is simple, so one root of P tends to it; a real root near another root of the limit
has a smaller real limit. Of h(z; e) = beta, with h increasing on an interval, the only one. Let T
be a term of h, and z_m solve T(z_m) = m; where h(z_m) = m + O(e^r), r > 0, for every m near beta,
z_m inside the interval, z is z_m with some m = beta + O(e^r). So it is for all that Newton's
iteration makes of z_m. Where h tends to a limit at every z, which increases as h does, its inverse
converges with it, and a parametric Q, beta = h(z), dQ/dbeta = mu(z), to that of the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count

import sympy
from sympy import Expr, Symbol

from derive.exact.asymptotics import (
    CONSTANT,
    FLAT,
    SMALL,
    Deep,
    Expander,
    Expansion,
    Growth,
    NotReal,
    Unexpanded,
    widened,
    written,
)
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.limit import Limit, LimitingPotential, Point, growth_expression
from derive.potential.piece import Curve, Piece, written_out
from derive.verdict import Finding, Identity, Verdict

_STEPS = 6


def improved(
    f: Expr, t: Symbol, root: Expansion, expander: Expander
) -> tuple[Expansion, Expansion]:
    """Return what Newton's iteration makes of t, a sum that is taken as exact, and f there.

    Each step doubles the order of f, up to the span of the expander; none is made that has no
    expansion. Unexpanded: f does not tend to 0.
    """
    slope, root = f.diff(t), Expansion(root.terms, None)
    for step in count():
        at = expander.knowing({t: root})
        value = at.expand(f)
        if not value.reaches(CONSTANT) or any(r <= 0 for r, _ in value.terms):
            raise Unexpanded("an equation is not solved by its leading term")
        # With depths the orders that Newton's iteration reaches are not compared with the span.
        deep = value.terms and isinstance(value.leading[0], Deep)
        if deep or not value.terms or value.leading[0] >= expander.span or step == _STEPS:
            break
        try:
            scale, move = at.expand(slope).leading[0], at.expand(-f / slope)
        except Undecided:
            break
        root = at.add(root, move).below(expander.span - scale)
    return root, value


def expand_largest_root(
    polynomial: Expr, symbol: Symbol, decide: ElementarySigns, span: Fraction
) -> Expansion:
    """Return the expansion of the largest real root of a multiple of P, or raise Undecided."""
    whole, expander = sympy.Poly(polynomial, symbol), Expander(SMALL, decide, span)
    if not whole.LC().is_Rational:
        raise Unexpanded("the leading coefficient of the polynomial of a root is no number")
    n, last = whole.degree(), expander.expand(whole.TC() / whole.LC())
    if not last.terms:
        raise Unexpanded("the roots of a polynomial meet in the limit")
    m = -last.leading[0] / n
    power = SMALL ** written(m)
    whole = sympy.Poly(sympy.expand(polynomial.subs(symbol, symbol / power) * power**n), symbol)
    whole = sympy.Poly(whole.as_expr() / whole.LC(), symbol)
    *limits, b = (expander.expand(c).limit for c in whole.all_coeffs()[1:])
    side = decide.sign(-b)
    if any(not decide.is_zero(c) for c in limits) or (side < 0 and n % 2 == 0):
        raise Unexpanded("the roots of a polynomial do not separate in the limit")
    first = side * sympy.factor(-side * b) ** sympy.Rational(1, n)
    B, value = improved(whole.as_expr(), symbol, Expansion({CONSTANT: first}, None), expander)
    # The root is simple: it is as near as P is small.
    order = value.leading[0] if value.terms else value.order
    terms = {(r - m, k): c for (r, k), c in B.terms.items()}
    return Expansion(terms, None if order is None else order - m)


def largest_roots(pieces: Sequence[Piece]) -> tuple[tuple[Symbol, Expr], ...] | None:
    """Return the polynomials of roots without formula; None where one is not the largest root."""
    named = [(r, piece.constants) for piece in pieces for r in piece.roots if r.explicit is None]
    if any(root.from_above != 0 for root, _ in named):
        return None
    return tuple((r.symbol, written_out(r.polynomial, (), values)) for r, values in named)


def expand_along(
    curve: Curve, slope: Expr, beta: Expr, expander: Expander, decide: ElementarySigns
) -> Expansion:
    """Return mu at h(z) = beta; NotReal where h does not take this sign.

    Args:
        curve: h, in the small parameter; terms c (a + b z)^q or c exp(b z) may decide.
        slope: mu, likewise.
        beta: m or -m, m a positive symbol.
        expander: expands in the small parameter.
        decide: signs of coefficients.
    """
    z = curve.parameter
    terms = sympy.Add.make_args(sympy.expand_mul(curve.beta, deep=False))
    whole = bool(curve.interval) and all(end.is_infinite for end in curve.interval)
    bases = [] if whole else _bases(terms, z)

    def positive(f: Expr, expander: Expander) -> bool:
        return decide.sign(expander.expand(f).first) > 0

    def inside(place: Expansion) -> Expander:
        at = expander.knowing({z: place})
        if not all(positive(base, at) for base in bases):
            raise Unexpanded("beyond the interval of z")
        return at

    inside(Expansion({}, None))  # z = 0 is the start
    failure: Undecided = NotReal("h has the other sign")
    for term in terms:
        try:
            coefficient, part = term.as_independent(z, as_Add=False)
            side = 1 if positive(coefficient, expander) == beta.is_positive else -1
            if side < 0 and _is_positive(part, z, bases):
                continue
            first = expander.expand(_solved(part, z, side, beta / coefficient))
            inside(first)
            root, gap = improved(curve.beta - beta, z, first, expander)
            return inside(_up_to(root, gap, beta)).expand(slope)
        except Undecided as fault:
            failure = Unexpanded(str(fault)) if isinstance(fault, NotReal) else fault
    raise failure


def _bases(terms: Iterable[Expr], z: Symbol) -> list[Expr]:
    """Return the bases of powers, linear in z; the interval of z ends where one is 0."""
    factors = (x.as_base_exp()[0] for term in terms for x in sympy.Mul.make_args(term))
    bases = sorted({base for base in factors if base.has(z)}, key=str)
    if any(base.diff(z).has(z) for base in bases):
        raise Unexpanded("h has terms that are no powers and no exponentials")
    return bases


def _is_positive(part: Expr, z: Symbol, bases: Sequence[Expr]) -> bool:
    """Tell whether an exponential or a power in z is positive at every z."""
    base, exponent = part.as_base_exp()
    return bool(not base.has(z) or base in bases or exponent.is_even)


def _solved(part: Expr, z: Symbol, side: int, value: Expr) -> Expr:
    """Return z at which an exponential, or a power of a base with this sign, has a value."""
    base, exponent = part.as_base_exp()
    if base.has(z):
        inner, at = base, side * (side * value) ** sympy.cancel(1 / exponent)
    else:
        inner, at = exponent, sympy.log(value) / sympy.log(base)
    rate = inner.diff(z)
    if rate == 0 or rate.has(z) or (base.has(z) and exponent.has(z)):
        raise Unexpanded("a term that is no power and no exponential")
    return (at - inner.subs(z, 0)) / rate


def _up_to(z: Expansion, gap: Expansion, beta: Expr) -> Expansion:
    """Return z up to what h = beta + gap leaves open."""
    orders = [r for r, _ in gap.terms] + ([] if gap.order is None else [gap.order])
    moving = [r for (r, _), c in z.terms.items() if c.has(*beta.free_symbols)]
    if not orders or not moving:
        return z
    order = min(orders) + min(moving)
    return z.below(order, order)


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
