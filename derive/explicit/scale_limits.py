"""Limits of R and Q as the scale alpha of the start goes to 0 and to infinity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from sympy import Symbol

from derive.derivation import Derivation
from derive.exact.linear.matrix import rank
from derive.explicit.constrained import starts_in_scale
from derive.model.labels import quoted
from derive.model.notation import rational
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Verdict

MAXIMAL_WEIGHTS = 4
"""Weights up to which all signed permutations are tried for a symmetry."""


@dataclass(frozen=True)
class ScaleLimit:
    """What R or Q tends to, when for instance alpha -> 0; UNDECIDED with what is missing."""

    of: str
    when: str
    statement: str
    finding: Finding


def scale_limits(p: Parameterization, implicit: Derivation | None) -> tuple[ScaleLimit, ...]:
    """Return the limits of R, and of Q scaled to the Hessian of R, on one block of outputs.

    The distance from w_0 to a set moves by at most |w_0| as w_0 goes to 0, so R -> R_F there, for
    any F. Where F is homogeneous of degree D and w_0 = alpha times numbers, R = alpha^2 r(b) and
    Q = alpha^2 q(b) with b = beta/alpha^D, so alpha -> infinity at fixed beta is b -> 0.
    """
    if p.start_field.generators:
        return ()
    return (*_to_zero(p, implicit), *_to_infinity(p, implicit))


def _to_zero(p: Parameterization, implicit: Derivation | None) -> Iterator[ScaleLimit]:
    symbols = p.start_field.names
    zero = [Fraction(0)] * len(symbols)
    if not symbols or any(not x.is_polynomial() or x.at(zero) for x in p.w0):
        return
    when = f"{', '.join(symbols)} -> 0"
    reason = "|sqrt(R) - sqrt(R_F)| <= |w_0|: a distance moves no more than the point"
    if p.degree:
        reason += f"; R_F is homogeneous of degree {Fraction(2, p.degree)} in beta"
    yield ScaleLimit("R", when, "R -> R_F", Finding(Verdict.PROVED, reason))
    if implicit is None or implicit.verdict is not Verdict.PROVED:
        return
    if not (_scales(p) and len(symbols) == p.d == 1 and _from_zero(p)):
        reason = "decided here for one homogeneous output that starts at 0 only"
        yield ScaleLimit("Q", when, "Q is not decided here", Finding(Verdict.UNDECIDED, reason))
        return
    yield ScaleLimit("Q", when, *_gauge(p))


def _gauge(p: Parameterization) -> tuple[str, Finding]:
    """Return the limit of Q for one output of degree D >= 2 with F(w_0) = 0.

    Along the leaf s = |w|^2 has ds/db = 2 D b/K and K >= (D b)^2/s by Euler and Cauchy, so that s
    is at most a multiple of b^(2/D) for b >= alpha^D. Then 1/K <= s/(D b)^2 is integrable away
    from 0, uniformly in alpha, while K <= C s^(D-1) <= C' b^(2-2/D) makes Q' grow without bound as
    alpha -> 0: Q'(b)/Q'(b') -> 1 for b, b' of one sign.
    """
    reason = "Q'(beta)/Q'(beta') -> 1 for beta, beta' of one sign, by Euler's identity"
    statement = "Q/Q(1) -> beta for beta > 0, and Q/Q(-1) -> -beta for beta < 0"
    if _odd(p):
        reason += "; a symmetry of F takes beta to -beta"
        statement = "Q/Q(1) -> |beta|"
    return statement, Finding(Verdict.PROVED, reason)


def _to_infinity(p: Parameterization, implicit: Derivation | None) -> Iterator[ScaleLimit]:
    if not _scales(p) or len(p.start_field.names) != 1:
        return
    (alpha,) = p.start_field.names
    when = f"{alpha} -> oo"
    if not _from_zero(p) or rank(p.start_covectors) < p.d:
        reason = "beta_0 = F(w_0) moves to infinity as well"
        yield ScaleLimit("R", when, "R is not decided here", Finding(Verdict.UNDECIDED, reason))
        return
    power = 2 * int(p.degree or 0) - 2
    # <beta, K(w_0)^-1 beta> at alpha = 1.
    slope = [p.at_start(x).at([Fraction(1)]) for x in p.covectors[0]]
    form = str(Symbol("beta") ** 2 / rational(sum((x * x for x in slope), Fraction(0))))
    reason = "the Hessian at beta_0 = 0 is 2 K(w_0)^-1, and beta/alpha^D -> 0"
    if p.d > 1:
        form = "<beta, K_0^-1 beta>"
        reason += f"; K_0 is the tangent kernel at the start with {quoted(alpha, p)} = 1"
    statement = f"{quoted(alpha, p)}**{power}*{{}} -> {form}"
    yield ScaleLimit("R", when, statement.format("R"), Finding(Verdict.PROVED, reason))
    if implicit is not None and implicit.verdict is Verdict.PROVED:
        yield ScaleLimit("Q", when, statement.format("Q"), Finding(Verdict.PROVED, reason))


def _scales(p: Parameterization) -> bool:
    """Tell whether F is homogeneous of degree >= 2 and w_0 of degree 1 in its symbols."""
    return (p.degree or 0) >= 2 and starts_in_scale(p.w0)


def _from_zero(p: Parameterization) -> bool:
    return all(p.at_start(f).is_zero() for f in p.F)


def _odd(p: Parameterization) -> bool:
    """Tell whether a signed permutation of the weights takes F to -F and keeps w_0."""
    if p.p > MAXIMAL_WEIGHTS:
        return False
    for order, signs in product(permutations(range(p.p)), product((1, -1), repeat=p.p)):
        moved = list(zip(order, signs, strict=True))
        if tuple(s * p.w0[k] for k, s in moved) == tuple(p.w0):
            images = [s * p.w[k] for k, s in moved]
            if (p.F[0].compose(images, p.field) + p.F[0]).is_zero():
                return True
    return False
