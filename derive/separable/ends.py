"""How a slope dQ/dx of one coordinate grows as x -> +-infinity, by exact expansions in e = 1/|x|.

A slope that is a formula is expanded, with the largest real roots of polynomials in it; one along a
curve x = h(z) is bounded where z ends at a number, as it is linear in z; of one that is an integral
its derivative 1/K is expanded, and integrated term by term.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, OpenSign, Undecided
from derive.limits.asymptotics import (
    CONSTANT,
    SMALL,
    Expander,
    Growth,
    Unexpanded,
    leading_order,
    widened,
)
from derive.limits.implicit import expand_largest_root
from derive.limits.parametric_limit import ABOVE_TWO, signs_of
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
        if slope.curve is not None:
            return _along_curve(slope.entry, slope.curve, side)
        if not slope.entry.has(sympy.Integral):
            return _concluded(side, *_leading(slope, slope.entry, side))
        if slope.kernel is not None:
            return _integrated(side, *_leading(slope, 1 / slope.kernel, side))
    except Undecided as open_end:
        return End(side, Finding(Verdict.UNDECIDED, str(open_end)))
    return End(side, Finding(Verdict.UNDECIDED, "the gradient of `Q` is an integral"))


def _along_curve(entry: Expr, curve: Curve, side: int) -> End:
    """Return the end of a slope that is linear in z: it is bounded where z ends at a number."""
    z, assumed = curve.parameter, depths_of(curve)
    rate = entry.diff(z)
    if rate.has(z):
        raise Unexpanded("the slope is not linear in the parameter of the curve")
    deep = rate.xreplace(dict.fromkeys(assumed, 2 + ABOVE_TWO))
    try:
        end = curve.interval[signs_of(deep).sign(deep) == side]
    except OpenSign:
        if any(end.is_infinite for end in curve.interval):
            raise
        return End(side, Finding(Verdict.REFUTED, "`z` ends at numbers"))
    if end in (sympy.oo, -sympy.oo):
        return _unbounded(entry, curve, side, 1 if end == sympy.oo else -1)
    return _concluded(side, CONSTANT, entry.subs(z, end))


def depths_of(curve: Curve) -> set[Symbol]:
    """Return the symbols of exponents along a curve, such as D, which are taken to be above 2."""
    powers = curve.beta.atoms(sympy.Pow)
    return {s for x in powers for s in x.exp.free_symbols} - {curve.parameter}


def _unbounded(entry: Expr, curve: Curve, side: int, toward: int) -> End:
    """Return the end of a slope where z has none: h grows like an exponential or a power of z."""
    z, decide = curve.parameter, signs_of(curve.beta)
    finding = Finding(Verdict.PROVED, "`mu` is linear in `z`, which has no end")
    rate = toward * entry.diff(z)
    try:
        k, _ = _order(curve.beta.subs(z, toward * sympy.log(1 / SMALL)), decide)
        if k > 0:
            value = rate * k.denominator / k.numerator
            return End(side, finding, (Fraction(0), -1), value)
        n, c = _order(curve.beta.subs(z, toward / SMALL), decide)
        value = rate * (side * c) ** -sympy.Rational(n.denominator, n.numerator)
        return End(side, finding, (-1 / n, 0), value)
    except Undecided:
        return End(side, finding)


def _order(h: Expr, decide: ElementarySigns) -> tuple[Fraction, Expr]:
    """Return n and c of h = c e^-n (1 + o(1))."""
    found = Expander(SMALL, decide, Fraction(1)).expand(sympy.powdenest(h))
    if found.leading[1] or not found.reaches(found.leading):
        raise Unexpanded("no power alone")
    return -found.leading[0], found.first


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
        roots = ((A, at_end(P)) for A, P in slope.roots if f.has(A))
        known = {A: expand_largest_root(P, A, decide, span) for A, P in roots}
        return leading_order([Expander(SMALL, decide, span, known).expand(at_end(f))])

    # e^r log(e)^k is e^r log(1/e)^k up to a sign.
    growth, (value,) = widened(leading)
    return growth, (-1) ** (growth[1] % 2) * value
