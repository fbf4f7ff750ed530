"""Coupled quadratures in numbers, against closed forms and line integrals."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from derive import Parameterization
from derive.potential.quadrature import integrate_along_segment
from numerics.evaluate.leaf import LeafOde
from numerics.evaluate.lowering import high_precision, lower
from tests.published import derive_once


def derived(*outputs):
    return derive_once(outputs)


def quadrature(d):
    """The same Q as an integral along a segment."""
    (block,) = d.blocks
    piece = integrate_along_segment(block.warping, block.notation)
    return replace(d.potential, pieces=(piece,))


def around(q, count=4):
    noise = np.random.default_rng(3).uniform(-0.3, 0.3, size=(count, q.d))
    return np.array(q.beta0) * (1 + noise)


# Each with g at the start, which the quadrature sets to 1.
CLOSED = [
    (("a*u1", "a*u2"), {"a_0": 2, "u1_0": "1/2", "u2_0": 1}, Fraction(2)),
    (("a*u1", "a*u2", "a*u3"), {"a_0": 3, "u1_0": "1/2", "u2_0": 1, "u3_0": 0}, Fraction(3)),
    (("a*b*u1", "a*b*u2"), {"a_0": 2, "b_0": "3/2", "u1_0": "1/2", "u2_0": 1}, Fraction(3)),
    (
        ("u*x-v*y", "u*y+v*x"),
        {"u_0": 1, "v_0": "1/2", "x_0": "3/4", "y_0": "-1/4"},
        Fraction(15, 8),
    ),
    (
        ("u1*v1+u2*v2", "u1*v2+u2*v1"),
        {"u1_0": 2, "u2_0": "1/2", "v1_0": "1/4", "v2_0": 1},
        Fraction(1),
    ),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(("outputs", "start", "g"), CLOSED)
def test_it_is_the_closed_form(outputs, start, g):
    d = derived(*outputs)
    q, closed = lower(quadrature(d), start), lower(d.potential, start)
    beta = around(q)
    assert np.allclose(q.gradient(beta) * float(g), closed.gradient(beta), rtol=1e-12, atol=1e-14)
    rise = closed(beta) - closed(np.array(q.beta0))
    assert np.allclose(q(beta) * float(g), rise, rtol=1e-10, atol=1e-13)
    with mpmath.workdps(60):
        exact, other = (high_precision(x, start, 40) for x in (d.potential, quadrature(d)))
        for a, b in zip(exact.gradient(beta[0]), other.gradient(beta[0]), strict=True):
            assert abs(a - b * g.numerator / g.denominator) < mpmath.mpf(10) ** -38


MODELS = [
    (("u1/a", "u2/a"), {"a_0": 2, "u1_0": "1/2", "u2_0": 1}),
    (("a+b**2", "b"), {"a_0": 1, "b_0": "1/2"}),
    (("a*u1/(1+a**2)", "a*u2/(1+a**2)"), {"a_0": 3, "u1_0": "1/2", "u2_0": 1}),
    (("p**2+m**2", "p-m"), {"p_0": 2, "m_0": "1/2"}),
    (("x+x**3+y+y**3", "x+x**3-y-y**3"), {"x_0": "1/2", "y_0": -1}),
]
each_model = pytest.mark.parametrize(("outputs", "start"), MODELS)


@pytest.mark.every(4)
@each_model
def test_gradient_is_zero_at_the_start_and_inverts(outputs, start):
    q = lower(derived(*outputs).potential, start)
    assert np.allclose(q.gradient(np.array(q.beta0)), 0, atol=1e-15)
    beta = around(q)
    y = q.gradient(beta)
    assert np.allclose(q.inverse_gradient(y), beta, rtol=1e-14, atol=1e-15)
    assert q.inverse_gradient(np.stack([y, y])).shape == (2, 4, q.d)
    assert np.array_equal(q.inverse_gradient(np.zeros(q.d)), np.array(q.beta0))


@pytest.mark.every(4)
@each_model
def test_gradient_is_that_of_the_value(outputs, start):
    """That both agree off the segment holds only as g rho is a Hessian."""
    potential = derived(*outputs).potential
    form, q = high_precision(potential, start, 40), lower(potential, start)
    beta = [mpmath.mpf(x) for x in around(q, 1)[0]]
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -12
        for i, slope in enumerate(form.gradient(beta)):
            above, below = (
                form.value([x + sign * step * (k == i) for k, x in enumerate(beta)])
                for sign in (1, -1)
            )
            assert abs((above - below) / (2 * step) - slope) < 1e-19
    assert np.allclose(q.gradient(around(q, 1)[0]), [float(x) for x in form.gradient(beta)])


def test_shear():
    """F = (a + b^2, b), where g = exp(-2 a): the mirror map is known on the line b = 0."""
    q = lower(derived("a+b**2", "b").potential, {"a_0": 0, "b_0": 0})
    beta = np.array([[0.5, 0.0], [-1.0, 0.0], [3.0, 0.0]])
    expected = (1 - np.exp(-2 * beta[:, 0])) / 2
    assert np.allclose(q.gradient(beta)[:, 0], expected, rtol=1e-14)
    assert np.allclose(q.gradient(beta)[:, 1], 0, atol=1e-15)


def test_outside_the_leaf_is_nan():
    """p^2 + m^2 >= (p - m)^2/2 for every weight."""
    q = lower(derived("p**2+m**2", "p-m").potential, {"p_0": 2, "m_0": 1})
    for beta in ([0.0, 1.0], [-1.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]):
        assert np.isnan(q(beta))
        assert np.isnan(q.gradient(beta)).all()
    mixed = q.gradient([[-1.0, 0.0], [5.0, 1.0]])
    assert np.isnan(mixed[0]).all()
    assert np.array_equal(mixed[1], [0, 0])
    assert np.isnan(q.inverse_gradient([1e3, 0.0])).all()


def test_the_dual_flow_of_squares_inverts_the_mirror_map():
    # p' = 2 mu p and m' = -2 mu m, so that beta = 2 alpha^2 sinh(4 mu).
    squares, tenth = Parameterization.parse(["p**2-m**2"]), Fraction(1, 10)
    ode = LeafOde(squares, None, (tenth, tenth), (Fraction(0),))
    with mpmath.workdps(60):
        for mu in (Fraction(1, 2), Fraction(-1, 3), Fraction(2)):
            (beta,) = ode.inverse([mu], 40)
            exact = mpmath.sinh(4 * mpmath.mpf(mu.numerator) / mu.denominator) / 50
            assert abs(beta - exact) < mpmath.mpf(10) ** -40 * abs(exact)
            (slope,), value = ode.mirror_map([Fraction(int(beta * 10**60), 10**60)], 40)
            assert abs(slope - mpmath.mpf(mu.numerator) / mu.denominator) < mpmath.mpf(10) ** -38
            assert value > 0
