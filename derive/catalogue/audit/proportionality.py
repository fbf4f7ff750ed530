"""Whether two lists of functions agree up to one factor that is constant on the leaf."""

from __future__ import annotations

import math
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

ENOUGH = 4
STARTS = 2
TRIALS = 2
"""Points of a leaf at which a proof is tried: what fails at two fails at all."""

LARGEST_DENOMINATOR = 10_000
DIGITS = 20


@dataclass(frozen=True)
class Proportional:
    """Printed = factor times derived, as was seen where *germs* are.

    The factor is in start symbols; None where it is known at points only, by balls. *exact* is what
    was proved by algebra.
    """

    factor: Expr | None
    exact: bool
    sign: int
    germs: Germs

    @property
    def method(self) -> str:
        """How it was decided, in words."""
        return "exact identity" if self.exact else f"to {DIGITS} digits at {STARTS * ENOUGH} points"


@dataclass(frozen=True)
class Different:
    """No constant factor makes them equal, as two points of one leaf show."""

    witnesses: tuple[Witness, ...]


Comparison: TypeAlias = Proportional | Different


def compare_up_to_factor(build: Build, groups: Iterable[Sequence[Point]]) -> Comparison:
    """Decide whether printed and derived agree up to a constant factor, or raise Unsettled.

    The points of a group belong to one start. Proportional is what is proved, or what is seen at
    :data:`ENOUGH` points from each of :data:`STARTS` starts; Different is refuted.
    """
    causes = list[Exception]()
    found: Iterator[Comparison]
    found = settled(groups, lambda group: _along_one_leaf(build, group), causes)
    for agreed, same in enumerate(found, 1):
        if isinstance(same, Different) or same.exact or agreed == STARTS:
            return same
    raise first_cause(causes)


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
        if len(seen) == ENOUGH and proved is None:
            if any(x.rel_accuracy_bits() < DIGITS / math.log10(2) for x in quotients):
                raise Unsettled(f"the values are not known to {DIGITS} digits")
            return Proportional(None, False, 1 if quotient > 0 else -1, germs)
    if proved is None:
        raise first_cause(causes)
    return proved


def judge(
    same: Comparison, reason: str, derived: str, method: str = "", unit: str = ""
) -> Judgement:
    """Return the judgement of a factor that must be positive, and whose *unit* is named."""
    if isinstance(same, Different):
        return difference(reason, BALLS, derived, same.witnesses)
    if same.sign <= 0:
        return difference("the sign", same.method, derived)
    number = same.factor is not None and same.factor.is_number
    words = (x + unit * number for x in scale_words(same))
    return agreement(method or same.method, tuple(words))


def scale_words(same: Proportional) -> tuple[str, ...]:
    """Name the factor, unless it is 1."""
    if same.factor == 1:
        return ()
    if same.factor is None:
        return ("scale: a factor that is constant along the flow",)
    return (f"scale: printed = {plain(same.factor)} * derived",)


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
            return Proportional(factor, True, sign, germs)
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
