"""The polynomial of all critical values of |w - w_0|^2, and which root of it the minimum is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import Ordering, arb, ctx, fmpz_mpoly_ctx

from derive.exact.balls import real_roots
from derive.exact.field.polynomial import Polynomial, factorize, terms
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.feasible import BITS
from derive.explicit.critical.critical_families import CriticalFamily, critical_families
from derive.explicit.critical.elimination import eliminate, names
from derive.explicit.critical.minimum_at import (
    bounded_root_at,
    check_generic,
    lowest_root_at,
    minimum_at,
)


@dataclass(frozen=True)
class CertifiedRoot:
    """A real root of a critical polynomial at one point.

    Attributes:
        ball: encloses it.
        factor: which factor of the critical polynomial it is a root of.
        index, roots: it is this real root of the factor, the smallest is 0, of so many.
    """

    ball: arb
    factor: int
    index: int
    roots: int


def critical_factors(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    """Return the irreducible factors of the polynomial P(r; beta, start) of all critical points.

    They are polynomials in r, the outputs and the start symbols; those without r, which
    vanish for special beta only, are left out.

    Raises:
        Stopped: the critical points, or their polynomial, were not found.
    """
    found: dict[str, Polynomial] = {}
    for family in critical_families(problem):
        if family.dominant:
            for factor in _factors(problem, family):
                if int(factor.degrees()[0]):
                    found.setdefault(str(factor), factor)
    return tuple(found[text] for text in sorted(found))


def _factors(problem: ConstrainedProblem, family: CriticalFamily) -> list[Polynomial]:
    relation = eliminate(family, family.distance, 2)
    ring = fmpz_mpoly_ctx.get(("r", *names(problem)), Ordering.degrevlex)
    total: dict[tuple[int, ...], int] = {}
    for k, coefficient in enumerate(relation.coefficients):
        for exponents, c in terms(coefficient.numerator):
            total[k, *exponents] = c
    return [f for f, _ in factorize(ring.from_dict(total))[1]]


def root_at(
    problem: ConstrainedProblem, factors: Sequence[Polynomial], data: Sequence[Fraction]
) -> CertifiedRoot | None:
    """Return R at a rational point as a root; None where no w has F(w) = beta.

    Args:
        problem: the constrained problem.
        factors: of its critical polynomial.
        data: numbers for the outputs and the start symbols.

    Raises:
        Stopped: it was not settled.
    """
    with ctx.workprec(BITS):
        roots = _all_roots(factors, data)
        value = _value_at(problem, factors, data, [root.ball for root in roots])
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


def _value_at(
    problem: ConstrainedProblem,
    factors: Sequence[Polynomial],
    data: Sequence[Fraction],
    roots: Sequence[arb],
) -> arb | None:
    """Return the minimum in a ball, None where no w has F(w) = beta."""
    try:
        return minimum_at(problem, data)
    except Stopped:
        candidates = sorted((r for r in roots if not r < 0), key=lambda r: r.mid())
        bounded = bounded_root_at(problem, factors, data, candidates)
        if bounded is not None:
            return bounded
        if any(a.overlaps(b) for a, b in pairwise(candidates)):
            raise
        if not candidates:
            # A least w would give a root r >= 0.
            check_generic(problem, data)
            return None
        lowest = lowest_root_at(problem, data, candidates)
        if lowest is None:
            raise
        return lowest


def coefficients_at(factor: Polynomial, data: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of r^0, r^1, ... at numbers for the other variables."""
    line = [Fraction(0)] * (int(factor.degrees()[0]) + 1)
    for (k, *exponents), c in terms(factor):
        value = Fraction(c)
        for x, e in zip(data, exponents, strict=False):
            value *= x**e
        line[k] += value
    return line
