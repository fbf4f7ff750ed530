"""Integrals that are no elementary functions: what Liouville's theorem asks of them fails.

Let f be rational in E over a field k of functions of t, where E is new: E = exp(u), or E' is in k,
as of a logarithm, of an atan, or of an integral that is not elementary. If int f dt is elementary,
then

    residues at simple poles of f in E are constants: for f = A/(p q), p irreducible in E, the roots
        z of the resultant of A - z q p' and p are free of t
    for f = sum_i a_i exp(u_i), with polynomials u_i that differ by no constants and rational a_i,
        each y' + u_i' y = a_i, u_i' != 0, has a rational solution; where all a_i have a factor P^e,
        as sqrt(P), each y' + (u_i' + e P'/P) y = a_i/P^e

For w/y, y^2 = P = a L + b, where L, or t, is new over a field of w^2, a and b, and L' is in it:
y is transcendental there, y -> -y keeps derivatives, and no polynomial in y divides its derivative,
so that an elementary integral is an odd polynomial in y. Its highest coefficient is c/s^N, s^2 = a;
the next one would need L but for N = 1: then w/y is a multiple of the derivative of sqrt(P/a). So
w y is one of that of sqrt(P/a)^3.

For P = A Y^2, Y^2 = X^2 - c, X = L + b, it is a Y + b log((X + Y)/(X - Y)) with constants a and b:
no place over a finite L is a pole of it, and u = X + Y alone has its zeros and poles at L = oo.
That w has no L asks that a X' = b c'/c.

For f = sum_j f_j R^j, R^n = A, each int f_j R^j dt is elementary: a mean of what f is with the
other roots of A. Roots of polynomials: :mod:`derive.exact.algebraic_integrals`.

Where int f dt is elementary for general values of a constant c, so is int df/dc dt.

Source: Bronstein 2005, Symbolic Integration I, theorem 5.6.1, sections 5.8 and 5.9; what is said of
L under a root is derived here, from Liouville 1835.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeAlias

from flint import fmpz_mpoly_ctx

from derive.exact.algebraic_integrals import (
    in_brackets,
    over_root,
    why_not_elementary_binomial,
    why_not_elementary_root,
)
from derive.exact.field.factors import factored
from derive.exact.field.function_field import FunctionField, RationalFunction, names_in
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import Polynomial, by_powers, factorize, reindexed, terms
from derive.exact.rational_solutions import (
    antiderivative_in_field,
    exponential_sum,
    moves,
    proper,
    rational_solution,
)

PRIMITIVE = ("log", "atan", "asinh", "integral")
"""Kinds of functions whose derivatives are made of what they are functions of."""


def not_elementary(f: RationalFunction, independent: Callable[[list[str]], bool]) -> str:
    """Return why int f dt is no elementary function for general values of constants; or nothing.

    Args:
        f: in t, its first variable, and in constants.
        independent: whether constants of these names have no relation.
    """
    for why, said in _proofs(f):
        field = said[0].field
        calls = {g.name for g in field.generators if g.kind != "parameter"}
        constants = sorted(_names(said) - calls - {field.names[0]})
        if independent(constants):
            listed = ", ".join(f"`{name}`" for name in constants)
            return f"for general {listed} {why}" if constants else why
    return ""


Proof: TypeAlias = tuple[str, Sequence[RationalFunction]]
"""Why an integral is no elementary function, with functions that have the constants in that."""


def _proofs(f: RationalFunction) -> Iterator[Proof]:
    """Yield why int f dt is no elementary function."""
    for part in _by_roots(f):
        square, known = part * part, range(1, len(f.field.weights))
        for why in (why_not_elementary(part), why_not_elementary_root(square)):
            yield from [(why, [part])] if why else []
        yield from sorted(under_root(square), key=lambda proof: len(_names(proof[1])))
        if why := why_not_elementary_binomial(part):
            yield why, [part]
        for k in (k for k in known if part.depends_on(k)):
            if why := why_not_elementary_root(f.field.derivative(part, k) ** 2):
                slope = f"that of the derivative of the integrand by `{f.field.names[k]}` is none"
                yield f"{slope}, as {why}", [part]


def _names(functions: Sequence[RationalFunction]) -> set[str]:
    return set[str]().union(*map(names_in, functions))


def _by_roots(f: RationalFunction, t: int = 0) -> list[RationalFunction]:
    """Return the parts f_j R^j of a sum, R^n = A: with int f dt each integral is elementary.

    They are means of what f is with the other roots of A in the place of R.
    """
    field, parts = f.field, [f]
    for g in (g for g in field.generators if g.kind == "root" and moves(f, g, t)):
        if not any(g.name in _below(f, other) for other in field.generators):
            k, R = field.positions[g.name], field.named(g.name)
            pairs = [(x, by_powers(x.numerator, k).items()) for x in parts]
            parts = [field.quotient(a, x.denominator) * R**j for x, tops in pairs for j, a in tops]
    return parts


def why_not_elementary(f: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function, t the variable of that place; else None.

    Names other than t are independent constants: for some values of these it may be elementary.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> (f,) = build_elements([parse_expression("exp(-t)/(1 + t)")], "t")
    >>> why_not_elementary(f)
    'no rational function `y` of `t` has the derivative `1/(t + 1) + y` (Bronstein 2005)'
    """
    moving = [g for g in f.field.generators if g.name in f.variables() and moves(f, g, t)]
    above = [g for g in moving if not any(g.name in _below(f, other) for other in moving)]
    for E in (g for g in reversed(above) if _is_new(f.field, g, t)):
        others = [g for g in moving if g is not E]
        by_powers = _by_exponentials if E.kind == "exp" else _by_logarithms
        if why := _by_residues(f, E, t) or by_powers(f, E, others, t):
            return why
    return None


