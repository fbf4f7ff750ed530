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
    return _at_number(curve, end, decide)


def _at_number(curve: Curve, end: Expr, decide: ElementarySigns) -> Expr:
    z, h = curve.parameter, curve.beta
    weights = [weight for _, weight in curve.weights]
    images = {
        node: image
        for node in set[Expr]().union(*(x.atoms(sympy.Pow, sympy.log) for x in (h, *weights)))
        if node.has(z) and (image := _image(node, z, end, decide)) is not None
    }
    infinite = [x for x, image in images.items() if image is INFINITE]
    if not infinite:
        return h.xreplace(images).subs(z, end)
    if any(_is_product(x, infinite, images) for x in (h, *weights)):
        return INFINITE
    raise Undecided("what is infinite may cancel")


def _image(node: Expr, z: Symbol, end: Expr, decide: ElementarySigns) -> Expr | None:
    """Return what a power or a logarithm tends to where its inside vanishes; None elsewhere."""
    inner = node.args[0]
    if (node.is_Pow and node.exp.has(z)) or not decide.is_zero(inner.subs(z, end)):
        return None
    return _power_of_zero(node.exp) if node.is_Pow else INFINITE


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
    orders: dict[tuple[Expr, Expr], list[Expr]] = {}
    for term in sympy.Add.make_args(h):
        orders.setdefault(_order(term, z, side, decide), []).append(term)
    top, constant = max(orders), (sympy.S.Zero, sympy.S.Zero)
    if top > constant:
        (leading, *others) = orders[top]
        if others or decide.is_zero(leading.as_independent(z, as_Add=False)[0]):
            raise Undecided("terms that may cancel")
        return INFINITE
    limit = sympy.Add(*orders.get(constant, ()))
    if limit.has(z):
        raise Undecided("a limit that is no value")
    return limit


def _order(term: Expr, z: Symbol, side: int, decide: ElementarySigns) -> tuple[Expr, Expr]:
    """Return (k, n) for a term that grows as e^(k |z|) |z|^n."""
    rate, power = sympy.S.Zero, sympy.S.Zero
    for factor in sympy.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if isinstance(factor, sympy.exp):
            rate += side * sympy.diff(factor.args[0], z)
        elif base.is_polynomial(z) and not exponent.has(z):
            leading = sympy.Poly(base, z).LC()
            if decide.is_zero(leading):
                raise Undecided("the order of a term")
            power += exponent * sympy.degree(base, z)
        else:
            raise Undecided("a term of another kind")
    if not (rate.is_Rational and power.is_Rational):
        raise Undecided("the order of a term")
    return rate, power
