"""Limits against flows of the weights, which know nothing of Q, K or an expansion.

Along w' = J^T v the mirror map is tau(t) v; for one output and g = 1 it is the time t itself.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from derive import Parameterization, regimes, scale_start
from derive.language import to_sympy
from tests.published import derive_once, regimes_once

pytestmark = pytest.mark.every(3)

A = "alpha"
ONE = {
    "cube": (["w**3"], {"w": A}),
    "inverse": (["1/w"], {"w": A}),
    "biased, depth 4": (["p**4 - m**4"], {"p": A, "m": "2*alpha"}),
    "one layer fixed": (["u*v - x*y"], {"u": A, "v": "1", "x": A, "y": "1"}),
    "two squares": (["w**2 + z**2"], {"w": A, "z": "2*alpha"}),
    "sum of two kinds": (["u*v + x**2 - y**2"], {"u": A, "v": "0", "x": A, "y": A}),
    "one side is steep": (["p**2 - m**2"], {"p": A, "m": "1"}),
    "the other side is steep": (["p**2 - m**2"], {"p": "1", "m": A}),
    "linear at fixed beta": (["u*v"], {"u": A, "v": "1"}),
    "reflected": (["u*v"], {"u": A, "v": "-alpha"}),
    "offset": (["u*v*2 - 5"], None),
    "hyperbolic": (["sinh(w)"], {"w": A}),
    "not homogeneous": (["w + w**3"], {"w": A}),
    "exponential of a weight": (["u*exp(v)"], {"u": "1/2", "v": A}),
    "each side has its weight": (["p**3 - m**3"], {"p": A, "m": "alpha**2"}),
    "one weight fixed, depth 3": (["p**3 - m**3"], {"p": A, "m": "1"}),
    "two exponentials": (["p**2 - 2*m**2"], {"p": A, "m": A}),
    "depth 3, offset": (["p**3 - m**3 + 2"], {"p": A, "m": A}),
}
SEVERAL = {
    "neuron": (["a*u", "a*v"], {"a": A, "u": A, "v": "0"}),
    "neuron, large outer layer": (["a*u", "a*v"], {"a": A, "u": "1", "v": "0"}),
    "skew neuron": (["a*u", "a*v + a*u"], {"a": A, "u": A, "v": "0"}),
    "square of a layer": (["a**2*u", "a**2*v"], {"a": A, "u": A, "v": "2*alpha"}),
    "layers of two sizes": (["a*b*u", "a*b*v"], {"a": A, "b": "alpha**2", "u": A, "v": "0"}),
    "complex product": (["a*c - b*d", "a*d + b*c"], {"a": A, "b": "0", "c": A, "d": A}),
    "convolution, one layer fixed": (
        ["u*x + v*y", "u*y + v*x"],
        {"u": A, "v": "0", "x": "1", "y": "0"},
    ),
    "weight normalization": (
        ["c*x/sqrt(x**2 + y**2)", "c*y/sqrt(x**2 + y**2)"],
        {"c": "alpha", "x": "1", "y": "0"},
    ),
}
SCALES = {"0": (1e-2, 1e-3), "oo": (10.0, 30.0)}
EXPONENTS = 3.0, 6.0


def scales(limit):
    return SCALES[limit.point.side] if limit.point.rate is None else EXPONENTS


def proved(outputs, start):
    p = Parameterization.parse(outputs, start, [A] if A in str(start) else [])
    r = regimes_once(p if A in p.start_symbols else scale_start(p, A), A)
    return r.derivation.parameterization, [
        limit for limit in r.limits if limit.potential is not None
    ]


class Model:
    def __init__(self, p, scale):
        symbols = [sympy.Symbol(w, real=True) for w in p.weights]
        J = sympy.Matrix(p.outputs).jacobian(symbols)
        self.J = sympy.lambdify([symbols], J, "numpy")
        self.F = sympy.lambdify([symbols], list(p.outputs), "numpy")
        start = [to_sympy(tree) for _, tree in sorted(p.start, key=lambda x: p.weights.index(x[0]))]
        self.w = np.array([number(x, scale, {}) for x in start])
        self.beta = np.array(self.F(self.w), dtype=float)


def number(expression, scale, x):
    at = {A: scale, "w_0": 0.7, "u_0": 0.9, "v_0": -0.4, **x}
    return float(sympy.N(expression.subs({s: at[s.name] for s in expression.free_symbols})))


def slope_of_limit(limit, p, x):
    """dQ/dbeta/N, with K(b) = F'(w)^2 at F(w) = b where it is an integral of 1/K."""
    gradient = limit.potential.gradient[0]
    for integral in gradient.atoms(sympy.Integral):
        model = Model(p, 0)

        def inverse_kernel(b, model=model):
            w = brentq(lambda w: model.F([w])[0] - b, -2, 2, xtol=1e-14)
            return 1 / model.J([w])[0][0] ** 2

        low, high = (number(end, 0, x) for end in integral.limits[0][1:])
        gradient = gradient.subs(integral, quad(inverse_kernel, low, high)[0])
    return gradient


