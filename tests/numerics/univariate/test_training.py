"""Nets of finite width against their limits, and the cost of piecewise linear functions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq_poly
from scipy.integrate import quad
from scipy.optimize import linprog

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq, as_fraction
from derive.univariate.problem import read_potential
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
from numerics.univariate.report import checks

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


POINTS, VALUES = ["-3/5", "0", "1/2"], [1, 0, 1]


def kernel(x, z):
    def integral(w):
        def product(b):
            return max(w * x - b, 0) * max(w * z - b, 0) / 4

        ends = [-1, *sorted((w * x, w * z)), 1]
        return sum(quad(product, a, b, epsabs=1e-14)[0] for a, b in pairwise(ends))

    return integral(1) + integral(-1)


def test_the_spline_is_kernel_regression():
    h = limit_function(POINTS, VALUES)
    assert h.exact
    assert all(isinstance(c, Fraction) for p in h.pieces for c in p.coefficients)
    assert [h(x) for x in POINTS] == VALUES
    x = [float(Fraction(v)) for v in POINTS]
    c = np.linalg.solve([[kernel(a, b) for b in x] for a in x], VALUES)
    for t in np.linspace(-0.97, 0.97, 9):
        expected = sum(v * kernel(t, b) for v, b in zip(c, x, strict=True))
        assert float(h(t)) == pytest.approx(expected, abs=1e-10)
        assert h(np.array([t]))[0] == pytest.approx(expected, abs=1e-10)
    assert limit_function(["-3/5"], ["26/75"]).coefficients == (1,)  # k(-3/5, -3/5)


@pytest.mark.parametrize("density", ["uniform", "uniform on [-2, 2]", "1 + b**2", "2 - abs(b)"])
def test_functionals_are_those_of_the_spline(density):
    h = limit_function(POINTS, VALUES, density=density)
    found = functionals(h, h.pieces)
    assert found == h.functionals
    # Strong duality: no function through the data has less, for G1 + G2 + G3 is convex.
    assert sum(found.values()) == sum(c * y for c, y in zip(h.coefficients, VALUES, strict=True))
    other = limit_function([*POINTS, "1/5"], [*VALUES, h("1/5") + Fraction(1, 50)], density=density)
    assert sum(functionals(other, other.pieces).values()) > sum(found.values())


def functionals(h, pieces):
    density, x = h.problem.density, fmpq_poly([0, 1])
    curves = [fmpq_poly([as_fmpq(c) for c in p.coefficients]) for p in pieces]
    bending, moment = Fraction(0), -2 * h(0)
    for p, f in zip(pieces[1:-1], curves[1:-1], strict=True):
        middle, ends = (p.left + p.right) / 2, [as_fmpq(p.left), as_fmpq(p.right)]
        of = next(d for d in density.pieces if d.left < middle < d.right)
        second = f.derivative().derivative()
        own, rest = divmod(second * second * density.mass, of.formula.polynomial)
        assert rest == 0  # h'' = p alpha
        sides = (own.integral(), (second * x * (1 if middle > 0 else -1)).integral())
        rise = [as_fraction(s(ends[1]) - s(ends[0])) for s in sides]
        bending, moment = bending + rise[0], moment + rise[1]
    slopes = as_fraction(curves[0][1] + curves[-1][1])
    return {"G1": bending, "G2": slopes**2, "G3": moment**2 / as_fraction(density.moment(2))}


CURVED = ["cosh(x)", "x**4", "abs(x)**3 + x**2"]


@pytest.mark.every(4)
@pytest.mark.parametrize("potential", CURVED)
def test_scaled_potentials_are_certified(potential):
    h = limit_function(POINTS, VALUES, potential, "abs", scaled=True)
    assert not h.exact
    assert h.digits >= 20
    for x, y in zip(POINTS, VALUES, strict=True):
        assert abs(h.ball(Fraction(x)) - y) < arb(10) ** -20
    # The constraints: opposite slopes at both ends, as of every E alpha |w x - b|, alpha even.
    assert (h.slope(Fraction(-2)) + h.slope(Fraction(2))).contains(0)
    assert all(distance < 2e-5 for distance in checks(h).values())
    assert supremum_distance(h, limit_function(POINTS, VALUES, "x**2", "abs", scaled=True)) > 0.01


@pytest.mark.parametrize("potential", ["cosh(x)", "x**4"])
def test_what_is_fitted_already_is_not_moved(potential):
    h = limit_function(POINTS, [0] * len(POINTS), potential, "abs", scaled=True)
    assert (h.coefficients, h("1/3"), h.functionals) == ((0,) * len(POINTS), 0, {"D": 0})


def test_no_ball_is_certified_beside_the_solution():
    dual = limit_function(POINTS, VALUES, "x**4 + x**2", "abs", scaled=True).dual
    with ctx.workprec(128):
        near = [c.mid() for c in dual.solve()]
        near[0] += near[0] * arb(10) ** -12
        with pytest.raises(NumericalError, match="no ball"):
            dual._certified(near)


@pytest.mark.slow
def test_unscaled_potentials_have_one_limit_and_relu_may_be_scaled():
    plain = limit_function(POINTS, VALUES)
    assert limit_function(POINTS, VALUES, "cosh(x)").coefficients == plain.coefficients
    scaled = limit_function(POINTS, VALUES, "abs(x)**3 + x**2", scaled=True)
    assert supremum_distance(plain, scaled) > 0.01
    assert checks(scaled)[next(iter(checks(scaled)))] < 1e-10
    quadratic = limit_function(POINTS, VALUES, scaled=True)
    assert quadratic.functionals == plain.functionals


def test_a_density_that_is_no_polynomial_gives_balls():
    h = limit_function(POINTS, VALUES, density="exp(-b**2)")
    assert not h.exact
    assert h.digits >= 20
    assert max(checks(h).values()) < 2e-5


def test_distances_are_those_on_a_fine_grid():
    t = np.linspace(-1, 1, 20001)
    h, k = limit_function(POINTS, VALUES), limit_function(POINTS, [1, "1/3", 0])
    curved = limit_function(POINTS, [1, "1/3", 0], "x**4 + x**2", "abs", scaled=True)
    for other in (k, curved):
        expected = np.max(np.abs(h(t) - other(t)))
        assert supremum_distance(h, other) == pytest.approx(expected, abs=1e-7)
        assert supremum_distance(h, other) >= expected - 1e-12
    assert supremum_distance(h, h) == 0


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([0, 0], [1, 2], "two points have x = 0"),
        ([], [], "x is empty"),
        ([0], [1, 2], "1 points x but 2 values y"),
        ([2], [1], "outside the support"),
        (["a"], [1], "must be a finite real number"),
    ],
)
def test_data_that_have_no_function_are_refused(x, y, why):
    with pytest.raises(InputError, match=why):
        limit_function(x, y)


def test_symmetric_data_have_duals_that_are_constant_on_cells():
    odd = limit_function(["-1/2", "1/2"], [1, -1], "x**4", scaled=True)
    assert (odd.bits, sum(odd.multipliers).contains(0)) == (128, True)
    even = limit_function(["-1/2", "1/2"], [1, 1], "(x - 1)**4 + x**2", "abs", scaled=True)
    assert (even.multipliers[0] - even.multipliers[1]).contains(0)
