"""Weights and outputs that need not be followed: the flow in an affine space that it stays in.

If w_S = 0 at the start, and the derivatives of every output along w_S vanish wherever w_S = 0,
then the flow is that of F without these idle weights: identities that fail for general weights
may hold there, as for a second neuron that is dead from the start.

From special starts, such as aligned neurons, the flow never leaves an affine subspace w_0 + V: V
is the closure of 0 under the fields G^-1 dF_a on w_0 + V, found exactly over the constants of the
start. There it is the flow of F restricted to w_0 + V in the metric that this has from G, with the
same K. Where V has a basis b_k on which some of the weights are coordinates s_k and which is
orthogonal at every point in a diagonal G, that metric is sum_k |b_k|^2 ds_k^2: each s_k has the
rate 1/|b_k|^2. Where an offset would hide something, V is the least that has w_0 in it.

An output that is an affine function of others there adds a row to X beta = y and nothing to F.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from operator import sub

from derive.errors import DeriveError, InputError, LanguageError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import echelon, nullspace_over_constants, pivot_of
from derive.exact.linear.modular import shows_full_rank
from derive.exact.signs import is_number
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower, build_elements
from derive.language import parse_expression, to_text
from derive.language.tree import Tree, names, substituted
from derive.model.geometry import Geometry
from derive.model.parameterization import Parameterization
from derive.model.rates import ONE
from derive.model.vectors import AffineOutput

Row = list[RationalFunction]


@dataclass(frozen=True)
class Restriction:
    """F in fewer weights, in which beta moves as it does in all.

    Attributes:
        parameterization: F in the others; ratios of start values are parameters of it.
        ties: each weight left out that stays a combination of the others and 1, with that.
    """

    parameterization: Parameterization
    ties: tuple[tuple[str, Tree], ...] = ()


def find_ties(p: Parameterization) -> Restriction | None:
    """Return F on the affine subspace that the flow stays in, None where that is all."""
    if p.vectors or not p.geometry.is_diagonal or len(p.start_symbols) >= p.p:
        return None
    try:
        found = map(partial(_invariant_subspace, p), (p.fields, [p.w]))  # V, then with w_0 in it
        basis = next(b for b in found if b is None or all(_stays(p, k, b) for k in range(p.p)))
    except InputError:  # a function of F is none that is known there
        return None
    if basis is None:
        return None
    kept = _kept(p, basis)
    relations = {w: _tie(p, k, basis) for k, w in enumerate(p.weights) if w not in kept}
    rates = _induced_rates(p, basis, relations, kept)
    reduced = None if rates is None else _restricted(p, relations, kept, rates)
    return None if reduced is None else Restriction(reduced, tuple(relations.items()))


def _kept(p: Parameterization, basis: list[Row]) -> list[str]:
    """Return the weights that are coordinates on V."""
    return [p.weights[pivot_of(row)] for row in basis]


def _stays(p: Parameterization, k: int, basis: list[Row]) -> bool:
    """Tell whether nothing that is said of fewer weights is lost by the offset of weight k.

    One that is to stay positive would end the flow at its 0. One that moves with an offset by
    symbols of the start would hide that F is homogeneous, and the start scaled.
    """
    offset, moves = _offset(p, k, basis), any(not row[k].is_zero() for row in basis)
    lost = p.weights[k] in p.positive or (moves and not is_number(offset))
    return offset.is_zero() or not lost


def _tie(p: Parameterization, k: int, basis: list[Row]) -> Tree:
    """Return weight k as a combination of those kept and 1."""
    pairs = zip(basis, _kept(p, basis), strict=True)
    used = [(row[k], b) for row, b in pairs if not row[k].is_zero()]
    offset = _offset(p, k, basis)
    parts = [b if c == 1 else f"({c!r})*{b}" for c, b in used]
    parts += [f"({offset!r})"] * (not offset.is_zero())
    return parse_expression(" + ".join(parts) or "0")


def _offset(p: Parameterization, k: int, basis: list[Row]) -> RationalFunction:
    """Return the constant in that, 0 for what is kept."""
    return reduce(sub, (row[k] * p.w0[pivot_of(row)] for row in basis), p.w0[k])


def _induced_rates(
    p: Parameterization, basis: list[Row], relations: dict[str, Tree], kept: list[str]
) -> tuple[Tree, ...] | None:
    """Return the rates 1/|b_k|^2 of the metric on V, or None where that is not diagonal."""
    on_it = [substituted(tree, relations) for tree in p.geometry.trees] or [ONE] * p.p

    def inner(x: Row, y: Row) -> Tree:
        parts = (
            f"({a * b!r})/({to_text(r)})"
            for a, b, r in zip(x, y, on_it, strict=True)
            if not (a * b).is_zero()
        )
        return parse_expression(" + ".join(parts) or "0")

    crossed = [inner(x, y) for x, y in combinations(basis, 2)]
    squares = [inner(x, x) for x in basis]
    constants = sorted({*names((*crossed, *squares))} - {*kept})
    elements = build_elements([*crossed, *squares], kept, constants, p.positive, p.field.clock)
    if not all(x.is_zero() for x in elements[: len(crossed)]):
        return None
    rates = tuple(parse_expression(repr(1 / x)) for x in elements[len(crossed) :])
    return rates if {*rates} != {ONE} or p.rates else ()


def _invariant_subspace(
    p: Parameterization, within: Sequence[Sequence[RationalFunction]]
) -> list[Row] | None:
    """Return a reduced basis of the least V with vectors at the start, None for the whole space."""
    basis = echelon([[*map(p.at_start, row)] for row in within])
    while True:
        rows = [*basis, *_images(p, basis)]
        if shows_full_rank([*zip(*rows, strict=True)]) or len(grown := echelon(rows)) >= p.p:
            return None
        if len(grown) == len(basis):
            return sorted(basis, key=pivot_of)
        basis = grown


def _images(p: Parameterization, basis: list[Row]) -> list[Row]:
    """Return vectors that span the values of the fields on w_0 and the span of the basis."""
    constants = p.start_field
    space = constants.extended([f"_s{i}" for i in range(len(basis))])

    def build(units: dict[str, int]) -> list[Row]:
        tower = Tower.over(space, p.positive, units)
        known = {x: space.named(x) for x in p.parameters}
        for k, w in enumerate(p.weights):
            pairs = zip(space.gens, basis, strict=False)
            known[w] = sum((s * space.embed(b[k]) for s, b in pairs), space.embed(p.w0[k]))
        for g in (g for g in p.field.generators if g.name not in known):
            known[g.name] = tower.generator_at(g, known)
        images = [tower.field.embed(known[name]) for name in p.field.names]
        return [[x.compose(images, tower.field) for x in row] for row in p.fields]

    found: list[Row] = []
    for row in refined(build, "the fractions in exponents where weights are proportional"):
        below = (x.denominator for x in row)
        common = reduce(lambda x, y: x * y / x.gcd(y), below)
        found += _coefficients([x * x.field.polynomial(common) for x in row], constants)
    return found


def _coefficients(values: Row, constants: FunctionField) -> list[Row]:
    """Return the coefficient vectors of the monomials in what is not constant."""
    collected: dict[tuple[int, ...], Row] = {}
    for k, value in enumerate(values):
        fixed = [value.field.positions[name] for name in constants.names]
        moving = sorted({*range(len(value.field.names))} - {*fixed})
        for exponents, c in terms(value.numerator):
            key = tuple(exponents[i] for i in moving)
            row = collected.setdefault(key, [constants.zero] * len(values))
            part = {tuple(exponents[i] for i in fixed): c}
            row[k] += constants.polynomial(constants.ring.from_dict(part))
    return list(collected.values())


def _restricted(
    p: Parameterization, relations: dict[str, Tree], kept: list[str], rates: tuple[Tree, ...]
) -> Parameterization | None:
    """Return F where weights are combinations of those kept, which have these rates."""
    constants = {*names((*relations.values(), *rates))} - {*p.weights}
    geometry = Geometry(rates, steepest=p.geometry.steepest)

    try:
        trees = [substituted(tree, relations) for tree in p.trees]
        parameters = sorted(constants | set(p.parameters))
        found = p.with_(outputs=trees, weights=kept, parameters=parameters, geometry=geometry)
    except DeriveError:
        return None
    return found if found.rank == p.rank else None


def leave_out_affine(p: Parameterization, idle: tuple[str, ...] = ()) -> Parameterization:
    """Return F without the outputs that are affine functions of others where idle weights are 0.

    >>> p = leave_out_affine(Parameterization.parse(["w1", "3 - 2*w1"]))
    >>> p.labels, p.affine[0].constant, p.affine[0].terms[0][1]
    ((1,), Number(value=Fraction(3, 1)), Number(value=Fraction(-2, 1)))
    """
    left = leave_out(p, idle)
    if left.rank == left.d:
        return p
    labels, found = (0, *p.labels), []
    for vector in nullspace_over_constants([(left.field.one,), *((f,) for f in left.F)]):
        used = {label: c for label, c in zip(labels, vector, strict=True) if not c.is_zero()}
        last = max(used)
        trees = {label: parse_expression(repr(-c)) for label, c in used.items() if label != last}
        constant = trees.pop(0, parse_expression("0"))
        tree = p.trees[p.labels.index(last)]
        found.append(AffineOutput(last, tree, constant, tuple(trees.items())))
    kept = [i for i, label in enumerate(p.labels) if label not in {a.label for a in found}]
    outputs, numbers = [p.trees[i] for i in kept], [p.labels[i] for i in kept]
    return p.with_(outputs=outputs, labels=numbers, affine=(*p.affine, *found))


def find_idle(p: Parameterization) -> tuple[str, ...]:
    """Return the largest set of weights that start at 0 and stay there, proved exactly."""
    if {*names(p.geometry.trees)} & {*p.weights} or not p.geometry.is_diagonal:
        return ()
    parts = (x for g in p.field.generators for x in (g.argument, g.exponent) if x is not None)
    inside = {name for x in parts for name in x.variables()}
    zeros = (k for k, value in enumerate(p.w0) if value.is_zero())
    idle = {k for k in zeros if p.weights[k] not in inside}

    def vanishes(function: RationalFunction) -> bool:
        with suppress(ZeroDivisionError):
            return _at_zero(function, p, idle).is_zero()
        return False

    while moved := {k for k in idle if not all(vanishes(row[k]) for row in p.fields)}:
        idle -= moved
    return tuple(name for k, name in enumerate(p.weights) if k in idle)


def _at_zero(function: RationalFunction, p: Parameterization, idle: set[int]) -> RationalFunction:
    images = [p.field.zero if k in idle else w for k, w in enumerate(p.field.gens)]
    return function.compose(images, p.field)


def leave_out(p: Parameterization, idle: tuple[str, ...]) -> Parameterization:
    """Return F where the idle weights are 0."""
    if not idle:
        return p
    positions = {p.weights.index(name) for name in idle}
    try:
        trees = [parse_expression(repr(_at_zero(f, p, positions))) for f in p.F]
        weights = [w for w in p.weights if w not in idle]
        if not (p.vectors or {*weights} <= {*names(tuple(trees))}):
            return p  # others stay where they start
        vectors = p.vectors
        if len(vectors) == 1:
            phi = parse_expression(repr(_at_zero(p.F[0] / p.w[-1], p, positions)))
            vectors = (replace(vectors[0], coefficient=phi),)
        return p.with_(outputs=trees, weights=weights, vectors=vectors)
    except LanguageError:
        return p  # too long to be written out: derive it as it is
