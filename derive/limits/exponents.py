"""Exponents of a small parameter: rational numbers, or rational functions of depths D > 2.

A depth D is written 2 + x, x > 0. Exponents are ordered by the sign of their difference, where that
is the same for all x > 0.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided


@functools.total_ordering
@dataclass(frozen=True)
class Deep:
    """An exponent that is no number: a rational function of positive symbols, cancelled."""

    of: Expr

    def __add__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of + written(other))

    def __neg__(self) -> Deep:
        return Deep(cancelled(-self.of))

    def __sub__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of - written(other))

    def __rsub__(self, other: Exponent | int) -> Exponent:
        return exponent(written(other) - self.of)

    def __mul__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of * written(other))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Exponent | int) -> bool:
        return sign_of(self.of - written(other)) < 0


Exponent: TypeAlias = Fraction | Deep


cancelled = functools.cache(sympy.cancel)


def exponent(e: Expr) -> Exponent:
    """Return an exponent, a number where it is one."""
    e = cancelled(e)
    return Fraction(int(e.p), int(e.q)) if e.is_Rational else Deep(e)


def written(x: Exponent | int) -> Expr:
    """Return an exponent as an expression."""
    return x.of if isinstance(x, Deep) else sympy.Rational(x.numerator, x.denominator)


@functools.cache
def sign_of(e: Expr) -> int:
    """Return the sign that a function of positive symbols has; Undecided where it depends on them.

    >>> x = Symbol("x")
    >>> sign_of((x + 2) / x), sign_of(-1 / (x + 2))
    (1, -1)
    """
    decide = ElementarySigns(s.name for s in e.free_symbols)
    sign = next((s for s in (1, -1) if decide.is_positive(s * e)), 0)
    if sign == 0 and e != 0:
        raise Undecided("the order of two powers depends on the depth")
    return sign


def depths_in(*expressions: Expr, names: Container[str] | None = None) -> tuple[Symbol, ...]:
    """Return the symbols of exponents, of these *names*, which are assumed to be above 2."""
    powers = (power for f in expressions for power in f.atoms(sympy.Pow))
    depths = {s for x in powers for s in x.exp.free_symbols}
    return tuple(sorted((s for s in depths if names is None or s.name in names), key=str))


def above_two(depths: Iterable[Symbol]) -> Mapping[Symbol, Expr]:
    """Return 2 + x, x > 0, for each depth."""
    return {D: 2 + Symbol(f"{D.name}_above_2", positive=True) for D in depths}


def is_positive_exponent(e: Expr) -> bool:
    """Tell whether an exponent is proved to be positive, for all depths D > 2."""
    try:
        return sign_of(sympy.cancel(e.xreplace(above_two(e.free_symbols)))) > 0
    except Undecided:
        return False
