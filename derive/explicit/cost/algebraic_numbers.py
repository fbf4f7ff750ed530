"""Names of real algebraic numbers: radicals, sums of cosines, roots of polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from math import comb, gcd
from typing import Any

import sympy
from flint import arb, arb_mat, ctx, fmpq, fmpq_poly, fmpz_poly
from sympy import Expr, Symbol

from derive.exact.balls import fraction
from derive.exact.roots import real_roots
from derive.explicit.cost.feasible import BITS

MAXIMAL_COSINE_DEGREE = 5
MAXIMAL_ORDER = 36
"""Of the roots of unity whose cosines are tried as names of algebraic numbers."""


def conjugates(f: Any) -> Iterator[Callable[[Any], Expr]]:
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
    order, minimal, s = found
    for j in _coprime(order):
        yield functools.partial(_as_cosines, j=j, order=order, minimal=minimal, s=s)


def _coprime(order: int) -> list[int]:
    return [j for j in range(1, order // 2 + 1) if gcd(j, order) == 1]


def root_name(f: Any, index: int) -> Expr:
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
        order, minimal, s = found
        with ctx.workprec(BITS):
            roots = real_roots([as_fraction(c) for c in f.coeffs()])
            for j in _coprime(order):
                c = 2 * arb.cos_pi_fmpq(fmpq(2 * j, order))
                value = sum((a * c**k for k, a in enumerate(s.coeffs())), arb(0))
                if [k for k, x in enumerate(roots) if x.overlaps(value)] == [index]:
                    return _as_cosines(fmpq_poly([0, 1]), j, order, minimal, s)
    if 2 * index < f.degree() and not any(f.coeffs()[1::2]):
        # Roots of f(x) = f(-x) come in pairs: the positive one names both.
        return -root_name(f, f.degree() - 1 - index)
    return sympy.CRootOf(at_value(f, Symbol("x")), index)


def _radicals(f: Any) -> list[Expr]:
    if f.degree() == 1:
        return [-rational(f[0]) / rational(f[1])]
    c, b, a = (rational(x) for x in f.coeffs())
    half = sympy.sqrt(b**2 - 4 * a * c) / (2 * a)
    return [-b / (2 * a) + half, -b / (2 * a) - half]


def at_value(c: Any, value: Expr) -> Expr:
    """Return a polynomial at an expression."""
    return sympy.expand(sympy.Add(*(rational(a) * value**k for k, a in enumerate(c.coeffs()))))


def _as_cosines(c: Any, j: int, order: int, minimal: Any, s: Any) -> Expr:
    """Return c(x) at x = s(2 cos t), t = 2 pi j/m, as a sum of cosines of multiples of t."""
    line = [Fraction(0)] * (order // 2 + 1)
    for k, a in enumerate((c(s) % minimal).coeffs()):
        for i in range(k // 2 + 1):
            # (2 cos t)^k = sum_i binom(k, i) 2 cos((k - 2 i) t), halved at k = 2 i.
            line[k - 2 * i] += as_fraction(a) * comb(k, i)
    if sympy.isprime(order):
        # 1 + 2 cos(t) + 2 cos(2 t) + ... = 0: as few terms as may be.
        common = max(line, key=line.count)
        line = [x - common for x in line]
    angle = 2 * sympy.pi * sympy.Rational(j, order)
    numbers = [sympy.Rational(x.numerator, x.denominator) for x in line]
    terms = (2 * x * sympy.cos(k * angle) for k, x in enumerate(numbers) if k)
    return sympy.Add(numbers[0], *terms)


def cosines(f: Any) -> tuple[int, Any, Any] | None:
    """Return m, the minimal polynomial of c = 2 cos(2 pi/m), and s with f(s(c)) = 0; or None.

    s is proposed by interpolating the roots, and accepted by exact division.
    """
    degree = f.degree()
    found: list[tuple[int, Any, Any]] = []
    with ctx.workprec(BITS):
        roots = real_roots([as_fraction(c) for c in f.coeffs()])
        if degree > MAXIMAL_COSINE_DEGREE or len(roots) < degree:
            return None
        for order in range(3, MAXIMAL_ORDER):
            angles = _coprime(order)
            if len(angles) != degree:
                continue
            minimal = fmpq_poly(fmpz_poly.cos_minpoly(order))
            values = [2 * arb.cos_pi_fmpq(fmpq(2 * j, order)) for j in angles]
            powers = arb_mat([[v**k for k in range(degree)] for v in values])
            for chosen in permutations(roots):
                entries = powers.solve(arb_mat([[x] for x in chosen])).entries()
                near = [fraction(e.mid()).limit_denominator(2**20) for e in entries]
                s = fmpq_poly([as_fmpq(a) for a in near])
                if (f(s) % minimal).is_zero():
                    found.append((order, minimal, s))
    return min(found, key=lambda x: (sum(map(bool, x[2].coeffs())), x[0]), default=None)


def as_fmpq(value: Fraction) -> Any:
    """Return a fraction as FLINT's rational number."""
    return fmpq(value.numerator, value.denominator)


def as_fraction(value: Any) -> Fraction:
    """Return FLINT's rational number as a fraction."""
    return Fraction(int(value.p), int(value.q))


def rational(value: Any) -> Expr:
    """Return FLINT's rational number as SymPy's."""
    return sympy.Rational(int(value.p), int(value.q))
