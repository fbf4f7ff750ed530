"""Closed forms of R_F: sums of roots of quadratic forms, whose coefficients may be algebraic.

The coefficients of a form lie in Q(x), x a root of an irreducible polynomial f whose roots are all
real; the sum runs over these roots. Whatever is shown in Q(x) holds for every one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Protocol, TypeAlias

import sympy
from flint import arb, ctx, fmpq_poly
from sympy import Expr, Symbol

from derive.exact.balls import ball
from derive.exact.rationals import as_fmpq, rational, roots_of
from derive.explicit.cost.feasible import BITS
from derive.verdict import Identity

QuadraticForm: TypeAlias = Mapping[tuple[int, int], fmpq_poly]
"""Coefficients of beta_i beta_j, i <= j: polynomials in x."""


def form_of(A: Sequence[Sequence[fmpq_poly]]) -> QuadraticForm:
    """Return <x, A x> for a symmetric A."""
    places = combinations_with_replacement(range(len(A)), 2)
    return {(i, j): A[i][j] * (1 if i == j else 2) for i, j in places if not A[i][j].is_zero()}


@dataclass(frozen=True)
class Norm:
    """The sum over the roots x of f, *minimal*, of weight q(beta; x)^(1/power), q >= 0."""

    minimal: fmpq_poly
    form: QuadraticForm
    weight: Fraction
    power: int

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return the sum as an expression."""
        total = sympy.S.Zero
        for k in range(self.minimal.degree()):
            name = functools.partial(at_value, value=root_name(self.minimal, k))
            first, second = (sympy.root(x, self.power) for x in self._form(betas, name))
            total += rational(as_fmpq(self.weight)) * first * second
        return total

    def _form(
        self, betas: Sequence[Symbol], name: Callable[[fmpq_poly], Expr]
    ) -> tuple[Expr, Expr]:
        """Return q as a number and a form with like coefficients collected."""
        by_coefficient: dict[str, tuple[fmpq_poly, list[Expr]]] = {}
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

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return the sum in a ball at rational beta."""
        products = (c * as_fmpq(beta[i] * beta[j]) for (i, j), c in self.form.items())
        value = sum(products, fmpq_poly()) % self.minimal
        if value.is_zero():
            return arb(0)
        # Not 0 in Q(x), so at no root of f.
        roots = roots_of(self.minimal)
        line = [arb(c) for c in value.coeffs()]
        values = (sum((c * x**k for k, c in enumerate(line)), arb(0)) for x in roots)
        total = sum((y.root(self.power) for y in values), arb(0))
        return total * ball(self.weight)

    def text(self, betas: Sequence[Symbol]) -> str:
        """Return q in beta and x as text."""
        x = Symbol("x")
        return str(sympy.Mul(*self._form(betas, lambda c: at_value(c, x))))


@dataclass(frozen=True)
class Multiple:
    """x beta_i, i the *output*: x is a root of a polynomial with real roots; the smallest is 0."""

    minimal: fmpq_poly
    index: int
    output: int = 0

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return it as an expression."""
        return root_name(self.minimal, self.index) * betas[self.output]

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball."""
        return roots_of(self.minimal)[self.index] * ball(beta[self.output])


class CostTerm(Protocol):
    """A function of beta that closed forms are made of."""

    def expression(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return it as an expression; None where it has none."""

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball."""


@dataclass(frozen=True)
class ClosedCost:
    """R_F, the greatest of some sums, why, and the identities behind it.

    *onto* tells whether it was proved that every beta has some w with F(w) = beta.
    """

    sums: tuple[tuple[CostTerm, ...], ...]
    onto: bool
    reason: str
    evidence: tuple[Identity, ...]

    def expression(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return R_F as an expression; None where a part has none."""
        named = [[part.expression(betas) for part in parts] for parts in self.sums]
        if any(None in parts for parts in named):
            return None
        sums = [sympy.Add(*parts) for parts in named]
        if len(sums) == 2 and sympy.expand(sums[0] + sums[1]) == 0:
            return sympy.Abs(sums[0])
        return sympy.Max(*sums)

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return R_F in a ball, at beta with some w."""
        with ctx.workprec(BITS):
            totals = [sum((part.at(beta) for part in parts), arb(0)) for parts in self.sums]
            return functools.reduce(lambda x, y: x.max(y), totals)


def root_name(f: fmpq_poly, index: int) -> Expr:
    """Return the name of one of the roots of f, which are real; the smallest is 0.

    >>> [str(root_name(fmpq_poly([-1, -2, 1, 1]), k)) for k in (0, 2)]
    ['CRootOf(x**3 + x**2 - 2*x - 1, 0)', 'CRootOf(x**3 + x**2 - 2*x - 1, 2)']
    """
    if f.degree() == 1:
        return -rational(f[0]) / rational(f[1])
    if f.degree() == 2:
        c, b, a = (rational(x) for x in f.coeffs())
        half = sympy.sqrt(b**2 - 4 * a * c) / (2 * abs(a))
        return -b / (2 * a) + (half if index else -half)
    if 2 * index < f.degree() and not any(f.coeffs()[1::2]):
        # Roots of f(x) = f(-x) come in pairs: the positive one names both.
        return -root_name(f, f.degree() - 1 - index)
    return sympy.CRootOf(at_value(f, Symbol("x")), index)


def at_value(c: fmpq_poly, value: Expr) -> Expr:
    """Return a polynomial at an expression."""
    return sympy.expand(sympy.Add(*(rational(a) * value**k for k, a in enumerate(c.coeffs()))))
