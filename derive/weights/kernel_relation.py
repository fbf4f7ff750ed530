"""The relation between the tangent kernel of one output and beta, on the leaf of the start.

It is found by linear algebra, proved by expansion, and made irreducible over the start symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from derive.exact.field.factors import factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.exact.linear.matrix import nullspace_over_constants
from derive.model.notation import Notation
from derive.weights.coordinate import Coordinate
from derive.weights.lie import along
from derive.weights.metric import Metric

SHORT = 6
"""Terms of F up to which its powers are compared with the slope of K."""


@dataclass(frozen=True)
class KernelRelation(Coordinate):
    """Beta as the coordinate: P(K; beta) = 0, irreducible over Q(start symbols).

    Attributes:
        coefficients: of K^0, K^1, ..., in Q(beta, start symbols).
        K0: K at the start, in the field.
    """

    coefficients: tuple[RationalFunction, ...]
    K0: RationalFunction

    @property
    def beta0(self) -> RationalFunction:
        """Beta at the start, in the field."""
        return self.values[0]

    @property
    def K(self) -> RationalFunction | None:
        """K where it is in the field."""
        c = self.coefficients
        return -c[0] / c[1] if len(c) == 2 else None


def find_kernel_relation(metric: Metric, notation: Notation) -> KernelRelation | None:
    """Return the irreducible relation between K and beta on the leaf of the start, or None."""
    p = metric.parameterization
    field = p.start_field.extended((notation.betas[0].name,))

    def at_start(f: RationalFunction) -> RationalFunction:
        return p.at_start(f).compose(field.gens[1:], field)

    beta0, K0 = at_start(p.F[0]), at_start(metric.K[0][0])
    try:
        coefficients = (
            _pure_power(metric, field)
            or _square(metric, field, at_start)
            or _leaf_relation(metric, field, at_start)
        )
    except ZeroDivisionError:
        return None
    factor = coefficients and _irreducible(coefficients, field, beta0, K0)
    if not factor:
        return None
    return KernelRelation(notation, field, notation.betas[0], (beta0,), (), factor, K0)


def _pure_power(metric: Metric, field: FunctionField) -> list[RationalFunction] | None:
    """Return K^m - kappa beta^n, kappa a number, for an F whose K is such a power.

    Then n/m is beta <grad K, grad F>/K^2.
    """
    p, beta, K = metric.parameterization, metric.parameterization.F[0], metric.K[0][0]
    power = along(p.fields[0], K) * beta / (K * K)
    if not power.is_constant() or power.value() <= 0:
        return None
    m, n = power.value().denominator, power.value().numerator
    ratio = K**m / beta**n
    if set(ratio.variables()) - p.field.constants.keys():
        return None
    kappa = field.embed(ratio)
    return [-kappa * field.gens[0] ** n, *[field.zero] * (m - 1), field.one]


def _square(
    metric: Metric, field: FunctionField, at_start: Callable[[RationalFunction], RationalFunction]
) -> list[RationalFunction] | None:
    """Return K^2 - C(beta) where dK/dmu = sum_n c_n beta^n along the flow, with constants c_n.

    That is d(K^2)/dmu = 2 K sum_n c_n beta^n = dC/dmu, C' = 2 sum_n c_n beta^n, as of a product.
    """
    p, K, F = metric.parameterization, metric.K[0][0], metric.parameterization.F[0]
    slope = along(p.fields[0], K)
    for degree in (1, 3, 7) if sum(map(len, F.parts)) <= SHORT else (1,):
        columns = [(slope,), *((F**n,) for n in range(degree + 1))]
        relations = [v for v in nullspace_over_constants(columns) if not v[0].is_zero()]
        if relations:
            ((scale, *found), *_), beta = relations, field.gens[0]
            c = [-2 * x / (scale * n) for n, x in enumerate(found, 1)]
            left = at_start(K * K - sum((x * F**n for n, x in enumerate(c, 1)), p.field.zero))
            powers = (at_start(x) * beta**n for n, x in enumerate(c, 1))
            return [-sum(powers, left), field.zero, field.one]
    return None


def _leaf_relation(
    metric: Metric, field: FunctionField, at_start: Callable[[RationalFunction], RationalFunction]
) -> list[RationalFunction] | None:
    """Return P(K; beta, c) = 0 with the conserved quantities c at their start values."""
    p = metric.parameterization
    if "power" in p.field.kinds:
        return None  # K and beta = w^D, D open, satisfy no polynomial equation
    laws = [law if law.degree() > 0 else p.field.one / law for law in metric.conserved.laws]
    names = [f"c{i}" for i in range(len(laws))]
    fixed = p.field.constants
    named = [*zip(names, laws, strict=True), *fixed.items()]
    coordinates = Coordinates.of([("beta", p.F[0]), *named])
    relation = find_relation(metric.K[0][0], coordinates)
    if relation is None:
        return None
    images = (field.gens[0], *map(at_start, (*laws, *fixed.values())))
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
    extended = FunctionField((*field.names, "_K"), clock=field.clock)
    *lifted, K = extended.gens
    powers = (c.compose(lifted, extended) * K**n for n, c in enumerate(coefficients))
    total = sum(powers, extended.zero)
    if total.is_zero():
        return None
    vanishing = [factor for factor, _ in factors(total)]
    if len(vanishing) > 1:  # the only factor vanishes because the product does
        start = (beta0, *field.gens[1:], K0)
        vanishing = [f for f in vanishing if f.compose(start, field).is_zero()]
    if len(vanishing) != 1:
        return None
    numerator = vanishing[0].numerator
    found: list[RationalFunction] = [field.zero] * (1 + int(numerator.degrees()[-1]))
    for exponents, coefficient in numerator.to_dict().items():
        part = field.ring.from_dict({tuple(exponents[:-1]): coefficient})
        found[exponents[-1]] += field.polynomial(part)
    return tuple(found) if len(found) > 1 else None
