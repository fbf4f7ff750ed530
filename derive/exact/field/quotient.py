"""Quotients of integer polynomials: what can be said of one without knowing its field."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from derive.exact.field.polynomial import Polynomial, evaluate, terms, to_text


class Quotient:
    """A numerator over a denominator, two integer polynomials in the same variables."""

    numerator: Polynomial
    denominator: Polynomial

    @property
    def parts(self) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator."""
        return self.numerator, self.denominator

    def is_zero(self) -> bool:
        """Tell exactly whether this is the zero function."""
        return bool(self.numerator.is_zero())

    def is_polynomial(self) -> bool:
        """Tell whether the denominator is a number."""
        return bool(self.denominator.is_constant())

    def is_constant(self) -> bool:
        """Tell whether this is a rational number."""
        return bool(self.numerator.is_constant() and self.denominator.is_constant())

    def value(self) -> Fraction:
        """Return the rational number that a constant element is."""
        if not self.is_constant():
            raise ValueError(f"{self!r} is not a number")
        return _number(self.numerator) / _number(self.denominator)

    def depends_on(self, position: int) -> bool:
        """Tell whether a variable occurs."""
        return any(int(x.degrees()[position]) > 0 for x in (self.numerator, self.denominator))

    def degree(self) -> int:
        """Return the total degree of the numerator less that of the denominator."""
        return int(self.numerator.total_degree()) - int(self.denominator.total_degree())

    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Return the value at a rational point.

        Raises:
            ZeroDivisionError: the point is a pole.
        """
        top, bottom = (evaluate(x, point, Fraction) for x in self.parts)
        return top / bottom

    def is_form(self, size: int) -> bool:
        """Tell whether numerator and denominator are forms in the first *size* variables alone."""
        if any(self.depends_on(k) for k in range(size, len(self.numerator.degrees()))):
            return False
        return all(
            len({sum(exponents) for exponents in polynomial.monoms()}) <= 1
            for polynomial in self.parts
        )

    def written(self, names: Sequence[str]) -> str:
        """Return the quotient as text in the language."""
        top = to_text(self.numerator, names)
        if self.denominator.is_one():
            return top
        bottom = to_text(self.denominator, names)
        single = len(self.numerator) == 1, _is_atom(self.denominator)
        return f"{top if single[0] else f'({top})'}/{bottom if single[1] else f'({bottom})'}"


def _number(polynomial: Polynomial) -> Fraction:
    return (
        Fraction(int(polynomial.leading_coefficient())) if not polynomial.is_zero() else Fraction()
    )


def _is_atom(polynomial: Polynomial) -> bool:
    """Tell whether a polynomial is a number or a power of one variable."""
    (exponents, coefficient), *others = terms(polynomial)
    powers = sum(1 for e in exponents if e)
    return not others and (powers == 0 or (powers == 1 and coefficient == 1))
