"""Proposals: coordinates w on an interval in which the line element q(v) dv^2 is c dw^2.

Powers are tried first, then quadratic shapes, then changes of coordinates. Nothing here is trusted:
a candidate is accepted by :mod:`derive.inverse.acceptance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import TypeAlias

import sympy
from sympy import Expr, Max, Symbol, cosh, oo, sin, sinh, sqrt, tan, tanh

from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.signs import Signs
from derive.exact.towers.germ import Elementary, Unsettled
from derive.exact.towers.tower import to_field
from derive.language import from_sympy, to_sympy, to_text
from derive.language.tree import Tree, names

Interval: TypeAlias = tuple[Expr, Expr]
W = Symbol("w", positive=True)
"""The weight of a candidate; positive, so that SymPy unites its powers."""


@dataclass(frozen=True)
class Candidate:
    """A candidate v = F(w) with F'(w)^2 q(F(w)) = scale and the *inverse* w of v.

    The interval is the range of F; what is *assumed* of the parameters is positive in this case.
    """

    F: Expr
    inverse: Expr
    interval: Interval
    scale: Expr
    assumed: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class LineElement:
    """q(v) dv^2, and which parameters were declared positive."""

    q: Expr
    v: Symbol
    positive: frozenset[str] = frozenset()

    def signs(self, expression: Expr) -> Iterator[tuple[int, tuple[Expr, ...]]]:
        """Yield the sign of a constant, or both cases with what each assumes."""
        known = known_sign(expression, self.positive)
        if known is not None:
            yield known, ()
            return
        # The symbols of undeclared parameters are positive in SymPy: that case is stated.
        if not expression.is_negative:
            yield 1, (expression,)
        if not expression.is_positive:
            yield -1, (-expression,)

    def through(self, v: Expr, u: Symbol) -> LineElement:
        """Return it in another coordinate, v = v(u)."""
        pulled = self.q.subs(self.v, v) * sympy.diff(v, u) ** 2
        return replace(self, q=tidy(pulled), v=u)


def known_sign(expression: Expr, positive: frozenset[str]) -> int | None:
    """Return the proved sign of a function of the parameters, None where it depends on them."""
    try:
        tree = from_sympy(expression)
        if not names((tree,)):
            tower = Elementary({}, [tree])
            return tower.sign(tower.read(tree))
        field = FunctionField(names((tree,)))
        element = to_field(tree, field, "a constant")
    except (DeriveError, Unsettled):
        return None
    return 0 if element.is_zero() else Signs(positive).strict(element) or None


def tidy(expression: Expr) -> Expr:
    """Return an expression with powers united and common factors cancelled."""
    return sympy.powsimp(sympy.factor(sympy.powdenest(sympy.powsimp(expression), force=True)))


def _unequal(x: Expr) -> str:
    """Return that x is not 0: t != 2 of t - 2."""
    t, *others = sorted(x.free_symbols, key=str)
    slope = sympy.S.Zero if others else sympy.diff(x, t)
    known = slope.is_Rational and slope != 0
    return f"{t} != {sympy.expand(t - x / slope)}" if known else f"{x} != 0"


def defined(formulas: Iterable[Expr], parameters: Iterable[str]) -> Iterator[Expr]:
    """Yield functions of the parameters that formulas divide by, squared, or that stand in logs.

    In logs and roots they are factors: a of log(a*beta). Where these are so the formulas, which
    are taken where all parameters are positive, are what they are called.
    """
    own = {*parameters}
    for f in formulas:
        for power in f.atoms(sympy.Pow):
            if power.exp.could_extract_minus_sign():
                yield from (x**2 for x in _of_parameters(power.base, own))
            if not power.exp.is_Integer:
                yield from _of_parameters(power.base, own)
        for log in f.atoms(sympy.log):
            yield from _of_parameters(log.args[0], own)


def _of_parameters(product: Expr, parameters: Set[str]) -> Iterator[Expr]:
    """Yield the factors that are functions of parameters alone."""
    for x in sympy.Mul.make_args(sympy.factor_terms(product)):
        names_of_x = {s.name for s in x.free_symbols}
        if names_of_x and names_of_x <= parameters:
            yield x


def conditions(
    positive: frozenset[str], assumed: Sequence[Expr], beta_0: Tree | None, interval: Interval
) -> tuple[str, ...]:
    """Return what was assumed as text, and that a start with parameters lies in the interval.

    A power of a parameter asks that it be positive itself; a square asks that it not be 0.
    """
    # squares of what SymPy does not take to be positive
    squares = [x for x in assumed if x.is_Pow and x.exp == 2 and not x.base.is_positive]
    # Without its number, and a parameter in place of its power.
    bare = (sympy.factor_terms(x).as_coeff_Mul()[1] for x in assumed if x not in squares)
    cores = [x.base if x.is_Pow and x.base.is_Symbol else x for x in bare]
    known = positive | {x.name for x in cores if x.is_Symbol}
    kept = [x for x in cores if x.is_Symbol or known_sign(x, known) != 1]
    generic = [_unequal(x.base) for x in squares if known_sign(x.base, known) is None]
    texts = [*(f"{x} > 0" for x in kept), *generic]
    if beta_0 is not None and names((beta_0,)):
        texts += _inside(beta_0, interval, known)
    return tuple(dict.fromkeys(texts))


def _inside(beta_0: Tree, interval: Interval, known: frozenset[str]) -> Iterator[str]:
    """Yield on which side of an end a start has to be, where that is not known."""
    x = to_sympy(beta_0, {name: Symbol(name, positive=True) for name in names((beta_0,))})
    for side, sign, end in zip("><", (1, -1), interval, strict=True):
        parts = (sign * (x - end)).as_independent(*x.free_symbols, as_Add=False)
        if not end.is_infinite and {known_sign(part, known) for part in parts} != {1}:
            yield f"{to_text(beta_0)} {side} {end}"


ZERO, ONE = sympy.S.Zero, sympy.S.One
U = Symbol("u", positive=True)
Change: TypeAlias = tuple[Expr, Expr]
"""v as a function of U, increasing or decreasing in u > 0, and u as one of v."""


def candidates(element: LineElement, depth: int = 3) -> Iterator[Candidate]:
    """Yield candidates, the simplest first; after *depth* changes of coordinates none."""
    q, v = element.q, element.v
    if v not in q.free_symbols:
        for sign, assumed in element.signs(q):
            if sign > 0:
                yield Candidate(W, v, (-oo, oo), q, assumed)
        return
    yield from _powers(element)
    P = sympy.cancel(1 / q)
    degree = int(sympy.degree(P, v)) if P.is_polynomial(v) else 0
    if degree in (2, 4):
        yield from _shapes(element, P)
    proposals = (_exponential, _double_root) if depth else ()
    for change in chain.from_iterable(proposal(element) for proposal in proposals):
        yield from _carried_back(element, change, depth)


def _powers(element: LineElement) -> Iterator[Candidate]:
    """q = kappa |v - b|^n: w^(2/(n+2)), or e^w for n = -2 (entropy, Burg entropy, depth).

    The exponent may have parameters, as in tempered entropies, Q'' = beta^-t.
    """
    q, v = element.q, element.v
    ratio = sympy.expand(tidy(q / sympy.diff(q, v)))
    slope = sympy.simplify(sympy.diff(ratio, v))
    if slope == 0 or slope.has(v) or not slope.is_rational_function():
        return
    n = sympy.cancel(1 / slope)
    b = sympy.cancel(v - n * ratio)
    m = None if n == -2 else 2 / sympy.cancel(n + 2)
    generic = () if n.is_Rational else (sympy.expand(n + 2) ** 2,)
    for side in (1, -1):
        kappa = tidy(q.subs(v, b + side))
        if kappa.is_real is False or kappa.has(sympy.I):
            continue
        y = side * (v - b)
        interval = (b, oo) if side > 0 else (-oo, b)
        if m is None:
            shape, inverse, scale = sympy.exp(W), sympy.log(y), kappa
        else:
            shape, inverse, scale = W**m, y ** (1 / m), tidy(kappa * m**2)
        for sign, assumed in element.signs(kappa):
            if sign > 0:
                yield Candidate(b + side * shape, inverse, interval, scale, (*assumed, *generic))


def completed(P: Expr, v: Symbol) -> tuple[Expr, Expr, Expr] | None:
    """Return (a, b, d) with P = a ((v - b)^2 + d)^(n/2), for n = 2 and 4; None where it is not."""
    a, slope, next_, *_ = sympy.Poly(P, v).all_coeffs()
    n = sympy.degree(P, v)
    b = sympy.cancel(-slope / (n * a))
    d = sympy.factor(sympy.cancel(next_ / a - sympy.binomial(n, 2) * b**2) * 2 / n)
    whole = a * ((v - b) ** 2 + d) ** (n / 2)
    return (sympy.factor(a), b, d) if sympy.cancel(P - whole) == 0 else None


def cases(
    element: LineElement, a: Expr, d: Expr
) -> Iterator[tuple[int, int, Expr, tuple[Expr, ...]]]:
    """Yield the signs of a and d, sqrt(|d|), and what all three assume of the parameters."""
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            r = sqrt(inner * d)
            free = r.is_rational_function() and known_sign(r, element.positive) is None
            yield sign, inner, r, tuple(dict.fromkeys((*first, *second, *((r,) if free else ()))))


SHAPES = {
    (2, 1, 1): ((sinh(W), sympy.asinh, -oo, oo),),
    (2, 1, -1): ((cosh(W), sympy.acosh, ONE, oo),),
    (2, -1, -1): ((sin(W), sympy.asin, -ONE, ONE),),
    (4, 1, 1): ((tan(W), sympy.atan, -oo, oo),),
    (4, 1, -1): ((tanh(W), sympy.atanh, -ONE, ONE), (1 / tanh(W), sympy.acoth, ONE, oo)),
}
"""S with S'^2 = +-(S^2 +- 1)^(n/2), its inverse and its range, by n and these signs."""


