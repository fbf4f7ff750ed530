"""Q as a module of NumPy: it stands alone, and gives what the package gives, to its digits."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from derive import NumericalError
from derive.catalogue import find
from derive.catalogue.library import derive_entry
from derive.render.exports.program import render_numpy
from numerics.evaluate.lowering import lower
from tests.cli.commands import printed_by, run
from tests.conditions import condition
from tests.published import GIVEN_SIZE, derive_once

pytestmark = pytest.mark.every(2)

CASES = [
    (("p**2-m**2",), {"p": "alpha", "m": "alpha"}, {"alpha": 0.5}),
    (("u*v-x*y",), {}, {"u_0": 1.0, "v_0": 0.5, "x_0": -0.25, "y_0": 2.0}),
    (("p**3-m**3",), {"p": "alpha", "m": "alpha"}, {"alpha": 0.5}),
    (("p**D-m**D",), {"p": "b", "m": "b"}, {"D": 4.0, "b": 0.5}),
    (("p**3+q**3",), {}, {"p_0": 1.0, "q_0": 2.0}),
    (("a*u1", "a*u2"), {}, {"a_0": 2.0, "u1_0": 0.5, "u2_0": 1.0}),
    (("a*b*u1", "a*b*u2"), {}, {"a_0": 1.0, "b_0": 0.75, "u1_0": 0.25, "u2_0": 0.5}),
    (("exp_1**2", "w**3"), {"exp_1": "c"}, {"c": 0.75, "w_0": 0.5}),
]


CLOSE = {"rtol": 1e-9, "atol": 1e-11}
"""Of plain formulas at points where little cancels."""


each_case = pytest.mark.parametrize(("outputs", "start", "values"), CASES, ids=lambda x: str(x))


def module_of(folder, d):
    path = folder / "written.py"
    path.write_text(render_numpy(d))
    spec = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.every(4)
@each_case
def test_a_module_gives_what_the_package_gives(tmp_path, outputs, start, values):
    d = derive_once(outputs, start=start)
    module, q = module_of(tmp_path, d), lower(d.potential, values)
    rng = np.random.default_rng(0)
    beta = np.array(q.beta0) + rng.uniform(0.01, 2, (20, q.d))
    points = beta[:, 0] if q.d == 1 else beta
    numbers = list(values.values())
    value = module.Q(points, *numbers)
    assert np.allclose(value - value[0], q(points) - q(points)[0], **CLOSE)
    slopes = module.gradient(points, *numbers)
    assert np.allclose(slopes, q.gradient(points), **CLOSE)
    assert np.allclose(module.inverse_mirror_map(slopes, *numbers), points, rtol=1e-9)
    divergence = module.bregman(points, points[::-1], *numbers)
    assert np.allclose(divergence, q.bregman(points, points[::-1]), **CLOSE)
    hessian = module.hessian(points, *numbers).reshape(20, q.d, q.d)
    for i, step in enumerate(1e-5 * np.eye(q.d)):
        above, below = (module.gradient(beta + s * step, *numbers) for s in (1, -1))
        assert np.allclose(hessian[..., i], (above - below) / 2e-5, rtol=1e-6)


def test_starts_may_differ_by_coordinate(tmp_path):
    module = module_of(tmp_path, derive_once("p**2-m**2", {"p": "alpha", "m": "alpha"}))
    alpha = np.array([0.5, 1e-3, 20.0])
    beta = np.array([1.0, 1e-9, -3.0])
    found = module.gradient(beta, alpha)
    assert np.allclose(found, np.arcsinh(beta / (2 * alpha**2)) / 4, rtol=1e-15)
    assert np.shape(module.Q(1.0, 0.5)) == ()


def test_wrong_shapes_are_refused(tmp_path):
    module = module_of(tmp_path, derive_once(["a*u1", "a*u2"]))
    with pytest.raises(ValueError, match="the last number should be 2"):
        module.gradient([1.0, 2.0, 3.0], 1, 0, 0)


@pytest.mark.every(8)
@each_case
def test_a_module_needs_numpy_only(tmp_path, outputs, start, values):
    module_of(tmp_path, derive_once(outputs, start=start))
    foreign = ("sympy", "mpmath", "scipy", "flint", "derive", "numerics")
    program = f"import sys, written; print([m for m in {foreign} if m in sys.modules])"
    assert printed_by(program, cwd=tmp_path) == "[]\n"


@pytest.mark.parametrize(
    ("outputs", "inside", "outside"),
    [("w**2", 2.0, -2.0), ("1/w", 2.0, -2.0), ("tanh(w)", 0.5, 1.5), ("p**3-m**3", 0.5, None)],
)
def test_beyond_a_wall_all_is_nan(tmp_path, outputs, inside, outside):
    start = {"p": "1", "m": "1"} if "p" in outputs else {"w": "1"}
    module = module_of(tmp_path, derive_once(outputs, start))
    if hasattr(module, "inverse_mirror_map"):
        slope = module.gradient(inside)
        assert module.inverse_mirror_map(slope) == pytest.approx(inside)
    if outside is None:
        assert np.isnan(module.inverse_mirror_map(1.0))
        return
    for function in (module.Q, module.gradient, module.hessian):
        assert np.isfinite(function(inside))
        assert np.isnan(function(outside))


def test_no_module_where_q_is_an_integral_or_missing(tmp_path):
    path = tmp_path / "potential.py"
    done = run("regularizer", "a*b*c", "--numpy", "-o", str(path))
    assert (done.returncode, path.exists()) == (3, False)
    assert "--numpy: Q has no NumPy form: an integral is not known there" in done.stderr
    done = run("regularizer", "a*u1", "a*u2", "w**2", "--numpy", "-o", str(path))
    assert (done.returncode, path.exists()) == (1, False)
    assert "--numpy: no module is written: No: no Q" in done.stderr


@pytest.mark.parametrize(
    ("text", "vector", "values"),
    [
        ("a*u", "u", {"a_0": 2.0}),
        ("a*b*u", "u", {"a_0": 1.0, "b_0": 0.75}),
        ("a*u/norm(u)", "u", {"a_0": 0.75}),
    ],
)
def test_a_module_for_every_dimension(tmp_path, text, vector, values):
    derivation = derive_once(text, vectors=[vector])
    module = module_of(tmp_path, derivation)
    rng = np.random.default_rng(0)
    for d in (2, 5):
        u0, beta, x = rng.normal(size=d), rng.normal(size=(3, d)), rng.normal(size=d)
        q = derivation.potential.numeric({**values, f"{vector}_0": u0})
        start = (*values.values(), u0)
        value, slopes = module.Q(beta, *start), module.gradient(beta, *start)
        assert np.allclose(value - value[0], q(beta) - q(beta)[0], **CLOSE)
        assert np.allclose(slopes, q.gradient(beta), **CLOSE)
        assert np.allclose(module.hessian(beta, *start), q.hessian(beta), **CLOSE)
        product = module.hessian_product(beta, x, *start)
        assert np.allclose(product, q.hessian(beta) @ x, rtol=1e-12)
        divergence = module.bregman(beta, beta[::-1], *start)
        assert np.allclose(divergence, q.bregman(beta, beta[::-1]), **CLOSE)
        assert np.allclose(module.inverse_mirror_map(slopes, *start), beta, rtol=1e-9)


@pytest.mark.parametrize(
    "text", ["exp(a)*u", "a*norm(u)**2*exp(a)*u", "sqrt(a)*u/norm(u)", "a*b*c*u"]
)
def test_vector_models_without_a_formula_are_refused(text):
    with pytest.raises(NumericalError, match="Q has no NumPy form"):
        render_numpy(derive_once(text, vectors=["u"]))


@pytest.mark.slow
def test_every_proved_model_of_the_catalogue_has_a_module():
    proved = [e for e in GIVEN_SIZE if e.verdict == "PROVED"]
    assert len(proved) > 20
    for entry in proved:
        if entry.id == "weight-normalization":
            continue  # an integral
        compile(render_numpy(derive_entry(entry)), entry.id, "exec")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("assumption", "values"),
    [
        ("sqrt(x_0) - y_0 > 0", (4.0, 3.0)),
        ("sqrt(x_0) - y_0 > 0", (4.0, 2.0)),  # 0, which no number of digits tells from > 0
        ("sqrt(x_0 - 5) + y_0 > 0", (4.0, 3.0)),
        ("log(x_0) != 0", (1.0, 3.0)),
        ("(x_0 - y_0)*(x_0 - 2*y_0)*(x_0 - 3*y_0)*(x_0 - 4*y_0)*(x_0 - 5*y_0) != 0", (6.0, 2.0)),
    ],
)
def test_conditions_that_are_long_or_irrational(tmp_path, assumption, values):
    derivation = derive_once("w", start={"w": "x_0*y_0"})
    piece = replace(derivation.potential.pieces[0], assumptions=(condition(assumption),))
    changed = replace(derivation.potential, pieces=(piece,))
    module = module_of(tmp_path, replace(derivation, potential=changed))
    with pytest.raises(ValueError, match=r"^Q was derived for .*: derive again$") as error:
        module.Q(1.0, *values)
    assert "\n" not in str(error.value)
    assert np.isfinite(module.Q(1.0, 9.0, 0.7))
    with pytest.raises(ValueError, match="derive again"):
        module.gradient(np.ones(2), np.array([9.0, values[0]]), np.array([0.7, values[1]]))


@pytest.mark.parametrize(
    ("text", "vector", "start", "message"),
    [
        ("a*b*u", "u", (1.0, -0.5, [1.0, 2.0]), "b_0 > 0"),
        ("a*b*u", "u", (1.0, 0.5, [0.0, 0.0]), "norm_u_0 > 0"),
    ],
)
def test_conditions_of_a_vector_model(tmp_path, text, vector, start, message):
    module = module_of(tmp_path, derive_once(text, vectors=[vector]))
    for function in (module.Q, module.gradient, module.hessian):
        with pytest.raises(ValueError, match=f"Q was derived for {message}: derive again"):
            function([1.0, 1.0], *start)


def test_a_vector_of_another_length_than_the_start_says(tmp_path):
    module = module_of(tmp_path, derive_entry(find("deep-neuron-balanced-3")))
    assert np.isfinite(module.Q([1.0, 1.0], 5.0, [3.0, 4.0]))
    with pytest.raises(ValueError, match="u_0 of the length that the start says"):
        module.Q([1.0, 1.0], 5.0, [3.0, 4.1])
