"""Integrals over beta of what is printed as K(b): accepted, and forged ones refused."""

import json

import pytest
from flint import fmpq

from derive.certificate.checking.check import check_text
from derive.certificate.checking.domain import BOUNDED, End
from derive.certificate.checking.function import sign
from derive.certificate.checking.space import Space
from tests.certificate.certificates import assert_refused
from tests.published import certified_once

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
    return certified_once("exp(u*v)")


def test_an_integral_of_the_kernel_is_certified(record):
    report = check_text(record)
    assert not report.open
    assert report.verdict == "PROVED"
    assert any("every beta below is reached" in line for line in report.theorem)


@pytest.mark.parametrize(("old", "new"), FORGED)
def test_other_integrals_are_refused(record, old, new):
    """In the statement, and in the statement with the definitions of the proof."""
    assert old in record
    for forged in (record.replace(old, new), record.replace(old, new, 1)):
        assert_refused(forged)


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
    assert_refused(told)


CALLS = ("exp(z)", "exp(-z/2)", "sqrt(1 - z)", "(3 - z)**(1/3)", "log(1 - z)", "log(3 - z)")
CALLS += ("log(log(3 - z) + 1 - z)",)
TENDS = [  # of a function to infinity with a sign; 0 where it is not shown to
    ("z**3 - z", "-oo", -1),
    ("exp(z) - exp(-z/2)", "-oo", -1),
    ("exp(z) - z**5", "-oo", 1),
    ("exp(z)*z**2 - 1", "-oo", 0),
    ("1/(1 - z) - 5", "1", 1),
    ("(2 - z)/(1 - z)**2 - 3/(1 - z)", "1", 1),
    ("(1 - z)/(1 - z)**2*(z - 2)", "1", -1),
    ("1/sqrt(1 - z)", "1", 1),
    ("sqrt(1 - z)", "1", 0),
    ("log(1 - z)", "1", -1),
    ("log(1 - z) + log(3 - z)", "-oo", 1),
    ("log(1 - z) - log(3 - z)", "-oo", 0),
    ("log(1 - z) + log(3 - z)", "1", -1),
    ("log(3 - z)/(1 - z)", "1", 0),
    ("sqrt(1 - z) - (3 - z)**(1/3)", "-oo", 1),
    ("sqrt(1 - z)**2 - z**2*(3 - z)**(1/3)", "-oo", -1),
    ("sqrt(1 - z)**2 + z", "-oo", 0),
    # What is left of logarithms that cancel is bounded, and times z it is not.
    ("z*log(1 - z) - z*log(3 - z) - sqrt(1 - z)", "-oo", 0),
    ("z*log(1 - z) - z*log(3 - z) + sqrt(1 - z)", "-oo", 0),
    ("log(log(3 - z) + 1 - z)", "1", 0),  # which is log(2) there
]


@pytest.mark.parametrize(("text", "end", "tends"), TENDS)
def test_leading_terms(text, end, tends):
    alone = Space(["z"], [], len(CALLS) + 1)
    alone.start = [fmpq(-1, 3)]
    alone.w0 = alone.symbols[:1]
    for n, call in enumerate(CALLS):
        alone.define({"name": f"f{n}", "of": call})
    leading = End(alone, end, -1 if end == "-oo" else 1).leading(alone.read(text))
    infinite = leading is not None and leading.order > BOUNDED
    assert (sign(leading.c.at(alone.start)) if infinite else 0) == tends


def test_coefficients_that_may_vanish_are_named():
    """log(1 - a z) grows like log |z| for a != 0 alone."""
    alone = Space(["z"], ["a"], 3)
    alone.start = [fmpq(-1, 3), fmpq(2)]
    alone.w0 = alone.symbols[:1]
    alone.define({"name": "f", "of": "log(1 - a*z)"})
    end = End(alone, "-oo", -1)
    assert end.leading(alone.names["f"]).order > BOUNDED
    assert any(c.variables == {1} for c in end.relied)
