"""Names of real algebraic numbers: radicals, and roots of polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import sympy
from flint import fmpq_poly
from sympy import Expr, Symbol

from derive.exact.rationals import rational


def conjugates(f: fmpq_poly) -> Iterator[Callable[[fmpq_poly], Expr]]:
    """Yield, for each root of f, what gives an element of Q(x) its name at that root.

    >>> [str(name(fmpq_poly([0, 1]))) for name in conjugates(fmpq_poly([-1, -1, 1]))]
    ['1/2 - sqrt(5)/2', '1/2 + sqrt(5)/2']
    """
    for k in range(f.degree()):
        yield functools.partial(at_value, value=root_name(f, k))


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
