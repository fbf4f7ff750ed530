"""The minimum as a root of its critical polynomial, as far as the steps of elimination reach.

R is a root of a polynomial P(r; beta, start) at almost all beta and starts. Let it be there a root
r >= 0 of a r^n + c(beta, start), with a number a: g, which is continuous. Then R = g at every beta
with some w. Let w* be a least one there, and w -> w* with R = g at F(w), as almost all w have:
g(F(w)) <= |w - w_0|^2 and so g(beta) <= R(beta). The least weights for these F(w) are bounded, and
have a limit v with F(v) = beta and |v - w_0|^2 <= g(beta).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import Symbol

from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import ConstrainedProblem, Stopped, is_onto
from derive.explicit.critical.equations import critical_factors, follow_from_distance
from derive.explicit.critical.intervals import find_intervals
from derive.explicit.minimum import CriticalRoot, GreatestRoot, RootByInterval, SquaredDistance
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Verdict


def minimum_by_elimination(
    pose: Callable[[Parameterization], ConstrainedProblem],
    p: Parameterization,
    betas: tuple[Symbol, ...],
) -> SquaredDistance:
    """Return R or R_F, whose problem *pose* states, as a root of its critical polynomial."""
    try:
        problem = pose(p)
    except Stopped as step:
        return SquaredDistance(betas, Finding(Verdict.UNDECIDED, str(step)))
    return minimum_of_problem(problem, betas)


def minimum_of_problem(problem: ConstrainedProblem, betas: tuple[Symbol, ...]) -> CriticalRoot:
    """Return the minimum as far as the steps reach; the first that stops gives the reason."""
    symbols = (Symbol(s.removeprefix("start "), real=True) for s in problem.symbols)
    variables = (*betas, *symbols)
    factors: tuple[Polynomial, ...] = ()
    try:
        factors = critical_factors(problem)
        if problem.single:
            return _by_intervals(problem, factors, variables)
        where = "it is certified at single points, not everywhere"
        finding = Finding(Verdict.UNDECIDED, f"the root depends on several numbers: {where}")
        powers = {e for factor in factors for e, _ in terms(factor) if e[0]}
        if len(factors) == len({n for n, *_ in powers}) == 1:
            # a r^n + c has at most one root r >= 0, where a is not 0.
            if not any(sum(others) for _, *others in powers):
                onto = is_onto(problem)
                reason = f"one root r >= 0, for every beta{'' if onto else ' with some w'}"
                finding = Finding(Verdict.PROVED, reason)
                return GreatestRoot(variables, finding, problem, factors, onto)
            finding = Finding(Verdict.PROVED, "one root r >= 0, for almost all beta with some w")
        elif len(factors) == 1 and follow_from_distance(problem, factors[0]):
            where = "the weights are rational in r, beta and the start, and so are real"
            reason = (
                f"the smallest real root, for almost all beta and starts with some w, as {where}"
            )
            finding = Finding(Verdict.PROVED, reason)
    except Stopped as step:
        finding = Finding(Verdict.UNDECIDED, str(step))
    return CriticalRoot(variables, finding, problem, factors)


def _by_intervals(
    problem: ConstrainedProblem, factors: tuple[Polynomial, ...], variables: tuple[Symbol, ...]
) -> RootByInterval:
    """Return the minimum on every interval, as a root of the factors that are used."""
    finding = Finding(Verdict.PROVED, "the root is certified on every interval")
    intervals = find_intervals(problem, factors)
    used = sorted({x.factor for x in intervals if x.factor is not None})
    intervals = tuple(
        x if x.factor is None else replace(x, factor=used.index(x.factor)) for x in intervals
    )
    return RootByInterval(variables, finding, problem, tuple(factors[i] for i in used), intervals)
