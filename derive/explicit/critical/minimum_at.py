"""R at one rational point, proved: every real critical point enclosed, the lowest one shown to be.

A critical point has each weight among the real roots of a polynomial that was proved to vanish
there, so all of them lie in a finite grid of balls. Balls on which F - beta excludes 0 are left
out; near the lowest that is left an interval Newton step proves a point with F(w) = beta.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx

from derive.exact.balls import ball, real_roots
from derive.exact.field.polynomial import Polynomial
from derive.exact.linear.implicitization import Relation
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.cost.feasible import (
    BITS,
    distance,
    feasible_distance,
    lies_below,
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
from derive.explicit.critical.hyperplane import is_out_of_reach

MAXIMAL_GRID = 40_000


def minimum_at(problem: ConstrainedProblem, data: Sequence[Fraction]) -> arb | None:
    """Return R in a ball at numbers for beta and the start; None where no w has F(w) = beta.

    Args:
        problem: the constrained problem.
        data: rational numbers for the outputs and the start symbols.

    Raises:
        Stopped: the critical points could not be enclosed, or beta is a value for which there
            are more of them than for most.
    """
    check_generic(problem, data)
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        found = [
            (distance(w, w0), w)
            for family in critical_families(problem)
            if family.dominant
            for w in _grid(family, data)
            if _may_be_feasible(problem, w, beta)
        ]
        if not found:
            return None
        value, w = min(found, key=lambda pair: pair[0].mid())
        for other, _ in found:
            if other.lower() < value.lower():
                value = value.union(other)
        value = value.union(feasible_distance(problem, w, w0, beta))
        if not value.is_finite():
            raise Stopped("the enclosure of the lowest critical point is not finite")
        return value


def closed_cost_at(
    closed: ClosedCost, problem: ConstrainedProblem, beta: Sequence[Fraction]
) -> arb | None:
    """Return a closed form of R_F at numbers for beta; None where no w has F(w) = beta.

    Raises:
        Stopped: it was not settled whether some w has.
    """
    if closed.onto or not any(beta):
        return closed.at(beta)
    if has_no_weights(problem, beta):
        return None
    if has_weights(problem, beta, None):
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


def check_generic(problem: ConstrainedProblem, data: Sequence[Fraction]) -> None:
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


def _grid(family: CriticalFamily, data: Sequence[Fraction]) -> list[tuple[arb, ...]]:
    axes = []
    for w in family.w:
        roots = real_roots(specialise(eliminate(family, w, 1), data))
        if not roots:
            return []
        axes.append(roots)
    if math.prod(map(len, axes)) > MAXIMAL_GRID:
        raise Stopped("there are too many candidates for critical points")
    return list(itertools.product(*axes))


def specialise(relation: Relation, data: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of a relation at numbers for beta and the start symbols.

    Raises:
        Stopped: they all vanish there.
    """
    values = [c.at(data) for c in relation.coefficients]
    if not any(values):
        raise Stopped("a polynomial of the critical points vanishes identically at a point")
    return values


def _may_be_feasible(
    problem: ConstrainedProblem, w: Sequence[arb], beta: Sequence[Fraction]
) -> bool:
    return all(
        (value_at(problem, f, w) - ball(b)).contains(0)
        for f, b in zip(problem.F, beta, strict=True)
    )


def has_weights(problem: ConstrainedProblem, data: Sequence[Fraction], limit: arb | None) -> bool:
    """Tell whether a search proves some w with F(w) = beta and |w - w_0|^2 < limit, where given."""
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        return lies_below(problem, w0, beta, limit)


def lowest_root_at(
    problem: ConstrainedProblem, data: Sequence[Fraction], roots: Sequence[arb]
) -> arb | None:
    """Return the least of the roots r >= 0 where a point with F(w) = beta lies below the next.

    The minimum is one of the roots. This decides where critical points are not isolated.

    Args:
        problem: the constrained problem.
        data: as for :func:`minimum_at`.
        roots: disjoint balls, ascending, of all roots r >= 0 of the critical polynomials.
    """
    check_generic(problem, data)
    return roots[0] if has_weights(problem, data, roots[1] if len(roots) > 1 else None) else None


def bounded_root_at(
    problem: ConstrainedProblem,
    factors: Sequence[Polynomial],
    data: Sequence[Fraction],
    roots: Sequence[arb],
) -> arb | None:
    """Return the greatest root where |w|^2 is proved to be at least every root, and w exists.

    The minimum is one of the roots, so that it is this one.

    Args:
        problem: the constrained problem.
        factors: the critical polynomials.
        data, roots: as for :func:`lowest_root_at`.
    """
    if not roots or any(not x.is_zero() for x in problem.w0):
        return None
    if not bounds_every_root(problem, factors):
        return None
    check_generic(problem, data)
    return roots[-1] if has_weights(problem, data, None) else None


def is_at_start(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Tell whether F(w_0) = beta, at rational numbers."""
    beta, w0 = problem.at(data)
    return problem.outputs_at(w0) == beta


def has_no_weights(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Tell whether a hyperplane proves that no w has F(w) = beta; for quadratic outputs."""
    forms = quadratic_forms(problem)
    return forms is not None and is_out_of_reach(forms, data[: len(problem.F)])
