"""The solution t of f(t; e) = 0, expanded in e -> 0+: its leading term, then Newton's iteration.

Which solution it is: of a polynomial P(A; e), monic, the largest real root. In B, A = B e^-m, let
its coefficients have limits and be B^n - b at e = 0, b > 0 or n odd, b < 0. The largest real root
b^(1/n) of that is simple, so one root of P tends to it; a real root near another root of the limit
has a smaller real limit. Of h(z; e) = beta, with h increasing on an interval, the only one. Let T
be a term of h, and z_m solve T(z_m) = m; where h(z_m) = m + O(e^r), r > 0, for every m near beta,
z_m inside the interval, z is z_m with some m = beta + O(e^r). So it is for all that Newton's
iteration makes of z_m.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import count

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import CONSTANT, SMALL, Expander, Expansion, NotReal, Unexpanded
from derive.limits.exponents import Deep, written
from derive.potential.piece import Curve

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
    *limits, b = (_limit(expander.expand(c)) for c in whole.all_coeffs()[1:])
    side = decide.sign(-b)
    if any(not decide.is_zero(c) for c in limits) or (side < 0 and n % 2 == 0):
        raise Unexpanded("the roots of a polynomial do not separate in the limit")
    first = side * sympy.factor(-side * b) ** sympy.Rational(1, n)
    B, value = improved(whole.as_expr(), symbol, Expansion({CONSTANT: first}, None), expander)
    # The root is simple: it is as near as P is small.
    order = value.leading[0] if value.terms else value.order
    terms = {(r - m, k): c for (r, k), c in B.terms.items()}
    return Expansion(terms, None if order is None else order - m)


def _limit(x: Expansion) -> Expr:
    """Return the value at e = 0; Unexpanded where there is none."""
    if any(g < CONSTANT for g in x.terms) or not x.reaches(CONSTANT):
        raise Unexpanded("a coefficient of a polynomial has no limit")
    return x.coefficient(CONSTANT)


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
    bases = _bases(terms, z)

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
            if positive(term.as_independent(z, as_Add=False)[0], expander) != beta.is_positive:
                continue
            first = expander.expand(_solved(term, z, beta))
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


def _solved(term: Expr, z: Symbol, beta: Expr) -> Expr:
    """Return z at which a term is beta."""
    coefficient, part = term.as_independent(z, as_Add=False)
    base, exponent = part.as_base_exp()
    inner, value = exponent, sympy.log(beta / coefficient) / sympy.log(base)
    if base.has(z):
        inner, value = base, (beta / coefficient) ** sympy.cancel(1 / exponent)
    rate = inner.diff(z)
    if rate == 0 or rate.has(z) or (base.has(z) and exponent.has(z)):
        raise Unexpanded("a term that is no power and no exponential")
    return (value - inner.subs(z, 0)) / rate


def _up_to(z: Expansion, gap: Expansion, beta: Expr) -> Expansion:
    """Return z up to what h = beta + gap leaves open."""
    orders = [r for r, _ in gap.terms] + ([] if gap.order is None else [gap.order])
    moving = [r for (r, _), c in z.terms.items() if c.has(*beta.free_symbols)]
    if not orders or not moving:
        return z
    order = min(orders) + min(moving)
    return z.below(order, order)
