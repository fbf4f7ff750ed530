"""A conjectured Q where none is derived in closed form: decided in the weights."""

import pytest

from derive.catalogue.audit.conjecture import judge_in_weights
from derive.catalogue.audit.germs import Subject
from derive.catalogue.audit.judgement import Outcome
from derive.language import from_sympy, parse_expression, to_text
from derive.testing import assert_mirror_flow
from tests.published import derive_once

SPHERE = ("a/sqrt(a**2 + b**2 + c**2)", "b/sqrt(a**2 + b**2 + c**2)")
HEMISPHERE = "sqrt(1 - beta1**2 - beta2**2)"
LINEAR = "(a_0*beta1 + b_0*beta2)/c_0"
SIMPLEX = ("exp(v1)/(exp(v1) + exp(v2) + exp(v3))", "exp(v2)/(exp(v1) + exp(v2) + exp(v3))")
SQUARES = "beta1**2 + beta2**2"


@pytest.fixture(scope="module")
def derived():
    """Derivations without Q in closed form, each once."""
    found = {}
    return lambda outputs: found.setdefault(outputs, derive_once(list(outputs)))


@pytest.mark.every(16)
@pytest.mark.parametrize(
    ("outputs", "Q", "outcome", "said"),
    [
        (SPHERE, f"-{HEMISPHERE} - {LINEAR}", "AGREES UP TO", "[exact identity]"),
        (
            SPHERE,
            f"-2*{HEMISPHERE} - 2*{LINEAR} + a_0",
            "AGREES UP TO",
            "scale: conjectured = 2/sqrt",
        ),
        # negative controls: what differs by a sign, a linear term, a factor in front of one of both
        (SPHERE, f"{HEMISPHERE} + {LINEAR}", "DIFFERS", "the sign"),
        (SPHERE, f"-{HEMISPHERE}", "DIFFERS", "a linear term is missing or wrong"),
        (SPHERE, f"-2*{HEMISPHERE} - {LINEAR}", "DIFFERS", "a linear term is missing or wrong"),
        (SPHERE, "a_0*beta1", "DIFFERS", "it is linear in beta"),
        (SPHERE, SQUARES, "DIFFERS", "no constant factor"),
        # at the start alone it is a multiple of the identity
        (SPHERE, f"-{HEMISPHERE} - {LINEAR} + (beta1 - beta1_0)**3", "DIFFERS", "no constant"),
        (SIMPLEX, SQUARES, "DIFFERS", "no constant factor"),
        (SIMPLEX, "beta1*log(beta1) + beta2*log(beta2)", "DIFFERS", "no multiple m I"),
        (("sqrt(a)*u1", "sqrt(a)*u2"), SQUARES, "DIFFERS", "no multiple m I"),
        (("u*v*w",), "beta**2", "DIFFERS", "changes along the flow"),
    ],
)
def test_what_is_conjectured_beside_integrals_is_decided(derived, outputs, Q, outcome, said):
    found = derived(outputs).compare(Q)
    assert found.outcome == outcome
    assert said in found.to_text(200)


def test_the_flow_of_the_weights_is_of_the_same_opinion():
    """A second witness knows no derivative of Q by the weights."""
    start = {"a": "1/2", "b": "-1/3", "c": "1"}
    linear = "(beta1/2 - beta2/3)"
    assert_mirror_flow(SPHERE, f"-{HEMISPHERE} - {linear}", start=start, digits=12)
    with pytest.raises(AssertionError):
        assert_mirror_flow(
            SPHERE, f"-{HEMISPHERE} - {linear} + {SQUARES}/9", start=start, digits=12
        )


@pytest.mark.parametrize(
    ("Q", "outcome", "said"),
    [
        ("(beta1 - a_0)**2 + (beta2 - b_0)**2", Outcome.AGREES_UP_TO, ""),
        ("(beta1 - a)**2 + (beta2 - b)**2", Outcome.AGREES_UP_TO, ""),
        # a is the weight at the start, which does not move
        ("a*beta1 + b*beta2", Outcome.DIFFERS, "m is not positive"),
        ("beta1**2 + beta2**2", Outcome.DIFFERS, "a linear term"),
        ("(beta1 - a_0)**2 + 2*(beta2 - b_0)**2", Outcome.DIFFERS, "no multiple"),
    ],
)
def test_names_of_weights_are_those_at_the_start(Q, outcome, said):
    found = judge_in_weights(Subject(derive_once(["a", "b"])), parse_expression(Q))
    assert found.outcome is outcome
    assert said in found.reason


TIED = {"start": {"p": "alpha", "m": "alpha"}}
MODELS = [
    (["p**2 - m**2"], TIED, "beta**2"),
    (["w**2"], {"mirror": "w*log(w)"}, "beta**2"),
    (["w**2"], {"rates": {"w": "w"}}, "beta**3"),
    (["exp(v)"], {}, "beta**2"),
    (["w**2", "x**2"], {}, "beta1**3"),
    (["a**2 + b**2", "a*b"], {}, "beta1**3"),
    (["p**2 - m**2", "exp(v)"], TIED, "beta1**3"),
]


@pytest.mark.every(6)
@pytest.mark.parametrize(("outputs", "given", "more"), MODELS, ids=lambda x: str(x)[:20])
def test_q_as_derived_is_found_right_and_another_is_not(outputs, given, more):
    """The derived Q is a witness of the test in the weights, which knows nothing of it."""
    subject = Subject(derive_once(outputs, **given))
    Q = to_text(from_sympy(subject.value))
    assert judge_in_weights(subject, parse_expression(f"3*({Q})")).outcome is Outcome.AGREES_UP_TO
    assert judge_in_weights(subject, parse_expression(f"{Q} + {more}")).outcome is Outcome.DIFFERS


def test_what_has_no_q_is_compared_with_none():
    found = derive_once(["a**2 + b**2", "a*c + b*d", "c**2 + d**2"]).compare("beta1**2")
    assert found.outcome == "NOT CHECKED"
