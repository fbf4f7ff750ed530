"""pi is the number: a positive constant that no weight, start or value may be called by."""

import math

import pytest

from derive import InputError, LanguageError, Parameterization, Verdict, derive
from derive.language import parse_expression
from numerics import crosscheck
from tests.published import derive_once


def test_pi_is_a_constant_of_F_and_of_the_start():
    d = derive_once(Parameterization.parse(["pi*w**2"], start={"w": "pi"}))
    assert d.verdict is Verdict.PROVED
    assert d.parameterization.weights == ("w",)
    assert "pi is the number" in d.to_text()
    assert "pi != 0" not in d.to_text()
    # grad Q = log(beta/(pi w_0^2))/(4 pi) is 0 at beta = pi^3 alone.
    q = d.potential.numeric({})
    assert float(q.gradient(math.pi**3)) == pytest.approx(0, abs=1e-14)
    assert float(q.gradient(math.e * math.pi**3)) == pytest.approx(1 / (4 * math.pi))


def test_the_flow_confirms_what_is_derived_with_pi():
    assert crosscheck(derive_once(Parameterization.parse(["pi*exp(w)"])), digits=20).passed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outputs": ["sin(pi*w)"]}, "pi under sin"),
        ({"outputs": ["pi*w"], "weights": ["pi", "w"]}, "pi is the number"),
        ({"outputs": ["pi**2"]}, "no weight is left"),
    ],
)
def test_what_pi_is_not(arguments, message):
    with pytest.raises(InputError, match=message):
        Parameterization(**{**arguments, "outputs": [parse_expression(*arguments["outputs"])]})


def test_pi_has_no_other_value():
    d = derive_once(Parameterization.parse(["w**2"], start={"w": "pi"}))
    with pytest.raises(InputError, match="no other value"):
        d.potential.numeric({"pi": 3})


def test_the_base_of_exponentials_is_spelled_exp():
    with pytest.raises(LanguageError, match=r"write exp\(w\)"):
        Parameterization.parse(["e**w"])
    assert Parameterization.parse(["e**2*w"]).weights == ("e", "w")


def test_points_of_proofs_have_no_value_of_pi():
    d = derive_once(Parameterization.parse(["pi*a*b*c", "c**2"]))
    identity = next(i for i in d.hessian.finding.evidence if i.point)
    assert dict(identity.point) == {"a": 1, "b": 1, "c": 1}
    assert float(identity.residual) == pytest.approx(-2 * math.pi**2)
    assert "pi = " not in d.to_text()


@pytest.mark.slow
def test_numbers_for_pi_in_an_exponent_leave_something_to_evaluate():
    p = Parameterization.parse(["softplus(pi*a) - cos(b + 1/3)"], {"a": "alpha", "b": "alpha"})
    q = derive(p).potential.numeric({"alpha": 1})
    assert float(q.gradient(q.beta0[0])) == pytest.approx(0, abs=1e-12)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["a*b*u", "a*b*v"], {"a": "2", "b": "1", "u": "pi", "v": "2"}),
        (["a*b + 2*c*d - 2", "-a*b - pi*c*d"], {"a": "1/3"}),
    ],
)
def test_pi_in_starts_and_in_coefficients_of_two_outputs(outputs, start):
    d = derive_once(Parameterization.parse(outputs, start))
    assert d.verdict is Verdict.PROVED
    assert "pi = " not in d.to_text()
