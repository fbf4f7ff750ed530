"""Expressions, and start values, as elements of one field of elementary functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.towers.reader import Refine, refined
from derive.exact.towers.tower import Tower
from derive.language.tree import Tree


def build_elements(
    trees: Sequence[Tree],
    weights: Sequence[str],
    parameters: Sequence[str] = (),
    positive: Iterable[str] = (),
    kind: type[Tower] = Tower,
) -> tuple[RationalFunction, ...]:
    """Return the expressions as elements of one field; InputError where they have no place."""

    def build(units: dict[str, int]) -> tuple[RationalFunction, ...]:
        tower = kind(weights, parameters, units, positive)
        elements = [tower.element(tree) for tree in trees]
        return tuple(tower.field.embed(e) for e in elements)

    return refined(build, "the fractions in the arguments of exp, sin, cos or roots")


def start_images(
    field: FunctionField,
    start: Sequence[Tree],
    symbols: Sequence[str],
    parameters: Sequence[str],
    positive: Iterable[str],
) -> tuple[RationalFunction, ...]:
    """Return all variables of *field* at *start*; InputError for signs, ZeroDivisionError."""

    def build(units: dict[str, int]) -> tuple[RationalFunction, ...]:
        tower = Tower(symbols, parameters, units, positive)
        images = dict(zip(field.names, map(tower.element, start), strict=False))
        for g in field.generators:
            images[g.name] = tower.generator_at(g, images)
        return tuple(tower.field.embed(x) for x in images.values())

    return refined(build, "the fractions in the start values")


def to_field(tree: Tree, field: FunctionField, what: str) -> RationalFunction:
    """Return *tree*, *what* in an InputError, as an element of *field*."""
    try:
        return field.embed(Tower.over(field).element(tree))
    except ZeroDivisionError:
        raise InputError(f"{what} divides by an expression that is zero") from None
    except (Refine, ValueError):
        raise InputError(f"{what} uses functions that the field does not have") from None
