"""A tower in which numbers under roots, and whole powers, stand apart.

sqrt(12 x) = 2 sqrt(3) sqrt(x): roots of the same function with different numbers in front are
multiples of one another by roots of primes, which are independent of one another and of all other
roots. x^(D/(2 - D)) = x^(2/(2 - D))/x: real powers differ by whole ones.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from derive.exact.field.factors import oriented, prime_powers
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.radicals import root_generator
from derive.exact.towers.reader import Refine
from derive.exact.towers.tower import Tower


class SeparatedTower(Tower):
    """A tower whose roots are those of primes and of polynomials without content.

    >>> from derive.exact.towers.tower import build_elements
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
            result = self.times(result, factor)
        return result

    def real_power(self, A: RationalFunction, exponent: RationalFunction) -> RationalFunction:
        """Return A^exponent, A > 0, for an exponent in the parameters."""
        exponent = self.field.embed(exponent)
        whole = _polynomial_part(exponent)
        if whole.is_zero() or whole == exponent:
            return super().real_power(A, exponent)
        first, rest = (
            super(SeparatedTower, self).real_power(A, e) for e in (whole, exponent - whole)
        )
        return self.times(first, rest)

    def log(self, A: RationalFunction) -> RationalFunction:
        """Return log |A|, for a multiple of roots with the logarithms of what is under them."""
        A = self.field.embed(A)
        if A.is_zero() or not self.is_algebraic(A):
            return super().log(A)
        factors = [f for f, _ in oriented(A)[1]]
        roots = [g for g in self.field.generators if g.kind == "root"]
        outside = [g for g in roots if self.field.named(g.name) in factors]
        for g in outside:
            A = A / self.field.named(g.name)
        total = super().log(A)
        for g in outside:
            logarithm = self.log(self.field.embed(g.argument))
            total = self.field.embed(total) + self.field.embed(logarithm) / g.index
        return total

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


def _polynomial_part(f: RationalFunction) -> RationalFunction:
    """Return the quotient of numerator by denominator, without the remainder."""
    lead = abs(int(f.denominator.leading_coefficient())) ** (1 + int(f.numerator.total_degree()))
    quotient, _ = divmod(f.numerator * lead, f.denominator)
    return f.field.quotient(quotient, f.field.ring.constant(lead))
