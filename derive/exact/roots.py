"""Real roots of rational polynomials in balls, and which of them a branch is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import cast

from flint import acb, arb, ctx, fmpq, fmpz_poly

PRECISIONS = (64, 256, 1024)


def real_roots(coefficients: Sequence[Fraction]) -> list[arb]:
    """Return disjoint balls, ascending, each with exactly one real root of a squarefree part.

    Args:
        coefficients: of t^0, t^1, ..., not all zero.

    >>> [round(float(x.mid()), 3) for x in real_roots([Fraction(-2), Fraction(0), Fraction(1)])]
    [-1.414, 1.414]
    """
    scale = lcm(*(c.denominator for c in coefficients))
    polynomial = fmpz_poly([int(c * scale) for c in coefficients])
    factors = [factor for factor, _ in polynomial.factor()[1]]
    bits = ctx.prec
    while True:
        with ctx.workprec(bits):
            # Roots of one factor come isolated, real ones with imaginary part exactly 0.
            found = [
                pair
                for factor in factors
                for pair in cast("list[tuple[acb, int]]", factor.complex_roots())
            ]
        roots = sorted((z.real for z, _ in found if z.imag == 0), key=lambda x: x.mid())
        # Those of two factors differ, and so do their balls at some precision.
        if not any(a.overlaps(b) for a, b in pairwise(roots)):
            return roots
        bits *= 2


def branch_from_above(coefficients: Sequence[Fraction], value: Fraction) -> int | None:
    """Return n when *value* is the n-th largest real root (0 for the largest), else None.

    The ball comparisons are proofs: a root counts as above only if its ball lies above.
    """
    if sum(c * value**k for k, c in enumerate(coefficients)) != 0:
        return None
    above = 0
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            exact = arb(fmpq(value.numerator, value.denominator))
            roots = real_roots(coefficients)
            touching = [r for r in roots if r.overlaps(exact)]
            above = sum(1 for r in roots if r > exact)
            if len(touching) == 1:
                return above
    return None
