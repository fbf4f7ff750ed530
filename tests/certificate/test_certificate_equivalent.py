"""Certificates that speak of another start, from which beta moves as from the one given."""

from __future__ import annotations

import copy
import functools
import json
from typing import Any

import pytest

from derive import Parameterization
from derive.certificate.checking.check import NotACertificate, Rejected, check
from tests.certificate.certificates import replaced
from tests.published import derive_once

REFUSED = (Rejected, NotACertificate)
TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]
START = {"a": "0", "b": "0", "u1": "c", "u2": "0", "v1": "0", "v2": "c"}
PROOF = ("certificate", "equivalence")


@functools.cache
def _text() -> str:
    return derive_once(Parameterization.parse(TWO, start=START)).to_json()


def record() -> Any:
    return json.loads(_text())


def test_two_neurons_that_are_one() -> None:
    report = check(record())
    assert (report.verdict, report.open) == ("PROVED", ())
    said = "beta moves as from w_0: a = c, u1 = 0, b = 0, v1 = 0, u2 = 0, v2 = 0"
    assert f"{said}; what follows is said of that flow" in report.theorem


def test_without_its_proof_it_is_named() -> None:
    assert check(replaced(record(), PROOF, None)).open == (
        "that beta moves as from the equivalent start",
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("parameterization", "start", "v2"), "2*c"),
        (("parameterization", "start", "u2"), "c"),
        (("parameterization", "equivalent_start", "a"), "2*c"),
        (("parameterization", "equivalent_start", "a"), "-c"),
        (("parameterization", "equivalent_start", "a"), "u1"),
        (("parameterization", "equivalent_start", "v2"), "c"),
        (("parameterization", "positive"), ["u1"]),
        ((*PROOF, "functions"), ["a*u1 + b*v1"]),
        ((*PROOF, "functions", 0), "a*u1"),
        ((*PROOF, "functions", 2), "(a**2 + b**2 + u1**2 + v1**2)/a"),
        ((*PROOF, "slopes", 0, 0, 2), "2"),
        ((*PROOF, "slopes", 1, 4, 1), "a"),
        ((*PROOF, "slopes"), []),
        (PROOF, {}),
    ],
)
def test_what_is_changed_is_refused(path: tuple[Any, ...], value: object) -> None:
    # With a = -c the starts are equivalent, and the warp g = a is negative.
    with pytest.raises(REFUSED):
        check(replaced(record(), path, value))


def test_a_start_that_beta_tells_apart_has_no_such_proof() -> None:
    """F = 0 at both starts, and K11 is c^2 at one and 2 c^2 at the other."""
    false = copy.deepcopy(record())
    false["parameterization"]["start"] |= {"u1": "0", "v1": "c", "v2": "0", "a": "c"}
    with pytest.raises(REFUSED, match="not equivalent"):
        check(false)
    del false["certificate"]["equivalence"]
    with pytest.raises(REFUSED):
        check(false)


def test_a_start_is_put_for_another_of_polynomials_alone() -> None:
    found = json.loads(derive_once(Parameterization.parse(["exp(w)"], start={"w": "c"})).to_json())
    found["parameterization"]["equivalent_start"] = {"w": "c"}
    found["certificate"]["equivalence"] = None
    with pytest.raises(Rejected, match="a start is put for another where F has calls"):
        check(found)


def test_functions_that_leave_out_the_outputs_show_nothing() -> None:
    """Two constants obey any linear equation, and agree at all starts."""
    false = replaced(record(), (*PROOF, "functions"), ["c", "c"])
    false = replaced(false, (*PROOF, "slopes"), [[["0", "0"]] * 2] * 2)
    with pytest.raises(Rejected, match="h leaves out F"):
        check(false)
