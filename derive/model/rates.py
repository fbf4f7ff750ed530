"""Learning rates of the weights, as given or as those of mirror descent on the weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from derive.errors import DegenerateStart, InputError
from derive.exact.constants import is_number, sign_of_number
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.positivity import is_nonnegative, is_positive
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression, to_text
from derive.language.tree import Name, Number, Tree, names
from derive.model.exact_map import ExactMap
from derive.model.geometry import EUCLIDEAN, Geometry, Rates
from derive.model.names import positive_bases, read_tree

ONE = Number(Fraction(1))


def read_rates(
    weights: Sequence[str], rates: Mapping[str, object], mirror: object | None
) -> Geometry:
    """Return the metric in which the weights have these rates, or descend in the mirror psi.

    Mirror descent, d/dt grad psi(w) = -J^T X^T r, has the rates 1/psi''(w) where psi is a sum of
    functions of one weight each (Amid, Warmuth 2020).

    Raises:
        InputError: a weight is not known, both are given, or psi is no such sum.
    """
    if rates and mirror is not None:
        raise InputError("give rates or a mirror, not both")
    if mirror is not None:
        return Rates(tuple(_mirror_rates(weights, read_tree(mirror, "the mirror"))))
    for name in rates:
        if name not in weights:
            raise InputError(
                f"rates: there is no weight {name:.60} (the weights are {', '.join(weights)})"
            )
    given = {name: read_tree(rate, f"the rate of {name}") for name, rate in rates.items()}
    found = tuple(given.get(w, ONE) for w in weights)
    return EUCLIDEAN if all(rate == ONE for rate in found) else Rates(found)


def _mirror_rates(weights: Sequence[str], psi: Tree) -> Iterator[Tree]:
    """Yield 1/psi'' for each weight."""
    constants = [name for name in names((psi,)) if name not in weights]
    positive = positive_bases((psi,), tuple(weights))
    (function,) = build_elements((psi,), weights, constants, positive)
    field = function.field
    for k, name in enumerate(weights):
        row = field.gradient(field.gradient(function)[k])
        if any(not x.is_zero() for j, x in enumerate(row) if j != k):
            raise InputError("the mirror has to be a sum of functions of one weight each")
        if row[k].is_zero():
            raise InputError(f"the mirror is not strictly convex in {name}")
        yield parse_expression(repr(field.one / row[k]))


def rate_parameters(geometry: Geometry, weights: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the rates that are no weights: positive parameters."""
    return tuple(name for name in names(geometry.trees) if name not in weights)


def positive_rates(geometry: Geometry) -> tuple[str, ...]:
    """Return the names that are rates themselves, and so positive."""
    return tuple(tree.name for tree in geometry.trees if isinstance(tree, Name))


RATE = "the rate of {name}, {rate:.60},"
CURVATURE = "the mirror is not strictly convex: 1/psi'' in {name}, {rate:.60},"


def check_rates(p: ExactMap, words: str) -> None:
    """Refuse rates that are undefined, zero or negative at the start; *words* say which one is."""
    for name, rate, tree in _rates(p):
        said = words.format(name=name, rate=to_text(tree))
        try:
            value = p.at_start(rate)
        except ZeroDivisionError:
            raise DegenerateStart(f"{said} is undefined at the start") from None
        if is_nonnegative(-value, frozenset(p.positive)) or (
            is_number(value) and sign_of_number(value) <= 0
        ):
            raise InputError(f"{said} is not positive at the start")


def rate_conditions(p: ExactMap) -> Iterator[str]:
    """Yield the factors f of rates that are not seen to keep their sign: as where f | X_a f."""
    roots = (g.name for g in p.field.generators if g.kind in ("exp", "root"))
    known = frozenset((*p.parameters, *p.nonnegative, *roots))
    for f in (f for _, rate, _ in _rates(p) for f, _ in factored(rate)[1]):
        slopes = [dot(x, p.field.gradient(f)) / f for x in p.fields]
        if not (all(slope.is_polynomial() for slope in slopes) or is_positive(f, known)):
            yield f"{f!r} keeps its sign along the flow"


def _rates(p: ExactMap) -> Iterator[tuple[str, RationalFunction, Tree]]:
    # Rates that are 1 are as in gradient flow, which has none.
    found = zip(p.weights, p.geometry.functions, p.geometry.trees, strict=False)
    return (rate for rate in found if rate[2] != ONE)
