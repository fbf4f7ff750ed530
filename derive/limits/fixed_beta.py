"""Limits of Q in a start symbol: exact expansions of its gradient, and what they are called.

At fixed beta, grad Q(beta) = N (G(beta) + o(1)) as the symbol tends to its limit, N > 0 free of
beta. Q/N, fixed to be 0 at one point, is convex and its gradient converges almost everywhere and,
as gradients of convex functions, locally bounded; so Q/N converges to the convex function with
gradient G, uniformly on compact sets, and where that has a single minimizer on {X beta = y} the
minimizers converge to it (Rockafellar & Wets 1998, theorems 7.17 and 7.33).

Each coordinate that has an entry of its own is followed on either side of 0. Where the leading
order vanishes on one side of a coordinate and Q rises on the other, the limit is decided at a lower
order: there Q/N tends to a function on the first side, and to infinity on the second. Convex
functions that converge inside the domain of their limit, and to infinity outside of its closure,
have minimizers that converge, whatever happens at the boundary (Rockafellar & Wets 1998, theorems
7.17 and 7.33).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.asymptotics import (
    FLAT,
    SMALL,
    Expander,
    Expansion,
    Growth,
    NotReal,
    Unexpanded,
    above_two,
    is_flat,
    leading_order,
    widened,
)
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.implicit import expand_along, expand_largest_root
from derive.limits.limit import (
    Limit,
    LimitingPotential,
    Point,
    Regime,
    growth_expression,
    recognize,
    undecided,
)
from derive.potential.domain import Wall
from derive.potential.piece import Curve
from derive.verdict import Finding, Identity, Verdict


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
        spare: names for other coordinates; those that they have by default.
        origin, basis: beta = origin + basis x, where x are not beta itself.
        depths: D = 2 + x, x > 0, which was put in for each depth D.
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
    basis: sympy.ImmutableMatrix | None = None
    depths: Mapping[Symbol, Expr] = field(default_factory=dict)

    @property
    def above_two(self) -> dict[Symbol, Expr]:
        """Return x = D - 2 for each depth."""
        return {image - 2: D - 2 for D, image in self.depths.items()}

    @property
    def is_algebraic(self) -> bool:
        """Whether it has expansions in powers alone, without logarithms."""
        curves = (c.beta for c in self.curves if c)
        forms = (*self.entries, *(P for _, P in self.roots), *curves)
        calls = {f for e in forms for f in e.atoms(sympy.Function)}
        depths = {s for e in forms for n in e.atoms(sympy.Pow) for s in n.exp.free_symbols}
        return all(isinstance(f, sympy.Abs) for f in calls) and depths <= {*self.above_two}

    def signs(self, point: Point, meaning: Mapping[Symbol, Expr] | None = None) -> ElementarySigns:
        """Return exact decisions on functions of the start and of coordinates, by magnitude."""
        depths = {x.name for x in self.above_two}
        alone = {b.name for b, single in zip(self.coordinates, self.single, strict=True) if single}
        names = {*self.positive, *alone, *depths, *(x.name for x in meaning or {})}
        return ElementarySigns(names, meaning, depths, point.given)

    def at_depths(self, depths: Sequence[Symbol]) -> ClosedGradient:
        """Return it with 2 + x for each depth."""
        above = above_two(depths)
        curves = (h and replace(h, beta=h.beta.xreplace(above)) for h in self.curves)
        entries = (g.xreplace(above) for g in self.entries)
        return replace(self, entries=tuple(entries), curves=tuple(curves), depths=above)

    def turned(self, turn: sympy.Matrix, origin: Sequence[Expr] = ()) -> ClosedGradient:
        """Return the gradient turn^T grad Q in x, coordinates = origin + turn x."""
        x, shift = self.spare or self.coordinates, sympy.Matrix(origin or [0] * turn.rows)
        images = dict(zip(self.coordinates, shift + turn * sympy.Matrix(x), strict=True))

        def at(f: Expr) -> Expr:
            return f.subs(images, simultaneous=True)

        basis = self.basis or sympy.eye(turn.rows)
        start = turn.inv() * (sympy.Matrix(self.start) - shift) if self.start else ()
        places = zip(self.curves, shift, turn.diagonal(), strict=False)
        return replace(
            self,
            entries=tuple(turn.T * sympy.Matrix([at(g) for g in self.entries])),
            roots=tuple((A, at(P)) for A, P in self.roots),
            coordinates=x,
            walls=tuple(replace(w, form=sympy.expand(at(w.form))) for w in self.walls),
            start=tuple(start),
            curves=tuple(h and replace(h, beta=s * (h.beta - c)) for h, c, s in places),
            origin=tuple(basis * shift + sympy.Matrix(self.origin or [0] * turn.rows)),
            basis=sympy.ImmutableMatrix(basis * turn),
        )

    def separated(self, turn: sympy.Matrix) -> ClosedGradient | None:
        """Return the same where each entry is of its own x alone, or None.

        One that is written with others is free of these where its derivatives are 0; it is taken
        at 1 of others, which the walls have to keep positive.
        """
        whole, entries = self.turned(turn), list[Expr]()
        kept = (w.form.as_coeff_Mul() for w in whole.walls if w.oriented)
        positive = {x for c, x in kept if c > 0}
        for own, g in zip(whole.coordinates, map(sympy.expand, whole.entries), strict=True):
            others = {y for y in whole.coordinates if y != own and g.has(y)}
            if others - positive or any(sympy.cancel(g.diff(y)) != 0 for y in others):
                return None
            entries.append(g.xreplace(dict.fromkeys(others, sympy.S.One)))
        return replace(whole, entries=tuple(entries), single=(True,) * turn.rows)

    def expand(self, point: Point) -> LeadingGradient:
        """Return the leading order as a start symbol tends to *point*; Undecided where unknown."""
        return widened(_Sides(self, point).leading, lambda leading: leading.sharp)


Side: TypeAlias = tuple[int, int]
"""Which coordinate, and the sign that it has there: 1 for one that shares its entry with others."""


@dataclass(frozen=True)
class LeadingGradient:
    """grad Q = e^r |log e|^k (G + O(error)), one G for each side of a coordinate.

    Attributes:
        growth: (r, -k).
        slopes: G_i on the sides where Q is defined and not steep; in the coordinates, those that
            have an entry of their own by magnitude.
        error: the growth of the largest term left out, over that of the leading one; None where
            it is not known, or nothing is left out.
        second: the coefficients of that term; none where it is below every power.
        whole: whether nothing is left out.
        steep: where Q/N tends to infinity, dQ/dx = e^r |log e|^k (c + o(1)): (r, -k) and c.
        idle: why the leading order decides no minimizer; empty where it does.
    """

    growth: Growth
    slopes: Mapping[Side, Expr]
    error: Growth | None
    second: Mapping[Side, Expr]
    whole: bool
    steep: Mapping[Side, tuple[Growth, Expr]] = field(default_factory=dict)
    idle: str = ""

    @property
    def sharp(self) -> bool:
        """Whether errors are no smaller than that."""
        return self.whole or bool(self.second)


class _Sides:
    """A gradient on either side of 0 of each coordinate that has an entry of its own."""

    def __init__(self, gradient: ClosedGradient, point: Point) -> None:
        self.gradient, self.point = gradient, point
        pairs = list(zip(gradient.coordinates, gradient.single, strict=True))
        self.signed = {b for b, alone in pairs if alone}
        self.magnitudes = {b: Symbol(b.name, positive=True) if alone else b for b, alone in pairs}
        # In the length of beta the roots of equivariant models have short coefficients.
        self.length = Symbol("length_", positive=True)
        self.norm = sympy.sqrt(sympy.Add(*(m**2 for m in self.magnitudes.values())))
        self.decide = gradient.signs(point, {self.length: self.norm})

    def leading(self, span: Fraction) -> LeadingGradient:
        """Return the leading order that decides, from expansions to *span* powers."""
        single = enumerate(self.gradient.single)
        sides = [(i, sign) for i, alone in single for sign in ((1, -1) if alone else (1,))]
        reached = {side: x for side in sides if (x := self._reached(*side, span)) is not None}
        if {i for i, _ in reached} < {i for i, _ in sides}:
            raise Unexpanded("no beta is left in the limit at which Q as it is written is defined")
        steep: dict[Side, tuple[Growth, Expr]] = {}
        while True:
            leading, rising = self._leading(reached), list[Side]()
            for (i, sign), slope in leading.slopes.items():
                # Q rises on a side while it is flat on the other one.
                if leading.slopes.get((i, -sign)) == 0 and slope != 0:
                    rising += [(i, sign)] if self.decide.sign(slope) == sign else []
            if not rising:
                return replace(leading, steep=steep, idle=self._idle(leading))
            for side in rising:
                steep[side] = leading.growth, leading.slopes[side]
                del reached[side]

    def _leading(self, reached: Mapping[Side, Expansion]) -> LeadingGradient:
        """Return the leading order of some entries."""
        entries, growth = reached.values(), leading_order([*reached.values()])[0]

        def beside(order: Growth) -> dict[Side, Expr]:
            # e^r log(1/e)^k is e^r log(e)^k up to a sign.
            turn, named = (-1) ** (order[1] % 2), {self.length: self.norm}
            return {i: (turn * x.coefficient(order)).xreplace(named) for i, x in reached.items()}

        rest = {g for x in entries for g in x.terms} - {growth}
        orders = [x.order for x in entries if x.order is not None]
        bound = min(orders, default=FLAT), 0
        least = min(rest, default=bound)
        second = beside(least) if rest and all(x.reaches(least) for x in entries) else {}
        if not second:
            least = min(least, bound)
        # Of a bound the logarithms are not known, which do not matter where it is flat.
        certain = second or (orders and (is_flat(least) or self.gradient.is_algebraic))
        error = (least[0] - growth[0], least[1] - growth[1]) if certain else None
        return LeadingGradient(growth, beside(growth), error, second, not (rest or orders))

    def _reached(self, i: int, sign: int, span: Fraction) -> Expansion | None:
        """Return an entry on one side, None where Q does not reach there."""
        try:
            return self._expanded(i, sign, span) if self._is_inside(i, sign, span) else None
        except NotReal:
            return None

    def _is_inside(self, i: int, sign: int, span: Fraction) -> bool:
        """Tell whether no wall keeps Q from a side, in the limit; False is proved."""
        x, m = self.gradient.coordinates[i], self.magnitudes[self.gradient.coordinates[i]]

        def side(wall: Wall, place: Expr) -> int:
            at = self.point.expand(wall.form.xreplace({x: place}), self.decide, span)
            return self.decide.sign(at.first)

        walls = self.gradient.walls if self.gradient.single[i] else ()
        for wall in (w for w in walls if w.form.has(x)):
            try:
                here = side(wall, sign * m)
            except Undecided:
                continue  # Q ends at a number other than 0
            if here * (1 if wall.oriented else side(wall, self.gradient.start[i])) < 0:
                return False
        return True

    def _idle(self, leading: LeadingGradient) -> str:
        """Say why the leading order has no minimizer, or not one alone; empty where it has."""
        variables = tuple(self.magnitudes.values())
        moving = {i for (i, _), slope in leading.slopes.items() if slope != 0}
        if (len(variables) > 1 and len(moving) < len(variables)) or self._is_flat(leading):
            return "Q/N does not depend on all outputs: their scales differ"
        for (i, sign), slope in leading.slopes.items():
            if slope == 0:
                return "Q/N tends to 0 on a half-line"
            alone = self.gradient.single[i]
            if not slope.has(*variables) and not (alone and self.decide.sign(slope) == sign):
                return "Q/N tends to a linear function"
        return ""

    def _is_flat(self, leading: LeadingGradient) -> bool:
        """Tell whether some <c, G> = 0 at as many points as there are outputs, which G couples."""
        x, slopes = [*self.magnitudes.values()], [*leading.slopes.values()]
        if any(self.gradient.single) or len(x) < 2:
            return False
        near, far = sympy.Rational(1, 48), sympy.Rational(1, 8)
        places = [{b: far if b == a else near for b in x} for a in x]
        rows = [[g.subs(place, simultaneous=True) for g in slopes] for place in places]
        try:
            return self.decide.is_zero(sympy.Matrix(rows).det())
        except Undecided:
            return False

    def _expanded(self, i: int, sign: int, span: Fraction) -> Expansion:
        g = self.gradient.entries[i]
        curve = self.gradient.curves[i] if self.gradient.curves else None
        if curve is not None:
            h, mu = map(self.point.near, (curve.beta, g))
            beta = sign * self.magnitudes[self.gradient.coordinates[i]]
            expander = Expander(SMALL, self.decide, span)
            return expand_along(replace(curve, beta=h), mu, beta, expander, self.decide)
        at = {b: sign * m if b in self.signed else m for b, m in self.magnitudes.items()}
        roots: dict[Symbol, Expansion] = {}
        for symbol, polynomial in self.gradient.roots:
            P = self.point.near(polynomial.subs(at, simultaneous=True))
            P = in_length(P, tuple(self.magnitudes.values()), self.length)
            roots[symbol] = expand_largest_root(P, symbol, self.decide, span)
        image = g.subs(at, simultaneous=True)
        if image.has(sympy.zoo, sympy.nan, sympy.oo):
            raise NotReal("a pole")
        return Expander(SMALL, self.decide, span, roots).expand(self.point.near(image))


def in_length(polynomial: Expr, betas: Sequence[Symbol], length: Symbol) -> Expr:
    """Return a polynomial in |beta| where it depends on the betas through it alone."""
    last, others = betas[-1], betas[:-1]
    square = length**2 - sympy.Add(*(b**2 for b in others))
    expanded = sympy.expand(sympy.expand(polynomial).subs(last**2, square))
    return polynomial if expanded.has(*betas) else expanded


def closed_form_limit(
    gradient: ClosedGradient, point: Point, kernel: sympy.ImmutableMatrix
) -> Limit:
    """Return the limit of Q at fixed beta from the closed form of its gradient."""
    try:
        gradient, leading = _upright(gradient, point)
        slopes, at = leading.slopes, gradient.coordinates
        above = tuple(slopes[i, 1] for i, _ in enumerate(at))
        signs = (-1 if alone else 1 for alone in gradient.single)
        below = tuple(slopes.get((i, sign)) for i, sign in enumerate(signs))
        potential = recognize(above, below, at, gradient.single, gradient.signs(point))
    except Undecided as open_end:
        return undecided(point, open_end)
    if leading.idle:
        reason = f"at fixed beta {leading.idle}, which decides no minimizer"
        return undecided(point, reason)
    small, back = point.small, gradient.above_two

    def of_depths(f: Expr) -> Expr:
        return sympy.factor(f.xreplace(back)) if back else f

    unit = of_depths(growth_expression(leading.growth, small))
    error = None if leading.error is None else of_depths(growth_expression(leading.error, small))
    evidence = _evidence(gradient, leading, (unit, error), of_depths)
    finding = Finding(Verdict.PROVED, "`grad Q` is expanded exactly at fixed `beta`", evidence)
    regime = _regime(potential, gradient, leading, (point, kernel))
    below, potential = tuple(g and of_depths(g) for g in below), potential.mapped(of_depths)
    limit = Limit(point, finding, regime, at, None, unit, potential, below, error, leading.sharp)
    return replace(
        limit,
        origin=gradient.origin if any(gradient.origin) else None,
        basis=None if gradient.basis == sympy.eye(len(at)) else gradient.basis,
        steep=tuple(
            (x, side, growth_expression(growth, small) * slope.xreplace({size: side * x}))
            for (i, side), (growth, slope) in leading.steep.items()
            for x, size in [(at[i], Symbol(at[i].name, positive=True))]
        ),
        depths=tuple(gradient.depths),
    )


def _evidence(
    gradient: ClosedGradient,
    leading: LeadingGradient,
    orders: tuple[Expr, Expr | None],
    of_depths: Callable[[Expr], Expr],
) -> tuple[Identity, ...]:
    """Return N, G, the term after it where it is known, and Landau's symbol for the remainder."""
    (unit, error), rows = orders, zip(gradient.coordinates, gradient.entries, strict=True)
    evidence = [
        Identity(f"{A} is the largest real root of this", str(P), "0") for A, P in gradient.roots
    ]
    for i, (b, g) in enumerate(rows):
        rest = "" if leading.whole else " + o(1)"
        if leading.second:
            rest = f" + ({of_depths(leading.second[i, 1])})*{error} + o({error})"
        series = f"({unit})*({of_depths(leading.slopes[i, 1])}{rest})"
        evidence.append(Identity(f"dQ/d{b} = N (G + ...)", str(of_depths(g)), series))
    return tuple(evidence)


