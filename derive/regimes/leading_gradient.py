"""The leading order of grad Q on either side of 0 of each coordinate that has an entry of its own.

Where the leading order vanishes on one side of a coordinate and Q rises on the other, the limit is
decided at a lower order: there Q/N tends to a function on the first side, and to infinity on the
second. Convex functions that converge inside the domain of their limit, and to infinity outside of
its closure, have minimizers that converge, whatever happens at the boundary (Rockafellar & Wets
1998, theorems 7.17 and 7.33).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.potential.domain import Wall
from derive.potential.piece import Curve
from derive.regimes.along_curve import expand_along
from derive.regimes.asymptotics import Expander, Expansion, Growth, NotReal, Unexpanded
from derive.regimes.largest_root import expand_largest_root
from derive.regimes.point import Point

SPANS = (1, 2, 4, 8)
"""Powers of the small parameter, beyond the leading one, to which expansions are tried."""


@dataclass(frozen=True)
class ClosedGradient:
    """grad Q in closed form, and what is known of its symbols.

    Attributes:
        entries: d expressions in the coordinates and start symbols.
        coordinates: the d betas, or others in which Q is a sum.
        single: for each, whether its entry depends on it alone.
        positive: start symbols that are positive.
        roots: symbols in the entries that stand for the largest real root of a polynomial.
        walls: of the domain of Q, in the coordinates, and beta_0 in them; none by default.
        curves: for each coordinate, the curve that it is given by, where its entry is in z.
        spare: names for coordinates of the opposite sign; those that they have by default.
        origin, signs: beta = origin + sign * coordinate, where it is not the coordinate itself.
    """

    entries: tuple[Expr, ...]
    coordinates: tuple[Symbol, ...]
    single: tuple[bool, ...]
    positive: frozenset[str]
    roots: tuple[tuple[Symbol, Expr], ...] = ()
    walls: tuple[Wall, ...] = ()
    start: tuple[Expr, ...] = ()
    curves: tuple[Curve | None, ...] = ()
    spare: tuple[Symbol, ...] = ()
    origin: tuple[Expr, ...] = ()
    signs: tuple[int, ...] = ()

    def moved(self, origin: Sequence[Expr], signs: Sequence[int]) -> ClosedGradient:
        """Return the gradient in x, coordinate = origin + sign * x."""
        x = self.spare or self.coordinates
        places = [c + s * y for c, s, y in zip(origin, signs, x, strict=True)]
        images = dict(zip(self.coordinates, places, strict=True))
        slopes = zip(signs, self.entries, strict=True)
        before = self.signs or (1,) * len(x)
        curves = tuple(
            curve and replace(curve, beta=s * (curve.beta - c))
            for curve, c, s in zip(self.curves, origin, signs, strict=False)
        )
        shifted = zip(self.origin or (sympy.S.Zero,) * len(x), before, origin, strict=True)
        return replace(
            self,
            entries=tuple(s * g.subs(images, simultaneous=True) for s, g in slopes),
            roots=tuple((A, P.subs(images, simultaneous=True)) for A, P in self.roots),
            coordinates=x,
            walls=tuple(
                replace(w, form=w.form.subs(images, simultaneous=True)) for w in self.walls
            ),
            start=tuple(s * (b - c) for b, c, s in zip(self.start, origin, signs, strict=False)),
            curves=curves,
            origin=tuple(a + s * c for a, s, c in shifted),
            signs=tuple(s * t for s, t in zip(before, signs, strict=True)),
        )

    def expand(self, point: Point) -> LeadingGradient:
        """Return the leading order as a start symbol tends to *point*; Undecided where unknown."""
        found, failure = None, Undecided("no expansion")
        sides = _Sides(self, point)
        for span in SPANS:
            try:
                found = sides.leading(Fraction(span))
            except Undecided as open_end:
                if found is not None:
                    break
                failure = open_end
                continue
            if found.sharp:
                break
        if found is None:
            raise failure
        return found


@dataclass(frozen=True)
class Steep:
    """Where Q/N tends to infinity: on a side of a coordinate, dQ/dx = e^r |log e|^k (c + o(1))."""

    index: int
    side: int
    growth: Growth
    slope: Expr


@dataclass(frozen=True)
class LeadingGradient:
    """grad Q = e^r |log e|^k (G + O(error)), one G for each sign of a coordinate that has its own.

    Attributes:
        growth: (r, -k).
        above: G_i in the coordinates, those of single outputs positive; None where Q is not
            defined there, or steep.
        below: G_i with those of single outputs in place of their negatives, or None as above; the
            same where outputs are coupled.
        error: the growth of the largest term left out, over that of the leading one; None where
            nothing is left out.
        sharp: whether that term is known, rather than a bound.
        second: its coefficients beside G, as above; empty where it is not known.
        steep: the sides left out because Q/N tends to infinity there.
        idle: why the leading order decides no minimizer; empty where it does.
    """

    growth: Growth
    above: tuple[Expr | None, ...]
    below: tuple[Expr | None, ...]
    error: Growth | None
    sharp: bool
    second: tuple[Expr | None, ...] = ()
    steep: tuple[Steep, ...] = ()
    idle: str = ""


class _Sides:
    """A gradient on either side of 0 of each coordinate that has an entry of its own."""

    def __init__(self, gradient: ClosedGradient, point: Point) -> None:
        self.gradient, self.point = gradient, point
        self.e = Symbol("e_", positive=True)
        pairs = list(zip(gradient.coordinates, gradient.single, strict=True))
        self.signed = {b for b, alone in pairs if alone}
        self.magnitudes = {b: Symbol(b.name, positive=True) if alone else b for b, alone in pairs}
        # In the length of beta the roots of equivariant models have short coefficients.
        self.length = Symbol("length_", positive=True)
        self.norm = sympy.sqrt(sympy.Add(*(m**2 for m in self.magnitudes.values())))
        names = {*gradient.positive, *(b.name for b in self.signed), self.length.name}
        self.decide = ElementarySigns(names, {self.length: self.norm}, given=point.given)

    def leading(self, span: Fraction) -> LeadingGradient:
        """Return the leading order that decides, from expansions to *span* powers."""
        d = range(len(self.gradient.entries))
        above = [self._reached(i, 1, span) for i in d]
        below = [self._reached(i, -1, span) for i in d]
        if any(up is None and down is None for up, down in zip(above, below, strict=True)):
            raise Unexpanded("no beta is left in the limit at which Q as it is written is defined")
        steep: list[Steep] = []
        while True:
            found = _leading(above, below, {self.length: self.norm})
            rising = self._rising(found)
            if not rising:
                return replace(found, steep=tuple(steep), idle=self._idle(found))
            for i, side in rising:
                left_out = above if side > 0 else below
                slope = (found.above if side > 0 else found.below)[i]
                steep.append(Steep(i, side, found.growth, slope or sympy.S.Zero))
                left_out[i] = None

    def _reached(self, i: int, sign: int, span: Fraction) -> Expansion | None:
        """Return an entry on one side, None where Q does not reach there."""
        try:
            return self._expanded(i, sign, span) if self._is_inside(i, sign, span) else None
        except NotReal:
            return None

    def _is_inside(self, i: int, sign: int, span: Fraction) -> bool:
        """Tell whether no wall keeps Q from a side, in the limit; False is proved."""
        x, m = self.gradient.coordinates[i], self.magnitudes[self.gradient.coordinates[i]]
        expander = Expander(self.e, self.decide, span)
        walls = self.gradient.walls if self.gradient.single[i] else ()
        for wall in (w for w in walls if w.form.has(x)):
            at = expander.expand(self.point.near(wall.form.xreplace({x: sign * m}), self.e))
            try:
                side = self.decide.sign(at.terms[at.leading])
            except Undecided:
                continue  # Q ends at a number other than 0
            if not wall.oriented:
                start = wall.form.xreplace({x: self.gradient.start[i]})
                first = expander.expand(self.point.near(start, self.e))
                side *= self.decide.sign(first.terms[first.leading])
            if side < 0:
                return False
        return True

    def _rising(self, found: LeadingGradient) -> list[tuple[int, int]]:
        """Return the coordinates and sides on which Q rises while it is flat on the other one."""
        rising = []
        for i, (up, down) in enumerate(zip(found.above, found.below, strict=True)):
            if up is None or down is None or not self.gradient.single[i]:
                continue
            for side, slope, other in ((1, up, down), (-1, down, up)):
                if other == 0 and slope != 0 and self.decide.sign(slope) == side:
                    rising.append((i, side))
        return rising

    def _idle(self, found: LeadingGradient) -> str:
        """Say why the leading order has no minimizer, or not one alone; empty where it has."""
        variables = tuple(self.magnitudes.values())
        for i, slopes in enumerate(zip(found.above, found.below, strict=True)):
            if not any(slopes) and len(found.above) > 1:
                return "Q/N does not depend on all outputs: their scales differ"
            for side, slope in zip((1, -1), slopes, strict=True):
                if slope is None or slope.has(*variables):
                    continue
                if slope == 0:
                    return "Q/N tends to 0 on a half-line"
                if not self.gradient.single[i] or self.decide.sign(slope) != side:
                    return "Q/N tends to a linear function"
        return ""

    def _expanded(self, i: int, sign: int, span: Fraction) -> Expansion:
        g = self.gradient.entries[i]
        curve = self.gradient.curves[i] if self.gradient.curves else None
        if curve is not None:
            h, mu = (self.point.near(f, self.e) for f in (curve.beta, g))
            beta = sign * self.magnitudes[self.gradient.coordinates[i]]
            expander = Expander(self.e, self.decide, span)
            return expand_along(replace(curve, beta=h), mu, beta, expander, self.decide)
        at = {b: sign * m if b in self.signed else m for b, m in self.magnitudes.items()}
        known: dict[Symbol, Expansion] = {}
        for symbol, polynomial in self.gradient.roots:
            P = self.point.near(polynomial.subs(at, simultaneous=True), self.e)
            P = in_length(P, tuple(self.magnitudes.values()), self.length)
            known[symbol] = expand_largest_root(P, symbol, self.e, self.decide, span)
        image = g.subs(at, simultaneous=True)
        if image.has(sympy.zoo, sympy.nan, sympy.oo):
            raise NotReal("a pole")
        return Expander(self.e, self.decide, span, known).expand(self.point.near(image, self.e))


def in_length(polynomial: Expr, betas: Sequence[Symbol], length: Symbol) -> Expr:
    """Return a polynomial in |beta| where it depends on the betas through it alone."""
    last, others = betas[-1], betas[:-1]
    square = length**2 - sympy.Add(*(b**2 for b in others))
    expanded = sympy.expand(sympy.expand(polynomial).subs(last**2, square))
    return polynomial if expanded.has(*betas) else expanded


def _leading(
    above: Sequence[Expansion | None],
    below: Sequence[Expansion | None],
    named: Mapping[Symbol, Expr],
) -> LeadingGradient:
    """Return the leading order of a gradient, with what is *named* written out."""
    expansions = [*filter(None, above), *filter(None, below)]
    known = {g for x in expansions for g in x.terms}
    growth = min(known, default=None)
    if growth is None or not all(x.reaches(growth) for x in expansions):
        raise Unexpanded("terms that cancel hide the leading one")

    def beside(side: Sequence[Expansion | None], order: Growth) -> tuple[Expr | None, ...]:
        # e^r log(1/e)^k is e^r log(e)^k up to a sign.
        turn = (-1) ** (order[1] % 2)
        return tuple(
            None if x is None else (turn * x.coefficient(order)).xreplace(named) for x in side
        )

    first, other, rest = beside(above, growth), beside(below, growth), known - {growth}
    bounds = [(x.order, 0) for x in expansions if x.order is not None]
    least = min([*rest, *bounds], default=None)
    if least is None:
        return LeadingGradient(growth, first, other, None, True)
    error = least[0] - growth[0], least[1] - growth[1]
    second = beside(above, least) if least in rest else ()
    return LeadingGradient(growth, first, other, error, least in rest, second)
