"""Which expressions are positive, by their form: what the tactics ``pos``, ``nn`` and ``nz`` prove.

The rules are those of the library's tactics, which follow the form of what is written in the same
way; nothing is searched for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy
from sympy import Expr

from derive.model.condition import Sign

ALWAYS = (sympy.exp, sympy.cosh)
"""Functions that are positive."""


@dataclass(frozen=True)
class Signs:
    """What is known of signs, and what follows from it by form.

    Attributes:
        above: expressions that are positive.
        off: expressions that are not 0.
        least: expressions that are not negative.
    """

    above: tuple[Expr, ...] = ()
    off: tuple[Expr, ...] = ()
    least: tuple[Expr, ...] = ()

    def with_(
        self, above: Iterable[Expr] = (), off: Iterable[Expr] = (), least: Iterable[Expr] = ()
    ) -> Signs:
        """Return what is known when more is."""
        return Signs((*self.above, *above), (*self.off, *off), (*self.least, *least))

    def positive(self, e: Expr) -> bool:
        """Say whether an expression is positive by its form."""
        e = sympy.sympify(e)
        if e in self.above or e is sympy.pi or isinstance(e, ALWAYS):
            return True
        if e.is_Rational:
            return bool(e.is_positive)
        if e.is_Mul or e.is_Pow:
            return self._power(e) if e.is_Pow else self._product(e)
        if e.is_Add and all(map(self.nonnegative, e.args)):
            return e in self.off or any(map(self.positive, e.args))
        return any(e in (1 - f, 1 + f) for f in e.atoms(sympy.tanh)) or self._linear(e)

    def _power(self, e: Expr) -> bool:
        return self.positive(e.base) or (_even(e) and self.nonzero(e.base))

    def _product(self, e: Expr) -> bool:
        """Say so of a product, of whose factors an even number may be negative."""
        below = [factor for factor in e.args if not self.positive(factor)]
        return len(below) % 2 == 0 and all(map(self._negative, below))

    def _negative(self, e: Expr) -> bool:
        """Say whether a factor is negative by its form: a number, a sum, or as is known."""
        return -e in self.above or ((e.is_Rational or e.is_Add) and self.positive(-e))

    def nonnegative(self, e: Expr) -> bool:
        """Say whether an expression is nonnegative by its form."""
        e = sympy.sympify(e)
        if e.is_Rational or e in self.least:
            return bool(e.is_nonnegative) if e.is_Rational else True
        if e.is_Pow and e.exp.is_Rational and e.exp > 0:
            return _even(e) or not e.exp.is_Integer or self.nonnegative(e.base)
        parts = e.args if e.is_Mul or e.is_Add else [e.base] if e.is_Pow else ()
        return (bool(parts) and all(map(self.nonnegative, parts))) or self.positive(e)

    def nonzero(self, e: Expr) -> bool:
        """Say whether an expression is not 0 by its form."""
        e = sympy.sympify(e)
        if e in self.off or self.positive(e) or self._linear(-e):
            return True
        if any(sympy.expand(e + f) == 0 for f in (*self.above, *self.off)):
            return True
        if any(f.is_Mul and e in f.args for f in self.above):
            return True
        return (e.is_Mul or e.is_Pow) and all(map(self.nonzero, e.args[: None if e.is_Mul else 1]))

    def form(self, e: Expr) -> Expr | None:
        """Return a form of an expression that is positive, if there is one."""
        forms = (f(e) for f in (sympy.sympify, self.oriented, self.factored, sympy.expand))
        return next(filter(self.positive, forms), None)

    def factored(self, e: Expr) -> Expr:
        """Return the factors of an expression, those of a sign turned in pairs."""
        return self.oriented(sympy.factor(e))

    def oriented(self, e: Expr) -> Expr:
        """Return a product with its negative factors turned in pairs."""
        turned = [sympy.S.One]
        for base, n in (factor.as_base_exp() for factor in sympy.Mul.make_args(e)):
            turn = n.is_Integer and base.is_Add and self._negative(base)
            turned += [sympy.S.NegativeOne**n, (-base) ** n] if turn else [base**n]
        return sympy.Mul(*turned)

    def _linear(self, e: Expr) -> bool:
        """Say whether it is a positive multiple of what is positive plus a number, not negative."""
        whole = sympy.expand(e).as_coefficients_dict()
        for f in (f for f in self.above if not f.is_number):
            base = sympy.expand(f).as_coefficients_dict()
            lead = next(x for x in base if x != 1)
            ratio = whole.get(lead, 0) / base[lead]
            rest = {x: whole.get(x, 0) - ratio * base.get(x, 0) for x in {*whole, *base}}
            if ratio > 0 and not any(v for x, v in rest.items() if x != 1) and rest.get(1, 0) >= 0:
                return True
        return False


def _even(e: Expr) -> bool:
    """Say whether a power has an even number as exponent."""
    return bool(e.exp.is_Integer and e.exp % 2 == 0)


def signs_of(known: Iterable[tuple[Expr, Sign]]) -> Signs:
    """Return what is known where some expressions are positive, or not 0."""
    pairs = [*known]
    above = tuple(e for e, sign in pairs if sign is Sign.POSITIVE)
    return Signs(above, tuple(e for e, sign in pairs if sign is not Sign.POSITIVE))


def said(text: str, sign: Sign) -> str:
    """Return that what is written is positive, or not 0, as Rocq has it."""
    return f"0 < {text}" if sign is Sign.POSITIVE else f"{text} <> 0"
