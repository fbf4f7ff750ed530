"""Where Q of coupled outputs is defined and strictly convex, as linear inequalities, proved.

A path in beta from beta_0 is lifted to the leaf by w' = J^T K^-1 beta'. The lift goes on while w is
bounded and det K is not 0. If |w|^2 is integral over Q[beta, c], that is, solves a polynomial
equation in beta and the conserved c with leading coefficient 1, then w is bounded where beta is.
If a factor f of det K solves P(f; beta, c) = 0, then f is 0 only where P(0; beta, c) is. So every
beta is reached that a path connects with beta_0 without a zero of these P(0; beta, c_0). Where they
are linear or never 0 that is an intersection of half-spaces: convex, so Q is one function there.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.exact.linear.matrix import determinant
from derive.exact.positivity import is_nonnegative
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.branch import stays_away_from_zero
from derive.potential.chart import base_chart
from derive.weights.metric import Metric

HIGHEST = 8
MAXIMAL_WEIGHTS = 8
MAXIMAL_TERMS = 200


@dataclass(frozen=True)
class HalfSpaces:
    """Where Q is defined and strictly convex.

    Attributes:
        walls: linear functions of beta, positive there; none of them: all real beta.
        conditions: functions of the start that were taken to be other than 0.
    """

    walls: tuple[Expr, ...]
    conditions: tuple[Expr, ...]


def find_half_spaces(metric: Metric, notation: Notation) -> HalfSpaces | None:
    """Return half-spaces on whose intersection Q is defined and strictly convex, or None."""
    p = metric.parameterization
    chart = base_chart(metric, notation) if _is_small_polynomial(metric) else None
    if chart is None or not is_bounded(sum((w * w for w in p.w), p.field.zero), chart.coordinates):
        return None
    found = HalfSpaces((), ())
    for f, _ in factors(determinant(metric.K)):
        if not stays_away_from_zero(metric, f):
            relation = find_relation(f, chart.coordinates, highest=HIGHEST)
            added = relation and _walls(relation.coefficients[0], metric, notation)
            if not added:
                return None
            found = HalfSpaces(found.walls + added.walls, found.conditions + added.conditions)
    unique = (tuple(dict.fromkeys(part)) for part in (found.walls, found.conditions))
    return HalfSpaces(*unique)


def _is_small_polynomial(metric: Metric) -> bool:
    """Tell whether F is a polynomial whose K is small enough to be searched."""
    p = metric.parameterization
    if p.field.generators or p.parameters or not all(f.is_polynomial() for f in p.F):
        return False
    size = sum(len(x.numerator) for row in metric.K for x in row)
    return p.p <= MAXIMAL_WEIGHTS and size <= MAXIMAL_TERMS


def is_bounded(function: RationalFunction, coordinates: Coordinates) -> bool:
    """Tell whether a function is integral over the coordinates: bounded where they are."""
    relation = find_relation(function, coordinates, highest=HIGHEST)
    return relation is not None and relation.coefficients[-1].is_constant()


def _walls(q: RationalFunction, metric: Metric, notation: Notation) -> HalfSpaces | None:
    """Return what the real zeros of q, in beta and the conserved values, leave of R^d."""
    p = metric.parameterization
    field = p.start_field.extended([b.name for b in notation.betas])
    try:
        laws = [field.embed(p.at_start(law)) for law in metric.conserved.laws]
    except ZeroDivisionError:
        return None
    on_leaf = q.compose((*field.gens[: p.d], *laws), field)
    if on_leaf.is_zero():
        return None
    images = {**{b.name: b for b in notation.betas}, **notation.start_symbols}
    walls: list[Expr] = []
    conditions: list[Expr] = []
    for f, _ in factors(on_leaf):
        rest = _constant_part(f, p.d) if is_definite(f, p.d, notation.positive) else None
        if rest is not None:
            conditions += [to_expr(x, images) for x, _ in factors(rest) if not x.is_constant()]
            continue
        sign = _side(f, p, notation) if _is_linear(f, p.d) else None
        if sign is None:
            return None
        walls.append(to_expr(sign * f, images))
    return HalfSpaces(tuple(walls), tuple(conditions))


def _constant_part(f: RationalFunction, d: int) -> RationalFunction:
    """Return f at beta = 0."""
    return f.compose((*(f.field.zero for _ in range(d)), *f.field.gens[d:]), f.field)


def is_definite(f: RationalFunction, d: int, positive: frozenset[str]) -> bool:
    """Tell whether f, or -f, is a function of the start, not negative, plus what is not either.

    Then f has no real zero in beta, its first d variables, unless that function of the start has:
    a sum of squares of start symbols may vanish for special starts.
    """
    constant = _constant_part(f, d)
    if constant.is_zero():
        return False
    rest = f - constant
    return rest.is_zero() or any(
        is_nonnegative(sign * rest, positive) and is_nonnegative(sign * constant, positive)
        for sign in (1, -1)
    )


def _is_linear(f: RationalFunction, d: int) -> bool:
    return not any(f.partial(i).depends_on(j) for i in range(d) for j in range(d))


def _side(f: RationalFunction, p: Parameterization, notation: Notation) -> int | None:
    """Return the sign of a function of beta at beta_0, or None where it is not known."""
    beta0 = [p.at_start(x) for x in p.F]
    try:
        value = f.compose((*beta0, *p.start_field.gens), p.start_field)
        sign, assumed = start_sign(value, notation)
    except (AssumePositive, BranchOpen):
        return None
    return None if assumed else sign
