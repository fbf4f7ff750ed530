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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

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


@dataclass(frozen=True)
class WarpedTime:
    """What is proved of tau(t) = int_0^t g ds, and what has to be assumed.

    Attributes:
        floor: m^2 in start symbols, with g^2 >= m^2 > 0; None where that is not proved.
        positive: g > 0 along the flow, so that tau increases.
        onto: tau takes every value in [0, infinity).
        bounded: g is bounded where beta is.
    """

    floor: Expr | None
    positive: Finding
    onto: Finding
    bounded: Finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All three."""
        return self.positive, self.onto, self.bounded


def find_warped_time(
    dual: DualCoordinates, notation: Notation, start: Mapping[str, Fraction] | None = None
) -> WarpedTime:
    """Return what is proved of tau on the leaf of *start*, or of every one, where g is positive."""
    metric, g = dual.metric, dual.g
    p = metric.parameterization

    def at_start(c: RationalFunction) -> RationalFunction:
        value = p.at_start(c)
        if start is None:
            return value
        return value.field.constant(value.at([start[name] for name in value.field.names]))

    kept = _kept(metric, g, at_start, notation.positive)
    # m^2 = c^2 c_1^n_1 ... c_k^n_k.
    bounds = ((c / (f * f)) ** n for (f, n), c in zip(factored(g)[1], kept.values(), strict=True))
    floor = at_start(prod(bounds, start=g * g)) if kept else None
    return WarpedTime(
        None if floor is None else to_expr(floor, notation.start_symbols),
        _positive(metric, g, kept, floor),
        _onto(metric, floor),
        _bounded(metric, g, notation),
    )


def _kept(
    metric: Metric,
    g: RationalFunction,
    at_start: Callable[[RationalFunction], RationalFunction],
    positive: frozenset[str],
) -> dict[RationalFunction, RationalFunction]:
    """Return for each factor f of g a conserved c <= f^2, positive at this start; nothing without.

    By a sum of squares, or the square of a law 0 < c <= |f|; the largest, where these are numbers.
    """
    if not g.is_polynomial() or g.field.generators or g.is_constant():
        return {}
    laws, kept = [law for law in metric.conserved.laws if law.is_polynomial()], {}
    nonnegative, is_positive = Signs().is_nonnegative, Signs(positive).is_positive
    for f, _ in factored(g)[1]:
        guards = [(c, c if nonnegative(f * f - c) else c * c) for c in guards_of(metric, f)]
        guards += [(c * c, c * c) for c in laws if all(map(nonnegative, (f - c, f + c)))]
        proved = {low: at_start(low) for c, low in guards if is_positive(at_start(c))}
        if not proved:
            return {}
        kept[f] = max(proved, key=lambda c: proved[c].value() if proved[c].is_constant() else 0)
    return kept


def _positive(
    metric: Metric,
    g: RationalFunction,
    kept: Mapping[RationalFunction, RationalFunction],
    floor: RationalFunction | None,
) -> Finding:
    p, powers = metric.parameterization, factored(g)[1]
    if floor is not None:
        reason = (
            f"`g >= m > 0` along the flow, `m^2` = {quoted(repr(floor), p)}, so `tau` increases"
        )
        return Finding(Verdict.PROVED, reason, _squares(kept))
    if all(f in metric.conserved.darboux or -f in metric.conserved.darboux for f, _ in powers):
        reason = "`g > 0`: its factors are Darboux polynomials, which the flow cannot bring to 0"
        return Finding(Verdict.PROVED, reason)
    names = p.nonnegative | frozenset(p.positive)
    choices = product(*(guards_of(metric, f) for f, _ in powers))
    guards = next((c for c in choices if is_feasible([*map(p.at_start, c)], names)), ())
    reason = "assumed: `g` stays positive, so that `tau` increases"
    if guards:
        conditions = " and ".join(f"{c!r} > 0" for c in dict.fromkeys(guards))
        reason += f"; it does where {conditions} at the start"
    pairs = zip((f for f, _ in powers), guards, strict=False)
    return Finding(Verdict.UNDECIDED, reason, _squares(dict(pairs)))


def _squares(kept: Mapping[RationalFunction, RationalFunction]) -> tuple[Identity, ...]:
    """Return f^2 = c + squares for each factor f."""
    return tuple(
        Identity(f"({f!r})**2 = conserved + squares", repr(f * f), f"{c!r} + ({f * f - c!r})")
        for f, c in kept.items()
    )


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
