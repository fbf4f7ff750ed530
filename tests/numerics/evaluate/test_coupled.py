"""Coupled quadratures in numbers, against closed forms and line integrals."""

import mpmath
import numpy as np
import pytest

from numerics.evaluate.lowering import lower
from tests.published import derive_once


def derived(*outputs):
    return derive_once(outputs)


def around(q, count=4):
    noise = np.random.default_rng(3).uniform(-0.3, 0.3, size=(count, q.d))
    return np.array(q.beta0) * (1 + noise)


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
    q = lower(potential, start)
    beta = [mpmath.mpf(x) for x in around(q, 1)[0]]
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -12
        for i, slope in enumerate(q.precise_gradient(beta, 40)):
            above, below = (
                q.precise_value([x + sign * step * (k == i) for k, x in enumerate(beta)], 40)
                for sign in (1, -1)
            )
            assert abs((above - below) / (2 * step) - slope) < 1e-19
    assert np.allclose(
        q.gradient(around(q, 1)[0]), [float(x) for x in q.precise_gradient(beta, 40)]
    )


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


def test_digits_are_added_where_leaves_flow_apart():
    """Beside y = -u and x = -z, which vanish as v grows, errors grow by exp(v^2/2)."""
    start = {"v_0": "1/2", "y_0": 1, "u_0": -1, "x_0": 1, "z_0": -1}
    q = lower(derived("v*exp(y*u + x*z)").potential, start)

    def tied(v):  # 2 y^2 of y' = -v y, as for x
        return 2 * mpmath.exp(mpmath.mpf(1) / 4 - mpmath.mpf(v) ** 2)

    for v in (5, 12, 15):
        mu = mpmath.quad(lambda x: mpmath.exp(tied(x)), mpmath.linspace(0.5, v, 20))
        beta = float(v * mpmath.exp(-tied(v)))
        assert abs(q.gradient([beta])[0] - mu) < 1e-12
        back = q.inverse_gradient([float(mu)])[0]  # nan where no number of digits is enough
        assert np.isnan(back) if v > 5 else abs(back - beta) < 1e-12
