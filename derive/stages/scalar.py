"""Q of a single output from its tangent kernel: Q'' = 1/K(beta), integrated in closed form.

Along the flow of one output beta' = K lambda, so Q''(beta) = 1/K on the leaf, where K is an
algebraic function of beta. The relation between them is proved by expansion; each closed form
below rests on one further polynomial identity, which is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt

import sympy
from sympy import Expr, Symbol

from derive.exact.field import FunctionField, RationalFunction
from derive.exact.implicitization import Coordinates, conserved_polynomial, find_relation
from derive.exact.positivity import is_nonnegative
from derive.stages.metric import Metric
from derive.stages.notation import AssumePositive, Constant, Notation, rational, to_expr
from derive.stages.piece import Piece
from derive.verdict import Identity


@dataclass(frozen=True)
class KernelRelation:
    """P(K; beta) = 0 on the leaf of the start, irreducible over Q(start symbols).

    Attributes:
        notation: the names.
        field: Q(beta, start symbols).
        coefficients: of K^0, K^1, ...
        beta0, K0: the values at the start, in the field.
    """

    notation: Notation
    field: FunctionField
    coefficients: tuple[RationalFunction, ...]
    beta0: RationalFunction
    K0: RationalFunction

    @property
    def images(self) -> dict[str, Symbol]:
        """SymPy symbols for the field's names."""
        beta = self.notation.betas[0]
        return {beta.name: beta, **self.notation.start_symbols}

    def expr(self, element: RationalFunction, factored: bool = False) -> Expr:
        """Return an element in SymPy."""
        return to_expr(element, self.images, factored)

    @property
    def positive(self) -> frozenset[str]:
        """Start symbols known to be positive."""
        return self.notation.positive


def find_kernel_relation(metric: Metric, notation: Notation) -> KernelRelation | None:
    """Return the irreducible relation between K and beta on the leaf of the start, or None.

    First a polynomial C(K, beta) that the flow conserves is sought, then a relation whose
    coefficients are polynomials in the conserved quantities.
    """
    p = metric.parameterization
    field = FunctionField((notation.betas[0].name, *p.start_field.names))

    def at_start(f: RationalFunction) -> RationalFunction:
        return p.at_start(f).compose(field.gens[1:], field)

    beta0, K0 = at_start(p.F[0]), at_start(metric.K[0][0])
    try:
        coefficients = _conserved_relation(metric, field, at_start) or _leaf_relation(
            metric, field, at_start
        )
    except ZeroDivisionError:
        return None
    factor = coefficients and _irreducible(coefficients, field, beta0, K0)
    return KernelRelation(notation, field, factor, beta0, K0) if factor else None


def _conserved_relation(
    metric: Metric, field: FunctionField, at_start: Callable[[RationalFunction], RationalFunction]
) -> list[RationalFunction] | None:
    """Return C(K, beta) - C(K_0, beta_0) for a polynomial C with <grad C, grad F> = 0."""
    p = metric.parameterization
    found = conserved_polynomial(p.jacobian[0], metric.K[0][0], p.F[0])
    if found is None:
        return None
    powers = max(i for i, _ in found) + 1
    coefficients = [field.zero] * powers
    value = p.field.zero
    for (i, j), c in found.items():
        coefficients[i] += c * field.gens[0] ** j
        value += c * metric.K[0][0] ** i * p.F[0] ** j
    coefficients[0] -= at_start(value)
    return coefficients


def _leaf_relation(
    metric: Metric, field: FunctionField, at_start: Callable[[RationalFunction], RationalFunction]
) -> list[RationalFunction] | None:
    """Return P(K; beta, c) = 0 with the conserved quantities c at their start values."""
    p = metric.parameterization
    laws = [law if law.degree() > 0 else p.field.one / law for law in metric.conserved.laws]
    names = [f"c{i}" for i in range(len(laws))]
    coordinates = Coordinates.of([("beta", p.F[0]), *zip(names, laws, strict=True)])
    relation = find_relation(metric.K[0][0], coordinates)
    if relation is None:
        return None
    images = (field.gens[0], *(at_start(law) for law in laws))
    return [c.compose(images, field) for c in relation.coefficients]


