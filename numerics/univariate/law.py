"""The map of duals: alpha with phi'(alpha) - phi'(0) = s, in balls and in doubles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx, fmpq

from derive.errors import NumericalError
from derive.exact.rationals import as_fmpq
from derive.univariate.formulas import Piecewise, Value
from derive.univariate.potential import Potential
from numerics.evaluate.backend import Array

_GROWTHS, _STEPS = 400, 100


@dataclass(frozen=True)
class Law:
    """A potential phi and the inverse of s = phi'(alpha) - phi'(0)."""

    potential: Potential

    @property
    def constant(self) -> fmpq | None:
        """phi'' of a quadratic potential; s is that times alpha."""
        return self.potential.quadratic

    def at_zero(self, function: Piecewise) -> arb:
        """Return the value of phi or a derivative at 0."""
        return function.at(Fraction(0)).on_balls(acb(0)).real

    def dual(self, alpha: arb) -> arb:
        """Return s on a ball."""
        return self.on_ball(self.potential.slope, alpha) - self.at_zero(self.potential.slope)

    def on_ball(self, function: Piecewise, alpha: arb) -> arb:
        """Return the values of all pieces that a ball may meet."""
        breaks = [arb(as_fmpq(b)) for b in function.breaks]
        first = sum(1 for b in breaks if alpha > b)
        last = sum(1 for b in breaks if not alpha < b)
        values = [f.on_balls(acb(alpha)).real for f in function.formulas[first : last + 1]]
        found = values[0]
        for value in values[1:]:
            found = found.union(value)
        return found

    def inverse(self, s: Value) -> arb:
        """Return a ball around the only alpha of a ball of duals; NumericalError without one."""
        s = arb(s)
        if self.constant is not None or s.is_zero():
            return arb(s / (self.constant or 1))
        alpha, tiny = self._near(s.mid()), arb(2) ** -ctx.prec
        radius = tiny * (1 + abs(alpha))
        for _ in range(_STEPS):
            below, above = self.dual((alpha - radius).mid()), self.dual((alpha + radius).mid())
            if below < s and above > s:
                return alpha + arb(0, radius.abs_upper())
            radius *= 8
        raise NumericalError(f"phi'(alpha) = {s.str(5)} could not be solved")

    def _near(self, s: arb) -> arb:
        """Return an exact number near alpha, by Newton's method from doubles."""
        alpha = arb(float(self.on_arrays(np.array([float(s)]))[0]))
        for _ in range(_STEPS):
            slope = self.on_ball(self.potential.curvature, alpha).mid()
            step = (self.dual(alpha).mid() - s) / slope if not slope.is_zero() else arb(0)
            if not step.is_finite():
                break
            alpha = (alpha - step.mid()).mid()
            if abs(step) <= arb(2) ** (10 - ctx.prec) * (1 + abs(alpha)):
                break
        return alpha

    def on_duals(self, alpha: Array) -> Array:
        """Return s of doubles."""
        slope = self.potential.slope
        return np.asarray(slope.on_arrays(alpha) - slope.on_arrays(np.zeros(1)))

    def on_arrays(self, s: Array, near: Array | None = None) -> Array:
        """Return alpha of doubles: Newton's method inside brackets, *near* if there is a guess."""
        if self.constant is not None:
            return s / float(self.constant.p) * float(self.constant.q)
        slope, curvature = self.potential.slope, self.potential.curvature
        offset = float(slope.on_arrays(np.zeros(1))[0])
        low, high = self._bracket(s, offset)
        alpha = np.zeros_like(s) if near is None else near
        for _ in range(_STEPS):
            excess = slope.on_arrays(alpha) - offset - s
            low, high = np.where(excess < 0, alpha, low), np.where(excess > 0, alpha, high)
            with np.errstate(all="ignore"):
                moved = alpha - excess / curvature.on_arrays(alpha)
            inside = (moved >= low) & (moved <= high)
            moved = np.where(inside, moved, (low + high) / 2)
            if np.all(np.abs(moved - alpha) <= 4e-16 * np.abs(moved)):
                return moved
            alpha = moved
        return alpha

    def _bracket(self, s: Array, offset: float) -> tuple[Array, Array]:
        """Return numbers below and above all alpha."""
        ends = []
        for side, far in ((-1.0, min(0.0, float(s.min()))), (1.0, max(0.0, float(s.max())))):
            end = np.array([side])
            for _ in range(_GROWTHS):
                with np.errstate(over="ignore"):
                    reached = self.potential.slope.on_arrays(end)[0] - offset
                if side * reached >= side * far:
                    break
                end = 1.5 * end
            else:
                raise NumericalError(f"phi' is bounded: no alpha has phi'(alpha) = {far:.4g}")
            ends.append(np.full_like(s, end[0]))
        return ends[0], ends[1]
