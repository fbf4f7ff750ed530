"""Printed explicit regularizers: R_alpha, its limit, and representation costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr, Poly, Symbol

from derive.catalogue.audit.germs import COORDINATES, Germs, Point, texts_of
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.proportionality import (
    NOT_ZERO,
    Elements,
    compare_up_to_factor,
    digits,
    judge,
    judge_sign,
    witness,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled
from derive.explicit.constrained import pose, pose_cost
from derive.explicit.minimum import LENGTH, RootByInterval, SquaredDistance
from derive.explicit.regularize import minimum_by_elimination
from derive.explicit.scale_limits import scale_limits
from derive.language import to_sympy
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.render.plain import plain
from derive.verdict import Verdict

SAMPLE = 2


def check_explicit(subject: Subject, printed: Printed) -> Judgement:
    """Compare a polynomial in r and b of which R = alpha^2 r, at b = beta/alpha^D, is a root."""
    if subject.open_dimension:
        raise Unsettled("R_alpha is compared for given dimensions only")
    p = subject.p
    distance = minimum_by_elimination(pose, p, Notation(p, tuple(range(p.d))).betas)
    if distance.verdict is not Verdict.PROVED or not isinstance(distance, RootByInterval):
        raise Unsettled(distance.finding.words)
    factors = {interval.factor for interval in distance.intervals}
    if len(factors) != 1 or None in factors:
        raise Unsettled("R_alpha is a root of several polynomials, interval by interval")
    equation = distance.equations[next(f for f in factors if f is not None)]
    symbols = {"r": LENGTH, "b": distance.argument}
    (given,) = (to_sympy(tree, symbols) for tree in texts_of(printed))
    if not given.is_polynomial(*symbols.values()):
        raise Unsettled("the printed text is no polynomial in r and b")
    quotient, rest = sympy.div(Poly(given, *symbols.values()), Poly(equation, *symbols.values()))
    roots = {(interval.index, interval.roots) for interval in distance.intervals}
    which = ", ".join(f"number {index + 1} of {count}" for index, count in sorted(roots))
    if not rest.is_zero:
        return _not_a_root(distance, given, equation)
    words = () if quotient == 1 else (f"a factor: printed = ({plain(quotient.as_expr())})*derived",)
    return agreement(f"exact elimination; r is its real root {which} from below, certified", words)


def _not_a_root(distance: SquaredDistance, given: Expr, equation: Expr) -> Judgement:
    reason = "R_alpha is no root of it; values are those of the polynomial at b and r"
    first, *others = map(str, distance.variables)
    value = distance.at({first: Fraction(SAMPLE), **dict.fromkeys(others, Fraction(1))})
    shown: tuple[Witness, ...] = ()
    if value is not None:
        r = sympy.Float(str(value.ball.mid().str(30, radius=False)), 30)
        at_root = str(sympy.N(given.subs({LENGTH: r, distance.argument: SAMPLE}), 12))
        shown = (Witness((("b", str(SAMPLE)), ("r", digits(value.ball))), (at_root,), ("0",)),)
    return difference(reason, "exact elimination", f"{plain(equation)} = 0", shown)


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
    return judge(
        compare_up_to_factor(build, [places, places[1:]]),
        f"no constant factor makes the printed and the derived {printed.kind} equal",
        lambda: f"{plain(form)}, up to scale",
        lambda same: judge_sign(same, plain(form), method),
    )


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


def check_limit_of_explicit(subject: Subject, printed: Printed) -> Judgement:
    """Compare what R_alpha tends to as the start goes to 0: the representation cost."""
    if subject.open_dimension:
        raise Unsettled("the limit of R_alpha is compared for given dimensions only")
    limits = scale_limits(subject.p)
    if not subject.p.parameters and not limits:
        raise Unsettled("the start does not tend to 0")
    found = check_cost(subject, printed)
    if found.differs:
        reason = f"R_alpha -> min |w|^2, as {limits[0].finding.words}" if limits else found.reason
        return replace(found, reason=reason)
    return found


def _cost(subject: Subject) -> tuple[Expr, tuple[str, ...]]:
    """Return the cost for large positive beta, and its names.

    Of an open dimension it is that of the length, u being n beta/|beta|.
    """
    p, reason = subject.p, "the length of the vector has odd powers"
    betas = subject.betas if subject.open_dimension else Notation(p, tuple(range(p.d))).betas
    if not subject.open_dimension or _is_odd(p):
        cost = minimum_by_elimination(pose_cost, p, betas)
        if cost.verdict is Verdict.PROVED and cost.closed_forms:
            # On the last interval, or everywhere.
            return cost.closed_forms[-1], tuple(b.name for b in betas)
        reason = cost.finding.words
    raise Unsettled(f"the representation cost is not derived: {reason}")


def _is_odd(p: Parameterization) -> bool:
    """Tell whether the output changes its sign with the last weight, the length."""
    opposite = p.F[0].compose([*p.w[:-1], -p.w[-1], *p.field.gens[p.p :]], p.field)
    return (opposite + p.F[0]).is_zero()
