"""Quotients of integer polynomials in the variables and generators of a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flint import ctx, fmpq

from derive.checking.polynomials import BITS, Rejected, evaluate, product

if TYPE_CHECKING:
    from derive.checking.space import Space


class Function:
    """An element of a :class:`Space`: a quotient of two integer polynomials."""

    __slots__ = ("bottom", "space", "top")

    def __init__(self, space: Space, top: Any, bottom: Any) -> None:
        self.space, self.top, self.bottom = space, top, bottom

    def _quotient(self, top: Any, bottom: Any) -> Function:
        if not bottom.is_one():
            common = top.gcd(bottom)
            if not common.is_one():
                top, bottom = top / common, bottom / common
            if bottom.leading_coefficient() < 0:
                top, bottom = -top, -bottom
        return Function(self.space, top, bottom)

    def _of(self, other: Function | int) -> Function:
        return other if isinstance(other, Function) else self.space.number(other)

    def __add__(self, other: Function | int) -> Function:
        other = self._of(other)
        if self.bottom == other.bottom:
            return self._quotient(self.top + other.top, self.bottom)
        top = product(self.top, other.bottom) + product(other.top, self.bottom)
        return self._quotient(top, product(self.bottom, other.bottom))

    def __neg__(self) -> Function:
        return Function(self.space, -self.top, self.bottom)

    def __sub__(self, other: Function | int) -> Function:
        return self + (-self._of(other))

    def __mul__(self, other: Function | int) -> Function:
        other = self._of(other)
        return self._quotient(product(self.top, other.top), product(self.bottom, other.bottom))

    def __truediv__(self, other: Function | int) -> Function:
        other = self._of(other)
        if not other.is_not_zero():
            raise Rejected("a divisor is zero, or is not shown to be other than zero")
        return self._quotient(product(self.top, other.bottom), product(self.bottom, other.top))

    def __pow__(self, exponent: int) -> Function:
        if exponent < 0:
            return (self.space.number(1) / self) ** -exponent
        result = self.space.number(1)
        for digit in bin(exponent)[2:]:
            result = result * result
            if digit == "1":
                result = result * self
        return result

    def is_zero(self) -> bool:
        """Tell whether this is zero by the relations; True is a proof."""
        return bool(self.space.reduce(self.top).is_zero())

    def is_not_zero(self) -> bool:
        """Tell whether this is shown not to be the zero function; True is a proof."""
        if self.top.is_zero():
            return False
        if not any(self.top.degrees()[len(self.space.variables) :]):
            return True
        value = self.space.value(self)
        return bool(value > 0 or value < 0)

    def same(self, other: Function) -> bool:
        """Tell whether two functions are equal by the relations; True is a proof."""
        return (self - other).is_zero()

    def rational(self) -> fmpq | None:
        """Return the number that this is, or None."""
        if not (self.top.is_constant() and self.bottom.is_constant()):
            return None
        return self.at([fmpq(0)] * len(self.space.symbols))  # type: ignore[no-any-return]

    def partial(self, position: int) -> Function:
        """Return the derivative by one polynomial variable, all others held fixed."""
        top, bottom = self.top, self.bottom
        if bottom.is_constant():
            return self._quotient(top.derivative(position), bottom)
        slope = product(top.derivative(position), bottom) - product(
            top, bottom.derivative(position)
        )
        return self._quotient(slope, product(bottom, bottom))

    def derivative(self, variable: int, below: int | None = None) -> Function:
        """Return the derivative along a variable, generators (before *below*) by their rules."""
        space = self.space
        total = self.partial(variable)
        for index in range(len(space.generators) if below is None else below):
            part = self.partial(len(space.variables) + index)
            if not part.top.is_zero():
                total = total + part * space.slope(index, variable)
        return total

    def at(self, values: Sequence[Any]) -> Any:
        """Return the value; a ball where one of the values is a ball.

        Raises:
            Rejected: the denominator is zero there.
        """
        with ctx.workprec(BITS):
            bottom = evaluate(self.bottom, values)
            if bottom == 0:
                raise Rejected("the point is a pole")
            return evaluate(self.top, values) / bottom

    def into(self, images: Sequence[Function], space: Space) -> Function:
        """Substitute functions of another space for the polynomial variables, in their order."""
        parts = []
        for polynomial in (self.top, self.bottom):
            total = space.number(0)
            for exponents, coefficient in polynomial.to_dict().items():
                term = space.number(int(coefficient))
                for image, n in zip(images, exponents, strict=False):
                    term = term * image ** int(n) if n else term
                total = total + term
            parts.append(total)
        return parts[0] / parts[1]
