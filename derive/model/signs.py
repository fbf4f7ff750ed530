"""The sign of a function of the start: known, assumed, or open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs, free_names, is_feasible, is_number, sign_of_number
from derive.model.condition import Condition
from derive.model.notation import AssumePositive, BranchOpen, Notation, positive_generators, to_expr

ZERO = "the warp g, or a function under a root, is 0 at the start: its sign selects Q"
NUMBER = "the sign of a number at the start is not settled: its sign selects Q"


@dataclass(frozen=True)
class StartSign:
    """The sign of a function of the start, with what it rests on.

    Attributes:
        sign: 1 or -1; 0 where it is open, as it is 0 or a number that balls do not tell from 0.
        notation: with the symbols assumed positive that make the sign of a monomial.
        conditions: what else had to be assumed.
        reason: why it is open.
    """

    sign: int
    notation: Notation
    conditions: tuple[Condition, ...] = ()
    reason: str = ""

    def settled(self) -> StartSign:
        """Return this, or raise BranchOpen where the sign is open."""
        if not self.sign:
            raise BranchOpen(self.reason)
        return self


def sign_at_start(
    value: RationalFunction, notation: Notation, known: Sequence[RationalFunction] = ()
) -> StartSign:
    """Return the sign of a function of the start, with what is assumed beside *known* > 0."""
    if value.is_zero():
        return StartSign(0, notation, reason=ZERO)
    if is_number(value):
        return StartSign(sign_of_number(value), notation, reason=NUMBER)
    for factor, n in factors(value):  # as 1 - sqrt(2) of (1 - sqrt(2))*b_0
        if n % 2 and is_number(factor) and not factor.is_constant():
            if not sign_of_number(factor):
                return StartSign(0, notation, reason=NUMBER)
            value = sign_of_number(factor) * value / factor
    value = _without_exponentials(value)
    positive = notation.positive | positive_generators(value.field)
    if sign := Signs(positive).of(value):
        return StartSign(sign, notation)
    value = _without_signs(value, Signs(positive))
    odd = odd_symbols(value)
    odd = odd and odd - positive
    if odd is not None and odd <= set(notation.start_symbols):
        return sign_at_start(value, notation.assuming(odd), known)
    symbols = {**{b.name: b for b in notation.betas}, **notation.start_symbols}
    value = _simplest_of_sign(value)
    sign = _allowed_sign(value, known, positive)
    return StartSign(sign, notation, (Condition(to_expr(sign * value, symbols)),))


def start_sign(value: RationalFunction, notation: Notation) -> tuple[int, tuple[Condition, ...]]:
    """Return the sign and the conditions of :func:`sign_at_start`.

    Raises:
        AssumePositive: it is a monomial of open sign: ask again with its symbols positive.
        BranchOpen: it is open.
    """
    found = sign_at_start(value, notation).settled()
    if more := found.notation.assumed - notation.assumed:
        raise AssumePositive(more)
    return found.sign, found.conditions


def _without_signs(value: RationalFunction, known: Signs) -> RationalFunction:
    """Return a function of the same sign without factors whose signs are known."""
    for factor, n in factors(value):
        if n % 2 and (sign := known.of(factor)):
            value = sign * value / factor
    return value


def _simplest_of_sign(value: RationalFunction) -> RationalFunction:
    """Return a function of the same sign: a product of factors, each once or squared."""
    number, powers = factored(value)
    one = value.field.constant(1 if number > 0 else -1)
    return prod((f ** (n % 2 or 2) for f, n in powers), start=one)


def _allowed_sign(
    value: RationalFunction, known: Sequence[RationalFunction], positive: frozenset[str]
) -> int:
    """Return a sign of a function of the start, one at positive symbols if there is any."""
    choices = product((positive | {*free_names(value.field)}, positive), (1, -1))
    allowed = (s for names, s in choices if is_feasible([*known, s * value], names))
    return next(allowed, -1)


def _without_exponentials(value: RationalFunction) -> RationalFunction:
    """Return value/E^n for the exponentials E, and radicands, that divide it: of the same sign."""
    for g in value.field.generators:
        if g.kind == "root" and g.index % 2 == 0:
            A = value.field.embed(g.argument)
            value = value if value.denominator.gcd(A.numerator).is_constant() else value * A
        if g.kind == "exp":
            k = value.field.positions[g.name]
            n = min(int(e[k]) for e in value.numerator.monoms())
            n -= min(int(e[k]) for e in value.denominator.monoms())
            value = value / value.field.named(g.name) ** n
    return value


def odd_symbols(element: RationalFunction) -> frozenset[str] | None:
    """Return the symbols whose signs make that of a monomial, or None for a sum."""
    if len(element.numerator.monoms()) != 1 or len(element.denominator.monoms()) != 1:
        return None
    powers = zip(element.numerator.monoms()[0], element.denominator.monoms()[0], strict=True)
    return frozenset(
        name
        for name, (up, down) in zip(element.field.names, powers, strict=True)
        if (int(up) + int(down)) % 2
    )
