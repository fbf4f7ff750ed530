"""What follows from Q, as printed: solutions in the dual variable, limits, costs, margins.

Along the flow grad Q(beta) = mu is in the row space of the data, so beta = h(z) in the dual
variable z is right, up to the sign and the scale of z, exactly when grad Q(h(z)) is a constant
multiple of z.

Limits of Q are in a start symbol, along a path of starts, or in a joint quantity; costs are
min |w|^2 subject to F(w) = beta; and the direction on separable data, under losses with an
exponential tail, minimises what is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy
from sympy import Add, Expr, Symbol

from derive.catalogue.audit.germs import (
    COORDINATES,
    Germs,
    Point,
    Subject,
    Where,
    germs_from_start,
    points,
    settled,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.proportionality import (
    BALLS,
    NOT_ZERO,
    Build,
    Elements,
    Proportional,
    compare,
    judge,
    witness,
)
from derive.catalogue.library import Printed
from derive.derivation import derive
from derive.errors import DeriveError
from derive.exact.signs import Signs
from derive.exact.towers.germ import Unsettled
from derive.explicit.constrained import pose_cost
from derive.explicit.eliminated import minimum_by_elimination
from derive.language import Name, Tree, names, parse_expression, to_sympy
from derive.limits.find import regimes
from derive.limits.limit import Limit, with_scale
from derive.mirror_map import inverse_of, tangent
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Curve
from derive.render.plain import plain
from derive.roads.components import components_along_axis
from derive.separable.find import margins
from derive.verdict import Verdict

PLACES = tuple(Fraction(x) for x in ("1/50", "1/30", "1/70", "1/40", "-1/60", "1/90"))


def check_path(subject: Subject, printed: Printed) -> Judgement:
    """Compare a printed solution with the derived one."""
    gradient = subject.gradient
    if subject.curve is not None and gradient is not None:
        return _check_curve(subject, subject.curve, gradient[0], printed)
    if gradient is None or subject.open_dimension:
        raise Unsettled("grad Q is not derived in closed form in these coordinates")
    d = len(subject.betas)
    names = ("z",) if d == 1 else tuple(f"z{i + 1}" for i in range(d))
    build = partial(_slopes_of_dual, subject, printed, gradient)
    derived = partial(_derived, subject, gradient, names)

    def agree(same: Proportional) -> Judgement:
        if same.sign == 0:
            reason, z = "it stays where it is for every z", [*same.germs.point][:d]
            beside = _inverse(subject, z) or ()
            shown = (witness(same.germs, same.germs.texts, [same.germs.read(x) for x in beside]),)
            return difference(reason, same.method, derived(), shown if beside else ())
        return _judge_origin(subject, same, derived)

    reason = "grad Q(h(z)) is not a constant multiple of z; values are d grad Q(h)/dz and 1"
    return compare(build, _groups(subject, names), reason, derived, agree)


def _slopes_of_dual(
    subject: Subject, printed: Printed, gradient: Sequence[Expr], point: Point
) -> tuple[Germs, Elements, Elements]:
    """Return d grad Q(h(z))/dz, and the identity."""
    d = len(subject.betas)
    germs = germs_from_start(subject, printed, point, d)
    for beta, tree in zip(subject.betas, germs.trees, strict=True):
        germs.images[beta.name] = germs.read(tree)
    y, field = [germs.read(x) for x in gradient], germs.tower.field
    identity = [field.constant(int(i == j)) for i in range(d) for j in range(d)]
    return germs, [germs.tower.derivative(x, j) for x in y for j in range(d)], identity


def _judge_origin(subject: Subject, same: Proportional, derived: Callable[[], str]) -> Judgement:
    """Return the judgement where all is right but, perhaps, that h(0) = beta_0."""
    germs = same.germs
    images = {**germs.images, **dict.fromkeys([*germs.point][: germs.d], germs.tower.field.zero)}
    at_zero = [germs.tower.read(tree, images) for tree in germs.trees]
    start = [germs.images[f"{beta}_0"] for beta in subject.betas]
    if germs.vanish([x - y for x, y in zip(at_zero, start, strict=True)], "h(0) = beta_0"):
        return agreement(same.method, _dual_words(same.factor))
    reason = "z = 0 is not where the flow starts; values are h(0) and beta_0"
    return difference(reason, NOT_ZERO, derived(), (witness(germs, at_zero, start),))


def _derived(subject: Subject, gradient: Sequence[Expr], names: Sequence[str]) -> str:
    """Return beta = h(z), or grad Q = z where that was not solved, with z = grad Q."""
    solutions = _inverse(subject, names)
    if solutions is None:
        return "; ".join(f"{plain(g)} = {z}" for g, z in zip(gradient, names, strict=True))
    pairs = zip(subject.betas, solutions, strict=True)
    return "; ".join(f"{b} = {plain(x)}" for b, x in pairs) + f", {', '.join(names)} = grad Q"


def _inverse(subject: Subject, names: Sequence[str]) -> list[Expr] | None:
    """Return beta as a function of z with grad Q(beta) = z, or None where there is no formula."""
    z = {b: Symbol(name, real=True) for b, name in zip(subject.betas, names, strict=True)}
    found = dict[Symbol, Expr]()
    for piece in subject.derivation.potential.pieces:
        solved = inverse_of(piece, [z[b] for b in piece.betas])
        if solved is None or solved[1]:
            return None
        found |= zip(piece.betas, (x.replace(tangent, sympy.tan) for x in solved[0]), strict=True)
    return [found[b] for b in subject.betas]


def _check_curve(subject: Subject, curve: Curve, slope: Expr, printed: Printed) -> Judgement:
    """Compare h(z) with the derived curve at kappa z, kappa from the slopes at z = 0."""
    z = Symbol("z")
    symbols = {**{s.name: s for s in curve.beta.free_symbols}, "z": z}
    for name, text in printed.where:
        symbols[name] = to_sympy(parse_expression(text), symbols)
    h = to_sympy(texts_of(printed)[0], symbols)
    parameter = curve.parameter
    try:
        slopes = h.diff(z).subs(z, 0), curve.beta.diff(parameter).subs(parameter, 0)
        kappa = sympy.powsimp(sympy.simplify(slopes[0] / slopes[1]), force=True)
    except (ValueError, TypeError, ZeroDivisionError):
        raise Unsettled("the slope of the printed solution at z = 0 is not known") from None
    scaled = curve.beta.subs(parameter, kappa * z)
    # The gradient is a multiple of the parameter: its derivative is the factor.
    unit = sympy.powsimp(slope.diff(parameter) * kappa)

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        origin = germs_from_start(subject, printed, {**point, "z": Fraction(0)}, 1)
        slope = [origin.tower.derivative(origin.read(x), 0) for x in (h, scaled)]
        if not origin.tower.ball(slope[0] - slope[1]).contains(0):
            raise Unsettled("kappa is not the quotient of the slopes")
        germs = germs_from_start(subject, printed, point, 1)
        return germs, germs.texts[:1], [germs.read(scaled)]

    derived = partial(_in_dual_time, subject, curve, slope)
    reason = "it differs for every scale of z; the derived values are for equal slopes at z = 0"

    def agree(same: Proportional) -> Judgement:
        if same.factor not in (1, None):
            return difference(reason, BALLS, derived())
        return agreement(same.method, _dual_words(unit))

    return compare(build, _groups(subject, ("z",)), reason, derived, agree)


def _in_dual_time(subject: Subject, curve: Curve, slope: Expr) -> str:
    """Return beta = h(mu) with grad Q = mu."""
    z, mu = curve.parameter, Symbol("mu", real=True)
    unit = slope.diff(z)
    return f"{subject.betas[0]} = {plain(curve.beta.subs(z, mu / unit))}, mu = grad Q"


def _groups(subject: Subject, names: Sequence[str]) -> list[list[dict[str, Fraction]]]:
    """Return the points of :func:`points` with small values of the dual variable."""
    n = len(PLACES)
    return [
        [{**x, **{z: PLACES[(shift + k) % n] for k, z in enumerate(names)}}
         for shift, x in enumerate(group[:n])]
        for group in points(subject, names)
    ]  # fmt: skip


def _dual_words(factor: Expr | None) -> tuple[str, ...]:
    """Name the scale of the dual variable: grad Q(h(z)) = factor z."""
    if factor is None:
        return ("the scale of the dual variable",)
    if factor == 1:
        return ()
    if factor == -1:
        return ("the sign of the dual variable",)
    kind = "sign and scale" if factor.could_extract_minus_sign() else "scale"
    return (f"{kind} of the dual variable: grad Q = {plain(factor)} * z",)


PLANE = 2
"""The dimension in which limits of a model of open dimension are taken: Q = q(s) + z.beta."""
BOUNDS = tuple(Fraction(2) ** k for k in range(-8, 9))


def check_limit(subject: Subject, printed: Printed) -> Judgement:
    """Compare what Q tends to: free are a positive factor and an additive constant.

    The last entry of ``where`` says what tends to what: a symbol of the start, a new name that
    scales the whole start, or a function of the start. Weights in ``where`` are a path of starts.
    """
    if not printed.where:
        raise Unsettled("the record does not say what tends to what")
    direction, p = subject.derivation.direction, subject.derivation.parameterization
    if direction is not None:
        p = components_along_axis(direction, PLANE)
    *rest, (text, toward) = printed.where
    if start := {name: parse_expression(x) for name, x in rest if name in p.weights}:
        p = p.with_(start={**dict(p.start), **start})
    definitions = tuple((name, x) for name, x in rest if name not in p.weights)
    what = parse_expression(text)
    if isinstance(what, Name) and what.name not in dict(definitions):
        variable, more = what.name, ""
    else:
        _require_proportion(p, what, definitions)
        more = f"; Q depends on K(w_0) alone, and ({text})/K(w_0) is bounded both ways"
        variable = "scale"
    scaled = with_scale(p, variable)
    # What was derived already serves where the path is that of the model.
    known = subject.derivation
    if known.parameterization is not scaled:
        known = derive(scaled)
    (limit,) = regimes(known, variable, (toward,)).limits
    return _compare(Subject(known), limit, printed, definitions, more)


def _require_proportion(p: Parameterization, what: Tree, definitions: Where) -> None:
    """Raise Unsettled unless the limit in a function of the start is that of K(w_0)."""
    known = regimes(derive(p), p.start_symbols[0], ())
    if known.deciding is None or known.homogeneity is None:
        raise Unsettled("Q is not proved to depend on the start through K(w_0) alone")
    point = {name: Fraction(5 + k, 3) for k, name in enumerate(p.start_symbols)}
    germs = Germs.at(point, (), 0)
    germs.define(definitions)
    tower = germs.tower
    quotient = tower.tidy(germs.read(what) / germs.read(known.kernel.matrix[0, 0]))
    signs = Signs(p.positive)
    bounds = [tower.field.constant(c) for c in BOUNDS]
    above = any(signs.is_nonnegative(quotient - c) for c in bounds)
    if not above or not any(signs.is_nonnegative(c - quotient) for c in bounds):
        raise Unsettled("it is not proved to be in proportion to K(w_0)")


def _compare(
    there: Subject, limit: Limit, printed: Printed, definitions: Where, more: str
) -> Judgement:
    """Compare the printed form with the limit; *more* says how it came."""
    if limit.finding.verdict is not Verdict.PROVED or limit.potential is None:
        raise Unsettled(f"the limit is not derived: {limit.finding.words}")
    if limit.potential.Q is None or limit.unit is None:
        raise Unsettled("the limit of Q is derived as a gradient only")
    Q, trees = limit.potential.Q, texts_of(printed)

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = _germs_in_limit(there, limit, definitions, point, trees)
        if "s" in names(trees):
            germs.know({"s": sympy.sqrt(sympy.Add(*(b**2 for b in there.betas)))})
        values = *germs.texts, germs.read(Q)
        given, derived = ([germs.along(f, k) for k in range(germs.d)] for f in values)
        return germs, given, derived

    groups = list(points(there, [x.name for x in limit.coordinates]))
    order = "of order" if limit.sharp else "at most of order"
    error = "" if limit.error is None else f"; relative error {order} {plain(limit.error)}"
    method = f"{limit.finding.words}; N = {plain(limit.unit)}{error}{more}"
    derived = f"Q/N -> {plain(Q)}, N = {plain(limit.unit)}, as {limit.point.text}"
    reason = "no constant factor makes the gradients equal; values are gradients"
    agree = partial(judge, reason=reason, derived=derived, method=method)
    found = compare(build, groups, reason, lambda: derived, agree)
    if found.witnesses and _are_parallel(there, build, groups):
        return agreement(method, ("an increasing function of it, which has the same minimizer",))
    return found


def _germs_in_limit(
    there: Subject, limit: Limit, definitions: Where, point: Point, trees: Sequence[Tree]
) -> Germs:
    """Return the leaf in the arguments of the limit, which are beta or beta - beta_0."""
    for x, side in zip(limit.coordinates, limit.below, strict=False):
        if side is None and point[x.name] < 0:
            raise Unsettled("F does not reach there")
    germs = Germs.at(point, trees, len(limit.coordinates))
    germs.know(there.starts)
    origin = limit.origin or (sympy.S.Zero,) * germs.d
    basis = sympy.eye(germs.d) if limit.basis is None else limit.basis
    moved = basis * sympy.Matrix(limit.coordinates)
    for b, x, away in zip(there.betas, moved, origin, strict=True):
        germs.images[b.name] = germs.tower.tidy(germs.read(x) + germs.read(away))
    germs.define(definitions)
    return germs


def _are_parallel(there: Subject, build: Build, groups: Sequence[Sequence[Point]]) -> bool:
    """Tell whether coupled gradients are proved positive multiples of each other."""
    if len(there.p.blocks) > 1 or there.p.d == 1:
        return False

    def at(point: Point) -> bool:
        germs, given, derived = build(point)
        tower, ((a, b), *others) = germs.tower, zip(given, derived, strict=True)
        parallel = all(tower.is_zero(x * b - y * a) for x, y in others)
        return parallel and bool(tower.ball(a / b) > 0)

    with suppress(Unsettled):
        return all(settled(groups[0], at))
    return False


MARGINS = "X beta >= 1"
EXAMPLE = Witness((("X", "[[1], [2]]"), ("y", "(1, 1)")), ("no beta",), ("beta = 1",))
"""Whatever the norm is, of beta >= 1 and 2 beta >= 1 the least has beta = 1."""
FIRST_ORDER = "first order: KKT points of the problem in the weights, whose minimizers these are"
COST_METHOD = "R_F by exact duality, and the theorem on KKT points in the weights"
METHOD = "exact expansions of Q far out, and the hypotheses of the theorem on its horizon"


def check_cost(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta; for a symbolic degree the power of each coordinate."""
    if subject.p.parameters:
        return check_degree(subject, printed)
    return compare_form(printed, *_cost(subject), "exact elimination, the root certified")


