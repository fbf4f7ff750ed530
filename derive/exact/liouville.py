"""Integrals that are no elementary functions: what Liouville's theorem asks of them fails.

Let f be rational in t, in E = exp(u(t)) or log(u(t)), and in what of such functions is below E,
with independent constants. If int f dt is elementary, then

    residues at simple poles of f in E are constants: for f = A/(p q), p irreducible in E, the roots
        z of the resultant of A - z q p' and p are free of t
    for E = exp(u) and f = sum_i a_i E^i each y' + i u' y = a_i, i != 0, has a rational solution;
        where all have a factor P^e, as sqrt(P), each y' + (i u' + e P'/P) y = a_i/P^e

And w dt/y, y^2 = P, for polynomials w and P, P without double roots, has no elementary integral
where it has no residue and is the differential of no function of t and y: an elementary one is such
a function beside logarithms, which bring residues.

Source: Bronstein 2005, Symbolic Integration I, theorem 5.6.1, sections 5.8 and 5.9; for square
roots Ritt 1948, Integration in Finite Terms.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import prod

from flint import fmpz_mpoly_ctx

from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import Polynomial, by_powers, factorize, reindexed, terms
from derive.exact.linear.matrix import rank

MAXIMAL_DEGREE = 12
"""Of a polynomial y beyond which it is not sought."""


def not_elementary(f: RationalFunction, constants: Sequence[str]) -> str:
    """Return why int f dt is no elementary function for general values of constants; or nothing.

    Args:
        f: in t, its first variable, and in constants.
        constants: the names of these, which have to be independent.
    """
    why = why_not_elementary(f) or why_not_elementary_root(f * f)
    listed = ", ".join(f"`{name}`" for name in constants)
    return "" if why is None else f"for general {listed} {why}" if constants else why


def why_not_elementary(f: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function, t the variable of that place; else None.

    Names other than t are independent constants: for some values of these it may be elementary.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> (f,) = build_elements([parse_expression("exp(-t)/(1 + t)")], "t")
    >>> why_not_elementary(f)
    'no rational function `y` of `t` has the derivative `1/(t + 1) + y` (Bronstein 2005)'
    """
    field = f.field
    moving = [g for g in field.generators if g.name in f.variables() and _moves(f, g, t)]
    kinds = [g.kind for g in moving]
    if kinds and kinds[-1] in ("exp", "log") and {*kinds} <= {"exp", "log"}:
        by_powers = _by_exponentials if kinds[-1] == "exp" else _by_logarithms
        return _by_residues(f, moving[-1], t) or by_powers(f, moving, t)
    if sorted(kinds) == ["exp", "root"]:
        E, root = sorted(moving, key=lambda g: g.kind)
        inside = {*field.embed(E.argument).variables(), *field.embed(root.argument).variables()}
        return _by_exponentials(f, [E], t, root) if inside.isdisjoint({E.name, root.name}) else None
    return None


