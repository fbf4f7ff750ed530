"""The gradient mu of a parametric Q, beta = h(z), expanded at fixed beta: one term of h decides.

Let T be a term of h, and z_m solve T(z_m) = m. Where h(z_m) = m + O(e^r) for every m near beta, z_m
being inside the interval of z on which h increases, h takes the value beta at z_m with some m =
beta + O(e^r). There mu(z_m) is expanded in e, and what depends on m is known up to O(e^r).
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.potential.piece import Curve
from derive.regimes.asymptotics import CONSTANT, Expander, Expansion, NotReal, Unexpanded


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

    def positive(f: Expr) -> bool:
        x = expander.expand(f)
        return decide.sign(x.terms[x.leading]) > 0

    if not all(positive(base.xreplace({z: sympy.S.Zero})) for base in bases):
        raise Unexpanded("a base is not positive at the start")
    failure: Undecided = NotReal("h has the other sign")
    for term in terms:
        try:
            if positive(term.as_independent(z, as_Add=False)[0]) != beta.is_positive:
                continue
            at = {z: _solved(term, z, beta)}
            if not all(positive(base.xreplace(at)) for base in bases):
                raise Unexpanded("beyond the interval of z")
            return _near(curve.beta.xreplace(at), slope.xreplace(at), beta, expander)
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
        if not exponent.is_Rational:
            raise Unexpanded("a symbolic power")
        inner, value = base, (beta / coefficient) ** (1 / exponent)
    rate = inner.diff(z)
    if rate == 0 or rate.has(z) or (base.has(z) and exponent.has(z)):
        raise Unexpanded("a term that is no power and no exponential")
    return (value - inner.subs(z, 0)) / rate


def _near(h: Expr, mu: Expr, beta: Expr, expander: Expander) -> Expansion:
    """Return mu up to what h = beta + O(e^r) leaves open."""
    gap = expander.add(expander.expand(h), Expansion({CONSTANT: -beta}, None))
    found = expander.expand(mu)
    if gap.is_zero:
        return found
    orders = [r for r, _ in gap.terms] + ([] if gap.order is None else [gap.order])
    if min(orders) <= 0:
        raise Unexpanded("h does not tend to beta")
    moving = [r for (r, _), c in found.terms.items() if c.has(*beta.free_symbols)]
    moving += [] if found.order is None else [found.order]
    if not moving:
        return found
    order = min(moving) + min(orders)
    order = order if found.order is None else min(order, found.order)
    return Expansion({g: c for g, c in found.terms.items() if g[0] < order}, order)
