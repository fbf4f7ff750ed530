"""Q of vector models in numbers, in any dimension: all digits, and the interpolants of least Q."""

import tracemalloc

import mpmath
import numpy as np
import pytest
import scipy.sparse
from flint import acb, ctx
from mpmath import mpf

from derive import InputError, NumericalError
from numerics import interpolate
from numerics.evaluate import balls
from tests.published import derive_once

MODELS = {
    "a*u": ("u", ("a_0",)),
    "a*b*u": ("u", ("a_0", "b_0")),
    "norm(u)*u": ("u", ()),
    "a**2*u": ("u", ("a_0",)),
    "c*v/norm(v)": ("v", ("c_0",)),
    "sqrt(c)*v/norm(v)": ("v", ("c_0",)),
}
each_model = pytest.mark.parametrize("text", MODELS)


def derived(text):
    return derive_once(text, vectors=[MODELS[text][0]])


def numeric(text, u0, size=0.75):
    vector, scalars = MODELS[text]
    start = {name: size * (1 + i) / 2 for i, name in enumerate(scalars)}
    return derived(text).potential.numeric({**start, f"{vector}_0": u0})


@each_model
def test_derivatives_fit_each_other(text):
    rng = np.random.default_rng(1)
    q = numeric(text, [0.5, -0.25, 0.75])
    b, x = rng.uniform(0.3, 1, (4, 3)), rng.normal(size=(4, 3))
    change = (q.gradient(b + 1e-5 * x) - q.gradient(b - 1e-5 * x)) / 2e-5
    assert np.allclose(q.hessian_product(b, x), change, rtol=1e-6, atol=1e-8)
    assert np.allclose((q.hessian(b) @ x[..., None])[..., 0], change, rtol=1e-6, atol=1e-8)
    along = b / np.linalg.norm(b, axis=-1, keepdims=True)
    across = q.hessian_product(b, along)  # beta is an eigenvector
    assert np.allclose(across, np.sum(across * along, axis=-1, keepdims=True) * along, rtol=1e-12)
    assert np.allclose(q.inverse_gradient(q.gradient(b)), b, rtol=1e-13)
    assert np.all(q.bregman(b, b[::-1]) > 0)
    assert abs(q(q.beta0)) < 1e-30
    assert np.abs(q.gradient(q.beta0)).max() < 1e-15
    for name in ("__call__", "gradient", "hessian", "inverse_gradient"):
        proved, plain = (getattr(p, name)(b) for p in (q, q.in_doubles))
        assert np.allclose(proved, plain, rtol=1e-11, atol=1e-11)


def problem(d, m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) / np.sqrt(d)
    return X, X @ rng.normal(size=d), rng.normal(size=d) / np.sqrt(d)


@pytest.mark.every(8)
@each_model
@pytest.mark.parametrize("d", [8, 100, 1000])
def test_interpolants_in_many_dimensions(text, d):
    X, y, u0 = problem(d, min(d // 2, 50))
    y = y / np.linalg.norm(y)
    q = numeric(text, u0)
    s = interpolate(q, X, y)
    assert s.converged
    assert max(s.residual, s.stationarity) < 1e-12
    step = np.random.default_rng(5).normal(size=d)
    step -= np.linalg.pinv(X) @ (X @ step)
    step /= np.linalg.norm(step)
    heights = [q.bregman(s.value + t * step, s.value) for t in (-0.1, 0.1)]
    rises = [q(s.value + t * step) - q(s.value) for t in (-0.1, 0.1)]
    assert np.allclose(rises, heights, rtol=1e-6)  # no slope is left along the kernel of X
    assert min(rises) > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("a", [1e-6, 0.3, 1e3])
def test_the_interpolant_is_that_of_the_coupled_solver(a):
    X, y, u0 = problem(4, 2)
    s = interpolate(derived("a*u").potential.numeric({"a_0": a, "u_0": u0}), X, y)
    p = derive_once([f"a*u{i}" for i in range(1, 5)]).potential
    other = interpolate(p.numeric({"a_0": a, **{f"u{i + 1}_0": u0[i] for i in range(4)}}), X, y)
    assert s.converged
    assert np.allclose(s.value, other.value, rtol=1e-8)
    shift = interpolate(derived("a*u").potential.numeric({"a_0": a, "u_0": 2 * u0}), X, y)
    assert not np.allclose(shift.value, s.value, rtol=1e-8)


def test_designs_of_every_kind():
    X, y, u0 = problem(30, 6)
    q = numeric("a*u", u0)
    s = interpolate(q, X, y)
    assert np.allclose(interpolate(q, scipy.sparse.csr_array(X), y).value, s.value, rtol=1e-12)
    twice = interpolate(q, np.vstack([X, X[:1]]), np.append(y, y[0]))
    assert twice.dropped == (6,)
    assert np.allclose(twice.value, s.value, rtol=1e-12)
    near = np.vstack([X, X[:1] + 1e-9 * X[1:2]])
    close = interpolate(q, near, near @ s.value)
    assert close.converged
    at_start = interpolate(q, X, X @ q.beta0)
    assert np.allclose(at_start.value, q.beta0)
    with pytest.raises(InputError, match="30 coordinates"):
        interpolate(q, X[:, :5], y)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"a_0": 1}, "no value for the vector u_0"),
        ({"a_0": 1, "u_0": 3}, "must be a vector of 2 or more"),
        ({"a_0": 1, "u_0": [1]}, "must be a vector of 2 or more"),
        ({"a_0": 1, "u_0": [[1, 2]]}, "must be a vector of 2 or more"),
        ({"a_0": 1, "u_0": [1, float("nan")]}, "an entry of u_0"),
        ({"a_0": 1, "u_0": [0, 0]}, "derive again with the start u=0"),
        ({"u_0": [1, 2]}, "no value for a_0"),
        ({"a_0": -1, "u_0": [1, 2]}, "a_0 > 0"),
        ({"a_0": 1, "b_0": 1, "u_0": [1, 2]}, "b_0"),
        ({"a_0": 1, "norm_u_0": 1, "u_0": [1, 2]}, "is the length of u_0"),
    ],
)
def test_starts_refused(start, words):
    with pytest.raises(InputError, match=words):
        derived("a*u").potential.numeric(start)