def _upright(gradient: ClosedGradient, point: Point) -> tuple[ClosedGradient, LeadingGradient]:
    """Return the leading order in coordinates whose positive side is in the domain of the limit."""
    leading = gradient.expand(point)
    signs = [1 if (i, 1) in leading.slopes else -1 for i, _ in enumerate(gradient.entries)]
    if -1 not in signs:
        return gradient, leading
    turned = gradient.turned(sympy.diag(*signs))
    return turned, turned.expand(point)


def _regime(
    potential: LimitingPotential,
    gradient: ClosedGradient,
    leading: LeadingGradient,
    at_start: tuple[Point, sympy.ImmutableMatrix],
) -> Regime:
    point, kernel = at_start
    if potential.shape in ("quadratic", "l2") and potential.degree == 2 and not leading.steep:
        rows = [[sympy.diff(g, b) for b in gradient.coordinates] for g in potential.gradient]
        forms = (gradient.basis or sympy.eye(len(rows))).inv()
        product = forms * kernel * forms.T * sympy.Matrix(rows)
        if _is_multiple_of_identity(product, point, gradient.positive):
            return "kernel"
    if potential.shape == "l1":
        return "rich"
    return "anti-NTK" if potential.shape == "l2" and potential.degree != 2 else "intermediate"


def _is_multiple_of_identity(product: sympy.Matrix, point: Point, names: frozenset[str]) -> bool:
    """Tell whether K(w_0) times the Hessian of a limit is one, to leading order and scale."""
    decide = point.decisions(names)

    def leading(span: Fraction) -> list[Expr]:
        return leading_order([point.expand(x, decide, span) for x in product])[1]

    try:
        entries = widened(leading)
        return all(
            decide.is_zero(c - (entries[0] if k % (product.rows + 1) == 0 else 0))
            for k, c in enumerate(entries)
        )
    except Undecided:
        return False
