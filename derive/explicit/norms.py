"""Closed forms of R_F: sums of roots of quadratic forms, whose coefficients may be algebraic.

The coefficients of a form lie in Q(x), x a root of an irreducible polynomial f whose roots are all
real; the sum runs over these roots. Whatever is shown in Q(x) holds for every one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import comb, gcd
from typing import Any

import sympy
from flint import arb, arb_mat, ctx, fmpq, fmpq_poly, fmpz_poly
from sympy import Expr, Symbol

from derive.exact.balls import fraction
from derive.exact.roots import real_roots
from derive.explicit.feasible import BITS
from derive.verdict import Identity

MAXIMAL_COSINE_DEGREE = 5
MAXIMAL_ORDER = 36
"""Of the roots of unity whose cosines are tried as names of algebraic numbers."""

Form = Mapping[tuple[int, int], Any]
"""Coefficients of beta_i beta_j, i <= j: polynomials in x."""


@dataclass(frozen=True)
class Norm:
    """The sum over the roots x of f of weight q(beta; x)^(1/power).

    Attributes:
        minimal: f.
        form: q, not negative at real beta.
        weight, power: numbers.
    """

    minimal: Any
    form: Form
    weight: Fraction
    power: int

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return the sum as an expression."""
        weight = sympy.Rational(self.weight.numerator, self.weight.denominator)
        total = sympy.S.Zero
        for name in conjugates(self.minimal):
            number, form = self._form(betas, name)
            total += weight * sympy.root(number, self.power) * sympy.root(form, self.power)
        return total

    def _form(self, betas: Sequence[Symbol], name: Callable[[Any], Expr]) -> tuple[Expr, Expr]:
        """Return q as a number and a form with like coefficients collected."""
        by_coefficient: dict[str, tuple[Any, list[Expr]]] = {}
        for (i, j), c in self.form.items():
            known = by_coefficient.setdefault(str(c), (c, []))
            known[1].append(betas[i] * betas[j])
        parts = [(name(c), sympy.Add(*products)) for c, products in by_coefficient.values()]
        first = parts[0][0] if parts and parts[0][0].is_Rational else sympy.S.One
        total = sympy.Add(*(sympy.expand(c / first) * products for c, products in parts))
        if self.minimal.degree() > 1:
            return first, total
        number, form = sympy.factor(total).as_content_primitive()
        return first * number, form

    def at(self, beta: Sequence[Fraction]) -> Any:
        """Return the sum in a ball at rational beta."""
        value = fmpq_poly()
        for (i, j), c in self.form.items():
            value += c * _fmpq(beta[i] * beta[j])
        value %= self.minimal
        if value.is_zero():
            return arb(0)
        # Not 0 in Q(x), so at no root of f.
        roots = real_roots([_fraction(c) for c in self.minimal.coeffs()])
        line = [arb(c) for c in value.coeffs()]
        values = (sum((c * x**k for k, c in enumerate(line)), arb(0)) for x in roots)
        total = sum((y.root(self.power) for y in values), arb(0))
        return total * arb(_fmpq(self.weight))

    def text(self, betas: Sequence[Symbol]) -> str:
        """Return q in beta and x as text."""
        x = Symbol("x")
        return str(sympy.Mul(*self._form(betas, lambda c: _in(c, x))))


