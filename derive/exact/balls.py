"""Certified balls: values of field elements at numbers, and real roots; rational numbers."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from itertools import pairwise
from math import lcm
from operator import add, mul
from typing import TypeAlias, cast

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_poly
from sympy import Expr

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import images_of
from derive.exact.field.polynomial import Polynomial, terms
from derive.language.functions import RECORDS, FunctionRecord

Value: TypeAlias = Fraction | arb
"""A number: exact, or in a ball."""

PRECISION = 256
"""Bits of the balls."""


class Unbounded(ArithmeticError):
    """A value is not finite or not real as far as the ball tells."""


LARGEST_EXPONENT = 2**20
"""Powers of 2 beyond which a number is not written as a fraction: it would fill the memory."""


def _pickled(ball: arb) -> tuple[Callable[..., arb], tuple[object, ...]]:
    """Return how a ball is made again: the same where it is finite, and one that holds it."""
    if not ball.is_finite():
        return arb, (str(ball),)
    parts = (x.man_exp() for x in (ball.mid(), ball.rad()))
    return arb, tuple(tuple(map(int, part)) for part in parts)


copyreg.pickle(arb, _pickled)  # records that have balls are pickled


def precise(bits: int = PRECISION) -> AbstractContextManager[object]:
    """Return a context in which balls are computed with that precision."""
    return ctx.workprec(bits)


def values_of(
    field: FunctionField, images: Mapping[str, Value], bits: int = PRECISION
) -> tuple[Value, ...]:
    """Return the values of all variables from those of weights and parameters, or Unbounded."""

    def at(element: RationalFunction, known: Mapping[str, Value]) -> Value:
        return evaluate_any(element, [known[n] for n in element.field.names], bits)

    with ctx.workprec(bits):
        given: dict[str, Value] = dict(images)
        known = images_of(field.generators, given, at, _FUNCTIONS)
    return tuple(known[name] for name in field.names)


def fraction(value: Value) -> Fraction:
    """Return a number itself, or the rational midpoint of a ball; Unbounded beyond any use."""
    if isinstance(value, Fraction):
        return value
    mantissa, exponent = value.mid().man_exp()
    if abs(int(exponent)) > LARGEST_EXPONENT:
        raise Unbounded
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def evaluate_any(
    element: RationalFunction, values: Sequence[Value], bits: int = PRECISION
) -> Value:
    """Return the value of an element, exact where it can be; ZeroDivisionError or Unbounded."""
    element.field.clock.check()
    with ctx.workprec(bits):
        top = _polynomial(element.numerator, values)
        bottom = _polynomial(element.denominator, values)
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return top / bottom
        return _finite(ball(top) / ball(bottom))


def ball(value: Value) -> arb:
    """Return a number as a ball."""
    return arb(fmpq(*value.as_integer_ratio())) if isinstance(value, Fraction) else value


def is_nonzero(value: Value) -> bool:
    """Tell whether a value is proved to differ from zero."""
    return value != 0 if isinstance(value, Fraction) else not value.contains(0)


def shown(value: Value) -> Fraction | str:
    """Return a number for a reader: exact, or 20 digits of which all are right."""
    return value if isinstance(value, Fraction) else str(value.str(20, radius=False))


def _polynomial(polynomial: Polynomial, values: Sequence[Value]) -> Value:
    total: Value = Fraction(0)
    for exponents, coefficient in terms(polynomial):
        product: Value = Fraction(coefficient)
        for x, e in zip(values, exponents, strict=True):
            if e:
                product = _combined(mul, product, whole_power(x, e))
        total = _combined(add, total, product)
    return total


def whole_power(x: Value, e: int) -> Value:
    """Return a number or a ball to a whole power."""
    if isinstance(x, Fraction) or not x.contains(0) or e < 0:
        return x**e
    # flint takes balls about 0 to integer powers by way of the logarithm: not a number.
    return functools.reduce(mul, [x] * e)


def _combined(operator: Callable[[Value, Value], Value], x: Value, y: Value) -> Value:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return operator(x, y)
    return operator(ball(x), ball(y))


def _finite(value: arb) -> arb:
    if not value.is_finite():
        raise Unbounded
    return value


def _function(record: FunctionRecord) -> Callable[[Value], arb]:
    def apply(A: Value) -> arb:
        x = abs(ball(A)) if record.positive else ball(A)
        return _finite(getattr(x, record.name)())

    return apply


def root_of(A: Value, n: int) -> Value:
    """Return the positive n-th root of a number or ball, exact where it is rational."""
    if isinstance(A, Fraction):
        if A < 0:
            raise Unbounded
        top, bottom = fmpz(A.numerator).root(n), fmpz(A.denominator).root(n)
        if top**n == A.numerator and bottom**n == A.denominator:
            return Fraction(int(top), int(bottom))
    return _finite(ball(A).root(n))


def to_the_power(A: Value, e: Value) -> Value:
    """Return A^e, exact where that is seen to be rational."""
    if isinstance(A, Fraction) and isinstance(e, Fraction):
        if e.denominator == 1:
            return A ** int(e)
        if A > 0:
            return root_of(A**e.numerator, e.denominator)
    x = ball(A)
    if not x > 0:
        raise Unbounded
    return _finite(x ** ball(e))


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{f.name: _function(f) for f in RECORDS.values() if f.derivative},
    "root": root_of,
    "power": to_the_power,
}


PRECISIONS = (64, 256, 1024)


def real_roots(coefficients: Sequence[Fraction]) -> list[arb]:
    """Return disjoint balls, ascending, each with exactly one real root of a squarefree part.

    The coefficients are those of t^0, t^1, ..., not all zero.

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
            found = [cast("list[tuple[acb, int]]", f.complex_roots()) for f in factors]
        real = (z.real for pairs in found for z, _ in pairs if z.imag == 0)
        roots = sorted(real, key=lambda x: x.mid())
        # Those of two factors differ, and so do their balls at some precision.
        if not any(a.overlaps(b) for a, b in pairwise(roots)):
            return roots
        bits *= 2


