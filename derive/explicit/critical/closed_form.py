"""One root of the critical polynomial in radicals, where its degree or shape allows."""

from __future__ import annotations

import sympy
from sympy import Expr, Symbol

from derive.explicit.critical.intervals import RootInterval


def closed_form(equation: Expr, r: Symbol, b: Symbol, interval: RootInterval | None) -> Expr | None:
    """Return a root of equation = 0 as a function of b, or None.

    For a r^n + c the minimum is (-c/a)^(1/n), since it is not negative; for degree 2 the interval
    says which sign the root of the discriminant has.
    """
    polynomial = sympy.Poly(equation, r)
    coefficients = polynomial.all_coeffs()
    degree = polynomial.degree()
    if not any(coefficients[1:-1]):
        radicand = sympy.factor(-coefficients[-1] / coefficients[0])
        return sympy.root(radicand, degree)
    if interval is None or degree != 2 or interval.roots != 2:
        return None
    A, B, C = coefficients
    signs = {sympy.sign(A.subs(b, sympy.Rational(str(x)))) for x in interval.samples}
    if len(signs) != 1:
        return None
    (sign,) = signs
    # A root of a x^2 + ... with a < 0 is smaller for the plus sign.
    side = sign if interval.index else -sign
    discriminant = sympy.sqrt(sympy.factor(B**2 - 4 * A * C))
    return sympy.expand((-B + side * discriminant) / (2 * A))