def _below(f: RationalFunction, g: Generator[RationalFunction]) -> set[str]:
    """Return the names in a generator, with that of the root in the derivative of an asinh."""
    return {g.partner} | _names([*map(f.field.embed, g.parts)])


def _is_new(field: FunctionField, g: Generator[RationalFunction], t: int) -> bool:
    """Tell whether a function is exponential or primitive, and transcendental where it is one.

    An integral is so over a field of elementary functions where it is none.
    """
    if g.kind == "integral":
        A = field.embed(g.argument)
        return bool(why_not_elementary(A, t) or why_not_elementary_root(A * A, t))
    return g.kind in ("exp", *PRIMITIVE)


def under_root(square: RationalFunction, t: int = 0) -> Iterator[Proof]:
    """Yield what fails of w y^n, n = 1 or -1, y^2 = P, whatever the constant in P is.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> f, g = (build_elements([parse_expression(x)], "t")[0] for x in ("1/log(t)", "1/(t*log(t))"))
    >>> print(next(under_root(f))[0][:67])
    `1/sqrt(log(t))` is no multiple of the derivative of `sqrt(log(t))`
    >>> [*under_root(g / g.field.gens[0])]  # of 2 sqrt(log(t))
    []
    """
    field, used = square.field, names_in(square)
    integrals = [g.name for g in field.generators if g.kind == "integral"]
    calls = [g for g in field.generators if g.name in used and moves(square, g, t)]
    inside = [field.embed(g.argument) for g in calls]  # for other constants some may be related
    for L, n, P in _in_one_new(square, t):
        own = ", itself not elementary," if L in integrals else ""
        requires = f"which `{L}`{own} under a root requires (Liouville 1835)"
        A = P.partial(k := field.positions[L])
        if A.depends_on(k):
            if n < 0 and (what := _of_quadratic(P, k, t)):
                yield f"{what}, {requires}", [square]
        elif not field.derivative(ratio := A**-n * field.derivative(P / A, t) ** 2, t).is_zero():
            power = _root_of(P, k) + "**3" * (n > 0)
            what = f"`{_root(P, n)}` is no multiple of the derivative of `{power}`"
            yield f"{what}, {requires}", [ratio, *inside]


