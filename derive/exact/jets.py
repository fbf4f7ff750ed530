"""Taylor polynomials in several variables at a point, with exact or ball coefficients.

A jet is a function near one point up to terms of some order; derivatives take one order off. All
that is computed from jets is what exact expressions would have given there, without expanding
them: what is not zero in a jet is not zero. Use within :func:`derive.exact.balls.precise`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpq

from derive.exact.balls import Unbounded, Value, as_fmpq, evaluate_any
from derive.exact.field.function_field import RationalFunction

BITS = 5
"""Bits for one exponent in the key of a monomial, so that keys add as monomials multiply."""


Coefficient: TypeAlias = fmpq | arb


@dataclass(frozen=True)
class Jet:
    """A Taylor polynomial; ``parts[n]`` has its terms of degree n by the key of the monomial."""

    parts: tuple[dict[int, Coefficient], ...]

    @property
    def order(self) -> int:
        """The degree up to which the function is known."""
        return len(self.parts) - 1

    @property
    def value(self) -> Value:
        """The value at the point, a Fraction or a ball."""
        value = self.parts[0].get(0, fmpq(0))
        return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else value

    def __add__(self, other: Jet) -> Jet:
        parts = []
        for mine, theirs in zip(self.parts, other.parts, strict=False):
            total = dict(mine)
            for key, c in theirs.items():
                total[key] = total[key] + c if key in total else c
            parts.append(total)
        return Jet(tuple(parts))

    def __neg__(self) -> Jet:
        return Jet(tuple({key: -c for key, c in part.items()} for part in self.parts))

    def __sub__(self, other: Jet) -> Jet:
        return self + (-other)

    def __mul__(self, other: Jet) -> Jet:
        parts: tuple[dict[int, Coefficient], ...] = tuple(
            {} for _ in range(1 + min(self.order, other.order))
        )
        for m, mine in enumerate(self.parts[: len(parts)]):
            for n, theirs in enumerate(other.parts[: len(parts) - m]):
                total = parts[m + n]
                for key, c in mine.items():
                    for key2, c2 in theirs.items():
                        at = key + key2
                        total[at] = total[at] + c * c2 if at in total else c * c2
        return Jet(parts)

    def __truediv__(self, other: Jet) -> Jet:
        """Return q = f/g_0 + (1 - g/g_0) q; ZeroDivisionError or Unbounded if g_0 may be 0."""
        start = other.parts[0].get(0, fmpq(0))
        if isinstance(start, arb) and start.contains(0):
            raise Unbounded
        inverse = Jet(({0: 1 / start}, *({} for _ in range(other.order))))
        first, rest = self * inverse, Jet(({}, *(-other).parts[1:])) * inverse
        return functools.reduce(lambda q, _: first + rest * q, range(first.order), first)

    def derivative(self, k: int) -> Jet:
        """Return the derivative by variable k, known to one order less."""
        shift, mask, one = BITS * k, (1 << BITS) - 1, 1 << BITS * k
        lowered = (
            {key - one: c * (key >> shift & mask) for key, c in part.items() if key >> shift & mask}
            for part in self.parts[1:]
        )
        return Jet(tuple(lowered))


def jet_of(element: RationalFunction, values: Sequence[Value], order: int) -> Jet:
    """Return the jet from exact derivatives, at the values of all variables of the field.

    Of a quotient it is that of the jets: its own derivatives have squares of its denominator.

    Raises:
        ZeroDivisionError, Unbounded: at a pole.
    """
    field = element.field
    if not element.is_polynomial():
        top, bottom = (jet_of(field.polynomial(x), values, order) for x in element.parts)
        return top / bottom
    found = {0: element}
    parts = []
    for _ in range(order + 1):
        at = {key: evaluate_any(f, values) for key, f in found.items()}
        parts.append({k: as_fmpq(x) if isinstance(x, Fraction) else x for k, x in at.items()})
        # Each monomial is reached once, by its last variable.
        found = {
            key + (1 << BITS * k): slope / (1 + (key >> BITS * k))
            for key, f in found.items()
            for k in range(key.bit_length() // BITS, len(field.weights))
            if not (slope := field.derivative(f, k)).is_zero()
        }
    return Jet(tuple(parts))
