"""Which root of the critical polynomial R is, interval by interval.

R of a single output is one-sided continuous and jumps at critical values of F only: M(r) =
max F on |w - w_0|^2 <= r is continuous, and R(b) = min {r : M(r) >= b} for b >= F(w_0). Between
neighbouring points where roots of the polynomial meet or leave, or F has a critical value, R is
therefore one root throughout, and a proof at one rational point settles the interval.

There every real critical point is enclosed, and the lowest one shown to be one. A critical point
has each weight among the real roots of a polynomial that was proved to vanish there, so all of them
lie in a finite grid of balls. Balls on which F - beta excludes 0 are left out; near the lowest that
is left an interval Newton step proves a point with F(w) = beta. Which root of the critical
polynomial that is follows from the ball.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from flint import Ordering, arb, ctx, fmpz_mpoly_ctx, fmpz_poly
from sympy import Abs, Expr

from derive.exact.balls import ball, fraction, real_roots
from derive.exact.field.polynomial import Polynomial, by_powers, evaluate, terms
from derive.explicit.constrained import (
    BITS,
    ConstrainedProblem,
    Stopped,
    feasible_distance,
    height_at,
    is_reached,
    value_at,
)
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
        boxes = [box for equations in systems for box in _grid(problem, equations, w0)]
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
    problem: ConstrainedProblem, equations: CriticalEquations, w0: Sequence[Fraction]
) -> Iterator[tuple[arb, tuple[arb, ...]]]:
    """Yield costs and boxes w, among which are all real points where the equations hold."""
    axes = []
    for k, _ in enumerate(w0):
        lines = (coefficients_at(f, equations.d + k, ()) for f in equations.values_of(k))
        roots = [x for line in lines for x in real_roots(line)]
        if not roots:
            return
        axes.append(roots)
    if math.prod(map(len, axes)) > MAXIMAL_GRID:
        raise Stopped("there are too many candidates for critical points")
    for w in itertools.product(*axes):
        yield height_at(problem, w, w0), w


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


MAXIMAL_DEGREE = 40

End: TypeAlias = arb | Fraction
"""Of an interval: rational, or in a ball."""


@dataclass(frozen=True)
class RootInterval:
    """R on an open interval of b, None for an infinite end, as proved at rational samples.

    It is the real root with this index, the smallest is 0, of so many roots of a factor of the
    critical polynomial; the factor is None where no w has F(w) = beta. At *inner* points, where
    roots may meet, and at the ends R is a limit (:func:`limit_at`). What is only in balls, and
    follows from the rest, is not compared.
    """

    low: End | None = field(compare=False)
    high: End | None = field(compare=False)
    factor: int | None
    index: int
    roots: int
    samples: tuple[Fraction, ...]
    inner: tuple[End, ...] = field(default=(), compare=False)

    def size(self, b: Expr) -> Expr:
        """Return |b|: b or -b where the interval is on one side of 0."""
        if self.low is not None and self.low >= 0:
            return b
        return -b if self.high is not None and self.high <= 0 else Abs(b)

    def beside(self, b: Fraction, step: int) -> Fraction | None:
        """Return a point inside with no special point between it and b: b, if it is not special.

        Else it is below b for step = -1, above for 1; None where b is not here, or too close to
        a special point to be told from it.
        """
        ends = [self.low, *self.inner, self.high]
        if b not in ends:
            return b if any(_less(x, b) and _less(b, y) for x, y in pairwise(ends)) else None
        k = ends.index(b) + step
        if not 0 <= k < len(ends):
            return None
        return _between(ends[k], b) if step < 0 else _between(b, ends[k])


def find_intervals(
    problem: ConstrainedProblem, factors: Sequence[Polynomial]
) -> tuple[RootInterval, ...]:
    """Return R as a root on each interval of b = beta, or b = beta/alpha^D at alpha = 1.

    R stays on its root until that meets another: factors on which R is nowhere may come in by
    resultants, and what their own roots do between each other does not matter.

    Raises Stopped where the breakpoints were not found, or a sample was not settled.
    """
    ring = fmpz_mpoly_ctx.get(("r", "b"), Ordering.degrevlex)
    values = (*ring.gens(), ring.constant(1))
    plane = [evaluate(f, values, ring.constant) for f in factors]
    # F has a critical value at 0 alone where it is homogeneous.
    critical = [_linear(Fraction(0))]
    if problem.degree is None:
        b, outputs = fmpz_poly([0, 1]), singular(problem, [None]).outputs
        critical = [evaluate(f, [b] * len(f.degrees()), lambda c: fmpz_poly([c])) for f in outputs]
    used: set[int] = set()
    while True:
        found = _intervals(problem, plane, _breakpoints(problem, critical, plane, used))
        new = {x.factor for x in found if x.factor is not None}
        if new <= used:
            return tuple(found)
        used |= new


def _intervals(
    problem: ConstrainedProblem, plane: Sequence[Polynomial], ends: Sequence[End]
) -> list[RootInterval]:
    """Return R between neighbouring points, in one where it is the same root."""
    merged: list[RootInterval] = []
    for low, high in pairwise([None, *ends, None]):
        sample = _between(low, high)
        root = root_at(problem, plane, [sample, *(Fraction(1) for _ in problem.symbols)])
        factor, index, roots = (root.factor, root.index, root.roots) if root else (None, 0, 0)
        new = RootInterval(low, high, factor, index, roots, (sample,))
        if merged and (merged[-1].factor, merged[-1].index) == (factor, index):
            last = merged.pop()
            inner = last.inner if low is None else (*last.inner, low)
            samples, roots = (*last.samples, sample), max(last.roots, roots)
            new = replace(last, high=high, roots=roots, samples=samples, inner=inner)
        merged.append(new)
    return merged


def limit_at(
    factor: Polynomial, index: int, b: Fraction, inside: Fraction, symbols: int
) -> tuple[arb, int, int] | None:
    """Return the limit at b of the real root with this index, and which of how many roots it is.

    No two roots meet between *inside* and b, nor at b where both are one. Rational cuts between the
    roots at b, and above them, are no roots at b, nor nearer to b than some point: from there on
    the root stays between its cuts, so that its limit is the root at b between them, or infinite:
    None.
    """
    ones = [Fraction(1)] * symbols
    roots = real_roots(coefficients_at(factor, 0, [b, *ones]))
    if inside == b:
        return roots[index], index, len(roots)
    cuts = [(_above(x) + _below(y)) / 2 for x, y in pairwise(roots)]
    cuts += [_above(x) + 1 for x in roots[-1:]]
    for cut in cuts:
        for x in real_roots(coefficients_at(factor, 1, [cut])):
            near = _above(x) if inside < b else _below(x)
            if min(inside, b) < near < max(inside, b):
                inside = (near + b) / 2
    root = real_roots(coefficients_at(factor, 0, [inside, *ones]))[index]
    cell = sum(bool(root > ball(cut)) for cut in cuts)
    if any(root.overlaps(ball(cut)) for cut in cuts):
        raise Stopped("the limit of a root at a breakpoint was not settled")
    return (roots[cell], cell, len(roots)) if cell < len(roots) else None


def _breakpoints(
    problem: ConstrainedProblem,
    critical: Sequence[fmpz_poly],
    plane: Sequence[Polynomial],
    used: Collection[int],
) -> list[End]:
    """Return all b at which R may leave its root of the factors that are used, ascending."""
    special: list[Polynomial] = []
    for i, f in enumerate(plane):
        # Where the range of F ends, if not at a critical value, R goes to infinity.
        degree = int(f.degrees()[0])
        special.append(by_powers(f, 0)[degree])
        if i not in used:
            continue
        if degree > MAXIMAL_DEGREE:
            raise Stopped("the critical polynomial is too large to follow its roots")
        if degree > 1:
            special.append(f.discriminant(0))
        special += [f.resultant(g, 0) for k, g in enumerate(plane) if k < i or k not in used]
    if any(s.is_zero() for s in special):
        raise Stopped("two factors of the critical polynomial coincide")
    b = fmpz_poly([0, 1])
    polynomials = [evaluate(s, (b, b), lambda c: fmpz_poly([c])) for s in special]
    _, w0 = problem.at([Fraction(0), *(Fraction(1) for _ in problem.symbols)])
    return _roots([*polynomials, *critical, *(_linear(v) for v in problem.outputs_at(w0))])


def _linear(root: Fraction) -> fmpz_poly:
    return fmpz_poly([-root.numerator, root.denominator])


def _roots(polynomials: Sequence[fmpz_poly]) -> list[End]:
    """Return the distinct real roots of polynomials, rational ones exactly, ascending."""
    factors = {str(f): f for p in polynomials for f, _ in p.factor()[1]}
    found: list[End] = []
    with ctx.workprec(BITS):
        for factor in factors.values():
            if factor.degree() == 1:
                found.append(Fraction(-int(factor[0]), int(factor[1])))
            else:
                found += real_roots([Fraction(int(c)) for c in factor.coeffs()])
    return sorted(found, key=_below)


def _less(x: End | None, y: End | None) -> bool:
    """Tell whether x < y is proved; None is an infinite end."""
    return x is None or y is None or _above(x) < _below(y)


def _below(end: End) -> Fraction:
    """Return an end, or the lower rational bound of its ball."""
    return end if isinstance(end, Fraction) else fraction(end.lower())


def _above(end: End) -> Fraction:
    """Return an end, or the upper rational bound of its ball."""
    return end if isinstance(end, Fraction) else fraction(end.upper())


def _between(low: End | None, high: End | None) -> Fraction:
    """Return the rational number of least denominator well inside an interval."""
    if low is None:
        return Fraction(-1) if high is None else Fraction(-(-_below(high) // 1) - 2)
    if high is None:
        return Fraction(_above(low) // 1 + 2)
    a, b = _above(low), _below(high)
    if a >= b:
        raise Stopped("two breakpoints lie too close")
    return _simplest(a + (b - a) / 4, b - (b - a) / 4)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator in [low, high]."""
    whole = low // 1
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