def _in_one_new(square: RationalFunction, t: int) -> Iterator[tuple[str, int, RationalFunction]]:
    """Yield L with n and P = square^n, of degree 1 or 2 in L, which is new over all else in it.

    What else is used has derivatives without L.
    """
    field, used = square.field, names_in(square)
    slopes = {n: field.derivative(field.named(n), t) for n in field.names if n in used}
    calls = [g for g in field.generators if g.kind in PRIMITIVE and g.name in used]
    new = [*(g.name for g in calls if _is_new(field, g, t)), field.names[t]]
    for L, n in product((x for x in new if x in used and not slopes[x].is_zero()), (-1, 1)):
        k, P = field.positions[L], square**n
        A = P.partial(k)
        if not (A.is_zero() or any(x.depends_on(k) for x in (A.partial(k), *slopes.values()))):
            yield L, n, P


def _of_quadratic(P: RationalFunction, k: int, t: int) -> str | None:
    """Return that 1/sqrt(P), P = A (X^2 - c), X = L + b, is no a Y' + b log((X + Y)/(X - Y))'.

    There Y^2 = X^2 - c, and a and b are constants, a X' = b c'/c.
    """
    field, A = P.field, P.partial(k).partial(k) / 2
    X = P.partial(k) / (2 * A)
    c, pace = X**2 - P / A, field.derivative(X, t)
    slope = field.derivative(c, t)
    if c.is_zero():
        return None
    constants = [A * pace**2]
    if not slope.is_zero():
        m = 2 * c * pace / slope
        constants = [m, A * (slope * (m * m / c - 1)) ** 2]
    if all(field.derivative(x, t).is_zero() for x in constants):
        return None
    below = f"+ {-c!r}" if max(terms(c.numerator))[1] < 0 else f"- {c!r}"
    whole = f"`Y = sqrt(X**2 {below})` and `log((X + Y)/(X - Y))`, `X = {X!r}`"
    return f"`{_root(A, -1, 'Y')}` is no combination of the derivatives of {whole}"


def _root_of(P: RationalFunction, k: int) -> str:
    """Return sqrt(L + b/a), up to a number, of the factor a L + b of P."""
    number, powers = factored(P)
    linear = next(p for p, _ in powers if p.depends_on(k)) * (1 if number > 0 else -1)
    return f"sqrt({linear / prod(p**n for p, n in factored(linear.partial(k))[1])!r})"


