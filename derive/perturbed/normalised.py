"""Which dual coordinates are followed: a choice among those that differ by functions of the laws.

A dual coordinate is known up to functions of the laws. Where the laws change the choice matters:
here y = 0 where beta = 0, if that can be had with multiples of c, 1/c and log |c| added; else
<dy, w> = 0, if that can. Q_c is then the potential of y on the leaf of c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

from flint import nmod

from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot, nullspace_over_constants
from derive.exact.linear.modular import Evaluator, Pole, random_point, saturated, supports
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization


def gradient(f: LogFunction) -> Field:
    """Return the differential of a function whose logarithms have constant coefficients."""
    field = f.rational.field
    total = list(field.gradient(f.rational))
    for c, argument in f.logs:
        slopes = field.gradient(argument)
        total = [t + c * x / argument for t, x in zip(total, slopes, strict=True)]
    return tuple(total)


Condition = Callable[[LogFunction], Field]
"""What is linear in a function, and to be 0."""


def normalised(
    p: Parameterization, y: Sequence[LogFunction], laws: Sequence[RationalFunction]
) -> list[LogFunction]:
    """Return y with functions of the laws added: 0 where beta is, or with <dy, w> = 0."""
    conditions: list[Condition] = [lambda f: (dot(p.w, gradient(f)),)]
    if p.d == 1 and (images := _where_zero(p)) is not None:
        conditions.insert(0, lambda f: gradient(_composed(f, images)))
    return [_with_laws(p, f, laws, conditions) for f in y]


def _with_laws(
    p: Parameterization,
    y: LogFunction,
    laws: Sequence[RationalFunction],
    conditions: Sequence[Condition],
) -> LogFunction:
    """Return y + sum_k theta_k f_k(c) for which the first condition holds that can; else y."""
    added = [f for law in laws for f in _functions_of(p, law)]
    for condition in conditions:
        columns = []
        with suppress(ZeroDivisionError):
            columns = [condition(f) for f in (*added, y)]
        kept = _support(columns) if columns else ()
        chosen = [columns[k] for k in kept]
        for *vector, last in nullspace_over_constants(chosen) if chosen else ():
            if not last.is_zero():
                pairs = [(k / last, added[n]) for k, n in zip(vector, kept, strict=False)]
                return sum((f.scaled(k) for k, f in pairs if not k.is_zero()), start=y)
    return y


def _support(columns: Sequence[Field]) -> tuple[int, ...]:
    """Return the columns in a dependence with the last one modulo a prime, () without one."""
    rng, prepared = Random(2), [tuple(map(Evaluator, column)) for column in columns]

    def draw() -> list[list[nmod]]:
        point = random_point(columns[0][0].field, rng)
        return [[f(point) for f in row] for row in zip(*prepared, strict=True)]

    try:
        found = supports(saturated(len(columns), draw))
    except Pole:
        return tuple(range(len(columns)))
    return next((s for s in found if s[-1] == len(columns) - 1), ())


def _functions_of(p: Parameterization, c: RationalFunction) -> tuple[LogFunction, ...]:
    """Return c, 1/c and log |c|, of which combinations are added, but what is singular at w_0."""
    if p.at_start(c).is_zero():
        return (LogFunction(c),)
    logs = tuple((p.field.constant(n), f) for f, n in factored(c)[1])
    regular = not any(p.at_start(f).is_zero() for _, f in logs)
    found = LogFunction(c), LogFunction(1 / c), LogFunction(p.field.zero, logs)
    return found if regular else found[:2]


def _where_zero(p: Parameterization) -> Field | None:
    """Return the weights on a part of {F = 0}: one of them as a function of the others."""
    if p.field.kinds:
        return None
    for factor, _ in factors(p.F[0]):
        for k, w in enumerate(p.w):
            slope = factor.partial(k)
            if factor.is_polynomial() and not slope.is_zero() and not slope.depends_on(k):
                images = list(p.field.gens)
                images[k] = w - factor / slope
                return tuple(images)
    return None


def _composed(f: LogFunction, images: Field) -> LogFunction:
    field = f.rational.field
    logs = tuple((c, a.compose(images, field)) for c, a in f.logs)
    if any(a.is_zero() for _, a in logs):
        raise ZeroDivisionError
    return LogFunction(f.rational.compose(images, field), logs)
