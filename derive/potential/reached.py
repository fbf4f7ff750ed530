"""Which beta gradient flow from the start reaches: the domain of Q, proved.

On the leaf Hess Q = g rho with rho = (J J^T)^-1 positive definite wherever J has rank d, so Q is
strictly convex on every convex part of its domain on which g > 0; and log g, whose derivatives
have Gram determinants of J as denominators, is finite there.

One output: the flow w' = +-grad F takes beta from beta_0 as far as K = |grad F|^2 stays positive
and F smooth. Nothing else ends it, as the length of its way, int dbeta/sqrt(K), is finite where
beta and 1/K are bounded. So the domain ends where K(beta) is 0 or infinite, or where a base under
a root or a real power, the argument of a logarithm, or a denominator of F is 0. Where such a
function f of the weights has f^n = R(beta; c) on the leaf, that is exactly where R is 0. A function
that is nowhere 0 may tend to 0 as weights become infinite, while beta does not.

Several outputs: :mod:`derive.potential.half_spaces`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Expr

from derive.errors import DeriveError
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.positivity import nearest
from derive.exact.towers.tower import Tower, to_field
from derive.language import from_sympy
from derive.language.tree import Power, Tree, walk
from derive.model.names import powers
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.branch import keeps_sign
from derive.potential.curve_ends import along_curve
from derive.potential.domain import Convexity, Domain, Undecided, Wall
from derive.potential.half_spaces import Leaf, exceptions, half_spaces
from derive.potential.piece import Parametric, Piece, kernel_of, written_out
from derive.weights.dual import DualCoordinates, leaves_zero
from derive.weights.metric import Metric


def find_domain(
    piece: Piece, metric: Metric, dual: DualCoordinates | None, notation: Notation
) -> Domain:
    """Return the domain of Q of a block, and what makes Q convex there."""
    if piece.domain is not None:
        return piece.domain
    if metric.parameterization.d > 1:
        domain = _coupled(metric, dual, notation)
        trees = metric.parameterization.trees
        if any(_has_kink(node) for tree in trees for node in walk(tree)):
            return replace(domain, undecided=(*domain.undecided, "smooth"))
        return domain
    if isinstance(piece, Parametric):
        return along_curve(piece, notation)
    return _single(piece, metric, notation)


def _has_kink(node: Tree) -> bool:
    """Tell whether this part of F is a root of an even power, as an absolute value is."""
    match node:
        case Power(Power(_, power), root):
            return power.denominator == 1 and power % 2 == 0 and root.denominator % 2 == 0
    return False


def _single(piece: Piece, metric: Metric, notation: Notation) -> Domain:
    """Return the domain of one output from K, and from what F may not be smooth at the zeros of."""
    p = metric.parameterization
    undecided: dict[Undecided, None] = {}
    ends: dict[RationalFunction, Expr | None] = {}
    unless: dict[RationalFunction, None] = {}
    for f, vanishing, otherwise in _possible_ends(piece, metric, notation):
        zeros = None if f is None else _linear_zeros(f, notation)
        if zeros is None:
            undecided[otherwise] = None
        else:
            ends = {**dict.fromkeys(zeros[0], vanishing), **ends}
            unless |= dict.fromkeys(zeros[1])
    walls = {end: _wall(end, vanishing, p, notation) for end, vanishing in ends.items()}
    for side in (1, -1):
        slopes = ((e, w.form.diff(piece.betas[0])) for e, w in walls.items() if w.oriented)
        there = [end for end, slope in slopes if slope == -side]
        beyond = {*there} - {*nearest(side, there, notation.positive)}
        walls = {end: wall for end, wall in walls.items() if end not in beyond}
    # From a start at which K is 0 there is no flow.
    images = {b.name: b for b in notation.betas} | notation.start_symbols
    at_start = {repr(f) for f, _ in factors(p.at_start(metric.K[0][0]))}
    met = (to_expr(f, images) for f in unless if repr(f) not in at_start)
    kept = tuple(f for f in met if not _is_excluded(f, piece))
    return Domain(piece.betas, "slope", tuple(walls.values()), tuple(undecided), kept)


def _is_excluded(f: Expr, piece: Piece) -> bool:
    """Tell whether Q assumes that a factor of one of its constants is not 0."""
    assumed = [value for k, value in piece.constants if f"{k} > 0" in piece.assumptions]
    powers = (x.as_base_exp() for k in assumed for x in sympy.Mul.make_args(k))
    found = f in [base for base, n in powers if n.is_positive]
    return found or any(sympy.rem(sympy.numer(sympy.together(k)), f) == 0 for k in assumed)


def _possible_ends(
    piece: Piece, metric: Metric, notation: Notation
) -> Iterator[tuple[RationalFunction | None, Expr | None, Undecided]]:
    """Yield functions of beta at whose zeros K or F may end, and what of the weights is 0 there."""
    leaf = Leaf(metric, notation)
    square = _power_of_kernel(piece, leaf.field)
    if square is not None:
        yield from ((g, None, "kernel") for g, _ in factored(square)[1])
    else:
        apart = leaf.avoids if leaf.stays_bounded else leaf.is_bounded_away
        for g, n in factored(metric.K[0][0])[1]:
            if _is_power_of_output(metric, g):
                yield leaf.zeros_of_output, None, "kernel"
            elif n > 0 and not apart(g):
                yield leaf.zeros(g), None, "kernel"
            elif n < 0 and not leaf.stays_bounded and set(g.variables()) - g.field.constants.keys():
                yield None, None, "kernel"
    for g in _singular(metric.parameterization):
        if not leaf.avoids(g):
            zeros = leaf.zeros_of_output if _is_power_of_output(metric, g) else leaf.zeros(g)
            yield zeros, to_expr(g, notation.weights), "smooth"


def _is_power_of_output(metric: Metric, g: RationalFunction) -> bool:
    """Tell whether g = c F^r on every leaf, r a constant: both are 0, or infinite, at once.

    As log g and log F have the derivatives <grad g, grad F>/g and K/F along grad F, r is constant
    exactly where their quotient is.
    """
    p = metric.parameterization
    r = dot(p.fields[0], p.field.gradient(g)) * p.F[0] / (g * metric.K[0][0])
    return not r.is_zero() and not set(r.variables()) - p.field.constants.keys()


def _singular(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the irreducible functions at whose zeros F may be not smooth."""
    kinds = [g for g in p.field.generators if g.kind == "root"]
    roots = {p.field.embed(g.argument): p.field.named(g.name) for g in kinds}
    met = dict.fromkeys(roots.get(g, roots.get(-g, g)) for g in _below(p))
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


