"""Limits of Q in a start symbol: exact expansions of its gradient, and what they are called.

At fixed beta, grad Q(beta) = N (G(beta) + o(1)) as the symbol tends to its limit, N > 0 free of
beta. Q/N, fixed to be 0 at one point, is convex and its gradient converges almost everywhere and,
as gradients of convex functions, locally bounded; so Q/N converges to the convex function with
gradient G, uniformly on compact sets, and where that has a single minimizer on {X beta = y} the
minimizers converge to it (Rockafellar & Wets 1998, theorems 7.17 and 7.33).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.regimes.asymptotics import (
    Expander,
    Expansion,
    Growth,
    NotReal,
    Unexpanded,
    expand_largest_root,
)
from derive.regimes.limit import (
    Limit,
    LimitingPotential,
    Point,
    Regime,
    growth_expression,
    recognize,
    undecided,
)
from derive.verdict import Finding, Identity, Verdict

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
        ended: for each coordinate, whether it is always positive; none is by default.
    """

    entries: tuple[Expr, ...]
    coordinates: tuple[Symbol, ...]
    single: tuple[bool, ...]
    positive: frozenset[str]
    roots: tuple[tuple[Symbol, Expr], ...] = ()
    ended: tuple[bool, ...] = ()

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
class LeadingGradient:
    """grad Q = e^r |log e|^k (G + O(error)), one G for each sign of a coordinate that has its own.

    Attributes:
        growth: (r, -k).
        above: G_i in the coordinates, those of single outputs positive.
        below: G_i with those of single outputs in place of their negatives, None where Q is not
            defined there; the same where outputs are coupled.
        error: the growth of the largest term left out, over that of the leading one; None where
            nothing is left out.
        sharp: whether that term is known, rather than a bound.
        second: its coefficients beside G, as above; empty where it is not known.
    """

    growth: Growth
    above: tuple[Expr, ...]
    below: tuple[Expr | None, ...]
    error: Growth | None
    sharp: bool
    second: tuple[Expr, ...] = ()


def _bounds(expansions: Sequence[Expansion]) -> list[Growth]:
    return [(x.order, 0) for x in expansions if x.order is not None]


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
        self.decide = ElementarySigns(names, {self.length: self.norm})

    def leading(self, span: Fraction) -> LeadingGradient:
        """Return the leading order from expansions to *span* powers."""
        entries = self.gradient.entries
        ended = self.gradient.ended or (False,) * len(entries)
        above = [self._expanded(g, 1, span) for g in entries]
        below: list[Expansion | None] = []
        for g, end in zip(entries, ended, strict=True):
            try:
                below.append(None if end else self._expanded(g, -1, span))
            except NotReal:  # F does not reach there
                below.append(None)
        return _leading(above, below, {self.length: self.norm})

    def _expanded(self, g: Expr, sign: int, span: Fraction) -> Expansion:
        at = {b: sign * m if b in self.signed else m for b, m in self.magnitudes.items()}
        known: dict[Symbol, Expansion] = {}
        for symbol, polynomial in self.gradient.roots:
            P = self.point.near(polynomial.subs(at, simultaneous=True), self.e)
            P = _in_length(P, tuple(self.magnitudes.values()), self.length)
            known[symbol] = expand_largest_root(P, symbol, self.e, self.decide, span)
        image = g.subs(at, simultaneous=True)
        if image.has(sympy.zoo, sympy.nan, sympy.oo):
            raise NotReal("a pole")
        return Expander(self.e, self.decide, span, known).expand(self.point.near(image, self.e))


def _in_length(polynomial: Expr, betas: Sequence[Symbol], length: Symbol) -> Expr:
    """Return a polynomial in |beta| where it depends on the betas through it alone."""
    last, others = betas[-1], betas[:-1]
    square = length**2 - sympy.Add(*(b**2 for b in others))
    expanded = sympy.expand(sympy.expand(polynomial).subs(last**2, square))
    return polynomial if expanded.has(*betas) else expanded


