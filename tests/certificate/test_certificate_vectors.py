"""Certificates of vectors of open dimension: accepted as written, refused with any change."""

import functools

import pytest

from derive import Parameterization
from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_refused, assert_rejected, replaced, variants
from tests.certificate.certificates import entries as texts_of
from tests.published import record_once


def record_of(text, start):
    model = Parameterization.parse([text], start, vectors=["u"])
    return record_once(model)


@pytest.mark.every(2)
@pytest.mark.parametrize(("text", "start"), [("a*u", {}), ("a*u", {"a": "-1"})])
def test_any_other_formula_is_refused(text, start):
    """Every number, sign and name in what is said of g, y, Q or the linear term."""
    record = record_of(text, start)
    weights = record["parameterization"]["weights"]
    piece = ("potential", "pieces", 0)
    for part in [("warping", "g"), (*piece, "gradient"), (*piece, "Q"), ("potential", "linear")]:
        said = functools.reduce(lambda inner, key: inner[key], part, record)
        for path, old in texts_of(said, part):
            for new in variants(old, weights):
                assert_refused(replaced(record, path, new))


def test_a_vector_is_no_scalar():
    """Without its vector the same record speaks of one output, whose warp is constant."""
    record = record_of("a*u", {})
    for key in ("vector", "dimension", "norms", "start_vector", "s", "coefficient"):
        del record["parameterization"][key]
    record["parameterization"]["outputs"] = ["a*norm_u"]
    assert_refused(record)


def test_a_vector_has_a_warp_and_it_is_not_constant():
    record = record_of("a*u", {})
    none = {"identity": [[], []], "along": [], "regular": []}
    constant = {}
    for section, verdict, proof in (("warping", "REFUTED", none), ("hessian", "PROVED", constant)):
        forged = replaced(record, (section, "verdict"), verdict)
        assert_rejected(replaced(forged, ("certificate", section), proof), "warp")
    still = replaced(record_of("2*u", {}), ("hessian", "verdict"), "REFUTED")
    assert_rejected(replaced(still, ("certificate", "hessian"), none))


@pytest.mark.every(3)
@pytest.mark.parametrize("text", ["a*u", "a*b*u", "2*u"])
def test_a_length_is_not_negative_at_the_start(text):
    """Signs and branches are read at the start in numbers: it must be one of the model."""
    record = record_of(text, {})
    assert check(record)
    assert_rejected(replaced(record, ("certificate", "at", "norm_u_0"), "-3"), "length")
