"""Printed solutions beta = h(z) in the dual variable z against beta = grad Q*(mu).

Along the flow grad Q(beta) = mu is in the row space of the data, so h is right, up to the sign and
the scale of z, exactly when grad Q(h(z)) is a constant multiple of z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import sympy
from sympy import Expr, Symbol

from derive.catalogue.audit.germs import Germs, Point, Subject, germs_from_start, points, texts_of
from derive.catalogue.audit.judgement import Judgement, agreement, difference
from derive.catalogue.audit.proportionality import (
    BALLS,
    NOT_ZERO,
    Elements,
    Proportional,
    compare,
    witness,
)
from derive.catalogue.library import Printed
from derive.exact.towers.germ import Unsettled
from derive.language import parse_expression, to_sympy
from derive.mirror_map import inverse_of, tangent
from derive.potential.piece import Curve
from derive.render.plain import plain

BESIDE = "the source contradicts itself: the equation and its solution stand on one line"
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
