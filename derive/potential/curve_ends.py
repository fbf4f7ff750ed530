"""Which beta a curve beta = h(z) reaches on its open interval of z: the limits of h at its ends.

h is monotone. Where z ends at a number and some weight is infinite there, beta is too: the way
of the weights, of length int sqrt(K) dmu, is at most sqrt(int dmu int dbeta), by the
Cauchy-Schwarz inequality. Otherwise the limit is a value of h. Where z is unbounded, the term of
the highest order decides, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.model.notation import Notation
from derive.potential.domain import Domain, Wall
from derive.potential.piece import Curve, Parametric

INFINITE = sympy.zoo


def along_curve(piece: Parametric, notation: Notation) -> Domain:
    """Return the domain of a parametric Q, in beta where the limits of h are known."""
    curve, (beta,) = piece.curve, piece.betas
    interval = (curve.parameter, *curve.interval)
    decide = ElementarySigns(notation.positive, parameters=notation.parameterization.parameters)
    try:
        limits = [_limit(curve, end, decide) for end in curve.interval]
        finite = [limit for limit in limits if limit is not INFINITE]
        start = curve.beta.subs(curve.parameter, 0)
        walls = tuple(_wall(beta, sympy.factor_terms(x), start, decide) for x in finite)
    except Undecided:
        return Domain(piece.betas, "slope", undecided=("curve",), interval=interval)
    return Domain(piece.betas, "slope", walls, interval=interval)


def _wall(beta: Symbol, end: Expr, start: Expr, decide: ElementarySigns) -> Wall:
    try:
        sign = decide.sign(start - end)
    except Undecided:
        return Wall(beta - end, oriented=False)
    return Wall(sign * (beta - end), oriented=True)


def _limit(curve: Curve, end: Expr, decide: ElementarySigns) -> Expr:
    """Return the limit of h at an end of its interval, INFINITE for either sign."""
    z, h = curve.parameter, curve.beta
    if end in (sympy.oo, -sympy.oo):
        return _far(sympy.expand(h), z, 1 if end == sympy.oo else -1, decide)
    if end.has(sympy.Min, sympy.Max):
        raise Undecided("which of several ends is the nearest")
    nodes = {x for x in h.atoms(sympy.Pow, sympy.log) if x.has(z)}
    for _, weight in curve.weights:
        nodes |= {x for x in weight.atoms(sympy.Pow, sympy.log) if x.has(z)}
    images: dict[Expr, Expr] = {}
    for node in nodes:
        if node.exp.has(z) if node.is_Pow else False:
            continue
        inner = node.base if node.is_Pow else node.args[0]
        if decide.is_zero(inner.subs(z, end)):
            images[node] = INFINITE if not node.is_Pow else _power_of_zero(node.exp)
    infinite = [x for x, image in images.items() if image is INFINITE]
    if infinite:
        alone = any(_is_product(w, infinite, images) for _, w in curve.weights)
        if alone or _is_product(h, infinite, images):
            return INFINITE
        raise Undecided("what is infinite may cancel")
    return h.xreplace(images).subs(z, end)


def _power_of_zero(exponent: Expr) -> Expr:
    if exponent.is_positive:
        return sympy.S.Zero
    if exponent.is_negative:
        return INFINITE
    raise Undecided(f"the sign of {exponent}")


def _is_product(expression: Expr, infinite: Iterable[Expr], images: dict[Expr, Expr]) -> bool:
    """Tell whether an expression is a product of one infinite factor with finite ones, not 0."""
    factors = sympy.Mul.make_args(expression)
    found = [x for x in factors if x in infinite]
    rest = [x for x in factors if x not in infinite]
    return len(found) == 1 and not any(x.has(node) for x in rest for node in images)


def _far(h: Expr, z: Symbol, side: int, decide: ElementarySigns) -> Expr:
    """Return the limit of a sum of terms c z^n e^(k z) prod (a + b z)^m as z -> side oo."""
    orders: dict[tuple[Expr, Expr], Expr] = {}
    for term in sympy.Add.make_args(h):
        coefficient, moving = term.as_independent(z, as_Add=False)
        rate, power = sympy.S.Zero, sympy.S.Zero
        for factor in sympy.Mul.make_args(moving):
            base, exponent = factor.as_base_exp()
            if base == sympy.E or isinstance(factor, sympy.exp):
                rate += side * sympy.diff(factor.exp, z)
            elif not exponent.has(z) and base.is_polynomial(z):
                leading = sympy.Poly(base, z).LC()
                if decide.sign(leading) == 0:
                    raise Undecided("the order of a term")
                power += exponent * sympy.degree(base, z)
            elif moving != 1:
                raise Undecided("a term of another kind")
        key = (rate, power)
        if not all(x.is_Rational for x in key):
            raise Undecided("the order of a term")
        orders[key] = orders.get(key, sympy.S.Zero) + (coefficient if key == (0, 0) else term)
    top = max(orders)
    if top > (0, 0):
        coefficient, _ = orders[top].as_independent(z, as_Add=False)
        if orders[top].is_Add or decide.sign(coefficient) == 0:
            raise Undecided("terms that may cancel")
        return INFINITE
    limit = orders.get((sympy.S.Zero, sympy.S.Zero), sympy.S.Zero)
    if limit.has(z):
        raise Undecided("a limit that is no value")
    return limit
