"""Records that print something false around a certificate that is true."""

from __future__ import annotations

import copy
import functools
import json

import pytest

from derive import Parameterization, derive
from derive.check import NotACertificate, Rejected, check_text


@functools.cache
def neuron():
    return derive(Parameterization.parse(["a*u1", "a*u2"])).to_json()


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


@pytest.mark.parametrize(
    "forge",
    [
        g_is_1,
        a_root_twice,
        a_root_in_weights,
        values_of_laws,
        verdict_of_the_potential,
        words_that_leave_all_open,
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
