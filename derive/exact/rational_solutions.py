"""Functions b in a field with b' = f, and y with y' + b y = a: what integrals are made of.

A solution is a polynomial of a known degree over a known denominator, and so of linear equations.

Source: Bronstein 2005, Symbolic Integration I, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod
from typing import TypeAlias

from derive.exact.field.function_field import FunctionField, RationalFunction, names_in
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
    rows = [list(row) for row in zip_longest(*columns, fillvalue=f.field.zero)]
    found = (v for v in nullspace(rows, f.field, len(columns)) if not v[-1].is_zero())
    return next(([-x / v[-1] for x in v[:-1]] for v in found), None)


Coefficients: TypeAlias = list[RationalFunction]
"""Of a polynomial in t, that of t^n in the place n."""


def coefficients(f: RationalFunction, t: int = 0) -> Coefficients:
    """Return the coefficients of a polynomial in t over its denominator, which is free of t."""
    field, parts = f.field, by_powers(f.numerator, t)
    zero, below = 0 * f.numerator, field.polynomial(f.denominator)
    size = max(parts, default=-1) + 1
    return [field.polynomial(parts.get(n, zero)) / below for n in range(size)]


def element(field: FunctionField, coefficients: Coefficients, t: int = 0) -> RationalFunction:
    """Return the polynomial with these coefficients."""
    return sum((c * field.gens[t] ** n for n, c in enumerate(coefficients)), field.zero)


def _product(a: Coefficients, b: Coefficients) -> Coefficients:
    if not (a and b):
        return []
    found = [a[0].field.zero] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return found


def divided(a: Coefficients, b: Coefficients) -> tuple[Coefficients, Coefficients]:
    """Return quotient and remainder."""
    rest, quotient = [*a], list[RationalFunction]()
    while len(rest) >= len(b):
        c = rest.pop() / b[-1]
        quotient.insert(0, c)
        for n, y in enumerate(b[:-1], len(rest) + 1 - len(b)):
            rest[n] -= c * y
    while rest and rest[-1].is_zero():
        rest.pop()
    return quotient, rest


def quotient(a: Coefficients, b: Coefficients, modulus: RationalFunction) -> Coefficients:
    """Return a/b modulo what has no common factor with b, by Euclid's algorithm."""
    P = coefficients(modulus)
    _, low = divided(b, P)
    high, u, v = P, list[RationalFunction](), [modulus.field.one]
    while len(low) > 1:
        q, rest = divided(high, low)
        product = _product(q, v)
        pairs = zip_longest(u, product, fillvalue=modulus.field.zero)
        high, low, u, v = low, rest, v, [x - y for x, y in pairs]
    return divided(_product(a, [x / low[0] for x in v]), P)[1]


def proper(f: RationalFunction, t: int) -> RationalFunction:
    """Return f less its polynomial part in t."""
    top, bottom = (coefficients(f.field.polynomial(side), t) for side in f.parts)
    return element(f.field, divided(top, bottom)[1], t) / f.field.polynomial(f.denominator)


def degree_in(f: RationalFunction, t: int) -> int:
    """Return the degree in t of a quotient of polynomials."""
    top, bottom = (int(x.degrees()[t]) for x in f.parts)
    return top - bottom


def moves(f: RationalFunction, g: Generator[RationalFunction], t: int) -> bool:
    """Tell whether a generator of the field of f depends on t."""
    return not f.field.derivative(f.field.named(g.name), t).is_zero()
