"""What follows from Q, as printed: limits, costs, margins.

Limits of Q are in a start symbol, along a path of starts, or in a joint quantity; costs are
min |w|^2 subject to F(w) = beta; and the direction on separable data, under losses with an
exponential tail, minimises what is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Add, Expr

from derive.catalogue.audit.germs import (
    COORDINATES,
    Germs,
    Point,
    Subject,
    Where,
    points,
    settled,
    texts_of,
)
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.proportionality import Build, Elements, compare_up_to_factor, judge
from derive.catalogue.library import Printed
from derive.derivation import derive
from derive.exact.signs import Signs
from derive.exact.towers.germ import Unsettled
from derive.explicit.constrained import pose_cost
from derive.explicit.eliminated import minimum_by_elimination
from derive.language import Name, Tree, names, parse_expression
from derive.limits.find import regimes
from derive.limits.limit import Limit, with_scale
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.render.text import plain
from derive.roads.components import components_along_axis
from derive.separable.find import margins
from derive.verdict import Verdict

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
    found = judge(compare_up_to_factor(build, groups), reason, derived, method)
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
    """Compare min |w|^2 s.t. F(w) = beta, for large positive beta.

    Of an open dimension it is that of the length, u being n beta/|beta|.
    """
    p, reason = subject.p, "the length of the vector has odd powers"
    betas = subject.betas if subject.open_dimension else Notation(p, tuple(range(p.d))).betas
    opposite = p.F[0].compose([*p.w[:-1], -p.w[-1], *p.field.gens[p.p :]], p.field)
    if not subject.open_dimension or (opposite + p.F[0]).is_zero():
        cost = minimum_by_elimination(pose_cost, p, betas)
        if cost.verdict is Verdict.PROVED and cost.closed_forms:  # the last, or one everywhere
            form, names = cost.closed_forms[-1], [b.name for b in betas]
            return compare_form(printed, form, names, "exact elimination, the root certified")
        reason = cost.finding.words
    raise Unsettled(f"the representation cost is not derived: {reason}")


def compare_form(printed: Printed, form: Expr, names: Sequence[str], method: str) -> Judgement:
    """Compare a printed function of positive coordinates with a form, up to scale."""

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = Germs.at(point, texts_of(printed), len(names))
        return germs, germs.texts, [germs.read(form)]

    shift, n = range(len(COORDINATES)), len(COORDINATES)
    places = [{name: abs(COORDINATES[(k + i) % n]) for i, name in enumerate(names)} for k in shift]
    reason = f"no constant factor makes the printed and the derived {printed.kind} equal"
    derived = f"{plain(form)}, up to scale"
    return judge(compare_up_to_factor(build, [places, places[1:]]), reason, derived, method)


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
