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
        if e.is_number:
            return bool(e.is_positive)
        if e in self.above or isinstance(e, ALWAYS):
            return True
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            even = e.exp.is_Integer and e.exp % 2 == 0
            return self.positive(e.base) or bool(even and self.nonzero(e.base))
        if e.is_Add and all(map(self.nonnegative, e.args)):
            return e in self.off or any(map(self.positive, e.args))
        beyond_tanh = any(e in (1 - f, 1 + f) for f in e.atoms(sympy.tanh))
        return beyond_tanh or self._linear(e)

    def nonnegative(self, e: Expr) -> bool:
        """Say whether an expression is nonnegative by its form."""
        e = sympy.sympify(e)
        if e.is_number:
            return bool(e.is_nonnegative)
        if e in self.least:
            return True
        if e.is_Pow:
            even = e.exp.is_Integer and e.exp % 2 == 0 and e.exp > 0
            root = e.exp.is_Rational and not e.exp.is_Integer and e.exp > 0
            return bool(even or root or self.nonnegative(e.base))
        if e.is_Mul and all(map(self.nonnegative, e.args)):
            return True
        if e.is_Add and all(map(self.nonnegative, e.args)):
            return True
        return self.positive(e)

    def nonzero(self, e: Expr) -> bool:
        """Say whether an expression is not 0 by its form."""
        e = sympy.sympify(e)
        if e in self.off or self.positive(e) or self._linear(-e):
            return True
        if any(sympy.expand(e + f) == 0 for f in (*self.above, *self.off)):
            return True
        if e.is_Mul:
            return all(map(self.nonzero, e.args))
        return bool(e.is_Pow and self.nonzero(e.base))

    def form(self, e: Expr) -> Expr | None:
        """Return a form of an expression that is positive, if there is one."""
        if self.positive(e):
            return e
        factored = sympy.factor(e)
        forms = (self.oriented(e), self.oriented(factored), factored, sympy.expand(e))
        return next((f for f in forms if self.positive(f)), None)

    def oriented(self, e: Expr) -> Expr:
        """Return a product with its negative factors turned in pairs."""
        number, rest = e.as_coeff_Mul()
        turned = []
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if (
                base.is_Add
                and exponent.is_Integer
                and not self.positive(base)
                and self.positive(-base)
            ):
                number, base = number * (-1) ** exponent, -base
            turned.append(base**exponent)
        return sympy.Mul(number, *turned)

    def _product(self, e: Expr) -> bool:
        """Say so of a product, of whose factors an even number may be negative."""
        number, factors = e.as_coeff_Mul()
        sign = 1 if number > 0 else -1
        for factor in sympy.Mul.make_args(factors):
            if not self.positive(factor):
                sign = -sign
                if not (-factor in self.above or (factor.is_Add and self.positive(-factor))):
                    return False
        return sign > 0

    def _linear(self, e: Expr) -> bool:
        """Say whether it is a positive multiple of what is positive plus a number, not negative."""
        whole = sympy.expand(e).as_coefficients_dict()
        for f in self.above:
            base = sympy.expand(f).as_coefficients_dict()
            lead = next(x for x in base if x != 1)
            ratio = whole.get(lead, 0) / base[lead]
            rest = {x: whole.get(x, 0) - ratio * base.get(x, 0) for x in {*whole, *base}}
            if ratio > 0 and not any(v for x, v in rest.items() if x != 1) and rest.get(1, 0) >= 0:
                return True
        return False


def signs_of(known: Iterable[tuple[Expr, Sign]]) -> Signs:
    """Return what is known where some expressions are positive, or not 0."""
    pairs = [*known]
    above = tuple(e for e, sign in pairs if sign is Sign.POSITIVE)
    return Signs(above, tuple(e for e, sign in pairs if sign is not Sign.POSITIVE))


def said(text: str, sign: Sign) -> str:
    """Return that what is written is positive, or not 0, as Rocq has it."""
    return f"0 < {text}" if sign is Sign.POSITIVE else f"{text} <> 0"