def _irreducible(
    coefficients: Sequence[RationalFunction],
    field: FunctionField,
    beta0: RationalFunction,
    K0: RationalFunction,
) -> tuple[RationalFunction, ...] | None:
    """Return the factor that vanishes at the start, when exactly one does.

    A product of analytic functions that is zero on the leaf has a factor that is; the others
    are not zero at the start, so it is this one.
    """
    extended = FunctionField((*field.names, "K"))
    *lifted, K = extended.gens
    total = extended.zero
    for n, c in enumerate(coefficients):
        total += c.compose(lifted, extended) * K**n
    if total.is_zero():
        return None
    vanishing = []
    for factor, _ in total.numerator.factor()[1]:
        element = extended.quotient(factor, extended.ring.constant(1))
        if element.compose((beta0, *field.gens[1:], K0), field).is_zero():
            vanishing.append(element)
    if len(vanishing) != 1:
        return None
    found: list[RationalFunction] = [field.zero] * (1 + int(vanishing[0].numerator.degrees()[-1]))
    for exponents, c in vanishing[0].numerator.to_dict().items():
        term = field.ring.from_dict({tuple(exponents[:-1]): c})
        found[exponents[-1]] += field.quotient(term, field.ring.constant(1))
    return tuple(found) if len(found) > 1 else None


def integrate_kernel(relation: KernelRelation) -> Piece | None:
    """Return Q with Q'' = 1/K in closed form, or None where no pattern fits."""
    c = relation.coefficients
    if len(c) == 2:
        return _rational_kernel(relation, -c[0] / c[1])
    if any(not x.is_zero() for x in c[1:-1]):
        return None
    power = -c[0] / c[-1]
    if len(c) == 3:
        piece = _quadratic_kernel(relation, power)
        if piece is not None:
            return piece
    return _power_kernel(relation, power, len(c) - 1)


def _rational_kernel(relation: KernelRelation, K: RationalFunction) -> Piece | None:
    """K = kappa (beta - b)^n: quadratic, entropy, Burg entropy and powers."""
    field = relation.field
    beta = field.gens[0]
    slope = K.partial(0)
    if slope.is_zero():
        x = relation.notation.betas[0]
        b0, kappa = relation.expr(relation.beta0), relation.expr(K)
        value = x**2 / (2 * kappa) - b0 * x / kappa
        return _piece(relation, value, (x - b0) / kappa, (), f"K = {K!r}", (), kappa)
    # K = kappa (beta - b)^n exactly when K/K' = (beta - b)/n, linear in beta with slope 1/n.
    ratio = K / slope
    inverse_power = ratio.partial(0)
    if not inverse_power.is_constant() or not inverse_power.partial(0).is_zero():
        return None
    n = 1 / inverse_power.value()
    shift = beta - ratio / inverse_power
    if not shift.partial(0).is_zero() or n.denominator != 1 or n == 0:
        return None
    kappa = K / (beta - shift) ** int(n)
    if not kappa.partial(0).is_zero():
        return None
    return _shifted_power(relation, kappa, shift, sympy.Integer(n.numerator), f"K = {K!r}")


def _power_kernel(relation: KernelRelation, power: RationalFunction, n: int) -> Piece | None:
    """K^n = kappa beta^m."""
    field = relation.field
    m = int(power.numerator.degrees()[0]) - int(power.denominator.degrees()[0])
    kappa = power / field.gens[0] ** m
    if m == 0 or not kappa.partial(0).is_zero() or not kappa.is_constant():
        return None
    sign, _ = settle_sign(relation.beta0, relation)
    # K > 0 on the side of 0 where the start lies, so kappa sign^m > 0.
    root = sympy.Pow(rational(kappa.value() * sign**m), sympy.Rational(1, n))
    exponent = sympy.Rational(m, n)
    return _shifted_power(relation, root, field.zero, exponent, f"K**{n} = {power!r}")


