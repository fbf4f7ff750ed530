"""Printed explicit regularizers: R_alpha, its limit, and representation costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr, Poly

from derive.catalogue.audit.germs import COORDINATES, Germs, Point, texts_of, without_modulus
from derive.catalogue.audit.homogeneity import check_degree
from derive.catalogue.audit.judgement import (
    Judgement,
    Outcome,
    Witness,
    agreement,
    misprint,
    unchecked,
)
from derive.catalogue.audit.proportionality import (
    Elements,
    Proportional,
    compare_up_to_factor,
    digits,
    judge,
    scale_words,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.explicit.constrained import pose, pose_cost
from derive.explicit.minimum import LENGTH, RootByInterval, SquaredDistance
from derive.explicit.regularize import minimum_by_elimination
from derive.explicit.scale_limits import scale_limits
from derive.language import to_sympy
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.render.plain import plain
from derive.verdict import Finding, Verdict

SAMPLE = Fraction(2)


def check_explicit(subject: Subject, printed: Printed) -> Judgement:
    """Compare a polynomial in r and b of which R = alpha^2 r, at b = beta/alpha^D, is a root."""
    if subject.open_dimension:
        return unchecked("R_alpha is compared for given dimensions only")
    p = subject.p
    distance = minimum_by_elimination(pose, p, Notation(p, tuple(range(p.d))).betas)
    if distance.verdict is not Verdict.PROVED or not isinstance(distance, RootByInterval):
        return unchecked(distance.finding.reason)
    factors = {interval.factor for interval in distance.intervals}
    if len(factors) != 1 or None in factors:
        return unchecked("R_alpha is a root of several polynomials, interval by interval")
    equation = distance.equations[next(f for f in factors if f is not None)]
    symbols = {"r": LENGTH, "b": distance.argument}
    (given,) = (to_sympy(tree, symbols) for tree in texts_of(printed))
    if not given.is_polynomial(*symbols.values()):
        return unchecked("the printed text is no polynomial in r and b")
    quotient, rest = sympy.div(Poly(given, *symbols.values()), Poly(equation, *symbols.values()))
    roots = {(interval.index, interval.roots) for interval in distance.intervals}
    which = ", ".join(f"number {index + 1} of {count}" for index, count in sorted(roots))
    if not rest.is_zero:
        return _not_a_root(distance, given, equation)
    words = () if quotient == 1 else (f"a factor: printed = ({plain(quotient.as_expr())})*derived",)
    return agreement(f"exact elimination; r is its real root {which} from below, certified", words)


def _not_a_root(distance: SquaredDistance, given: Expr, equation: Expr) -> Judgement:
    reason = "R_alpha is no root of it; values are those of the polynomial at b and r"
    value = distance.at({str(s): SAMPLE if k == 0 else Fraction(1)
                         for k, s in enumerate(distance.variables)})  # fmt: skip
    if value is None:
        return misprint(reason, "exact elimination", f"{plain(equation)} = 0")
    point = {LENGTH: sympy.Float(str(value.ball.mid().str(30, radius=False)), 30),
             distance.argument: sympy.Integer(int(SAMPLE))}  # fmt: skip
    shown = Witness(
        (("b", str(SAMPLE)), ("r", digits(value.ball))),
        (str(sympy.N(given.subs(point), 12)),),
        ("0",),
    )
    return misprint(reason, "exact elimination", f"{plain(equation)} = 0", (shown,))


def check_cost(subject: Subject, printed: Printed) -> Judgement:
    """Compare min |w|^2 s.t. F(w) = beta; for a symbolic degree its degree of homogeneity."""
    if subject.p.parameters:
        return check_degree(subject, printed)
    cost, names = _cost(subject)
    form = _positive_form(cost)
    if form is None:
        return unchecked(f"the representation cost is not derived: {cost.finding.reason}")
    (tree,) = texts_of(printed)

    def build(point: Point) -> tuple[Germs, Elements, Elements]:
        germs = Germs.at(point, (tree,), len(names))
        return germs, [germs.read(tree)], [germs.read(without_modulus(form, point))]

    def agree(same: Proportional) -> Judgement:
        if same.sign <= 0:
            return misprint("the sign", same.method, plain(form))
        return agreement("exact elimination, the root certified", scale_words(same))

    same = compare_up_to_factor(build, [[*_places(names)], [*_places(names)][1:]])
    reason = "no constant factor makes the printed and the derived cost equal"
    return judge(same, reason, lambda: f"{plain(form)}, up to scale", agree)


def check_limit_of_explicit(subject: Subject, printed: Printed) -> Judgement:
    """Compare what R_alpha tends to as the start goes to 0: the representation cost."""
    if subject.open_dimension:
        return unchecked("the limit of R_alpha is compared for given dimensions only")
    limits = scale_limits(subject.p, None)
    if not subject.p.parameters and not any(limit.of == "R" for limit in limits):
        return unchecked("the start does not tend to 0")
    found = check_cost(subject, printed)
    if found.outcome is Outcome.MISPRINT:
        reason = f"R_alpha -> min |w|^2, as {limits[0].finding.reason}" if limits else found.reason
        return replace(found, reason=reason)
    return found


def _cost(subject: Subject) -> tuple[SquaredDistance, tuple[str, ...]]:
    """Return the cost; of an open dimension that of the length, u being n beta/|beta|."""
    p = subject.p
    betas = subject.betas if subject.open_dimension else Notation(p, tuple(range(p.d))).betas
    if subject.open_dimension and not _is_odd(p):
        finding = Finding(Verdict.UNDECIDED, "the length of the vector has odd powers")
        return SquaredDistance(betas, finding), ()
    return minimum_by_elimination(pose_cost, p, betas), tuple(b.name for b in betas)


def _is_odd(p: Parameterization) -> bool:
    """Tell whether the output changes its sign with the last weight, the length."""
    opposite = p.F[0].compose([*p.w[:-1], -p.w[-1], *p.field.gens[p.p :]], p.field)
    return (opposite + p.F[0]).is_zero()


def _positive_form(cost: SquaredDistance) -> Expr | None:
    """Return the closed form for large positive beta: on the last interval, or everywhere."""
    if cost.verdict is not Verdict.PROVED or not cost.closed_forms:
        return None
    return cost.closed_forms[-1]


def _places(names: Sequence[str]) -> list[dict[str, Fraction]]:
    """Return points with positive coordinates."""
    shift = range(len(COORDINATES))
    return [
        {name: abs(COORDINATES[(k + i) % len(COORDINATES)]) for i, name in enumerate(names)}
        for k in shift
    ]
