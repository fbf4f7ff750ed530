"""R at one rational point, proved: every real critical point enclosed, the lowest one shown to be.

A critical point has each weight among the real roots of a polynomial that was proved to vanish
there, so all of them lie in a finite grid of balls. Balls on which F - beta excludes 0 are left
out; near the lowest that is left an interval Newton step proves a point with F(w) = beta. Which
root of the critical polynomial that is follows from the ball.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx

from derive.exact.balls import ball, real_roots
from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.feasible import BITS, feasible_distance, is_reached, value_at
from derive.explicit.critical.equations import CriticalEquations, lagrange, singular

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
        roots = all_roots(factors, data)
        value = minimum_at(problem, tuple(data))
        if value is None:
            return None
        matching = [root for root in roots if root.ball.overlaps(value)]
    if len(matching) != 1:
        raise Stopped("the root of the critical polynomial at a sample was not settled")
    return replace(matching[0], ball=value)


def all_roots(factors: Sequence[Polynomial], data: Sequence[Fraction]) -> list[CertifiedRoot]:
    """Return every real root of every factor at one point."""
    found = []
    for i, factor in enumerate(factors):
        line = coefficients_at(factor, 0, data)
        if not any(line):
            raise Stopped("the critical polynomial vanishes identically at a sample")
        roots = real_roots(line)
        found += [CertifiedRoot(root, i, k, len(roots)) for k, root in enumerate(roots)]
    return found


def coefficients_at(f: Polynomial, k: int, data: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of powers of the variable k, the first of the others at numbers."""
    line = [Fraction(0)] * (int(f.degrees()[k]) + 1)
    for exponents, c in terms(f):
        others = (*exponents[:k], *exponents[k + 1 :])
        line[exponents[k]] += c * math.prod(x**e for x, e in zip(data, others, strict=False))
    return line


@functools.lru_cache(maxsize=64)
def minimum_at(problem: ConstrainedProblem, data: tuple[Fraction, ...]) -> arb | None:
    """Return R in a ball at numbers for beta and the start; None where no w has F(w) = beta.

    Raises Stopped where the critical points could not be enclosed.
    """
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        systems = (lagrange(problem, data), singular(problem, data))
        boxes = [box for equations in systems for box in _grid(equations, w0)]
        near: list[tuple[arb, tuple[arb, ...]]] = []
        lowest = arb("inf")
        for r, w in sorted(boxes, key=lambda pair: pair[0].mid()):
            # Those that are farther than one where F may be beta do not matter.
            if r > lowest:
                continue
            left = (value_at(problem, f, w) - ball(b) for f, b in zip(problem.F, beta, strict=True))
            if all(x.contains(0) for x in left):
                near.append((r, w))
                lowest = lowest.min(r)
        if not near:
            return None
        proved = feasible_distance(problem, near[0][1], w0, beta)
        lower = (r for r, _ in near if r.lower() < near[0][0].lower())
        value = functools.reduce(arb.union, lower, near[0][0].union(proved))
        if not value.is_finite():
            raise Stopped("the enclosure of the lowest critical point is not finite")
        return value


def _grid(
    equations: CriticalEquations, w0: Sequence[Fraction]
) -> Iterator[tuple[arb, tuple[arb, ...]]]:
    """Yield |w - w_0|^2 and boxes w, among which are all real points where the equations hold."""
    axes = []
    for k, x0 in enumerate(w0):
        lines = (coefficients_at(f, equations.d + k, ()) for f in equations.values_of(k))
        roots = [x for line in lines for x in real_roots(line)]
        if not roots:
            return
        axes.append([((x - ball(x0)) * (x - ball(x0)), x) for x in roots])
    if math.prod(map(len, axes)) > MAXIMAL_GRID:
        raise Stopped("there are too many candidates for critical points")
    for pairs in itertools.product(*axes):
        yield sum((square for square, _ in pairs), arb(0)), tuple(x for _, x in pairs)


def has_weights(problem: ConstrainedProblem, data: Sequence[Fraction]) -> bool:
    """Decide whether some w has F(w) = beta; Stopped if that was not settled."""
    beta, w0 = problem.at(data)
    with ctx.workprec(BITS):
        if is_reached(problem, w0, beta):
            return True
    try:
        return minimum_at(problem, tuple(data)) is not None
    except Stopped:
        raise Stopped("it was not settled whether some w has F(w) = beta") from None