def _shifted_power(
    relation: KernelRelation,
    kappa: RationalFunction | Expr,
    shift: RationalFunction,
    n: Expr,
    identity: str,
) -> Piece | None:
    """Q'' = 1/(kappa t^n), t = beta - b, on the side of b where the start lies."""
    if n == 1 and isinstance(kappa, RationalFunction):
        return _entropy(relation, kappa, shift, identity)
    offset = relation.beta0 - shift
    even = bool(n.is_integer and n % 2 == 0)
    sign, assumptions = (1, ()) if even else settle_sign(offset, relation)
    x = relation.notation.betas[0]
    t = sign * (x - relation.expr(shift))
    t0 = sign * relation.expr(offset, factored=True)
    k = kappa
    if isinstance(kappa, RationalFunction):
        k = relation.expr(kappa) * (1 if even else sign)
    if n == 2:
        logarithm = sympy.log(t) if settled(offset, relation) else sympy.log(sympy.Abs(t))
        value, gradient = (-logarithm + t / t0) / k, sign * (1 / t0 - 1 / t) / k
    else:
        first, second = 1 - n, 2 - n
        value = (t**second / (first * second) - t0**first * t / first) / k
        gradient = sign * (t**first - t0**first) / (first * k)
    kernel = k * t**n
    value = _without_constant(value, x)
    return _piece(relation, value, gradient, assumptions, identity, (), kernel)


def _entropy(
    relation: KernelRelation, kappa: RationalFunction, shift: RationalFunction, identity: str
) -> Piece:
    """Q'' = 1/(kappa (beta - b)); the logarithm of K/K_0 needs no sign."""
    x, k = relation.notation.betas[0], relation.expr(kappa)
    offset = relation.beta0 - shift
    ratio = relation.field.gens[0] / offset - shift / offset
    logarithm = sympy.log(relation.expr(ratio, factored=True))
    value = (x - relation.expr(shift)) * logarithm / k - x / k
    kernel = k * (x - relation.expr(shift))
    return _piece(relation, value, logarithm / k, (), identity, (), kernel)


def _without_constant(value: Expr, x: Symbol) -> Expr:
    """Drop the terms that do not depend on beta."""
    expanded = sympy.Add(*(sympy.expand_mul(term) for term in sympy.Add.make_args(value)))
    return sympy.Add(*(t for t in sympy.Add.make_args(expanded) if t.has(x)))


def settled(offset: RationalFunction, relation: KernelRelation) -> bool:
    """Tell whether the offset is proved positive."""
    return _sign(offset, relation.positive) > 0


def settle_sign(offset: RationalFunction, relation: KernelRelation) -> tuple[int, tuple[str, ...]]:
    """Return the sign of a function of the start, with the assumption made where it is open.

    Raises:
        AssumePositive: the sign is that of start symbols, better assumed positive from the outset.
    """
    sign = _sign(offset, relation.positive)
    if sign:
        return sign, ()
    odd = _odd_symbols(offset)
    if odd is not None:
        raise AssumePositive(odd)
    return 1, (f"{relation.expr(offset)} > 0",)


def _odd_symbols(element: RationalFunction) -> frozenset[str] | None:
    """Return the symbols whose positivity makes a monomial positive, or None for a sum."""
    if len(element.numerator.monoms()) != 1 or len(element.denominator.monoms()) != 1:
        return None
    if element.numerator.leading_coefficient() < 0:
        return None
    powers = zip(element.numerator.monoms()[0], element.denominator.monoms()[0], strict=True)
    return frozenset(
        name
        for name, (up, down) in zip(element.field.names, powers, strict=True)
        if (int(up) + int(down)) % 2
    )


