"""Limits that are integrals, or ends, against the time of a flow, which knows nothing of Q.

Along w' = grad F the mirror map is the time. All other limits are put to the witness of theirs.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

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


def test_a_limit_that_is_an_integral_of_one_over_the_kernel_is_the_time_of_a_flow():
    p = Parameterization.parse(["w + w**3"], {"w": A}, [A])
    (limit,) = regimes(derive_once(p), A, (0,)).limits
    (integral,) = limit.potential.gradient[0].atoms(sympy.Integral)
    at = {limit.coordinates[0]: 0.8}
    low, high = (float(end.subs(at)) for end in integral.limits[0][1:])
    model, errors = Model(p, 0), []

    def inverse_kernel(b):
        w = brentq(lambda w: model.F([w])[0] - b, -2, 2, xtol=1e-14)
        return 1 / model.J([w])[0][0] ** 2

    slope = limit.potential.gradient[0].subs(integral, quad(inverse_kernel, low, high)[0])
    for scale in (1e-2, 1e-3):
        unit = float(limit.unit.subs(dict.fromkeys(limit.unit.free_symbols, scale)))
        errors.append(abs(Model(p, scale).time(0.8) / unit / float(slope.subs(at)) - 1))
    first, second = (
        limit.error.subs(dict.fromkeys(limit.error.free_symbols, e)) for e in (1e-2, 1e-3)
    )
    assert errors[1] < errors[0] * float(second / first) ** 0.8 < 0.5


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