def _leading(
    above: Sequence[Expansion], below: Sequence[Expansion | None], named: Mapping[Symbol, Expr]
) -> LeadingGradient:
    """Return the leading order of a gradient, with what is *named* written out."""
    expansions = [*above, *filter(None, below)]
    known = {g for x in expansions for g in x.terms}
    growth = min(known, default=None)
    if growth is None or not all(x.reaches(growth) for x in expansions):
        raise Unexpanded("terms that cancel hide the leading one")
    first = tuple(_beside(x, growth, named) for x in above)
    other = tuple(None if x is None else _beside(x, growth, named) for x in below)
    rest = known - {growth}
    least = min([*rest, *_bounds(expansions)], default=None)
    if least is None:
        return LeadingGradient(growth, first, other, None, True)
    error = least[0] - growth[0], least[1] - growth[1]
    second = tuple(_beside(x, least, named) for x in above) if least in rest else ()
    return LeadingGradient(growth, first, other, error, least in rest, second)


def _beside(x: Expansion, order: Growth, named: Mapping[Symbol, Expr]) -> Expr:
    # e^r log(1/e)^k is e^r log(e)^k up to a sign.
    return ((-1) ** (order[1] % 2) * x.coefficient(order)).xreplace(named)


def closed_form_limit(
    gradient: ClosedGradient, point: Point, kernel: sympy.ImmutableMatrix
) -> Limit:
    """Return the limit of Q at fixed beta from the closed form of its gradient."""
    at, positive = gradient.coordinates, gradient.positive
    try:
        leading = gradient.expand(point)
        found = recognize(leading.above, leading.below, at, gradient.single, positive)
    except Undecided as open_end:
        return undecided(point, str(open_end))
    small = point.small
    unit = growth_expression(leading.growth, small)
    error = None if leading.error is None else growth_expression(leading.error, small)
    roots, rows = gradient.roots, zip(at, gradient.entries, _series(leading, error), strict=True)
    evidence = (
        *(Identity(f"{A} is the largest real root of this", str(P), "0") for A, P in roots),
        *(Identity(f"dQ/d{b} = N (G + ...)", str(g), f"({unit})*({s})") for b, g, s in rows),
    )
    finding = Finding(Verdict.PROVED, "exact expansion of grad Q at fixed beta", evidence)
    regime, below = _regime(found, gradient, point, kernel), leading.below
    return Limit(point, finding, regime, at, None, unit, found, below, error, leading.sharp)


def _series(leading: LeadingGradient, error: Expr | None) -> list[str]:
    """Return G, the term after it where it is known, and Landau's symbol for the remainder."""
    if error is None:
        return [str(g) for g in leading.above]
    if not leading.second:
        return [f"{g} + O({error})" for g in leading.above]
    pairs = zip(leading.above, leading.second, strict=True)
    return [f"{g} + ({c})*{error} + o({error})" for g, c in pairs]


def _regime(
    found: LimitingPotential, gradient: ClosedGradient, point: Point, kernel: sympy.ImmutableMatrix
) -> Regime:
    if found.shape in ("quadratic", "l2") and found.degree == 2:
        rows = [[sympy.diff(g, b) for b in gradient.coordinates] for g in found.gradient]
        if _is_multiple_of_identity(kernel * sympy.Matrix(rows), point, gradient.positive):
            return "kernel"
    if found.shape == "l1":
        return "rich"
    return "anti-NTK" if found.shape == "l2" and found.degree != 2 else "intermediate"


def _is_multiple_of_identity(product: sympy.Matrix, point: Point, names: frozenset[str]) -> bool:
    """Tell whether K(w_0) times the Hessian of a limit is one, to leading order and scale."""
    e = Symbol("e_", positive=True)
    decide = ElementarySigns(names)
    try:
        for span in SPANS:
            expander = Expander(e, decide, Fraction(span))
            entries = [expander.expand(point.near(x, e)) for x in product]
            growth = min(x.leading for x in entries if x.terms)
            if all(x.reaches(growth) for x in entries):
                break
        else:
            return False
        leading = [x.coefficient(growth) for x in entries]
        return all(
            decide.is_zero(c - (leading[0] if k % (product.rows + 1) == 0 else 0))
            for k, c in enumerate(leading)
        )
    except (Undecided, ValueError):
        return False
