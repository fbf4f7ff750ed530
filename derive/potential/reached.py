"""Which beta gradient flow from the start reaches: the domain of Q, proved.

On the leaf Hess Q = g rho with rho = (J J^T)^-1 positive definite wherever J has rank d, so Q is
strictly convex on every convex part of its domain on which g > 0; and log g, whose derivatives
have Gram determinants of J as denominators, is finite there.

One output: the flow w' = +-grad F takes beta from beta_0 as far as K = |grad F|^2 stays positive
and F smooth. Nothing else ends it, as the length of its way, int dbeta/sqrt(K), is finite where
beta and 1/K are bounded; with rates that change with the weights, weights have to be shown to be
finite. So the domain ends where K(beta) is 0 or infinite, or where a base under
a root or a real power, the argument of a logarithm, or a denominator of F is 0. Where such a
function f of the weights has f^n = R(beta; c) on the leaf, that is exactly where R is 0. A function
that is nowhere 0 may tend to 0 as weights become infinite, while beta does not.

Several outputs: :mod:`derive.potential.half_spaces`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse

import sympy
from sympy import Expr

from derive.errors import DeriveError
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.signs import Signs
from derive.exact.towers.tower import Tower, to_field
from derive.language import from_sympy
from derive.language.tree import Power, Tree, walk
from derive.model.names import powers
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors
from derive.model.signs import start_sign
from derive.potential.branch import keeps_sign
from derive.potential.domain import Convexity, Domain, Undecided, Wall
from derive.potential.half_spaces import Leaf, exceptions, half_spaces
from derive.potential.monotone import along_curve, logarithmic, outermost, through
from derive.potential.piece import Piece, written_out
from derive.weights.conserved import find_conserved, find_lie_structure
from derive.weights.coordinate import find_kernel_relation, find_power
from derive.weights.dual import DualCoordinates, leaves_zero
from derive.weights.metric import Metric, find_metric


def find_domain(
    piece: Piece, metric: Metric, dual: DualCoordinates | None, notation: Notation
) -> Domain:
    """Return the domain of Q of a block, and what makes Q convex there.

    It ends, too, where rates that may change their sign along the flow are 0 or infinite.
    """
    if piece.domain is not None:
        return piece.domain
    if metric.parameterization.d > 1:
        return _with_breaks(_coupled(metric, dual, notation), metric.parameterization)
    if piece.time_curve is not None:
        plain = _to_rates(along_curve(piece, piece.time_curve, notation), Leaf(metric, notation))
    else:
        plain = _single(piece, metric, notation)
    if plain.exact and all(wall.oriented for wall in plain.walls):
        return plain
    found = _by_layers(metric.parameterization, notation)
    if found is None or (len(found.undecided), -len(found.walls)) >= (
        len(plain.undecided),
        -len([wall for wall in plain.walls if wall.oriented]),
    ):
        return plain
    return replace(found, interval=plain.interval)


def unsought_domain(metric: Metric, notation: Notation) -> Domain:
    """Return the domain of Q of a block in words alone, before any of its ends is sought."""
    p = metric.parameterization
    if p.d > 1:
        return _with_breaks(Domain(notation.betas, "warp", undecided=("leaf",)), p)
    return _with_breaks(Domain(notation.betas, "slope", undecided=("kernel", "smooth")), p)


def _with_breaks(domain: Domain, p: Parameterization) -> Domain:
    """Return a domain with the words that it ends where F has kinks, or rates change their sign."""
    kinks = any(_has_kink(node) for tree in p.trees for node in walk(tree))
    breaks: dict[Undecided, bool] = {"smooth": kinks, "rates": any(open_factors(p))}
    undecided = dict.fromkeys((*domain.undecided, *(x for x, met in breaks.items() if met)))
    return replace(domain, undecided=tuple(undecided))


def _to_rates(domain: Domain, leaf: Leaf) -> Domain:
    """Return a domain less what lies beyond the ends of rates."""
    for f, vanishing, otherwise in _rate_ends(leaf):
        parts = [] if f is None else [g for g, _ in factors(f) if g.depends_on(0)]
        slopes = [g.partial(0) for g in parts]
        if f is None or any(slope.depends_on(0) for slope in slopes):
            domain = replace(
                domain, undecided=(*{**dict.fromkeys(domain.undecided), otherwise: 0},)
            )
            continue
        beta = f.field.gens[0]
        ends = (beta - g / slope for g, slope in zip(parts, slopes, strict=True))
        walls = (_wall(end, vanishing, leaf.p, leaf.notation) for end in ends)
        known = {wall.form: wall for wall in (*walls, *domain.walls)}
        domain = replace(domain, walls=tuple(known.values()))
    return domain


def _rate_ends(leaf: Leaf) -> Iterator[tuple[RationalFunction | None, Expr | None, Undecided]]:
    """Yield functions of beta at whose zeros factors of rates are 0, which may change their sign.

    Where all factors of F are among these one of them is 0 where beta is.
    """
    open_ = [*map(_by_root, open_factors(leaf.p))]
    ends = _zeros_of_output(leaf, open_, None)
    for g in open_:
        one_of = _is_among(g, ends)
        f = leaf.zeros_of_output if one_of else leaf.zeros(g)
        which = None if one_of and len(ends) > 1 else to_expr(g, leaf.notation.weights)
        yield f, which, "rates"


def _by_layers(p: Parameterization, notation: Notation) -> Domain | None:
    """Return the domain of one output h(G) by that of G, where h is known to be monotone."""
    layer = outermost(p, notation) or logarithmic(p, notation)
    if layer is None:
        return None
    inner = replace(notation, parameterization=layer.inner)
    found = _by_layers(layer.inner, inner)
    if found is None:
        metric = find_metric(find_conserved(find_lie_structure(layer.inner)))
        found = _single(None, metric, inner, layer.side)
    return through(layer, found, notation)


def _has_kink(node: Tree) -> bool:
    """Tell whether this part of F is a root of an even power, as an absolute value is."""
    match node:
        case Power(Power(_, power), root):
            return power.denominator == 1 and power % 2 == 0 and root.denominator % 2 == 0
    return False


def _single(
    piece: Piece | None, metric: Metric, notation: Notation, side_of_zero: int | None = None
) -> Domain:
    """Return the domain of one output from K, and from what F may not be smooth at the zeros of.

    It is to end at 0, too, where a side of that is given, 0 for one that is not known.
    """
    p, betas = metric.parameterization, notation.betas
    undecided: dict[Undecided, None] = {}
    ends: dict[RationalFunction, Expr | None] = {}
    curved: dict[RationalFunction, Undecided] = {}
    for f, vanishing, otherwise in _possible_ends(piece, metric, notation, side_of_zero):
        undecided |= {} if f is not None else {otherwise: None}
        for g in () if f is None else (g for g, _ in factors(f) if g.depends_on(0)):
            slope = g.partial(0)
            if slope.depends_on(0):
                curved.setdefault(g, otherwise)
            else:
                ends.setdefault(-(g - slope * g.field.gens[0]) / slope, vanishing)
    walls = {end: _wall(end, vanishing, p, notation) for end, vanishing in ends.items()}
    if side_of_zero:
        (zero,) = (end for end in walls if end.is_zero())
        walls[zero] = Wall(side_of_zero * betas[0], True)
    walls, sides = _nearest(walls, notation)
    unless = dict.fromkeys(_poles_of_ends(walls, notation))
    for g in (g for g in curved if not _is_beyond(g, sides, notation)):
        middle = exceptions(g, 1, notation.positive)
        undecided |= {} if middle is not None else {curved[g]: None}
        unless |= dict.fromkeys(middle or ())
    kept = _exceptional_starts(metric, notation, unless)
    undecided |= {} if Leaf(metric, notation).is_finite else {"leaf": None}
    return Domain(betas, "slope", tuple(walls.values()), tuple(undecided), kept)


def _poles_of_ends(
    ends: Iterable[RationalFunction], notation: Notation
) -> Iterator[RationalFunction]:
    """Yield functions of the start at whose zeros an end goes to infinity."""
    known = Signs(notation.positive)
    for end in ends:
        yield from known.zeros_of(end.field.polynomial(end.denominator))


def _may_be_removable(f: RationalFunction) -> bool:
    """Tell whether a pole may be none, as of (u - sqrt(u))/(u - 1), which is u/(u + sqrt(u)).

    The numerator is 0 there on one branch of its roots, which are not 0: its norm is.
    """
    field = f.field
    above, below = map(field.polynomial, f.parts)
    roots = [g for g in field.generators if g.kind == "root"]
    if above.is_zero() or {g.name for g in roots}.isdisjoint(above.variables()):
        return False
    norm = {g for g, _ in factors(field.polynomial((1 / above).denominator))}
    bases = {g for root in roots for g, _ in factors(field.embed(root.argument))}
    return any(g in norm and g not in bases for g, _ in factors(below))


def _nearest(
    walls: dict[RationalFunction, Wall], notation: Notation
) -> tuple[dict[RationalFunction, Wall], dict[int, list[RationalFunction]]]:
    """Return the walls of which none is proved to lie beyond another, and the ends by sides."""
    sides: dict[int, list[RationalFunction]] = {}
    (beta,) = notation.betas
    for side in (1, -1):
        oriented = (e for e, w in walls.items() if w.oriented and w.form.diff(beta) == -side)
        there = list(oriented)
        sides[side] = Signs(notation.positive).nearest(side, there)
        walls = {e: wall for e, wall in walls.items() if e not in {*there} - {*sides[side]}}
    return walls, sides


def _exceptional_starts(
    metric: Metric, notation: Notation, unless: Iterable[RationalFunction]
) -> tuple[Expr, ...]:
    """Return what is taken not to be 0 of the start, without what a flow needs besides."""
    images = {b.name: b for b in notation.betas} | notation.start_symbols
    return tuple(to_expr(f, images) for f in unless if repr(f) not in metric.rests_at)


def _is_beyond(
    g: RationalFunction, sides: Mapping[int, Sequence[RationalFunction]], notation: Notation
) -> bool:
    """Tell whether a function of beta is proved not to be 0 on the inner side of some end."""
    (beta,), field = notation.betas, g.field
    known = Signs(notation.positive | {beta.name})
    inside = (end - side * field.gens[0] for side, ends in sides.items() for end in ends)
    return any(known.strict(g.compose([x, *field.gens[1:]], field)) for x in inside)


def _possible_ends(
    piece: Piece | None, metric: Metric, notation: Notation, side_of_zero: int | None
) -> Iterator[tuple[RationalFunction | None, Expr | None, Undecided]]:
    """Yield functions of beta at whose zeros K or F may end, and what of the weights is 0 there."""
    leaf, K = Leaf(metric, notation), metric.K[0][0]
    bounded = leaf.stays_bounded
    apart = leaf.avoids if bounded else leaf.is_bounded_away
    flat = list(filterfalse(apart, (g for g, _ in factors(K))))
    broken = list(filterfalse(leaf.avoids, _singular(metric.parameterization)))
    zeros = _zeros_of_output(leaf, [*flat, *broken], side_of_zero)
    parts = _kernel_parts(piece, leaf) if flat or not bounded else []

    if side_of_zero is not None:
        yield leaf.zeros_of_output, None, "kernel"
    if parts is not None:
        yield from ((g, None, "kernel") for part in parts for g, _ in factored(part)[1])
    else:
        ends = [*flat, *broken, *zeros]
        flat = [g for g in flat if not (bounded and leaf.avoids(g, ends))]
        yield from ((_zeros_of(g, leaf, zeros), None, "kernel") for g in flat)
        yield from () if bounded else ((f, None, "kernel") for f in _ends_far_out(leaf))
    yield from ((_zeros_of(g, leaf, zeros), to_expr(g, notation.weights), "smooth") for g in broken)
    yield from _rate_ends(leaf)
    yield from _doubts(broken, metric)


def _doubts(
    broken: Sequence[RationalFunction], metric: Metric
) -> Iterator[tuple[None, None, Undecided]]:
    """Yield that what breaks F, or K, may be none of their poles."""
    if broken and any(map(_may_be_removable, (*metric.parameterization.F, metric.K[0][0]))):
        yield None, None, "beyond"


def _kernel_parts(piece: Piece | None, leaf: Leaf) -> list[RationalFunction] | None:
    """Return functions of beta and the start of which a power of K is a quotient, or None."""
    return _kernel_in_beta(leaf) if piece is None else _power_of_kernel(piece, leaf.field)


def _zeros_of(
    g: RationalFunction, leaf: Leaf, zeros: Sequence[RationalFunction]
) -> RationalFunction | None:
    """Return a function of beta that is 0 where g is: beta, where the *zeros* of F end the flow."""
    same = _is_among(_by_root(g), zeros) or _power_of_output(leaf.metric, g) is not None
    return leaf.zeros_of_output if same else leaf.zeros(g)


def _ends_far_out(leaf: Leaf) -> Iterator[RationalFunction | None]:
    """Yield where K may tend to 0 as a denominator of it becomes infinite, None where not known.

    Where that is c F^r it does so where beta is infinite, r > 0, or 0, and F is never 0; as where r
    has names, and so positive bases.
    """
    metric, known = leaf.metric, Signs(leaf.notation.positive)
    poles = (g for g, n in factored(metric.K[0][0])[1] if n < 0)
    for g in (g for g in poles if set(g.variables()) - g.field.constants.keys()):
        if (r := _power_of_output(metric, g)) is None:
            yield None
        elif known.of(r) != 1:
            yield leaf.zeros_of_output


def _zeros_of_output(
    leaf: Leaf, ends: Sequence[RationalFunction], side_of_zero: int | None
) -> list[RationalFunction]:
    """Return the factors of F where all end the flow when they are 0, which is where beta is 0."""
    zeros = [*_factors_below_roots(leaf.p.F[0])]
    known = side_of_zero is not None or all(_is_among(g, ends) or leaf.avoids(g) for g in zeros)
    return zeros if known else []


def _is_among(g: RationalFunction, ends: Sequence[RationalFunction]) -> bool:
    return g in ends or -g in ends


def _by_root(g: RationalFunction) -> RationalFunction:
    """Return the root of g, where that has a name: both are 0 at once."""
    kinds = [r for r in g.field.generators if r.kind == "root"]
    roots = {g.field.embed(r.argument): g.field.named(r.name) for r in kinds}
    return roots.get(g, roots.get(-g, g))


def _factors_below_roots(F: RationalFunction) -> Iterator[RationalFunction]:
    """Yield the irreducible factors of F, those of what is under a root in place of the root."""
    roots = {g.name: g.argument for g in F.field.generators if g.kind == "root"}
    for g, _ in factors(F):
        inside = roots.get(repr(g))
        below = [] if inside is None else [f for f, _ in factors(F.field.embed(inside))]
        yield from map(_by_root, below or [g])


def _power_of_output(metric: Metric, g: RationalFunction) -> RationalFunction | None:
    """Return r of g = c F^r on every leaf, a constant; None of another g.

    As log g and log F have the derivatives <grad g, grad F>/g and K/F along grad F, r is constant
    exactly where their quotient is. Both are 0, or infinite, at once if r > 0.
    """
    p = metric.parameterization
    r = dot(p.fields[0], p.field.gradient(g)) * p.F[0] / (g * metric.K[0][0])
    return None if r.is_zero() or set(r.variables()) - p.field.constants.keys() else r


def _singular(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the irreducible functions at whose zeros F may be not smooth."""
    met = dict.fromkeys(_by_root(g) for g in _below(p))
    # Numbers and functions of parameters are what they are at the start.
    yield from (g for g in met if any(not x.is_zero() for x in p.field.gradient(g)))


