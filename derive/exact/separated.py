"""A tower in which numbers under roots stand apart: sqrt(12 x) = 2 sqrt(3) sqrt(x).

Roots of the same function with different numbers in front are then multiples of one another by
roots of primes, which are independent of one another and of all other roots.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from derive.exact.field import RationalFunction
from derive.exact.radicals import root_generator
from derive.exact.refinement import Refine
from derive.exact.splitting import oriented, prime_powers
from derive.exact.tower import Tower


class SeparatedTower(Tower):
    """A tower whose roots are those of primes and of polynomials without content.

    >>> from derive.exact.elements import build_elements
    >>> from derive.language import parse_expression
    >>> tree = parse_expression("sqrt(12*x + 24) - 2*sqrt(x/2 + 1)*sqrt(6)")
    >>> build_elements([tree], ("x",), kind=SeparatedTower)
    (0,)
    """

    def power(self, A: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return A^exponent for a rational exponent, A > 0 where it is not an integer."""
        A = self.field.embed(A)
        if exponent.denominator == 1 or A.is_zero() or self.is_algebraic(A):
            return super().power(A, exponent)
        content, _ = oriented(A)
        if content < 0:
            return super().power(A, exponent)
        # A > 0 and content > 0, so that the rest is positive too.
        result = super().power(A / self.field.constant(content), exponent)
        for prime, n in prime_powers(content):
            factor = self._prime_power(prime, n * exponent)
            result = self.field.embed(result) * self.field.embed(factor)
        return result

    def _prime_power(self, prime: int, exponent: Fraction) -> RationalFunction:
        """Return a power of a prime by its root of one index for all exponents."""
        key = f"root {prime}"
        unit = self.units.get(key, 1)
        if (exponent * unit).denominator != 1:
            raise Refine(key, exponent.denominator)
        number, whole = self.field.constant(prime), floor(exponent)
        if exponent == whole:
            return number**whole
        root = self.adjoin(root_generator(number, unit))
        return self.field.embed(number) ** whole * root ** int((exponent - whole) * unit)
