"""Certificates of F with elementary functions: accepted as derived, rejected when changed."""

import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import NotACertificate, Rejected, check_text
from tests.certificate.certificates import replaced
from tests.published import certified_once, derive_once

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
}


def record_of(name):
    outputs, options = MODELS[name]
    return json.loads(certified_once(Parameterization.parse(outputs, **options)))


@pytest.mark.every(8)
@pytest.mark.parametrize("name", MODELS)
def test_what_was_derived_is_accepted(name):
    record = record_of(name)
    assert check_text(json.dumps(record)).verdict == record["verdict"]


def refused(record):
    try:
        check_text(json.dumps(record))
    except (Rejected, NotACertificate):
        return True
    return False


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
    assert refused(record)


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
        assert refused(changed)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["root", "weight normalization", "no warp"])
def test_a_condition_that_holds_refutes_nothing(name):
    record = record_of(name)
    for section in ("hessian", "warping"):
        if "identity" in (record["certificate"][section] or {}):
            for a, of in ((1, 1), (1, 2), (2, 1)):
                path = ("certificate", section, "identity")
                assert refused(replaced(record, path, [[a, a], [of]]))


def test_a_claimed_yes_is_rejected_for_a_no():
    record = record_of("no warp")
    record["verdict"] = record["potential"]["verdict"] = record["warping"]["verdict"] = "PROVED"
    assert refused(record)
    record["certificate"]["warping"] = {}
    assert refused(record)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start"),
    [(["a*b*c*u", "2*a*b*c*v"], {"b": "0"}), (["a*u + x*y*z", "a*v"], {"x": "0", "y": "0"})],
)
def test_a_record_without_an_answer_is_accepted_as_such(outputs, start):
    d = derive_once(Parameterization.parse(outputs, start=start))
    assert check_text(d.to_json()).verdict == d.verdict.value == "UNDECIDED"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("u*v*w", "111"),
        ("u*v*w", ("1", "1", "-1")),
        ("u*v*w", ("a", "a", "a")),
        ("u**2*v**2", "11"),
        ("a*b + c*d", "1212"),
    ],
)
def test_a_leaf_of_equal_weights_is_solved_by_its_laws(output, start):
    """The relation of K and beta is singular there, and takes a minute to divide by."""
    names = [c for c in output if c.isalpha()]
    given = dict(zip(dict.fromkeys(names), start, strict=True))
    text = certified_once(Parameterization.parse([output], start=given))
    report = check_text(text)
    assert (report.verdict, report.open) == ("PROVED", ())
