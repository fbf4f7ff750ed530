"""Functions b in a field with b' = f, and y with y' + b y = a: what integrals are made of.

A solution is a polynomial of a known degree over a known denominator, and so of linear equations.

Source: Bronstein 2005, Symbolic Integration I, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from derive.exact.field.function_field import RationalFunction, names_in
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import by_powers, factorize
from derive.exact.linear.matrix import dot, nullspace

MAXIMAL_DEGREE = 12
"""Of a polynomial y beyond which it is not sought."""


def antiderivative_in_field(
    f: RationalFunction, moving: Sequence[Generator[RationalFunction]], t: int
) -> RationalFunction | None:
    """Return b with b' = f that is rational in t, and in exponentials where f is, or None."""
    parts = exponential_sum(f, moving, t)
    if parts is None:
        return None
    solved = [(E, rational_solution(slope, a, t)) for E, slope, a in parts]
    found = [y * E for E, y in solved if y is not None]
    return sum(found, f.field.zero) if len(found) == len(solved) else None


def exponential_sum(
    f: RationalFunction, moving: Sequence[Generator[RationalFunction]], t: int
) -> list[tuple[RationalFunction, RationalFunction, RationalFunction]] | None:
    """Return exp(u), u' and a of f = sum a exp(u), u polynomials in t, a rational; or None."""
    field, found = f.field, [(f.field.one, f.field.zero, f)]
    for g in moving:
        if g.kind != "exp" or {x.name for x in moving} & names_in(A := field.embed(g.argument)):
            return None
        slope, E = field.derivative(A, t), field.named(g.name)
        apart = [(x, u, laurent(a, g)) for x, u, a in found]
        if int(slope.denominator.degrees()[t]) or any(parts is None for _, _, parts in apart):
            return None
        found = [
            (x * E**i, u + i * slope, a) for x, u, own in apart for i, a in (own or {}).items()
        ]
    return found


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
