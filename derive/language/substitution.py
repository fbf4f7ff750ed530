"""Numbers in the place of names."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from derive.errors import LanguageError
from derive.language.budget import DEFAULT
from derive.language.build import Builder, Built
from derive.language.traversal import fold
from derive.language.tree import Call, Name, Number, Operation, Power, RealPower, Tree, children


def bind(tree: Tree, values: Mapping[str, Fraction]) -> Tree:
    """Return *tree* with numbers for some names; an exponent must become a number or stay.

    >>> bind(RealPower(Name("p"), Name("D")), {"D": Fraction(3)})
    Power(base=Name(name='p'), exponent=Fraction(3, 1))

    Raises:
        LanguageError: the expression divides by zero there, or gets out of bounds.
    """
    builder = Builder(DEFAULT)

    def combine(node: Tree, parts: list[Built]) -> Built:
        match node:
            case Number(value):
                return builder.number(value)
            case Name(name):
                return builder.number(values[name]) if name in values else builder.name(name)
            case Operation(operator, _, _):
                return builder.operation(operator, parts[0], parts[1])
            case Power(_, exponent):
                return builder.power(parts[0], exponent)
            case RealPower():
                base, raised = parts
                if raised.size.value is not None:
                    return builder.power(base, raised.size.value)
                return builder.real_power(base, raised)
            case Call(function, _):
                return builder.call(function, parts[0])
        raise LanguageError(f"not a tree: {type(node).__name__}")

    return fold(tree, children, combine).tree
