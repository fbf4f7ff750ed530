"""Monomials of one weighted degree in functions of the weights, and their values modulo a prime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from derive.exact.field import FunctionField, RationalFunction
from derive.exact.modular import PRIME, Evaluator, Pole, random_point


def weight(function: RationalFunction, graded: bool) -> int:
    """Return the degree that a function counts for."""
    if graded:
        return function.degree()
    return max(1, int(function.numerator.total_degree()), int(function.denominator.total_degree()))


def weighted_monomials(
    weights: Sequence[int], total: int, graded: bool, powers: Sequence[int] | None
) -> Iterator[tuple[int, ...]]:
    """Yield exponents, the target's first, of weighted degree *total* (at most, if ungraded).

    The order puts high powers of the target last, so that echelon forms solve for them.
    """
    allowed = range(total // weights[0] + 1) if powers is None else powers
    for power in sorted(allowed):
        rest = total - power * weights[0]
        if rest >= 0:
            for tail in _compositions(weights[1:], rest, graded):
                yield (power, *tail)


def _compositions(weights: Sequence[int], total: int, exact: bool) -> Iterator[tuple[int, ...]]:
    if not weights:
        if total == 0 or not exact:
            yield ()
        return
    for power in range(total // weights[0], -1, -1):
        for tail in _compositions(weights[1:], total - power * weights[0], exact):
            yield (power, *tail)


def extend(
    samples: list[tuple[int, ...]],
    size: int,
    evaluators: Sequence[Evaluator],
    field: FunctionField,
    rng: Random,
) -> None:
    """Add values of the functions at random points modulo the prime."""
    while len(samples) < size:
        point = random_point(field, rng, fixed=False)
        try:
            samples.append(tuple(e(point) for e in evaluators))
        except Pole:
            continue


def monomial_rows(
    exponents: Sequence[tuple[int, ...]], samples: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return the monomials with the given exponents at each sample, modulo the prime."""
    highest = [max(column) for column in zip(*exponents, strict=True)]
    sparse = [[(k, power) for k, power in enumerate(e) if power] for e in exponents]
    rows = []
    for sample in samples:
        tables = [_powers(x, n) for x, n in zip(sample, highest, strict=True)]
        row = []
        for factors in sparse:
            value = 1
            for k, power in factors:
                value = value * tables[k][power] % PRIME
            row.append(value)
        rows.append(row)
    return rows


def _powers(x: int, highest: int) -> list[int]:
    table = [1]
    for _ in range(highest):
        table.append(table[-1] * x % PRIME)
    return table
