"""Integrals of exponentials and logarithms that have names: erf, Ei and Li_2.

What Liouville's theorem leaves (:mod:`derive.exact.liouville`) often has a name. For E = exp(A(u)),
and functions that are rational with known poles a,

    int p(u) E^k du, A of degree 2           erf or erfi, and a polynomial times E^k
    int r(u) E^k du, A = q u + b             Ei(k q (u - a)), and a rational function times E^k
    int (r(E) + u s(E)) du, E = exp(q u)     Li_2(E/a) where E/a < 1, Li_2(1 - E/a) if a > 0, logs

What is u^(n - 1) times a function of u^n is integrated over that. A logarithm is u itself, in E.
All are proposals: who asks for one differentiates it back.

Source: Abramowitz and Stegun 1964, chapters 5 and 7, and 27.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

import sympy
from sympy import Expr, Poly, Rational, Symbol


class Li2(sympy.Function):  # type: ignore[misc]
    """The dilogarithm Li_2(z) = -int_0^z log(1 - x)/x dx of z < 1.

    >>> Li2(Symbol("z")).diff(Symbol("z"))
    -log(1 - z)/z
    """

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return its derivative."""
        (z,) = self.args
        return -sympy.log(1 - z) / z


NAMED: dict[type[Expr], str] = {
    sympy.erf: "the error function",
    sympy.erfi: "the imaginary error function",
    sympy.Ei: "the exponential integral",
    Li2: "the dilogarithm",
}
"""Functions that are not elementary, in words."""


def meanings(e: Expr) -> list[str]:
    """Return what their names mean, of those that an expression uses."""
    return [f"`{f.__name__}` {what}" for f, what in NAMED.items() if e.has(f)]


Fraction: TypeAlias = tuple[Expr, Expr, int]
"""c/(x - a)^m as (c, a, m)."""


