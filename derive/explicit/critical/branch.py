"""Which root of the critical polynomial R is, interval by interval.

R of a single output is one-sided continuous and jumps at critical values of F only: M(r) =
max F on |w - w_0|^2 <= r is continuous, and R(b) = min {r : M(r) >= b} for b >= F(w_0). Between
neighbouring points where roots of the polynomial meet or leave, or F has a critical value, R is
therefore one root throughout, and a proof at one rational point settles the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import Ordering, ctx, fmpz_mpoly_ctx, fmpz_poly

from derive.exact.field.polynomial import Polynomial, factorize, terms
from derive.exact.roots import real_roots
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.feasible import BITS
from derive.explicit.critical.elimination import eliminate, names
from derive.explicit.critical.families import CriticalFamily, critical_families, split
from derive.explicit.critical.minimum_at import (
    bounded_root_at,
    check_generic,
    lowest_root_at,
    minimum_at,
)

MAXIMAL_DEGREE = 40


@dataclass(frozen=True)
class Branch:
    """R on an open interval of b.

    Attributes:
        low, high: ends, rational or in balls; None for an infinite one.
        factor: which factor of the critical polynomial; None where no w has F(w) = beta.
        index: R is this real root of the factor, the smallest is 0.
        roots: how many real roots the factor has at the samples.
        samples: the rational points at which that was proved.
    """

    low: Any
    high: Any
    factor: int | None
    index: int
    roots: int
    samples: tuple[Fraction, ...]


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


def find_branches(problem: ConstrainedProblem, factors: Sequence[Polynomial]) -> tuple[Branch, ...]:
    """Return R as a root on each interval of b = beta, or b = beta/alpha^D at alpha = 1.

    Raises:
        Stopped: the breakpoints were not found, or a sample was not settled.
    """
    plane = [_in_plane(f) for f in factors]
    ends = _breakpoints(problem, plane)
    bounds: list[Any] = [None, *ends, None]
    branches: list[Branch] = []
    for low, high in pairwise(bounds):
        sample = _between(low, high)
        factor, index, roots = _root_at(problem, plane, sample)
        last = branches[-1] if branches else None
        if last is not None and (last.factor, last.index) == (factor, index):
            roots = max(roots, last.roots)
            samples = (*last.samples, sample)
            branches[-1] = Branch(last.low, high, factor, index, roots, samples)
        else:
            branches.append(Branch(low, high, factor, index, roots, (sample,)))
    return tuple(branches)


def root_at(
    problem: ConstrainedProblem, factors: Sequence[Polynomial], data: Sequence[Fraction]
) -> tuple[Any | None, int | None, int, int]:
    """Return R at a rational point, the factor it is a root of, which root, and of how many.

    Raises:
        Stopped: it was not settled.
    """
    with ctx.workprec(BITS):
        roots = _all_roots(factors, data)
        value = _value_at(problem, factors, data, roots)
        if value is None:
            return None, None, 0, 0
        matching = [found for found in roots if found[0].overlaps(value)]
    if len(matching) != 1:
        raise Stopped("the root of the critical polynomial at a sample was not settled")
    _, factor, index, count = matching[0]
    return value, factor, index, count


def greatest_root_at(
    factors: Sequence[Polynomial], data: Sequence[Fraction]
) -> tuple[Any | None, int | None, int, int]:
    """Return the greatest real root at a rational point, as :func:`root_at` does."""
    with ctx.workprec(BITS):
        return max(_all_roots(factors, data), key=lambda found: found[0].mid())


def _all_roots(
    factors: Sequence[Polynomial], data: Sequence[Fraction]
) -> list[tuple[Any, int, int, int]]:
    """Return every real root with its factor, which it is, and of how many, at one point."""
    found = []
    for i, factor in enumerate(factors):
        line = _line(factor, data)
        if not any(line):
            raise Stopped("the critical polynomial vanishes identically at a sample")
        roots = real_roots(line)
        found += [(root, i, k, len(roots)) for k, root in enumerate(roots)]
    return found


def _value_at(
    problem: ConstrainedProblem,
    factors: Sequence[Polynomial],
    data: Sequence[Fraction],
    roots: Sequence[tuple[Any, int, int, int]],
) -> Any | None:
    """Return the minimum in a ball, None where no w has F(w) = beta."""
    try:
        minimum = minimum_at(problem, data)
    except Stopped:
        candidates = sorted((r for r, *_ in roots if not r < 0), key=lambda r: r.mid())
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
    return None if minimum is None else minimum.value


def _root_at(
    problem: ConstrainedProblem, plane: Sequence[Polynomial], sample: Fraction
) -> tuple[int | None, int, int]:
    data = [sample, *(Fraction(1) for _ in problem.symbols)]
    return root_at(problem, plane, data)[1:]


def _line(factor: Polynomial, data: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of r^0, r^1, ... at numbers for the other variables."""
    line = [Fraction(0)] * (int(factor.degrees()[0]) + 1)
    for (k, *exponents), c in terms(factor):
        value = Fraction(c)
        for x, e in zip(data, exponents, strict=False):
            value *= x**e
        line[k] += value
    return line


