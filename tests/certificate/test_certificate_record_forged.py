"""Records that print something false around a certificate that is true."""

from __future__ import annotations

import copy
import functools
import json

import pytest

from derive import Parameterization, derive
from derive.certificate.checking.check import NotACertificate, Rejected, check_text


@functools.cache
def neuron():
    return derive(Parameterization.parse(["a*u1", "a*u2"])).to_json()


def swap(value):
    text = json.dumps(value).replace("beta1", "betaX").replace("beta2", "beta1")
    return json.loads(text.replace("betaX", "beta2"))


def without_q(record):
    record["certificate"]["claims"][-1]["Q"] = None
    record["potential"]["pieces"][0]["Q"] = "beta1**2 + beta2**2"


def two_pieces(record):
    pieces = record["potential"]["pieces"]
    pieces.insert(0, {**pieces[0], "Q": "beta1**2 + beta2**2"})


def another_piece(record):
    pieces = record["potential"]["pieces"]
    pieces.append({**pieces[0], "beta": ["beta1"], "Q": "beta1**2"})


def explicit_root(record):
    record["potential"]["pieces"][0]["roots"][0]["explicit"] = "7"


def branch(record):
    record["potential"]["pieces"][0]["roots"][0]["branch"] = "the smallest real root"


def abbreviations(record):
    record["potential"]["pieces"][0]["abbreviations"] = {"A": "9"}


def no_constants(record):
    record["potential"]["pieces"][0]["constants"] = {}


def no_roots(record):
    record["potential"]["pieces"][0]["roots"] = []


def warp(record):
    record["warping"]["g"] = "7*u1"


def laws(record):
    record["conserved"]["laws"] = ["u1"]


def hessian(record):
    record["hessian"]["verdict"] = "PROVED"


def swapped_betas(record):
    record["certificate"]["claims"][-1] = swap(record["certificate"]["claims"][-1])
    record["potential"]["pieces"][0] = swap(record["potential"]["pieces"][0])


def g_is_1(record):
    record["warping"]["g"] = "1"  # certified is g = a


def a_root_twice(record):
    roots = record["potential"]["pieces"][0]["roots"]
    roots.insert(0, {**roots[0], "polynomial": "A - 7", "explicit": "7"})


def a_root_in_weights(record):
    piece = record["potential"]["pieces"][0]
    piece["constants"]["A"], piece["roots"] = "(a)**2", []


def values_of_laws(record):
    record["conserved"]["values_at_start"] = ["7"]


def verdict_of_the_potential(record):
    record["potential"]["verdict"] = "REFUTED"


def words_that_leave_all_open(record):
    what = "a warp, the conserved, Hessian map, dual"  # said of no output, beside full claims
    record["certificate"]["claims"].append({"claim": "not certified", "outputs": [], "what": what})
    record["conserved"]["laws"], record["warping"]["g"] = ["u1"], "7*u1"
    record["hessian"]["verdict"], record["warping"]["verdict"] = "PROVED", "REFUTED"


def claim_of(record, kind):
    return next(c for c in record["certificate"]["claims"] if c["claim"] == kind)


def a_quotient_that_begins_with_another_g(record):
    claim_of(record, "dual")["g"] = "(7*u1)/(7*u1/(a))"
    record["warping"]["g"] = "7*u1"


def a_law_on_one_leaf(record):
    claim = claim_of(record, "laws")
    rest = f"({claim['laws'][0]} - ({claim['values'][0]}))"
    claim["definitions"], claim["brackets"] = [{"zero": rest, "main": "a_0"}], None
    claim["laws"].append(f"u1*{rest}")
    claim["values"].append("0")
    record["conserved"]["laws"] = claim["laws"]
    record["conserved"]["values_at_start"] = claim["values"]


def undecided_and_refuted(record):
    what = {"claim": "not certified", "outputs": [1, 2], "what": "the conserved quantities"}
    record["certificate"] |= {"claims": [what], "verdict": "UNDECIDED"}
    record["verdict"], record["potential"]["verdict"] = "UNDECIDED", "REFUTED"
    record["potential"]["pieces"] = []
    record["warping"] |= {"verdict": "UNDECIDED", "g": None}
    record["hessian"]["verdict"] = "UNDECIDED"


def a_negative_warp(record):
    claim = claim_of(record, "dual")
    claim["g"], claim["y"] = f"-({claim['g']})", [f"-({y})" for y in claim["y"]]
    claim["R"] = claim["R"] and f"-({claim['R']})"
    record["warping"]["g"] = claim["g"]


@pytest.mark.parametrize(
    "forge",
    [
        without_q,
        two_pieces,
        another_piece,
        explicit_root,
        branch,
        abbreviations,
        no_constants,
        no_roots,
        warp,
        laws,
        hessian,
        swapped_betas,
        g_is_1,
        a_root_twice,
        a_root_in_weights,
        values_of_laws,
        verdict_of_the_potential,
        words_that_leave_all_open,
        a_quotient_that_begins_with_another_g,
        a_law_on_one_leaf,
        undecided_and_refuted,
        a_negative_warp,
    ],
    ids=lambda f: f.__name__,
)
def test_a_record_that_prints_something_else_is_refused(forge):
    record = json.loads(neuron())
    assert check_text(json.dumps(record))
    changed = copy.deepcopy(record)
    forge(changed)
    with pytest.raises((Rejected, NotACertificate)):
        check_text(json.dumps(changed))
