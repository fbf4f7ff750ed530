"""Which decay shrinks the start and does nothing else, by flows of the weights on drawn data."""

import random

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive import Parameterization, Verdict, perturb
from tests.published import derive_once

KAPPA = 0.6


def compiled(output, names):
    symbols = sympy.symbols(names)
    f = sympy.sympify(output)
    F, J = (sympy.lambdify(symbols, x, "numpy") for x in (f, [f.diff(s) for s in symbols]))
    return lambda w: np.array(F(*w), float), lambda w: np.array([x + 0 * w[0] for x in J(*w)])


def limit(output, names, X, y, w0, rates=lambda w: 1.0, decay=None):
    """Return beta at the end of flow on copies, a column each, with decay -k(t) decay_k w_k."""
    F, J = compiled(output, names)
    shape = w0.shape

    def field(t, state):
        w = state.reshape(shape)
        v = rates(w) * J(w) * (-X.T @ (X @ F(w) - y))
        if decay is not None:
            v = v - KAPPA * np.exp(-t) * decay[:, None] * w
        return v.ravel()

    done = solve_ivp(field, (0, 1e4), w0.ravel(), "LSODA", rtol=1e-10, atol=1e-12)
    w = done.y[:, -1].reshape(shape)
    assert np.abs(X @ F(w) - y).max() < 1e-7
    return F(w)


def drawn(seed, output, names):
    rng = random.Random(seed)
    w0 = np.array([[rng.uniform(0.5, 1.2) for _ in range(3)] for _ in names])
    drawn_rows = np.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(2)])
    X = np.linalg.qr(drawn_rows.T)[0].T
    target = compiled(output, names)[0](w0 * rng.uniform(1.05, 1.3))
    return X, X @ target, w0


GRADED = ["a*b + c", "W + a*b", "a*b*d + c", "a**2*b + c*d"]


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(20))
def test_plain_decay_does_more_and_the_metric_that_is_told_does_not(seed):
    output = GRADED[seed % len(GRADED)]
    p = Parameterization.parse([output])
    v = perturb(derive_once(p), "decay")
    assert not v.start
    lam = np.array([float(v.grading[sympy.Symbol(w, real=True)]) for w in p.weights])
    X, y, w0 = drawn(seed, output, p.weights)
    ones = np.ones_like(lam)
    plain = limit(output, p.weights, X, y, w0, decay=ones)
    assert np.abs(plain - limit(output, p.weights, X, y, np.exp(-KAPPA) * w0)).max() > 1e-4

    def rates(w):
        return np.abs(w) ** (2 - 1 / lam)[:, None]

    shrunk = np.exp(-KAPPA * lam)[:, None] * w0
    told = limit(output, p.weights, X, y, w0, rates, lam)
    assert np.allclose(told, limit(output, p.weights, X, y, shrunk, rates), atol=1e-6)


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(20))
def test_unequal_decay_that_normalises_the_fields_shrinks_the_start(seed):
    """The start with c_inf alone, y(0) unmoved, is another: it is no such start."""
    rng = random.Random(seed)
    output, s = rng.choice(["p**2 - m**2", "2*p**2 - m**2"]), [rng.randrange(1, 4), 4]
    p = Parameterization.parse([output])
    w = dict(zip(p.weights, s, strict=True))
    penalty = " + ".join(f"{x}*{name}**2/2" for name, x in w.items())
    v = perturb(derive_once(p), "decay", penalty=penalty)
    kappa = sympy.Symbol("kappa", real=True)
    told = dict(v.start)
    assert {k: sympy.log(x.subs(kappa, 1) / x.subs(kappa, 0)) for k, x in told.items()} == {
        k: -x for k, x in w.items()
    }
    X, y, w0 = drawn(seed, output, p.weights)
    ended = limit(output, p.weights, X, y, w0, decay=np.array(s, float))
    start = np.exp(-KAPPA * np.array(s, float))[:, None] * w0
    assert np.allclose(ended, limit(output, p.weights, X, y, start), atol=1e-6)
    mean = np.exp(-KAPPA * sum(s) / 2) * w0
    if s[0] != s[1]:
        assert np.abs(ended - limit(output, p.weights, X, y, mean)).max() > 1e-4


def test_a_decay_of_the_dual_coordinate_is_no_rest():
    """y of p^2 - m^2 drifts by 1/4 under h = p^2/2 + m^2: Q is that of the start with it."""
    v = perturb(
        derive_once(Parameterization.parse(["p**2 - m**2"])), "decay", penalty="p**2/2 + m**2"
    )
    assert not v.is_steered
    assert "here `xi = 0`" not in v.to_text()
    assert "only the laws move" not in v.to_text()


def test_in_the_metric_the_command_proves_it():
    p = Parameterization.parse(["a*b + c"], rates={"c": "c"}, positive=["c"])
    v = perturb(derive_once(p), "decay", penalty="(a**2 + b**2)/4 + c")
    assert v.minimised is Verdict.PROVED
    assert [str(x) for _, x in v.start] == [
        "a_0*exp(-kappa/2)",
        "b_0*exp(-kappa/2)",
        "c_0*exp(-kappa)",
    ]


def test_unequal_decay_of_a_product_does_not():
    v = perturb(derive_once(Parameterization.parse(["u*v"])), "decay", penalty="u**2 + 2*v**2")
    assert not v.start
    assert perturb(
        derive_once(Parameterization.parse(["u*v"])), "decay", penalty="u**2 + v**2"
    ).start


@pytest.mark.parametrize("output", ["a*b + 1", "w + w**3", "sinh(w)"])
def test_without_a_grading_no_metric_is_told(output):
    v = perturb(derive_once(Parameterization.parse([output])), "decay")
    assert not v.says("decay metric")
