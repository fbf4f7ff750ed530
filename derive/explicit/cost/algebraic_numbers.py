"""Names of real algebraic numbers: radicals, sums of cosines, roots of polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import comb, gcd

import sympy
from flint import arb, arb_mat, ctx, fmpq, fmpq_poly, fmpz_poly
from sympy import Expr, Symbol

from derive.exact.balls import fraction
from derive.exact.rationals import as_fmpq, as_fraction, rational, roots_of
from derive.explicit.cost.feasible import BITS

MAXIMAL_COSINE_DEGREE = 5
MAXIMAL_ORDER = 36
"""Of the roots of unity whose cosines are tried as names of algebraic numbers."""


@dataclass(frozen=True)
class Cosines:
    """The roots of f as s(c), c = 2 cos(2 pi j/m) for j prime to m, the order; f(s(c)) = 0."""

    order: int
    minimal: fmpq_poly
    s: fmpq_poly

    def value(self, j: int) -> arb:
        """Return s(c) in a ball."""
        c = 2 * arb.cos_pi_fmpq(fmpq(2 * j, self.order))
        return sum((a * c**k for k, a in enumerate(self.s.coeffs())), arb(0))

    def sum_of(self, p: fmpq_poly, j: int) -> Expr:
        """Return p(x) at x = s(2 cos t), t = 2 pi j/m, as a sum of cosines of multiples of t."""
        line = [Fraction(0)] * (self.order // 2 + 1)
        for k, a in enumerate((p(self.s) % self.minimal).coeffs()):
            for i in range(k // 2 + 1):
                # (2 cos t)^k = sum_i binom(k, i) 2 cos((k - 2 i) t), halved at k = 2 i.
                line[k - 2 * i] += as_fraction(a) * comb(k, i)
        if sympy.isprime(self.order):
            # 1 + 2 cos(t) + 2 cos(2 t) + ... = 0: as few terms as may be.
            common = max(line, key=line.count)
            line = [x - common for x in line]
        angle = 2 * sympy.pi * sympy.Rational(j, self.order)
        numbers = [sympy.Rational(x.numerator, x.denominator) for x in line]
        terms = (2 * x * sympy.cos(k * angle) for k, x in enumerate(numbers) if k)
        return sympy.Add(numbers[0], *terms)


def conjugates(f: fmpq_poly) -> Iterator[Callable[[fmpq_poly], Expr]]:
    """Yield, for each root of f, what gives an element of Q(x) its name at that root.

    >>> [str(name(fmpq_poly([0, 1]))) for name in conjugates(fmpq_poly([-1, -1, 1]))]
    ['1/2 + sqrt(5)/2', '1/2 - sqrt(5)/2']
    >>> [str(name(fmpq_poly([0, 1]))) for name in conjugates(fmpq_poly([-1, -2, 1, 1]))][0]
    '2*cos(2*pi/7)'
    """
    degree = f.degree()
    if degree <= 2:
        for root in _radicals(f):
            yield functools.partial(at_value, value=root)
        return
    found = cosines(f)
    if found is None:
        x = Symbol("x")
        for k in range(degree):
            yield functools.partial(at_value, value=sympy.CRootOf(at_value(f, x), k))
        return
    for j in _coprime(found.order):
        yield functools.partial(found.sum_of, j=j)


def _coprime(order: int) -> list[int]:
    return [j for j in range(1, order // 2 + 1) if gcd(j, order) == 1]


def root_name(f: fmpq_poly, index: int) -> Expr:
    """Return the name of one of the roots of f, which are real; the smallest is 0.

    >>> [str(root_name(fmpq_poly([-1, -2, 1, 1]), k)) for k in range(3)]
    ['-2*cos(pi/7)', '-2*cos(3*pi/7)', '2*cos(2*pi/7)']
    """
    if f.degree() <= 2:
        # The first radical is the greater root where the first coefficient is positive.
        radicals = _radicals(f)
        return radicals[index] if f.leading_coefficient() < 0 else radicals[::-1][index]
    found = cosines(f)
    if found is not None:
        with ctx.workprec(BITS):
            roots = roots_of(f)
            for j in _coprime(found.order):
                value = found.value(j)
                if [k for k, x in enumerate(roots) if x.overlaps(value)] == [index]:
                    return found.sum_of(fmpq_poly([0, 1]), j)
    if 2 * index < f.degree() and not any(f.coeffs()[1::2]):
        # Roots of f(x) = f(-x) come in pairs: the positive one names both.
        return -root_name(f, f.degree() - 1 - index)
    return sympy.CRootOf(at_value(f, Symbol("x")), index)


def _radicals(f: fmpq_poly) -> list[Expr]:
    if f.degree() == 1:
        return [-rational(f[0]) / rational(f[1])]
    c, b, a = (rational(x) for x in f.coeffs())
    half = sympy.sqrt(b**2 - 4 * a * c) / (2 * a)
    return [-b / (2 * a) + half, -b / (2 * a) - half]


def at_value(c: fmpq_poly, value: Expr) -> Expr:
    """Return a polynomial at an expression."""
    return sympy.expand(sympy.Add(*(rational(a) * value**k for k, a in enumerate(c.coeffs()))))


def cosines(f: fmpq_poly) -> Cosines | None:
    """Return the roots of f as sums of cosines, or None.

    s is proposed by interpolating the roots, and accepted by exact division.
    """
    degree = f.degree()
    found: list[Cosines] = []
    with ctx.workprec(BITS):
        roots = roots_of(f)
        if degree > MAXIMAL_COSINE_DEGREE or len(roots) < degree:
            return None
        for order in range(3, MAXIMAL_ORDER):
            if len(_coprime(order)) == degree:
                minimal = fmpq_poly(fmpz_poly.cos_minpoly(order))
                proposed = (Cosines(order, minimal, s) for s in _interpolated(order, roots))
                found += [x for x in proposed if (f(x.s) % minimal).is_zero()]
    return min(found, key=lambda x: (sum(map(bool, x.s.coeffs())), x.order), default=None)


def _interpolated(order: int, roots: Sequence[arb]) -> Iterator[fmpq_poly]:
    """Yield polynomials that nearly take the c of an order to the roots, one for each matching."""
    values = [2 * arb.cos_pi_fmpq(fmpq(2 * j, order)) for j in _coprime(order)]
    powers = arb_mat([[v**k for k in range(len(roots))] for v in values])
    for chosen in permutations(roots):
        entries = powers.solve(arb_mat([[x] for x in chosen])).entries()
        near = [fraction(e.mid()).limit_denominator(2**20) for e in entries]
        yield fmpq_poly([as_fmpq(a) for a in near])