def _root(P: RationalFunction, n: int, beside: str = "") -> str:
    """Return sqrt(P) for n = 1, and 1/sqrt(P) for n = -1, as it is written, up to a number."""
    field, (number, powers) = P.field, factored(P)
    inside = prod((p for p, k in powers if k % 2), start=field.constant(1 if number > 0 else -1))
    w = prod((p ** ((n * k + k % 2) // 2 - k % 2 * (n > 0)) for p, k in powers), start=field.one)
    if n < 0:
        return over_root(w, inside, field.names, beside)
    root = over_root(field.one, inside, field.names).removeprefix("1/")
    return root if w == field.one else f"{in_brackets(repr(w))}*{root}"


def logarithmic_part(
    f: RationalFunction, t: int = 0
) -> tuple[list[tuple[Fraction, RationalFunction]], RationalFunction]:
    """Return numbers c_i and p_i, and what is left, f = sum_i c_i p_i'/p_i + rest.

    These are the simple poles in an exponential or a logarithm whose residues are one number.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> (f,) = build_elements([parse_expression("2*cosh(t)**2/(t + sinh(t)*cosh(t))")], "t")
    >>> logarithmic_part(f)
    ([(Fraction(1, 1), (exp(t)**4 + 4*t*exp(t)**2 - 1)/exp(t)**2)], 0)
    """
    field, found = f.field, list[tuple[Fraction, RationalFunction]]()
    moving = [g for g in field.generators if g.name in f.variables() and moves(f, g, t)]
    for E in (g for g in moving[-1:] if g.kind in ("exp", "log")):
        k = field.positions[E.name]
        for p, residues in _simple_poles(f, E, t):
            count = field.constant(1 - len(residues))
            c = residues[-2] / residues[-1] / count
            middle = int(p.degrees()[k]) // 2 if E.kind == "exp" else 0
            q = field.polynomial(p) / field.gens[k] ** middle
            rest = f - c * field.derivative(q, t) / q
            if c.is_constant() and p.gcd(rest.denominator).is_constant():
                found, f = [*found, (c.value(), q)], rest
    return found, f


def _by_residues(f: RationalFunction, E: Generator[RationalFunction], t: int) -> str | None:
    """Return a simple pole of f in E at which the residue is no constant, or None."""
    field = f.field
    for p, residues in _simple_poles(f, E, t):
        if not all(field.derivative(c / residues[-1], t).is_zero() for c in residues):
            where = f"`{field.polynomial(p)!r} = 0`"
            return f"the residue of the integrand where {where} is no constant (Bronstein 2005)"
    return None


def _simple_poles(
    f: RationalFunction, E: Generator[RationalFunction], t: int
) -> Iterator[tuple[Polynomial, list[RationalFunction]]]:
    """Yield the simple poles p of f in E with the polynomial of the residues there."""
    field, k = f.field, f.field.positions[E.name]
    for p, n in factorize(f.denominator)[1]:
        special = E.kind == "exp" and p == field.ring.gens()[k]
        if n == 1 and int(p.degrees()[k]) and not special:
            slope = field.derivative(field.polynomial(p), t)
            pencil = f.numerator * slope.denominator, f.denominator / p * slope.numerator
            yield p, _coefficients_of_residues(field, pencil, p, k)


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
    E: Generator[RationalFunction],
    others: Sequence[Generator[RationalFunction]],
    t: int,
) -> str | None:
    """Return an equation of y without a rational solution, f = sum_i a_i exp(u_i), or None.

    It is y' + u_i' y = a_i, and y' + (u_i' + e P'/P) y = a_i/P^e where all a_i have a root P^e.
    """
    beside = f.field.zero
    roots = [g for g in others if g.kind == "root"]
    if roots and not roots[1:] and roots[0].name not in _below(f, E):
        if (single := _without_root(f, roots[0], t)) is None:
            return None
        (f, beside), roots = single, []
    parts = exponential_sum(f, [*(g for g in others if g.kind != "root"), E], t)
    if roots or parts is None:
        return None
    for _, slope, a in parts:
        b = slope + beside
        if not slope.is_zero() and not _has_solution(b, a, t):
            return _no_solution(b, a, f.field.names[t])
    return None


def _no_solution(b: RationalFunction, a: RationalFunction, t: str) -> str:
    """Return that y' + b y = a has no rational solution."""
    y, minus = "y" if t != "y" else "z", max(terms(b.numerator))[1] < 0
    size = -b if minus else b
    times = "" if size == b.field.one else f"{in_brackets(repr(size))}*"
    slope = f"{a!r} {'+' if minus else '-'} {times}{y}"
    what = f"no rational function `{y}` of `{t}` has the derivative `{slope}`"
    return f"{what} (Bronstein 2005)"


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
    f: RationalFunction,
    E: Generator[RationalFunction],
    others: Sequence[Generator[RationalFunction]],
    t: int,
) -> str | None:
    """Return a_n of f = sum_(i <= n) a_i E^i whose integral is not b + c E, b rational, or None.

    With b that has the derivative a_n it is b E^n, elementary as E is, and int (f - (b E^n)') dt.
    """
    field = f.field
    k, rest = field.positions[E.name], field.polynomial(f.denominator)
    if rest.depends_on(k):
        return None
    a = by_powers(f.numerator, k)
    highest = field.polynomial(a[max(a)]) / rest
    b = None if E.kind == "integral" else antiderivative_in_field(highest, others, t)
    if b is not None:
        left = f - field.derivative(b * field.named(E.name) ** max(a), t)
        why = None if left.is_zero() else why_not_elementary(left, t)
        return why and f"by parts, {why}"
    slope = field.derivative(field.named(E.name), t)
    if others:
        return None
    if any(n > 1 and int(p.degrees()[t]) for p, n in factorize(highest.denominator)[1]):
        return None
    rest = proper(highest, t)
    if rest.is_zero() or field.derivative(rest / proper(slope, t), t).is_zero():
        return None
    return (
        f"the integral of `{highest!r}` is no rational function and multiple of `{E.name}` "
        "(Bronstein 2005)"
    )


def _has_solution(b: RationalFunction, a: RationalFunction, t: int) -> bool:
    """Tell whether y' + b y = a may have a rational solution."""
    try:
        return rational_solution(b, a, t) is not None
    except ValueError:
        return True
