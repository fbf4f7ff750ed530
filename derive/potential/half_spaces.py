"""The domain of several coupled outputs as half-spaces, and functions on a leaf by relations.

A path in beta from beta_0 is lifted to the leaf by w' = J^T K^-1 beta'. The lift
goes on while w is bounded and det K is not 0. If |w|^2 is integral over Q[beta, c], that is,
solves a polynomial equation in beta and the conserved c with leading coefficient 1, then w is
bounded where beta is. If a factor f of det K solves P(f; beta, c) = 0, then f is 0 only where
P(0; beta, c) is; just there, if P has two terms. So every beta is reached that a path connects
with beta_0 without a zero of these P(0; beta, c_0). Where they are linear or never 0 that is an
intersection of half-spaces: convex, so Q is one function there.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence

from sympy import Expr

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, Relation, find_relation
from derive.exact.linear.matrix import determinant, dot
from derive.exact.signs import Signs
from derive.model.notation import AssumePositive, BranchOpen, Notation, positive_generators, to_expr
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors
from derive.model.signs import start_sign
from derive.potential.branch import stays_away_from_zero
from derive.potential.chart import Chart, base_chart
from derive.potential.domain import Domain, Undecided, Wall
from derive.weights.metric import Metric

HIGHEST = 12
MAXIMAL_WEIGHTS = 8
MAXIMAL_TERMS = 200
GROWTH = 1024
"""How fast |w|^2 may grow, as a multiple of 1 + |w|^2."""


class Leaf:
    """Functions of the weights on the leaf of the start, by relations with beta."""

    def __init__(self, metric: Metric, notation: Notation) -> None:
        self.metric, self.notation, self.p = metric, notation, metric.parameterization
        self.field = self.p.start_field.extended([b.name for b in notation.betas])

    @functools.cached_property
    def chart(self) -> Chart | None:
        """The outputs and the conserved quantities as coordinates, for small models."""
        size = sum(len(x.numerator) for row in self.metric.K for x in row)
        small = self.p.p <= MAXIMAL_WEIGHTS and size <= MAXIMAL_TERMS
        return base_chart(self.metric, self.notation) if small else None

    @functools.cached_property
    def coordinates(self) -> Coordinates:
        """Those of the chart; without polynomial laws, the outputs alone."""
        if self.chart is not None:
            return self.chart.coordinates
        names = [b.name for b in self.notation.betas]
        return Coordinates.of(list(zip(names, self.p.F, strict=True)))

    @functools.cached_property
    def kept(self) -> frozenset[str]:
        """What is positive while the bases of F and the factors of rates are."""
        rates = frozenset(map(repr, open_factors(self.p))) & {*self.p.positive}
        return self.p.nonnegative | positive_generators(self.p.field) | rates

    def avoids(self, f: RationalFunction, ends: Iterable[RationalFunction] = ()) -> bool:
        """Tell whether a function is nowhere 0 while the bases of F, and rates, are positive.

        Nor are the *ends*, among them weights, at whose zeros the flow ends.
        """
        positive = self.kept
        if f in self.p.field.gens:
            exponentials = {g.name for g in self.p.field.generators if g.kind == "exp"}
            positive -= {f.variables()[0]} - exponentials
        roots = {g.name: repr(g.argument) for g in f.field.generators if g.kind == "root"}
        named = {repr(g) for g in ends if g != f}
        nonzero = frozenset(named | {roots[name] for name in named & roots.keys()})
        return Signs(positive, nonzero).is_positive(f) or stays_away_from_zero(self.metric, f)

    @property
    def stays_bounded(self) -> bool:
        """Tell whether the weights of one output are bounded where beta is: F of degree D > 0.

        With |w|^2 = w^T G w for a metric G that does not depend on w, K >= (D beta)^2/|w|^2 by
        Euler's identity, so that d|w|^2/dbeta = 2 D beta/K is at most 2 |w|^2/(D beta). In l_p,
        d|w|/dbeta <= 1/|grad F|_q <= |w|/(D beta) under steepest descent, where beta is never 0.
        """
        D, known = self.p.homogeneity, Signs(self.kept)
        steep = self.p.geometry.steepest is not None and known.is_positive(self.p.F[0])
        fixed = self.has_fixed_rates or steep
        return fixed and D is not None and D.is_constant() and D.value() > 0

    @property
    def has_fixed_rates(self) -> bool:
        """Tell whether G does not depend on the weights."""
        return all({*f.variables()} <= f.field.constants.keys() for f in self.p.geometry.functions)

    @property
    def is_finite(self) -> bool:
        """Tell whether the weights of one output are finite where beta and the time mu are.

        With a fixed G |w - w_0|^2 <= c mu (beta - beta_0) by Cauchy and Schwarz; else they are
        bounded where beta is, w' is linear in w, or |<w, w'>| <= c (1 + |w|^2), or |w|^2 is
        integral over beta and the laws.
        """
        (x,), w, field = self.p.fields, self.p.w, self.p.field
        slopes = (d for f in x for d in field.gradient(f))
        linear = all({*d.variables()} <= field.constants.keys() for d in slopes)
        if self.has_fixed_rates or linear or self.stays_bounded:
            return True
        size, slope = (dot(w, w) + field.one) * field.constant(GROWTH), dot(w, x)
        known = Signs(self.p.nonnegative | positive_generators(field))
        if all(known.is_nonnegative(size + way) for way in (slope, -slope)):
            return True
        plain = self.p.F[0].is_polynomial() and {*self.p.F[0].variables()} <= {*self.p.weights}
        return plain and is_bounded(dot(w, w), self.coordinates)

    def is_bounded_away(self, f: RationalFunction) -> bool:
        """Tell whether |f| is proved to be at least some positive number on the leaf."""
        if stays_away_from_zero(self.metric, f):
            return True
        constant = f.compose([f.field.zero] * len(f.field.names), f.field)
        known = Signs(self.p.nonnegative | positive_generators(self.p.field))
        if constant.is_zero():
            return False
        return known.is_nonnegative(f / constant - f.field.one / f.field.constant(2))

    def relation(self, f: RationalFunction) -> Relation | None:
        """Return a polynomial equation of f over beta and the conserved quantities."""
        return find_relation(f, self.coordinates, highest=HIGHEST)

    def at_start(self, q: RationalFunction) -> RationalFunction | None:
        """Return a function of beta and the conserved quantities as one of beta and the start."""
        p, field = self.p, self.field
        if self.chart is None:
            return q.compose(field.gens[: p.d], field)
        try:
            kept = (c for _, c, _ in self.chart.entries[p.d :])
            values = [field.embed(p.at_start(c)) for c in kept]
        except ZeroDivisionError:
            return None
        return q.compose((*field.gens[: p.d], *values), field)

    def keeps_weights_bounded(self) -> bool:
        """Tell whether F is a polynomial, and the weights are proved bounded where beta is."""
        p = self.p
        plain = not (p.field.generators or p.parameters) and all(f.is_polynomial() for f in p.F)
        square = sum((w * w for w in p.w), p.field.zero)
        return plain and self.chart is not None and is_bounded(square, self.coordinates)

    @functools.cached_property
    def zeros_of_output(self) -> RationalFunction | None:
        """The zeros of F, of one output."""
        return self.zeros(self.p.F[0])

    def zeros(self, f: RationalFunction) -> RationalFunction | None:
        """Return a function of one beta that is 0 just where f is, or None."""
        relation = self.relation(f)
        if relation is None:
            return None
        known = [c for c in map(self.at_start, relation.coefficients) if c is not None]
        if len(known) <= relation.degree or known[-1].is_zero() or known[0].is_zero():
            return None
        first, *between, last = known
        if not all(c.is_zero() for c in between):
            # f is 0 only where the first coefficient is, which may be nowhere.
            nowhere = exceptions(first, 1, self.notation.positive) is not None
            return first if nowhere or self._has_no_other_zero(known) else None
        ratio = first / last
        return self.field.polynomial(ratio.numerator)

    def _has_no_other_zero(self, coefficients: Sequence[RationalFunction]) -> bool:
        """Tell whether sum_k c_k x^k, where c_0 = 0 is linear in beta, has x = 0 alone there."""
        field = self.field.extended(("_x",))
        known = Signs(self.notation.positive, nonzero=self.metric.rests_at)
        (x,) = field.gens[:1]
        for g in (g for g, _ in factors(coefficients[0]) if g.depends_on(0)):
            slope = g.partial(0)
            if slope.depends_on(0):
                return False
            end = self.field.gens[0] - g / slope
            there = (c.compose((end, *self.field.gens[1:]), self.field) for c in coefficients)
            left = [*itertools.dropwhile(RationalFunction.is_zero, there)]
            powers = (field.embed(c) * x**k for k, c in enumerate(left))
            if not known.strict(sum(powers, field.zero)):
                return False
        return True


def half_spaces(metric: Metric, notation: Notation) -> Domain | None:
    """Return half-spaces on whose intersection Q is defined and strictly convex, or None."""
    p, leaf = metric.parameterization, Leaf(metric, notation)
    if not leaf.keeps_weights_bounded():
        return None
    walls: dict[Wall, None] = {}
    unless: dict[Expr, None] = {}
    undecided: tuple[Undecided, ...] = ()
    met = (f for f, _ in factors(determinant(metric.K)) if not stays_away_from_zero(metric, f))
    for relation in map(leaf.relation, met):
        first = relation and leaf.at_start(relation.coefficients[0])
        added = first and _walls(first, p, notation)
        if not (relation and added):
            return None
        walls |= dict.fromkeys(added[0])
        unless |= dict.fromkeys(added[1])
        if added[0] and not all(c.is_zero() for c in relation.coefficients[1:-1]):
            undecided = ("beyond",)
    return Domain(notation.betas, "rank", tuple(walls), undecided, tuple(unless))


def is_bounded(function: RationalFunction, coordinates: Coordinates) -> bool:
    """Tell whether a function is integral over the coordinates: bounded where they are."""
    relation = find_relation(function, coordinates, highest=HIGHEST)
    return relation is not None and relation.coefficients[-1].is_constant()


def _walls(
    q: RationalFunction, p: Parameterization, notation: Notation
) -> tuple[list[Wall], list[Expr]] | None:
    """Return what the real zeros of q, in beta and the start, leave of R^d, and what is not 0."""
    if q.is_zero():
        return None
    images = {**{b.name: b for b in notation.betas}, **notation.start_symbols}
    walls: list[Wall] = []
    unless: list[Expr] = []
    for f, _ in factors(q):
        zero = exceptions(f, p.d, notation.positive)
        if zero is not None:
            unless += [to_expr(x, images) for x in zero]
            continue
        sign = _side(f, p, notation) if _is_linear(f, p.d) else None
        if sign is None:
            return None
        walls.append(Wall(to_expr(sign * f, images), True))
    return walls, unless


def exceptions(
    f: RationalFunction, d: int, positive: frozenset[str]
) -> list[RationalFunction] | None:
    """Return factors of a function of the start: where none is 0, f has no real zero in beta.

    That is so where f, or -f, is this function, its value at beta = 0, or for a quadratic function
    of one beta its extreme, if that is not negative, plus what is not negative either. None where
    f, whose first d variables are beta, is not seen to be of this kind.
    """
    centre, slope = f.field.zero, f.partial(0)
    curvature = slope.partial(0)
    if d == 1 and not (curvature.is_zero() or curvature.depends_on(0)):
        centre = f.field.gens[0] - slope / curvature
    constant = f.compose((*[centre] * d, *f.field.gens[d:]), f.field)
    rest, known = f - constant, Signs(positive)
    sides = ([sign * x for x in (rest, constant)] for sign in (1, -1))
    if constant.is_zero() or not (
        rest.is_zero() or any(all(map(known.is_nonnegative, side)) for side in sides)
    ):
        return None
    return known.zeros_of(constant)


def _is_linear(f: RationalFunction, d: int) -> bool:
    return not any(f.partial(i).depends_on(j) for i in range(d) for j in range(d))


def _side(f: RationalFunction, p: Parameterization, notation: Notation) -> int | None:
    """Return the sign of a function of beta at beta_0, or None where it is not known."""
    beta0 = map(p.at_start, p.F)
    value = f.compose((*beta0, *p.start_field.gens), p.start_field)
    try:
        sign, assumed = start_sign(value, notation)
    except (AssumePositive, BranchOpen):
        return None
    return None if assumed else sign
