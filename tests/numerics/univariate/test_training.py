"""Nets of finite width against their limits, and the cost of piecewise linear functions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from derive.errors import InputError
from derive.univariate.potential import read_potential
from numerics.experiments.settings import Stages, UnivariateSetting
from numerics.experiments.univariate_nets import univariate_nets
from numerics.univariate import (
    MirrorFlow,
    limit_function,
    quantile_net,
    random_net,
    relu_cost,
    supremum_distance,
    train,
)
from numerics.univariate.dual import Law

X, Y = [-0.6, 0.0, 0.5], [0.5, -0.25, 0.25]


def drawn(width, potential="x**2", activation="relu"):
    h = limit_function(["-3/5", "0", "1/2"], ["1/2", "-1/4", "1/4"], potential, activation)
    problem = h.problem
    return h, random_net(width, problem.density, problem.activation, np.random.default_rng(3))


def test_kinks_that_stay_at_data_are_held_there():
    # Of ten units some kinks meet a point, from both sides: steps that switch sides never end.
    h, net = drawn(10)
    law, x, y = Law(h.problem.potential), np.array(X), np.array(Y)
    end = train(net, X, Y, MirrorFlow(law, 10.0))
    assert end.residual < 1e-9
    assert end.steps < 300
    assert np.sum(np.abs(x[:, None] * end.net.w - end.net.b) < 1e-6) >= 1
    dual, now = np.zeros(31), net
    for _ in range(8000):
        dual -= 0.1 * now.jacobian(x).T @ (now(x) - y)
        now = net.moved(law.on_arrays(dual) / 10)
    t = np.linspace(-1, 1, 50)
    assert np.abs(now(t) - end.net(t)).max() < 0.02
    assert np.abs(net(t) - end.net(t)).max() > 0.1


@pytest.mark.slow
def test_a_kink_of_the_curvature_is_seen_at_order_one_over_n():
    # Width n under an unscaled phi is the scaled problem of n^2 phi(x/n): that is what is learned.
    given = ["-3/5", "0", "1/2"], ["1/2", "-1/4", "1/4"]
    h, gaps = limit_function(*given), []
    for n in (200, 800):
        own = limit_function(*given, f"x**2 + abs(x)**3/{n}", scaled=True)
        net = quantile_net(n, h.problem.density, h.problem.activation)
        law = Law(read_potential("x**2 + abs(x)**3"))
        end = train(net, X, Y, MirrorFlow(law, 1, "a")).net
        gaps.append([supremum_distance(f, end) for f in (h, own)])
    (far, near), (farther, nearer) = gaps
    assert 3.5 < far / farther < 4.5
    assert near / nearer > 12


def test_nets_of_a_potential_with_a_kink_are_as_far_from_the_limit_as_the_docs_say():
    s, n = UnivariateSetting(), 10**5
    own = limit_function(s.x, s.y, f"x**2 + abs(x)**3/{n}", scaled=True)
    assert n * supremum_distance(limit_function(s.x, s.y), own) == pytest.approx(0.69, abs=0.005)


def test_the_jacobian_is_that_of_the_net():
    _, net = drawn(10)
    x, change = np.array(X), np.random.default_rng(0).standard_normal(31)
    ends = [net.moved(s * change)(x) for s in (1e-6, -1e-6)]
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(net.jacobian(x) @ change, rel=1e-6)


@pytest.mark.slow
def test_errors_fall_with_the_width():
    setting = UnivariateSetting(("-3/5", "0", "1/2"), ("1/2", "-1/4", "1/4"), (100, 400, 1600), 5)
    found = univariate_nets(setting, Stages())
    for name, slope in found.slopes.items():
        if "random" in name:
            assert -0.75 < slope < -0.25, name
        elif name != "unscaled, quantiles, abs(x)**3 + x**2":  # |x|^3 is seen at order 1/n
            assert slope < -1.5, name
    medians = {(e.kind, e.potential): e.median for e in found.errors if e.width == 1600}
    assert max(medians.values()) < 1e-3  # those at quantiles come last
    assert found.differences["unscaled, x**4 + x**2"] == 0
    assert found.differences["scaled, x**4 + x**2"] > 0.01
    assert "abs(x)**3 + x**2" in found.to_text()
    assert found.to_csv().count("\n") == len(found.errors) == 36


@pytest.mark.parametrize("seed", range(8))
def test_the_cost_is_the_value_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    x = sorted(rng.choice(20, 5, replace=False))
    y = [Fraction(int(v)) for v in rng.integers(-5, 6, 5)]
    ends = None if seed % 2 else (Fraction(int(rng.integers(-9, 9))), Fraction(7, 2))
    found = relu_cost([Fraction(int(v)) for v in x], y, ends)
    # Units with kinks on a fine grid; f is fixed by its values there and beyond.
    knots = np.linspace(min(x), max(x), 4 * (max(x) - min(x)) + 1)
    t = np.r_[knots[0] - 1, knots, knots[-1] + 1]
    f = [float(found.offset + sum(u(Fraction(v)) for u in found.units)) for v in t]
    units = np.hstack([np.maximum(t[:, None] - knots, 0), np.maximum(knots - t[:, None], 0)])
    one = np.ones((len(t), 1))
    A = np.hstack([units, -units, one, -one])
    cost = np.r_[np.ones(2 * units.shape[1]), 0, 0]
    assert linprog(cost, A_eq=A, b_eq=f).fun == pytest.approx(float(found.value))
    jumps = [(b - a) for a, b in pairwise(np.diff(f) / np.diff(t))]
    assert float(found.bending) == pytest.approx(np.abs(jumps).sum())
    # The net is f, and costs what the functional is on f.
    nodes = [(Fraction(int(a)), b) for a, b in zip(x, y, strict=True)]
    assert all(found.offset + sum(u(a) for u in found.units) == b for a, b in nodes)
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(nodes)]
    first, last = ends or (slopes[0], slopes[-1])
    changes = [b - a for a, b in pairwise([first, *slopes, last])]
    dual = sum(s * v for s, v in zip(found.signs, changes, strict=False))
    lower = dual if found.signs else abs(found.slopes)
    assert found.value == sum(abs(u.c) for u in found.units) == lower


def test_functions_without_a_cost_are_refused():
    with pytest.raises(InputError, match="same x"):
        relu_cost([Fraction(0)] * 2, [Fraction(1)] * 2)
    with pytest.raises(InputError, match="two points"):
        relu_cost([Fraction(0)], [Fraction(1)])
    with pytest.raises(InputError, match="2 points x but 1"):
        relu_cost([Fraction(0), Fraction(1)], [Fraction(1)])
    with pytest.raises(InputError, match="number 2 of y must be a finite"):
        relu_cost([0, 1], [1, float("nan")])
    with pytest.raises(InputError, match="x must be a sequence"):
        relu_cost(None, None)


@pytest.mark.parametrize("ends", [(1,), (1, 2, 3), 5, (), (1, float("nan")), (1, None), "12"])
def test_slopes_that_are_not_two_numbers_are_refused(ends):
    with pytest.raises(InputError, match="ends"):
        relu_cost([0, 1], [0, 1], ends)


def test_slopes_are_read_as_the_points_are():
    exact = relu_cost([0, 1], [0, 1], (Fraction(1, 2), Fraction(3, 2)))
    assert exact == relu_cost([0, 1], [0, 1], np.array([0.5, 1.5]))
    assert exact == relu_cost(["0", 1.0], [0, "1"], ("1/2", "1.5"))
