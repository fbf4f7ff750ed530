"""Power series of beta along explicit and implicit regularization, in exact rationals.

With grad R = 2 tau e at beta(tau), the least w solves w = w_0 + tau J(w)^T e; with grad Q = 2 tau e
and Hess Q = 2 K^-1 at the start, w solves dw/dtau = (g(w_0)/g) J(w)^T e. One is a step of implicit
Euler for the other: both start with slope K e, and then part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import Polynomial, terms
from derive.model.parameterization import Parameterization

ORDER = 7
"""Highest power of tau."""

Series = list[Fraction]


def explicit_series(
    p: Parameterization, start: Mapping[str, Fraction], e: Sequence[int]
) -> list[Series]:
    """Return beta(tau) where grad R = 2 tau e, one series for each output."""

    def step(w0: Fraction, slope: Series) -> Series:
        return [w0, *slope[:ORDER]]

    return _picard(p, p.field.one, start, e, step)


def implicit_series(
    p: Parameterization, g: RationalFunction, start: Mapping[str, Fraction], e: Sequence[int]
) -> list[Series]:
    """Return beta(tau) where grad Q = 2 tau e, for Q with the warp g and Hess Q = 2 K^-1 at w_0."""

    def step(w0: Fraction, slope: Series) -> Series:
        return [w0, *(c / (n + 1) for n, c in enumerate(slope[:ORDER]))]

    return _picard(p, g, start, e, step)


def start_point(p: Parameterization, start: Mapping[str, Fraction]) -> list[Fraction]:
    """Return w_0 at numbers for the start symbols."""
    values = [start[name] for name in p.start_field.names]
    return [x.at(values) for x in p.w0]


def _picard(
    p: Parameterization,
    g: RationalFunction,
    start: Mapping[str, Fraction],
    e: Sequence[int],
    step: Callable[[Fraction, Series], Series],
) -> list[Series]:
    """Return F(w) for w = w_0 + ..., each pass right to one order more."""
    origin = start_point(p, start)
    warp = g.at(origin)
    field = [
        sum((c * row[k] for c, row in zip(e, p.fields, strict=True)), p.field.zero) * _one(g)
        for k in range(p.p)
    ]
    w: list[Series] = [[x] + [Fraction(0)] * ORDER for x in origin]
    for _ in range(ORDER):
        slopes = [[warp * c for c in _at(x, w)] for x in field]
        w = [step(x, slope) for x, slope in zip(origin, slopes, strict=True)]
    return [_at(f, w) for f in p.F]


def _one(g: RationalFunction) -> RationalFunction:
    return g.field.one / g


def _at(f: RationalFunction, w: Sequence[Series]) -> Series:
    """Return the series of a rational function."""
    return _quotient(_polynomial(f.numerator, w), _polynomial(f.denominator, w))


def _polynomial(polynomial: Polynomial, w: Sequence[Series]) -> Series:
    total = [Fraction(0)] * (ORDER + 1)
    for exponents, c in terms(polynomial):
        product = [Fraction(c)] + [Fraction(0)] * ORDER
        for x, power in zip(w, exponents, strict=False):
            for _ in range(power):
                product = _product(product, x)
        total = [a + b for a, b in zip(total, product, strict=True)]
    return total


def _product(a: Series, b: Series) -> Series:
    return [sum((a[k] * b[n - k] for k in range(n + 1)), Fraction(0)) for n in range(ORDER + 1)]


def _quotient(a: Series, b: Series) -> Series:
    result: Series = []
    for n in range(ORDER + 1):
        rest = sum((result[k] * b[n - k] for k in range(n)), Fraction(0))
        result.append((a[n] - rest) / b[0])
    return result
