"""Write down which beta are reached."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations

import sympy

from derive.certificate.checking.domain import Coordinate
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in
from derive.certificate.writing.products import text_of
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.potential.branch import guards_of
from derive.potential.half_spaces import HIGHEST
from derive.potential.piece import Curve
from derive.potential.rewriting import without_hyperbolic
from derive.records import Block
from derive.render.text import plain


def intervals(
    t: Coordinate, beta: str, walls: Sequence[str], fixed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield intervals of t: between points, if any, at which beta is at a wall or infinite."""
    points = list[str]()
    if t.relation is not None and {t.low, t.high} == {"-oo", "oo"}:
        space = Space([t.name, beta], [*fixed], 1)
        with contextlib.suppress(Rejected):  # of calls, which these points need not have
            P = space.read(t.relation)
            ends = (space.read(wall, {beta: space.number(0)}) for wall in walls)
            slopes = (space.read(wall).derivative(1) for wall in walls)
            at_ends = [-end / slope for end, slope in zip(ends, slopes, strict=True)]
            met = [P.partial(1), *(space.read(t.relation, {beta: end}) for end in at_ends)]
            parts = (space.of(p) for f in met for p, _ in space.factor(f.top)[1])
            linear = (p for p in parts if p.uses(0) and not p.partial(0).uses(0))
            zeros = (space.symbols[0] - p / p.partial(0) for p in linear)
            points = [*dict.fromkeys(map(text_of, zeros))]
    yield t.low, t.high
    yield from ((point, "oo") for point in points)
    yield from (("-oo", point) for point in points)
    yield from permutations(points, 2)


def sums(blocks: Sequence[Block]) -> list[str]:
    """Return sums of laws that are less than the square of a weight, up to a constant."""
    found = dict[str, None]()
    for metric in (block.metric for block in blocks):
        laws = metric.conserved.laws
        weights = (f for f in metric.parameterization.w if laws)
        guards = (c for f in weights for c in guards_of(metric, f))
        found |= {repr(c): None for c in guards if not any((c / x).is_constant() for x in laws)}
    return [*found]


def lift(block: Block, betas: Sequence[str], warped: bool, moving: bool) -> JSON:
    """Return relations of a warp g, and of |w|^2 where rates are moving, with beta and the laws.

    The laws are "_1", "_2", ..., which are defined.
    """
    dual = block.potential.dual
    metric = block.metric if dual is None else dual.metric
    p, laws = metric.parameterization, metric.conserved.laws
    named = list(zip(betas, p.F, strict=True))
    named += [(f"_{n}", law) for n, law in enumerate(laws, 1)]
    coordinates = Coordinates.of(named)
    wanted = {"square": sum((w * w for w in p.w), p.field.zero)} if moving else {}
    if warped and dual is not None:
        wanted["warp"] = dual.g
    found = {name: _relation(f, coordinates) for name, f in wanted.items()}
    relations = {name: text for name, text in found.items() if text is not None}
    used = names_in(relations.values())
    values = {f"_{n}": (repr(law), repr(p.at_start(law))) for n, law in enumerate(laws, 1)}
    kept = [{"name": n, "is": law, "value": at} for n, (law, at) in values.items() if n in used]
    return {**relations, "definitions": kept} if relations else {}


def length_along(curve: Curve) -> str:
    """Return P with P(|w|^2; t) = 0, of a curve that has all weights in t, as a text in "_x"."""
    squares = sympy.Add(*(without_hyperbolic(w) ** 2 for _, w in curve.weights))
    above, below = sympy.fraction(sympy.together(squares))
    return plain(below * sympy.Symbol("_x") - above)


def _relation(f: RationalFunction, coordinates: Coordinates) -> str | None:
    """Return P with P(f) = 0 as a text in "_x"."""
    relation = find_relation(f, coordinates, highest=HIGHEST)
    if relation is None:
        return None
    terms = enumerate(relation.coefficients)
    return " + ".join(f"({c!r})*_x**{n}" for n, c in terms if not c.is_zero())