def _power_of_kernel(piece: Piece, field: FunctionField) -> RationalFunction | None:
    """Return a power of the printed K as a rational function of beta and the start, or None."""
    kernel = kernel_of(piece)
    if kernel is None or piece.roots:
        return None
    kernel = written_out(kernel, (), piece.constants)
    powers = (x.exp.q for x in kernel.atoms(sympy.Pow) if x.exp.is_Rational)
    kernel = sympy.expand_power_base(kernel ** math.lcm(*powers))
    try:
        return to_field(from_sympy(kernel), field, "K")
    except (DeriveError, KeyError):
        return None


def _linear_zeros(
    f: RationalFunction, notation: Notation
) -> tuple[list[RationalFunction], list[RationalFunction]] | None:
    """Return the zeros in beta of a function of beta and the start, unless others of these are 0.

    None where one is not found.
    """
    zeros, unless = [], []
    for g, _ in factors(f):
        slope = g.partial(0)
        if not g.depends_on(0):
            continue
        if not slope.depends_on(0):
            zeros.append(-(g - slope * g.field.gens[0]) / slope)
            continue
        middle = exceptions(g, 1, notation.positive)
        if middle is None:
            return None
        unless += middle
    return zeros, unless


def _wall(
    end: RationalFunction, vanishing: Expr | None, p: Parameterization, notation: Notation
) -> Wall:
    """Return the wall at an end of one output, positive at beta_0 where that is proved."""
    (beta,) = notation.betas
    shown = to_factored_expr(end, {beta.name: beta, **notation.start_symbols})
    beta0 = p.at_start(p.F[0]).compose(end.field.gens[1:], end.field)
    try:
        sign, assumed = start_sign(beta0 - end, notation)
    except (AssumePositive, BranchOpen):
        sign, assumed = 1, ("open",)
    return Wall(beta - shown if sign > 0 or assumed else shown - beta, not assumed, vanishing)


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
