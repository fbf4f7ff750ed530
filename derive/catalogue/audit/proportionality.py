"""Whether two lists of functions agree up to one factor that is constant on the leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy
from flint import arb, ctx
from sympy import Expr, Symbol

from derive.catalogue.audit.germs import Germs, Point, first_cause, settled
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.exact.balls import as_fmpq
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import BITS, Unsettled
from derive.inverse.term import expressions
from derive.model.notation import rational, to_expr
from derive.render.text import plain

Elements: TypeAlias = Sequence[RationalFunction]
Build: TypeAlias = Callable[[Point], tuple[Germs, Elements, Elements]]
"""From a point to what was printed and what was derived there."""

BALLS = "balls that do not overlap"
NOT_ZERO = "a ball that excludes 0"
"""How values that differ were told apart."""

EXACT = "exact identity"
TRIALS = 2
"""Points of a leaf at which a proof is tried: what fails at two fails at all."""

LARGEST_DENOMINATOR = 10_000


@dataclass(frozen=True)
class Proportional:
    """Printed = factor times derived, as was proved where *germs* are; the factor in symbols."""

    factor: Expr
    sign: int
    germs: Germs


@dataclass(frozen=True)
class Different:
    """No constant factor makes them equal, as two points of one leaf show."""

    witnesses: tuple[Witness, ...]


Comparison: TypeAlias = Proportional | Different


def compare_up_to_factor(build: Build, groups: Iterable[Sequence[Point]]) -> Comparison:
    """Decide whether printed and derived agree up to a constant factor, or raise Unsettled.

    The points of a group belong to one start. Proportional is proved, Different is refuted.
    """
    found: Iterator[Comparison] = settled(groups, lambda group: _along_one_leaf(build, group))
    return next(found)


def _along_one_leaf(build: Build, group: Sequence[Point]) -> Comparison:
    """Compare at several points, of all signs; a proof is of its branch."""
    seen, quotients = list[Witness](), list[arb]()
    proved, causes = None, list[Exception]()

    def at(point: Point) -> tuple[Germs, Elements, Elements, arb | None]:
        germs, printed, derived = build(point)
        return germs, printed, derived, _quotient(germs, printed, derived)

    for germs, printed, derived, quotient in settled(group, at, causes):
        if proved is None and len(seen) < TRIALS and quotient is not None:
            proved = _proved(germs, printed, derived)
        seen.append(witness(germs, printed, derived))
        if quotient is None:
            return Different((seen[-1],))
        quotients.append(quotient)
        if not quotients[0].overlaps(quotient):
            return Different((seen[0], seen[-1]))
    if proved is None:
        raise first_cause(causes or [Unsettled("they agree in digits, which proves nothing")])
    return proved


def judge(
    same: Comparison, reason: str, derived: str, method: str = "", unit: str = ""
) -> Judgement:
    """Return the judgement of a factor that must be positive, and whose *unit* is named."""
    if isinstance(same, Different):
        return difference(reason, BALLS, derived, same.witnesses)
    if same.sign <= 0:
        return difference("the sign", EXACT, derived)
    words = (x + unit * bool(same.factor.is_number) for x in scale_words(same))
    return agreement(method or EXACT, tuple(words))


def scale_words(same: Proportional) -> tuple[str, ...]:
    """Name the factor, unless it is 1."""
    return () if same.factor == 1 else (f"scale: printed = {plain(same.factor)} * derived",)


def compare_at(germs: Germs, printed: Elements, derived: Elements) -> Proportional | None:
    """Return the factor if it is proved at one point."""
    try:
        return _proved(germs, printed, derived)
    except (Unsettled, ZeroDivisionError):
        return None


def _quotient(germs: Germs, printed: Elements, derived: Elements) -> arb | None:
    """Return the ball of the common quotient at the point; None where there is no common one."""
    tower = germs.tower
    common: arb | None = None
    for p, d in zip(printed, derived, strict=True):
        if tower.ball(d).contains(0):
            if not tower.ball(p).contains(0):
                return None
            continue
        with ctx.workprec(BITS):
            here = tower.ball(p) / tower.ball(d)
        if common is not None and not common.overlaps(here):
            return None
        common = here
    if common is None:
        raise Unsettled("all derived values are 0 here")
    return common


def _proved(germs: Germs, printed: Elements, derived: Elements) -> Proportional | None:
    """Return the factor if it, or a power of it, is proved constant and common."""
    tower = germs.tower
    quotients = []
    for p, d in zip(printed, derived, strict=True):
        if tower.is_zero(d):
            if not tower.is_zero(p):
                return None
            continue
        quotients.append(tower.tidy(p / d))
    for power in (1, 2, 4):
        raised = [tower.tidy(q**power) for q in quotients]
        same = all(tower.is_zero(x - raised[0]) for x in raised[1:])
        if same and germs.is_constant(raised[0]):
            sign = 0 if tower.is_zero(raised[0]) else 1 if tower.ball(quotients[0]) > 0 else -1
            factor = sign * _in_symbols(germs, quotients[0], power, sign)
            return Proportional(factor, sign, germs)
    return None


def _in_symbols(germs: Germs, constant: RationalFunction, power: int, sign: int) -> Expr:
    """Return |constant|, a number where a power of it is a fraction of small denominator."""
    tower = germs.tower
    # A relation between roots may show in a higher power only.
    for n in (power, 2 * power, 4 * power):
        raised = tower.tidy(constant**n)
        ball = tower.ball(raised)
        near = Fraction(float(ball.mid())).limit_denominator(LARGEST_DENOMINATOR)
        if not ball.contains(as_fmpq(near)):
            break
        if tower.is_zero(raised - tower.field.constant(near)):
            return abs(rational(near)) ** sympy.Rational(1, n)
    raised = tower.tidy((sign * constant) ** power)
    symbols = {name: Symbol(name, positive=True) for name in germs.point}
    expression = to_expr(raised, expressions(tower, symbols))
    return sympy.factor(sympy.powsimp(expression)) ** sympy.Rational(1, power)


def witness(germs: Germs, printed: Elements, derived: Elements) -> Witness:
    """Return the values at the point of a leaf."""
    values = (tuple(digits(germs.tower.ball(x)) for x in side) for side in (printed, derived))
    return Witness(tuple((name, str(x)) for name, x in germs.point.items()), *values)


def digits(ball: arb) -> str:
    """Return the leading digits of a ball."""
    return "0" if ball.contains(0) else str(ball.str(12, radius=False))
