"""Q of a single output from its tangent kernel: Q'' = 1/K(beta), integrated in closed form.

Along the flow of one output beta' = K lambda, so Q''(beta) = 1/K on the leaf, where K is an
function of beta (:mod:`derive.weights.coordinate`). A closed form is accepted only after it
was proved that what is printed has this derivative. Where K is a rational function, Q = beta y -
int beta/K with y = int 1/K, both proposed by SymPy.
"""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.elementary_signs import with_squares
from derive.exact.field.factors import exact_square_root, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.model.condition import Condition, Sign
from derive.model.notation import Constant, Notation, rational, to_expr
from derive.model.signs import start_sign
from derive.potential.accept import accept_explicit
from derive.potential.antiderivative import (
    antiderivatives,
    at_start,
    gathered,
    logarithm,
    with_positive,
)
from derive.potential.piece import Piece, moving
from derive.potential.rewriting import with_conjugates
from derive.weights.coordinate import KernelRelation, Power, find_kernel_relation, find_power
from derive.weights.metric import Metric


def integrate_kernel(metric: Metric, notation: Notation) -> Piece | None:
    """Return Q with Q'' = 1/K in closed form where a power of K is known in beta, or None."""
    power = find_power(metric)
    relation = find_kernel_relation(metric, notation, power)
    piece = None if relation is None else integrate_relation(relation)
    return piece or (power and integrate_real_power(metric, notation, power))


def integrate_relation(relation: KernelRelation) -> Piece | None:
    """Return Q with Q'' = 1/K in closed form, or None where no pattern fits.

    K^m is a multiple of a power of beta - b; or K is rational in beta; or K^2 is a quadratic
    without real zeros, whose Q is the hyperbolic entropy.

    Source: Woodworth et al. 2020, for the hyperbolic entropy.
    """
    m, C, beta = relation.m, relation.power, relation.field.gens[0]
    slope = C.partial(0)
    if m == 1 and slope.is_zero():
        return shifted_power(relation, C, relation.field.zero, sympy.S.Zero)
    # C = kappa (beta - b)^j exactly when C/C' = (beta - b)/j, linear in beta with slope 1/j.
    ratio = C / slope
    rate = ratio.partial(0)
    j = 1 / rate if rate.is_constant() and not rate.is_zero() else relation.field.zero
    b = beta - j * ratio
    if not (j.is_zero() or b.depends_on(0)) and j.value().denominator == 1:
        kappa, n = C / (beta - b) ** int(j.value()), sympy.Rational(int(j.value()), m)
        root = kappa if m == 1 else _root_of(kappa, relation, b, n)
        return None if root is None else shifted_power(relation, root, b, n)
    return integrate_rational(relation, C) if m == 1 else _quadratic_kernel(relation, C)


def _root_of(
    kappa: RationalFunction, relation: KernelRelation, b: RationalFunction, n: Expr
) -> Expr | None:
    """Return the factor of K for a number kappa = K^m/(beta - b)^(n m)."""
    if not kappa.is_constant():
        return None
    sign, _ = start_sign(relation.beta0 - b, relation.notation)
    # K > 0 there, so kappa sign^(n m) > 0.
    number = rational(kappa.value()) * sympy.Integer(sign) ** (n * relation.m)
    return sympy.Pow(number, sympy.Rational(1, relation.m))


