"""Weights that stay proportional: the flow restricted to the smallest linear space it stays in.

From special starts, such as aligned neurons, gradient flow never leaves a linear subspace V of
the weights. V is the closure of w_0 under the fields grad F_a, found exactly over the constants of
the start. Where the Euclidean metric on V is a multiple of the identity in some of the weights,
the flow is, up to the unit of time, that of F restricted to V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import dot, echelon, pivot_of
from derive.language import parse_expression
from derive.language.tree import Name, Tree, children, fold, names, with_parts
from derive.model.geometry import EUCLIDEAN
from derive.model.parameterization import Parameterization

Vector = list[RationalFunction]


@dataclass(frozen=True)
class Ties:
    """Linear relations that hold at the start and along the flow.

    Attributes:
        relations: each weight left out, with what it is in the others.
        parameterization: F in the others; ratios of start values are parameters of it.
        factor: how many times the tangent kernel J J^T of all weights that in the others is.
    """

    relations: tuple[tuple[str, Tree], ...]
    parameterization: Parameterization
    factor: Tree


def find_ties(p: Parameterization) -> Ties | None:
    """Return the restriction of F to the subspace that the flow stays in, or None.

    None means that there is none, or none in which the metric is a multiple of the identity.
    """
    polynomial = all(g.kind == "parameter" for g in p.field.generators)
    if not polynomial or p.geometry != EUCLIDEAN or len(p.start_symbols) >= p.p:
        return None
    basis = _invariant_subspace(p)
    square = None if basis is None else _common_square(basis)
    if basis is None or square is None:
        return None
    kept = [p.weights[pivot_of(row)] for row in basis]
    relations = {w: _combination(p, basis, k) for k, w in enumerate(p.weights) if w not in kept}
    reduced = _restricted(p, relations, kept)
    if reduced is None:
        return None
    return Ties(tuple(relations.items()), reduced, parse_expression(repr(square)))


def _common_square(basis: Sequence[Vector]) -> RationalFunction | None:
    """Return |b|^2 of orthogonal vectors of one length, else None."""
    square = dot(basis[0], basis[0])
    lengths = all(dot(row, row) == square for row in basis)
    return (
        square if lengths and all(dot(x, y).is_zero() for x, y in combinations(basis, 2)) else None
    )


def _invariant_subspace(p: Parameterization) -> list[Vector] | None:
    """Return a reduced basis of the closure of w_0 under the fields, None for the whole space."""
    basis = echelon([list(p.w0)])
    while True:
        grown = echelon([*basis, *_images(p, basis)])
        if len(grown) >= p.p:
            return None
        if len(grown) == len(basis):
            return basis
        basis = grown


def _images(p: Parameterization, basis: list[Vector]) -> list[Vector]:
    """Return vectors that span the values of the fields on the span of the basis."""
    constants = p.start_field
    space = constants.extended([f"_s{i}" for i in range(len(basis))])
    point = [
        sum((s * space.embed(b[k]) for s, b in zip(space.gens, basis, strict=False)), space.zero)
        for k in range(p.p)
    ]
    images = [*point, *(space.named(name) for name in p.parameters)]
    found: list[Vector] = []
    for row in p.fields:
        values = [x.compose(images, space) for x in row]
        common = space.one
        for value in values:
            common = common * space.polynomial(value.denominator)
        found += _coefficients([value * common for value in values], len(basis), constants)
    return found


def _coefficients(values: Vector, size: int, constants: FunctionField) -> list[Vector]:
    """Return the coefficient vectors of the monomials in the first *size* variables."""
    collected: dict[tuple[int, ...], Vector] = {}
    for k, value in enumerate(values):
        for exponents, c in terms(value.numerator):
            row = collected.setdefault(exponents[:size], [constants.zero] * len(values))
            row[k] += constants.polynomial(constants.ring.from_dict({exponents[size:]: c}))
    return list(collected.values())


def _combination(p: Parameterization, basis: Sequence[Vector], k: int) -> Tree:
    """Return weight k in the weights at the pivots."""
    used = ((row[k], p.weights[pivot_of(row)]) for row in basis if not row[k].is_zero())
    parts = [weight if c == 1 else f"({c!r})*{weight}" for c, weight in used]
    return parse_expression(" + ".join(parts) or "0")


def _restricted(
    p: Parameterization, relations: dict[str, Tree], kept: list[str]
) -> Parameterization | None:
    constants = {n for tree in relations.values() for n in names((tree,))} - set(p.weights)

    def combine(tree: Tree, parts: list[Tree]) -> Tree:
        if isinstance(tree, Name):
            return relations.get(tree.name, tree)
        return with_parts(tree, parts)

    try:
        trees = [fold(tree, children, combine) for tree in p.trees]
        parameters = sorted(constants | set(p.parameters))
        return p.with_(outputs=trees, weights=kept, parameters=parameters)
    except DeriveError:
        return None
