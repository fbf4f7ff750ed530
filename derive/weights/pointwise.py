"""Whether the equations of a Hessian map or a warp fail at one start in numbers.

X_a, K, H and the brackets are computed as Taylor polynomials of F around a start in numbers, with
balls where values are not rational. A condition whose two sides differ there fails on the leaf of
that start: a proof, for which no expression has been multiplied out. That they agree at a point
proves nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from derive.exact.balls import Unbounded, Value, is_nonzero, precise, shown, values_of
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.jets import Jet, jet_of
from derive.model.parameterization import Parameterization
from derive.verdict import Identity
from derive.weights.equations import Equation, Flow, closure, warp_candidate, warp_conditions
from derive.weights.metric import Metric
from derive.weights.witness import Sample, is_free, samples

STARTS = 6
"""Starts at which the conditions are evaluated."""

ORDER = 4
"""Derivatives of F that are known there; the conditions look at 3, and 4 after one bracket."""

LARGE = 12
"""Terms of an entry of K above which a failure is shown in numbers, not in expressions.

Of a denominator the factors count, not their powers: they make no work.
"""

JetField = tuple[Jet, ...]


class LocalFlow(Flow[Jet]):
    """F around one start, given by the values there of all variables of its field."""

    def __init__(self, p: Parameterization, values: Sequence[Value]) -> None:
        """Take the Taylor polynomials of F and of what the geometry is made of."""

        def at(function: RationalFunction) -> Jet:
            return jet_of(p.field.embed(function), values, ORDER)

        covectors = [tuple(map(f.derivative, range(p.p))) for f in map(at, p.F)]
        self._labels, self._X = p.labels, tuple(p.geometry.raised(df, at) for df in covectors)
        self.K = tuple(tuple(_dot(df, x) for x in self._X) for df in covectors)

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""
        return self._labels

    @property
    def X(self) -> tuple[JetField, ...]:
        """The fields grad F_a."""
        return self._X

    def slope(self, x: JetField, f: Jet) -> Jet:
        """Return the derivative of f along the field x."""
        return _dot(x, tuple(map(f.derivative, range(len(x)))))


Conditions = Callable[[LocalFlow], Iterator[Equation[Jet]]]


def find_failing_condition(metric: Metric, conditions: Conditions) -> Identity | None:
    """Return a condition that fails at a start, for a metric whose K is large, or None."""
    p = metric.parameterization
    if max(_terms(x) for row in metric.K for x in row) <= LARGE:
        return None
    for sample in islice(filter(functools.partial(is_free, p), samples(p)), STARTS):
        try:
            with precise():
                found = _failure_at(p, sample, conditions)
        except (ZeroDivisionError, Unbounded):
            continue
        if found is not None:
            return found
    return None


def _terms(f: RationalFunction) -> int:
    """Return the number of terms of the numerator, and of the factors of the denominator."""
    below = factors(f.field.polynomial(f.denominator))
    return len(f.numerator) + sum(len(factor.numerator) for factor, _ in below)


def _failure_at(p: Parameterization, sample: Sample, conditions: Conditions) -> Identity | None:
    point = {name: sample.of(w) for name, w in zip(p.weights, p.w0, strict=True)}
    point |= {name: sample.of(sample.field.named(name)) for name in p.parameters}
    local = LocalFlow(p, values_of(p.field, point))
    for claim, left, right, kind, of in conditions(local):
        residual = (left - right).value
        if is_nonzero(residual):
            sides = str(shown(left.value)), str(shown(right.value))
            at = sample.point(p), shown(residual)
            return Identity(claim, *sides, *at, kind=kind, of=of)
    return None


def warp_and_closure(local: LocalFlow) -> Iterator[Equation[Jet]]:
    """Yield the equations for H, then closure as far as derivatives of F are known."""
    H = warp_candidate(local)
    if len(H) > 2:  # for d = 2 the candidate solves them
        yield from warp_conditions(local, H)
    yield from closure(local, H, lambda v: v[0].order > 1)


def _dot(x: JetField, y: JetField) -> Jet:
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total = total + a * b
    return total
