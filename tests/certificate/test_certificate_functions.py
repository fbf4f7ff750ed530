"""Certificates of F with elementary functions, and of vectors: any change is refused."""

import functools
import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import Rejected, check, check_text
from derive.render.json import with_certificate
from tests.certificate.certificates import assert_refused, assert_rejected, replaced, variants
from tests.certificate.certificates import entries as texts_of
from tests.published import certified_once, derive_once, record_once

MODELS = {
    "exp": (["exp(w)"], {}),
    "sinh": (["sinh(w)"], {}),
    "log": (["log(w)"], {}),
    "sine of an exponential": (["sin(exp(w) + w**2)"], {}),
    "symbolic depth": (["p**D - m**D"], {"start": {"p": "alpha", "m": "alpha"}}),
    "parameter": (["c*a*u1", "c*a*u2"], {"parameters": ["c"]}),
    "root": (["sqrt(a)*u1", "sqrt(a)*u2"], {}),
    "polar": (["exp(u)*cos(v)", "exp(u)*sin(v)"], {}),
    "weight normalization": (["c*v1/sqrt(v1**2 + v2**2)", "c*v2/sqrt(v1**2 + v2**2)"], {}),
    "no warp": (["exp(a)*u", "a*v"], {}),
    "hyperbolic curve": (["W + a*b"], {}),
}


def record_of(name):
    outputs, options = MODELS[name]
    return record_once(outputs, **options)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", MODELS)
def test_another_function_is_rejected(name):
    record = record_of(name)
    given = record["parameterization"]
    changed = json.dumps(given["outputs"])
    other = changed.replace("exp", "cos").replace("sqrt", "exp").replace("**D", "**2")
    if other == changed:
        other = changed.replace("a*", "a**2*").replace("log(w)", "w**2").replace("sinh", "tanh")
    given["outputs"] = json.loads(other)
    assert_refused(record)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["root", "polar", "weight normalization"])
def test_a_changed_warp_is_rejected(name):
    record = record_of(name)
    known = record["certificate"]["dual"][0] is not None
    for factor in ("-1", "exp(-w)", "w", *["2"] * known):
        changed = replaced(
            record,
            ("warping", "g"),
            f"{factor}*({record['warping']['g']})".replace(
                "w", record["parameterization"]["weights"][0]
            ),
        )
        assert_refused(changed)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start"), [(["a*b*c*u", f"{k}*a*b*c*v"], {w: "0"}) for k, w in ((2, "b"), (3, "a"))]
)
def test_a_record_without_an_answer_is_accepted_as_such(outputs, start):
    d = derive_once(outputs, start=start)
    assert check_text(d.to_json()).verdict == d.verdict.value == "UNDECIDED"


WHOLE = {  # F, its start, and what its theorem has
    "exp(p) - exp(m)": ({}, "every beta is reached"),
    "u**2*v**2": ({}, "every beta below is reached"),
    "exp(a)/(exp(a) + exp(b))": ({}, "at least where 1 - beta > 0"),
    "sigmoid(1 - a)": ({}, "at least where 1 - beta > 0"),
    "softplus(1 - a)": ({}, "at least where beta > 0"),
    "w**D": ({}, "K = [D**2*beta**(2 - 2/D)]"),
    "sqrt(2)*w**2": ({}, "K = 4*sqrt(2)*beta"),
    "w**2": ({"w": "sqrt(2)"}, "dQ/dbeta = log(beta/2)/4"),
    "log(w/(1 - w))": ({"w": "1/3"}, "every beta is reached"),
    "tanh(u*v)": ({}, "every beta below is reached"),
    "b**2*tanh(a)": ({}, "delta = 2*b_0**2 - 2*cosh(2*a_0)"),
}
PIECE = ("potential", "pieces", 0)
PROOF = ("certificate", "pieces", 0)


@functools.cache
def record(output):
    start = WHOLE[output][0] if output in WHOLE else {}
    return record_once(output, start=start)


@pytest.mark.every(2)
@pytest.mark.parametrize("output", WHOLE)
def test_all_of_it_is_certified(output):
    report = check(record(output))
    assert not report.open
    assert WHOLE[output][1] in report.theorem


def test_what_is_left_open_of_a_domain_is_not_said():
    said = record("atan(w)")
    report = check(said)
    assert list(report.open) == ["the domain of Q of beta"]
    assert not any(line.startswith("at least") for line in report.theorem)
    assert "K = cos(beta)**4" in report.theorem
    for path, value in (
        ((*PIECE, "kernel"), "(tan(beta)**2 + 1)**2"),
        ((*PIECE, "gradient", 0), "tan(beta)**3/3 - w_0**3/3 - w_0 - tan(beta)"),
        ((*PROOF, "domain"), []),
    ):
        assert_rejected(replaced(said, path, value))


BY_A_ROOT = [  # K where laws have exponentials
    (("metric", "kernel", 0, 0), "4*A*(4*A**2", "4*A*(5*A**2"),
    (("metric", "roots", 0, "polynomial"), "2*A**3", "3*A**3"),
    (("metric", "roots", 0, "branch"), "largest", "only"),
    (("metric", "constants", "delta"), "cosh(2*a_0)", "cosh(a_0)"),
    (("metric", "kernel_in_weights", 0, 0), "4*", "5*"),
]