@dataclass(frozen=True)
class Exponential:
    """E = exp(A(u)), for integrals over u of what is rational in u and E.

    Attributes:
        rational: integrates a function that is rational in u, or in E; None where it cannot.
        sign: of a constant, or of a function of E that has no zero; 0 where it is not known.
    """

    u: Symbol
    E: Symbol
    A: Expr
    rational: Callable[[Symbol, Expr], Expr | None]
    sign: Callable[[Expr], int]

    def integral(self, g: Expr) -> Expr | None:
        """Return int g du for a quotient of polynomials in u and E, or None."""
        if not self.A.is_polynomial(self.u):
            return None
        if (found := self._in_power(g)) is not None:
            return found
        q, b = self._line(1)
        is_line = self._degree == 1 and b == 0
        if is_line and not g.has(self.u):
            return self.rational(self.E, sympy.cancel(g / (q * self.E)))
        top, bottom = g.as_numer_denom()
        below, powers = Poly(bottom, self.E), Poly(top, self.u)
        if len(below.terms()) == 1:
            ((m,), b), *_ = below.terms()
            terms = Poly(top, self.E).terms()
            return _total(self._of_power(sympy.cancel(c / b), n - m) for (n,), c in terms)
        if bottom.has(self.u) or powers.degree() > 1 or not is_line:
            return None
        rest, slope = (sympy.cancel(powers.nth(n) / (q * self.E * bottom)) for n in (0, 1))
        return _total((self.rational(self.E, rest), self._of_line(slope / q)))

    def _in_power(self, g: Expr) -> Expr | None:
        """Return int g du over s = u^n, in which A is a polynomial and g u rational, or None."""
        u, s = self.u, sympy.Dummy("s", positive=True)
        n = gcd(*(m for (m,) in Poly(self.A, u).monoms()))
        A, h = (sympy.cancel(e).xreplace({u: s ** Rational(1, n or 1)}) for e in (self.A, g * u))
        if n < 2 or not h.is_rational_function(s):
            return None

        def rational(x: Symbol, part: Expr) -> Expr | None:
            part = part.xreplace({s: u**n})
            return self.rational(*((u, part * n * u ** (n - 1)) if x is s else (x, part)))

        found = Exponential(s, self.E, A, rational, self.sign).integral(sympy.cancel(h / (n * s)))
        return None if found is None else found.xreplace({s: u**n})

    @property
    def _degree(self) -> int:
        return int(Poly(self.A, self.u).degree())

    def _line(self, k: int) -> tuple[Expr, Expr]:
        """Return q and b of k A = q u + b."""
        exponent = Poly(k * self.A, self.u)
        return exponent.nth(1), exponent.nth(0)

    def _of_power(self, r: Expr, k: int) -> Expr | None:
        """Return int r(u) E^k du."""
        if not k:
            return self.rational(self.u, r)
        if self._degree == 2:
            return self._of_square(r, k) if r.is_polynomial(self.u) else None
        return self._of_poles(r, k) if self._degree == 1 else None

    def _of_square(self, p: Expr, k: int) -> Expr | None:
        """Return int p E^k du, p a polynomial, for k A = a u^2 + b u + c."""
        u, found, rest = self.u, sympy.S.Zero, Poly(p, self.u)
        a, b, c = Poly(k * self.A, u).all_coeffs()
        while (n := rest.degree()) > 0:
            term = Poly(rest.LC() / (2 * a) * u ** (n - 1), u)
            found += term.as_expr()
            rest -= term.diff(u) + term * Poly(2 * a * u + b, u)
        found *= sympy.exp(k * self.A)
        if rest.is_zero:
            return found
        if not (sign := self.sign(a)):
            return None
        s, named = sympy.sqrt(sign * a), sympy.erfi if sign > 0 else sympy.erf
        bell = named(sympy.expand(s * u + sign * b / (2 * s)))
        height = sympy.exp(c - b**2 / (4 * a)) * sympy.sqrt(sympy.pi) / (2 * s)
        return found + rest.as_expr() * height * bell

    def _of_poles(self, r: Expr, k: int) -> Expr | None:
        """Return int r(u) E^k du for k A = q u + b, by parts."""
        u, (q, b) = self.u, self._line(k)
        if (parts := _fractions(r, u)) is None:
            return None
        slope, fractions = parts
        before, after, factor = sympy.S.Zero, sympy.S.Zero, 1 / q
        while not slope.is_zero:
            before, slope, factor = before + factor * slope.as_expr(), slope.diff(u), -factor / q
        for c, a, m in fractions:
            while m > 1:
                before, c, m = before - c / ((m - 1) * (u - a) ** (m - 1)), c * q / (m - 1), m - 1
            after += c * sympy.exp(q * a + b) * sympy.Ei(sympy.expand(q * (u - a)))
        return before * sympy.exp(k * self.A) + after

    def _of_line(self, r: Expr) -> Expr | None:
        """Return int r(E) log E dE for E = exp(q u), q u in the place of log E."""
        E, log_E = self.E, self._line(1)[0] * self.u
        if (parts := _fractions(r, E)) is None:
            return None
        entire, fractions = parts
        found = list[Expr | None]()
        for (n,), c in entire.terms():
            found.append(c * E ** (n + 1) * (log_E / (n + 1) - Rational(1, (n + 1) ** 2)))
        for c, a, m in fractions:
            if m > 1:
                below = (m - 1) * (E - a) ** (m - 1)
                found += [-c * log_E / below, self.rational(E, sympy.cancel(c / (below * E)))]
            elif a == 0:
                found.append(c * log_E**2 / 2)
            elif (sign := self.sign(a)) > 0:
                log = self.rational(E, c / (E - a))
                found += [log and sympy.log(a) * log, -c * Li2(1 - E / a)]
            elif sign or self.sign(1 - E / a) > 0:
                found.append(c * (log_E * sympy.log(1 - E / a) + Li2(E / a)))
            else:
                found.append(None)
        return _total(found)


def _total(parts: Iterable[Expr | None]) -> Expr | None:
    """Return a sum, None where a part is not known."""
    known = [*parts]
    return None if None in known else sympy.Add(*known)


def _fractions(r: Expr, x: Symbol) -> tuple[Poly, list[Fraction]] | None:
    """Return a polynomial and fractions whose sum is r, None where r has other poles."""
    top, bottom = (Poly(part, x) for part in sympy.cancel(r).as_numer_denom())
    if any(f.degree() > 1 for f, _ in bottom.factor_list()[1]):
        return None
    entire, top = top.div(bottom)
    parts = sympy.apart(top.as_expr() / bottom.as_expr(), x)
    fractions = list[Fraction]()
    for part in () if top.is_zero else sympy.Add.make_args(parts):
        over, below = part.as_numer_denom()
        scale, ((f, m),) = Poly(below, x).factor_list()
        fractions.append((over / (scale * f.nth(1) ** m), -f.nth(0) / f.nth(1), m))
    return entire, fractions
