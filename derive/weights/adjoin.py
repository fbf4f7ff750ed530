"""A function from its logarithmic derivatives along the flow: psi with X_a psi = f_a psi.

Its factors are sought among polynomials P whose logarithmic derivatives can occur in f: those
that the flow cannot cross, and the factors of the denominators of f; and among exponentials of
given rational functions f_k. The exponents then solve a linear system. Where a warp g needs some
f_k, exp(f_k) becomes one more variable of the field of F, and all that was decided is carried
over to the larger field as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import lcm

from derive.errors import InputError
from derive.exact.field.factors import factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.families import (
    LogFunction,
    monomials,
    normalized,
    separate_monomials,
    with_poles,
)
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.weights.conserved import (
    MAXIMAL_DEGREE,
    ConservedQuantities,
    coefficients,
    has_slopes,
    log_combination,
    terms_in,
    with_slopes,
)
from derive.weights.hessian import WarpVerdict
from derive.weights.metric import Metric


def find_logarithm(
    p: Parameterization,
    arguments: Sequence[RationalFunction],
    derivatives: Sequence[RationalFunction],
    exponents: Sequence[RationalFunction] = (),
) -> LogFunction | None:
    """Return log psi = sum_k m_k f_k + sum_j n_j log P_j with the X_a log psi given, or None.

    The P_j are among the *arguments*, the f_k among the *exponents*.
    """
    zero, one = p.field.zero, p.field.one
    if all(f.is_zero() for f in derivatives):
        return LogFunction(zero)
    family = [LogFunction(zero, ((one, P),)) for P in arguments]
    found = with_slopes(p, [*family, *map(LogFunction, exponents)], [derivatives])
    return None if found is None else found[0]


def logarithmic_law(conserved: ConservedQuantities) -> LogFunction | None:
    """Return a conserved sum_j n_j log P_j + sum_k m_k f_k, of which no power is rational.

    Of one output f_k and P_j are functions of one weight each, as where dw_i/dw_j is a quotient of
    functions of w_i and w_j; else P_j are weights, and polynomials that the flow cannot cross, and
    f_k quotients of monomials by laws.
    """
    return conserved.logarithmic or _find_logarithmic_law(conserved)


def _find_logarithmic_law(conserved: ConservedQuantities) -> LogFunction | None:
    p = conserved.parameterization
    zero, one = p.field.zero, p.field.one
    alone, arguments = next(exponents(conserved, ())), [*conserved.darboux, *p.w]
    if p.d == 1:
        alone = [*map(p.field.monomial, separate_monomials(p.field, MAXIMAL_DEGREE))]
        arguments += _of_one_weight(p)
    calls = [
        (g.kind, p.field.named(g.name), p.field.embed(g.argument))
        for g in p.field.generators
        if g.kind in ("exp", "log")
    ]
    # log exp(A) is A, which is no law beside itself, and log A no other one
    known = [A for kind, L, A in calls if kind == "log" and L in alone]
    known += [
        E for kind, E, A in calls if kind == "exp" and any((A / f).is_constant() for f in alone)
    ]
    arguments = [P for P in dict.fromkeys(arguments) if P not in known]
    logs = (LogFunction(zero, ((one, P),)) for P in arguments)
    family = [*map(LogFunction, alone), *logs]
    rows = [[f.along(x) for f in family] for x in p.fields]
    proposals, n = sorted(coefficients(p, rows), key=terms_in), len(alone)
    laws = (log_combination(p, v, family) for v in proposals if any(v[:n]) and any(v[n:]))
    return next((law for law in laws if has_slopes(p, law, [zero] * p.d)), None)


def log_arguments(conserved: ConservedQuantities) -> list[RationalFunction]:
    """Return what may be in logarithms: what the flow cannot cross, which of a weight alone is."""
    p = conserved.parameterization
    alone = _of_one_weight(p) if p.d == 1 else ()
    return [*dict.fromkeys((*conserved.darboux, *alone))]


def _of_one_weight(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the irreducible factors of the flow in which one weight is alone."""
    for g in (normalized(g) for x in p.fields[0] for g, _ in factors(x)):
        slopes = (f for f in p.field.gradient(g) if not f.is_zero())
        if sum(1 for _ in slopes) == 1:
            yield g


def exponential(logarithm: LogFunction) -> RationalFunction | None:
    """Return prod_j P_j^n_j, or None where it is not rational."""
    if not logarithm.rational.is_zero() or not has_numbers(logarithm):
        return None
    result = logarithm.rational.field.one
    for coefficient, P in logarithm.logs:
        n = coefficient.value()
        if n.denominator != 1:
            return None
        result *= P ** int(n)
    return result


