"""Taylor polynomials in several variables at a point, with exact or ball coefficients.

A jet is a function near one point up to terms of some order; derivatives take one order off. All
that is computed from jets is what exact expressions would have given there, without expanding
them: what is not zero in a jet is not zero. Use within :func:`derive.exact.balls.precise`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, arb_series, fmpq

from derive.exact.balls import Unbounded, Value, ball, root_of, to_the_power
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import images_of
from derive.exact.field.polynomial import evaluate
from derive.language.evaluation import value_of
from derive.language.functions import RECORDS, FunctionRecord

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
        return self * other.reciprocal()

    def __pow__(self, exponent: int) -> Jet:
        return functools.reduce(Jet.__mul__, [self] * exponent)

    def reciprocal(self) -> Jet:
        """Return 1/f; ZeroDivisionError or Unbounded where the value is 0, or may be."""
        start = self.parts[0].get(0, fmpq(0))
        if isinstance(start, arb) and start.contains(0):
            raise Unbounded
        inverse = 1 / start
        return self._composed([inverse * (-inverse) ** n for n in range(self.order + 1)])

    def derivative(self, k: int) -> Jet:
        """Return the derivative by variable k, known to one order less."""
        shift, mask, one = BITS * k, (1 << BITS) - 1, 1 << BITS * k
        lowered = (
            {key - one: c * (key >> shift & mask) for key, c in part.items() if key >> shift & mask}
            for part in self.parts[1:]
        )
        return Jet(tuple(lowered))

    def _composed(self, series: Sequence[Coefficient]) -> Jet:
        """Return sum_n series[n] (f - f_0)^n, by Horner's rule."""
        moved = Jet(({}, *self.parts[1:]))
        total = _constant(series[-1], self.order)
        for c in reversed(series[:-1]):
            total = total * moved + _constant(c, self.order)
        return total


def _constant(value: Coefficient, order: int) -> Jet:
    return Jet(({0: value}, *({} for _ in range(order))))


def jets_at(field: FunctionField, point: Mapping[str, Value], order: int) -> tuple[Jet, ...]:
    """Return the jets of all variables at a point; ZeroDivisionError or Unbounded at a pole."""
    images: dict[str, Jet] = {}
    for k, name in enumerate(field.weights):
        step: dict[int, Coefficient] = {1 << (BITS * k): fmpq(1)}
        start = {0: _number(point[name])}
        images[name] = Jet((start, step, *({} for _ in range(order - 1))))
    for name in field.parameters:
        images[name] = _constant(_number(point[name]), order)

    def at(element: RationalFunction, known: Mapping[str, Jet]) -> Jet:
        return evaluate_jet(element, [known[n] for n in element.field.names])

    known = images_of(field.generators, images, at, _FUNCTIONS)
    return tuple(known[name] for name in field.names)


def evaluate_jet(element: RationalFunction, variables: Sequence[Jet]) -> Jet:
    """Return the jet of an element from those of its variables; no poles, as in a reciprocal."""

    def constant(value: int) -> Jet:
        return _constant(fmpq(value), variables[0].order)

    top = evaluate(element.numerator, variables, constant)
    if element.denominator.is_one():
        return top
    return top / evaluate(element.denominator, variables, constant)


def _number(value: Value) -> Coefficient:
    return fmpq(value.numerator, value.denominator) if isinstance(value, Fraction) else value


def _function(record: FunctionRecord) -> Callable[[Jet], Jet]:
    """Return a function of jets from its Taylor series around a ball."""

    def apply(A: Jet) -> Jet:
        center = ball(A.value)
        found = list(_series(record, arb_series([center, 1], A.order + 1)))
        found += [arb(0)] * (A.order + 1 - len(found))
        if not all(c.is_finite() for c in found):
            raise Unbounded
        return A._composed(found)

    return apply


def _series(record: FunctionRecord, x: arb_series) -> arb_series:
    """Return f(x) for x = x_0 + t, by flint or else from the derivative."""
    if record.positive and not x[0] > 0:
        x = -x
    own: Callable[[arb_series], arb_series] | None = getattr(arb_series, record.name, None)
    if own is not None:
        return own(x)
    values = {"x": x}
    if record.partner:
        values["p"] = value_of(record.partner, values, lambda name, y: getattr(y, name)())
    constant: arb = getattr(x[0], record.name)()
    return value_of(record.derivative, values).integral() + constant


def _binomial(A: Jet, value: Value, e: Coefficient) -> Jet:
    """Return A^e from its value at the point."""
    start = A.parts[0].get(0, fmpq(0))
    found = [_number(value)]
    for n in range(A.order):
        found.append(found[-1] * (e - n) / (n + 1) / start)
    return A._composed(found)


_FUNCTIONS: dict[str, Callable[..., Jet]] = {
    **{f.name: _function(f) for f in RECORDS.values() if f.derivative},
    "root": lambda A, n: _binomial(A, root_of(A.value, n), fmpq(1, n)),
    "power": lambda A, e: _binomial(A, to_the_power(A.value, e.value), _number(e.value)),
}
