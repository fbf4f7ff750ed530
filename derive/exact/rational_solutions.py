"""Functions b in a field with b' = f, and y with y' + b y = a: what integrals are made of.

A solution is a polynomial of a known degree over a known denominator, and so of linear equations.

Source: Bronstein 2005, Symbolic Integration I, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import by_powers, factorize
from derive.exact.linear.matrix import dot, nullspace

MAXIMAL_DEGREE = 12
"""Of a polynomial y beyond which it is not sought."""


def antiderivative_in_field(
    f: RationalFunction, moving: Sequence[Generator[RationalFunction]], t: int
) -> RationalFunction | None:
    """Return b with b' = f that is rational in t, and in an exponential where f is, or None."""
    if not moving:
        return rational_solution(f.field.zero, f, t)
    (E, *others), field = moving, f.field
    if others or E.kind != "exp" or (parts := laurent(f, E)) is None:
        return None
    slope = field.derivative(field.embed(E.argument), t)
    if int(slope.denominator.degrees()[t]):
        return None
    solved = {i: rational_solution(i * slope, a, t) for i, a in parts.items()}
    powers = {i: field.named(E.name) ** i for i in solved}
    found = [y * powers[i] for i, y in solved.items() if y is not None]
    return sum(found, field.zero) if len(found) == len(solved) else None


def laurent(
    f: RationalFunction, E: Generator[RationalFunction]
) -> dict[int, RationalFunction] | None:
    """Return a_i of f = sum_i a_i E^i; None of another."""
    field, k = f.field, f.field.positions[E.name]
    rest = field.polynomial(f.denominator)
    lowest = min(int(e[k]) for e in rest.numerator.monoms())
    rest = rest / field.gens[k] ** lowest
    if rest.depends_on(k):
        return None
    return {n - lowest: field.polynomial(a) / rest for n, a in by_powers(f.numerator, k).items()}


def rational_solution(b: RationalFunction, a: RationalFunction, t: int) -> RationalFunction | None:
    """Return a rational solution of y' + b y = a, for b = 0 or of a degree in t not below 0.

    Where a has a pole of order n, y has one of order n - 1, and at infinity y is as a/b, or int a.
    At a pole of b that is simple, its residue a fraction and no integer, a may have one of order 1.
    ValueError for a degree beyond MAXIMAL_DEGREE, where none is sought.
    """
    field, broken = a.field, [p for p, _ in factorize(b.denominator)[1]]
    poles = [(p, n) for p, n in factorize(a.denominator)[1] if int(p.degrees()[t])]
    if any(n == 1 and p not in broken for p, n in poles):
        return None
    E = prod((field.polynomial(p) ** (n - 1) for p, n in poles), start=field.one)
    degree = degree_in(E, t) + degree_in(a, t) - (-1 if b.is_zero() else degree_in(b, t))
    if degree > MAXIMAL_DEGREE:
        raise ValueError("a polynomial of a high degree")
    tried = [field.gens[t] ** j / E for j in range(degree + 1)]
    columns = [field.derivative(y, t) + b * y for y in tried]
    common = prod((field.polynomial(p) ** n for p, n in poles), start=field.one)
    c = combination(a, columns, common * field.polynomial(b.denominator), t)
    return None if c is None else dot([*c, field.zero], [*tried, field.zero])


def combination(
    f: RationalFunction, parts: Sequence[RationalFunction], common: RationalFunction, t: int
) -> Sequence[RationalFunction] | None:
    """Return c with f = sum_i c_i f_i, polynomials in t over a common denominator, or None."""
    columns = [coefficients(g * common, t) for g in (*parts, f)]
    size = max((max(column, default=0) for column in columns), default=0) + 1
    rows = [[column.get(n, f.field.zero) for column in columns] for n in range(size)]
    found = (v for v in nullspace(rows, f.field, len(columns)) if not v[-1].is_zero())
    return next(([-x / v[-1] for x in v[:-1]] for v in found), None)


def coefficients(f: RationalFunction, t: int) -> dict[int, RationalFunction]:
    """Return the coefficients of a polynomial in t over its denominator, which is free of t."""
    field = f.field
    below = field.polynomial(f.denominator)
    return {n: field.polynomial(c) / below for n, c in by_powers(f.numerator, t).items()}


def proper(f: RationalFunction, t: int) -> RationalFunction:
    """Return f less its polynomial part in t."""
    field, bottom = f.field, f.field.polynomial(f.denominator)
    top = f * bottom
    size = int(f.denominator.degrees()[t])
    while not top.is_zero() and (n := int(top.numerator.degrees()[t]) - size) >= 0:
        top = top - _leading(top, t) / _leading(bottom, t) * field.gens[t] ** n * bottom
    return top / bottom


def _leading(f: RationalFunction, t: int) -> RationalFunction:
    """Return the coefficient of the highest power of t."""
    found = coefficients(f, t)
    return found[max(found)]


def degree_in(f: RationalFunction, t: int) -> int:
    """Return the degree in t of a quotient of polynomials."""
    top, bottom = (int(x.degrees()[t]) for x in f.parts)
    return top - bottom


def moves(f: RationalFunction, g: Generator[RationalFunction], t: int) -> bool:
    """Tell whether a generator of the field of f depends on t."""
    return not f.field.derivative(f.field.named(g.name), t).is_zero()
