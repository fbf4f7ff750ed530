"""What a function of z tends to at the ends of an interval."""

import pytest
from flint import fmpq

from derive.certificate.checking.domain import BOUNDED, End
from derive.certificate.checking.function import sign
from derive.certificate.checking.space import Space

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
