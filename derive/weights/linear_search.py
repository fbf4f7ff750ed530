"""Unknown coefficients from linear equations between functions of the weights.

What is sought, (y, g), R, or a logarithm, is a combination of given functions, and what it has to
satisfy is linear in its coefficients: sum_k c_k column_k = 0 as functions of the weights. The
coefficients are numbers, or functions of the parameters. They are read off a nullspace modulo a
prime at random points, so that every solution is a proposal, to be expanded by who asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from random import Random

from flint import nmod, nmod_mat

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import nullspace_over_constants
from derive.exact.linear.modular import (
    Evaluator,
    Pole,
    Row,
    nullspace,
    random_point,
    saturated,
    supports,
)
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization

Column = Mapping[int, RationalFunction]
"""The terms of one unknown, by the number of the equation."""

Coefficients = Sequence[int | RationalFunction]


def find_coefficients(
    p: Parameterization, columns: Sequence[Column], equations: int
) -> Sequence[Coefficients]:
    """Return independent vectors c with sum_k c_k column_k = 0, as found at random points."""
    # Terms that several unknowns share are evaluated once.
    evaluators = {id(f): Evaluator(f) for column in columns for f in column.values()}
    rng = Random(5)

    def draw() -> list[Row]:
        point = random_point(p.field, rng)
        with suppress(Pole):
            values: dict[int, nmod | int] = {key: f(point) for key, f in evaluators.items()}
            known = [{i: values[id(f)] for i, f in column.items()} for column in columns]
            return [[column.get(i, 0) for column in known] for i in range(equations)]
        return []

    rows = saturated(len(columns), draw)
    return _over_parameters(p, columns, rows) if p.field.constants else nullspace(rows)


def _over_parameters(
    p: Parameterization, columns: Sequence[Column], rows: nmod_mat
) -> list[list[RationalFunction]]:
    """Return the solutions whose entries are functions of the parameters, exactly."""
    zero = p.field.zero
    equations = range(1 + max(i for column in columns for i in column))
    found = []
    for support in supports(rows):
        terms = [[columns[k].get(i, zero) for i in equations] for k in support]
        for vector in nullspace_over_constants(terms):
            entries = dict(zip(support, vector, strict=True))
            found.append([entries.get(k, zero) for k in range(len(columns))])
    return found


def integer_relations(
    p: Parameterization, rows: Sequence[Field | Sequence[RationalFunction]]
) -> list[tuple[int, ...]]:
    """Return integer vectors v with sum_k v_k row_k = 0 for every row, as found modulo a prime."""
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

    return nullspace(saturated(len(rows[0]), draw))


def particular_solutions(
    p: Parameterization, rows: Sequence[Sequence[RationalFunction]]
) -> list[tuple[int, ...]]:
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
