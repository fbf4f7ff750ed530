"""Weights of a single output, or functions of one weight, as powers of functions of y.

y is the dual coordinate and c are the conserved quantities. Which powers are tried depends on
the functions that F uses: w^n, exp(w)^n, and w^i (w^D)^j = w^(i + j D) for a real power.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import sympy
from sympy import Expr

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.exact.linear.matrix import nullspace_over_constants
from derive.model.notation import BranchOpen, to_expr
from derive.model.parameterization import Parameterization

POWERS, BESIDE = (1, -1, 2, -2, 3, -3), (0, 1, 2, 3, -1, -2)
"""Exponents that are tried: of a function of a weight, and of the weight beside it."""


def find_variable(
    p: Parameterization, weight: str, y: RationalFunction, laws: Sequence[RationalFunction]
) -> tuple[str, RationalFunction, RationalFunction] | None:
    """Return (variable, r, n) with variable^n = r(y, c, D): a weight or a function of it alone."""
    field = p.field
    fixed = tuple(g for g in field.generators if g.name in field.constants)
    target = FunctionField(("y", *(f"c{i}" for i, _ in enumerate(laws))), fixed)
    for name, function, n in _monomials_of(p, weight):
        columns = [[function], [y], *([law] for law in laws), [field.one]]
        for vector in nullspace_over_constants(columns):
            if vector[0].is_zero() or vector[1].is_zero():
                continue
            images = (*target.gens[: 1 + len(laws)], target.one)
            total = sum(
                (target.embed(c) * g for c, g in zip(vector[1:], images, strict=True)), target.zero
            )
            power = -total / target.embed(vector[0])
            return name, FunctionField(target.names).embed(power), n  # parameters as variables
    return None


def _monomials_of(
    p: Parameterization, weight: str
) -> Iterator[tuple[str, RationalFunction, RationalFunction]]:
    """Yield (variable, monomial, n): functions of one weight that are a power of a variable."""
    field = p.field
    w = field.named(weight)
    for g in field.generators:
        if g.kind == "parameter" or set(g.argument.variables()) - field.constants.keys() != {
            weight
        }:
            continue
        own = field.named(g.name)
        if g.kind == "power" and field.embed(g.argument) == w:
            e = field.embed(g.exponent)
            for i, j in product(BESIDE, POWERS[:4]):
                yield weight, w**i * own**j, i + j * e
        elif g.kind == "exp" or (g.kind == "root" and field.embed(g.argument) == w):
            for n in POWERS:
                yield g.name, own**n, field.constant(n)


def inverted(
    p: Parameterization, name: str, value: Expr, symbols: Mapping[str, Expr]
) -> dict[str, Expr]:
    """Return the value of a weight from that of a variable that is a function of it."""
    if name in p.weights:
        return {name: value}
    g = next(g for g in p.field.generators if g.name == name)
    (weight,) = set(g.argument.variables()) - p.field.constants.keys()
    if g.kind == "root":
        return {weight: value**g.index, name: value}
    # exp(A) with A linear in the weight.
    A = p.field.embed(g.argument)
    slope = A.partial(p.field.positions[weight])
    offset = A - slope * p.field.named(weight)
    if not slope.partial(p.field.positions[weight]).is_zero():
        raise BranchOpen(f"{name} is not an exponential of a multiple of {weight}")
    inverse = (sympy.log(value) - to_expr(offset, symbols)) / to_expr(slope, symbols)
    return {weight: sympy.expand_log(inverse), name: value}


def power_of(
    weight: RationalFunction, coordinates: Coordinates, degree: int
) -> tuple[RationalFunction, RationalFunction] | None:
    """Return (r, n) with weight^n = r(y, c), n among 1, |D - 2|, 2, 3, 4."""
    widest = max(
        max(int(f.numerator.total_degree()), int(f.denominator.total_degree()))
        for f in coordinates.functions
    )
    for n in dict.fromkeys(n for n in (1, abs(degree - 2), 2, 3, 4) if n):
        relation = find_relation(weight, coordinates, powers=(0, n), highest=n + widest)
        if relation is not None and relation.degree == n:
            ratio = -relation.coefficients[0] / relation.coefficients[-1]
            return ratio, weight.field.constant(n)
    return None
