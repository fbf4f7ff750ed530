"""How far a function of one variable is proved positive between two points."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_poly
from sympy import Expr

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.rationals import as_fmpq, roots_of
from derive.language import to_sympy
from derive.univariate.formulas import Formula, Value

NOWHERE, TOUCHING, OPEN, CLOSED, POLE = range(5)
"""How far a function is positive: not; but for single zeros; inside; with its ends. Or != 0."""
End: TypeAlias = Fraction | None


def positivity(formula: Formula, low: End, high: End) -> int:
    """Return how far a function is proved positive between two points, infinite where None.

    >>> from derive.univariate.formulas import read_piecewise
    >>> positivity(read_piecewise("x**2", "").formulas[0], None, None) == TOUCHING
    True
    """
    if formula.polynomial is not None:
        return _of_polynomial(formula.polynomial, low, high)
    t = sympy.Symbol("t")
    expression = to_sympy(formula.tree)
    ends = [e for e in (low, high) if e is not None]
    shift: Expr = t if not ends else sympy.Rational(ends[0].numerator, ends[0].denominator)
    if ends:
        shift = shift + (t if low is not None else -t)
    moved = expression.xreplace(dict.fromkeys(expression.free_symbols, shift))
    try:
        if not ElementarySigns(["t"] if ends else []).is_positive(moved):
            return NOWHERE
    except Undecided:
        return NOWHERE
    return CLOSED if all(formula.on_balls(acb(as_fmpq(e))).real > 0 for e in ends) else OPEN


def _of_polynomial(p: fmpq_poly, low: End, high: End) -> int:
    if p.degree() < 1:
        return CLOSED if p[0] > 0 else NOWHERE
    ends = [as_fmpq(e) for e in (low, high) if e is not None]
    roots = _roots_apart(p, [e for e in ends if p(e) != 0])
    left = arb(as_fmpq(low)) if low is not None else _beyond([*roots, *ends], -1)
    right = arb(as_fmpq(high)) if high is not None else _beyond([*roots, *ends], 1)
    inside = [r for r in roots if r > left and r < right]
    samples = [p(as_fmpq(_middle(a, b))) for a, b in pairwise([left, *inside, right])]
    if any(value <= 0 for value in samples):
        return NOWHERE
    return TOUCHING if inside else CLOSED if all(p(e) != 0 for e in ends) else OPEN


def _roots_apart(p: fmpq_poly, points: list[fmpq]) -> list[arb]:
    """Return the real roots in balls that hold none of some points that are no roots."""
    bits = ctx.prec
    while True:
        with ctx.workprec(bits):
            roots = roots_of(p)
            if not any(r.overlaps(arb(e)) for r in roots for e in points):
                return roots
        bits *= 2


def _beyond(points: list[Value], side: int) -> arb:
    """Return a number below or above all of some points."""
    return arb(0) + side * sum((abs(arb(x)).abs_upper() for x in points), arb(1))


def _middle(a: arb, b: arb) -> Fraction:
    mantissa, exponent = ((a + b) / 2).mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