@dataclass(frozen=True)
class Linear:
    """<c, beta>."""

    coefficients: tuple[Fraction, ...]

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return it as an expression."""
        pairs = zip(self.coefficients, betas, strict=True)
        return sympy.Add(*(sympy.Rational(c.numerator, c.denominator) * b for c, b in pairs))

    def at(self, beta: Sequence[Fraction]) -> Any:
        """Return its value as a ball."""
        pairs = zip(self.coefficients, beta, strict=True)
        return arb(_fmpq(sum((c * b for c, b in pairs), Fraction(0))))


@dataclass(frozen=True)
class ClosedCost:
    """R_F, the greatest of some sums.

    Attributes:
        sums: what is added up in each.
        onto: whether some w has F(w) = beta for every beta, as was proved.
        reason: why this is R_F.
        evidence: the identities behind it.
    """

    sums: tuple[tuple[Norm | Linear, ...], ...]
    onto: bool
    reason: str
    evidence: tuple[Identity, ...]

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return R_F as an expression.

        The greater of sqrt(s + t) and sqrt(s - t) is sqrt(s + |t|).
        """
        sums = [sympy.Add(*(part.expression(betas) for part in parts)) for parts in self.sums]
        if len(sums) == 2 and not any(x.is_Add or x.has(sympy.Abs) for x in sums):
            first, second = (sympy.expand(x**2) for x in sums)
            s, t = (sympy.factor(sympy.expand(x) / 2) for x in (first + second, first - second))
            if s.is_polynomial(*betas) and t.is_polynomial(*betas):
                return _joined(s, t)
        return sympy.Max(*sums)

    def at(self, beta: Sequence[Fraction]) -> Any:
        """Return R_F in a ball, at beta with some w."""
        with ctx.workprec(BITS):
            totals = [sum((part.at(beta) for part in parts), arb(0)) for parts in self.sums]
            return functools.reduce(lambda x, y: x.max(y), totals)


def _joined(s: Expr, t: Expr) -> Expr:
    """Return sqrt(s + |t|) with the numbers in front of both kept apart."""
    number, s = s.as_content_primitive()
    return sympy.sqrt(number) * sympy.sqrt(s + sympy.Abs(t / number))


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
            yield functools.partial(_in, value=root)
        return
    found = cosines(f)
    if found is None:
        x = Symbol("x")
        for k in range(degree):
            yield functools.partial(_in, value=sympy.CRootOf(_in(f, x), k))
        return
    order, minimal, s = found
    for j in range(1, order // 2 + 1):
        if gcd(j, order) == 1:
            yield functools.partial(_as_cosines, j=j, order=order, minimal=minimal, s=s)


def _radicals(f: Any) -> list[Expr]:
    if f.degree() == 1:
        return [-rational(f[0]) / rational(f[1])]
    c, b, a = (rational(x) for x in f.coeffs())
    half = sympy.sqrt(b**2 - 4 * a * c) / (2 * a)
    return [-b / (2 * a) + half, -b / (2 * a) - half]


def _in(c: Any, value: Expr) -> Expr:
    """Return a polynomial at an expression."""
    return sympy.expand(sympy.Add(*(rational(a) * value**k for k, a in enumerate(c.coeffs()))))


def _as_cosines(c: Any, j: int, order: int, minimal: Any, s: Any) -> Expr:
    """Return c(x) at x = s(2 cos t), t = 2 pi j/m, as a sum of cosines of multiples of t."""
    line = [Fraction(0)] * (order // 2 + 1)
    for k, a in enumerate((c(s) % minimal).coeffs()):
        for i in range(k // 2 + 1):
            # (2 cos t)^k = sum_i binom(k, i) 2 cos((k - 2 i) t), halved at k = 2 i.
            line[k - 2 * i] += _fraction(a) * comb(k, i)
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
        roots = real_roots([_fraction(c) for c in f.coeffs()])
        if degree > MAXIMAL_COSINE_DEGREE or len(roots) < degree:
            return None
        for order in range(3, MAXIMAL_ORDER):
            angles = [j for j in range(1, order // 2 + 1) if gcd(j, order) == 1]
            if len(angles) != degree:
                continue
            minimal = fmpq_poly(fmpz_poly.cos_minpoly(order))
            values = [2 * arb.cos_pi_fmpq(fmpq(2 * j, order)) for j in angles]
            powers = arb_mat([[v**k for k in range(degree)] for v in values])
            for chosen in permutations(roots):
                entries = powers.solve(arb_mat([[x] for x in chosen])).entries()
                near = [fraction(e.mid()).limit_denominator(2**20) for e in entries]
                s = fmpq_poly([_fmpq(a) for a in near])
                if (f(s) % minimal).is_zero():
                    found.append((order, minimal, s))
    return min(found, key=lambda x: (sum(map(bool, x[2].coeffs())), x[0]), default=None)


def _fmpq(value: Fraction) -> Any:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def rational(value: Any) -> Expr:
    """Return FLINT's rational number as SymPy's."""
    return sympy.Rational(int(value.p), int(value.q))
