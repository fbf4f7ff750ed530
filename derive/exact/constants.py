"""Numbers among the functions of a start, as 1 - sqrt(2): their signs are decided by balls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random

from derive.exact.balls import PRECISIONS, Unbounded, evaluate_any, values_of
from derive.exact.field.function_field import FunctionField, RationalFunction


def is_number(value: RationalFunction) -> bool:
    """Tell whether a function of the start has no name in it that is free, as 1 - sqrt(2)."""
    generators = {g.name: g for g in value.field.generators if g.kind != "parameter"}
    used, seen = set(value.variables()), set[str]()
    while left := used - seen:
        seen |= left
        inner = (g for name, g in generators.items() if name in left)
        parts = (x for g in inner for x in (g.argument, g.exponent) if x is not None)
        used |= {name for x in parts for name in x.variables()}
    return used <= set(generators)


def sign_of_number(value: RationalFunction) -> int:
    """Return the sign of a number by balls; 0 where no ball is small enough to tell."""
    free = free_names(value.field)
    for point in points(free, frozenset(free)):
        for bits in PRECISIONS:
            with contextlib.suppress(Unbounded, ZeroDivisionError):  # of what it does not use
                x = evaluate_any(value, values_of(value.field, point, bits), bits)
                if x > 0 or x < 0:
                    return 1 if x > 0 else -1
    return 0


def free_names(field: FunctionField) -> list[str]:
    """Return the names of a field that are no calls."""
    calls = {g.name for g in field.generators if g.kind != "parameter"}
    return [name for name in field.names if name not in calls]


TRIES = 300


def points(names: Sequence[str], positive: frozenset[str]) -> Iterator[dict[str, Fraction]]:
    """Yield small numbers for names, positive ones where they are known to be."""
    rng = Random(8)
    for _ in range(TRIES):
        yield {
            name: Fraction(rng.randint(1, 12), rng.randint(1, 4))
            * (1 if name in positive or rng.random() < 0.5 else -1)
            for name in names
        }
