"""What a start has to satisfy: what was declared positive, and what F is defined for."""

from __future__ import annotations

from collections.abc import Iterator

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.tower import Tower
from derive.model.condition import Condition, Sign
from derive.model.names import PI, bases
from derive.model.notation import Notation, positive_generators, to_expr
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors


def start_conditions(p: Parameterization, notation: Notation) -> tuple[Condition, ...]:
    """Return the conditions on the start symbols and parameters, and on rates along the flow.

    Declared names are positive; so are, as F is defined only there, the bases of roots and of real
    powers, and the arguments of logarithms.

    Raises:
        InputError: no start satisfies them.
    """
    images, field = notation.start_symbols, p.start_field
    exponentials = (g.name for g in field.generators if g.kind == "exp")
    known = Signs((PI, *exponentials, *p.positive))
    values = [*_positive(p)]
    for value in values:
        if known.is_nonnegative(-value) or -value in values:
            shown = to_expr(value, images)
            raise InputError(f"F is defined nowhere: it has a logarithm or a root of {shown}")
    return (
        *(Condition(to_expr(value, images)) for value in values),
        *(Condition(to_expr(f, images), Sign.NONZERO) for f in _not_zero(p)),
        *(Condition(to_expr(f, notation.weights), Sign.KEPT) for f in open_factors(p)),
    )


def _rates(p: Parameterization) -> Iterator[RationalFunction]:
    known = Signs(positive_generators(p.start_field) | {*p.positive})
    found = map(p.at_start, p.geometry.signs)
    return (rate for rate in found if not known.is_positive(rate))


def _not_zero(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the factors of the rates that are never negative, such as u of u^2."""
    known = Signs(p.positive)
    for rate in _rates(p):
        if known.is_nonnegative(rate):
            yield from known.zeros_of(rate)


def _positive(p: Parameterization) -> Iterator[RationalFunction]:
    for name in p.positive:
        if name in p.weights:
            yield p.w0[p.weights.index(name)]
        elif name in p.start_field.positions:
            yield p.start_field.named(name)
    yield from (rate for rate in _rates(p) if not Signs(p.positive).is_nonnegative(rate))
    for tree in bases(p.trees):
        try:
            yield p.at_start(p.field.embed(Tower.over(p.field, p.positive).element(tree)))
        except (InputError, ValueError, ZeroDivisionError):
            continue
    # A power such as (alpha**2)**D is written by one of alpha.
    powers = (g for g in p.start_field.generators if g.kind == "power")
    yield from (p.start_field.embed(g.argument) for g in powers)