def falls(errors, limit, x):
    if max(errors) < 1e-9:
        return True
    first, second = (number(limit.error, s, x) for s in scales(limit))
    return errors[1] < errors[0] * (second / first) ** 0.8 < 0.5


@pytest.mark.every(9)
@pytest.mark.parametrize("case", ONE, ids=lambda case: case)
def test_the_mirror_map_of_one_output_is_the_time_of_a_flow(case):
    p, limits = proved(*ONE[case])
    assert limits
    for limit in limits:
        x, errors = {limit.coordinates[0].name: 0.8}, []
        for scale in scales(limit):
            model = Model(p, scale)
            origin = 0 if limit.origin is None else number(limit.origin[0], scale, {})
            sign = 1 if limit.basis is None else int(limit.basis[0])

            def rate(beta, state, model=model):
                slope = np.array(model.J(state[:-1]), dtype=float)[0]
                return np.append(slope, 1) / (slope @ slope)

            span, state = (model.beta[0], origin + sign * 0.8), np.append(model.w, 0)
            end = solve_ivp(rate, span, state, method="DOP853", rtol=1e-12, atol=1e-16).y[-1, -1]
            end *= sign
            N, G = number(limit.unit, scale, x), number(slope_of_limit(limit, p, x), scale, x)
            errors.append(abs(end / N / G - 1))
        assert falls(errors, limit, x) or "log" in str(limit.error)
        assert errors[1] < errors[0] < 0.3


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
        gaps = []
        for scale in (1e-2, 1e-3):
            model = Model(p, scale)

            def rate(beta, state, model=model):
                slope = np.array(model.J(state[:-1]), dtype=float)[0]
                return np.append(slope, 1) / (slope @ slope)

            span, state = (model.beta[0], end), np.append(model.w, 0)
            run = solve_ivp(rate, span, state, method="DOP853", rtol=1e-12, atol=1e-18)
            gaps.append(abs(time) - abs(scale * run.y[-1, -1]))
        assert 0 < gaps[1] < 0.15 * gaps[0] < 0.01


@pytest.mark.every(12)
@pytest.mark.parametrize("case", SEVERAL, ids=lambda case: case)
def test_the_mirror_map_of_several_outputs_stays_along_what_steers_them(case):
    p, limits = proved(*SEVERAL[case])
    assert limits
    v = np.array([1.0, 0.35])
    for limit in limits:
        errors = []
        for scale in scales(limit):
            model = Model(p, scale)
            origin = model.beta if limit.origin is not None else np.zeros(2)

            def rate(t, w, model=model):
                move = np.array(model.J(w), dtype=float).T @ v
                return move / np.linalg.norm(move)

            def reached(t, w, model=model, origin=origin):
                return np.linalg.norm(np.array(model.F(w)) - origin) - 1

            reached.terminal, reached.direction = True, 1
            run = solve_ivp(
                rate, (0, 1e3), model.w, method="DOP853", rtol=1e-12, atol=1e-14, events=reached
            )
            if run.status != 1:
                break  # the start is beyond
            M = np.eye(2) if limit.basis is None else np.array(limit.basis, dtype=float)
            y = np.linalg.solve(M, np.array(model.F(run.y[:, -1])) - origin)
            x = {c.name: b for c, b in zip(limit.coordinates, y, strict=True)}
            G = np.array([number(g, scale, x) for g in limit.potential.gradient])
            steered = M.T @ v
            errors.append(np.linalg.norm(G / np.linalg.norm(G) - steered / np.linalg.norm(steered)))
        else:
            assert falls(errors, limit, x)
            continue
        assert limit.point.side == "oo"