@pytest.mark.parametrize(("path", "old", "new"), BY_A_ROOT)
def test_another_k_by_a_root_is_refused(path, old, new):
    said = record("b**2*tanh(a)")
    text = functools.reduce(lambda part, key: part[key], path, said)
    assert old in text
    assert_refused(replaced(said, path, text.replace(old, new)))


TIED = {
    "log(exp(a) + exp(b))": ["log(exp(a) + 2*exp(b))", "log(exp(a) + exp(2*b))"],
    "exp(a) + exp(b)": ["exp(a) + exp(2*b)", "exp(a) - exp(b)"],
    "a**D + b**D": ["a**D + b**(2*D)", "a**D + 2*b**D", "a**D + (b + a)**D"],
}


@pytest.mark.parametrize("output", TIED)
def test_calls_of_tied_weights_are_equal_where_their_arguments_are(output):
    """exp(b) = exp(a) where b = a stays so; with another call of b that is no tie any more."""
    powers = ["D"] if "D" in output else []
    model = Parameterization.parse([output], {"a": "alpha", "b": "alpha"}, parameters=powers)
    text = certified_once(model)
    assert '"b": "a"' in text
    assert check_text(text).verdict == "PROVED"
    for other in TIED[output]:
        record = json.loads(text)
        record["parameterization"]["outputs"] = [other]
        calls = [x for x in ("exp(2*b)", "b**(2*D)", "(b + a)**D") if x in other]
        calls += [other] * other.startswith("log")
        aids = [{"name": f"h{n}", "of": call} for n, call in enumerate(calls)]
        record["certificate"]["definitions"] += aids
        assert_rejected(record, "what is 0 at the start does not stay 0")


def test_roots_of_numbers_in_conditions_are_defined():
    """The condition says sqrt(2) sqrt(7) alpha where the form has sqrt(14) alpha."""
    model = Parameterization.parse(["a**2*b"], {"a": "alpha", "b": "2*alpha"})
    record = record_once(model)
    assert check(record).open == ("the domain of Q of beta",)
    said = record["potential"]["pieces"][0]["assumptions"]
    assert any("(2)**(1/2)" in text for text in said)
    said[:] = [text.replace("(7)**(1/2)", "(5)**(1/2)") for text in said]
    assert_refused(record)


def test_why_there_is_no_certificate_is_a_sentence(monkeypatch):
    def refuse(record):
        raise Rejected("a divisor may be 0: x0")

    monkeypatch.setattr("derive.certificate.checking.check.check", refuse)
    record = with_certificate(derive_once("w"), seconds=60)
    assert record["certificate"] is None
    assert record["certificate_missing"] == (
        "no certificate was accepted; the result does not depend on it: "
        "a step of the proof has no form in certificates (a divisor may be 0: x0)"
    )


def record_of_vector(text, start):
    model = Parameterization.parse([text], start, vectors=["u"])
    return record_once(model)


@pytest.mark.every(2)
@pytest.mark.parametrize(("text", "start"), [("a*u", {}), ("a*u", {"a": "-1"})])
def test_any_other_formula_is_refused(text, start):
    """Every number, sign and name in what is said of g, y, Q or the linear term."""
    record = record_of_vector(text, start)
    weights = record["parameterization"]["weights"]
    piece = ("potential", "pieces", 0)
    for part in [("warping", "g"), (*piece, "gradient"), (*piece, "Q"), ("potential", "linear")]:
        said = functools.reduce(lambda inner, key: inner[key], part, record)
        for path, old in texts_of(said, part):
            for new in variants(old, weights):
                assert_refused(replaced(record, path, new))


def test_a_vector_is_no_scalar():
    """Without its vector the same record speaks of one output, whose warp is constant."""
    record = record_of_vector("a*u", {})
    for key in ("vector", "dimension", "norms", "start_vector", "s", "coefficient"):
        del record["parameterization"][key]
    record["parameterization"]["outputs"] = ["a*norm_u"]
    assert_refused(record)


def test_a_vector_has_a_warp_and_it_is_not_constant():
    record = record_of_vector("a*u", {})
    none = {"identity": [[], []], "along": [], "regular": []}
    constant = {}
    for section, verdict, proof in (("warping", "REFUTED", none), ("hessian", "PROVED", constant)):
        forged = replaced(record, (section, "verdict"), verdict)
        assert_rejected(replaced(forged, ("certificate", section), proof), "warp")
    still = replaced(record_of_vector("2*u", {}), ("hessian", "verdict"), "REFUTED")
    assert_rejected(replaced(still, ("certificate", "hessian"), none))


@pytest.mark.every(3)
@pytest.mark.parametrize("text", ["a*u", "a*b*u", "2*u"])
def test_a_length_is_not_negative_at_the_start(text):
    """Signs and branches are read at the start in numbers: it must be one of the model."""
    record = record_of_vector(text, {})
    assert check(record)
    assert_rejected(replaced(record, ("certificate", "at", "norm_u_0"), "-3"), "length")
