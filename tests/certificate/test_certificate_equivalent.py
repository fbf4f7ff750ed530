"""Certificates that speak of another start, from which beta moves as from the one given."""

import functools
import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import NotACertificate, Rejected, check
from tests.certificate.certificates import replaced
from tests.published import certified_once

REFUSED = (Rejected, NotACertificate)
TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]
START = {"a": "0", "b": "0", "u1": "c", "u2": "0", "v1": "0", "v2": "c"}


@functools.cache
def _text():
    return certified_once(Parameterization.parse(TWO, start=START))


def record():
    return json.loads(_text())


def test_two_neurons_that_are_one():
    """All of it is of the flow from the other start; that beta moves alike is named."""
    report = check(record())
    assert report.verdict == "PROVED"
    assert report.open == ("that beta moves as from the equivalent start",)
    said = "beta moves as from w_0: a = c, u1 = 0, b = 0, v1 = 0, u2 = 0, v2 = 0"
    assert f"{said}; what follows is said of that flow" in report.theorem


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("parameterization", "equivalent_start", "a"), "2*c"),
        (("parameterization", "equivalent_start", "a"), "-c"),
        (("parameterization", "equivalent_start", "a"), "u1"),
        (("parameterization", "equivalent_start", "v2"), "c"),
        (("parameterization", "positive"), ["u1"]),
        (("certificate", "equivalence"), None),
    ],
)
def test_what_is_changed_is_refused(path, value):
    # From a = -c the warp g = a is negative.
    changed = record()
    changed[path[0]] |= {"equivalence": None} if path[1] == "equivalence" else {}
    with pytest.raises(REFUSED):
        check(replaced(changed, path, value))


def test_a_start_is_put_for_another_where_no_sign_of_a_weight_is_given():
    found = json.loads(certified_once(Parameterization.parse(["exp(w)"], start={"w": "c"})))
    found["parameterization"] |= {"equivalent_start": {"w": "c"}, "positive": ["w"]}
    with pytest.raises(Rejected, match="a start is put for another"):
        check(found)
