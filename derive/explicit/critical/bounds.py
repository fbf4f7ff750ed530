"""Roots that R or R_F is at every beta with some w, by continuity and by bounds.

R is a root of a polynomial P(r; beta, start) at almost all beta and starts. Let it be there a root
r >= 0 of a r^n + c(beta, start), with a number a, the only one there is, or the greatest of several
such: g, which is continuous. Then R = g at every beta with some w. Let w* be a least one there, and
w -> w* with R = g at F(w), as almost all w have: g(F(w)) <= |w - w_0|^2 and so g(beta) <= R(beta).
The least weights for these F(w) are bounded, and have a limit v with F(v) = beta and
|v - w_0|^2 <= g(beta).

Greatest roots: a least w is a critical point, so that R_F is a root of one of the factors of the
critical polynomial. If every factor is a r^n + c(beta), a > 0, and a |w|^(2n) + c(F(w)) >= 0 for
all w, then R_F is at least each of these roots: the greatest.
"""

from __future__ import annotations

from collections.abc import Sequence

from derive.exact.field.polynomial import Polynomial, evaluate, terms
from derive.exact.signs import Signs
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.cost.feasible import reaches_all


def is_onto(problem: ConstrainedProblem) -> bool:
    """Tell whether every beta has some w, by weights of which F is linear, the others integers.

    These are tried: all that do not divide every output, and each one.
    """
    exponents = [e for f in problem.F for e, _ in terms(f.numerator)]
    places = range(len(problem.weights))
    several = [k for k in places if not all(e[k] for e in exponents)]
    return any(reaches_all(problem, free) for free in (several, *([k] for k in places)))


def bounds_every_root(problem: ConstrainedProblem, factors: Sequence[Polynomial]) -> bool:
    """Tell whether |w|^2 is proved to be at least every root of these factors at beta = F(w)."""
    square = sum((w * w for w in problem.w), problem.field.zero)
    if not factors or not all(map(is_power, factors)):
        return False
    bounds = []
    for factor in factors:
        value = evaluate(factor, (square, *problem.F), problem.field.constant)
        (leading,) = (c for e, c in terms(factor) if e[0])
        bounds.append(value if leading > 0 else -value)
    return all(map(Signs().is_nonnegative, bounds))


def is_power(factor: Polynomial) -> bool:
    """Tell whether a polynomial is a r^n + c(beta, start), with a number a."""
    with_r = [e for e, _ in terms(factor) if e[0]]
    return len(with_r) == 1 and not any(with_r[0][1:])