def _in_plane(factor: Polynomial) -> Polynomial:
    """Return the factor at alpha = 1, a polynomial in r and b."""
    ring = fmpz_mpoly_ctx.get(("r", "b"), Ordering.degrevlex)
    total: dict[tuple[int, ...], int] = {}
    for (k, power, *_), c in terms(factor):
        total[k, power] = total.get((k, power), 0) + c
    return ring.from_dict(total)


def _breakpoints(problem: ConstrainedProblem, plane: Sequence[Polynomial]) -> list[Any]:
    """Return all b at which the root that R is may change, ascending."""
    special: list[Polynomial] = []
    for i, f in enumerate(plane):
        degree = int(f.degrees()[0])
        if degree > MAXIMAL_DEGREE:
            raise Stopped("the critical polynomial is too large to follow its roots")
        leading = {(0, e): c for (k, e), c in terms(f) if k == degree}
        special.append(f.context().from_dict(leading))
        if degree > 1:
            special.append(f.discriminant(0))
        special += [f.resultant(g, 0) for g in plane[:i]]
    polynomials = [_univariate(s) for s in special]
    polynomials += [_constraint(problem, f) for f in critical_families(problem) if not f.dominant]
    values = [*_critical_values(problem), _start_value(problem)]
    polynomials += [fmpz_poly([-v.numerator, v.denominator]) for v in values]
    return _roots(polynomials)


def _univariate(polynomial: Polynomial) -> Any:
    line = [0] * (int(polynomial.degrees()[1]) + 1)
    for (_, e), c in terms(polynomial):
        line[e] += c
    if not any(line):
        raise Stopped("two factors of the critical polynomial coincide")
    return fmpz_poly(line)


def _constraint(problem: ConstrainedProblem, family: CriticalFamily) -> Any:
    """Return a polynomial in b that vanishes where a thin family has points."""
    value, *symbols = family.data
    if symbols and symbols[0].is_zero():
        return fmpz_poly([1])
    if symbols and not value.is_zero():
        # b = beta/alpha^D is constant on a thin family.
        value = value / symbols[0] ** int(problem.degree or 0)
    if not value.is_constant():
        raise Stopped("a thin family of critical points was not understood")
    number = value.value()
    return fmpz_poly([-number.numerator, number.denominator])


def _critical_values(problem: ConstrainedProblem) -> list[Fraction]:
    """Return the values of F where grad F = 0; only 0 where F is homogeneous (Euler)."""
    if problem.degree is not None:
        return [Fraction(0)]
    found = []
    for family in split(problem, problem.jacobian[0]):
        value = family.of(problem.F[0])
        if not value.is_constant():
            raise Stopped("the critical values of F were not found")
        found.append(value.value())
    return found


def _start_value(problem: ConstrainedProblem) -> Fraction:
    """Return F(w_0), at alpha = 1."""
    padding = [Fraction(0)] * (len(problem.weights) + len(problem.multipliers))
    symbols = [*padding, *(Fraction(1) for _ in problem.symbols)]
    w0 = [x.at(symbols) for x in problem.w0]
    rest = [Fraction(0)] * (len(problem.field.names) - len(w0))
    return problem.F[0].at([*w0, *rest])


def _roots(polynomials: Sequence[Any]) -> list[Any]:
    """Return the distinct real roots of polynomials, rational ones exactly, ascending."""
    factors = {str(f): f for p in polynomials for f, _ in p.factor()[1]}
    found: list[Any] = []
    with ctx.workprec(BITS):
        for factor in factors.values():
            if factor.degree() == 1:
                found.append(Fraction(-int(factor[0]), int(factor[1])))
            else:
                found += real_roots([Fraction(int(c)) for c in factor.coeffs()])
    return sorted(found, key=lambda x: _inner(x, False))


def _inner(end: Any, upper: bool) -> Fraction:
    """Return an end, or a rational bound of its ball."""
    if isinstance(end, Fraction):
        return end
    mantissa, exponent = (end.upper() if upper else end.lower()).man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _between(low: Any, high: Any) -> Fraction:
    """Return the rational number of least denominator well inside an interval."""
    if low is None:
        return Fraction(-1) if high is None else Fraction(-(-_inner(high, False) // 1) - 2)
    if high is None:
        return Fraction(_inner(low, True) // 1 + 2)
    a, b = _inner(low, True), _inner(high, False)
    if a >= b:
        raise Stopped("two breakpoints lie too close")
    return _simplest(a + (b - a) / 4, b - (b - a) / 4)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator in [low, high]."""
    whole = low // 1
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