def branch_from_above(coefficients: Sequence[Fraction], value: Fraction) -> int | None:
    """Return n when *value* is proved the n-th largest real root (0 for the largest), or None."""
    if sum(c * value**k for k, c in enumerate(coefficients)) != 0:
        return None
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            exact = ball(value)
            roots = real_roots(coefficients)
            if sum(r.overlaps(exact) for r in roots) == 1:
                return sum(1 for r in roots if r > exact)
    return None


def as_fmpq(value: Fraction) -> fmpq:
    """Return a fraction as FLINT's rational number."""
    return fmpq(value.numerator, value.denominator)


def as_fraction(value: fmpq) -> Fraction:
    """Return FLINT's rational number as a fraction."""
    return Fraction(int(value.p), int(value.q))


def rational(value: fmpq) -> Expr:
    """Return FLINT's rational number as SymPy's."""
    return sympy.Rational(int(value.p), int(value.q))


def roots_of(f: fmpq_poly) -> list[arb]:
    """Return the distinct real roots of a polynomial in balls, ascending."""
    return real_roots([as_fraction(c) for c in f.coeffs()])


def as_sympy(A: fmpq_mat) -> sympy.Matrix:
    """Return a matrix as SymPy's."""
    return sympy.Matrix(A.nrows(), A.ncols(), [rational(c) for c in A.entries()])


def identity(size: int) -> fmpq_mat:
    """Return the identity."""
    return fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def reduced(rows: Sequence[Sequence[fmpq]]) -> list[tuple[int, list[fmpq]]]:
    """Return the rows of the reduced echelon form with the places of their pivots."""
    echelon, rank = fmpq_mat(rows).rref()
    return [(next(k for k, x in enumerate(row) if x), row) for row in echelon.tolist()[:rank]]


def nullspace(rows: Sequence[Sequence[fmpq]]) -> Iterator[list[fmpq]]:
    """Yield a basis of the v with <row, v> = 0 for all rows."""
    found = dict(reduced(rows))
    size = range(len(rows[0]))
    for free in (k for k in size if k not in found):
        yield [-found[k][free] if k in found else fmpq(int(k == free)) for k in size]


Vector = list[Fraction]


def largest(
    cost: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], sides: Sequence[Fraction]
) -> Vector | None:
    """Return a vertex x >= 0 of largest cost.x with rows x = sides, or None where there is no x.

    >>> largest([Fraction(1), Fraction(2)], [[Fraction(1), Fraction(1)]], [Fraction(1)])
    [Fraction(0, 1), Fraction(1, 1)]

    Args:
        cost: bounded from above on the x that there are.
        rows, sides: equations, with sides >= 0.
    """
    m, n, none = len(rows), len(cost), Fraction(0)
    unit = [[Fraction(i == j) for j in range(m)] for i in range(m)]
    table = [[*row, *e, side] for row, e, side in zip(rows, unit, sides, strict=True)]
    basis = [*range(n, n + m)]
    # One slack an equation, each of which costs more than all the rest.
    prices = [none] * n + [Fraction(-1)] * m, [*cost, *[none] * m]
    while (j := next((j for j in range(n) if _gains(prices, basis, table, j)), None)) is not None:
        _, _, i = min((r[-1] / r[j], basis[i], i) for i, r in enumerate(table) if r[j] > 0)
        pivot = [x / table[i][j] for x in table[i]]
        table = [[x - r[j] * y for x, y in zip(r, pivot, strict=True)] for r in table]
        table[i], basis[i] = pivot, j
    found = {k: row[-1] for k, row in zip(basis, table, strict=True)}
    if any(k >= n and x > 0 for k, x in found.items()):
        return None
    return [found.get(k, none) for k in range(n)]


def _gains(prices: Sequence[Vector], basis: Sequence[int], table: Sequence[Vector], j: int) -> bool:
    """Tell whether the cost grows with variable j, slacks first."""
    pairs = [*zip(basis, table, strict=True)]
    gain = [c[j] - sum((c[k] * row[j] for k, row in pairs), Fraction(0)) for c in prices]
    return gain > [Fraction(0)] * 2
