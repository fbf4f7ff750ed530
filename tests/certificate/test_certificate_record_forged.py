"""Records that say something false around proofs that are true."""

import copy
import functools
import json

import pytest

from derive.certificate.checking.check import check_text
from tests.certificate.certificates import assert_refused, replaced
from tests.published import certified_once, record_once


@functools.cache
def neuron():
    return certified_once(["a*u1", "a*u2"])


def swap(value):
    text = json.dumps(value).replace("beta1", "betaX").replace("beta2", "beta1")
    return json.loads(text.replace("betaX", "beta2"))


PIECE = ("potential", "pieces", 0)
ROOT = (*PIECE, "roots", 0)
Y = ("warping", "dual_coordinates", 0, "y")
UNIT = [["1", "0"], ["0", "1"]]
CHANGES = {
    "another Q": [(*PIECE, "Q"), "beta1**2 + beta2**2"],
    "an explicit root": [(*ROOT, "explicit"), "7"],
    "the smallest root": [(*ROOT, "branch"), "the smallest real root"],
    "the length of beta": [(*ROOT, "branch"), "the length of beta"],
    "the only root": [(*ROOT, "branch"), "the only real root"],
    "a root that is not simple": [
        (*ROOT, "polynomial"),
        "(A**2 - A*delta - beta1**2 - beta2**2)**2",
    ],
    "abbreviations": [(*PIECE, "abbreviations"), {"A": "9"}],
    "no constants": [(*PIECE, "constants"), {}],
    "no roots": [(*PIECE, "roots"), []],
    "another kind": [(*PIECE, "kind"), "algebraic"],
    "no assumptions": [(*PIECE, "assumptions"), []],
    "an assumption in words": [(*PIECE, "assumptions"), ["for every start"]],
    "a wrong assumption": [(*PIECE, "assumptions", 0), "a_0 < 0"],
    "a domain in words": [(*PIECE, "domain"), "all of R^2, for every start"],
    "a domain without limits": [(*PIECE, "domain", "undecided"), ["nothing"]],
    "another warp": [("warping", "g"), "7*u1"],
    "g = 1": [("warping", "g"), "1"],
    "dual coordinates": [(*Y, 0, "rational"), "7"],
    "rho": [("metric", "rho"), UNIT],
    "K": [("metric", "kernel"), UNIT],
    "K in the weights": [("metric", "kernel_in_weights"), UNIT],
    "laws": [("conserved", "laws"), ["u1"]],
    "values of laws": [("conserved", "values_at_start"), ["7"]],
    "that laws are missing": [("conserved",), {"verdict": "UNDECIDED", "reason": "unknown"}],
    "a Hessian map": [("hessian", "verdict"), "PROVED"],
    "no warp": [("warping", "verdict"), "REFUTED"],
    "the verdict of Q": [("potential", "verdict"), "REFUTED"],
    "another normalization": [("potential", "normalization"), "none"],
    "more outputs": [("parameterization", "outputs"), ["a*u1", "a*u2", "a"]],
    "no names of outputs": [("parameterization", "beta"), ["1, beta2), form (beta1, beta2"]],
    "another flow": [("parameterization", "flow"), "w' = J^T X^T r"],
    "blocks": [("parameterization", "blocks"), [[1], [2]]],
    "a start of the other sign": [("certificate", "at", "a_0"), "-3"],
    "an old version": [("certificate", "version"), 2],
    "more keys": [("theorem",), "anything"],
}


@pytest.mark.every(4)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_record_that_says_something_else_is_refused(change):
    record = json.loads(neuron())
    path, value = change
    assert_refused(replaced(record, path, value))


def two_pieces(record):
    pieces, proofs = record["potential"]["pieces"], record["certificate"]["pieces"]
    pieces.insert(0, {**pieces[0], "Q": "beta1**2 + beta2**2"})
    proofs.insert(0, None)


def another_piece(record):
    pieces = record["potential"]["pieces"]
    pieces.append({**pieces[0], "beta": ["beta1"], "Q": "beta1**2"})
    record["certificate"]["pieces"].append(None)


def swapped_betas(record):
    record["potential"]["pieces"][0] = swap(record["potential"]["pieces"][0])


def a_root_twice(record):
    roots = record["potential"]["pieces"][0]["roots"]
    roots.insert(0, {**roots[0], "polynomial": "A - 7", "explicit": "7"})


def a_root_in_weights(record):
    piece = record["potential"]["pieces"][0]
    piece["constants"]["A"], piece["roots"] = "(a)**2", []


def a_quotient_that_begins_with_another_g(record):
    record["warping"]["g"] = "(7*u1)/(7*u1/(a))*2"


def a_law_on_one_leaf(record):
    said, proof = record["conserved"], record["certificate"]["conserved"]
    rest = f"({said['laws'][0]} - ({said['values_at_start'][0]}))"
    proof["definitions"] = [{"zero": rest, "main": "a_0"}]
    said["laws"].append(f"u1*{rest}")
    said["values_at_start"].append("0")
    said["count"] += 1


def a_negative_warp(record):
    """True of a start with a_0 < 0, which the conditions of the record exclude."""
    record["warping"]["g"] = "-a"
    for y in record["warping"]["dual_coordinates"][0]["y"]:
        y["rational"] = f"-({y['rational']})"
    record["warping"]["dual_coordinates"][0]["conjugate"]["rational"] = "-(a**3/3)"
    record["certificate"]["at"]["a_0"] = "-3"


def another_gradient(record):
    piece = record["potential"]["pieces"][0]
    piece["gradient"] = [f"{y} + 2*u{n}_0" for n, y in enumerate(piece["gradient"], 1)]
    piece["Q"] += " + 2*beta1*u1_0 + 2*beta2*u2_0"


def warp_of_the_other_sign(record):
    a_negative_warp(record)
    another_gradient(record)


def a_reason_for_what_is_decided(record):
    record["hessian"]["reason"] = "in fact it is one"


@pytest.mark.parametrize(
    "forge",
    [
        two_pieces,
        another_piece,
        swapped_betas,
        a_root_twice,
        a_root_in_weights,
        a_quotient_that_begins_with_another_g,
        a_law_on_one_leaf,
        a_negative_warp,
        another_gradient,
        warp_of_the_other_sign,
        a_reason_for_what_is_decided,
    ],
    ids=lambda f: f.__name__,
)
def test_a_forged_record_is_refused(forge):
    record = json.loads(neuron())
    assert check_text(json.dumps(record)).open == ()
    changed = copy.deepcopy(record)
    forge(changed)
    assert_refused(changed)


def test_rows_of_the_metric_are_lists():
    rows = {"u": ["2", "1"], "v": ["1", "2"]}
    record = record_once("u*v", rates=rows)
    assert check_text(json.dumps(record)).open == ()
    record["parameterization"]["rates"]["u"] = "21"  # no rate, and not [2, 1]
    assert_refused(record)
