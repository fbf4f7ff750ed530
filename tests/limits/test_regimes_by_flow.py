"""Limits at the ends of Q against the time of a flow, which knows nothing of Q.

Along w' = grad F the mirror map is the time. All other limits are put to the witness of theirs.
"""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive import Parameterization, regimes
from derive.language import to_sympy
from tests.published import derive_once

A = "alpha"


class Model:
    """F and grad F in numbers."""

    def __init__(self, p, scale):
        symbols = [sympy.Symbol(w, real=True) for w in p.weights]
        J = sympy.Matrix(p.outputs).jacobian(symbols)
        self.J = sympy.lambdify([symbols], J, "numpy")
        self.F = sympy.lambdify([symbols], list(p.outputs), "numpy")
        start = [to_sympy(tree) for _, tree in sorted(p.start, key=lambda x: p.weights.index(x[0]))]
        self.w = np.array([float(x.subs(dict.fromkeys(x.free_symbols, scale))) for x in start])

    def time(self, end):
        """Return when beta is *end*."""

        def rate(beta, state):
            slope = np.array(self.J(state[:-1]), dtype=float)[0]
            return np.append(slope, 1) / (slope @ slope)

        span, state = (self.F(self.w)[0], end), np.append(self.w, 0)
        run = solve_ivp(rate, span, state, method="DOP853", rtol=1e-12, atol=1e-18)
        return run.y[-1, -1]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "start", "regime", "times"),
    [
        # c = alpha tan(alpha z); w = alpha tan(2 alpha z + pi/4)
        ("a*b*c", {"a": A, "b": A, "c": "0"}, "rich", (np.pi / 2, -np.pi / 2)),
        ("u**2*w", {"u": "2*alpha", "w": A}, "intermediate", (np.pi / 8, -3 * np.pi / 8)),
        # u^2 = 2 w^2 - alpha^2 is 0 at beta = 0, an end of what the flow reaches.
        ("u**2*w", {"u": A, "w": A}, "intermediate", (np.log(1 + np.sqrt(2)) / np.sqrt(2), None)),
    ],
)
def test_from_a_small_start_a_cubic_is_infinite_after_a_finite_time(output, start, regime, times):
    p = Parameterization.parse([output], start, [A])
    (limit,) = regimes(derive_once(p), A, (0,)).limits
    assert limit.regime == regime
    assert limit.error == sympy.Symbol(A, positive=True)
    (x,), form = limit.coordinates, limit.potential
    for end, time, slope in zip((0.8, -0.8), times, (*form.gradient, *limit.below), strict=True):
        assert form.Q.subs(x, end) == end * slope
        if time is None:
            assert not form.Q.has(slope)  # it is infinite
            continue
        gaps = [abs(time) - abs(e * Model(p, e).time(end)) for e in (1e-2, 1e-3)]
        assert 0 < gaps[1] < 0.15 * gaps[0] < 0.01
