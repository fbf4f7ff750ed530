"""Each rule of the checker by itself: a record that breaks it is refused, for that reason."""

import functools
import json
from pathlib import Path

from derive import Parameterization, derive, regimes
from derive.certificate.checking.check import check
from derive.certificate.checking.function import Ring
from derive.certificate.checking.signs import is_square_sum
from tests.certificate.certificates import assert_rejected, replaced
from tests.certificate.test_certificate_functions import record_of_vector
from tests.published import record_once

P = "parameterization"
BALANCED = {"a": "1", "b": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"}


def record(*outputs, start=(), vectors=()):
    model = Parameterization.parse(outputs, dict(start), vectors=vectors)
    return record_once(model)


NEURON, PAIR, TWO = ("a*u1", "a*u2"), ("p**2 - m**2",), ("p**2 - m**2", "w**2")
SHARED = Parameterization.parse(PAIR, {"p": "alpha", "m": "alpha"}, ["alpha"])
CUBE = ("a**3 + b", "a**2 - b**2")
TIED = functools.partial(record, "a*u1 + b*v1", "a*u2 + b*v2", start=BALANCED)
THEOREMS = Path(__file__).parent.parent / "golden" / "theorems.txt"
SAID = {
    "a neuron": lambda: record(*NEURON),
    "two outputs": lambda: record(*TWO),
    "roots that start somewhere": lambda: record(*CUBE, start={"a": "1", "b": "2"}),
    "no warp": lambda: record("x**2*y", "y**3"),
    "balanced": TIED,
    "a vector": lambda: record_of_vector("a*u", {}),
    "limits": lambda: json.loads(regimes(derive(SHARED), "alpha").to_json()),
}


def test_the_theorem_says_all_that_was_shown():
    """It is all that a referee reads."""
    reports = {name: check(make()) for name, make in SAID.items()}
    texts = [
        "\n".join([f"{name}: {r.verdict}", *r.theorem, f"not certified: {', '.join(r.open)}"])
        for name, r in reports.items()
    ]
    assert "\n\n".join(texts) + "\n" == THEOREMS.read_text(encoding="utf-8")


def test_an_output_has_a_name_of_its_own():
    """The theorem would be ambiguous, even where no formula in beta is proved."""
    found = replaced(record("x**2*y", "y**3"), ("certificate", "metric"), None)
    assert check(found).verdict == "REFUTED"
    assert_rejected(replaced(found, (P, "beta"), ["x", "y"]), "an output has the name of another")


def test_a_condition_on_roots_is_one():
    """It is printed, and has no name that would have to be said."""
    meet = "no two real roots of the polynomial of A meet along the flow"
    found = record(*NEURON)
    found["potential"]["pieces"][0]["assumptions"].append(meet)
    assert any(meet in line for line in check(found).theorem)


def test_a_root_that_starts_somewhere_needs_that_no_others_meet_it():
    found = record(*CUBE, start={"a": "1", "b": "2"})
    (piece,) = found["potential"]["pieces"]
    assert piece["roots"][0]["branch"] == "the real root that starts at 1"
    assert check(found).verdict == "PROVED"
    kept = [text for text in piece["assumptions"] if " meet along " not in text]
    path = ("potential", "pieces", 0)
    assert_rejected(
        replaced(found, (*path, "assumptions"), kept), "no condition keeps A from other roots"
    )
    other = {**piece["roots"][0], "branch": "the real root that starts at 2"}
    assert_rejected(replaced(found, (*path, "roots"), [other]), "less its start")


def test_sums_of_squares_have_squares_of_every_variable():
    x, y, z = Ring(3, 3, 0).symbols
    forms = {x * x + x * y + y * y: True, x * y + y * y: False, x * y: False, x * x - y * y: False}
    forms |= {x * x + x * y * 3 + y * y: False, x * x + x + 1: True, x * x + x * 3 + 1: False}
    forms |= {x * x * 2 + x * (y + z) * 4 + (y * y + z * z) * 3: False}
    u, v = x * x, y * y  # squares of polynomials, and what is >= 0 but no sum of squares
    forms |= {u * u - u * v * 2 + v * v + u * z * z: True, u * u - u * v * 3 + v * v: False}
    forms |= {
        u * u - v * v: False,
        u * u + x * y + 1: False,
        u * v * (u + v) - u * v * 3 + 1: False,
    }
    assert {f: is_square_sum(f.top) for f in forms} == forms


def test_a_logarithm_that_would_be_defined_by_itself_is_not_defined():
    """The factors of 1 + q^2 v^2 on the leaf of q^2 - v^2 = -2 have logarithms by each other."""
    own = record("log(1 + (q*v)**2)", start={"q": "sqrt(2)", "v": "2"})
    assert "conserved: q**2 - v**2" in check(own).theorem
