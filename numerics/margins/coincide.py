"""Is the largest margin in Q, at margins c, what a flow of ever larger scale tends to?

The flow tends to the monotone dual path, on which s may only rise. The largest margin in Q,
argmin Q subject to X beta >= c, has grad Q = X_S^T s with X_S beta = c and s > 0 on a set S of
rows, and s moves with c by (X_S K X_S^T)^-1 1: both are one path as long as that is not negative.

It is decided in balls. For c in a step [a, b] the solutions on S are enclosed by a step of
Krawczyk's; Q is convex and they are isolated, so for each c there is no other. Where the
derivatives of s are positive there, and other rows keep their distance or move away, the path stays
on S. Where one row comes near, the solutions on S and on S with that row are enclosed: its distance
is positive at a on the one, its s at b on the other. A single c at which some derivative is
negative, with all else as it should be up to there, refutes: S is independent, and no other s on S,
outside of which nothing has risen, has the same grad Q.
After some c nothing may happen any more: :mod:`numerics.margins.coincide`.

Do all multipliers of the margin path rise for ever? A region that it never leaves, in balls.

Of copies of one output dbeta_j/dc = K_j <x^j, ds/dc> and X_S K X_S^T ds/dc = 1. Let K be at most
A + B |beta|^e, and |beta|^e f with f in a ball where |beta| is large. On the rows S, and as many
columns T with a regular X_ST, consider all r = beta/c with

    |r_j| <= delta_j off T,   X_S r = 1,   c >= C.

There k = K/c^e is in balls, and so are y = (X_S k X_S^T)^-1 1 = c^e ds/dc and zeta = X_S^T y, and
c dr_j/dc = k_j zeta_j - r_j. Where k_j |zeta_j| < delta_j off T, y > 0, and the other rows have
<x_i, r> > 1, nothing that is there at C ever leaves, and all multipliers rise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from flint import arb, arb_mat
from numpy.typing import ArrayLike
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.balls import ball, precise
from derive.exact.elementary_signs import ball_of
from derive.verdict import Finding, Verdict
from numerics.evaluate.numbers import read_matrix, read_number
from numerics.evaluate.potential import NumericPotential
from numerics.margins.interval import contracted, solve_near
from numerics.margins.margin_path import margin_path, read_dual
from numerics.margins.path_equations import Equations, derivative, equations_of, inner, solved

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


BITS = 192
FIRST, LEAST, STEPS = 0.05, 1e-5, 4000
DOUBLINGS = 20
"""Steps in c, relative."""
EARLY = 1e-3
"""The margin, from that at the start, at which the rows of the path are first looked at."""


@dataclass(frozen=True)
class Coincidence:
    """Whether the largest margin in Q is the monotone dual path.

    Attributes:
        finding: PROVED up to the level that was asked for, REFUTED, or UNDECIDED.
        level: up to which it was proved, infinity for all; where it is refuted, where it fails.
        row: whose multiplier falls there, from 0.
    """

    finding: Finding
    level: float
    row: int | None = None


def path_is_margin(q: object, X: ArrayLike, level: object = None) -> Coincidence:
    """Decide whether the monotone dual path is that of the largest margin in Q.

    Args:
        q: ``d.potential.numeric(start)``; one of a single output is used for each column of X.
        X: m rows of d numbers that carry their labels, each at its exact value.
        level: the smallest margin at the end; None for all margins.

    Raises:
        InputError: Q, X or the level do not fit.
        NumericalError: Q has no formula that balls evaluate, or no path was found in doubles.
    """
    dual = read_dual(q, X)
    assert isinstance(q, NumericPotential)
    first = float(np.min(dual.X @ dual.beta(np.zeros(len(dual.X)))))
    unit = max(1.0, abs(first))
    ends = [first + unit * 4.0**k for k in range(1, DOUBLINGS)]
    if level is not None:
        ends = [float(read_number(level, "the level"))]
    if not ends[0] > first:
        raise InputError(f"the level must be above {first:g}")
    exact = read_matrix(X, dual.X.shape[1])
    distinct = [i for i, row in enumerate(exact) if row not in exact[:i]]
    begun = margin_path(q, dual.X[distinct], [first + EARLY * unit]).multiplier[0]
    rows = [i for i, s in enumerate(begun) if s > 1e-9 * begun.max()]
    with precise(BITS):
        walk = _Walk(*equations_of(q, [exact[i] for i in distinct]), rows, distinct)
        for end in ends:
            found = walk.to(end)
            if found.finding.verdict is not Verdict.PROVED or level is not None:
                return found
            if walk.lasts():
                reason = f"all multipliers rise up to the margin {end:g}, and for ever from there"
                return Coincidence(Finding(Verdict.PROVED, f"{reason}, in balls"), math.inf)
    reason = f"{found.finding.reason}; what comes later is open"
    return Coincidence(Finding(Verdict.UNDECIDED, reason), found.level)


@dataclass(frozen=True)
class _Step:
    """On a step of c: tau, s, the derivatives of s; u_i - c and theirs of rows not in S."""

    rows: list[int]
    length: arb
    tau: list[arb]
    s: list[arb]
    rising: list[arb]
    far: dict[int, arb]
    leaving: dict[int, arb]


class _Walk:
    """What is known at c = a; a is at most that of the start, where s = 0 and S has one margin."""

    def __init__(
        self, equations: Equations, margins: list[Fraction], rows: list[int], names: list[int]
    ) -> None:
        first, self.names = min(margins), names
        self.equations, self.tau, self.a = equations, equations.start, float(first)
        self.rows = [i for i in rows if margins[i] == first]
        if self.a > first:
            self.a = math.nextafter(self.a, -math.inf)
        self.x = [v.mid() for v in self.tau] + [arb(0)] * len(self.rows)
        self.far = {i: ball(u - first) for i, u in enumerate(margins) if i not in self.rows}
        self.step, self.obstacle = FIRST, ""

    def to(self, end: float) -> Coincidence:
        """Go on step by step; where steps become too small, look for a fall a little later."""
        for _ in range(STEPS):
            if self.a >= end:
                reason = f"all multipliers rise up to the margin {end:g}, in balls"
                return Coincidence(Finding(Verdict.PROVED, reason), end)
            if self.step < LEAST:
                break
            obstacle = self._advanced(min(end, self._later(self.step)))
            self.step *= 0.5 if obstacle else 1.5
            self.obstacle = obstacle or self.obstacle
        for later in (1e-4, 1e-3, 1e-2, 1e-1):
            if self._later(later) <= end and (row := self._falls(self._later(later))):
                return row
        reason = f"from the margin {self.a:.6g} on {self.obstacle}"
        return Coincidence(Finding(Verdict.UNDECIDED, reason), self.a)

    def lasts(self) -> bool:
        """Tell whether all multipliers are proved to rise for ever from here."""
        chart, *others = self.equations.charts
        if len(chart.tau) > 1 or any(other is not chart for other in others):
            return False
        g = growth(chart.tau[0], chart.interval, chart.beta[0], chart.gradient[0])
        if g is None:
            return False
        beta, *_ = self.equations.beta(self.tau)
        return rises(g, self.equations.X, self.rows, beta, arb(self.a))

    def _later(self, step: float) -> float:
        return self.a + step * max(abs(self.a), EARLY)

    def _advanced(self, b: float) -> str:
        """Go on to c = b, on the same rows or with one more, or return what is not proved."""
        on, after = self._on(self.rows, self.a, b), self._on(self.rows, b, b)
        if on is None or after is None:
            return "no solution is enclosed"
        obstacle = self._obstacle(on)
        if not obstacle:
            self._go(self.rows, b, after)
        elif self._enters(on, b):
            return ""
        return obstacle

    def _go(self, rows: list[int], b: float, after: _Step) -> None:
        self.rows, self.a, self.tau = rows, b, after.tau
        self.x = [v.mid() for v in (*after.tau, *after.s)]
        self.far = after.far

    def _on(self, rows: list[int], a: float, b: float) -> _Step | None:
        """Enclose all solutions on some rows for c in [a, b]; None where that fails."""
        low, high = arb(a), arb(b)
        middle = self.equations.on(rows, (low + high) / 2)
        d = len(self.equations.start)
        known = dict(zip(self.rows, self.x[d:], strict=True))
        near = self.x[:d] + [known.get(i, arb(0)) for i in rows]
        x = solve_near(middle, near)
        if x is None:
            return None
        half = (high - low) / 2
        try:
            Y = middle(x)[1].mid().inv().tolist()
        except ZeroDivisionError:
            return None
        # The balls of c in several equations count as if they were independent.
        reach = (sum((abs(v) for v in row[d:]), arb(0)) for row in Y)
        radii = [(2 * half * v).upper() + arb(2) ** -80 for v in reach]
        whole = self.equations.on(rows, arb((a + b) / 2, half.upper() * (1 + arb(2) ** -40)))
        box = contracted(whole, x, radii)
        speed = None if box is None or not whole.has(box) else derivative(whole, box)
        if box is None or speed is None:
            return None
        beta, _, by, _ = whole.beta(box)
        moves = (by * arb_mat([[v] for v in speed[:d]])).entries()
        others = [i for i in range(len(whole.X)) if i not in rows]
        far = {i: inner(whole.X[i], beta) - whole.c for i in others}
        leaving = {i: inner(whole.X[i], moves) - 1 for i in others}
        return _Step(rows, 2 * whole.c.rad(), box[:d], box[d:], speed[d:], far, leaving)

    def _obstacle(self, on: _Step, but: int | None = None) -> str:
        """Return what keeps all s from rising, or the other rows, but one, from staying away."""
        flat = [i for i, v in zip(on.rows, on.rising, strict=True) if not v > 0]
        near = [i for i in self._near(on) if i != but]
        if flat:
            return f"the multiplier of row {self.names[flat[0]] + 1} is not seen to rise"
        if not near:
            return ""
        full = ", which as many rows have as there are outputs" * (len(on.rows) == len(self.tau))
        return f"the margin of row {self.names[near[0]] + 1} is not told from the smallest{full}"

    def _near(self, on: _Step) -> list[int]:
        """Return rows not in S that may come to have the margin c."""
        apart = {i for i in on.far if on.far[i] > 0 or on.leaving[i] > 0}
        return [i for i in on.far if i not in apart and not self._reach(on, i) > 0]

    def _reach(self, on: _Step, i: int) -> arb:
        """Bound the distance of a row by what it was at the begin of the step."""
        return self.far[i] + on.leaving[i] * on.length if i in self.far else arb("nan")

    def _falls(self, b: float) -> Coincidence | None:
        """Return that some s falls at c = b, with all else as it should be from a to there."""
        on, end = self._on(self.rows, self.a, b), self._on(self.rows, b, b)
        if on is None or end is None or self._near(on) or not all(v > 0 for v in on.s):
            return None
        falling = [i for i, v in zip(self.rows, end.rising, strict=True) if v < 0]
        if not falling:
            return None
        row = self.names[falling[0]]
        reason = f"the multiplier of row {row + 1} falls at the margin {b:.6g}, in balls"
        return Coincidence(Finding(Verdict.REFUTED, reason), b, row)

    def _enters(self, on: _Step, b: float) -> bool:
        """Go on with one row more, where that is proved to enter in the step."""
        near = self._near(on)
        if len(near) != 1 or not self.far.get(near[0], arb(0)) > 0:
            return False
        rows = [*self.rows, near[0]]
        both, after = self._on(rows, self.a, b), self._on(rows, b, b)
        if both is None or after is None or self._obstacle(on, near[0]):
            return False
        # Distances at a are those on S: on more rows they say nothing.
        if self._obstacle(replace(both, length=arb("nan"))) or not after.s[-1] > 0:
            return False
        self._go(rows, b, after)
        return True
