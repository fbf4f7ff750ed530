"""Numbers of a start that are related, names that say what they say, and exponents in two names."""

import pytest
import sympy

from derive import InputError, Parameterization, Verdict, derive
from tests.published import derive_once

NEURONS = ["a*u1 + b*v1", "a*u2 + b*v2"]
ALIGNED = {"a": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"}


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["sin(w)"], {"w": "pi/2"}),  # critical
        (["w**2"], {"w": "pi - 4*atan(1)"}),  # 0
        (["sin(a)*b"], {"a": "pi", "b": "0"}),
        (NEURONS, {**ALIGNED, "b": "sin(pi/2)"}),  # 1, where there is a Q
        (NEURONS, {**ALIGNED, "b": "4*atan(1)/pi"}),
        (["w**2"], {"w": "sin(atan(1)) - cos(atan(1))"}),
    ],
)
def test_related_numbers_are_refused(outputs, start):
    with pytest.raises(InputError, match=r"are related|are algebraic"):
        Parameterization.parse(outputs, start=start)


def test_an_asinh_of_a_number_is_its_logarithm():
    with pytest.raises(InputError, match="critical point"):
        Parameterization.parse(["w**2"], start={"w": "asinh(1) - log(1 + sqrt(2))"})


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("w**2", {"w": "pi"}),
        ("w**2", {"w": "log(2) + log(3)"}),
        ("w**2", {"w": "sin(1) + cos(1)"}),
        ("u*v", {"u": "exp(1)", "v": "log(2)"}),
        ("softplus(a) - exp(b)", {"a": "1", "b": "1"}),
    ],
)
def test_numbers_without_a_relation_are_taken(output, start):
    assert derive_once(Parameterization.parse([output], start=start)).verdict is Verdict.PROVED


def test_a_start_may_name_that_of_another_weight():
    start = {"a": "-b_0", "u1": "-v1_0", "u2": "-v2_0"}
    d = derive_once(Parameterization.parse(NEURONS, start=start))
    assert d.verdict is Verdict.PROVED
    assert dict(d.parameterization.start)["b"].name == "b_0"
    equal = derive_once(Parameterization.parse(["a*b"], start={"a": "b_0"}))
    assert str(equal.potential.Q) == "beta*log(beta/b_0**2)/2 - beta/2"


def test_eulers_number_is_no_letter():
    text = derive_once(Parameterization.parse(["exp(1)*w"], start={"w": "E"})).to_text()
    assert "Q = beta**2*exp(-2)/2 - E*beta*exp(-1)" in text


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "output", ["p**(D + k)", "p**D*p**k", "p**(D - k)", "p**(D + k) - m**(D + k)"]
)
def test_an_exponent_may_have_two_names(output):
    assert derive(output).verdict is Verdict.PROVED


def test_a_start_that_is_not_critical_is_no_zero_of_what_q_divides_by():
    q = derive("w**2 + sqrt(2)*w").potential
    at = {w: sympy.sqrt(2) / 2 for w in q.Q.free_symbols if w.name == "w_0"}
    assert q.gradient[0].subs(at).subs("beta", 2).is_finite
