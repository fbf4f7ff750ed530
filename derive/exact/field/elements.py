"""Expressions, and start values, as elements of one field of elementary functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.towers.refinement import Refine
from derive.exact.towers.tower import Tower
from derive.language.tree import Tree

ROUNDS = 12
"""How often a denominator of an argument may be refined before the input is refused."""


def build_elements(
    trees: Sequence[Tree],
    weights: Sequence[str],
    parameters: Sequence[str] = (),
    positive: Iterable[str] = (),
    kind: type[Tower] = Tower,
) -> tuple[RationalFunction, ...]:
    """Return the expressions as elements of one field Q(weights)(generators).

    Args:
        trees: the expressions.
        weights, parameters: the names in them.
        positive: names known to be positive.
        kind: which roots the field has.

    Raises:
        InputError: a function is outside what the field can represent exactly.
        ZeroDivisionError: an expression divides by zero identically.
    """
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        tower = kind(weights, parameters, units, positive)
        try:
            elements = [tower.element(tree) for tree in trees]
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
            continue
        return tuple(tower.field.embed(e) for e in elements)
    raise InputError("the fractions in the arguments of exp, sin, cos or roots are too many")


def start_images(
    field: FunctionField,
    start: Sequence[Tree],
    symbols: Sequence[str],
    parameters: Sequence[str],
    positive: Iterable[str],
) -> tuple[RationalFunction, ...]:
    """Return all variables of *field* at a start, in one field of the start symbols.

    Args:
        field: whose weights start at *start* and whose generators follow.
        start: the values of the weights.
        symbols, parameters: the names in them.
        positive: names known to be positive.

    Raises:
        InputError: a value needs a sign that is not known.
        ZeroDivisionError: a generator has a pole there.
    """
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        tower = Tower(symbols, parameters, units, positive)
        try:
            images = [tower.element(tree) for tree in start]
            for g in field.generators:
                images.append(tower.generator_at(g, dict(zip(field.names, images, strict=False))))
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
            continue
        return tuple(tower.field.embed(x) for x in images)
    raise InputError("the fractions in the start values are too many")
