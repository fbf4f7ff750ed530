"""Limit functions: exact against quadrature, certified balls, the values that are minimised."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq_poly
from scipy.integrate import quad

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq, as_fraction
from numerics.univariate import limit_function, supremum_distance
from numerics.univariate.report import checks

X, Y = ["-3/5", "0", "1/2"], [1, 0, 1]


def kernel(x, z):
    def integral(w):
        def product(b):
            return max(w * x - b, 0) * max(w * z - b, 0) / 4

        ends = [-1, *sorted((w * x, w * z)), 1]
        return sum(quad(product, a, b, epsabs=1e-14)[0] for a, b in pairwise(ends))

    return integral(1) + integral(-1)


def test_the_spline_is_kernel_regression():
    h = limit_function(X, Y)
    assert h.exact
    assert all(isinstance(c, Fraction) for p in h.pieces for c in p.coefficients)
    assert [h(x) for x in X] == Y
    x = [float(Fraction(v)) for v in X]
    c = np.linalg.solve([[kernel(a, b) for b in x] for a in x], Y)
    for t in np.linspace(-0.97, 0.97, 9):
        expected = sum(v * kernel(t, b) for v, b in zip(c, x, strict=True))
        assert float(h(t)) == pytest.approx(expected, abs=1e-10)
        assert h(np.array([t]))[0] == pytest.approx(expected, abs=1e-10)
    assert limit_function(["-3/5"], ["26/75"]).coefficients == (1,)  # k(-3/5, -3/5)


@pytest.mark.parametrize("density", ["uniform", "uniform on [-2, 2]", "1 + b**2", "2 - abs(b)"])
def test_functionals_are_those_of_the_spline(density):
    h = limit_function(X, Y, density=density)
    found = functionals(h, h.pieces)
    assert found == h.functionals
    # Strong duality: no function through the data has less, for G1 + G2 + G3 is convex.
    assert sum(found.values()) == sum(c * y for c, y in zip(h.coefficients, Y, strict=True))
    other = limit_function([*X, "1/5"], [*Y, h("1/5") + Fraction(1, 50)], density=density)
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
    h = limit_function(X, Y, potential, "abs", scaled=True)
    assert not h.exact
    assert h.digits >= 20
    for x, y in zip(X, Y, strict=True):
        assert abs(h.ball(Fraction(x)) - y) < arb(10) ** -20
    # The constraints: opposite slopes at both ends, as of every E alpha |w x - b|, alpha even.
    assert (h.slope(Fraction(-2)) + h.slope(Fraction(2))).contains(0)
    assert all(distance < 2e-5 for distance in checks(h).values())
    assert supremum_distance(h, limit_function(X, Y, "x**2", "abs", scaled=True)) > 0.01


@pytest.mark.parametrize("potential", ["cosh(x)", "x**4"])
def test_what_is_fitted_already_is_not_moved(potential):
    h = limit_function(X, [0] * len(X), potential, "abs", scaled=True)
    assert (h.coefficients, h("1/3"), h.functionals) == ((0,) * len(X), 0, {"D": 0})


def test_no_ball_is_certified_beside_the_solution():
    dual = limit_function(X, Y, "x**4 + x**2", "abs", scaled=True).dual
    with ctx.workprec(128):
        near = [c.mid() for c in dual.solve()]
        near[0] += near[0] * arb(10) ** -12
        with pytest.raises(NumericalError, match="no ball"):
            dual._certified(near)


@pytest.mark.slow
def test_unscaled_potentials_have_one_limit_and_relu_may_be_scaled():
    plain = limit_function(X, Y)
    assert limit_function(X, Y, "cosh(x)").coefficients == plain.coefficients
    scaled = limit_function(X, Y, "abs(x)**3 + x**2", scaled=True)
    assert supremum_distance(plain, scaled) > 0.01
    assert checks(scaled)[next(iter(checks(scaled)))] < 1e-10
    quadratic = limit_function(X, Y, scaled=True)
    assert quadratic.functionals == plain.functionals


def test_a_density_that_is_no_polynomial_gives_balls():
    h = limit_function(X, Y, density="exp(-b**2)")
    assert not h.exact
    assert h.digits >= 20
    assert max(checks(h).values()) < 2e-5


def test_distances_are_those_on_a_fine_grid():
    t = np.linspace(-1, 1, 20001)
    h, k = limit_function(X, Y), limit_function(X, [1, "1/3", 0])
    curved = limit_function(X, [1, "1/3", 0], "x**4 + x**2", "abs", scaled=True)
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
