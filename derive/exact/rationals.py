"""Rational numbers, polynomials and matrices: what FLINT leaves to its users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import sympy
from flint import arb, fmpq, fmpq_mat, fmpq_poly
from sympy import Expr

from derive.exact.balls import real_roots


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
