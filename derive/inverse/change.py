"""Changes of coordinates v = G(u), u > 0, that bring a line element to a known one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

import sympy
from sympy import Expr, Max, Symbol

from derive.inverse.line_element import Candidate, LineElement

U = Symbol("u", positive=True)


@dataclass(frozen=True)
class Change:
    """v = forth(u), u = back(v), increasing or decreasing in u > 0."""

    element: LineElement
    forth: Expr
    back: Expr

    def candidates(
        self, search: Callable[[LineElement], Iterator[Candidate]], depth: int
    ) -> Iterator[Candidate]:
        """Yield the candidates that *search* finds for the line element in u, carried back to v."""
        u = Symbol(f"u{depth}", positive=True)
        forth = self.forth.subs(U, u)
        for candidate in search(self.element.through(forth, u)):
            low, high = (Max(end, 0) for end in candidate.interval)
            if low == high:
                continue
            ends = [sympy.limit(forth, u, end, "-" if end == high else "+") for end in (low, high)]
            if _falls(forth, u):
                ends.reverse()
            F = sympy.simplify(forth.subs(u, candidate.F))
            F = sympy.expand_log(sympy.powdenest(F, force=True), force=True)
            inverse = candidate.inverse.subs(u, self.back)
            yield Candidate(F, inverse, (ends[0], ends[1]), candidate.scale, candidate.assumed)


def _falls(forth: Expr, u: Symbol) -> bool:
    slope = sympy.diff(forth, u).subs(u, 1)
    return bool(sympy.re(sympy.N(slope.subs(dict.fromkeys(slope.free_symbols, 1)))) < 0)


def changes(element: LineElement) -> Iterator[Change]:
    """Yield the changes that fit what q is made of."""
    for proposal in (_exponential, _root, _double_root, _power_of_v):
        yield from proposal(element)


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
    yield Change(element, sympy.log(U) / rate, sympy.exp(rate * v))


def _root(element: LineElement) -> Iterator[Change]:
    """Functions of (s v + t)^(1/n): u = (s v + t)^(1/n)."""
    v = element.v
    roots = [
        p
        for p in element.q.atoms(sympy.Pow)
        if p.base.has(v) and isinstance(p.exp, sympy.Rational) and p.exp.q > 1
    ]
    for base in sorted({p.base for p in roots}, key=sympy.default_sort_key):
        slope = sympy.diff(base, v)
        if not slope.has(v):
            n = sympy.ilcm(1, *(p.exp.q for p in roots if p.base == base))
            offset = sympy.expand(base - slope * v)
            yield Change(element, (U**n - offset) / slope, base ** sympy.Rational(1, n))


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
                yield Change(element, b + side / U, side / (v - b))


def _power_of_v(element: LineElement) -> Iterator[Change]:
    """Where v^2 q depends on v^n only: v = +-u^(1/n)."""
    v = element.v
    if not element.q.is_rational_function(v):
        return
    halves = sympy.fraction(sympy.cancel(v**2 * element.q))
    exponents = [m[0] for half in halves for m in sympy.Poly(half, v).monoms()]
    n = sympy.igcd(0, *exponents)
    if n < 2:
        return
    for side in (1, -1) if n % 2 == 0 else (1,):
        yield Change(element, side * U ** sympy.Rational(1, n), (side * v) ** n)
