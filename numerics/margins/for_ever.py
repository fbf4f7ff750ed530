"""Do all multipliers of the margin path rise for ever? A region that it never leaves, in balls.

Of copies of one output dbeta_j/dc = K_j <x^j, ds/dc> and X_S K X_S^T ds/dc = 1. Let K be at most
A + B |beta|^e, and |beta|^e f with f in a ball where |beta| is large. On the rows S, and as many
columns T with a regular X_ST, consider all r = beta/c with

    |r_j| <= delta_j off T,   X_S r = 1,   c >= C.

There k = K/c^e is in balls, and so are y = (X_S k X_S^T)^-1 1 = c^e ds/dc and zeta = X_S^T y, and
c dr_j/dc = k_j zeta_j - r_j. Where k_j |zeta_j| < delta_j off T, y > 0, and the other rows have
<x_i, r> > 1, nothing that is there at C ever leaves, and all multipliers rise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from flint import arb, arb_mat
from sympy import Expr, Symbol

from derive.exact.balls import ball
from derive.exact.elementary_signs import ball_of
from numerics.margins.path_equations import inner, solved

NEAR = Symbol("t_", positive=True)
WIDER = (1.25, 2, 4, 16)
"""Sizes of regions that are tried, relative to what is off T at C."""


@dataclass(frozen=True)
class Growth:
    """How K of one output grows.

    Attributes:
        power: e.
        orders: n and p; t^n |beta| and t^(n e p) K^p have limits other than 0 as t -> 0.
        sides: both, for beta > 0 and beta < 0.
        reach: of t.
        bounds: A and B.
    """

    power: Fraction
    orders: tuple[int, int]
    sides: Mapping[int, tuple[Expr, Expr]]
    reach: arb
    bounds: tuple[arb, arb]

    def far(self, side: int, least: arb) -> arb:
        """Enclose f where side * beta >= least; nan where that is not far enough."""
        t = (_on(self.sides[side][0], self.reach).upper() / least).root(self.orders[0])
        return self.ratio(side, t) if t <= self.reach else arb("nan")

    def ratio(self, side: int, t: arb) -> arb:
        """Enclose K/|beta|^e from t to the end."""
        size, scaled = (_on(f, t) for f in self.sides[side])
        return scaled.root(self.orders[1]) / size ** ball(self.power)

    def upto(self, t: Expr, ends: Mapping[int, Expr], kernel: tuple[Expr, Symbol]) -> Growth:
        """Return the same with reach t: A is of what lies between, B of both ends."""
        up, down = (ball_of(end.subs(NEAR, t), {}) for end in ends.values())
        f, tau = kernel
        A, reach = ball_of(f, {tau: up.union(down)}).upper().root(self.orders[1]), ball_of(t, {})
        B = self.ratio(1, reach).max(self.ratio(-1, reach)).upper()
        return replace(self, reach=reach, bounds=(A, B))


def _on(f: Expr, end: arb) -> arb:
    """Enclose f on 0 <= t <= end."""
    return ball_of(f, {NEAR: arb(0).union(end)})


def growth(tau: Symbol, interval: tuple[Expr, Expr], beta: Expr, gradient: Expr) -> Growth | None:
    """Return how K grows with beta; None where K^2 or beta is not rational in tau.

    Args:
        tau: beta itself, or the parameter of a curve.
        interval: of tau.
        gradient: Q' in tau.
    """
    kernel, p = beta.diff(tau) / gradient.diff(tau), 1
    if not kernel.is_rational_function(tau):
        kernel, p = sympy.expand(kernel**2), 2
    low, high = interval
    ends = {1: high - NEAR, -1: low + NEAR}
    if beta == tau:
        ends = {1: 1 / NEAR, -1: -1 / NEAR}
    elif not (low.is_finite and high.is_finite):
        return None
    if not (kernel.is_rational_function(tau) and beta.is_rational_function(tau)):
        return None
    sides, orders = {}, set()
    for side, end in ends.items():
        parts = [f.subs(tau, end) for f in (side * beta, kernel)]
        n, m = map(_pole, parts)
        # Term by term, poles cancel and balls stay small.
        size, scaled = (sympy.expand_mul(f * NEAR**k) for f, k in zip(parts, (n, m), strict=True))
        sides[side] = size, scaled
        orders.add((n, m))
    (n, m), *others = orders
    if others or min(n, m) < 1:
        return None
    found = Growth(Fraction(m, p * n), (n, p), sides, arb(0), (arb(0), arb(0)))
    whole = (found.upto(sympy.Rational(1, 4**k), ends, (kernel, tau)) for k in range(1, 8))
    return next((g for g in whole if all(b.is_finite() for b in g.bounds)), None)


def _pole(f: Expr) -> int:
    """Return the order of the pole of a rational function at t = 0."""
    parts = (sympy.Poly(x, NEAR).monoms() for x in sympy.together(f).as_numer_denom())
    top, bottom = (min(power for (power,) in powers) for powers in parts)
    return int(bottom - top)


def rises(
    g: Growth, X: Sequence[Sequence[arb]], rows: Sequence[int], beta: Sequence[arb], C: arb
) -> bool:
    """Tell whether all multipliers, those on some rows, are proved to rise for ever from c = C."""
    sizes = [abs(b).upper() for b in beta]
    T = sorted(range(len(beta)), key=lambda j: -float(sizes[j]))[: len(rows)]
    least = g.bounds[0] * C ** (1 - ball(g.power))
    regions = (_Region(T, [wider * (b + least) / C for b in sizes], C) for wider in WIDER)
    return any(region.is_never_left(g, X, rows) for region in regions)


@dataclass(frozen=True)
class _Region:
    """All r with |r_j| <= delta_j off T and X_S r = 1, from c = C on."""

    T: Sequence[int]
    delta: Sequence[arb]
    C: arb

    @property
    def off(self) -> list[int]:
        return [j for j in range(len(self.delta)) if j not in self.T]

    def predictors(self, XS: Sequence[Sequence[arb]]) -> list[arb]:
        """Enclose r; ZeroDivisionError where X_ST is not seen to be regular."""
        r = [arb(0, x) for x in self.delta]
        rest = [[1 - inner([x[j] for j in self.off], [r[j] for j in self.off])] for x in XS]
        own = arb_mat([[x[j] for j in self.T] for x in XS]).inv() * arb_mat(rest)
        for j, x in zip(self.T, own.entries(), strict=True):
            r[j] = x
        return r

    def kernels(self, g: Growth, r: Sequence[arb]) -> list[arb]:
        """Enclose K/c^e."""
        e, (A, B) = ball(g.power), g.bounds
        k = [arb(0).union(A / self.C**e + B * x**e) for x in self.delta]
        for j in self.T:
            size = abs(r[j])
            k[j] = g.far(1 if r[j] > 0 else -1, self.C * size.lower()) * size**e
        return k

    def is_never_left(self, g: Growth, X: Sequence[Sequence[arb]], rows: Sequence[int]) -> bool:
        """Tell whether nothing leaves, and all multipliers rise in it."""
        XS = [X[i] for i in rows]
        try:
            r = self.predictors(XS)
        except ZeroDivisionError:
            return False
        k = self.kernels(g, r)
        scaled = arb_mat([[a * b for a, b in zip(x, k, strict=True)] for x in XS])
        back = arb_mat([list(x) for x in XS]).transpose()
        y = solved(scaled * back, arb_mat([[1]] * len(rows)))
        if y is None or not all(v > 0 for v in y):
            return False
        zeta = (back * arb_mat([[v] for v in y])).entries()
        held = all(k[j] * abs(zeta[j]) < self.delta[j] for j in self.off)
        return held and all(inner(x, r) > 1 for i, x in enumerate(X) if i not in rows)
