"""How a slope dQ/dx of one coordinate grows as x -> +-infinity, by exact expansions in e = 1/|x|.

A slope that is a formula is expanded, with the largest real roots of polynomials in it, or the
solution z of h(z) = x; of one that is an integral its derivative 1/K is expanded, and integrated
term by term.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import (
    CONSTANT,
    SMALL,
    Expander,
    Expansion,
    Growth,
    Unexpanded,
    leading_order,
    widened,
)
from derive.limits.exponents import above_two, depths_in
from derive.limits.implicit import expand_along, expand_largest_root
from derive.potential.piece import Curve
from derive.verdict import Finding, Verdict


@dataclass(frozen=True)
class Slope:
    """dQ/dx as a function of x and the start.

    Attributes:
        entry: the formula; in z where a curve x = h(z) is given; an integral where *kernel* is.
        roots: symbols in it that are the largest real root of a polynomial.
        positive: names of start symbols that are positive.
        kernel: K with dQ/dx = int dx/K.
    """

    entry: Expr
    variable: Symbol
    roots: tuple[tuple[Symbol, Expr], ...] = ()
    positive: frozenset[str] = frozenset()
    curve: Curve | None = None
    kernel: Expr | None = None


@dataclass(frozen=True)
class End:
    """What a slope does as side * x -> infinity: dQ/dx = N(|x|) (value + o(1)).

    Attributes:
        finding: PROVED where it is unbounded, REFUTED where it is bounded.
        growth: (r, -k) of N = |x|^-r log(|x|)^k; None where only the finding is known.
        value: the limit of the slope over N; of a bounded slope its limit, where known.
    """

    side: int
    finding: Finding
    growth: Growth | None = None
    value: Expr | None = None


def find_end(slope: Slope, side: int) -> End:
    """Return what a slope does on one side, +1 or -1."""
    try:
        if not slope.entry.has(sympy.Integral):
            return _concluded(side, *_leading(slope, slope.entry, side))
        if slope.kernel is not None:
            return _integrated(side, *_leading(slope, 1 / slope.kernel, side))
    except Undecided as open_end:
        curve = slope.curve
        if curve is None or any(end.is_infinite for end in curve.interval):
            return End(side, Finding(Verdict.UNDECIDED, str(open_end)))
        if slope.entry.is_polynomial(curve.parameter):
            return End(side, Finding(Verdict.REFUTED, "`z` ends at numbers"))
    return End(side, Finding(Verdict.UNDECIDED, "the gradient of `Q` is an integral"))


def _along_curve(slope: Slope, curve: Curve, side: int, span: Fraction) -> Expansion:
    """Return the slope where e h(z) = side m, at m = 1; in depths D their x = D - 2 > 0."""
    m, above = Symbol("size_", positive=True), above_two(depths_in(curve.beta))
    back = {image - 2: D - 2 for D, image in above.items()}
    decide = ElementarySigns(
        {*slope.positive, m.name, *(x.name for x in back)}, parameters=[x.name for x in back]
    )
    scaled = replace(curve, beta=(SMALL * curve.beta).xreplace(above))
    expander = Expander(SMALL, decide, span)
    found = expand_along(scaled, slope.entry.xreplace(above), side * m, expander, decide)
    terms = {growth: sympy.factor(c.subs(m, 1).xreplace(back)) for growth, c in found.terms.items()}
    return Expansion(terms, found.order)


def _concluded(side: int, growth: Growth, value: Expr | None) -> End:
    if growth < CONSTANT:
        return End(side, Finding(Verdict.PROVED, "exact expansion of `grad Q`"), growth, value)
    limit = sympy.S.Zero if growth > CONSTANT else value
    return End(side, Finding(Verdict.REFUTED, "exact expansion of `grad Q`"), growth, limit)


def _integrated(side: int, growth: Growth, value: Expr) -> End:
    """Return the end of int value |x|^-r log^k |x| d|x|, from that of its integrand."""
    r, j = growth
    if r > 1:
        return End(side, Finding(Verdict.REFUTED, "`1/K` is integrable at infinity"))
    if r < 1:
        return _concluded(side, (r - 1, j), value * side / (1 - sympy.Rational(r)))
    if j > 0:
        raise Unexpanded("an inverse power of a logarithm")
    return _concluded(side, (r - 1, j - 1), side * value / (1 - j))


def _leading(slope: Slope, f: Expr, side: int) -> tuple[Growth, Expr]:
    """Return the growth and the coefficient of the leading term of f at side/e, e -> 0."""
    decide = ElementarySigns(slope.positive)

    def at_end(g: Expr) -> Expr:
        return sympy.powdenest(g.subs(slope.variable, side / SMALL))

    def leading(span: Fraction) -> tuple[Growth, list[Expr]]:
        if slope.curve is not None:
            return leading_order([_along_curve(slope, slope.curve, side, span)])
        roots = ((A, at_end(P)) for A, P in slope.roots if f.has(A))
        known = {A: expand_largest_root(P, A, decide, span) for A, P in roots}
        return leading_order([Expander(SMALL, decide, span, known).expand(at_end(f))])

    # e^r log(e)^k is e^r log(1/e)^k up to a sign.
    growth, (value,) = widened(leading)
    return growth, (-1) ** (growth[1] % 2) * value
