"""Further certificates and records that say something false: each has to be refused."""

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import certificate
from tests.certificate.test_certificate_forged import HESSIAN, LAW, REFUSED, left_open

PLANE = {"weights": ["x", "y", "z"], "parameters": ["t"]}
START = {"x_0": "2", "y_0": "3", "z_0": "5"}
POINT = {"p": "2", "m": "3", "p_0": "1", "m_0": "1"}
# Q = (x^2 + y^2)/2 for every t: both roots are |t|.
ROOTS = ["x", "y + (sqrt(t**2) - (t**4)**(1/4))*(x - z)**2"]
NO_WARP = {"claim": "no warp", "along": [], "regular": [], "identity": [[1, 2], [2, 2]]}
LAWS = {"claim": "laws", "definitions": [LAW], "brackets": [], "point": POINT}


def one(output, *definitions, **entries):
    return certificate(
        [output],
        [HESSIAN, left_open(1)],
        "PROVED",
        weights=["w"],
        definitions=list(definitions),
        **entries,
    )


def pair(*laws, values, brackets=()):
    claim = {**LAWS, "laws": list(laws), "values": values, "brackets": list(brackets)}
    return certificate(["p**2 - m**2"], [claim], "UNDECIDED", weights=["p", "m"])


FORGED = {
    # sqrt(t**2) = t was shown at t = 3, and is read at t = -3.
    "a call that is known at another start": certificate(
        ROOTS,
        [{**NO_WARP, "at": {**START, "t": "-3"}}],
        "REFUTED",
        **PLANE,
        at={**START, "t": "3"},
        definitions=[{"of": "sqrt(t**2)", "is": "t"}, {"name": "q", "of": "(t**4)**(1/4)"}],
    ),
    # Conserved on the leaf of w_0 alone, where it is 0 with its gradient along X.
    "a law on one leaf": pair("(p*m - p_0*m_0)*p", values=["0"], brackets=[[1]]),
    "more laws than there are": pair("p*m", "(p*m - p_0*m_0)*p", values=["p_0*m_0", "0"]),
    "an F that is not real": one("w + sqrt(-1)", {"name": "i", "of": "sqrt(-1)"}),
    "an F that is not real at the start": one(
        "w + sqrt(c)", {"name": "r", "of": "sqrt(c)"}, parameters=["c"], at={"w_0": "2", "c": "-2"}
    ),
    "an F that is infinite": one("w + log(Abs(0))", {"name": "l", "of": "log(Abs(0))"}),
    "Abs of two arguments": one("log(Abs(w, 5))", {"name": "l", "of": "log(Abs(w))"}),
    # lives() differentiates 1/log(w), which adds the divisor w while divisors are gone through.
}


def test_a_divisor_may_add_a_divisor():
    # 1/log(w) where w starts at 1: the divisor is 0 there and not after, as 1/w is not.
    record = certificate(
        ["w"],
        [
            HESSIAN,
            {
                **{"claim": "dual", "outputs": [1], "definitions": [], "g": "1", "y": ["w"]},
                **{"R": None, "equal": [["1/log(w)", "1/log(w)"]]},
            },
            left_open(1),
        ],
        "PROVED",
        weights=["w"],
        at={"w_0": "1"},
        definitions=[{"name": "l", "of": "log(w)"}],
    )
    assert check(record).verdict == "PROVED"


@pytest.mark.parametrize("record", FORGED.values(), ids=FORGED)
def test_forged_certificates_are_refused(record):
    with pytest.raises(REFUSED):
        check(record)
