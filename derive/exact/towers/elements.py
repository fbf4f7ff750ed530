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
    """Return the expressions as elements of one field Q(weights)(generators).

    *positive* names are known to be so; *kind* says which roots the field has.

    Raises:
        InputError: a function is outside what the field can represent exactly.
        ZeroDivisionError: an expression divides by zero identically.
    """

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
    """Return all variables of *field* at a start, in one field of the start symbols.

    The weights start at *start*, in symbols and parameters of which some are *positive*.

    Raises:
        InputError: a value needs a sign that is not known.
        ZeroDivisionError: a generator has a pole there.
    """

    def build(units: dict[str, int]) -> tuple[RationalFunction, ...]:
        tower = Tower(symbols, parameters, units, positive)
        images = [tower.element(tree) for tree in start]
        for g in field.generators:
            images.append(tower.generator_at(g, dict(zip(field.names, images, strict=False))))
        return tuple(tower.field.embed(x) for x in images)

    return refined(build, "the fractions in the start values")


def to_field(tree: Tree, field: FunctionField, what: str) -> RationalFunction:
    """Return *tree* as an element of *field*; a message calls it *what*, for instance ``output 2``.

    Raises:
        InputError: the tree needs functions that the field does not have, or divides by zero.
    """
    try:
        return field.embed(Tower.over(field).element(tree))
    except ZeroDivisionError:
        raise InputError(f"{what} divides by an expression that is zero") from None
    except (Refine, ValueError):
        raise InputError(f"{what} uses functions that the field does not have") from None
