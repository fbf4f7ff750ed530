"""Each rule of the checker by itself: a record that breaks it is refused, for that reason."""

import functools
import json
import re
from pathlib import Path

import pytest

from derive import Parameterization, derive, regimes
from derive.certificate.checking.check import NotACertificate, Rejected, check
from derive.certificate.checking.function import Ring
from derive.certificate.checking.signs import is_square_sum
from tests.certificate.certificates import assert_rejected, replaced
from tests.certificate.test_certificate_vectors import record_of
from tests.published import record_once

P, PIECE, Q = "parameterization", ("potential", "pieces", 0), ("certificate", "pieces", 0)
LOGS = ("warping", "dual_coordinates", 0, "y", 0)
BALANCED = {"a": "1", "b": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"}


def record(*outputs, start=(), vectors=()):
    model = Parameterization.parse(outputs, dict(start), vectors=vectors)
    return record_once(model)


NEURON, PAIR, TWO = ("a*u1", "a*u2"), ("p**2 - m**2",), ("p**2 - m**2", "w**2")
SHARED = Parameterization.parse(PAIR, {"p": "alpha", "m": "alpha"}, ["alpha"])
CUBE = ("a**3 + b", "a**2 - b**2")
SECOND_PIECE = ("potential", "pieces", 1)
TIED = functools.partial(record, "a*u1 + b*v1", "a*u2 + b*v2", start=BALANCED)
DERIVATIONS = {
    "a name for two outputs": [record, NEURON, {(P, "positive"): ["zz"]}, "positive is a name"],
    "blocks that overlap": [record, NEURON, {(P, "blocks"): [[1], [1, 2]]}, "dual|overlap"],
    "a name twice": [record, NEURON, {(*PIECE, "constants"): {"A": "1"}}, "given twice"],
    "an aid named as an output": [
        record,
        NEURON,
        {(*Q, "definitions"): [{"name": "beta1", "is": "a"}]},
        "given twice",
    ],
    "a relation that does not hold": [
        record,
        NEURON,
        {("relations",): {"blocks": [["beta1 - beta2"]]}},
        "is not 0",
    ],
    "a logarithm with more": [
        record,
        PAIR,
        {(*LOGS, "logarithms", 0): {"coefficient": "1", "argument": "p", "base": "2"}},
        "the key base",
    ],
    "a wall of another sign": [
        record,
        NEURON,
        {(*PIECE, "domain", "walls"): [{"form": "beta1", "sign": "< 0", "vanishing": None}]},
        "a wall has another sign",
    ],
    "another unit for one output": [
        record,
        TWO,
        {
            (*SECOND_PIECE, "gradient"): ["log(beta2/w_0**2)/2"],
            (*SECOND_PIECE, "Q"): "beta2*log(beta2/w_0**2)/2 - beta2/2",
        },
        "one g serves for all outputs",
    ],
    "a constant that moves": [
        record,
        TWO,
        {(*Q, "definitions", 0, "is"): "4*m_0**2*p_0*p"},
        "k1 is not conserved",
    ],
    "a constant by weights": [
        record,
        TWO,
        {(*PIECE, "constants", "k1"): "4*m**2*p**2"},
        "not one of the start",
    ],
    "a root by weights": [
        record,
        NEURON,
        {(*PIECE, "roots", 0, "polynomial"): "A - a**2"},
        "not fixed by beta",
    ],
    "a root by itself": [
        record,
        NEURON,
        {(*PIECE, "roots", 0, "explicit"): "A"},
        "uses another name",
    ],
    "K by weights": [
        record,
        TWO,
        {("metric", "kernel", 0, 0): "4*p**2 + 4*m**2"},
        "not fixed by beta",
    ],
    "K of one output of two": [
        record,
        NEURON,
        {(*PIECE, "kernel"): "A + beta1**2/A"},
        "K of one output is said of several",
    ],
    "a divisor that is 0 on the leaf": [
        TIED,
        (),
        {(P, "outputs", 0): "a*u1 + b*v1 + 0*u1/(a - b)"},
        "a divisor may be 0",
    ],
    "rates of some weights": [record, NEURON, {(P, "rates"): {"a": "1"}}, "has a rate"],
    "a rational that divides by 0": [
        record,
        NEURON,
        {("certificate", "at", "a_0"): "3/0"},
        "is no rational",
    ],
    "a number for a rational": [record, NEURON, {("certificate", "at", "a_0"): 3}, "no rational"],
    "a text that is too long": [
        record,
        NEURON,
        {("warping", "g"): "+".join(["u1"] * 10_000)},
        "too long",
    ],
    "a text that is too deep": [
        record,
        NEURON,
        {("warping", "g"): "+".join(["u1"] * 300)},
        "nested too deeply",
    ],
    "a point where the ties do not hold": [
        TIED,
        (),
        {("certificate", "conserved", "point", "a"): "1/7"},
        "where the ties hold",
    ],
    "a field that moves the outputs": [
        record,
        ("x**2*y", "y**3"),
        {("certificate", "warping", "identity"): [[1], [1, 1]]},
        "two outputs or more",
    ],
    "no such condition": [
        record,
        ("x**2*y", "y**3"),
        {("certificate", "warping", "identity", 1): []},
        "no condition: ",
    ],
    "a warp of 0": [record, ("u**2*v",), {("warping", "g"): "0"}, "g is 0"],
    "what is not 0 by a name that is not said": [
        record,
        NEURON,
        {(*PIECE, "domain", "unless_zero"): ["zz"]},
        "not said",
    ],
    "another T": [record_of, ("a*u", {}), {("metric", "T"): "A + s"}, "T and R"],
    "a linear term that moves": [
        record_of,
        ("a*u", {}),
        {("potential", "linear", "coefficient"): "-a/a"},
        "is not constant",
    ],
    "a vector named as a weight": [
        record_of,
        ("a*u", {}),
        {
            (P, "vector"): "a",
            (P, "norms"): {"a": "norm_u"},
            (P, "start_vector"): "a_0",
            ("potential", "linear", "vector"): "a_0",
        },
        "stands alone",
    ],
    "an abbreviation that is another": [
        record,
        NEURON,
        {
            (*PIECE, "abbreviations"): {"short": "2*beta1"},
            (*Q, "definitions", 0): {"name": "short", "is": "a*u1"},
        },
        "is not 2|not known",
    ],
}


@pytest.mark.every(2)
@pytest.mark.parametrize("rule", DERIVATIONS.values(), ids=DERIVATIONS)
def test_what_breaks_a_rule_is_refused(rule):
    maker, arguments, changes, why = rule
    found = maker(*arguments)
    found = json.loads(found) if isinstance(found, str) else found
    check(found)
    for path, value in changes.items():
        found = replaced(found, path, value)
    with pytest.raises((Rejected, NotACertificate)) as refusal:
        check(found)
    assert re.search(why, str(refusal.value)), str(refusal.value)


THEOREMS = Path(__file__).parent.parent / "golden" / "theorems.txt"
SAID = {
    "a neuron": lambda: record(*NEURON),
    "two outputs": lambda: record(*TWO),
    "roots that start somewhere": lambda: record(*CUBE, start={"a": "1", "b": "2"}),
    "no warp": lambda: record("x**2*y", "y**3"),
    "balanced": TIED,
    "a vector": lambda: record_of("a*u", {}),
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


@pytest.mark.parametrize("count", [0, 61])
def test_outputs_are_some_and_not_too_many(count):
    with pytest.raises(NotACertificate, match="too many outputs, or none"):
        check(replaced(record(*NEURON), (P, "outputs"), ["a"] * count))


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
