"""Power series of beta along explicit and implicit regularization, in exact rationals.

With grad R = 2 tau e at beta(tau), the least w solves w = w_0 + tau J(w)^T e; with grad Q = 2 tau e
and Hess Q = 2 K^-1 at the start, w solves dw/dtau = (g(w_0)/g) J(w)^T e. One is a step of implicit
Euler for the other: both start with slope K e, and then part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_series

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import evaluate
from derive.explicit.cost.rationals import as_fmpq, as_fraction
from derive.model.parameterization import Parameterization

ORDER = 7
"""Highest power of tau."""


def explicit_series(
    p: Parameterization, start: Mapping[str, Fraction], e: Sequence[int]
) -> list[list[Fraction]]:
    """Return beta(tau) where grad R = 2 tau e, the coefficients for each output."""
    tau = _series([0, 1])
    return _picard(p, p.field.one, start, e, lambda slope: tau * slope)


def implicit_series(
    p: Parameterization, g: RationalFunction, start: Mapping[str, Fraction], e: Sequence[int]
) -> list[list[Fraction]]:
    """Return beta(tau) where grad Q = 2 tau e, for Q with the warp g and Hess Q = 2 K^-1 at w_0."""
    return _picard(p, g, start, e, lambda slope: slope.integral())


def start_point(p: Parameterization, start: Mapping[str, Fraction]) -> list[Fraction]:
    """Return w_0 at numbers for the start symbols."""
    values = [start[name] for name in p.start_field.names]
    return [x.at(values) for x in p.w0]


def _picard(
    p: Parameterization,
    g: RationalFunction,
    start: Mapping[str, Fraction],
    e: Sequence[int],
    step: Callable[[fmpq_series], fmpq_series],
) -> list[list[Fraction]]:
    """Return F(w) for w = w_0 + ..., each pass right to one order more."""
    origin = start_point(p, start)
    warp = _series([as_fmpq(g.at(origin))])
    field = [
        sum((c * row[k] for c, row in zip(e, p.fields, strict=True)), p.field.zero) / g
        for k in range(p.p)
    ]
    w_0 = [_series([as_fmpq(x)]) for x in origin]
    w = w_0
    for _ in range(ORDER):
        w = [x + step(_at(slope, w) * warp) for x, slope in zip(w_0, field, strict=True)]
    beta = [_at(f, w) for f in p.F]
    return [[as_fraction(b[n]) for n in range(ORDER + 1)] for b in beta]


def _series(coefficients: Sequence[int | fmpq]) -> fmpq_series:
    return fmpq_series(coefficients, prec=ORDER + 1)


def _at(f: RationalFunction, w: Sequence[fmpq_series]) -> fmpq_series:
    """Return the series of a rational function."""
    top, bottom = (evaluate(part, w, lambda c: _series([c])) for part in f.parts)
    if not bottom[0]:
        raise ZeroDivisionError("a pole at the start")
    return top / bottom