def shifted_power(
    relation: KernelRelation, kappa: RationalFunction | Expr, shift: RationalFunction, n: Expr
) -> Piece | None:
    """Return Q with Q'' = 1/(kappa t^n), t = beta - b, on the side of b where the start lies."""
    if n == 1 and isinstance(kappa, RationalFunction):
        return _entropy(relation, kappa, shift)
    offset = relation.beta0 - shift
    even = bool(n.is_integer and n % 2 == 0)
    sign, assumptions = (1, ()) if even else start_sign(offset, relation.notation)
    x = relation.notation.betas[0]
    t = sign * (x - relation.shorter(shift))
    t0 = sign * relation.factored(offset)
    k = kappa
    if isinstance(kappa, RationalFunction):
        k = relation.expr(kappa) * (1 if even else sign)
    if n == 2:
        value = _without_constant((t / t0 - logarithm(relation, t)) / k, x)
        gradient = (1 / t0 - 1 / t) / k
    else:
        first, second = sympy.cancel(1 - n), sympy.cancel(2 - n)
        start, slope = _power_of_start(t0, first), sympy.factor(sign / (first * k))
        linear = sympy.powsimp(slope * start)
        value = sympy.factor(1 / (first * second * k)) * t**second - linear * x
        minus = slope.could_extract_minus_sign()
        gradient = -slope * (start - t**first) if minus else slope * (t**first - start)
        if linear != slope * start:
            gradient = slope * t**first - linear
    piece = Piece((x,), value, (gradient,), assumptions=assumptions, kernel=k * t**n)
    return accept_explicit(relation, piece)


def _power_of_start(t0: Expr, n: Expr) -> Expr:
    """Return t0^n, factor by factor where these are positive: (2 w^D)^(2/D) = 4^(1/D) w^2."""
    power = sympy.powdenest(sympy.expand_power_base(t0**n))
    return power.replace(lambda e: e.is_Pow, lambda e: e.base ** sympy.expand(sympy.cancel(e.exp)))


def _entropy(
    relation: KernelRelation, kappa: RationalFunction, shift: RationalFunction
) -> Piece | None:
    """Q'' = 1/(kappa (beta - b)); the logarithm of K/K_0 needs no sign."""
    x, k = relation.notation.betas[0], relation.expr(kappa)
    offset = relation.beta0 - shift
    ratio = relation.field.gens[0] / offset - shift / offset
    argument = relation.factored(ratio)
    if relation.field.relations.known:  # a quotient by roots would bring zeros of its own
        argument = relation.factored(relation.field.gens[0] - shift) / relation.factored(offset)
    logarithm = sympy.log(argument)
    value = (x - relation.expr(shift)) * logarithm / k - x / k
    kernel = k * (x - relation.expr(shift))
    piece = Piece((x,), value, (logarithm / k,), kernel=kernel)
    return accept_explicit(relation, piece)


def _without_constant(value: Expr, x: Symbol) -> Expr:
    """Drop the terms that do not depend on beta."""
    expanded = sympy.Add(*map(sympy.expand_mul, sympy.Add.make_args(value)))
    return sympy.Add(*(t for t in sympy.Add.make_args(expanded) if t.has(x)))


def _quadratic_kernel(relation: KernelRelation, q: RationalFunction) -> Piece | None:
    """K^2 = q2 beta^2 + q1 beta + q0 with 4 q2 q0 > q1^2: the hyperbolic entropy."""
    field = relation.field
    v = q.partial(0)
    q2 = v.partial(0) / field.constant(2)
    exact, positive = exact_square_root(q2), Signs(relation.positive).is_positive(q2)
    if exact is None and not positive:
        return None
    take_root = _square_root if positive else _named_root
    leading = relation.factored(q2)
    discriminant = 4 * q2 * q - v * v
    if discriminant.is_zero() or not Signs(relation.positive).is_nonnegative(discriminant):
        return None
    square = _square_content(q)
    # Either sign serves where the root of q2 is rational, as asinh is odd.
    scale = sympy.sqrt(leading) if exact is None else relation.factored(exact)
    scale /= square
    x, centre = relation.notation.betas[0], field.gens[0] - v / (2 * q2)
    root, constants = take_root(relation, discriminant / (4 * square**2 * q2))
    t, t0 = x - relation.expr(centre), relation.expr(relation.beta0 - centre)
    argument, start_slope = scale * t / root, sympy.asinh(scale * t0 / root) / (scale * square)
    K = square * sympy.sqrt(scale**2 * t**2 + root**2)
    slope = sympy.asinh(argument) / (scale * square)
    gradient = slope - start_slope
    value = t * slope - K / leading - start_slope * x
    assumptions = tuple(Condition(symbol) for symbol, _ in constants)
    piece = Piece((x,), value, (gradient,), constants, (), assumptions, kernel=K)
    return accept_explicit(relation, piece)


