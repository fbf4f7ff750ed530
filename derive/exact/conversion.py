"""From expression trees to exact field elements."""

from __future__ import annotations

from collections.abc import Mapping

from derive.errors import InputError
from derive.exact.field import FunctionField, RationalFunction
from derive.language.tree import Call, Name, Number, Operation, Power, Tree, walk


def to_field(tree: Tree, field: FunctionField, what: str) -> RationalFunction:
    """Return *tree* as an element of *field*.

    Args:
        tree: an expression whose names are those of the field.
        field: the target.
        what: how a message calls the expression, for instance ``output 2``.

    Raises:
        InputError: the tree is not a rational function, or divides by zero identically.
    """
    known = dict(zip(field.names, field.gens, strict=True))
    for node in walk(tree):
        if isinstance(node, Call) or (isinstance(node, Power) and node.exponent.denominator != 1):
            name = node.function if isinstance(node, Call) else "a fractional power or sqrt"
            raise InputError(
                f"{what} uses {name}: this version derives polynomial and rational F only"
            )
    try:
        return _build(tree, field, known)
    except ZeroDivisionError:
        raise InputError(f"{what} divides by an expression that is zero") from None


def _build(
    tree: Tree, field: FunctionField, known: Mapping[str, RationalFunction]
) -> RationalFunction:
    match tree:
        case Number(value):
            return field.constant(value)
        case Name(name):
            return known[name]
        case Power(base, exponent):
            return _build(base, field, known) ** int(exponent)
        case Operation("+", left, right):
            return _build(left, field, known) + _build(right, field, known)
        case Operation("*", left, right):
            return _build(left, field, known) * _build(right, field, known)
        case Operation(_, left, right):
            return _build(left, field, known) / _build(right, field, known)
    raise InputError(f"{type(tree).__name__} is not a rational operation")
