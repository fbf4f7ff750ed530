"""Certificates of vectors of open dimension: accepted as written, refused with any change."""

import copy
import json

import pytest

from derive import Parameterization, derive
from derive.catalogue import entries
from derive.certificate.checking.check import NotACertificate, Rejected, check, check_text
from tests.certificate.certificates import entries as texts_of
from tests.certificate.certificates import replaced, variants

OPEN = [entry.id for entry in entries() if entry.vector and ":" not in entry.vector]
MODELS = [
    ("a*u", {}),
    ("a*u", {"a": "-1"}),
    ("a*u", {"u": "0"}),
    ("2*u", {}),
    ("a*b*u", {}),
    ("a*b*u", {"a": "alpha", "b": "alpha", "u": "alpha"}),
    ("u*a/norm(u)", {}),
]


def record_of(text, start):
    model = Parameterization.parse([text], start, vectors=["u"])
    return json.loads(derive(model).to_json())


@pytest.mark.parametrize("name", OPEN)
def test_every_published_model_of_open_dimension_is_accepted(name, derived):
    report = check_text(derived(name).to_json())
    assert report.verdict == "PROVED"
    assert any(line.startswith("form") for line in report.accepted)


@pytest.mark.parametrize(("text", "start"), MODELS)
def test_what_is_written_is_accepted(text, start):
    report = check_text(json.dumps(record_of(text, start)))
    assert report.verdict == "PROVED"
    assert "no hessian" in report.accepted or text == "2*u"


@pytest.mark.parametrize(("text", "start"), MODELS[:2])
def test_any_other_formula_is_refused(text, start):
    """Every number, sign and name in what a claim says of g, y, Q or the linear term."""
    certificate = record_of(text, start)["certificate"]
    for n, claim in enumerate(certificate["claims"]):
        for key in ("g", "y", "Q", "linear"):
            for path, old in texts_of(claim.get(key), ("claims", n, key)):
                for new in variants(old, certificate["weights"]):
                    changed = replaced(certificate, path, new)
                    with pytest.raises(Rejected):
                        check(changed)


def changed(record, *path, to):
    return json.dumps(replaced(record, path, to))


def test_a_record_of_another_vector_or_model_is_refused():
    record = record_of("a*u", {})
    for path, value in [
        (("parameterization", "coefficient"), "a**2"),
        (("parameterization", "vector"), "v"),
        (("parameterization", "norms"), {"u": "a"}),
        (("potential", "linear", "coefficient"), "1"),
        (("certificate", "vector", "norm"), "a"),
        (("certificate", "outputs"), ["a**2"]),
        (("certificate", "at", "a_0"), "-2"),
    ]:
        with pytest.raises(Rejected):
            check_text(changed(record, *path, to=value))


def test_a_vector_is_no_scalar():
    """Without its vector the same claims speak of one output, whose warp is constant."""
    certificate = copy.deepcopy(record_of("a*u", {})["certificate"])
    del certificate["vector"]
    certificate["outputs"] = ["a*norm_u"]
    with pytest.raises((Rejected, NotACertificate)):
        check(certificate)


def test_a_vector_has_a_warp_and_it_is_not_constant():
    certificate = record_of("a*u", {})["certificate"]
    none = {"claim": "no warp", "identity": ["constant", [], []], "along": [], "regular": []}
    constant = {"claim": "hessian", "paths": [], "structure": []}
    for claim in (none, constant):
        forged = {**certificate, "claims": [claim], "verdict": "UNDECIDED"}
        with pytest.raises(Rejected, match="warp"):
            check(forged)
    still = record_of("2*u", {})["certificate"]
    moving = {"claim": "no hessian", "identity": ["constant", [], []], "along": [], "regular": []}
    with pytest.raises(Rejected):
        check({**still, "claims": [moving], "verdict": "UNDECIDED"})


@pytest.mark.parametrize("text", ["a*u", "a*b*u", "2*u"])
def test_a_length_is_not_negative_at_the_start(text):
    """Signs and branches are read at the start in numbers: it must be one of the model."""
    certificate = record_of(text, {})["certificate"]
    assert check(certificate)
    with pytest.raises(Rejected, match="length"):
        check(replaced(certificate, ("at", "norm_u_0"), "-3"))
