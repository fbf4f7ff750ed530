"""A coordinate t of the leaf of one output: what is along the flow is a function of t.

With beta = f(t) and dt/dmu = r(t) along w' = grad F the mirror map is mu = int dt/r, its conjugate
R = int f/r dt, and Q = beta mu - R, K = f' r, dQ/dbeta = mu. That t is beta itself, a weight, a
function of F or a quotient of weights is a matter of which functions are then rational.

Beta has the rate K, and K the rate K_1 = <grad K, grad F>. What K is in beta is the solution from
K_0 at beta_0 of dK/dbeta = K_1/K, where the right side is known:

    K = r(beta, c)                                  an identity in the weights
    K_1 = n K^2/(beta - b)       K^m = kappa (beta - b)^(n m)
    K_1 = q^2 (beta - b)         K^2 = q^2 (beta - b)^2 + k

with n and q^2 that no weight moves, and b and k of the start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sympy import Expr, Symbol

from derive.exact.field.factors import factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.implicitization import Coordinates, Relation, find_relation
from derive.exact.signs import Signs
from derive.model.notation import Notation, to_expr, to_factored_expr, to_shorter_expr
from derive.weights.conserved import along
from derive.weights.metric import MAXIMAL_TERMS, Metric


@dataclass(frozen=True)
class Coordinate:
    """t, and the field of functions of t on the leaf.

    Attributes:
        field: of functions of t, its first variable, of constants, and of the start.
        variable: t as a symbol.
        values: of t and the constants at the start.
        constants: the variables after t: what the flow keeps, under names of their own.
        taken: the sign that a discriminant is taken to have where the start leaves it open.
    """

    notation: Notation
    field: FunctionField
    variable: Symbol
    values: tuple[RationalFunction, ...]
    constants: tuple[Symbol, ...]
    taken: int = dataclasses.field(default=0, kw_only=True)

    @cached_property
    def images(self) -> dict[str, Expr]:
        """What the field's names are in SymPy."""
        own = {symbol.name: symbol for symbol in (self.variable, *self.constants)}
        return {**own, **self.notation.start_symbols}

    @property
    def named(self) -> tuple[tuple[Symbol, Expr], ...]:
        """The constants, each with its value in start symbols."""
        return tuple(zip(self.constants, map(self.expr, self.values[1:]), strict=True))

    def start(self, element: RationalFunction) -> RationalFunction:
        """Return the value of a function of t at the start."""
        return element.compose((*self.values, *self.field.gens[len(self.values) :]), self.field)

    def with_values(self, element: RationalFunction) -> RationalFunction:
        """Return a function of t with the values of constants in place of their names."""
        t, *rest = self.field.gens
        return element.compose((t, *self.values[1:], *rest[len(self.constants) :]), self.field)

    def expr(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy."""
        return to_expr(element, self.images)

    def factored(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy as a product of irreducible factors."""
        return to_factored_expr(element, self.images)

    def shorter(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy, expanded or in factors, whichever is shorter."""
        return to_shorter_expr(element, self.images)

    @property
    def positive(self) -> frozenset[str]:
        """Start symbols known to be positive."""
        return self.notation.positive

    @cached_property
    def nonnegative(self) -> frozenset[str]:
        """Start symbols and constants known not to be negative."""
        known = Signs(self.positive)
        named = zip(self.constants, self.values[1:], strict=False)
        return self.positive | {c.name for c, value in named if known.is_nonnegative(value)}


EXPANDED = 60
"""Terms of K, and of its factors MAXIMAL_TERMS, beyond which no power of beta - b is sought."""


class Power(NamedTuple):
    """K = kappa (beta - b)^n on the leaf, n a number or a function of parameters."""

    n: RationalFunction
    b: RationalFunction


@dataclass(frozen=True)
class KernelRelation(Coordinate):
    """Beta as the coordinate, in which K^m is a function of the field.

    Attributes:
        m: the power of K.
        power: K^m.
        K0: K at the start, in the field.
    """

    m: int
    power: RationalFunction
    K0: RationalFunction

    @property
    def beta0(self) -> RationalFunction:
        """Beta at the start, in the field."""
        return self.values[0]


def find_kernel_relation(
    metric: Metric, notation: Notation, known: Power | None
) -> KernelRelation | None:
    """Return a power of K in beta on the leaf of the start, by one that is *known*, or None."""
    p, K = metric.parameterization, metric.K[0][0]
    field = p.start_field.extended((notation.betas[0].name,))
    beta = field.gens[0]

    try:
        beta0, K0 = (field.embed(p.at_start(f)) for f in (p.F[0], K))
        given = notation, field, notation.betas[0], (beta0,), ()
        if known is not None and known.n.is_constant():
            n, b = known.n.value(), field.embed(known.b)
            t, t0 = beta - b, beta0 - b
            m, power = n.denominator, int(n * n.denominator)
            return KernelRelation(*given, m, K0**m * t**power / t0**power, K0)
        conic = metric.conic
        if conic is not None and conic.K == K:
            q, b = (field.embed(p.at_start(f)) for f in (conic.square, p.F[0] - conic.G))
            t, t0 = beta - b, beta0 - b
            return KernelRelation(*given, 2, q * t * t + K0 * K0 - q * t0 * t0, K0)
        return _in_beta(metric, notation)
    except ZeroDivisionError:
        return None


def find_power(metric: Metric) -> Power | None:
    """Return n and b with K/K' = (beta - b)/n, K' = K_1/K, or None.

    The flow turns K/K' at the rate K/n, so that 1/n = 2 - K K_2/K_1^2.
    """
    p, K = metric.parameterization, metric.K[0][0]
    first = along(p.fields[0], K)
    if first.is_zero():
        return Power(p.start_field.zero, p.start_field.zero)
    few = sum(map(len, K.parts)) <= EXPANDED
    if not few or sum(len(f.numerator) for f, _ in factors(K)) > MAXIMAL_TERMS:
        return None
    above = first * first
    below = above + above - K * along(p.fields[0], first)
    # n = above/below: that it does not move is seen before anything is divided by sums
    moves = zip(p.field.gradient(above), p.field.gradient(below), strict=True)
    if below.is_zero() or any(above * y != below * x for x, y in moves):
        return None
    n = above / below
    if set(n.variables()) - p.field.constants.keys():
        return None
    return Power(p.at_start(n), p.at_start(p.F[0] - n * K * K / first))


def _in_beta(metric: Metric, notation: Notation) -> KernelRelation | None:
    """Return K as a rational function of beta and of what the flow keeps, or None.

    What the flow keeps has a name where its value has a root: no quotient by that is in lowest
    terms.
    """
    p, K = metric.parameterization, metric.K[0][0]
    if "power" in p.field.kinds:
        return None  # K and beta = w^D, D open, satisfy no polynomial equation
    laws = metric.conserved.laws
    fixed = p.field.constants
    kept = [(f"c{i}", law) for i, law in enumerate(laws)]
    coordinates = Coordinates.of([("beta", p.F[0]), *kept, *fixed.items()])
    relation = find_relation(K, coordinates, powers=(0, 1))
    if relation is None:
        return None
    starts = [p.at_start(x) for x in (*laws, *fixed.values())]
    values = dict(enumerate(starts[: len(laws)]))
    rooted = {g.name for g in p.start_field.generators if g.kind == "root"}
    sums = [k for k, x in values.items() if max(map(len, x.parts)) > 1]
    forms = (
        _with_names(metric, notation, relation, starts, names)
        for names in ([k for k in sums if rooted & {*values[k].variables()}], sums)
    )
    return min(forms, key=_terms)


def _with_names(
    metric: Metric,
    notation: Notation,
    relation: Relation,
    starts: Sequence[RationalFunction],
    named: Sequence[int],
) -> KernelRelation:
    """Return K in beta with names for some of what the flow keeps, by their places."""
    p, K = metric.parameterization, metric.K[0][0]
    marks = [""] if len(named) == 1 else range(1, len(named) + 1)
    constants = tuple(notation.fresh(f"delta{i}") for i in marks)
    names = {k: symbol.name for k, symbol in zip(named, constants, strict=True)}
    field = p.start_field.extended((notation.betas[0].name, *names.values()))
    starts = [*map(field.embed, starts)]
    beta0, K0 = (field.embed(p.at_start(x)) for x in (p.F[0], K))
    values = [field.named(names[k]) if k in names else x for k, x in enumerate(starts)]
    above, below = (c.compose((field.gens[0], *values), field) for c in relation.coefficients)
    begin = (beta0, *(starts[k] for k in named))
    return KernelRelation(
        notation, field, notation.betas[0], begin, constants, 1, -above / below, K0
    )


def _terms(relation: KernelRelation) -> int:
    """Return how many terms K has, with those of what has a name in it."""
    return sum(len(part) for f in (relation.power, *relation.values[1:]) for part in f.parts)
