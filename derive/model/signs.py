"""The sign of a function of the start, known, assumed, or open, and what the start has to satisfy.

Of conditions none is left that others imply, and none contradicts them. A function is a number
times powers of irreducible factors. That it is positive says whether an even or an odd number of
those with odd powers is negative, and that none is 0: an equation of signs over the field of two
elements. Equations are solved by elimination; what they leave is decided.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import sympy
from sympy import Expr

from derive.errors import DeriveError, InputError
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import NUMBERS, Signs, free_names, is_feasible, is_number, sign_of_number
from derive.exact.towers.reader import Refine, refined
from derive.exact.towers.tower import Tower
from derive.model.condition import AT_START, Condition, Sign
from derive.model.names import PI
from derive.model.notation import (
    AssumePositive,
    BranchOpen,
    Constant,
    Notation,
    from_expr,
    positive_generators,
    to_expr,
)
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors
from derive.model.validity import bases_at_start

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


SQUARES = 4
"""Squares of what is not 0 that are looked for in a sum."""
Equation: TypeAlias = frozenset[RationalFunction | None]
"""Factors of which an even number is negative; with None among them an odd number."""
UNSATISFIED = "the start does not have the signs that Q would assume of it"


class _Signs:
    """What conditions say of irreducible factors: which are not 0, and equations of their signs."""

    def __init__(
        self, given: Iterable[tuple[Sign, RationalFunction]], taken: Iterable[RationalFunction] = ()
    ) -> None:
        """Take conditions on the start; BranchOpen where they contradict each other.

        What is *taken* not to be 0 without saying so serves for what has roots in it alone.
        """
        self.nonzero, self.solved = set[RationalFunction](), dict[RationalFunction, Equation]()
        self.taken = {p for f in taken for p, _ in factored(f)[1]}
        self._looked_at, self._positive = dict[RationalFunction, int](), list[RationalFunction]()
        for sign, f in given:
            if f.is_zero():
                raise BranchOpen(UNSATISFIED)
            self.nonzero |= {p for p, _ in factored(f)[1]}
            if sign is Sign.POSITIVE:
                self._add(_equation(f))
                self._positive.append(f)
        self._learn(self.nonzero)

    def imply(self, sign: Sign, f: RationalFunction) -> bool:
        """Tell whether they imply that f > 0, or f != 0."""
        parts = {p for p, _ in factored(f)[1]}
        self._learn(parts)
        nowhere_zero = all(p in self.nonzero or self._sign(p) or self._by_norm(p) for p in parts)
        return nowhere_zero and (sign is Sign.NONZERO or not self._rest(_equation(f)))

    def _by_norm(self, p: RationalFunction) -> bool:
        """Tell whether u + v sqrt(D) is not 0 as u^2 - v^2 D, which is below 1/p, is not."""
        roots = {g.name for g in p.field.generators if g.kind == "root"}
        if roots.isdisjoint(p.variables()):
            return False
        parts = factored(p.field.polynomial((p.field.one / p).denominator))[1]
        return all(q in self.nonzero or q in self.taken or self._plain(q) for q, _ in parts)

    def _rest(self, equation: Equation) -> Equation:
        """Return an equation without the factors that are solved for."""
        for p in self.solved:
            equation = equation ^ self.solved[p] if p in equation else equation
        return equation

    def _add(self, equation: Equation) -> None:
        rest = self._rest(equation)
        if rest == {None}:
            raise BranchOpen(UNSATISFIED)
        if rest:
            pivot = next(p for p in rest if p is not None)
            for p, other in self.solved.items():
                self.solved[p] = other ^ rest if pivot in other else other
            self.solved[pivot] = rest

    def _sign(self, p: RationalFunction) -> int:
        """Return the sign of a factor that the equations determine, or 0."""
        left = self.solved.get(p, frozenset()) - {p}
        return 0 if p not in self.solved or left - {None} else -1 if left else 1

    def _learn(self, parts: Iterable[RationalFunction]) -> None:
        """Add what is plain of the signs of factors, by those of names and of other factors."""
        parts = tuple(parts)
        while new := [p for p in parts if self._looked_at.get(p) != len(self.solved)]:
            known = len(self.solved)
            for p, sign in [(p, self._plain(p)) for p in new]:
                self._add(frozenset((p, None) if sign < 0 else (p,) if sign else ()))
            self._looked_at |= dict.fromkeys(new, known)

    def _plain(self, p: RationalFunction) -> int:
        """Return the sign that a factor has by positive names or sums of positive factors, or 0."""
        names = dict(zip(p.field.names, p.field.gens, strict=True))
        positive = {name for name, x in names.items() if self._sign(x) > 0}
        positive |= positive_generators(p.field) | {PI}
        nonzero = positive | {n for n, x in names.items() if x in self.nonzero}
        below = [self._sign(q) * q for q in self.solved if self._sign(q) and q != p]
        below += [f for f in self._positive if f not in (p, *below)]
        squares = sorted((q * q for q in self.nonzero if q != p), key=repr)
        below += squares[:SQUARES]
        known = Signs(positive, nonzero, below)
        if sign := known.strict(p):
            return sign
        return known.of(p) if p in self.nonzero or is_number(p) else 0


def _equation(f: RationalFunction) -> Equation:
    number, powers = factored(f)
    odd = [p for p, n in powers if n % 2]
    return frozenset((*odd, None) if number < 0 else odd)


class Premises:
    """Conditions taken together, with products that are not 0 as their factors.

    Attributes:
        irredundant: those that are left where each is dropped that others imply, longest first.
    """

    def __init__(
        self,
        conditions: Iterable[Condition],
        notation: Notation,
        constants: Sequence[Constant] = (),
        taken: Iterable[RationalFunction] = (),
    ) -> None:
        """Read them, and what is *taken* not to be 0; BranchOpen where no start satisfies them.

        That is a function of the start of one block, whose exponentials have units of their own.
        """
        told, self._constants, others = tuple(conditions), constants, tuple(taken)
        field = others[0].field if others else notation.parameterization.start_field
        field = field.extended([x for x in NUMBERS if x not in field.names])  # atan(1) is pi/4

        def build(units: dict[str, int]) -> list[RationalFunction | None]:
            self._tower = Tower.over(field, units=units)
            return [self._element(c) for c in told]

        read = dict[Condition, RationalFunction | None]()
        for c, f in zip(told, refined(build, "the units of exponentials"), strict=True):
            if f is not None and c.sign is Sign.NONZERO and not f.is_zero():
                parts = [(Condition(of, c.sign), x) for of, x in self._factors(f, notation)]
                own = len(parts) == 1 and c.names <= notation.start_symbols.keys()
                shorter = own and c.of.count_ops() < parts[0][0].of.count_ops()
                read |= {c: f} if shorter else dict(parts)
            else:
                read[c] = f
        self._field = self._tower.field
        self._read = {c: f if f is None else self._field.embed(f) for c, f in read.items()}
        self._taken = [*map(self._field.embed, others)]
        self._signs = _Signs(self._given(), self._taken)
        self.irredundant = self._irredundant()

    def _element(self, condition: Condition) -> RationalFunction | None:
        """Return the function of a condition on the start; None where it is of another kind."""
        if condition.sign in AT_START:
            try:
                return self._tower.element(from_expr(condition.within(self._constants).of))
            except Refine:
                raise
            except (DeriveError, ValueError, ZeroDivisionError):
                return None
        return None

    def _factors(
        self, f: RationalFunction, notation: Notation
    ) -> Iterator[tuple[Expr, RationalFunction]]:
        """Yield the factors of a function, in sines where it has some: cos^2 - 1 is -sin^2."""
        images = {**notation.start_symbols, "pi": sympy.pi}
        whole = to_expr(f.field.polynomial(f.numerator * f.denominator), images)
        sines = whole.replace(lambda e: e.is_Pow, _in_sines)
        if whole == sines:
            yield from ((to_expr(x, images), x) for x, _ in factored(f)[1])
        else:
            parts = (x for x, _ in sympy.factor_list(sympy.expand(sines))[1])
            yield from ((x, self._tower.element(from_expr(x))) for x in parts)

    def _given(self, without: Container[Condition] = ()) -> list[tuple[Sign, RationalFunction]]:
        read = self._read.items()
        return [(c.sign, f) for c, f in read if f is not None and c not in without]

    def imply(self, condition: Condition) -> bool:
        """Tell whether they are seen to imply a condition on the start."""
        with suppress(Refine):
            f = self._element(condition)
            if f is not None and self._field.is_field(self._tower.field):
                return self._signs.imply(condition.sign, self._field.embed(f))
        return False

    @property
    def positive(self) -> frozenset[str]:
        """The names that they are seen to imply to be positive."""
        names = zip(self._field.names, self._field.gens, strict=True)
        return frozenset(name for name, x in names if self._signs.imply(Sign.POSITIVE, x))

    def _irredundant(self) -> tuple[Condition, ...]:
        implied, places = set[Condition](), {c: k for k, c in enumerate(self._read)}
        for c in sorted(places, key=lambda c: (len(str(c)), places[c]), reverse=True):
            f = self._read[c]
            if f is not None and _Signs(self._given({*implied, c}), self._taken).imply(c.sign, f):
                implied.add(c)
        return tuple(c for c in self._read if c not in implied)


def _in_sines(power: Expr) -> Expr:
    """Return (1 - sin(x)^2)^n for cos(x)^(2 n); others as they are."""
    base, n = power.as_base_exp()
    even = base.func is sympy.cos and n.is_even
    return (1 - sympy.sin(base.args[0]) ** 2) ** (n / 2) if even else power


def start_conditions(p: Parameterization, notation: Notation) -> tuple[Condition, ...]:
    """Return the conditions on the start symbols and parameters, and on rates along the flow.

    Declared names are positive; so are, as F is defined only there, the bases of roots and of real
    powers, and the arguments of logarithms.

    Raises:
        InputError: no start satisfies them.
    """
    images, field, signs = notation.start_symbols, p.start_field, Signs(p.positive)
    certain = Signs(positive_generators(field) | {*p.positive})
    rates = [rate for rate in map(p.at_start, p.geometry.signs) if not certain.is_positive(rate)]
    # Rates that are never negative, such as u^2, ask that u is not 0.
    even = [rate for rate in rates if signs.is_nonnegative(rate)]
    values = [*_positive(p), *(rate for rate in rates if rate not in even)]
    values += [*(value for _, value in bases_at_start(p)), *_computed_bases(p)]
    exponentials = (g.name for g in field.generators if g.kind == "exp")
    known = Signs((PI, *exponentials, *p.positive))
    for value in values:
        if known.is_nonnegative(-value) or -value in values:
            shown = to_expr(value, images)
            raise InputError(f"F is defined nowhere: it has a logarithm or a root of {shown}")
    return (
        *(Condition(to_expr(value, images)) for value in values),
        *(
            Condition(to_expr(f, images), Sign.NONZERO)
            for rate in even
            for f in signs.zeros_of(rate)
        ),
        *(Condition(to_expr(f, notation.weights), Sign.KEPT) for f in open_factors(p)),
    )


def _computed_bases(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield what roots and powers are of as they are computed: b for (a^3 b)^(1/3) = a b^(1/3)."""
    yield from (
        p.at_start(p.field.embed(g.argument)) for g in p.field.generators if g.kind == "root"
    )
    # (alpha**2)**D is a power of alpha.
    field = p.start_field
    yield from (field.embed(g.argument) for g in field.generators if g.kind == "power")


def _positive(p: Parameterization) -> Iterator[RationalFunction]:
    for name in p.positive:
        if name in p.weights:
            yield p.w0[p.weights.index(name)]
        elif name in p.start_field.positions:
            yield p.start_field.named(name)
