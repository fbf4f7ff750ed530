"""Q of a single output whose tangent kernel is a real power of beta, with an open exponent.

K = kappa (beta - b)^n on the leaf exactly when K/K' = (beta - b)/n there, K' = dK/dbeta =
<grad K, grad F>/K: the flow turns r = K/K' at the rate <grad r, grad F> = K/n, n in the parameters.
"""

from __future__ import annotations

from dataclasses import replace

from derive.errors import InputError
from derive.exact.field.factors import factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.model.condition import Condition, Sign
from derive.model.notation import Notation, to_expr
from derive.model.signs import start_sign
from derive.potential.kernel_integral import shifted_power
from derive.potential.piece import Explicit
from derive.weights.kernel_relation import KernelRelation
from derive.weights.metric import Metric

MAXIMAL_TERMS = 12
"""Terms of K beyond which no power of beta is looked for: derivatives of quotients grow fast."""


def integrate_power_kernel(metric: Metric, notation: Notation) -> Explicit | None:
    """Return Q with Q'' = (beta - b)^-n/kappa for an exponent n of parameters, or None."""
    p, K = metric.parameterization, metric.K[0][0]
    if sum(len(side) for side in K.parts) > MAXIMAL_TERMS:
        return None

    def along(f: RationalFunction) -> RationalFunction:
        return dot(p.fields[0], p.field.gradient(f))

    turned = along(K)
    above = turned * turned
    below = above + above - K * along(turned)
    # n = above/below: that it does not move is seen before anything is divided by sums
    moves = zip(p.field.gradient(above), p.field.gradient(below), strict=True)
    if below.is_zero() or any(above * y != below * x for x, y in moves):
        return None
    n = above / below
    if n in (0, 1) or set(n.variables()) - p.field.constants.keys():
        return None
    ratio = K * K / turned
    try:
        n, b, beta0, K0 = map(p.at_start, (n, p.F[0] - n * ratio, p.F[0], K))
        sign, assumed = start_sign(beta0 - b, notation)
        t = _at(p.start_field, sign * (beta0 - b), n)
        kappa = t.field.embed(K0) / t
        field = t.field.extended((notation.betas[0].name,))
        power = _at(field, sign * (field.gens[0] - field.embed(b)), field.embed(n))
    except (InputError, ZeroDivisionError):
        return None
    field = power.field
    beta0, K0, b = map(field.embed, (beta0, K0, b))
    solved = (-field.embed(kappa) * power, field.one)
    relation = KernelRelation(notation, field, notation.betas[0], (beta0,), (), solved, K0)
    exponent, scale = (to_expr(x, notation.start_symbols) for x in (n, kappa))
    piece = shifted_power(relation, scale, b, exponent, f"K/K' = (beta - b)/n, n = {n!r}")
    if piece is None:
        return None
    generic = (f for x in (n - 1, n - 2) for f, _ in factors(x) if not f.is_constant())
    shown = (to_expr(f, notation.start_symbols) for f in generic)
    excluded = (Condition(x, Sign.NONZERO) for x in shown)
    return replace(piece, assumptions=(*assumed, *piece.assumptions, *excluded))


def _at(field: FunctionField, base: RationalFunction, n: RationalFunction) -> RationalFunction:
    """Return base^n, base > 0, in the field or one that has it."""

    def build(units: dict[str, int]) -> RationalFunction:
        tower = Tower.over(field, (repr(base),))
        tower.units |= units
        power = tower.real_power(base, n)
        return tower.field.embed(power)

    return refined(build, "the exponent of K")
