"""Which conditions on the start are left: none that others imply, and never a contradiction.

A function is a number times powers of irreducible factors. That it is positive says whether an even
or an odd number of those with odd powers is negative, and that none is 0: an equation of signs over
the field of two elements. Equations are solved by elimination; what they leave is decided.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from typing import TypeAlias

from derive.errors import DeriveError
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs, is_number
from derive.exact.towers.reader import Refine, refined
from derive.exact.towers.tower import Tower
from derive.model.condition import AT_START, Condition, Sign
from derive.model.names import PI
from derive.model.notation import (
    BranchOpen,
    Constant,
    Notation,
    from_expr,
    positive_generators,
    to_expr,
)

Equation: TypeAlias = frozenset[RationalFunction | None]
"""Factors of which an even number is negative; with None among them an odd number."""
UNSATISFIED = "the start does not have the signs that Q would assume of it"


class _Signs:
    """What conditions say of irreducible factors: which are not 0, and equations of their signs."""

    def __init__(self, given: Iterable[tuple[Sign, RationalFunction]]) -> None:
        """Take conditions on the start; BranchOpen where they contradict each other."""
        self.nonzero, self.solved = set[RationalFunction](), dict[RationalFunction, Equation]()
        for sign, f in given:
            if f.is_zero():
                raise BranchOpen(UNSATISFIED)
            self.nonzero |= {p for p, _ in factored(f)[1]}
            if sign is Sign.POSITIVE:
                self._add(_equation(f))
        self._learn(self.nonzero)

    def imply(self, sign: Sign, f: RationalFunction) -> bool:
        """Tell whether they imply that f > 0, or f != 0."""
        parts = {p for p, _ in factored(f)[1]}
        self._learn(parts)
        nowhere_zero = all(p in self.nonzero or self._sign(p) for p in parts)
        return nowhere_zero and (sign is Sign.NONZERO or not self._rest(_equation(f)))

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
        known = -1
        while known < len(self.solved):
            known = len(self.solved)
            for p, sign in [(p, self._plain(p)) for p in parts]:
                self._add(frozenset((p, None) if sign < 0 else (p,) if sign else ()))

    def _plain(self, p: RationalFunction) -> int:
        """Return the sign that a factor has by positive names or sums of positive factors, or 0."""
        names = dict(zip(p.field.names, p.field.gens, strict=True))
        positive = {name for name, x in names.items() if self._sign(x) > 0}
        positive |= positive_generators(p.field) | {PI}
        nonzero = positive | {n for n, x in names.items() if x in self.nonzero}
        below = [self._sign(q) * q for q in self.solved if self._sign(q) and q != p]
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
    ) -> None:
        """Read them; BranchOpen where no start satisfies them."""
        told, self._constants = tuple(conditions), constants

        def build(units: dict[str, int]) -> list[RationalFunction | None]:
            self._tower = Tower.over(notation.parameterization.start_field)
            self._tower.units |= units
            return [self._element(c) for c in told]

        read = dict[Condition, RationalFunction | None]()
        for c, f in zip(told, refined(build, "the units of exponentials"), strict=True):
            if f is not None and c.sign is Sign.NONZERO and not f.is_zero():
                parts = ((to_expr(x, notation.start_symbols), x) for x, _ in factored(f)[1])
                read |= {Condition(of, c.sign): x for of, x in parts}
            else:
                read[c] = f
        self._field = self._tower.field
        self._read = {c: f if f is None else self._field.embed(f) for c, f in read.items()}
        self._signs = _Signs(self._given())
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
            if f is not None and _Signs(self._given({*implied, c})).imply(c.sign, f):
                implied.add(c)
        return tuple(c for c in self._read if c not in implied)
