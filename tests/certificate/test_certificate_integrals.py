"""Integrals over beta of what is printed as K(b): accepted, and forged ones refused."""

import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import check_text
from derive.certificate.checking.text import NotACertificate, Rejected
from tests.published import certified_once

REFUSED = Rejected, NotACertificate
Q, SLOPE = "Integral((beta - b)/K(b), ", "Integral(1/K(b), "
FORGED = [
    (Q, "Integral((beta - b)/(2*K(b)), "),
    (Q, "Integral((beta - 2*b)/K(b), "),
    (Q, "Integral((beta - b)/K(b)/3, "),
    (Q, "Integral((beta - b)/K(2*b), "),
    (Q, "Integral((beta - b)/L(b), "),
    (SLOPE, "Integral(2/K(b), "),
    (SLOPE, "Integral(1/K(b) + beta, "),
    ("b = exp(u_0*v_0) .. beta", "b = exp(u_0*v_0) .. beta**2"),
    ("b = exp(u_0*v_0) .. beta", "b = 1 .. beta"),
    ('"kernel": "beta**2*', '"kernel": "2*beta**2*'),
    ('"kernel": "beta**2*', '"kernel": "exp(2*u*v)*'),
]


@pytest.fixture(scope="module")
def record():
    return certified_once(Parameterization.parse(["exp(u*v)"]))


def test_an_integral_of_the_kernel_is_certified(record):
    report = check_text(record)
    assert not report.open
    assert report.verdict == "PROVED"
    assert any("every beta below is reached" in line for line in report.theorem)


@pytest.mark.parametrize("output", ["tanh(u*v)", "w**5 + w", "log(1 + exp(u*v))"])
def test_kernels_by_functions_and_roots_are_certified(output):
    assert not check_text(certified_once(Parameterization.parse([output]))).open


@pytest.mark.parametrize(("old", "new"), FORGED)
def test_other_integrals_are_refused(record, old, new):
    """In the statement, and in the statement with the definitions of the proof."""
    assert old in record
    for forged in (record.replace(old, new), record.replace(old, new, 1)):
        with pytest.raises(REFUSED):
            check_text(forged)


def test_a_quotient_is_that_of_its_outermost_division(record):
    """(beta - b)/K(b)/3 is no (beta - b)/g: an integral of 1/3 shows nothing of it."""
    told = json.loads(record)
    (piece,) = told["potential"]["pieces"]
    of = piece["gradient"][0].partition(", ")[2]
    definitions = told["certificate"]["pieces"][0]["definitions"]
    piece["Q"] = f"Integral((beta - b)/K(b)/3, {of}"
    piece["gradient"] = [f"Integral(1/3, {of}"]
    definitions[-2:] = [
        {"name": "f8", "of": piece["gradient"][0]},
        {"name": "f9", "of": piece["Q"]},
    ]
    with pytest.raises(REFUSED):
        check_text(json.dumps(told))
