"""Integrals that are no elementary functions: what Liouville's theorem asks of them fails.

Let f be rational in t, in E = exp(u(t)) or log(u(t)), and in what of such functions is below E,
with independent constants. If int f dt is elementary, then

    residues at simple poles of f in E are constants: for f = A/(p q), p irreducible in E, the roots
        z of the resultant of A - z q p' and p are free of t
    for E = exp(u) and f = sum_i a_i E^i each y' + i u' y = a_i, i != 0, has a rational solution;
        where all have a factor P^e, as sqrt(P), each y' + (i u' + e P'/P) y = a_i/P^e

And w dt/y, y^2 = P, P a polynomial without double roots, has no elementary integral where it has no
residue and is the differential of no function of t and y: an elementary one is such a function
beside logarithms, which bring residues. So it is in E = exp(q t), of what t is in there alone.

And for w/y, y^2 = P = a L + b, with L a logarithm, or t, that is new over a field of w^2, a and b:
y is transcendental there, y -> -y keeps derivatives, and no polynomial in y divides its derivative,
so that an elementary integral is an odd polynomial in y. Its highest coefficient is c/s^N, s^2 = a;
the next one would need L but for N = 1: then w/y is a multiple of the derivative of sqrt(P/a).

And t^m (a + b t^n)^p with fractions m, n and p has one where p, (m + 1)/n or their sum is whole.

Source: Bronstein 2005, Symbolic Integration I, theorem 5.6.1, sections 5.8 and 5.9; for square
roots Ritt 1948, Integration in Finite Terms; for binomials Chebyshev 1853. That of a logarithm
under a root is derived here, from Liouville 1835.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

from flint import fmpz_mpoly_ctx

from derive.exact.field.factors import factored
from derive.exact.field.function_field import FunctionField, RationalFunction, names_in
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
    square = f * f
    why = why_not_elementary(f) or why_not_elementary_root(square)
    why = why or why_not_elementary_logarithm(square) or why_not_elementary_binomial(f)
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
    """Return why int f dt is no elementary function for f^2 rational in t, or in exp(q t); or None.

    >>> from derive.exact.field.function_field import FunctionField
    >>> (x,) = FunctionField(("t",)).gens
    >>> why_not_elementary_root(1 / (x**3 - x))
    'the differential of `1/sqrt(t*(t - 1)*(t + 1))` has no residue and is not exact (Ritt 1948)'
    """
    field, names, where = square.field, [*square.field.names], ""
    moving = [g for g in field.generators if g.name in square.variables() and _moves(square, g, t)]
    if moving:
        (E, *others), t = moving, field.positions[moving[0].name]
        pace = field.derivative(field.named(E.name), 0)
        if (
            others
            or E.kind != "exp"
            or (pace / field.gens[t]).depends_on(0)
            or square.depends_on(0)
        ):
            return None
        square, names[t], where = square / pace**2, "E", f"with `E = {E.name}` "
    w, P = _over_root(square, t)
    if not _has_second_kind(w, P, t):
        return None
    what = f"the differential of `{_over(w, P, names)}`"
    return f"{where}{what} has no residue and is not exact (Ritt 1948)"


def _over(w: RationalFunction, P: RationalFunction, names: Sequence[str]) -> str:
    """Return w/sqrt(P) as it is written, P in factors."""
    top, bottom = (w.field.polynomial(part).written(names) for part in w.parts)
    number, powers = factored(P)
    inside = [p.written(names) for p, _ in powers]
    inside[:1] = [(powers[0][0] * (1 if number > 0 else -1)).written(names)]
    root = f"sqrt({'*'.join(map(_in_brackets, inside)) if inside[1:] else inside[0]})"
    below = root if bottom == "1" else f"({_in_brackets(bottom)}*{root})"
    return f"{_in_brackets(top)}/{below}"


def why_not_elementary_logarithm(square: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function for f = w/sqrt(P), P linear in logarithms.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> f, g = (build_elements([parse_expression(x)], "t")[0] for x in ("1/log(t)", "1/(t*log(t))"))
    >>> print(why_not_elementary_logarithm(f)[:67])
    `1/sqrt(log(t))` is no multiple of the derivative of `sqrt(log(t))`
    >>> why_not_elementary_logarithm(g / g.field.gens[0])  # of 2 sqrt(log(t))
    """
    field, (number, powers) = square.field, factored(square)
    found = next(_logarithms_under_root(square, t), None)
    if found is None:
        return None
    P, a = found
    pace = field.derivative(P / a, t)
    if field.derivative(square * P / (a * pace**2), t).is_zero():
        return None
    w = prod((p ** ((n + n % 2) // 2) for p, n in powers), start=field.one)
    sign = field.constant(1 if number > 0 else -1)
    whole = _over(w, prod((p for p, n in powers if n % 2), start=sign), field.names)
    root = P / prod((p**n for p, n in factored(a)[1]), start=field.one)
    what = f"`{whole}` is no multiple of the derivative of `sqrt({root!r})`"
    return f"{what}, which a logarithm under a root requires (Liouville 1835)"


def _logarithms_under_root(
    square: RationalFunction, t: int
) -> Iterator[tuple[RationalFunction, RationalFunction]]:
    """Yield P = a L + b and a for the L that are in P alone of square = w^2/P, and new beside it.

    What else is used has derivatives without L.
    """
    field, used = square.field, names_in(square)
    slopes = {n: field.derivative(field.named(n), t) for n in field.names if n in used}
    calls = [g.name for g in field.generators if g.kind == "log" and g.name in used]
    moving = [n for n in (*calls, field.names[t]) if n in used and not slopes[n].is_zero()]
    for k in (field.positions[L] for L in moving):
        within = [(P, n) for P, n in factored(square)[1] if P.depends_on(k)]
        if [n for _, n in within] == [-1] and not any(x.depends_on(k) for x in slopes.values()):
            ((P, _),) = within
            a = P.partial(k)
            yield from () if a.depends_on(k) else [(P, a)]


def why_not_elementary_binomial(f: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function for f = c t^m (a + b t^n)^p; else None.

    Where m or p are open it is for fractions of which none of the three cases holds.

    >>> from derive.exact.towers.tower import build_elements
    >>> from derive.language import parse_expression
    >>> (f,) = build_elements([parse_expression("(1 + t**2)**(1/4)")], "t")
    >>> print(why_not_elementary_binomial(f))
    the binomial differential of `(t**2 + 1)**(1/4)` is none of the elementary ones (Chebyshev 1853)
    """
    field, x = f.field, f.field.gens[t]
    powers = _powers(f)
    m = powers.pop(x, field.zero)
    moving = [(h, p) for h, p in powers.items() if not field.derivative(h, t).is_zero()]
    if len(moving) != 1:
        return None
    ((h, p),) = moving
    known = _coefficients(h, t)
    if len(known) != 2 or any(not field.derivative(c, t).is_zero() for c in known.values()):
        return None
    low, high = sorted(known)
    m, n = m + low * p, high - low
    tests = p, (m + 1) / n, p + (m + 1) / n
    if any(q.is_constant() and q.value().denominator == 1 for q in tests):
        return None
    what = f"({h!r})**({p!r})" if m.is_zero() else f"{x!r}**({m!r})*({h!r})**({p!r})"
    open_ = dict.fromkeys(name for q in tests for name in q.variables())
    given = f", {', '.join(f'`{name}`' for name in open_)} rational," if open_ else ""
    why = "is none of the elementary ones (Chebyshev 1853)"
    return f"the binomial differential of `{what}`{given} {why}"


def _powers(f: RationalFunction) -> dict[RationalFunction, RationalFunction]:
    """Return the irreducible factors of f, those of what is under roots and powers, with powers."""
    field, powers = f.field, dict[RationalFunction, RationalFunction]()
    calls = {g.name: g for g in field.generators if g.kind in ("root", "power")}
    for g, n in factored(f)[1]:
        inside, exponent = [(g, 1)], field.constant(n)
        if (call := calls.get(repr(g))) is not None:
            inside = factored(field.embed(call.argument))[1]
            root = call.kind == "root"
            exponent = exponent / call.index if root else exponent * field.embed(call.exponent)
        for h, k in inside:
            powers[h] = powers.get(h, field.zero) + k * exponent
    return powers


def _over_root(square: RationalFunction, t: int) -> tuple[RationalFunction, RationalFunction]:
    """Return w and P without double roots, f = w/sqrt(P) up to a constant."""
    field, powers = square.field, [(p, n) for p, n in factored(square)[1] if p.depends_on(t)]
    w = prod((p ** ((n + n % 2) // 2) for p, n in powers), start=field.one)
    return w, prod((p for p, n in powers if n % 2), start=field.one)


def _has_second_kind(w: RationalFunction, P: RationalFunction, t: int) -> bool:
    """Tell whether w dt/y, y^2 = P, is shown to have no residue, and to be no differential.

    It is then d(v y) = (v' P + v P'/2) dt/y, v with the poles of w, and a combination of t^j dt/y,
    j <= deg P - 2, which are a basis of what has no finite pole, up to differentials.
    """
    field, x = w.field, w.field.gens[t]
    degree, slope = int(P.numerator.degrees()[t]), P.partial(t)
    # Distinct irreducible factors meet nowhere, but by roots that are constants.
    rooted = any(g.relation() and g.name in P.variables() for g in field.generators)
    resultant = P.numerator.resultant(slope.numerator, field.names[t]) if rooted else field.one
    if degree < 3 or resultant.is_zero():
        return False
    poles = [(field.polynomial(p), n) for p, n in factorize(w.denominator)[1] if p.degrees()[t]]
    below = prod((p**n for p, n in poles), start=field.one)
    highest = max(_degree(w, t) - degree + 1, -1) + _degree(below, t)
    if highest > MAXIMAL_DEGREE:
        return False
    tried = (x**j / below for j in range(highest + 1))
    exact = [v.partial(t) * P + v * slope / field.constant(2) for v in tried]
    common = below * prod((p for p, _ in poles), start=field.one)
    whole = [*exact, *_without_residues(P, degree, t)]
    return _is_combination(w, whole, common, t) and not _is_combination(w, exact, common, t)


def _without_residues(P: RationalFunction, degree: int, t: int) -> list[RationalFunction]:
    """Return the combinations of t^j, j <= deg P - 2, whose r dt/y has no residue at infinity.

    There 1/y is t^(-g - 1) sum_k c_k t^-k up to a constant, for P of degree 2 g + 2.
    """
    field, x, middle = P.field, P.field.gens[t], degree // 2 - 1
    if degree % 2:
        return [x**j for j in range(degree - 1)]
    known, c = _coefficients(P, t), [field.one]
    a = [known.get(degree - i, field.zero) / known[degree] for i in range(middle + 1)]
    for k in range(1, middle + 1):
        parts = (
            field.constant(Fraction(2 * k - i, 2 * k)) * a[i] * c[k - i] for i in range(1, k + 1)
        )
        c.append(-sum(parts, field.zero))
    high = (x ** (middle + k) - c[k] * x**middle for k in range(1, middle + 1))
    return [*(x**j for j in range(middle)), *high]


def _is_combination(
    f: RationalFunction, parts: Sequence[RationalFunction], common: RationalFunction, t: int
) -> bool:
    """Tell whether f = sum_i c_i f_i, all of which are polynomials over a common denominator."""
    rows = [_coefficients(g * common, t) for g in (*parts, f)]
    size = max((max(row, default=0) for row in rows), default=0) + 1
    matrix = [[row.get(n, f.field.zero) for n in range(size)] for row in rows]
    return rank(matrix) == rank(matrix[:-1])


def _leading(f: RationalFunction, t: int) -> RationalFunction:
    """Return the coefficient of the highest power of t."""
    found = _coefficients(f, t)
    return found[max(found)]


def _in_brackets(text: str) -> str:
    """Return a polynomial as a factor of a product."""
    return f"({text})" if " " in text else text


def _moves(f: RationalFunction, g: Generator[RationalFunction], t: int) -> bool:
    return not f.field.derivative(f.field.named(g.name), t).is_zero()


def _degree(f: RationalFunction, t: int) -> int:
    """Return the degree in t of a quotient of polynomials."""
    top, bottom = (int(x.degrees()[t]) for x in f.parts)
    return top - bottom


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
    moving = [g for g in field.generators if g.name in f.variables() and _moves(f, g, t)]
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
            times = "" if size == field.one else f"{_in_brackets(repr(size))}*"
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
    columns = [field.derivative(y, t) + b * y for y in tried]
    common = prod((field.polynomial(p) ** n for p, n in poles), start=field.one)
    common = common * field.polynomial(b.denominator)
    return _is_combination(a, columns, common, t)


def _coefficients(f: RationalFunction, t: int) -> dict[int, RationalFunction]:
    """Return the coefficients of a polynomial in t over its denominator, which is free of t."""
    field = f.field
    below = field.polynomial(f.denominator)
    return {n: field.polynomial(c) / below for n, c in by_powers(f.numerator, t).items()}