def _below(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the irreducible factors of denominators, in calls too, and of what is under roots."""
    inside = (p.field.embed(g.argument) for g in p.field.generators if g.argument is not None)
    yield from (g for f in (*p.F, *inside) for g, n in factored(f)[1] if n < 0)
    for tree, exponent in powers(p.trees):
        base = p.field.embed(Tower.over(p.field, p.positive).element(tree))
        for g, n in factored(base)[1]:
            if n % 2 or exponent is None or n * exponent % 2:
                yield g


def _power_of_kernel(piece: Piece, field: FunctionField) -> list[RationalFunction] | None:
    """Return functions of beta and the start of which a power of the printed K is a quotient.

    They are in lowest terms by the names of constants. None where they are not rational.
    """
    kernel = piece.kernel
    if kernel is None or piece.roots:
        return None
    powers = (x.exp.q for x in kernel.atoms(sympy.Pow) if x.exp.is_Rational)
    kernel = sympy.expand_power_base(kernel ** math.lcm(*powers))
    parts = (written_out(part, (), piece.constants) for part in sympy.fraction(kernel))
    try:
        return [to_field(from_sympy(part), field, "K") for part in parts]
    except (DeriveError, KeyError):
        return None


def _kernel_in_beta(leaf: Leaf) -> list[RationalFunction] | None:
    """Return functions of beta and the start of which K is a quotient, or None."""
    relation = find_kernel_relation(leaf.metric, leaf.notation, find_power(leaf.metric))
    if relation is None or relation.m != 1:
        return None
    parts = map(relation.field.polynomial, relation.power.parts)
    return [leaf.field.embed(relation.with_values(part)) for part in parts]


def _wall(
    end: RationalFunction, vanishing: Expr | None, p: Parameterization, notation: Notation
) -> Wall:
    """Return the wall at an end of one output, positive at beta_0 where that is proved."""
    (beta,) = notation.betas
    shown = to_factored_expr(end, {beta.name: beta, **notation.start_symbols})
    beta0 = p.at_start(p.F[0]).compose(end.field.gens[1:], end.field)
    try:
        sign, assumed = start_sign(beta0 - end, notation)
        known = not assumed
    except (AssumePositive, BranchOpen):
        known = False
    return Wall(shown - beta if known and sign < 0 else beta - shown, known, vanishing)


def _coupled(metric: Metric, dual: DualCoordinates | None, notation: Notation) -> Domain:
    """Say where several coupled outputs have Q: half-spaces where proved, else in words."""
    known = half_spaces(metric, notation)
    return known or Domain(notation.betas, _convexity(metric, dual), undecided=("leaf",))


def _convexity(metric: Metric, dual: DualCoordinates | None) -> Convexity:
    """Say what makes Q convex: the metric alone, or the sign of the warp."""
    if dual is not None and dual.g.is_constant():
        return "metric"
    if dual is None or leaves_zero(dual):
        return "warp"
    return "warp assumed" if keeps_sign(metric, dual.g) else "warp proved"
