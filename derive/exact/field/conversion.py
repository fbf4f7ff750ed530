"""From expression trees to elements of a given exact field."""

from __future__ import annotations

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.towers.refinement import Refine
from derive.exact.towers.tower import Tower
from derive.language.tree import Tree


def to_field(tree: Tree, field: FunctionField, what: str) -> RationalFunction:
    """Return *tree* as an element of *field*.

    Args:
        tree: an expression whose names, and the functions that it uses, are those of the field.
        field: the target.
        what: how a message calls the expression, for instance ``output 2``.

    Raises:
        InputError: the tree needs functions that the field does not have, or divides by zero.
    """
    try:
        element = Tower.over(field).element(tree)
    except ZeroDivisionError:
        raise InputError(f"{what} divides by an expression that is zero") from None
    except Refine:
        raise InputError(f"{what} uses functions that the field does not have") from None
    try:
        return field.embed(element)
    except ValueError:
        raise InputError(f"{what} uses functions that the field does not have") from None
