"""Interpolants of least norm, and limits of steepest descent that are or are not among them.

w minimises |w|_p subject to X w = y, 1 < p < inf, where <n, sign(w) |w|^(p-1)> = 0 for all n with
X n = 0. A limit of steepest descent that comes on a straight line does: w is a multiple of
sign(g) |g|^(q-1), g = X^T r, so that sign(w) |w|^(p-1) is one of g.

The limit of steepest descent in l_p on two rows by one quadrature, for even q = p/(p - 1).

With r = y - X w and up to the clock r' = -X (X^T r)^(q-1), w' = (X^T r)^(q-1), entry by entry. In a
basis r = r_1 (a + u b) the polynomials P = X^T (a + u b) and A a + B b = X P^(q-1) of u give

    u' = -r_1^(q-2) D,  D = B - u A,      d log r_1/du = A/D,      dw/du = -r_1 P^(q-1)/D:

u goes to the next root u_* of D, r_1 is a product of powers (u - u_i)^c_i over the roots u_i, with
c_i = A(u_i)/D'(u_i), and with u = u_* + (u_0 - u_*) exp(-s) and E = D/(u - u_*)

    w(inf) - w(0) = int_0^inf r_1 P^(q-1)/E ds,   r_1 = r_1(0) exp(-c_* s) prod_i (...)^c_i.

Source: derived; the integral over s <= S by ball arithmetic, what is left by a bound.

The norms l_p, their duals, and the directions of steepest descent, in balls.

The step argmin <g, v> + |v|^2/2 is minus the gradient of |g|_*^2/2, for l_p with 1/p + 1/q = 1:

    sign(g) |g|^(q-1) |g|_q^(2-q);   l1: the largest g_j alone;   linf: |g|_1 sign(g).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce

from flint import acb, acb_poly, arb, ctx, fmpq, fmpq_poly

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq, ball, precise
from derive.optimizers.paths import (
    Vector,
    dot,
    fractions_of,
    null_vectors,
    rank,
    rational_matrix,
    times,
)


@dataclass(frozen=True)
class Norm:
    """l_p for 1 <= p; None stands for the largest entry.

    >>> read_norm("4/3").dual.name
    'l4'
    """

    p: Fraction | None

    @property
    def name(self) -> str:
        """As in l1, l4/3, linf."""
        return "linf" if self.p is None else f"l{self.p}"

    @property
    def dual(self) -> Norm:
        """l_q with 1/p + 1/q = 1."""
        if self.p is None:
            return Norm(Fraction(1))
        return Norm(None if self.p == 1 else self.p / (self.p - 1))

    def value(self, w: Sequence[arb]) -> arb:
        """Return |w|."""
        sizes = [abs(x) for x in w]
        if self.p is None:
            return reduce(arb.max, sizes)
        p = ball(self.p)
        return sum((power(x, self.p) for x in sizes), arb(0)) ** (1 / p)

    def slope(self, w: Sequence[arb]) -> list[arb]:
        """Return sign(w) |w|^(p-1), the gradient of |w|_p^p/p; p is finite."""
        assert self.p is not None
        return [signed_power(x, self.p - 1) for x in w]

    def direction(self, g: Sequence[arb]) -> list[arb]:
        """Return minus the step where the gradient is g, but for a positive factor."""
        if self.dual.p is not None:
            return self.dual.slope(g)
        largest = [all(abs(x) >= abs(z) for z in g) for x in g]
        if sum(largest) != 1:
            raise InputError("several coordinates have the largest slope")
        return [x if is_largest else arb(0) for x, is_largest in zip(g, largest, strict=True)]


def read_norm(value: object) -> Norm:
    """Return the norm of a p: a number from 1 on, "4/3", "l4/3", "inf"; a double counts as simple.

    Raises:
        InputError: it is no such number.
    """
    text = str(value).strip().removeprefix("l")
    if text in ("inf", "infinity"):
        return Norm(None)
    try:
        p = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"p must be a number from 1 on, as 4/3, or inf, not {value!r}") from None
    simple = p.limit_denominator(1000)
    if isinstance(value, float) and float(simple) == value:
        p = simple
    if p < 1 or p.denominator > 1000 or p > 1000:
        raise InputError(f"p must be a number from 1 to 1000 of small denominator, not {value!r}")
    return Norm(p)


def power(x: arb, exponent: Fraction) -> arb:
    """Return x^exponent for x >= 0, as a ball that holds it even where x may be 0."""
    if exponent.denominator == 1:
        return x ** int(exponent)
    if x > 0:
        return x ** ball(exponent)
    top = abs(x).upper()
    high = top ** ball(exponent) if top > 0 else arb(0)
    return arb(0, 0).union(high)


def signed_power(x: arb, exponent: Fraction) -> arb:
    """Return sign(x) |x|^exponent."""
    if x > 0 or x == 0:
        return power(x, exponent) if exponent else arb(int(x > 0))
    if x < 0:
        return -signed_power(-x, exponent)
    high = power(abs(x).upper(), exponent)
    return (-high).union(high)


THIRDS = 100
"""Steps to where a convex function of one variable is least."""


def require_full_rank(X: Sequence[Vector]) -> None:
    """Refuse rows that are dependent."""
    if rank(X) < len(X):
        raise InputError("the rows of X are linearly dependent: leave out those that follow")


def least_l2(X: Sequence[Vector], y: Vector) -> Vector:
    """Return the w of least l2 norm with X w = y, for independent rows."""
    A = rational_matrix(X, len(X[0]))
    a = (A * A.transpose()).solve(rational_matrix([[b] for b in y], 1))
    return [row[0] for row in fractions_of(A.transpose() * a)]


def straight_step(X: Sequence[Vector], r: Vector, norm: Norm) -> Vector | None:
    """Return w(inf) - w(0) where the residual r = y - X w keeps its direction, in fractions.

    None where it turns, or where q is no whole number.
    """
    q = norm.dual.p
    if not any(r):
        return [Fraction(0)] * len(X[0])
    if q is None or q.denominator != 1:
        return None
    g = times(list(map(list, zip(*X, strict=True))), r)
    v = [x ** int(q - 1) if x > 0 or q % 2 == 0 else -((-x) ** int(q - 1)) for x in g]
    moved = times(X, v)
    share = dot(r, r) / dot(r, moved)
    turns = any(share * x != z for x, z in zip(moved, r, strict=True))
    return None if turns else [share * x for x in v]


def step_in_balls(X: Sequence[Vector], r: Vector, norm: Norm, digits: int) -> list[arb] | None:
    """Return w(inf) - w(0) in balls for one row, and for two where q is even; None elsewhere.

    Raises:
        NumericalError: a multiple root, or too few digits.
    """
    q = norm.dual.p
    assert q is not None
    if len(X) == 1:
        v = norm.dual.slope([ball(r[0] * x) for x in X[0]])
        share = ball(r[0]) / sum((ball(x) * z for x, z in zip(X[0], v, strict=True)), arb(0))
        return [share * x for x in v]
    if len(X) > 2 or q % 2:
        return None
    with precise(int(digits * 3.33) + GUARD):
        found = _quadrature(X, r, int(q))
        return None if found is None else found.integrals()


def defect(X: Sequence[Vector], w: Sequence[arb], norm: Norm) -> arb:
    """Return that <n, sign(w) |w|^(p-1)>, n of a basis, which is the largest in size."""
    slope = norm.slope(w)
    products = ((ball(a) * b for a, b in zip(n, slope, strict=True)) for n in null_vectors(X))
    found = (sum(terms, arb(0)) for terms in products)
    return max(found, key=lambda x: abs(float(x.mid())), default=arb(0))


def shorter(X: Sequence[Vector], y: Vector, w: Sequence[arb], norm: Norm) -> Vector | None:
    """Return an interpolant that is proved to be shorter than w, or None where none was found."""
    origin, basis = least_l2(X, y), null_vectors(X)
    free = [max(j for j, x in enumerate(n) if x) for n in basis]
    t = [Fraction(float(w[j].mid())) - origin[j] for j in free]

    def at(t: Sequence[Fraction]) -> Vector:
        return [o + dot(t, n) for o, n in zip(origin, zip(*basis, strict=True), strict=True)]

    for k in range(len(t)):
        others = [float(x) for x in at([*t[:k], Fraction(0), *t[k + 1 :]])]
        line = [(o, float(a)) for o, a in zip(others, basis[k], strict=True)]
        t[k] = _least(line, norm, float(t[k])).limit_denominator(1000)
    found = at(t)
    return found if norm.value(list(map(ball, found))) < norm.value(w) else None


def _least(line: Sequence[tuple[float, float]], norm: Norm, near: float) -> Fraction:
    """Return about the t at which |o + t a| is least, by thirds of an interval."""

    def value(t: float) -> float:
        return float(norm.value([arb(o + t * a) for o, a in line]).mid())

    reach = 1 + abs(near) + max(abs(o) for o, _ in line) / min(abs(a) for _, a in line if a)
    low, high = near - reach, near + reach
    for _ in range(THIRDS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return Fraction((low + high) / 2)


TILTS = (Fraction(0), Fraction(1), Fraction(10), Fraction(1000))
"""Of the basis against r(0): the roots within a half turn are seen from one of them."""
GUARD = 40
"""Bits of the working precision beyond those of the result."""


def _quadrature(X: Sequence[Vector], r: Vector, q: int) -> _Quadrature | None:
    """Return what is to be integrated, or None where u rests."""
    first, second = r
    for tilt in TILTS:
        for side in (1, -1) if tilt else (1,):
            t = side * tilt
            # a = r + t r', b = r' - t r, with r' at a right angle: r = (a - t b)/(1 + t^2).
            a = (first - t * second, second + t * first)
            b = (-second - t * first, first - t * second)
            size = dot(list(a), list(a))
            seen = ([x * e[0] + z * e[1] for e in (a, b)] for x, z in zip(*X, strict=True))
            P = [_poly(pair) ** (q - 1) for pair in seen]
            A, B = (_along(e, size, X, P) for e in (a, b))
            D = B - fmpq_poly([0, 1]) * A
            u0 = as_fmpq(-t)
            if D(u0) == 0:
                return None
            ahead = -1 if D(u0) > 0 else 1
            found = _beyond(u0, ahead, D)
            if found:
                star = min(found, key=lambda u: float(abs(u - u0)))
                return _Quadrature(P, A, D, u0, 1 / (1 + u0 * u0), star)
    raise NumericalError("the direction in which the residual vanishes was not found")


def _beyond(u0: fmpq, ahead: int, D: fmpq_poly) -> list[arb]:
    real = [u.real for u in _roots(D) if u.imag == 0]
    if any(u.contains(u0) for u in real):
        raise NumericalError("the residual is too near to where it is stationary")
    return [u for u in real if (u - u0) * ahead > 0]


def _poly(coefficients: Vector) -> fmpq_poly:
    return fmpq_poly([as_fmpq(x) for x in coefficients])


def _along(
    e: tuple[Fraction, Fraction], size: Fraction, X: Sequence[Vector], P: Sequence[fmpq_poly]
) -> fmpq_poly:
    """Return the component of X P along e, one of two vectors at a right angle."""
    parts = (_poly([(x * e[0] + z * e[1]) / size]) * p for x, z, p in zip(*X, P, strict=True))
    return sum(parts, fmpq_poly([0]))


def _roots(D: fmpq_poly) -> list[acb]:
    roots: list[tuple[acb, int]] = D.numer().complex_roots()  # type: ignore[assignment]
    if any(n > 1 for _, n in roots):
        raise NumericalError("the directions in which the residual is stationary are not simple")
    return [u for u, _ in roots]


@dataclass(frozen=True)
class _Quadrature:
    powers: list[fmpq_poly]
    A: fmpq_poly
    D: fmpq_poly
    u0: fmpq
    first: fmpq
    star: arb

    def integrals(self) -> list[arb]:
        slope = self.D.derivative()
        others = [u for u in _roots(self.D) if not (u.imag == 0 and u.real.overlaps(self.star))]
        exponents = [acb_poly(self.A)(u) / acb_poly(slope)(u) for u in others]
        c = (acb_poly(self.A)(acb(self.star)) / acb_poly(slope)(acb(self.star))).real
        if not c > 0:
            raise NumericalError("the rate at which the residual vanishes was not decided")
        factors = list(zip(others, exponents, strict=True))
        lead = self.D.coeffs()[-1]
        span = self.u0 - self.star
        end = (arb(2).log() * ctx.prec / c).mid()

        def smooth(u: acb, analytic: bool) -> acb:
            """Return r_1 exp(c s)/E, a function of u."""
            total, E = acb(0), acb(lead)
            for root, exponent in factors:
                total += exponent * ((u - root) / (self.u0 - root)).log(analytic=analytic)
                E *= u - root
            return self.first * total.exp() / E

        def integrand(power: fmpq_poly, s: acb, analytic: bool) -> acb:
            u = self.star + span * (-s).exp()
            return (-c * s).exp() * smooth(u, analytic) * acb_poly(power)(u)

        last = acb(self.star.union(self.star + span * (-end).exp()))
        left = (-c * end).exp() / c
        rest = (abs(left * smooth(last, False) * acb_poly(p)(last)).upper() for p in self.powers)
        whole = (acb.integral(partial(integrand, p), 0, end).real for p in self.powers)
        return [x + arb(0, error) for x, error in zip(whole, rest, strict=True)]
