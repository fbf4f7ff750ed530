"""Limits of R as the scale alpha of the start goes to 0 and to infinity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sympy import Symbol

from derive.exact.linear.matrix import rank
from derive.explicit.constrained import starts_in_scale
from derive.model.labels import quoted
from derive.model.notation import rational
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Verdict


@dataclass(frozen=True)
class ScaleLimit:
    """What R tends to as symbols of the start go to 0 or oo; UNDECIDED with what is missing."""

    start: tuple[str, ...]
    goal: str
    statement: str
    finding: Finding

    @property
    def when(self) -> str:
        """Such as ``alpha -> 0``."""
        return f"{', '.join(self.start)} -> {self.goal}"


def scale_limits(p: Parameterization) -> tuple[ScaleLimit, ...]:
    """Return the limits of R on one block of outputs; :func:`derive.regimes` has those of Q.

    The distance from w_0 to a set moves by at most |w_0| as w_0 goes to 0, so R -> R_F there, for
    any F. Where F is homogeneous of degree D and w_0 = alpha times numbers, R = alpha^2 r(b) with
    b = beta/alpha^D, so alpha -> infinity at fixed beta is b -> 0.
    """
    return () if p.start_field.generators else (*_to_zero(p), *_to_infinity(p))


def _to_zero(p: Parameterization) -> Iterator[ScaleLimit]:
    symbols = p.start_field.names
    zero = [Fraction(0)] * len(symbols)
    if not symbols or any(not x.is_polynomial() or x.at(zero) for x in p.w0):
        return
    reason = "|sqrt(R) - sqrt(R_F)| <= |w_0|: a distance moves no more than the point"
    if p.degree:
        reason += f"; R_F is homogeneous of degree {Fraction(2, p.degree)} in beta"
    yield ScaleLimit(symbols, "0", "R -> R_F", Finding(Verdict.PROVED, reason))


def _to_infinity(p: Parameterization) -> Iterator[ScaleLimit]:
    symbols, D = p.start_field.names, p.degree or 0
    if D < 2 or not starts_in_scale(p.w0) or len(symbols) != 1:
        return
    if any(not p.at_start(f).is_zero() for f in p.F) or rank(p.start_covectors) < p.d:
        reason = "beta_0 = F(w_0) moves to infinity as well"
        finding = Finding(Verdict.UNDECIDED, reason)
        yield ScaleLimit(symbols, "oo", "R is not decided here", finding)
        return
    alpha = quoted(symbols[0], p)
    # <beta, K(w_0)^-1 beta> at alpha = 1.
    slope = [p.at_start(x).at([Fraction(1)]) for x in p.covectors[0]]
    form = str(Symbol("beta") ** 2 / rational(sum((x * x for x in slope), Fraction(0))))
    reason = "the Hessian at beta_0 = 0 is 2 K(w_0)^-1, and beta/alpha^D -> 0"
    if p.d > 1:
        form = "<beta, K_0^-1 beta>"
        reason += f"; K_0 is the tangent kernel at the start with {alpha} = 1"
    statement = f"{alpha}**{2 * D - 2}*R -> {form}"
    yield ScaleLimit(symbols, "oo", statement, Finding(Verdict.PROVED, reason))
