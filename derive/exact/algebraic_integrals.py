"""Integrals of roots of polynomials that are no elementary functions.

w dt/y, y^2 = P, P a polynomial without double roots, has no elementary integral where it has no
residue and is the differential of no function of t and y: an elementary one is such a function
beside logarithms, which bring residues. So it is in E = exp(q t), of what t is in there alone.

And t^m (a + b t^n)^p with fractions m, n and p has one where p, (m + 1)/n or their sum is whole.

Source: Ritt 1948, Integration in Finite Terms; for binomials Chebyshev 1853.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.rational_solutions import (
    MAXIMAL_DEGREE,
    coefficients,
    combination,
    degree_in,
    moves,
)


def why_not_elementary_root(square: RationalFunction, t: int = 0) -> str | None:
    """Return why int f dt is no elementary function for f^2 rational in t, or in exp(q t); or None.

    >>> from derive.exact.field.function_field import FunctionField
    >>> (x,) = FunctionField(("t",)).gens
    >>> why_not_elementary_root(1 / (x**3 - x))
    'the differential of `1/sqrt(t*(t - 1)*(t + 1))` has no residue and is not exact (Ritt 1948)'
    """
    field, names, where = square.field, [*square.field.names], ""
    moving = [g for g in field.generators if g.name in square.variables() and moves(square, g, t)]
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
    what = f"the differential of `{over_root(w, P, names)}`"
    return f"{where}{what} has no residue and is not exact (Ritt 1948)"


def over_root(
    w: RationalFunction, P: RationalFunction, names: Sequence[str], beside: str = ""
) -> str:
    """Return w/sqrt(P) as it is written, P in factors, with another factor below the bar."""
    top, bottom = (w.field.polynomial(part).written(names) for part in w.parts)
    number, powers = factored(P)
    inside = [p.written(names) for p, _ in powers]
    inside[:1] = [(p * (1 if number > 0 else -1)).written(names) for p, _ in powers[:1]]
    root = f"sqrt({'*'.join(map(in_brackets, inside)) if inside[1:] else ''.join(inside)})"
    below = [x for x in (in_brackets(bottom), root * bool(powers), beside) if x not in ("", "1")]
    whole = f"({'*'.join(below)})" if below[1:] else "".join(below)
    return f"{in_brackets(top)}/{whole}" if below else top


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
    known = {n: c for n, c in enumerate(coefficients(h, t)) if not c.is_zero()}
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
    one = field.ring.constant(1)
    resultant = P.numerator.resultant(slope.numerator, field.names[t]) if rooted else one
    if degree < 3 or field.polynomial(resultant).is_zero():
        return False
    poles = [(field.polynomial(p), n) for p, n in factorize(w.denominator)[1] if p.degrees()[t]]
    below = prod((p**n for p, n in poles), start=field.one)
    highest = max(degree_in(w, t) - degree + 1, -1) + degree_in(below, t)
    if highest > MAXIMAL_DEGREE:
        return False
    tried = (x**j / below for j in range(highest + 1))
    exact = [v.partial(t) * P + v * slope / field.constant(2) for v in tried]
    common = below * prod((p for p, _ in poles), start=field.one)
    whole = [*exact, *_without_residues(P, degree, t)]
    none = combination(w, exact, common, t) is None
    return none and combination(w, whole, common, t) is not None


def _without_residues(P: RationalFunction, degree: int, t: int) -> list[RationalFunction]:
    """Return the combinations of t^j, j <= deg P - 2, whose r dt/y has no residue at infinity.

    There 1/y is t^(-g - 1) sum_k c_k t^-k up to a constant, for P of degree 2 g + 2.
    """
    field, x, middle = P.field, P.field.gens[t], degree // 2 - 1
    if degree % 2:
        return [x**j for j in range(degree - 1)]
    known, c = coefficients(P, t), [field.one]
    a = [known[degree - i] / known[degree] for i in range(middle + 1)]
    for k in range(1, middle + 1):
        parts = (
            field.constant(Fraction(2 * k - i, 2 * k)) * a[i] * c[k - i] for i in range(1, k + 1)
        )
        c.append(-sum(parts, field.zero))
    high = (x ** (middle + k) - c[k] * x**middle for k in range(1, middle + 1))
    return [*(x**j for j in range(middle)), *high]


def in_brackets(text: str) -> str:
    """Return a polynomial as a factor of a product."""
    return f"({text})" if " " in text else text
