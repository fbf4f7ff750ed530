"""Is the largest margin in Q, at margins c, what a flow of ever larger scale tends to?

The flow tends to the monotone dual path, on which s may only rise. The largest margin in Q,
argmin Q subject to X beta >= c, has grad Q = X_S^T s with X_S beta = c and s > 0 on a set S of
rows, and s moves with c by (X_S K X_S^T)^-1 1: both are one path as long as that is not negative.

It is decided in balls. For c in a step [a, b] all solutions on S are enclosed by a step of
Krawczyk's. Where the derivatives of s are positive there, and other rows keep their distance or
move away, the path stays on S. Where one row comes near, the solutions on S and on S with that row
are enclosed: its distance is positive at a on the one, its s at b on the other. A single c at which
some derivative is negative, with all else as it should be, refutes: S is independent, and no other
s has the same grad Q.
After some c nothing may happen any more: :mod:`numerics.margins.for_ever`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from derive.errors import InputError
from derive.exact.balls import precise
from derive.verdict import Finding, Verdict
from numerics.evaluate.numbers import read_matrix, read_number
from numerics.evaluate.potential import NumericPotential
from numerics.margins.dual import read_dual
from numerics.margins.enclosure import contracted, solve_near
from numerics.margins.for_ever import growth, rises
from numerics.margins.margin_path import margin_path
from numerics.margins.path_equations import Equations, derivative, equations_of, inner

BITS = 192
FIRST, LEAST, STEPS = 0.05, 1e-5, 4000
DOUBLINGS = 20
"""Steps in c, relative."""
NOTHING = 1e-12
"""Multipliers at the start, which are 0 but for the rounding of its margin."""
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
    zero = np.zeros(len(dual.X))
    first = float(np.min(dual.X @ dual.beta(zero)))
    unit = max(1.0, abs(first))
    ends = [first + unit * 4.0**k for k in range(1, DOUBLINGS)]
    if level is not None:
        ends = [float(read_number(level, "the level"))]
    if not ends[0] > first:
        raise InputError(f"the level must be above {first:g}")
    begun = margin_path(q, X, [first + EARLY * unit]).multiplier[0]
    rows = [i for i, s in enumerate(begun) if s > 1e-9 * begun.max()]
    with precise(BITS):
        exact = read_matrix(X, dual.X.shape[1])
        walk = _Walk(equations_of(q, exact), rows, first)
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

    length: arb
    unique: list[arb]
    tau: list[arb]
    s: list[arb]
    rising: list[arb]
    far: dict[int, arb]
    leaving: dict[int, arb]

    def has(self, x: Sequence[arb]) -> bool:
        """Tell whether coordinates are in the box in which there is one zero for each c."""
        return all(a.contains(b) for a, b in zip(self.unique, x, strict=False))


class _Walk:
    def __init__(self, equations: Equations, rows: list[int], first: float) -> None:
        self.equations, self.rows, self.a = equations, rows, first
        self.x = [arb(v) for v in equations.start] + [arb(0)] * len(rows)
        self.tau: list[arb] = []
        self.far: dict[int, arb] = {}
        self.step = FIRST

    def to(self, end: float) -> Coincidence:
        """Go on step by step; where steps become too small, look for a fall a little later."""
        begin = None if self.tau else self._on(self.rows, self.a, self.a)
        if not self.tau and (begin is None or not all(abs(v) < NOTHING for v in begin.s)):
            reason = "rows enter at once after the start, too near to be told apart"
            return Coincidence(Finding(Verdict.UNDECIDED, reason), self.a)
        for _ in range(STEPS):
            if self.a >= end:
                reason = f"all multipliers rise up to the margin {end:g}, in balls"
                return Coincidence(Finding(Verdict.PROVED, reason), end)
            if self.step < LEAST:
                break
            if self._advances(min(end, self._later(self.step))):
                self.step *= 1.5
            else:
                self.step /= 2
        for later in (1e-4, 1e-3, 1e-2, 1e-1):
            if self._later(later) <= end and (row := self._falls(self._later(later))):
                return row
        return Coincidence(Finding(Verdict.UNDECIDED, "the steps became too small"), self.a)

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

    def _advances(self, b: float) -> bool:
        """Go on to c = b, on the same rows or with one more; False where that is not proved."""
        on, after = self._on(self.rows, self.a, b), self._on(self.rows, b, b)
        if on is None or after is None or not (on.has(self.tau) and on.has(after.tau)):
            return False
        if not self._stays(on):
            return self._enters(on, b)
        self._go(self.rows, b, after)
        return True

    def _go(self, rows: list[int], b: float, after: _Step) -> None:
        self.rows, self.a, self.tau = rows, b, after.tau
        self.x = [v.mid() for v in (*after.tau, *after.s)]
        self.far = after.far

    def _on(self, rows: list[int], a: float, b: float, room: int = 2) -> _Step | None:
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
        radii = [(room * half * v).upper() + arb(2) ** -80 for v in reach]
        whole = self.equations.on(rows, arb((a + b) / 2, half.upper() * (1 + arb(2) ** -40)))
        box = contracted(whole, x, radii)
        speed = None if box is None or not whole.has(box) else derivative(whole, box)
        if box is None or speed is None:
            return None
        unique = [arb(v, r) for v, r in zip(x, radii, strict=True)]
        return self._told(whole, box, speed, unique)

    def _told(self, system: Equations, x: list[arb], speed: list[arb], unique: list[arb]) -> _Step:
        d = len(system.start)
        beta, _, by, _ = system.beta(x)
        moves = (by * arb_mat([[v] for v in speed[:d]])).entries()
        others = [i for i in range(len(system.X)) if i not in system.rows]
        far = {i: inner(system.X[i], beta) - system.c for i in others}
        leaving = {i: inner(system.X[i], moves) - 1 for i in others}
        return _Step(2 * system.c.rad(), unique, x[:d], x[d:], speed[d:], far, leaving)

    def _stays(self, on: _Step, but: int | None = None) -> bool:
        """Tell whether all s rise, and the other rows, but one, keep away."""
        return all(v > 0 for v in on.rising) and not {*self._near(on)} - {but}

    def _near(self, on: _Step) -> list[int]:
        """Return rows not in S that may come to have the margin c."""
        apart = {i for i in on.far if on.far[i] > 0 or on.leaving[i] > 0}
        return [i for i in on.far if i not in apart and not self._reach(on, i) > 0]

    def _reach(self, on: _Step, i: int) -> arb:
        """Bound the distance of a row by what it was at the begin of the step."""
        return self.far[i] + on.leaving[i] * on.length if i in self.far else arb("nan")

    def _falls(self, b: float) -> Coincidence | None:
        """Return that some s falls at c = b, with all else as it should be there."""
        on = self._on(self.rows, b, b)
        if on is None or not all(v > 0 for v in (*on.s, *on.far.values())):
            return None
        falling = [i for i, v in zip(self.rows, on.rising, strict=True) if v < 0]
        if not falling:
            return None
        reason = f"the multiplier of row {falling[0] + 1} falls at the margin {b:.6g}, in balls"
        return Coincidence(Finding(Verdict.REFUTED, reason), b, falling[0])

    def _enters(self, on: _Step, b: float) -> bool:
        """Go on with one row more, where that is proved to enter in the step."""
        near = self._near(on)
        if len(near) != 1 or not self.far.get(near[0], arb(0)) > 0:
            return False
        rows = [*self.rows, near[0]]
        both, after = self._on(rows, self.a, b, 8), self._on(rows, b, b)
        if both is None or after is None or not self._stays(on, near[0]):
            return False
        # Distances at a are those on S: on more rows they say nothing.
        if not (self._stays(replace(both, length=arb("nan"))) and after.s[-1] > 0):
            return False
        if not both.has(after.tau):
            return False
        # Both are one where the row enters: the box of the larger system has one zero.
        if not both.has([*on.tau, *on.s, arb(0)]):
            return False
        self._go(rows, b, after)
        return True
