"""Rational function fields Q(w, E) with derivations, on python-flint polynomials.

An element is a reduced quotient of two integer polynomials, so that two elements are equal
exactly when their numerators and denominators are: the zero test is exact and never guesses.
A *generator* E is a further variable whose derivatives along the weights are given by a rule,
for instance dE/dw = E for E = exp(w); the rules make the field a differential field.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import Ordering, fmpz_mpoly_ctx

from derive.exact.polynomial import Exponents, Polynomial, evaluate, terms


@dataclass(frozen=True, eq=False)
class FunctionField:
    """The field Q(weights, generators) and the derivation d/dw_k on it.

    Args:
        weights: names of the independent variables.
        generators: names of further variables, algebraically independent of the weights.
        rules: for each generator, its derivative along each weight, as a pair of dictionaries
            {exponents over all names: coefficient} for numerator and denominator.

    >>> field = FunctionField(("w",), ("E",), {"E": (({(0, 1): 1}, {(0, 0): 1}),)})
    >>> w, E = field.gens
    >>> field.derivative(w * E, 0) == (1 + w) * E
    True
    """

    weights: tuple[str, ...]
    generators: tuple[str, ...] = ()
    rules: (
        Mapping[str, tuple[tuple[Mapping[Exponents, int], Mapping[Exponents, int]], ...]] | None
    ) = None

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """All variables: the weights, then the generators."""
        return self.weights + self.generators

    @functools.cached_property
    def ring(self) -> Any:
        """The flint context of Z[names]."""
        return fmpz_mpoly_ctx.get(self.names, Ordering.degrevlex)

    @functools.cached_property
    def gens(self) -> tuple[RationalFunction, ...]:
        """The variables as elements."""
        one = self.ring.constant(1)
        return tuple(RationalFunction(self, x, one) for x in self.ring.gens())

    @functools.cached_property
    def zero(self) -> RationalFunction:
        """The element 0."""
        return self.constant(Fraction(0))

    @functools.cached_property
    def one(self) -> RationalFunction:
        """The element 1."""
        return self.constant(Fraction(1))

    def constant(self, value: Fraction | int) -> RationalFunction:
        """Return the rational number *value* as an element."""
        value = Fraction(value)
        ring = self.ring
        return RationalFunction(
            self, ring.constant(value.numerator), ring.constant(value.denominator)
        )

    def monomial(self, exponents: Sequence[int]) -> RationalFunction:
        """Return the Laurent monomial with the given (possibly negative) exponents."""
        up = tuple(max(e, 0) for e in exponents)
        down = tuple(max(-e, 0) for e in exponents)
        return RationalFunction(self, self.ring.from_dict({up: 1}), self.ring.from_dict({down: 1}))

    def quotient(self, numerator: Polynomial, denominator: Polynomial) -> RationalFunction:
        """Return numerator / denominator in lowest terms, with a positive leading denominator."""
        if denominator.is_zero():
            raise ZeroDivisionError("division by zero in a function field")
        if not denominator.is_one():
            common = numerator.gcd(denominator)
            if not common.is_one():
                numerator, denominator = numerator / common, denominator / common
            if denominator.leading_coefficient() < 0:
                numerator, denominator = -numerator, -denominator
        return RationalFunction(self, numerator, denominator)

    def derivative(self, element: RationalFunction, weight: int) -> RationalFunction:
        """Return d(element)/d(weights[weight]), generators differentiated by their rules."""
        result = element.partial(weight)
        for position, name in enumerate(self.generators, start=len(self.weights)):
            by_generator = element.partial(position)
            if not by_generator.is_zero():
                result += by_generator * self._rule(name, weight)
        return result

    def gradient(self, element: RationalFunction) -> tuple[RationalFunction, ...]:
        """Return the gradient of *element* in the weights."""
        return tuple(self.derivative(element, k) for k in range(len(self.weights)))

    def _rule(self, generator: str, weight: int) -> RationalFunction:
        if self.rules is None or generator not in self.rules:
            raise ValueError(f"the generator {generator} has no derivation rule")
        numerator, denominator = self.rules[generator][weight]
        return self.quotient(
            self.ring.from_dict(dict(numerator)), self.ring.from_dict(dict(denominator))
        )


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
        if exponent >= 0:
            return RationalFunction(
                self.field, self.numerator**exponent, self.denominator**exponent
            )
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
        if self.denominator.is_one():
            return str(self.numerator).replace("^", "**")
        return f"({self.numerator})/({self.denominator})".replace("^", "**")

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
            any(powers)
            for powers in zip(self.numerator.degrees(), self.denominator.degrees(), strict=True)
        ]
        return tuple(name for name, occurs in zip(self.field.names, used, strict=True) if occurs)

    def degree(self) -> int:
        """Return the total degree of the numerator less that of the denominator."""
        return int(self.numerator.total_degree()) - int(self.denominator.total_degree())

    def is_homogeneous(self) -> bool:
        """Tell whether numerator and denominator are forms."""
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
