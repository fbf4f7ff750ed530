"""Parameterizations with atan, sigmoid and softplus, from the text to a checked certificate."""

import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import check
from derive.errors import InputError
from derive.verdict import Verdict
from numerics.confirm.crosscheck import crosscheck
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once, record_once

pytestmark = pytest.mark.every(3)


def test_an_output_that_is_no_gradient_in_two_dimensions_is_refuted():
    found = derive_once(["atan(u)*v", "atan(u)*t + v"])
    assert found.verdict is not Verdict.PROVED


def test_a_sign_that_is_declared_is_kept_as_far_as_f_is_smooth():
    given = Parameterization.parse(["abs(w)*u"], positive=["w"])
    found, smooth = derive_once(given), derive_once("w*u", positive=["w"])
    assert found.verdict is Verdict.PROVED
    assert found.potential.Q == smooth.potential.Q
    assert "as far as $F$ is smooth" in found.potential.pieces[0].domain.words
    assert crosscheck(found, digits=20).passed
    assert check(json.loads(found.to_json())).verdict == "PROVED"


def test_coupled_outputs_say_that_an_absolute_value_has_a_kink():
    outputs = ["abs(a) + b", "2*b + abs(a)"]
    coupled = derive_once(outputs, positive=["a"])
    assert "all real $beta$, as far as $F$ is smooth" in coupled.potential.pieces[0].domain.words
    smooth = derive_once([t.replace("abs(a)", "a") for t in outputs])
    assert "smooth" not in smooth.potential.pieces[0].domain.words


def test_the_law_of_another_function_is_rejected():
    record = record_once("atan(u) + v")
    assert record["conserved"]["laws"] == ["u**3 + 3*u - 3*v"]
    forged = json.loads(json.dumps(record).replace("atan(", "log("))
    assert check(record).verdict == "PROVED"
    assert_rejected(forged)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("erf(w)", "sqrt\\(pi\\)"),
        ("abs(w)*u", "declare w positive"),
        ("atan(w) + atan(1/w)", "may depend on"),
        ("tan(atan(w))", "algebraic"),
    ],
)
def test_refused_with_the_reason(text, reason):
    with pytest.raises(InputError, match=reason):
        Parameterization.parse([text])


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["log(a*b)", "log(a*b) + a"])
def test_logarithms_of_products_of_negative_weights_are_real(output):
    """log(a b) is log|a| + log|b|: what is printed is real where a and b are negative."""
    d = derive_once(output, start={"a": "-1", "b": "-2"})
    assert d.verdict is Verdict.PROVED
    assert crosscheck(d, digits=20).passed