def _square_content(q: RationalFunction) -> int:
    """Return the largest integer s such that s^2 divides q."""
    content = int(q.numerator.primitive()[0])
    return int(sympy.Mul(*(b ** (e // 2) for b, e in sympy.factorint(content).items())))


def _square_root(
    relation: KernelRelation, radicand: RationalFunction
) -> tuple[Expr, tuple[Constant, ...]]:
    """Return sqrt(radicand) in start symbols, or sqrt(k) with k named where it is no square."""
    root, kinds = exact_square_root(radicand), {g.name: g.kind for g in radicand.field.generators}
    nested = root is not None and "root" in {kinds.get(name) for name in root.variables()}
    for candidate in () if root is None or nested else (root, -root):
        if Signs(relation.positive).is_nonnegative(candidate):
            return relation.expr(candidate), ()
    return _named_root(relation, radicand)


def _named_root(
    relation: KernelRelation, radicand: RationalFunction
) -> tuple[Expr, tuple[Constant, ...]]:
    """Return sqrt(k) with a name for k, where that is no number."""
    value = with_squares(relation.factored(radicand))
    if value.is_number:
        return sympy.sqrt(value), ()
    k = relation.notation.fresh("k", positive=True)
    return sympy.sqrt(k), ((k, value),)


def integrate_rational(relation: KernelRelation, K: RationalFunction) -> Piece | None:
    """Return Q = beta y - R for K = kappa * r(beta), y = int 1/K and R = int beta/K."""
    found = antiderivatives(relation, K, relation.field.gens[0])
    if found is None:
        return None
    first, second, kappa = found
    x = relation.variable
    first, whole = (
        sympy.Add(*(with_positive(relation, term) for term in sympy.Add.make_args(gathered(e, x))))
        for e in (first, x * first - second)
    )
    slope = at_start(relation, first)
    gradient = (first - slope) / kappa
    value = (moving(whole, x) - slope * x) / kappa
    kernel = with_positive(relation, with_conjugates(relation.factored(K)))
    piece = Piece((x,), value, (gradient,), kernel=kernel)
    return accept_explicit(relation, piece)


def integrate_real_power(metric: Metric, notation: Notation, power: Power) -> Piece | None:
    """Return Q with K = kappa (beta - b)^n, kappa or n functions of start or parameters."""
    p, (n, b) = metric.parameterization, power
    if n in (0, 1):
        return None
    try:
        beta0, K0 = map(p.at_start, (p.F[0], metric.K[0][0]))
        sign, assumed = start_sign(beta0 - b, notation)
        t = _real_power(p.start_field, sign * (beta0 - b), n)
        kappa = t.field.embed(K0) / t
        field = t.field.extended((notation.betas[0].name,))
        K = _real_power(field, sign * (field.gens[0] - field.embed(b)), field.embed(n))
    except (InputError, ZeroDivisionError):
        return None
    field = K.field
    beta0, K0, b = map(field.embed, (beta0, K0, b))
    given = notation, field, notation.betas[0], (beta0,), ()
    relation = KernelRelation(*given, 1, field.embed(kappa) * K, K0)
    exponent, scale = (to_expr(x, notation.start_symbols) for x in (n, kappa))
    piece = shifted_power(relation, scale, b, exponent)
    if piece is None:
        return None
    generic = (f for x in (n - 1, n - 2) for f, _ in factors(x) if not f.is_constant())
    shown = (to_expr(f, notation.start_symbols) for f in generic)
    excluded = (Condition(x, Sign.NONZERO) for x in shown)
    return replace(piece, assumptions=(*assumed, *piece.assumptions, *excluded))


def _real_power(
    field: FunctionField, base: RationalFunction, n: RationalFunction
) -> RationalFunction:
    """Return base^n, base > 0, in the field or one that has it."""

    def build(units: dict[str, int]) -> RationalFunction:
        tower = Tower.over(field, (repr(base),))
        tower.units |= units
        power = tower.real_power(base, n)
        return tower.field.embed(power)

    return refined(build, "the exponent of K")
