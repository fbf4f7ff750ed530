"""Points that are no real numbers are refused, as X and y are."""

import sys

import mpmath
import numpy as np
import pytest

from derive import DeriveError, InputError, Parameterization
from tests.published import derive_once

POINTS = {
    "complex": np.array([1 + 0j, 2.0]),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "spans": np.array([1, 2], dtype="timedelta64[s]"),
    "text": np.array(["1", "2"]),
    "a text": "1.5",
    "bytes": np.array([b"1", b"2"]),
    "records": np.zeros(2, dtype=[("x", float)]),
    "objects": np.array([1.0, {}], dtype=object),
    "a large number": [10**400, 1],
}
MODELS = {
    "weights": (Parameterization.parse(["a*u1", "a*u2"]), {"a_0": 1, "u1_0": 0, "u2_0": 0}),
    "vector": (Parameterization.parse(["a*u"], vectors=["u"]), {"a_0": 1, "u_0": [1, 0]}),
}


@pytest.fixture(scope="module", params=MODELS)
def q(request):
    p, start = MODELS[request.param]
    return derive_once(p).potential.numeric(start)


@pytest.mark.parametrize("name", POINTS)
def test_points_are_real_numbers(q, name):
    points, plain = POINTS[name], np.ones(2)
    for use in (q, q.gradient, q.inverse_gradient):
        with pytest.raises(InputError):
            use(points)
    for pair in ((points, plain), (plain, points)):
        with pytest.raises(InputError):
            q.bregman(*pair)


def test_whole_numbers_are_points(q):
    assert np.array_equal(q(np.array([1, 2])), q([1.0, 2.0]), equal_nan=True)


def test_one_point_takes_few_calls():
    p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    q, calls = derive_once(p).potential.numeric({"alpha": 1}), []

    def note(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and (
            ("site-packages" not in path and "numerics" in path) or path[0] == "<"
        ):
            calls.append(frame.f_code.co_qualname)

    q.gradient([0.3])
    sys.setprofile(note)
    try:
        q.gradient([0.3])
    finally:
        sys.setprofile(None)
    assert len(calls) <= 46, calls


SIZES = (1e-170, 1e170, 5e-324, 1e308)
ONE_OUTPUT = {"w**2": "w", "p**2 - m**2": "pm", "exp(w)": "w", "u*v*w": "uvw", "sinh(w)": "w"}


@pytest.mark.every(3)
@pytest.mark.parametrize("output", ONE_OUTPUT)
def test_numbers_of_any_size_have_a_value_or_one_error(output):
    """Neither a start whose square under- or overflows, nor such a point, is a fault."""
    start = dict.fromkeys(ONE_OUTPUT[output], "alpha")
    potential = derive_once(output, start, ["alpha"]).potential
    for alpha in SIZES:
        try:
            q = potential.numeric({"alpha": alpha})
        except DeriveError:
            continue
        for beta in (0.0, *SIZES, -1e170, float("inf"), float("nan")):
            points = np.array([beta])
            for found in (q(points), q.gradient(points), q.inverse_gradient(points)):
                assert found.shape == (1,)
            assert q.bregman(points, np.ones(1)).shape == (1,)


def test_a_square_that_underflows_costs_no_digit():
    p = Parameterization.parse(["p**2 - m**2"], dict.fromkeys("pm", "alpha"))
    value = derive_once(p).potential.numeric({"alpha": 1e-170})([1.0])
    # Q(1) - Q(0) = asinh(1/(2 alpha^2))/4 - 1/4 to all digits.
    assert value == pytest.approx(340 * np.log(10) / 4 - 0.25, rel=1e-14)


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("output", "slope", "points"),
    [
        ("softplus(w)", lambda b: 1 / (1 - mpmath.exp(-b)) ** 2, (1e-20, 1e-8, 0.5)),
        ("log(1 + w**2)", lambda b: mpmath.exp(2 * b) / mpmath.expm1(b) / 4, (1e-300, 1e-20, 3.0)),
    ],
)
def test_an_integral_keeps_its_digits_up_to_the_end_of_its_domain(output, slope, points):
    q = derive_once(output).potential.numeric({"w_0": 1})
    with mpmath.workdps(40):
        beta0 = mpmath.log1p(mpmath.e if output == "softplus(w)" else 1)
        for beta in map(mpmath.mpf, points):
            low, high = (mpmath.log(x) for x in (beta, beta0))
            parts = mpmath.linspace(low, high, 41)
            # b = e^x, so that the end of the domain is far away.
            value = mpmath.quad(
                lambda x, end=beta: (end - mpmath.exp(x)) * slope(mpmath.exp(x)) * mpmath.exp(x),
                parts,
            )
            assert q(float(beta)) == pytest.approx(-float(value), rel=1e-13)
    assert np.isnan(q(np.array([-1e-300, -1.0, -1e300]))).all()


def test_outside_its_domain_no_formula_of_q_is_tried(monkeypatch):
    p = Parameterization.parse(["p**(4/3) - m**(4/3)"], {"p": "1", "m": "1"})
    q = derive_once(p).potential.numeric()
    inside = q(3.0)
    monkeypatch.setattr("numerics.evaluate.balls.LADDER", ())
    assert np.isnan([q(5.0), q.gradient(-5.0), q.bregman(1.0, 5.0)]).all()
    assert q(3.0) == inside
    assert np.isfinite(q.inverse_gradient(0.5))
