"""Elements of function fields: quotients of integer polynomials in normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.exact.field.polynomial import Polynomial, evaluate, terms, to_text

if TYPE_CHECKING:
    from derive.exact.field.function_field import FunctionField


@dataclass(frozen=True, eq=False)
class RationalFunction:
    """An element of a :class:`FunctionField`, in lowest terms."""

    field: FunctionField
    numerator: Polynomial
    denominator: Polynomial

    def __add__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        if self.denominator == other.denominator:
            return self.field.quotient(self.numerator + other.numerator, self.denominator)
        return self.field.quotient(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __neg__(self) -> RationalFunction:
        return RationalFunction(self.field, -self.numerator, self.denominator)

    def __sub__(self, other: RationalFunction | int) -> RationalFunction:
        return self + (-self._coerce(other))

    def __mul__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        return self.field.quotient(
            self.numerator * other.numerator, self.denominator * other.denominator
        )

    def __truediv__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        return self.field.quotient(
            self.numerator * other.denominator, self.denominator * other.numerator
        )

    def __pow__(self, exponent: int) -> RationalFunction:
        if exponent >= 0 and self.field.relations.is_empty:
            return RationalFunction(
                self.field, self.numerator**exponent, self.denominator**exponent
            )
        if exponent >= 0:
            return self.field.quotient(self.numerator**exponent, self.denominator**exponent)
        return self.field.quotient(self.denominator**-exponent, self.numerator**-exponent)

    def __radd__(self, other: int) -> RationalFunction:
        return self + other

    def __rmul__(self, other: int) -> RationalFunction:
        return self * other

    def __rsub__(self, other: int) -> RationalFunction:
        return -self + other

    def __rtruediv__(self, other: int) -> RationalFunction:
        return self._coerce(other) / self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            other = self.field.constant(other)
        if not isinstance(other, RationalFunction) or other.field is not self.field:
            return NotImplemented
        return bool(self.numerator == other.numerator and self.denominator == other.denominator)

    def __hash__(self) -> int:
        return hash((len(self.numerator), len(self.denominator), self.degree()))

    def __repr__(self) -> str:
        top = to_text(self.numerator, self.field.names)
        if self.denominator.is_one():
            return top
        bottom = to_text(self.denominator, self.field.names)
        single = len(self.numerator) == 1, _is_atom(self.denominator)
        return f"{top if single[0] else f'({top})'}/{bottom if single[1] else f'({bottom})'}"

    def _coerce(self, other: RationalFunction | int) -> RationalFunction:
        return other if isinstance(other, RationalFunction) else self.field.constant(other)

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

    def partial(self, position: int) -> RationalFunction:
        """Return the derivative by one variable, every other variable held fixed."""
        top, bottom = self.numerator, self.denominator
        if bottom.is_constant():
            return self.field.quotient(top.derivative(position), bottom)
        return self.field.quotient(
            top.derivative(position) * bottom - top * bottom.derivative(position), bottom * bottom
        )

    def variables(self) -> tuple[str, ...]:
        """Return the names that occur, in the order of the field."""
        used = [
            max(powers) > 0
            for powers in zip(self.numerator.degrees(), self.denominator.degrees(), strict=True)
        ]
        return tuple(name for name, occurs in zip(self.field.names, used, strict=True) if occurs)

    def depends_on(self, position: int) -> bool:
        """Tell whether a variable occurs."""
        return any(int(x.degrees()[position]) > 0 for x in (self.numerator, self.denominator))

    def degree(self) -> int:
        """Return the total degree of the numerator less that of the denominator."""
        return int(self.numerator.total_degree()) - int(self.denominator.total_degree())

    def is_homogeneous(self) -> bool:
        """Tell whether numerator and denominator are forms in the weights alone."""
        size = len(self.field.weights)
        if any(self.depends_on(k) for k in range(size, len(self.field.names))):
            return False
        return all(
            len({sum(exponents) for exponents in polynomial.monoms()}) <= 1
            for polynomial in (self.numerator, self.denominator)
        )

    def compose(
        self, images: Sequence[RationalFunction], target: FunctionField
    ) -> RationalFunction:
        """Substitute one element of *target* for each variable.

        Raises:
            ZeroDivisionError: the denominator becomes zero.
        """
        denominators = [image.denominator for image in images]
        if all(d.is_one() for d in denominators):
            arguments = [image.numerator for image in images]
            return target.quotient(
                self.numerator.compose(*arguments, ctx=target.ring),
                self.denominator.compose(*arguments, ctx=target.ring),
            )
        return _substitute(self.numerator, images, target) / _substitute(
            self.denominator, images, target
        )

    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Return the value at a rational point.

        Raises:
            ZeroDivisionError: the point is a pole.
        """
        return evaluate(self.numerator, point) / evaluate(self.denominator, point)


def _number(polynomial: Polynomial) -> Fraction:
    return (
        Fraction(int(polynomial.leading_coefficient())) if not polynomial.is_zero() else Fraction()
    )


def _substitute(
    polynomial: Polynomial, images: Sequence[RationalFunction], target: FunctionField
) -> RationalFunction:
    total = target.zero
    for exponents, coefficient in terms(polynomial):
        product = target.constant(coefficient)
        for image, e in zip(images, exponents, strict=True):
            if e:
                product *= image**e
        total += product
    return total


def _is_atom(polynomial: Polynomial) -> bool:
    """Tell whether a polynomial is a number or a power of one variable."""
    (exponents, coefficient), *others = terms(polynomial)
    powers = sum(1 for e in exponents if e)
    return not others and (powers == 0 or (powers == 1 and coefficient == 1))
