"""The minimum as a root of its critical polynomial, as far as the steps of elimination reach.

R is a root of a polynomial P(r; beta, start) at almost all beta and starts. Let P have a number as
its leading coefficient, and signs that change once: then P/r^j grows with r > 0 for some j, and the
greatest root r >= 0 of P is its only one but 0: g, which is continuous. So R = g at every beta with
some w. Let w* be a least one there, and w -> w* with R = g at F(w), as almost all w have:
g(F(w)) <= |w - w_0|^2 and so g(beta) <= R(beta). The least weights for these F(w) are bounded, and
have a limit v with F(v) = beta and |v - w_0|^2 <= g(beta).

So it is for h(w - w_0) in place of |w - w_0|^2, if h grows without bound along all half-lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import Symbol

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, by_powers, evaluate, terms
from derive.exact.signs import Signs
from derive.explicit.constrained import ConstrainedProblem, Stopped, is_onto
from derive.explicit.cost.composition import find_composition
from derive.explicit.cost.duality import find_dual
from derive.explicit.critical.equations import critical_factors, eliminate, follow_from_distance
from derive.explicit.critical.intervals import find_intervals
from derive.explicit.minimum import CriticalRoot, GreatestRoot, RootByInterval, SquaredDistance
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Verdict

Pose = Callable[[Parameterization], ConstrainedProblem]


def minimum_by_elimination(
    pose: Pose, p: Parameterization, betas: tuple[Symbol, ...]
) -> SquaredDistance:
    """Return R or R_F, whose problem *pose* states, as a root of its critical polynomial."""
    try:
        return _of_problem(pose(p), betas)
    except Stopped as step:
        return SquaredDistance(betas, Finding(Verdict.UNDECIDED, str(step)))


def minimum_by_bound(pose: Pose, p: Parameterization, betas: tuple[Symbol, ...]) -> SquaredDistance:
    """Return R_F, or R_h, by a bound that some w reaches for every beta with some w, or a root."""
    try:
        problem = pose(p)
    except Stopped as step:
        return SquaredDistance(betas, Finding(Verdict.UNDECIDED, str(step)))
    by_root = _of_problem(problem, betas) if problem.single else None
    if isinstance(by_root, RootByInterval) and by_root.is_closed:
        return by_root
    closed = find_composition(problem, betas) or find_dual(problem, betas)
    if closed is None:
        return by_root or _of_problem(problem, betas)
    reason = f"for every beta{'' if closed.onto else ' with some w'}: {closed.reason}"
    finding = Finding(Verdict.PROVED, reason, closed.evidence)
    return GreatestRoot(betas, finding, problem, (), closed.onto, closed)


def grows(h: RationalFunction) -> bool:
    """Tell whether h >= 0 is proved to grow without bound along every half-line from 0.

    So does a sum of even powers of each weight; and a form that is 0 at 0 alone, as one where no
    other weights have grad h = 0, as they have at its zeros.
    """
    places, used = range(len(h.field.weights)), [e for e, _ in terms(h.numerator)]
    apart = sorted({tuple(k for k in places if e[k]) for e in used}) == [(k,) for k in places]
    if not h.is_polynomial() or (apart and not any(sum(e) % 2 for e in used)):
        return h.is_polynomial()
    if not h.is_homogeneous():
        return False
    slopes, w = [h.partial(k).numerator for k in places], [x.numerator for x in h.field.gens]
    try:
        return all(eliminate(slopes, {*places} - {k}) == (w[k],) for k in places)
    except Stopped:
        return False


def _of_problem(problem: ConstrainedProblem, betas: tuple[Symbol, ...]) -> CriticalRoot:
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
        if len(factors) == 1 and _has_one_root(problem, factors[0]):
            onto = is_onto(problem)
            reason = f"one root r >= 0, for every beta{'' if onto else ' with some w'}"
            finding = Finding(Verdict.PROVED, reason)
            return GreatestRoot(variables, finding, problem, factors, onto)
        if len(factors) == len({e[0] for factor in factors for e, _ in terms(factor)} - {0}) == 1:
            # a r^n + c has at most one root r >= 0, where a is not 0.
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


def _has_one_root(problem: ConstrainedProblem, factor: Polynomial) -> bool:
    """Tell whether the signs of the coefficients change once, from a number to r^0.

    They are known wherever all have one sign; one coefficient between may have any.
    """
    field = FunctionField(("r", *problem.arguments))
    powers = by_powers(factor, 0).items()
    parts = {n: evaluate(c, field.gens, field.constant) for n, c in powers}
    top = parts[max(parts)]
    if not top.is_constant():
        return False
    known = Signs()
    signs = [
        int(known.is_nonnegative(f)) - int(known.is_nonnegative(-f))
        for f in (parts[n] * top for n in sorted(parts, reverse=True))
    ]
    return 0 in parts and signs[-1] < 0 and signs.count(0) <= 1 and signs == sorted(signs)[::-1]


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
