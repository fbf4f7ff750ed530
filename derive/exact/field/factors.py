"""The irreducible factors of a rational function, as functions of the same field."""

from __future__ import annotations

from fractions import Fraction

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize


def factors(function: RationalFunction) -> list[tuple[RationalFunction, int]]:
    """Return the irreducible factors of the numerator over Q with their powers, no numbers."""
    return _factors(function)[1]


def factored(function: RationalFunction) -> tuple[Fraction, list[tuple[RationalFunction, int]]]:
    """Return a number and the irreducible factors with their powers: their product is f.

    Those of the numerator come first; those of the denominator have negative powers.
    """
    field = function.field
    top, above = _factors(function)
    bottom, below = _factors(field.polynomial(function.denominator))
    return Fraction(top, bottom), [*above, *((f, -n) for f, n in below)]


def _factors(function: RationalFunction) -> tuple[int, list[tuple[RationalFunction, int]]]:
    content, found = factorize(function.numerator)
    return int(content), [(function.field.polynomial(f), n) for f, n in found]