def compare_form(printed: Printed, form: Expr, names: Sequence[str], method: str) -> Judgement:
    """Compare a printed function of positive coordinates with a form, up to scale."""

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = Germs.at(point, texts_of(printed), len(names))
        return germs, germs.texts, [germs.read(form)]

    shift, n = range(len(COORDINATES)), len(COORDINATES)
    places = [{name: abs(COORDINATES[(k + i) % n]) for i, name in enumerate(names)} for k in shift]
    reason = f"no constant factor makes the printed and the derived {printed.kind} equal"
    derived = f"{plain(form)}, up to scale"
    agree = partial(judge, reason=reason, derived=derived, method=method)
    return compare(build, [places, places[1:]], reason, lambda: derived, agree)


def check_degree(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta: the p of |beta|_p^p, 2/D where F is of degree D.

    Each coordinate, or |beta| for an open dimension, has weights of its own, so the cost is a
    multiple of |beta|^(2/D); from a start of scale alpha -> 0 the distance to it has that limit.
    Monotone functions of one coordinate's cost are told apart: the cost is a sum over coordinates.
    """
    p = subject.p
    if p.homogeneity is None or p.d != 1:
        raise Unsettled("the representation cost is derived for separate coordinates only")
    symbols = {name: Symbol(name, positive=True) for name in p.parameters}
    degree = 2 / to_expr(p.homogeneity, symbols)
    beta = subject.betas[0].name
    point = {beta: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    try:
        germs = Germs.at(point, texts_of(printed), 1)
        tower, cost = germs.tower, germs.texts[0]
        slope = tower.tidy(germs.images[beta] * tower.derivative(cost, 0) / cost)
        wanted = germs.read(degree)
    except (Unsettled, DeriveError):
        raise Unsettled("the printed text has no meaning here") from None
    if germs.vanish([slope - wanted], "the powers are equal"):
        words = ("scale: only the power p of a coordinate is compared",)
        return agreement("exact: of degree 2/D in each coordinate", words)
    text = f"{beta}**({plain(degree)}), up to scale"
    reason = "the power p of a coordinate in |beta|_p^p; values are the p"
    return difference(reason, NOT_ZERO, text, (witness(germs, [slope], [wanted]),))


def _cost(subject: Subject) -> tuple[Expr, tuple[str, ...]]:
    """Return the cost for large positive beta, and its names.

    Of an open dimension it is that of the length, u being n beta/|beta|.
    """
    p, reason = subject.p, "the length of the vector has odd powers"
    betas = subject.betas if subject.open_dimension else Notation(p, tuple(range(p.d))).betas
    opposite = p.F[0].compose([*p.w[:-1], -p.w[-1], *p.field.gens[p.p :]], p.field)
    if not subject.open_dimension or (opposite + p.F[0]).is_zero():
        cost = minimum_by_elimination(pose_cost, p, betas)
        if cost.verdict is Verdict.PROVED and cost.closed_forms:
            # On the last interval, or everywhere.
            return cost.closed_forms[-1], tuple(b.name for b in betas)
        reason = cost.finding.words
    raise Unsettled(f"the representation cost is not derived: {reason}")


def check_margin(subject: Subject, printed: Printed) -> Judgement:
    """Compare what the direction minimises; the last of two texts is the constraint."""
    found = margins(subject.derivation)
    leading, shape = [far.leading for far in found.far if far.leading is not None], found.horizon
    if shape is not None and all(far.shape == "single" for far in found.far):
        # Of single outputs, a sum over copies, the term, which has a power.
        shape = Add(*(x.h for x in leading))
    if len(leading) < len(found.far):
        shape = None
    form = found.cost if shape is None else shape
    if form is None:
        raise Unsettled("no shape of Q decides the direction; the problem in the weights does")
    text, *constraint = printed.text
    if constraint not in ([], [MARGINS]):
        reason = "the direction is decided by margins, which are at least those of the predictor"
        return difference(reason, METHOD, f"argmin {plain(form)} subject to {MARGINS}", (EXAMPLE,))
    names = [symbol.name for symbol in subject.betas]
    told = compare_form(replace(printed, text=(text,)), form, names, METHOD)
    if told.differs or shape is not None:
        return told
    return agreement(COST_METHOD, (*told.up_to, FIRST_ORDER))
