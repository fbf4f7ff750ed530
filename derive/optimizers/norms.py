"""The norms l_p, their duals, and the directions of steepest descent, in balls.

The step argmin <g, v> + |v|^2/2 is minus the gradient of |g|_*^2/2, for l_p with 1/p + 1/q = 1:

    sign(g) |g|^(q-1) |g|_q^(2-q);   l1: the largest g_j alone;   linf: |g|_1 sign(g).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from derive.errors import InputError
from derive.exact.balls import ball


@dataclass(frozen=True)
class Norm:
    """l_p for 1 <= p; None stands for the largest entry.

    >>> read_norm("4/3").dual.name
    'l4'
    """

    p: Fraction | None

    @property
    def name(self) -> str:
        """As in l1, l4/3, linf."""
        return "linf" if self.p is None else f"l{self.p}"

    @property
    def dual(self) -> Norm:
        """l_q with 1/p + 1/q = 1."""
        if self.p is None:
            return Norm(Fraction(1))
        return Norm(None if self.p == 1 else self.p / (self.p - 1))

    def value(self, w: Sequence[arb]) -> arb:
        """Return |w|."""
        sizes = [abs(x) for x in w]
        if self.p is None:
            largest = sizes[0]
            for x in sizes[1:]:
                largest = largest.max(x)
            return largest
        p = ball(self.p)
        return total(power(x, self.p) for x in sizes) ** (1 / p)

    def slope(self, w: Sequence[arb]) -> list[arb]:
        """Return sign(w) |w|^(p-1), the gradient of |w|_p^p/p; p is finite."""
        assert self.p is not None
        return [signed_power(x, self.p - 1) for x in w]

    def direction(self, g: Sequence[arb]) -> list[arb]:
        """Return minus the step where the gradient is g, but for a positive factor."""
        if self.dual.p is not None:
            return self.dual.slope(g)
        largest = [all(abs(x) >= abs(z) for z in g) for x in g]
        if sum(largest) != 1:
            raise InputError("several coordinates have the largest slope")
        return [x if is_largest else arb(0) for x, is_largest in zip(g, largest, strict=True)]


def read_norm(value: object) -> Norm:
    """Return the norm of a p: a number from 1 on, "4/3", "l4/3", "inf"; a double counts as simple.

    Raises:
        InputError: it is no such number.
    """
    text = str(value).strip().removeprefix("l")
    if text in ("inf", "infinity"):
        return Norm(None)
    try:
        p = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"p must be a number from 1 on, as 4/3, or inf, not {value!r}") from None
    simple = p.limit_denominator(1000)
    if isinstance(value, float) and float(simple) == value:
        p = simple
    if p < 1 or p.denominator > 1000 or p > 1000:
        raise InputError(f"p must be a number from 1 to 1000 of small denominator, not {value!r}")
    return Norm(p)


def total(terms: Iterable[arb]) -> arb:
    """Return a sum."""
    return sum(terms, arb(0))


def power(x: arb, exponent: Fraction) -> arb:
    """Return x^exponent for x >= 0, as a ball that holds it even where x may be 0."""
    if exponent.denominator == 1:
        return x ** int(exponent)
    if x > 0:
        return x ** ball(exponent)
    top = abs(x).upper()
    high = top ** ball(exponent) if top > 0 else arb(0)
    return arb(0, 0).union(high)


def signed_power(x: arb, exponent: Fraction) -> arb:
    """Return sign(x) |x|^exponent."""
    if x > 0 or x == 0:
        return power(x, exponent) if exponent else arb(int(x > 0))
    if x < 0:
        return -signed_power(-x, exponent)
    high = power(abs(x).upper(), exponent)
    return (-high).union(high)
