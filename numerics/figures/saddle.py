"""The path from saddle to saddle against time, with flows from starts that are not yet 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy.integrate import solve_ivp

from derive.optimizers.saddle_path import SaddlePath
from numerics.evaluate.backend import Array, quiet
from numerics.figures.display import Display

LARGE = 1e9
STARTS = (Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6))


@dataclass(eq=False, kw_only=True)
class SaddleDisplay(Display):
    """beta against tau = t/N: the plateaus, and flows from three starts."""

    @classmethod
    def from_path(cls, s: SaddlePath, starts: Sequence[Fraction] = STARTS) -> Self:
        """Return the path up to twice its last jump, with the flows of Q at *starts*."""
        begins = [float(t) for t in s.times] or [1.0]
        tau = np.geomspace(begins[0] / 20, 2 * begins[-1], 400)
        shown = cls(
            "path", r"$t/N$", r"$\beta$", "log", rf"From saddle to saddle, {s.variable} $\to 0$"
        )
        steps = np.searchsorted(begins, tau, side="right") if s.times else np.zeros(len(tau), int)
        beta = np.array(s.plateaus, float)[steps]
        for j, y in enumerate(beta.T, 1):
            shown.add(
                rf"$\beta_{{{j}}}$" if j < 7 else "", tau, y, of=s.derivation, quantity="limit"
            )
        for alpha in starts:
            flow = flow_in_slow_time(s, alpha, tau)
            for j, y in enumerate(flow.T):
                label = "" if j else f"{s.variable} = {float(alpha):g}"
                shown.add(label, tau, y, of=s.derivation, **{s.variable: str(alpha)})
        return shown

    def plot(self, ax: Any = None) -> Self:
        """Draw it, against the logarithm of time."""
        super().plot(ax)
        self.ax_.set_yscale("linear")
        return self


def flow_in_slow_time(s: SaddlePath, alpha: Fraction, tau: Array) -> Array:
    """Return beta at t = N tau, from the dual flow ds/dtau = X^T (y - X beta), s = grad Q/N."""
    X, y = np.array(s.X, float), np.array(s.y, float)
    q = s.derivation.potential.numeric({s.variable: alpha})
    N = float(s.unit.subs(dict.fromkeys(s.unit.free_symbols, alpha)))
    one = s.derivation.of_coordinates

    def beta(dual: Array) -> Array:
        shaped = N * dual[:, None] if one else N * dual
        with quiet():  # a step that is too long has no beta, and is made shorter
            found = np.asarray(q.inverse_gradient(shaped)).reshape(len(dual))
        return np.clip(np.nan_to_num(found, posinf=LARGE, neginf=-LARGE), -LARGE, LARGE)

    def moved(t: float, dual: Array) -> Array:
        slope: Array = X.T @ (y - X @ beta(dual))
        return slope

    run = solve_ivp(
        moved, (0, tau[-1]), np.zeros(X.shape[1]), "LSODA", t_eval=tau, rtol=1e-8, atol=1e-10
    )
    return np.array([beta(dual) for dual in run.y.T])
