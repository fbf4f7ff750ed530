"""Q in numbers: integrals along the weights, functions with names, and sums that vanish."""

import mpmath
import numpy as np
import pytest
import sympy
from flint import acb, arb
from sympy import Symbol, sqrt

from derive import Parameterization
from numerics.evaluate.balls import COMPLEX, REAL, Undefined
from numerics.evaluate.doubles.arithmetic import FUNCTIONS, Double
from numerics.evaluate.lowering import lower
from numerics.evaluate.program import _vanishes
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


POINTS = {"erf": (-2.5, 0.3), "erfi": (-2.5, 0.3), "Ei": (-2.5, 0.3), "Li2": (-2.5, 0.3)}
KNOWN = {**{f: getattr(mpmath, f.lower()) for f in ("erf", "erfi", "Ei")}, "Li2": None}


def known(name, x):
    return mpmath.polylog(2, x) if name == "Li2" else KNOWN[name](x)


@pytest.mark.parametrize(("name", "x"), [(f, x) for f, xs in POINTS.items() for x in xs])
def test_kinds_of_numbers_agree(name, x):
    meant = float(known(name, mpmath.mpf(x)))
    assert float(REAL[name](arb(x)).mid()) == pytest.approx(meant, rel=1e-14)
    inside = COMPLEX[name](acb(x)) if name in COMPLEX else None
    assert inside is not None
    assert float(inside.real.mid()) == pytest.approx(meant, rel=1e-14)
    assert abs(inside.imag) < 1e-12
    double = FUNCTIONS[name](Double.of(x))
    assert float(double.v) == pytest.approx(meant, rel=1e-12)
    assert double.d == np.inf  # no bound is known: balls decide


def test_there_is_no_dilogarithm_beyond_its_end():
    with pytest.raises(Undefined):
        REAL["Li2"](arb(2))
    assert not REAL["Li2"](arb(1, 0.5)).is_finite()
    assert not COMPLEX["Li2"](acb(arb(1, 0.5), arb(0, 0.5))).is_finite()
    assert not COMPLEX["Ei"](acb(arb(0, 0.5), arb(0, 0.5))).is_finite()


@pytest.mark.parametrize(("text", "start"), [("softplus(w)", 0.5), ("log(cosh(w))", -1.5)])
def test_q_has_all_digits(text, start):
    q = derive_once(Parameterization.parse([text])).potential.numeric({"w_0": start})
    with mpmath.workdps(40):
        slope = {
            "softplus(w)": lambda b: mpmath.log(mpmath.expm1(b)) - 1 / mpmath.expm1(b),
            "log(cosh(w))": lambda b: mpmath.log(4 * mpmath.expm1(2 * b)) / 2,
        }[text]
        b0 = {
            "softplus(w)": lambda w: mpmath.log1p(mpmath.exp(w)),
            "log(cosh(w))": lambda w: mpmath.log(mpmath.cosh(w)),
        }[text](mpmath.mpf(start))
        for b in (0.25, 1.5, 40.0):
            rise = mpmath.quad(slope, [b0, b]) - slope(b0) * (b - b0)
            assert abs(mpmath.mpf(q(b) - q(float(b0))) / rise - 1) < 1e-13


p, m, D = (Symbol(name, positive=True) for name in ("p_0", "m_0", "D"))
x, y = Symbol("x_0", real=True), Symbol("y_0", real=True)


@pytest.mark.parametrize(
    ("expression", "zero"),
    [
        (1 - m**D * m ** (2 - D) * p**2 * p ** (D - 2) / (m**2 * p**D), True),
        (sqrt(p**2, evaluate=False) - p, True),
        (1 + m**D * p**2 / (m**2 * p**D), False),
        (1 - m ** (D - 2) * p ** (2 - D), False),
        # Of the sign of x nothing is known: it is 0 for some x, but not for all.
        (sqrt(x**2, evaluate=False) - x, False),
        (sqrt(x * y) - sqrt(x) * sqrt(y), False),
        (sympy.Function("f")(x) - 1, False),
    ],
)
def test_only_what_is_proved_vanishes(expression, zero):
    assert _vanishes(expression) is zero
