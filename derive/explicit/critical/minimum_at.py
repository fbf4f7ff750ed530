"""R at one rational point, proved: every real critical point enclosed, the lowest one shown to be.

A critical point has each weight among the real roots of a polynomial that was proved to vanish
there, so all of them lie in a finite grid of balls. Balls on which F - beta excludes 0 are left
out; near the lowest that is left an interval Newton step proves a point with F(w) = beta. Which
root of the critical polynomial that is follows from the ball.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx

from derive.exact.balls import ball, real_roots
from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.cost.feasible import (
    BITS,
    is_out_of_reach,
    lies_below,
    lowest_distance,
    value_at,
)
from derive.explicit.cost.quadratic_forms import quadratic_forms
from derive.explicit.critical.bounds import bounds_every_root
from derive.explicit.critical.critical_families import (
    CriticalFamily,
    critical_families,
    singular_families,
)
from derive.explicit.critical.elimination import eliminate, excluded
from derive.explicit.critical.resultants import least_at

MAXIMAL_GRID = 40_000


@dataclass(frozen=True)
class CertifiedRoot:
    """A ball with this real root, the smallest is 0, of so many of a factor of the polynomial."""

    ball: arb
    factor: int
    index: int
    roots: int


def root_at(
    problem: ConstrainedProblem, factors: Sequence[Polynomial], data: Sequence[Fraction]
) -> CertifiedRoot | None:
    """Return R as a root of one factor; None where no w has F(w) = beta.

    *data* are rational numbers for the outputs and the start symbols, here and below. Raises
    Stopped where it was not settled.
    """
    with ctx.workprec(BITS):
        roots = _all_roots(factors, data)
        value = _minimum_or_root(problem, factors, data, [root.ball for root in roots])
        if value is None:
            return None
        matching = [root for root in roots if root.ball.overlaps(value)]
    if len(matching) != 1:
        raise Stopped("the root of the critical polynomial at a sample was not settled")
    return replace(matching[0], ball=value)


def greatest_root_at(factors: Sequence[Polynomial], data: Sequence[Fraction]) -> CertifiedRoot:
    """Return the greatest real root at a rational point."""
    with ctx.workprec(BITS):
        return max(_all_roots(factors, data), key=lambda root: root.ball.mid())


def _all_roots(factors: Sequence[Polynomial], data: Sequence[Fraction]) -> list[CertifiedRoot]:
    """Return every real root of every factor at one point."""
    found = []
    for i, factor in enumerate(factors):
        line = coefficients_at(factor, data)
        if not any(line):
            raise Stopped("the critical polynomial vanishes identically at a sample")
        roots = real_roots(line)
        found += [CertifiedRoot(root, i, k, len(roots)) for k, root in enumerate(roots)]
    return found


def coefficients_at(factor: Polynomial, data: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of r^0, r^1, ... at numbers for the other variables."""
    line = [Fraction(0)] * (int(factor.degrees()[0]) + 1)
    for (k, *exponents), c in terms(factor):
        line[k] += c * math.prod(x**e for x, e in zip(data, exponents, strict=False))
    return line


def _minimum_or_root(
    problem: ConstrainedProblem,
    factors: Sequence[Polynomial],
    data: Sequence[Fraction],
    roots: Sequence[arb],
) -> arb | None:
    """Return the minimum in a ball, None where no w has F(w) = beta."""
    try:
        return minimum_at(problem, data)
    except Stopped:
        # It is one of the roots r >= 0: which one may be known where its w is not isolated.
        known = sorted((r for r in roots if not r < 0), key=lambda r: r.mid())
        is_cost = all(x.is_zero() for x in problem.w0)
        if known and is_cost and bounds_every_root(problem, factors):
            _check_generic(problem, data)
            if _has_weights(problem, data, None):
                return known[-1]
        if any(a.overlaps(b) for a, b in itertools.pairwise(known)):
            raise
        _check_generic(problem, data)
        if not known:
            return None
        if not _has_weights(problem, data, known[1] if len(known) > 1 else None):
            raise
        return known[0]


def minimum_at(problem: ConstrainedProblem, data: Sequence[Fraction]) -> arb | None:
    """Return R in a ball at numbers for beta and the start; None where no w has F(w) = beta.

    Raises Stopped where the critical points could not be enclosed.
    """
    try:
        return _least_on_families(problem, data)
    except Stopped as first:
        try:
            return least_at(problem, data)
        except Stopped:
            raise first from None


def _least_on_families(problem: ConstrainedProblem, data: Sequence[Fraction]) -> arb | None:
    """Return R by the families of critical points; Stopped where beta has more than most."""
    _check_generic(problem, data)
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        found = [
            w
            for family in critical_families(problem)
            if family.dominant
            for w in _grid(family, data)
            if all(
                (value_at(problem, f, w) - ball(b)).contains(0)
                for f, b in zip(problem.F, beta, strict=True)
            )
        ]
        return lowest_distance(problem, found, w0, beta)


def _grid(family: CriticalFamily, data: Sequence[Fraction]) -> list[tuple[arb, ...]]:
    axes = []
    for w in family.w:
        line = [c.at(data) for c in eliminate(family, w, 1).coefficients]
        if not any(line):
            raise Stopped("a polynomial of the critical points vanishes identically at a point")
        axes.append(real_roots(line))
        if not axes[-1]:
            return []
    if math.prod(map(len, axes)) > MAXIMAL_GRID:
        raise Stopped("there are too many candidates for critical points")
    return list(itertools.product(*axes))


def _check_generic(problem: ConstrainedProblem, data: Sequence[Fraction]) -> None:
    """Refuse beta that are critical values of F, or where thin families have points.

    At other beta a least w exists, meets the Lagrange conditions, and lies on a dominant family.
    """
    beta = data[: len(problem.F)]
    if len(problem.F) == 1 and problem.degree is not None:
        # Euler: D F = <w, grad F>, so F = 0 wherever grad F = 0.
        if beta[0] == 0:
            raise Stopped("beta = 0 is a critical value of F")
    else:
        for family in singular_families(problem):
            if not excluded([family.of(f) for f in problem.F], beta):
                raise Stopped("this beta was not proved to be no critical value of F")
    for family in critical_families(problem):
        if not family.dominant and not excluded(family.data, data):
            raise Stopped("at this beta there may be critical points that most beta do not have")


def _has_weights(problem: ConstrainedProblem, data: Sequence[Fraction], limit: arb | None) -> bool:
    """Tell whether a search proves some w with F(w) = beta and |w - w_0|^2 < limit, where given."""
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        return lies_below(problem, w0, beta, limit)


def closed_cost_at(
    closed: ClosedCost, problem: ConstrainedProblem, beta: Sequence[Fraction]
) -> arb | None:
    """Return a closed form of R_F at beta; None without w, Stopped if that was not settled."""
    if closed.onto or not any(beta):
        return closed.at(beta)
    if has_no_weights(problem, beta):
        return None
    if _has_weights(problem, beta, None):
        return closed.at(beta)
    unsettled = Stopped("it was not settled whether some w has F(w) = beta")
    if len(problem.weights) > len(problem.F):
        # Each w lies on a curve of others: all critical points are long to find.
        raise unsettled
    try:
        found = minimum_at(problem, beta)
    except Stopped:
        raise unsettled from None
    return None if found is None else closed.at(beta)


def has_no_weights(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Tell whether a hyperplane proves that no w has F(w) = beta; for quadratic outputs."""
    forms = quadratic_forms(problem)
    return forms is not None and is_out_of_reach(forms, data[: len(problem.F)])