def _shapes(element: LineElement, P: Expr) -> Iterator[Candidate]:
    """P = a ((v - b)^2 + d)^(n/2): v = b +- r S, r = sqrt(|d|), or from an end v = 0 a square."""
    v, n = element.v, int(sympy.degree(P, element.v))
    form = completed(P, v)
    if form is None:
        return
    a, b, d = form
    for sign, inner, r, assumed in cases(element, a, d):
        shapes = SHAPES.get((n, sign, inner), ())
        c = sympy.factor(1 / (sign * a * r ** (n - 2))) if shapes else a
        for side in (1, -1):
            # P = a v (v + 2 side r) > 0 between v = 0 and the other root, or infinity.
            if (n, inner) == (2, -1) and sympy.cancel(b + sign * side * r) == 0:
                S, inverse, far = (sinh, sympy.asinh, oo) if sign > 0 else (sin, sympy.asin, 2 * r)
                ends = (ZERO, far) if side > 0 else (-far, ZERO)
                w = inverse(sqrt(side * v / (2 * r)))
                yield Candidate(side * 2 * r * S(W) ** 2, w, ends, 4 * c, assumed)
        for shape, inverse, low, high in shapes:
            for side in (1, -1) if low == 1 else (1,):
                F, x = b + side * r * shape, side * (v - b) / r
                ends = (low, high) if side > 0 else (-high, -low)
                left, right = (end if end.is_infinite else b + r * end for end in ends)
                yield Candidate(F, inverse(x), (left, right), c, assumed)