def has_numbers(logarithm: LogFunction) -> bool:
    """Tell whether the coefficients of all logarithms are numbers, not functions of parameters."""
    return all(c.is_constant() for c, _ in logarithm.logs)


def candidates(
    conserved: ConservedQuantities, derivatives: Sequence[RationalFunction]
) -> list[RationalFunction]:
    """Return the polynomials whose powers may be factors, each once."""
    return with_poles(conserved.darboux, derivatives)


MAXIMAL_EXPONENTS = 200


@dataclass(frozen=True)
class WrittenWarp:
    """The warp g, and what was decided in its field, enlarged where g has an *adjoined* factor."""

    before: WarpVerdict
    warping: WarpVerdict
    g: RationalFunction
    adjoined: RationalFunction | None = None


def find_warp(warping: WarpVerdict) -> WrittenWarp | None:
    """Return g where it is a product of powers times an exponential, in its own field, or None.

    X_a log g = H_a is linear in log g = sum_k m_k f_k + sum_j n_j log P_j. The n_j may be
    fractions; under a root stands P_j or -P_j, whichever is positive at the start.
    """
    if warping.H is None:
        return None
    H, conserved = warping.H, warping.metric.conserved
    p, arguments = conserved.parameterization, candidates(conserved, H)
    tried = (find_logarithm(p, arguments, H, f) for f in chain([()], exponents(conserved, H)))
    found = next(filter(None, tried), None)
    if found is None or not has_numbers(found):
        return None
    g = exponential(found)
    if g is not None:
        return WrittenWarp(warping, warping, g)
    whole, radicand, index = _split(p, found)

    def adjoined(units: Mapping[str, int]) -> RationalFunction:
        if any(key.startswith(g.kind) for key in units for g in p.field.generators):
            raise InputError("the coarser unit may be in use")
        tower = Tower.over(p.field, p.nonnegative, units)
        factor = tower.times(tower.exp(found.rational), tower.power(radicand, Fraction(1, index)))
        return tower.field.embed(factor)

    try:
        E = refined(adjoined, "units")
    except InputError:  # it is not independent
        return None
    g = E * E.field.embed(whole)
    known = E.field.names == p.field.names
    return WrittenWarp(warping, _lift(warping, E.field), g, None if known else E)


def _split(
    p: Parameterization, logarithm: LogFunction
) -> tuple[RationalFunction, RationalFunction, int]:
    """Return (A, B, n) with prod_j |P_j|^n_j = |A| B^(1/n), no P_j < 0 at the start."""
    powers = [(P, c.value()) for c, P in logarithm.logs]
    index = lcm(*(n.denominator for _, n in powers))
    whole, radicand = p.field.one, p.field.one
    for P, n in powers:
        if Signs(p.positive).is_nonnegative(-p.at_start(P)):
            P = -P
        whole *= P ** (n.numerator // n.denominator)
        radicand *= P ** int(n % 1 * index)
    return whole, radicand, index


def exponents(conserved: ConservedQuantities, H: Field) -> Iterator[list[RationalFunction]]:
    """Yield monomials of degree up to 2 over 1 and the laws, then also over other candidates."""
    p = conserved.parameterization
    rows = chain.from_iterable(monomials(p.p, n) for n in range(3))
    tops = list(map(p.field.monomial, rows))
    laws = [p.field.one, *(law for law in conserved.laws if law.is_polynomial())]
    others = [P for P in candidates(conserved, H) if P not in laws]
    for bottoms in (laws, [*laws, *others]):
        found = (top / bottom for bottom in bottoms for top in tops)
        yield list(dict.fromkeys(f for f in found if not f.is_constant()))[:MAXIMAL_EXPONENTS]


def _lift(warping: WarpVerdict, field: FunctionField) -> WarpVerdict:
    """Return a decision with every function as an element of a larger field."""
    metric = warping.metric
    conserved = metric.conserved
    lie = conserved.lie

    def up(functions: Sequence[RationalFunction]) -> Field:
        return tuple(map(field.embed, functions))

    p = lie.parameterization.over(field)
    known = set(lie.parameterization.field.names)
    adjoined = tuple(field.named(name) for name in field.names if name not in known)
    lie = replace(
        lie,
        parameterization=p,
        brackets={ab: up(z) for ab, z in lie.brackets.items()},
        spanning=tuple(map(up, lie.spanning)),
    )
    # The flow does not cross the zeros of an exponential, which has none, or of a root of those.
    darboux = (*up(conserved.darboux), *adjoined)
    conserved = replace(conserved, lie=lie, laws=up(conserved.laws), darboux=darboux)
    lifted = Metric(conserved, tuple(map(up, metric.K)))
    hessian = replace(warping.hessian, metric=lifted)
    return replace(warping, hessian=hessian, H=None if warping.H is None else up(warping.H))