def why_not_elementary_root(square: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function for f^2 rational in t; else None.

    >>> from derive.exact.field.function_field import FunctionField
    >>> (x,) = FunctionField(("t",)).gens
    >>> why_not_elementary_root(1 / (x**3 - x))
    'the differential of `1/sqrt(t*(t - 1)*(t + 1))` has no residue and is not exact (Ritt 1948)'
    """
    field = square.field
    if any(_moves(square, g, t) for g in field.generators if g.name in square.variables()):
        return None
    w, P = _over_root(square, t)
    if all(int(e[t]) % 2 == 0 for part in square.parts for e in part.monoms()):
        x, halved = field.gens[t], (_halved(part, square, t) for part in square.parts)
        square = reduce(operator.truediv, halved) / (4 * x)  # in x = t^2
    if _has_second_kind(*_over_root(square, t), t):
        below = "*".join(_factor(p) for p, _ in factors(P))
        what = f"{_factor(w)}/sqrt({below})"
        return f"the differential of `{what}` has no residue and is not exact (Ritt 1948)"
    return None


def _over_root(square: RationalFunction, t: int) -> tuple[RationalFunction, RationalFunction]:
    """Return w and P without double roots, f = w/sqrt(P) up to a constant."""
    field, powers = square.field, [(p, n) for p, n in factored(square)[1] if p.depends_on(t)]
    w = prod((p ** ((n + n % 2) // 2) for p, n in powers), start=field.one)
    return w, prod((p for p, n in powers if n % 2), start=field.one)


def _halved(polynomial: Polynomial, f: RationalFunction, t: int) -> RationalFunction:
    """Return p(t) of a polynomial p(t^2)."""
    parts = {(*e[:t], e[t] // 2, *e[t + 1 :]): c for e, c in terms(polynomial)}
    return f.field.polynomial(f.field.ring.from_dict(parts))


def _has_second_kind(w: RationalFunction, P: RationalFunction, t: int) -> bool:
    """Tell whether w dt/y, y^2 = P, is shown to have no residue, and to be no differential.

    For P of degree 2 g + 1 the t^j dt/y with j < 2 g are a basis of what has no residue, up to
    differentials, and d(t^m y) = (m t^(m - 1) P + t^m P'/2) dt/y lowers the degree of w; for one of
    2 g + 2 those with j < g have no pole.
    """
    field, x = w.field, w.field.gens[t]
    degree = int(P.numerator.degrees()[t])
    slope = field.derivative(P, t)
    if degree < 3 or int(w.denominator.degrees()[t]):
        return False
    # Roots that are constants may make factors meet that are irreducible without them.
    if field.polynomial(P.numerator.resultant(slope.numerator, field.names[t])).is_zero():
        return False
    if degree % 2 == 0:
        return int(w.numerator.degrees()[t]) < degree // 2 - 1
    slope = slope / field.constant(2)
    while not w.is_zero() and (m := int(w.numerator.degrees()[t]) - degree + 1) >= 0:
        lower = (field.constant(m) * P / x if m else field.zero) * x**m + x**m * slope
        w = w - _leading(w, t) / _leading(lower, t) * lower
    return not w.is_zero()


def _leading(f: RationalFunction, t: int) -> RationalFunction:
    """Return the coefficient of the highest power of t."""
    found = _coefficients(f, t)
    return found[max(found)]


def _factor(f: RationalFunction) -> str:
    """Return a polynomial as a factor of a product."""
    return repr(f) if len(f.numerator) == 1 else f"({f!r})"


def _moves(f: RationalFunction, g: Generator[RationalFunction], t: int) -> bool:
    return not f.field.derivative(f.field.named(g.name), t).is_zero()


def _degree(f: RationalFunction, t: int) -> int:
    """Return the degree in t of a quotient of polynomials."""
    top, bottom = (int(x.degrees()[t]) for x in f.parts)
    return top - bottom


def _by_residues(f: RationalFunction, E: Generator[RationalFunction], t: int) -> str | None:
    """Return a simple pole of f in E at which the residue is no constant, or None."""
    field, k = f.field, f.field.positions[E.name]
    for p, n in factorize(f.denominator)[1]:
        special = E.kind == "exp" and p == field.ring.gens()[k]
        if n > 1 or special or not int(p.degrees()[k]):
            continue
        slope = field.derivative(field.polynomial(p), t)
        pencil = f.numerator * slope.denominator, f.denominator / p * slope.numerator
        residues = _coefficients_of_residues(field, pencil, p, k)
        if not all(field.derivative(c / residues[-1], t).is_zero() for c in residues):
            where = f"`{field.polynomial(p)!r} = 0`"
            return f"the residue of the integrand where {where} is no constant (Bronstein 2005)"
    return None


def _coefficients_of_residues(
    field: FunctionField, pencil: tuple[Polynomial, Polynomial], p: Polynomial, k: int
) -> list[RationalFunction]:
    """Return the coefficients in z of the resultant of A - z B and p, lowest first."""
    ring = fmpz_mpoly_ctx.get((*field.names, "_z"), field.ring.ordering())
    a, b, q = (reindexed(x, ring) for x in (*pencil, p))
    resultant = (a - ring.gens()[-1] * b).resultant(q, field.names[k])
    parts = by_powers(resultant, len(field.names))
    return [field.polynomial(reindexed(parts[n], field.ring)) for n in sorted(parts)]


def _by_exponentials(
    f: RationalFunction,
    moving: list[Generator[RationalFunction]],
    t: int,
    root: Generator[RationalFunction] | None = None,
) -> str | None:
    """Return an equation of y without a rational solution, f = sum_i a_i exp(i u), or None.

    It is y' + i u' y = a_i, and y' + (i u' + e P'/P) y = a_i/P^e where all a_i have a *root* P^e.
    """
    (E, *others), field, name = moving, f.field, f.field.names[t]
    k, beside = field.positions[E.name], field.zero
    if root is not None:
        if (single := _without_root(f, root, t)) is None:
            return None
        f, beside = single
    rest = field.polynomial(f.denominator)
    lowest = min(int(e[k]) for e in rest.numerator.monoms())
    rest = rest / field.gens[k] ** lowest
    u = field.embed(E.argument)
    slope = field.derivative(u, t)
    if others or rest.depends_on(k) or int(slope.denominator.degrees()[t]):
        return None
    for n, top in by_powers(f.numerator, k).items():
        i, a = n - lowest, field.polynomial(top)
        b = field.constant(i) * slope + beside
        if i and not _has_solution(b, a / rest, t):
            y, minus = "y" if name != "y" else "z", max(terms(b.numerator))[1] < 0
            size = -b if minus else b
            times = "" if size == field.one else f"{_factor(size)}*"
            slope_of_y = f"{a / rest!r} {'+' if minus else '-'} {times}{y}"
            what = f"no rational function `{y}` of `{name}` has the derivative `{slope_of_y}`"
            return f"{what} (Bronstein 2005)"
    return None


def _without_root(
    f: RationalFunction, root: Generator[RationalFunction], t: int
) -> tuple[RationalFunction, RationalFunction] | None:
    """Return f/P^e, free of the root of P, and e P'/P, where P has no double root; else None."""
    field, P = f.field, f.field.embed(root.argument)
    r, simple = field.named(root.name), all(n == 1 for p, n in factored(P)[1] if p.depends_on(t))
    for j in range(1, root.index):
        rest = f / r**j
        if simple and not rest.depends_on(field.positions[root.name]):
            return rest, field.constant(Fraction(j, root.index)) * field.derivative(P, t) / P
    return None


def _by_logarithms(
    f: RationalFunction, moving: list[Generator[RationalFunction]], t: int
) -> str | None:
    """Return a_n of f = sum_(i <= n) a_i E^i whose integral is not b + c E, b rational, or None."""
    (E, *others), field = moving, f.field
    k = field.positions[E.name]
    rest = field.polynomial(f.denominator)
    if others or rest.depends_on(k):
        return None
    a = by_powers(f.numerator, k)
    highest = field.polynomial(a[max(a)]) / rest
    slope = field.derivative(field.named(E.name), t)
    if any(n > 1 and int(p.degrees()[t]) for p, n in factorize(highest.denominator)[1]):
        return None
    proper = _proper(highest, t)
    if proper.is_zero() or field.derivative(proper / _proper(slope, t), t).is_zero():
        return None
    return (
        f"the integral of `{highest!r}` is no rational function and multiple of `{E.name}` "
        "(Bronstein 2005)"
    )


def _proper(f: RationalFunction, t: int) -> RationalFunction:
    """Return f less its polynomial part in t."""
    field, bottom = f.field, f.field.polynomial(f.denominator)
    top = f * bottom
    size = int(f.denominator.degrees()[t])
    while not top.is_zero() and (n := int(top.numerator.degrees()[t]) - size) >= 0:
        top = top - _leading(top, t) / _leading(bottom, t) * field.gens[t] ** n * bottom
    return top / bottom


def _has_solution(b: RationalFunction, a: RationalFunction, t: int) -> bool:
    """Tell whether y' + b y = a has a rational solution, for b of a degree in t not below 0.

    Where a has a pole of order n, y has one of order n - 1, and at infinity y is as a/b. At a pole
    of b that is simple, its residue a fraction and no integer, a may have one of order 1.
    """
    field, broken = a.field, [p for p, _ in factorize(b.denominator)[1]]
    poles = [(p, n) for p, n in factorize(a.denominator)[1] if int(p.degrees()[t])]
    if any(n == 1 and p not in broken for p, n in poles):
        return False
    E = prod((field.polynomial(p) ** (n - 1) for p, n in poles), start=field.one)
    degree = _degree(E, t) + _degree(a, t) - _degree(b, t)
    if degree > MAXIMAL_DEGREE:
        return True  # not looked for
    x = field.gens[t]
    tried = [x**j / E for j in range(degree + 1)]
    columns = [*(field.derivative(y, t) + b * y for y in tried), a]
    common = prod((field.polynomial(p) ** n for p, n in poles), start=field.one)
    common = common * field.polynomial(b.denominator)
    rows = [_coefficients(c * common, t) for c in columns]
    size = max(max(row) for row in rows) + 1
    matrix = [[row.get(n, field.zero) for n in range(size)] for row in rows]
    return rank(matrix) == rank(matrix[:-1])


def _coefficients(f: RationalFunction, t: int) -> dict[int, RationalFunction]:
    """Return the coefficients of a polynomial in t over its denominator, which is free of t."""
    field = f.field
    below = field.polynomial(f.denominator)
    return {n: field.polynomial(c) / below for n, c in by_powers(f.numerator, t).items()}
