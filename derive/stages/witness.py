"""Rational points at which a function is not zero on the leaf that the start reaches.

A function that is not zero in Q(w) may still vanish on the leaf through w_0, the set that
gradient flow can reach from there, and a refutation must hold on that leaf. The function is
analytic, so it vanishes on the leaf exactly when it and all its iterated derivatives along the
fields grad F_1, ..., grad F_d vanish at w_0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from derive.exact.field import RationalFunction
from derive.exact.linear import dot, rank
from derive.stages.parameterization import Parameterization

DEPTH = 4
"""Iterated derivatives tried before the answer is left open."""

MAXIMAL_TERMS = 5000
"""Size of these derivatives at which the answer is left open."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A start point at which a function, or a derivative of it along the flow, is not zero.

    Attributes:
        point: the weights at that start.
        value: the value there of the function, or of the derivative of its numerator.
        derivative: the fields differentiated along, in order; empty for the function itself.
    """

    point: tuple[tuple[str, Fraction], ...]
    value: Fraction
    derivative: tuple[str, ...] = ()


def find_witness(p: Parameterization, function: RationalFunction) -> Witness | None:
    """Return a proof that *function* is not zero on the leaf of the start, or None.

    None means "zero as far as was looked", never "zero".
    """
    found = _at_rational_start(p, function)
    if found is not None:
        return Witness(*found)
    # Where the denominator does not vanish, the numerator vanishes to the same order.
    numerator = p.field.quotient(function.numerator, p.field.ring.constant(1))
    candidates: list[tuple[tuple[str, ...], RationalFunction]] = [((), numerator)]
    for _ in range(DEPTH):
        candidates = [
            ((*path, f"grad F{j}"), dot(row, p.field.gradient(candidate)))
            for path, candidate in candidates
            for j, row in enumerate(p.jacobian, 1)
        ]
        if sum(len(c.numerator.monoms()) for _, c in candidates) > MAXIMAL_TERMS:
            return None
        for path, candidate in candidates:
            found = _at_rational_start(p, candidate)
            if found is not None:
                return Witness(*found, path)
    return None


def _at_rational_start(
    p: Parameterization, function: RationalFunction
) -> tuple[tuple[tuple[str, Fraction], ...], Fraction] | None:
    """Return a start and the value there, at which J has full rank if there is such a start."""
    try:
        if p.at_start(function).is_zero():
            return None
    except ZeroDivisionError:
        return None
    fallback = None
    for point in rational_starts(p):
        try:
            value = function.at(point)
            rows = [[p.field.constant(x.at(point)) for x in row] for row in p.jacobian]
        except ZeroDivisionError:
            continue
        if value != 0:
            found = tuple(zip(p.weights, point, strict=True)), value
            if rank(rows) == p.d:
                return found
            fallback = fallback or found
    return fallback


def rational_starts(p: Parameterization) -> Iterator[tuple[Fraction, ...]]:
    """Yield rational points of the start family, small positive integers first."""
    size = len(p.start_field.names)
    patterns = dict.fromkeys(
        tuple(1 + (k * stride + shift) % spread for k in range(size))
        for spread in (1, 2, 3, 5, 7, 11, 31, 101)
        for stride in range(1, min(spread, 6) + 1)
        for shift in range(min(spread, 4))
    )
    for pattern in patterns:
        symbols = [Fraction(x) for x in pattern]
        try:
            yield tuple(w.at(symbols) for w in p.w0)
        except ZeroDivisionError:
            continue
