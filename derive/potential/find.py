"""Stage 8: the mirror potential Q, in the most explicit kind that was proved.

Q is fixed by grad Q(beta_0) = 0 and left open up to a positive factor (the unit of g) and an
additive constant. Then grad Q(beta(t)) stays in the row space of the data along gradient flow,
and the limit solves min Q(beta) subject to X beta = y.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.elementary_signs import with_squares
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.model.condition import Condition, Sign
from derive.model.labels import quoted
from derive.model.notation import BranchOpen, Notation, assuming, to_expr
from derive.model.signs import Premises, sign_at_start, start_conditions
from derive.potential.along_weight import integrate_along_weight
from derive.potential.block import BlockPotential
from derive.potential.branch import keeps_sign, with_guards
from derive.potential.chart import base_chart
from derive.potential.coupled import in_weights, write_in_beta
from derive.potential.domain import Wall
from derive.potential.kernel_integral import (
    in_beta,
    integrate_along_beta,
    integrate_kernel,
    with_reason,
)
from derive.potential.leaf_curve import (
    LeafCurve,
    along_itself,
    first_form,
    leaf_curves,
    through_call,
    through_root,
    through_weights,
)
from derive.potential.parametric import parametrize
from derive.potential.piece import Integrand, Left, Piece, asked_of_start, poles
from derive.potential.quadrature import (
    integrate_above_weight,
    integrate_along_flow,
    integrate_along_segment,
)
from derive.potential.reached import find_domain, unsought_domain
from derive.potential.separation import decided, find_separation, sum_of_parts
from derive.potential.shortest import METRIC, SEPARATE, WEIGHT_SPACE, Form, shorter, shortest
from derive.potential.vectors import find_radial_potential
from derive.verdict import Finding, Verdict
from derive.weights.adjoin import find_warp, logarithmic_law
from derive.weights.conserved import along, find_conserved, find_lie_structure
from derive.weights.dual import (
    DualCoordinates,
    conjugate_in_time,
    find_dual,
    generic_parameters,
    leaves_zero,
    orient,
    positive_radicands,
)
from derive.weights.hessian import WarpVerdict, decide_hessian, decide_warp
from derive.weights.metric import Metric, find_metric

LONG = 100
"""Operations from which on Q along a curve is compared with Q in the weights."""


def find_potential(warping: WarpVerdict, notation: Notation) -> BlockPotential:
    """Return Q on one block, Hess Q = g rho with grad Q(beta_0) = 0, the simplest form first.

    Args:
        warping: the decision on the d outputs of the block.
        notation: names of their d coordinates beta and of the start symbols.

    Returns:
        Q with its domain, PROVED; without Q where none exists, or where the start leaves open
        which branch it takes (UNDECIDED).

    Source: Woodworth et al. 2020, for Q through its parameter; Azulay et al. 2021,
    section 5, for a warp.
    """
    if warping.verdict is not Verdict.PROVED:
        return BlockPotential(warping, None, None, None, warping.finding)
    direction = warping.metric.direction
    if direction is not None:
        above, other = find_radial_potential(warping, direction), direction.other_side
        if other is None:
            return above
        conserved = find_conserved(find_lie_structure(other.parameterization))
        turned = decide_warp(decide_hessian(find_metric(conserved, other)))
        below = find_radial_potential(turned, other)
        # u/|u| stays where phi is 0, and steers s by its product with lambda.
        toward = Symbol(f"<lambda, {direction.start_vector}>")
        (rate,) = (along(x, direction.phi) / direction.n for x in direction.parameterization.fields)
        return _two_sides(above, below, direction.phi, [(toward, rate)])
    dual = find_dual(warping)
    if dual is None or not leaves_zero(dual):
        return _on_one_side(warping, dual, notation)
    above, below = (_on_one_side(warping, orient(dual, sign), notation) for sign in (1, -1))
    steering = [notation.fresh(f"lambda{a}") for a in dual.parameterization.labels]
    rates = [along(x, dual.g) for x in dual.parameterization.fields]
    return _two_sides(above, below, dual.g, list(zip(steering, rates, strict=True)))


def integrated(warping: WarpVerdict, notation: Notation) -> BlockPotential:
    """Return Q by an integral, which is known to exist before any other form of it is sought."""
    unknown = BlockPotential(warping, None, None, None, warping.finding)
    if warping.verdict is not Verdict.PROVED or warping.metric.direction is not None:
        return unknown
    try:
        if warping.parameterization.d == 1:
            piece = integrate_along_flow(warping.metric, notation, "time")
        else:
            piece = integrate_along_segment(warping, notation, "time")
        given = start_conditions(warping.parameterization, notation)
    except BranchOpen as open_branch:
        return replace(unknown, finding=Finding(Verdict.UNDECIDED, str(open_branch)))
    domain = unsought_domain(warping.metric, notation)
    piece = replace(piece, domain=domain, assumptions=(*given, *piece.assumptions))
    finding = Finding(Verdict.PROVED, f"grad Q = y - y(w_0), {piece.kind} form", piece.evidence)
    return replace(unknown, piece=piece, finding=finding)


def _two_sides(
    above: BlockPotential,
    below: BlockPotential,
    g: RationalFunction,
    rates: Sequence[tuple[Symbol, RationalFunction]],
) -> BlockPotential:
    """Return Q where g ends positive, with that where it ends negative; *rates* are those of g."""
    if above.piece is None or below.piece is None:
        return above
    p = above.warping.parameterization
    notation = Notation(p, tuple(range(p.d)))
    # Linear in the steering.
    terms = (x * to_expr(p.at_start(rate), notation.start_symbols) for x, rate in rates)
    slope = sympy.Add(*terms)
    at = "" if slope == 0 else f", where its derivative along the flow is {quoted(slope, p)}"
    written = quoted(to_expr(g, notation.weights), p)
    reason = f"g = {written} is 0 at the start{at}; Q is that of the side on which the flow ends"
    return replace(above, finding=replace(above.finding, reason=reason), other_side=below)


def _on_one_side(
    warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation
) -> BlockPotential:
    """Return Q where the warp is positive; where it is 0 at the start, as it is given."""
    decided, p = warping if dual is None else dual.warping, warping.parameterization
    sides, zeros = list[Condition](), list[Condition]()
    try:
        if dual is not None and leaves_zero(dual):
            sides = [Condition(to_expr(dual.g, notation.weights), Sign.ENDS_POSITIVE)]
        elif dual is not None:
            start = dual.parameterization.at_start(dual.g)
            warp = sign_at_start(start, notation).settled()
            notation, sides = warp.notation, [*warp.conditions]
            dual = orient(dual, warp.sign)
            shown = (to_expr(f, notation.start_symbols) for f, _ in factors(start))
            zeros = [Condition(f, Sign.NONZERO) for f in shown]
        if dual is not None:
            sides += positive_radicands(dual, p, notation)
            sides += generic_parameters(dual, notation)

        def premises(piece: Piece) -> Premises:
            own = (*piece.assumptions, *sides, *poles(piece, symbols), *zeros)
            return Premises((*given, *own), notation, piece.constants, moves)

        given, symbols = start_conditions(p, notation), notation.start_symbols
        moves = [p.at_start(warping.metric.K[0][0])] if p.d == 1 else []
        if p.d == 1:
            forms = assuming(lambda n: _single(warping, dual, n), notation)
        else:
            forms = _coupled(warping, dual, notation)
        (form, known), *others = _allowed(forms, premises)
    except BranchOpen as undetermined:
        finding = Finding(Verdict.UNDECIDED, str(undetermined))
        return BlockPotential(decided, dual, None, None, finding)
    piece = replace(form.piece, assumptions=with_guards(known.irredundant, decided.metric))
    piece = _with_domain(piece, decided.metric, dual, known, notation)
    among = f", the shortest of {1 + len(others)} that agree" if others else ""
    reason = f"grad Q = y - y(w_0), {piece.kind} form{among}"
    finding = Finding(Verdict.PROVED, reason, piece.evidence)
    offered = (form, *(other for other, _ in others))
    chart = next((x.chart for x in offered if x.chart is not None), None)
    return BlockPotential(decided, dual, piece, chart, finding, forms=offered)


def _with_domain(
    piece: Piece, metric: Metric, dual: DualCoordinates | None, known: Premises, notation: Notation
) -> Piece:
    """Return Q with its domain, by what is known of the start."""
    domain = find_domain(piece, metric, dual, notation.assuming(known.positive))
    left = (f for f in domain.unless if not known.imply(Condition(f, Sign.NONZERO)))
    start = dict(zip(piece.betas, notation.beta_0, strict=True))
    walls = tuple(_on_side_of(wall, start, known) for wall in domain.walls)
    domain = replace(domain, walls=walls, unless=tuple(map(with_squares, left)))
    return replace(piece, domain=domain)


def _on_side_of(wall: Wall, start: Mapping[Symbol, Expr], known: Premises) -> Wall:
    """Return a wall whose sign at the start is said, where that is seen to be implied."""
    if not wall.oriented:
        at_start = wall.form.xreplace(start)
        for sign in (1, -1):
            if known.imply(Condition(sign * at_start)):
                return replace(wall, form=sign * wall.form, oriented=True)
    return wall


def _allowed(
    forms: Sequence[Form], premises: Callable[[Piece], Premises]
) -> list[tuple[Form, Premises]]:
    """Return the forms that some start allows, with what they assume; BranchOpen without any."""
    found, faults = list[tuple[Form, Premises]](), list[BranchOpen]()
    for form in forms:
        try:
            found.append((form, premises(form.piece)))
        except BranchOpen as fault:
            faults.append(fault)
    if not found:
        raise faults[0]
    return found


def _single(warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation) -> list[Form]:
    """Return Q = beta mu - R of one output, dbeta/dmu = K along w' = grad F, R' = beta.

    The leaf is a curve, in any coordinate t of it: mu = int dt/r and R = int beta/r dt where dt/dmu
    = r(t). The coordinates are tried by what they leave: beta itself, or what F is a function of;
    mu; a root of f(t) = beta; at last integrals over a weight, or over beta.
    """
    metric = warping.metric

    @cache
    def curves() -> list[LeafCurve]:
        return [*leaf_curves(warping, notation)]

    def of(piece: Piece | None) -> Form | None:
        if piece is None:
            return None
        piece = replace(piece, assumptions=(*notation.assumptions, *piece.assumptions))
        return Form(METRIC, piece, base_chart(metric, notation))

    tries: Sequence[Callable[[], Form | None]] = (
        lambda: of(integrate_kernel(metric, notation)),
        lambda: first_form(curves(), through_call),
        lambda: of(parametrize(metric, dual, notation)),
        lambda: first_form(curves(), through_root),
        lambda: first_form(curves(), through_weights),
    )
    closed = next(filter(None, map(_proposed, tries)), None)
    return [closed or _integral(warping, dual, notation, curves)]


def _proposed(form: Callable[[], Form | None]) -> Form | None:
    """Return a closed form; None where a function in it has no place in a field that it needs."""
    with suppress(InputError):
        return form()
    return None


def _integral(
    warping: WarpVerdict,
    dual: DualCoordinates | None,
    notation: Notation,
    curves: Callable[[], Sequence[LeafCurve]],
) -> Form:
    """Return Q along a weight or a function of them, in the weights, or by integrals over beta.

    That dQ/dbeta is not elementary is so in each coordinate.
    """
    form, along = _by_integrals(warping, dual, notation, curves)
    left = form.piece.integrand
    if left is None or not left.unknown or along is None or along.integrand is None:
        return form
    there = along.integrand.elsewhere(symbol for symbol, _ in along.constants)
    return replace(form, piece=replace(form.piece, integrand=there or left))


def _by_integrals(
    warping: WarpVerdict,
    dual: DualCoordinates | None,
    notation: Notation,
    curves: Callable[[], Sequence[LeafCurve]],
) -> tuple[Form, Piece | None]:
    """Return Q by the integrals that leave least, and the first piece along a weight."""
    metric = warping.metric
    R = conjugate_in_time(metric.conserved, dual)
    by_place = integrate_along_weight(metric, R, notation)
    along = first = next(by_place, None)
    if along is None or along.curve is None:
        along = integrate_above_weight(metric, R, notation) or along
    open_ = along is None or along.kind == "quadrature"
    if open_ and (form := first_form(curves(), along_itself)) is not None:
        return form, first
    along = along or next(filter(None, by_place), None)
    if along is None or _openness(along) > (0, LONG):
        lifted = in_weights(warping, dual, notation) or sum_of_parts(warping, notation)
        if lifted and (along is None or _openness(lifted) < _openness(along)):
            return Form(METRIC, lifted, integrate_along_beta(metric, notation)[1]), first
    return _over_beta(metric, along, notation), first


def _over_beta(metric: Metric, along: Piece | None, notation: Notation) -> Form:
    """Return Q by an integral over beta, or *along* a weight, whichever leaves and asks less."""
    integral, chart = integrate_along_beta(metric, notation)
    if integral.kernel is None:
        unwritten = Integrand(_unwritten(metric, "kernel"))
        return Form(METRIC, along or replace(integral, integrand=unwritten), chart)
    if (closed := in_beta(integral, chart)) is not None:
        return Form(METRIC, closed, chart)
    over_beta = with_reason(integral, metric.parameterization)
    if along is None:
        return Form(METRIC, over_beta, chart)
    asked, less = (asked_of_start(piece, metric, notation) for piece in (over_beta, along))
    if asked <= less and (form := min((along, over_beta), key=_integrals_left)) is over_beta:
        return Form(METRIC, form, chart)
    return Form(METRIC, along, chart if asked <= less else base_chart(metric, notation))


def _integrals_left(piece: Piece) -> tuple[int, bool]:
    """Return the number of integrals in Q, and whether beta is below them by a root or a curve."""
    return len(piece.value.atoms(sympy.Integral)), bool(piece.roots or piece.curve)


def _openness(piece: Piece) -> tuple[int, int]:
    """Return the number of integrals in Q, and how long it is, with beta of a curve."""
    curve = () if piece.curve is None else (piece.curve.beta,)
    shown = (piece.value, *piece.gradient, *curve)
    return len(piece.value.atoms(sympy.Integral)), sum(int(e.count_ops()) for e in shown)


def _coupled(warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation) -> list[Form]:
    """Return Q of several outputs, the shortest form first; an integral where none is closed."""
    if forms := shortest(_forms(warping, dual, notation)):
        return [shorter(forms[0]), *forms[1:]]
    if dual is not None and leaves_zero(dual):
        raise BranchOpen("the warp g is 0 at the start, and no closed form of Q was found")
    piece = in_weights(warping, dual, notation)
    piece = piece or integrate_along_segment(warping, notation, _why_left(warping, dual))
    kept = () if dual is None else keeps_sign(dual.metric, dual.g)
    assumptions = (*notation.assumptions, *piece.assumptions, *kept)
    piece = replace(piece, assumptions=assumptions)
    return [Form(WEIGHT_SPACE, piece, base_chart(warping.metric, notation))]


def _forms(warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation) -> list[Form]:
    """Return the forms of Q that are found: by the dual coordinates, and as a sum."""
    written = None if dual is None else write_in_beta(dual, notation)
    summed = _separated(warping, notation)
    found = [] if written is None else [Form(WEIGHT_SPACE, *written)]
    return found if summed is None else [*found, Form(SEPARATE, summed, None)]


def _separated(warping: WarpVerdict, notation: Notation) -> Piece | None:
    """Return Q as a sum of functions of one linear function of beta each, or None."""
    p = warping.parameterization
    if warping.hessian.verdict is not Verdict.PROVED:
        return None
    separation = find_separation(p)
    if separation is None:
        return None
    pieces: list[Piece] = []
    for k, single in enumerate(separation.outputs(p), 1):
        x = notation.fresh(f"x{k}").name
        found = find_potential(decided(single), Notation(single, suffix=str(k), coordinate=x)).piece
        if found is None or found.kind != "explicit" or found.roots:
            return None
        pieces.append(found)
    given, symbols = {*start_conditions(p, notation), *notation.assumptions}, {*p.start_symbols}
    signs = ({a for a in piece.assumptions if a.sign is not Sign.NONZERO} for piece in pieces)
    assumed = [found - given for found in signs]
    if sum(any(symbols & a.names for a in found) for found in assumed) > 1:
        return None  # signs that were assumed one by one need not go together
    return separation.summed(pieces, notation)


def _why_left(warping: WarpVerdict, dual: DualCoordinates | None) -> Left:
    """Say which step to a closed form of coupled outputs was not found."""
    if dual is None:
        return "warp" if find_warp(warping) is None else "dual"
    return _unwritten(warping.metric, "leaf")


def _unwritten(metric: Metric, unknown: Left) -> Left:
    """Say why the weights were not written in beta."""
    conserved = metric.conserved
    if len(conserved.laws) == conserved.bound:
        return "root"
    return unknown if logarithmic_law(conserved) is None else "law"