def test_a_given_length_must_be_that_of_the_vector():
    potential = derive_once("a*u", {"a": "alpha", "u": "alpha"}, vectors=["u"]).potential
    assert potential.numeric({"alpha": 5, "u_0": [3, 4]}).d == 2
    with pytest.raises(InputError, match="has length 5, but the start says 4"):
        potential.numeric({"alpha": 4, "u_0": [3, 4]})


def test_points_refused():
    q = numeric("a*u", [1.0, 2.0])
    with pytest.raises(InputError, match="its last axis must be 2"):
        q([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="real numbers"):
        q.gradient(["x", "y"])
    assert np.isnan(q([np.inf, 1.0]))


def test_a_curve_in_the_weights_is_refused():
    potential = derive_once("exp(a)*u", vectors=["u"]).potential
    with pytest.raises(NumericalError, match="known along a curve in the weights only"):
        potential.numeric({"a_0": 1, "u_0": [1, 2]})


def test_a_large_problem_takes_no_matrix_of_its_size():
    X, y, u0 = problem(5_000, 10)
    q = numeric("a*u", u0)
    tracemalloc.start()
    try:
        assert interpolate(q, X, y).converged
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 5_000**2 / 10


def test_a_named_integral_has_all_digits():
    q = numeric("c*v/norm(v)", [0.5, -0.25, 0.75], 2)
    for b in ([0.75, -0.5, 1.0], [3.0, 9.0, -1.0], [1e-9, 1e-8, 1e-8]):
        with mpmath.workdps(60):
            v, beta = ([mpf(x) for x in p] for p in ([0.5, -0.25, 0.75], b))
            n, s0, s = mpmath.fdot(v, v), mpf(1), mpmath.norm(beta)
            rise = mpmath.erfi(s / mpmath.sqrt(2 * n)) - mpmath.erfi(s0 / mpmath.sqrt(2 * n))
            pull = mpmath.exp(s0**2 / (2 * n)) * (mpmath.fdot(v, beta) / mpmath.sqrt(n) - s0)
            meant = mpmath.sqrt(mpmath.pi * n / 2) * rise - pull
            assert abs(mpf(q(b)) / meant - 1) < 1e-14


def test_interpolants_longer_than_the_domain_are_refused():
    """|beta| < 1 for v/sqrt(1 + |v|^2); exp(s^2/(2 c^2)) overflows for weight normalization."""
    ball = derive_once("v/sqrt(1+norm(v)**2)", vectors=["v"]).potential
    q = ball.numeric({"v_0": [0.1, 0.2, 0.3]})
    assert interpolate(q, [[0, 0, 1]], [0.99]).converged
    with pytest.raises(InputError, match=r"out of reach: .* \|beta\| >= 3, beyond the domain"):
        interpolate(q, [[0, 0, 1]], [3])
    with pytest.raises(InputError, match=r"\|beta\| >= 1e\+09, where grad Q .* overflows"):
        interpolate(numeric("c*v/norm(v)", [0.1, 0.2, 0.3]), [[0, 0, 1]], [1e9])


def test_the_only_interpolant_may_be_zero():
    """Where beta/|beta| is 0/0, grad Q is found without it."""
    s = interpolate(numeric("a*u", [0.1, 0.2, 0.3]), np.eye(3), np.zeros(3))
    assert s.converged
    assert not s.value.any()
    edge = interpolate(numeric("c*v/norm(v)", [0.1, 0.2, 0.3]), np.eye(3), np.zeros(3))
    assert not edge.converged
    assert "undefined" in edge.message


def test_balls_have_no_direction_at_zero():
    """Hess Q(0) = q'(s)/s at s = 0 in every direction, and beta = 0 where grad Q + u_0 = 0."""
    q = numeric("a*u", [0.5, -0.25, 0.75], 2)
    zero, on_balls = [0.0] * 3, q.functions.block.on_balls
    with ctx.workprec(200):
        found = on_balls("product", [zero, [1.0, 2.0, 3.0]])
        assert np.allclose([float(x) for x in found], q.hessian_product(zero, [1.0, 2.0, 3.0]))
        found = on_balls("inverse", [(-q.functions.pull).tolist()])
        assert np.allclose([float(x) for x in found], 0, atol=1e-15)


def test_nothing_is_integrated_far_out(monkeypatch):
    """At beta of 1e116 |v_0| the integrand is a ball about 0 until it is told to be too large."""

    def refuse(*_, **__):
        raise AssertionError("integrated")

    q = numeric("sqrt(c)*v/norm(v)", [0.5, -0.25, 0.75], 2)
    assert np.isfinite(q([0.75, -0.5, 1.0]))
    monkeypatch.setattr(balls, "acb", type("acb", (acb,), {"integral": staticmethod(refuse)}))
    with pytest.raises(AssertionError, match="integrated"):
        q([0.75, -0.5, 1.0])
    assert np.isnan(q([[1e116, 1e115, 0.0], [1e300, 0.0, 1e299]])).all()
