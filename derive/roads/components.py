"""Vectors of open dimension, beta = phi(a, |u|) u, in components for one d."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from derive.exact.field.function_field import RationalFunction
from derive.language import parse_expression
from derive.language.tree import (
    Name,
    Number,
    Operation,
    Power,
    Tree,
    children,
    fold,
    names,
    with_parts,
)
from derive.model.direction import Direction
from derive.model.parameterization import Parameterization


def component_names(direction: Direction, d: int) -> tuple[str, ...]:
    """Return the names of the components, altered where the user has them."""
    base = direction.vector
    while any(f"{base}{i}" in direction.notation.taken for i in range(1, d + 1)):
        base += "_"
    return tuple(f"{base}{i}" for i in range(1, d + 1))


def components_along_axis(direction: Direction, d: int) -> Parameterization:
    """Return F_i = phi u_i in R^d where u starts at (|u_0|, 0, ..., 0)."""
    first, *others = component_names(direction, d)
    length = dict(direction.parameterization.start)[direction.norm]
    return components(direction, d, {first: length, **dict.fromkeys(others, Number(Fraction(0)))})


def components(direction: Direction, d: int, u_0: Mapping[str, Tree]) -> Parameterization:
    """Return F_i = phi u_i in R^d with the start of u, at symbols where none is given."""
    vector = component_names(direction, d)
    reduced = direction.parameterization
    phi = written_in_components(direction, vector, direction.phi * direction.sign)
    outputs = [Operation("*", phi, Name(name)) for name in vector]
    scalars = reduced.weights[:-1]
    start = {**{w: tree for w, tree in reduced.start if w in scalars}, **u_0}
    known = {*names(tuple(start.values())), *scalars} & {*scalars, *reduced.start_symbols}
    positive = [x for x in reduced.positive if x in known]
    turned = [*range(len(scalars)), *(len(scalars) for _ in vector)]
    rates = reduced.geometry.restricted(turned)
    return Parameterization(
        outputs,
        (*scalars, *vector),
        start,
        positive,
        parameters=reduced.parameters,
        geometry=rates.mapped(lambda tree: _norm_in_components(direction, vector, tree)),
    )


def written_in_components(
    direction: Direction, vector: tuple[str, ...], function: RationalFunction
) -> Tree:
    """Return a function of the scalars and the norm as one of the components."""
    return _norm_in_components(direction, vector, parse_expression(repr(function)))


def _norm_in_components(direction: Direction, vector: tuple[str, ...], function: Tree) -> Tree:
    """Write n^2 = u1^2 + ... + ud^2."""
    square: Tree = Power(Name(vector[0]), Fraction(2))
    for name in vector[1:]:
        square = Operation("+", square, Power(Name(name), Fraction(2)))
    root = Power(square, Fraction(1, 2))

    def combine(tree: Tree, parts: list[Tree]) -> Tree:
        match tree:
            case Name(name) if name == direction.norm:
                return root
            case Power(_, exponent) if parts == [root]:
                return Power(square, exponent / 2)
        return with_parts(tree, parts)

    return fold(function, children, combine)