def _carried_back(element: LineElement, change: Change, depth: int) -> Iterator[Candidate]:
    """Yield the candidates for the line element in u, in v again."""
    u = Symbol(f"u{depth}", positive=True)
    forth, back = change[0].subs(U, u), change[1]
    for candidate in candidates(element.through(forth, u), depth - 1):
        low, high = (Max(end, 0) for end in candidate.interval)
        if low == high:
            continue
        ends = [sympy.limit(forth, u, end, "-" if end == high else "+") for end in (low, high)]
        slope = sympy.diff(forth, u).subs(u, 1)
        falls = sympy.re(sympy.N(slope.subs(dict.fromkeys(slope.free_symbols, 1)))) < 0
        left, right = ends[::-1] if falls else ends
        F = sympy.simplify(forth.subs(u, candidate.F))
        F = sympy.expand_log(sympy.powdenest(F, force=True), force=True)
        inverse = candidate.inverse.subs(u, back)
        yield Candidate(F, inverse, (left, right), candidate.scale, candidate.assumed)


def _exponential(element: LineElement) -> Iterator[Change]:
    """Functions of e^(lambda v): u = e^(lambda v)."""
    v = element.v
    rates = {sympy.diff(e.exp, v) for e in element.q.atoms(sympy.exp) if e.has(v)}
    if not rates or any(rate.has(v) for rate in rates):
        return
    first = min(rates, key=sympy.default_sort_key)
    ratios = [sympy.cancel(rate / first) for rate in rates]
    if not all(isinstance(ratio, sympy.Rational) for ratio in ratios):
        return
    rate = first * reduce(sympy.gcd, ratios)
    rate = -rate if rate.could_extract_minus_sign() else rate
    yield sympy.log(U) / rate, sympy.exp(rate * v)


def _double_root(element: LineElement) -> Iterator[Change]:
    """dv^2/P with P of degree <= 4 and a double root b: v = b +- 1/u leaves a quadratic P."""
    v = element.v
    P = sympy.cancel(1 / element.q)
    if not P.is_polynomial(v) or not 2 < sympy.degree(P, v) <= 4:
        return
    for factor, multiplicity in sympy.factor_list(P, v)[1]:
        if multiplicity >= 2 and sympy.degree(factor, v) == 1:
            b = sympy.cancel(v - factor / sympy.LC(factor, v))
            for side in (1, -1):
                yield b + side / U, side / (v - b)
