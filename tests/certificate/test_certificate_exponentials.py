"""Forms whose proofs relate calls to each other: exponentials, arc tangents, roots, walls."""

import functools
import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import Rejected, check
from tests.certificate.certificates import replaced
from tests.published import certified_once

WHOLE = {  # F, its start, and what its theorem has
    "exp(p) - exp(m)": ({}, "every beta is reached"),
    "u**2*v**2": ({}, "every beta below is reached"),
    "exp(a)/(exp(a) + exp(b))": ({}, "at least where 1 - beta > 0"),
    "w**D": ({}, "K = [D**2*beta**(2 - 2/D)]"),
    "sqrt(2)*w**2": ({}, "K = 4*sqrt(2)*beta"),
    "w**2": ({"w": "sqrt(2)"}, "dQ/dbeta = log(beta/2)/4"),
}
WALL = {"form": "beta + 1", "sign": "> 0", "vanishing": None}
PIECE = ("potential", "pieces", 0)
PROOF = ("certificate", "pieces", 0)
FORGED = [
    ("exp(p) - exp(m)", (*PIECE, "curve", "interval"), ["-exp(p_0 - m_0)", "oo"]),
    ("exp(p) - exp(m)", (*PIECE, "curve", "interval"), ["-exp(p_0)", "1"]),
    ("exp(p) - exp(m)", (*PIECE, "curve", "interval"), ["-1", "1"]),
    ("exp(p) - exp(m)", (*PIECE, "gradient", 0), "z*exp(-m_0)"),
    ("exp(p) - exp(m)", (*PIECE, "domain", "walls"), [WALL]),
    ("u**2*v**2", (*PIECE, "domain", "walls", 0, "form"), "beta + 1"),
    ("u**2*v**2", (*PIECE, "domain", "walls"), []),
    ("u**2*v**2", (*PROOF, "interval"), ["-oo", "oo"]),
    ("u**2*v**2", (*PROOF, "interval"), ["1", "oo"]),
    ("exp(a)/(exp(a) + exp(b))", (*PIECE, "domain", "walls", 0, "form"), "beta + 1"),
    ("w**D", ("metric", "kernel", 0, 0), "D**2*beta**(2 - 1/D)"),
    ("sqrt(2)*w**2", (*PIECE, "gradient", 0), "sqrt(2)*log(sqrt(2)*beta/(3*w_0**2))/8"),
    ("w**2", (*PIECE, "gradient", 0), "log(beta/3)/4"),
]


@functools.cache
def record(output):
    start = WHOLE[output][0] if output in WHOLE else {}
    return json.loads(certified_once(Parameterization.parse([output], start=start)))


@pytest.mark.parametrize("output", WHOLE)
def test_all_of_it_is_certified(output):
    report = check(record(output))
    assert not report.open
    assert WHOLE[output][1] in report.theorem


@pytest.mark.parametrize(("output", "path", "value"), FORGED)
def test_another_form_is_refused(output, path, value):
    changed = replaced(record(output), path, value)
    with pytest.raises(Rejected):
        check(changed)


def test_what_is_left_open_of_a_domain_is_not_said():
    said = record("atan(w)")
    report = check(said)
    assert list(report.open) == ["the domain of Q of beta"]
    assert not any(line.startswith("at least") for line in report.theorem)
    assert "K = (tan(beta)**2 + 1)**(-2)" in report.theorem
    for path, value in (
        ((*PIECE, "kernel"), "(tan(beta)**2 + 1)**2"),
        ((*PIECE, "gradient", 0), "tan(beta)**3/3 - w_0**3/3 - w_0 - tan(beta)"),
        ((*PROOF, "domain"), []),
    ):
        with pytest.raises(Rejected):
            check(replaced(said, path, value))
