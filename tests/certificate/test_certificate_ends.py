"""What a function of z tends to at the ends of an interval."""

import pytest
from flint import fmpq

from derive.certificate.checking.ends import BOUNDED, End
from derive.certificate.checking.function import sign
from derive.certificate.checking.space import Space

CALLS = ("exp(z)", "exp(-z/2)", "sqrt(1 - z)", "(3 - z)**(1/3)", "log(1 - z)", "log(3 - z)")
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
