"""The warped time tau(t) = int_0^t g ds: is it increasing, onto, and of bounded pace?

Let g = c f_1^n_1 ... f_k^n_k > 0 at the start. A conserved quantity c_i with f_i^2 - c_i >= 0, and
c_i > 0 at the start, keeps f_i from 0: g^2 >= m^2 = c^2 c_1^n_1 ... c_k^n_k > 0, so that tau(t) >=
m t. A Darboux polynomial f, <grad f, grad F_a> = p_a f, is f(w_0) times an exponential along the
flow: positive, if not bounded from 0. A flow w' = -grad L, L >= 0, has

    |w(t) - w_0|^2 <= t int |w'|^2 ds = t (L(w_0) - L(w(t))) <= t L(w_0),

so for polynomial F it exists for all t.

Source: Azulay et al. 2021, appendix B.1, for what a warp needs; the bounds are derived here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sympy import Expr

from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs, is_feasible
from derive.model.labels import quoted
from derive.model.notation import Notation, to_expr
from derive.potential.branch import guards_of
from derive.potential.chart import base_chart
from derive.potential.half_spaces import is_bounded
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates
from derive.weights.metric import Metric

_CHOICES = 200


@dataclass(frozen=True)
class WarpedTime:
    """What is proved of tau(t) = int_0^t g ds, and what has to be assumed.

    Attributes:
        guards: conserved quantities c_1, ..., functions of the weights; where all are positive at
            the start, g is bounded from 0. Empty where none were found.
        floor: m^2 in start symbols, with g^2 >= m^2 > 0; None where that is not proved.
        positive: g > 0 along the flow, so that tau increases.
        onto: tau takes every value in [0, infinity).
        bounded: g is bounded where beta is.
    """

    guards: tuple[RationalFunction, ...]
    floor: Expr | None
    positive: Finding
    onto: Finding
    bounded: Finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All three."""
        return self.positive, self.onto, self.bounded


def find_warped_time(
    metric: Metric,
    dual: DualCoordinates,
    notation: Notation,
    start: Mapping[str, Fraction] | None = None,
) -> WarpedTime:
    """Return what is proved of tau on the leaf of *start*, or of every one, where g is positive."""
    p, g = metric.parameterization, dual.g

    def at_start(c: RationalFunction) -> RationalFunction:
        value = p.at_start(c)
        if start is None:
            return value
        return value.field.constant(value.at([start[name] for name in value.field.names]))

    kept, evidence = _keepers(metric, g, at_start, notation.positive)
    proved = bool(kept) and all(Signs(notation.positive).is_positive(at_start(c)) for c in kept)
    floor = at_start(_floor(g, kept)) if proved else None
    return WarpedTime(
        kept,
        None if floor is None else to_expr(floor, notation.start_symbols),
        _positive(metric, g, kept, floor, evidence),
        _onto(metric, floor),
        _bounded(metric, g, notation),
    )


def _keepers(
    metric: Metric,
    g: RationalFunction,
    at_start: Callable[[RationalFunction], RationalFunction],
    positive: frozenset[str],
) -> tuple[tuple[RationalFunction, ...], tuple[Identity, ...]]:
    """Return conserved quantities for the factors of g: positive at this start, or else at some.

    Of those that are positive here the ones that bound g best are taken, where these are numbers.
    """
    if not g.is_polynomial() or g.field.generators or g.is_constant():
        return (), ()
    factors = factored(g)[1]
    choices = list(product(*(_guards(metric, f) for f, _ in factors)))[:_CHOICES]
    values = [[at_start(c) for c in kept] for kept in choices]
    pairs = list(zip(choices, values, strict=True))
    proved = [k for k, row in pairs if all(Signs(positive).is_positive(v) for v in row)]

    def size(kept: Sequence[RationalFunction]) -> Fraction:
        floor = at_start(_floor(g, kept))
        return floor.value() if floor.is_constant() else Fraction(0)

    feasible = (k for k, v in pairs if is_feasible(v, positive))
    kept = max(proved, key=size) if proved else next(feasible, ())
    return kept, tuple(
        Identity(f"({f!r})**2 = conserved + squares", repr(f * f), f"{c!r} + ({f * f - c!r})")
        for (f, _), c in zip(factors, kept, strict=False)
    )


def _floor(g: RationalFunction, kept: Sequence[RationalFunction]) -> RationalFunction:
    """Return c^2 c_1^n_1 ... c_k^n_k."""
    floor = g * g
    for (f, n), c in zip(factored(g)[1], kept, strict=True):
        floor *= (c / (f * f)) ** n
    return floor


def _guards(metric: Metric, f: RationalFunction) -> list[RationalFunction]:
    """Return conserved c with f^2 >= c: by a sum of squares, or as the square of a law |c| <= f."""
    laws = (law for law in metric.conserved.laws if law.is_polynomial())
    below = (c * c for c in laws if all(map(Signs().is_nonnegative, (f - c, f + c))))
    return [*guards_of(metric, f), *below]


def _positive(
    metric: Metric,
    g: RationalFunction,
    kept: tuple[RationalFunction, ...],
    floor: RationalFunction | None,
    evidence: tuple[Identity, ...],
) -> Finding:
    if floor is not None:
        square = quoted(repr(floor), metric.parameterization)
        reason = f"`g >= m > 0` along the flow, `m^2` = {square}, so `tau` increases"
        return Finding(Verdict.PROVED, reason, evidence)
    darboux = {repr(s * x) for x in metric.conserved.darboux for s in (1, -1)}
    if all(repr(f) in darboux for f, _ in factored(g)[1]):
        reason = "`g > 0`: its factors are Darboux polynomials, which the flow cannot bring to 0"
        return Finding(Verdict.PROVED, reason)
    reason = "assumed: `g` stays positive, so that `tau` increases"
    if kept:
        conditions = " and ".join(f"{c!r} > 0" for c in dict.fromkeys(kept))
        reason += f"; it does where {conditions} at the start"
    return Finding(Verdict.UNDECIDED, reason, evidence)


def _onto(metric: Metric, floor: RationalFunction | None) -> Finding:
    p = metric.parameterization
    smooth = all(f.is_polynomial() for f in p.F) and not p.field.generators
    exists = "the flow exists for all `t`: `|w - w_0|^2 <= t L(w_0)`"
    if smooth and floor is not None:
        return Finding(Verdict.PROVED, f"`tau(t) >= m t`, onto `[0, infinity)`; {exists}")
    prefix = f"{exists}; " if smooth else ""
    return Finding(Verdict.UNDECIDED, f"{prefix}assumed: `tau(t)` tends to infinity with `t`")


def _bounded(metric: Metric, g: RationalFunction, notation: Notation) -> Finding:
    p = metric.parameterization
    assumed = Finding(Verdict.UNDECIDED, "assumed: `g` is bounded where the flow converges")
    plain = all(f.is_polynomial() for f in p.F) and not (p.field.generators or p.parameters)
    if not plain or not g.is_polynomial():
        return assumed
    chart = base_chart(metric, notation)
    square = sum((w * w for w in p.w), p.field.zero)
    if chart is None or not is_bounded(square, chart.coordinates):
        return assumed
    integral = "`|w|^2` is integral over `beta` and the conserved quantities"
    reason = f"`g` is bounded where `beta` is: {integral}"
    return Finding(Verdict.PROVED, reason)
