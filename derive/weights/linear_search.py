"""Functions from their slopes along the flow: one linear system for all that is sought.

Laws, the logarithm of a warp, dual coordinates and the conjugate R are each an f with given slopes
X_a f = h_a, sought as a combination of given functions. That is linear in its coefficients, which
are numbers or functions of the parameters. They are read off a nullspace modulo a prime at random
points: proposals, until X_a f = h_a holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from random import Random
from typing import TypeAlias

from flint import nmod, nmod_mat

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import nullspace_over_constants
from derive.exact.linear.modular import (
    Evaluator,
    Pole,
    nullspace,
    random_point,
    saturated,
    supports,
)
from derive.model.parameterization import Parameterization

Coefficients: TypeAlias = Sequence[int | RationalFunction]
Rows: TypeAlias = Sequence[Sequence[RationalFunction]]
"""Equations sum_k c_k row_k = 0 for unknown constants c."""


def with_slopes(
    p: Parameterization, family: Sequence[LogFunction], sides: Rows
) -> tuple[LogFunction, ...] | None:
    """Return for each of the sides h a combination f of few members with X_a f = h_a, or None."""
    size = len(family)
    rows = [
        [*(f.along(x) for f in family), *(-h[a] for h in sides)] for a, x in enumerate(p.fields)
    ]
    proved = dict[int, LogFunction]()
    for vector in sorted(coefficients(p, rows), key=terms_in):
        scales = {k: c for k, c in enumerate(vector[size:]) if c != 0}
        if len(scales) == 1 and not scales.keys() & proved.keys():
            ((k, scale),) = scales.items()
            f = log_combination(p, vector[:size], family).scaled(p.field.one / scale)
            if has_slopes(p, f, sides[k]):
                proved[k] = f
    return tuple(proved[k] for k in sorted(proved)) if len(proved) == len(sides) else None


def has_slopes(p: Parameterization, f: LogFunction, h: Sequence[RationalFunction]) -> bool:
    """Tell exactly whether X_a f = h_a for every a: the check behind all that is sought."""
    return all(f.along(x) == slope for x, slope in zip(p.fields, h, strict=True))


def coefficients(p: Parameterization, rows: Rows) -> Sequence[Coefficients]:
    """Return independent constant vectors c with sum_k c_k row_k = 0, as seen at random points."""
    matrix = _at_points(p, rows)
    if not p.field.constants:
        return nullspace(matrix)
    return [*over_parameters(matrix, lambda k: [row[k] for row in rows])]


def integer_relations(p: Parameterization, rows: Rows) -> list[tuple[int, ...]]:
    """Return those of whole numbers, where there are parameters as well."""
    return nullspace(_at_points(p, rows))


def _at_points(p: Parameterization, rows: Rows) -> nmod_mat:
    """Return the rows at enough random points modulo the prime."""
    rng = Random(2)
    # What several rows share is evaluated once.
    places = {f: k for k, f in enumerate(dict.fromkeys(chain(*rows)))}
    evaluators, indices = [*map(Evaluator, places)], [[places[f] for f in row] for row in rows]

    def draw() -> list[list[nmod]]:
        point = random_point(p.field, rng)
        with suppress(Pole):
            values = [e(point) for e in evaluators]
            return [[values[k] for k in row] for row in indices]
        return []

    return saturated(len(rows[0]), draw)


def over_parameters(
    matrix: nmod_mat, column: Callable[[int], Sequence[RationalFunction]]
) -> Iterator[list[RationalFunction]]:
    """Yield constant vectors that some columns of functions have, by where those modulo p live."""
    for support in supports(matrix):
        columns = [column(k) for k in support]
        zero = columns[0][0].field.zero
        for vector in nullspace_over_constants(columns):
            entries = dict(zip(support, vector, strict=True))
            yield [entries.get(k, zero) for k in range(matrix.ncols())]


def particular_solutions(p: Parameterization, rows: Rows) -> list[tuple[int, ...]]:
    """Return the integer relations that use the last column, those of fewest terms first."""
    return sorted((v for v in integer_relations(p, rows) if v[-1]), key=terms_in)


def terms_in(vector: Coefficients) -> int:
    """Return how many coefficients are not zero."""
    return sum(1 for c in vector if c != 0)


def combination(
    p: Parameterization, coefficients: Coefficients, functions: Sequence[RationalFunction]
) -> RationalFunction:
    """Return sum_k c_k f_k."""
    pairs = zip(coefficients, functions, strict=True)
    return sum((c * f for c, f in pairs if c != 0), p.field.zero)


def log_combination(
    p: Parameterization, coefficients: Coefficients, functions: Sequence[LogFunction]
) -> LogFunction:
    """Return sum_k c_k f_k."""
    total = LogFunction(p.field.zero)
    for c, f in zip(coefficients, functions, strict=True):
        if c != 0:
            total += f.scaled(p.field.constant(c) if isinstance(c, int) else c)
    return total
