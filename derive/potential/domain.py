"""Where Q lives, that it is convex there, and that the warp stays positive.

On the leaf Hess Q = g rho with rho = (J J^T)^-1 positive definite wherever J has rank d, so Q is
strictly convex on every convex part of its domain on which g > 0; and log g, whose derivatives
have Gram determinants of J as denominators, is finite there. For one output the domain ends
at the zeros and poles of K(beta), which are found as factors of K^2 over Q(start symbols).

For several outputs a path in beta from beta_0 is lifted to the leaf by w' = J^T K^-1 beta'. The
lift goes on while w is bounded and det K is not 0. If |w|^2 is integral over Q[beta, c], that is,
solves a polynomial equation in beta and the conserved c with leading coefficient 1, then w is
bounded where beta is. If a factor f of det K solves P(f; beta, c) = 0, then f is 0 only where
P(0; beta, c) is. So every beta is reached that a path connects with beta_0 without a zero of these
P(0; beta, c_0). Where they are linear or never 0 that is an intersection of half-spaces: convex, so
Q is one function there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from derive.errors import DeriveError
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.exact.linear.matrix import determinant
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.tower import to_field
from derive.language import from_sympy
from derive.language.tree import Call, Operation, Power, RealPower, Tree, names, walk
from derive.model.notation import (
    AssumePositive,
    BranchOpen,
    Notation,
    start_sign,
    to_expr,
    to_factored_expr,
)
from derive.model.parameterization import Parameterization
from derive.potential.branch import keeps_sign, stays_away_from_zero
from derive.potential.chart import base_chart
from derive.potential.piece import Explicit, Parametric, Piece, Quadrature, kernel_of, written_out
from derive.weights.dual import DualCoordinates
from derive.weights.metric import Metric


def describe_domain(
    piece: Piece, metric: Metric, dual: DualCoordinates | None, notation: Notation
) -> Piece:
    """Return Q of a block with its domain, and what makes it convex there, in words."""
    if metric.parameterization.d > 1:
        domain = _coupled(metric, dual, notation)
        if any(_has_kink(node) for tree in metric.parameterization.trees for node in walk(tree)):
            domain = domain.replace("; ", ", as far as `F` is smooth; ", 1)
        return replace(piece, domain=domain)
    where: str | None
    convex = "there `Q'' = 1/K > 0`, so `Q` is strictly convex"
    if isinstance(piece, Parametric):
        where = f"the `beta` that the interval of `{piece.curve.parameter}` gives"
        return replace(piece, domain=f"{where}; {convex}")
    p = metric.parameterization
    ends, all_known = _ends(piece, p, notation)
    images = {piece.betas[0].name: piece.betas[0], **notation.start_symbols}
    shown = {end: to_factored_expr(end, images) for end in ends}
    where = _between(shown, p, notation, piece.betas[0]) if all_known else None
    where = where or "the interval around `beta_0` on which `K` is positive and finite"
    if any(_may_be_singular(node, p) for tree in p.trees for node in walk(tree)):
        where += ", as far as `F` is smooth"
    if isinstance(piece, Explicit | Quadrature):
        piece = replace(piece, ends=tuple(shown.values()))
    return replace(piece, domain=f"{where}; {convex}")


def _coupled(metric: Metric, dual: DualCoordinates | None, notation: Notation) -> str:
    """Say where several coupled outputs have Q: half-spaces where proved, else in words."""
    known = find_half_spaces(metric, notation)
    if known is not None:
        walls = " and ".join(f"`{wall} > 0`" for wall in known.walls) or "all real `beta`"
        given = " or ".join(f"`{c} = 0`" for c in known.conditions)
        unless = f" unless {given}" if given else ""
        return (
            f"{walls}{unless}; `J` has full rank above it and `Hess Q = g rho` is positive "
            "definite, so `Q` is strictly convex"
        )
    where = "the `beta` that the leaf of `w_0` reaches while `J` has full rank"
    if dual is not None and dual.g.is_constant():
        return f"{where}; `Hess Q = rho` is positive definite there"
    where += "; `Hess Q = g rho` is positive definite there"
    if dual is None:
        return where
    how = "is assumed (below)" if keeps_sign(metric, dual.g) else "is proved"
    return f"{where}, and `g > 0` along the flow {how}"


def _has_kink(node: Tree) -> bool:
    """Tell whether this part of F is a root of an even power, as an absolute value is."""
    match node:
        case Power(Power(_, power), root):
            return power.denominator == 1 and power % 2 == 0 and root.denominator % 2 == 0
    return False


def _may_be_singular(node: Tree, p: Parameterization) -> bool:
    """Tell whether this part of F was not seen to be smooth in all of R^p.

    At a zero of what is divided by, or under a root, the flow ends though K may be finite there:
    ``sqrt(a**2 + b**2)`` has K = 1.
    """
    match node:
        case Operation("/", _, inner) | RealPower(inner, _) | Call("log" | "tan", inner):
            pass
        case Power(inner, exponent) if exponent < 0 or exponent.denominator > 1:
            pass
        case _:
            return False
    if not set(names((inner,))) & set(p.weights):
        return False
    if isinstance(node, Call) and node.function == "tan":
        return True
    f = to_field(inner, p.field, "F")
    constant = f.field.constant(dict(terms(f.numerator)).get((0,) * len(f.field.names), 0))
    above = f.is_polynomial() and is_nonnegative(constant) and not constant.is_zero()
    return not (above and is_nonnegative(f - constant))


def _ends(
    piece: Piece, p: Parameterization, notation: Notation
) -> tuple[list[RationalFunction], bool]:
    """Return zeros and poles of K that are rational in the start, and whether there are others."""
    field = p.start_field.extended((piece.betas[0].name,))
    square = _square(piece, field)
    if square is None:
        return [], False
    ends: dict[RationalFunction, None] = {}
    all_known = True
    for f, _ in factored(square)[1]:
        slope = f.partial(0)
        if f.depends_on(0) and not slope.depends_on(0):
            ends[-(f - slope * field.gens[0]) / slope] = None
        elif f.depends_on(0):
            all_known = all_known and is_definite(f, 1, notation.positive)
    return list(ends), all_known


def _square(piece: Piece, field: FunctionField) -> RationalFunction | None:
    """Return the printed K^2 as a rational function of beta and the start symbols, or None."""
    kernel = kernel_of(piece)
    if kernel is None or piece.roots:
        return None
    kernel = sympy.expand_power_base(written_out(kernel**2, (), piece.constants))
    try:
        return to_field(from_sympy(kernel), field, "K")
    except (DeriveError, KeyError):
        return None


def _between(
    ends: Mapping[RationalFunction, Expr], p: Parameterization, notation: Notation, beta: Expr
) -> str | None:
    """Return the interval around beta_0 in words; None where its ends depend on the start."""
    if not ends:
        return "all real `beta`"
    below: list[Expr] = []
    above: list[Expr] = []
    for end, shown in ends.items():
        field = end.field
        beta0 = p.at_start(p.F[0]).compose(field.gens[1:], field)
        try:
            sign, assumed = start_sign(beta0 - end, notation)
        except (AssumePositive, BranchOpen):
            sign, assumed = 0, ("open",)
        if assumed:
            side = f"the `{beta}` on the same side of `{shown}` as `beta_0`"
            return side if len(ends) == 1 else None
        (below if sign > 0 else above).append(shown)
    if len(below) > 1 or len(above) > 1:
        return None
    if not above:
        return f"`{beta} > {below[0]}`"
    return f"`{below[0]} < {beta} < {above[0]}`" if below else f"`{beta} < {above[0]}`"


HIGHEST = 8
MAXIMAL_WEIGHTS = 8
MAXIMAL_TERMS = 200


@dataclass(frozen=True)
class HalfSpaces:
    """Linear functions of beta, positive where Q is; functions of the start taken to be not 0."""

    walls: tuple[Expr, ...]
    conditions: tuple[Expr, ...]


def find_half_spaces(metric: Metric, notation: Notation) -> HalfSpaces | None:
    """Return half-spaces on whose intersection Q is defined and strictly convex, or None."""
    p = metric.parameterization
    chart = base_chart(metric, notation) if _is_small_polynomial(metric) else None
    if chart is None or not is_bounded(sum((w * w for w in p.w), p.field.zero), chart.coordinates):
        return None
    walls: dict[Expr, None] = {}
    conditions: dict[Expr, None] = {}
    for f, _ in factors(determinant(metric.K)):
        if not stays_away_from_zero(metric, f):
            relation = find_relation(f, chart.coordinates, highest=HIGHEST)
            added = relation and _walls(relation.coefficients[0], metric, notation)
            if not added:
                return None
            walls |= dict.fromkeys(added.walls)
            conditions |= dict.fromkeys(added.conditions)
    return HalfSpaces(tuple(walls), tuple(conditions))


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
    return f.compose((*[f.field.zero] * d, *f.field.gens[d:]), f.field)


def is_definite(f: RationalFunction, d: int, positive: frozenset[str]) -> bool:
    """Tell whether f, or -f, is a function of the start, not negative, plus what is not either.

    Then f has no real zero in beta, its first d variables, unless that function of the start has.
    """
    constant = _constant_part(f, d)
    if constant.is_zero():
        return False
    rest = f - constant
    return rest.is_zero() or any(
        all(is_nonnegative(sign * x, positive) for x in (rest, constant)) for sign in (1, -1)
    )


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
