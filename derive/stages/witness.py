"""Rational points at which a function is not zero on the leaf that the start reaches.

A function that is not zero in Q(w) may still vanish on the leaf through w_0, the set that
gradient flow can reach from there, and a refutation must hold on that leaf. The function is
analytic, so it vanishes on the leaf exactly when it and all its iterated derivatives along the
fields grad F_1, ..., grad F_d vanish at w_0.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from derive.exact.field import RationalFunction
from derive.exact.linear import dot, rank
from derive.exact.modular import Pole, series_along
from derive.stages.parameterization import Parameterization
from derive.verdict import Identity

DEPTH = 4
"""Iterated derivatives tried before the answer is left open."""

MAXIMAL_TERMS = 5000
"""Size of these derivatives at which the answer is left open."""

ORDER = 24
"""Order of the Taylor series along the flow in which a function is looked for."""


def find_failure(
    p: Parameterization, statement: str, left: RationalFunction, right: RationalFunction
) -> Identity | None:
    """Return the proof that left = right fails on the leaf of the start, or None.

    A start where left - right has a value other than 0, else one where an iterated derivative
    along the flow has, after both sides were multiplied by their denominators. None means "equal
    as far as was looked", never "equal".
    """
    found = _at_rational_start(p, (left, right))
    if found is not None:
        point, value = found
        return Identity(statement, repr(left), repr(right), point, value)
    left, right, factor = _cleared(left, right)
    if factor != 1:
        statement += f", times {factor!r}"
    candidates: list[tuple[tuple[str, ...], RationalFunction]] = [((), left - right)]
    for _ in range(DEPTH + 1):
        for path, candidate in candidates:
            found = _at_rational_start(p, (candidate, p.field.zero))
            if found is not None:
                point, value = found
                return Identity(statement, repr(left), repr(right), point, value, path)
        if sum(len(c.numerator.monoms()) for _, c in candidates) > MAXIMAL_TERMS:
            return None
        candidates = [
            ((*path, f"grad F{j}"), dot(row, p.field.gradient(candidate)))
            for path, candidate in candidates
            for j, row in zip(p.labels, p.jacobian, strict=True)
        ]
    return None


def _cleared(
    left: RationalFunction, right: RationalFunction
) -> tuple[RationalFunction, RationalFunction, RationalFunction]:
    """Return both sides multiplied by their common denominator, and that."""
    field = left.field
    common = left.denominator * right.denominator / left.denominator.gcd(right.denominator)
    factor = field.quotient(common, field.ring.constant(1))
    return left * factor, right * factor, factor


def is_zero_along_flow(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a polynomial vanishes to order 24 along a flow from the start.

    False is a proof that it is not zero on the leaf: a Taylor coefficient at a rational start
    is not zero modulo a prime.
    """
    starts = rational_starts(p)
    steering = [1 + 2 * j for j in range(p.d)]
    components = [
        sum((c * row[k] for c, row in zip(steering, p.jacobian, strict=True)), p.field.zero)
        for k in range(p.p)
    ]
    for _ in range(3):
        start = next(starts, None)
        try:
            if start is not None and any(series_along(components, function, start, ORDER)):
                return False
        except Pole:
            continue
    return True


def _at_rational_start(
    p: Parameterization, sides: tuple[RationalFunction, RationalFunction]
) -> tuple[tuple[tuple[str, Fraction], ...], Fraction] | None:
    """Return a start where the sides differ, and by how much; with J of full rank if possible."""
    try:
        if p.at_start(sides[0]) == p.at_start(sides[1]):
            return None
    except ZeroDivisionError:
        return None
    fallback = None
    for point in rational_starts(p):
        try:
            value = sides[0].at(point) - sides[1].at(point)
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
    for symbols in start_symbols(p):
        try:
            yield tuple(w.at(symbols) for w in p.w0)
        except ZeroDivisionError:
            continue


def start_symbols(p: Parameterization) -> Iterator[tuple[Fraction, ...]]:
    """Yield values of the start symbols, small positive integers first."""
    size = len(p.start_field.names)
    patterns = dict.fromkeys(
        tuple(1 + (k * stride + shift) % spread for k in range(size))
        for spread in (1, 2, 3, 5, 7, 11, 31, 101)
        for stride in range(1, min(spread, 6) + 1)
        for shift in range(min(spread, 4))
    )
    for pattern in patterns:
        yield tuple(Fraction(x) for x in pattern)
