"""What a start has to satisfy: what was declared positive, and what F is defined for."""

from __future__ import annotations

from collections.abc import Iterator

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.model.condition import Condition, Sign
from derive.model.names import PI
from derive.model.notation import Notation, positive_generators, to_expr
from derive.model.parameterization import Parameterization
from derive.model.rates import open_factors
from derive.model.validity import bases_at_start


def start_conditions(p: Parameterization, notation: Notation) -> tuple[Condition, ...]:
    """Return the conditions on the start symbols and parameters, and on rates along the flow.

    Declared names are positive; so are, as F is defined only there, the bases of roots and of real
    powers, and the arguments of logarithms.

    Raises:
        InputError: no start satisfies them.
    """
    images, field, signs = notation.start_symbols, p.start_field, Signs(p.positive)
    certain = Signs(positive_generators(field) | {*p.positive})
    rates = [rate for rate in map(p.at_start, p.geometry.signs) if not certain.is_positive(rate)]
    # Rates that are never negative, such as u^2, ask that u is not 0.
    even = [rate for rate in rates if signs.is_nonnegative(rate)]
    values = [*_positive(p), *(rate for rate in rates if rate not in even)]
    values += [value for _, value in bases_at_start(p)]
    # A power such as (alpha**2)**D is written by one of alpha.
    values += [field.embed(g.argument) for g in field.generators if g.kind == "power"]
    exponentials = (g.name for g in field.generators if g.kind == "exp")
    known = Signs((PI, *exponentials, *p.positive))
    for value in values:
        if known.is_nonnegative(-value) or -value in values:
            shown = to_expr(value, images)
            raise InputError(f"F is defined nowhere: it has a logarithm or a root of {shown}")
    return (
        *(Condition(to_expr(value, images)) for value in values),
        *(
            Condition(to_expr(f, images), Sign.NONZERO)
            for rate in even
            for f in signs.zeros_of(rate)
        ),
        *(Condition(to_expr(f, notation.weights), Sign.KEPT) for f in open_factors(p)),
    )


def _positive(p: Parameterization) -> Iterator[RationalFunction]:
    for name in p.positive:
        if name in p.weights:
            yield p.w0[p.weights.index(name)]
        elif name in p.start_field.positions:
            yield p.start_field.named(name)