def _quadratic_kernel(relation: KernelRelation, q: RationalFunction) -> Piece | None:
    """K^2 = q2 beta^2 + q1 beta + q0 with 4 q2 q0 > q1^2: the hyperbolic entropy."""
    field = relation.field
    half = field.constant(2)
    q2 = q.partial(0).partial(0) / half
    if q2.is_zero() or not q2.is_constant() or q2.value() < 0:
        return None
    beta = field.gens[0]
    v = q.partial(0)
    q1 = v - 2 * q2 * beta
    q0 = q - q2 * beta * beta - q1 * beta
    discriminant = 4 * q2 * q0 - q1 * q1
    if not discriminant.partial(0).is_zero() or v * v + discriminant != 4 * q2 * q:
        return None
    if discriminant.is_zero() or not is_nonnegative(discriminant, relation.positive):
        return None
    constants: list[Constant] = []
    square = _square_content(q)
    scale = sympy.sqrt(rational(q2.value() / square**2))
    reduced = discriminant / field.constant(square**4)
    x = relation.notation.betas[0]
    if q1.is_zero():
        root = _square_root(relation, q0 / field.constant(square**2), constants, "k")
        argument, argument0 = scale * x / root, scale * relation.expr(relation.beta0) / root
        K = square * sympy.sqrt(scale**2 * x**2 + root**2)
    else:
        root = _square_root(relation, reduced, constants, "k")
        argument = relation.expr(v) / root / square**2
        at_start = v.compose((relation.beta0, *field.gens[1:]), field)
        argument0 = relation.expr(at_start) / root / square**2
        K = sympy.sqrt(relation.expr(q))
    scale = scale * square
    linear = relation.expr(v)
    factor = 1 / (2 * rational(q2.value()) * scale)
    start_slope = sympy.asinh(argument0) / scale
    gradient = sympy.asinh(argument) / scale - start_slope
    value = factor * sympy.expand(linear * sympy.asinh(argument)) - 2 * factor * scale * K
    assumptions = tuple(f"{symbol} > 0" for symbol, _ in constants)
    value -= start_slope * x
    return _piece(relation, value, gradient, assumptions, f"K**2 = {q!r}", tuple(constants), K)


def _square_content(q: RationalFunction) -> int:
    """Return the largest integer s such that s^2 divides q."""
    content = int(q.numerator.content())
    return int(sympy.Mul(*(b ** (e // 2) for b, e in sympy.factorint(content).items())))


def _square_root(
    relation: KernelRelation, radicand: RationalFunction, constants: list[Constant], name: str
) -> Expr:
    """Return sqrt(radicand) in start symbols, or sqrt(k) with k named where it is no square."""
    root = _exact_square_root(radicand)
    for candidate in () if root is None else (root, -root):
        if is_nonnegative(candidate, relation.positive):
            return relation.expr(candidate)
    value = relation.expr(radicand, factored=True)
    if value.is_number:
        return sympy.sqrt(value)
    symbol = relation.notation.fresh(name, positive=True)
    constants.append((symbol, value))
    return sympy.sqrt(symbol)


def _exact_square_root(radicand: RationalFunction) -> RationalFunction | None:
    root = radicand.field.one
    for polynomial, power in ((radicand.numerator, 1), (radicand.denominator, -1)):
        content, factors = polynomial.factor()
        number = isqrt(abs(int(content)))
        if content < 0 or number**2 != int(content) or any(n % 2 for _, n in factors):
            return None
        for factor, n in ((number, 2), *factors):
            base = radicand.field.quotient(
                radicand.field.ring.constant(1) * factor, radicand.field.ring.constant(1)
            )
            root *= base ** (power * (n // 2))
    return root


def _sign(element: RationalFunction, positive: frozenset[str]) -> int:
    """Return the proved sign of a function of the start, or 0 when it is open."""
    if element.is_constant():
        value = element.value()
        return (value > 0) - (value < 0)
    if is_nonnegative(element, positive):
        return 1
    return -1 if is_nonnegative(-element, positive) else 0


def _piece(
    relation: KernelRelation,
    value: Expr,
    gradient: Expr,
    assumptions: tuple[str, ...],
    identity: str,
    constants: tuple[Constant, ...] = (),
    kernel: Expr | None = None,
) -> Piece:
    left, _, right = identity.partition(" = ")
    evidence = (
        Identity(identity, left, right),
        Identity("Q'' K = 1", "Q'' K", "1"),
    )
    return Piece(
        "explicit",
        relation.notation.betas,
        value,
        (gradient,),
        constants,
        (),
        None,
        assumptions,
        evidence,
        kernel,
    )
