"""R at one rational point, proved: every real critical point enclosed, the lowest one shown to be.

A critical point has each weight among the real roots of a polynomial that was proved to vanish
there, so all of them lie in a finite grid of balls. Balls on which F - beta excludes 0 are left
out; near the lowest that is left an interval Newton step proves a point with F(w) = beta.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import ctx

from derive.exact.balls import evaluate_any
from derive.exact.field.polynomial import Polynomial
from derive.exact.linear.implicitization import Relation
from derive.exact.roots import real_roots
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.cost.feasible import (
    BITS,
    ball,
    distance,
    feasible_distance,
    lies_below,
    value_at,
)
from derive.explicit.cost.quadratic_forms import quadratic_forms
from derive.explicit.critical.bounds import bounds_every_root
from derive.explicit.critical.elimination import eliminate, excluded
from derive.explicit.critical.families import CriticalFamily, critical_families, singular_families
from derive.explicit.critical.hyperplane import is_out_of_reach

MAXIMAL_GRID = 40_000


@dataclass(frozen=True)
class Minimum:
    """The least |w - w_0|^2 at one point, in a ball, and a minimiser near *w*."""

    value: Any
    w: tuple[Any, ...]


def minimum_at(problem: ConstrainedProblem, data: Sequence[Fraction]) -> Minimum | None:
    """Return R at numbers for beta and the start symbols; None where no w has F(w) = beta.

    Args:
        problem: the constrained problem.
        data: rational numbers for the outputs and the start symbols.

    Raises:
        Stopped: the critical points could not be enclosed, or beta is a value for which there
            are more of them than for most.
    """
    check_generic(problem, data)
    with ctx.workprec(BITS):
        beta = data[: len(problem.F)]
        numbers = _numbers(problem, data[len(problem.F) :])
        w0 = [evaluate_any(x, numbers, BITS) for x in problem.w0]
        found = []
        for family in critical_families(problem):
            if family.dominant:
                for w in _grid(family, data):
                    if _may_be_feasible(problem, w, beta):
                        found.append((distance(w, w0), w))
        if not found:
            return None
        value, w = min(found, key=lambda pair: pair[0].mid())
        for other, _ in found:
            if other.lower() < value.lower():
                value = value.union(other)
        value = value.union(feasible_distance(problem, w, w0, beta))
        if not value.is_finite():
            raise Stopped("the enclosure of the lowest critical point is not finite")
        return Minimum(value, w)


def value_of(
    closed: ClosedCost, problem: ConstrainedProblem, data: Sequence[Fraction]
) -> Any | None:
    """Return a closed form of R_F at numbers for beta; None where no w has F(w) = beta.

    Raises:
        Stopped: it was not settled whether some w has.
    """
    if closed.onto or not any(data):
        return closed.at(data)
    if has_no_weights(problem, data):
        return None
    zero = [Fraction(0)] * len(problem.weights)
    with ctx.workprec(BITS):
        if lies_below(problem, zero, data, None):
            return closed.at(data)
    unsettled = Stopped("it was not settled whether some w has F(w) = beta")
    if len(problem.weights) > len(problem.F):
        # Each w lies on a curve of others: all critical points are long to find.
        raise unsettled
    try:
        found = minimum_at(problem, data)
    except Stopped:
        raise unsettled from None
    return None if found is None else closed.at(data)


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


def _numbers(problem: ConstrainedProblem, symbols: Sequence[Fraction]) -> list[Fraction]:
    padding = [Fraction(0)] * (len(problem.weights) + len(problem.multipliers))
    return [*padding, *symbols]


def _grid(family: CriticalFamily, data: Sequence[Fraction]) -> list[tuple[Any, ...]]:
    axes = []
    for w in family.w:
        roots = real_roots(specialise(eliminate(family, w, 1), data))
        if not roots:
            return []
        axes.append(roots)
    size = 1
    for roots in axes:
        size *= len(roots)
    if size > MAXIMAL_GRID:
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
    problem: ConstrainedProblem, w: Sequence[Any], beta: Sequence[Fraction]
) -> bool:
    return all(
        (value_at(problem, f, w) - ball(b)).contains(0)
        for f, b in zip(problem.F, beta, strict=True)
    )


def lowest_root_at(
    problem: ConstrainedProblem, data: Sequence[Fraction], roots: Sequence[Any]
) -> Any | None:
    """Return the least of the roots r >= 0 where a point with F(w) = beta lies below the next.

    The minimum is one of the roots. This decides where critical points are not isolated.

    Args:
        problem: the constrained problem.
        data: as for :func:`minimum_at`.
        roots: disjoint balls, ascending, of all roots r >= 0 of the critical polynomials.
    """
    check_generic(problem, data)
    with ctx.workprec(BITS):
        beta = data[: len(problem.F)]
        numbers = _numbers(problem, data[len(problem.F) :])
        w0 = [evaluate_any(x, numbers, BITS) for x in problem.w0]
        limit = roots[1] if len(roots) > 1 else None
        if not lies_below(problem, w0, beta, limit):
            return None
        return roots[0]


def bounded_root_at(
    problem: ConstrainedProblem,
    factors: Sequence[Polynomial],
    data: Sequence[Fraction],
    roots: Sequence[Any],
) -> Any | None:
    """Return the greatest root where |w|^2 is proved to be at least every root, and w exists.

    The minimum is one of the roots, so that it is this one.

    Args:
        problem: the constrained problem.
        factors: the critical polynomials.
        data, roots: as for :func:`lowest_root_at`.
    """
    start = [Fraction(0)] * len(problem.weights)
    if not roots or any(not x.is_zero() for x in problem.w0):
        return None
    if not bounds_every_root(problem, factors):
        return None
    check_generic(problem, data)
    with ctx.workprec(BITS):
        return roots[-1] if lies_below(problem, start, data, None) else None


def is_at_start(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Tell whether F(w_0) = beta, at rational numbers."""
    numbers = _numbers(problem, data[len(problem.F) :])
    start = [x.at(numbers) for x in problem.w0]
    padding = [Fraction(0)] * (len(problem.field.names) - len(start))
    return [f.at([*start, *padding]) for f in problem.F] == list(data[: len(problem.F)])


def has_no_weights(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Tell whether a hyperplane proves that no w has F(w) = beta; for quadratic outputs."""
    forms = quadratic_forms(problem)
    return forms is not None and is_out_of_reach(forms, data[: len(problem.F)])
