"""Each rule of the checker by itself: a record that breaks it is refused, for that reason."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest

from derive import Parameterization
from derive.certificate.checking.check import NotACertificate, Rejected, check
from derive.certificate.checking.function import Ring
from derive.certificate.checking.signs import is_square_sum
from tests.certificate.certificates import replaced
from tests.certificate.test_certificate_cost import written as cost
from tests.certificate.test_certificate_limits import written as limits
from tests.certificate.test_certificate_vectors import record_of
from tests.published import certified_once

P, PIECE, Q = "parameterization", ("potential", "pieces", 0), ("certificate", "pieces", 0)
R_F, SIDES = ("blocks", 0, "R_F"), ("certificate", "blocks", 0, 0)
LIMIT, LAST = ("limits", 0), ("limits", 1)
FIRST = ("certificate", "limits", 0, "sides", 0, "definitions")
SECOND = ("certificate", "limits", 1, "sides", 0, "definitions")
REST = "log(Abs((2*alpha**2*f_1 + beta)/(2*alpha**4)))"
LOGS = ("warping", "dual_coordinates", 0, "y", 0)
BALANCED = {"a": "1", "b": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"}


def record(*outputs, start=(), vectors=()):
    model = Parameterization.parse(outputs, dict(start), vectors=vectors)
    return json.loads(certified_once(model))


NEURON, PAIR, TWO = ("a*u1", "a*u2"), ("p**2 - m**2",), ("p**2 - m**2", "w**2")
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
    "a path of one output": [record, NEURON, {("certificate", "warping", "paths"): [[1]]}, "path"],
    "a field that moves the outputs": [
        record,
        ("x**2*y", "y**3"),
        {("certificate", "warping", "identity"): ["factor", [1], [1, 1]]},
        "two outputs or more",
    ],
    "no such condition": [
        record,
        ("x**2*y", "y**3"),
        {("certificate", "warping", "identity", 0): "closed"},
        "no condition: closed",
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
EXPLICIT = {
    "a branch of two outputs": [
        cost,
        ("vectors",),
        {
            (*R_F, "branches"): [
                {"low": "0", "high": None, "polynomial": None, "closed_form": None}
            ],
            (*R_F, "closed_form"): None,
        },
        "a single output",
    ],
    "no blocks": [
        cost,
        ("a product",),
        {("blocks",): [], ("certificate", "blocks"): []},
        "share out the outputs",
    ],
    "an output r": [cost, ("a product",), {(*R_F, "variables"): ["r"]}, "name of another"],
    "weights that are said by others": [
        cost,
        ("powers",),
        {(*SIDES, 0, "weights", "p"): "r"},
        "w has another name",
    ],
    "a weight more": [cost, ("powers",), {(*SIDES, 0, "weights", "q"): "0"}, "w has other weights"],
    "weights that are longer": [
        cost,
        ("the same for all w",),
        {("certificate", "blocks", 0, 1, 0, "weights"): {"a": "0", "b": "0"}},
        "another output",
    ],
    "a cost without a polynomial": [
        cost,
        ("powers",),
        {(*R_F, "branches", 0, "polynomial"): None},
        "without a polynomial",
    ],
    "no power": [cost, ("powers",), {(*SIDES, 0, "bounds", 0, "power"): 0}, "no such power"],
    "a high power": [cost, ("powers",), {(*SIDES, 0, "bounds", 0, "power"): 21}, "no such power"],
    "no parts": [cost, ("powers",), {(*SIDES, 0, "bounds", 0, "parts"): []}, "no such power"],
    "another root": [
        cost,
        ("powers",),
        {(*SIDES, 0, "bounds", 0, "root"): "2*f1**4"},
        "the root is not one",
    ],
}
REGIMES = {
    "a name of another": [
        limits,
        ("a neuron",),
        {(*LIMIT, "coordinates"): ["alpha", "beta2"]},
        "has the name of another",
    ],
    "a coordinate that there is not": [
        limits,
        ("a tied pair",),
        {(*LIMIT, "reached_above_0_only"): ["x"]},
        "no such coordinate",
    ],
    "an origin without entries": [limits, ("a tied pair",), {(*LIMIT, "origin"): []}, "this kind"],
    "another variable": [limits, ("a tied pair",), {("variable",): "p"}, "no symbol of the start"],
    "a vector": [limits, ("a tied pair",), {("vector",): "u"}, "this kind of model"],
    "a rest of a known name": [
        limits,
        ("a tied pair",),
        {(*FIRST, 2, "rest"): "alpha"},
        "given twice",
    ],
    "a root that is none": [
        limits,
        ("a tied pair",),
        {(*FIRST, 5, "by"): "root"},
        "only roots are expanded",
    ],
    "a rule that there is not": [
        limits,
        ("a tied pair",),
        {(*FIRST, 2, "by"): "log"},
        "there is no rule log",
    ],
    "another leading term of a logarithm": [
        limits,
        ("a tied pair",),
        {(*FIRST, 6, "is"): f"-(3)/_l + {REST}"},
        "is not shown to be",
    ],
    "a value that is none": [
        limits,
        ("a tied pair",),
        {(*FIRST, 2, "by"): "value"},
        "this has no value",
    ],
    "a value with more": [
        limits,
        ("a tied pair",),
        {(*SECOND, 3, "by"): "value"},
        "its own remainder",
    ],
    "a series of what does not tend to 0": [
        limits,
        ("a tied pair",),
        {(*FIRST, 5, "by"): "series"},
        "does not tend to 0",
    ],
    "a series with another term": [
        limits,
        ("a tied pair",),
        {(*SECOND, 3, "is"): "2*((beta*_e**2)/2) + ((beta*_e**2)/2)**3*f_4"},
        "no power series with a remainder",
    ],
    "a name near the limit": [
        limits,
        ("a tied pair",),
        {(*FIRST, 1): {"name": "f_1", "is": "beta"}},
        "only calls are defined",
    ],
    "a call without its expansion": [
        limits,
        ("a tied pair",),
        {(*SECOND, 3): {"name": "f_4", "of": "exp(1)"}},
        "has no expansion",
    ],
    "a sharp error of a shifted limit": [
        limits,
        ("a neuron",),
        {
            ("certificate", "limits", 1): {"exponent": "1", "definitions": [], "order": 2},
            (*LAST, "origin"): ["0", "0"],
        },
        "is another|not scaled|another name|sharp",
    ],
    "a derivation of explicit costs": [
        limits,
        ("a tied pair",),
        {("derivation",): json.loads(cost("a product"))},
        "another format",
    ],
    "sides where there is no sum": [
        limits,
        ("a neuron",),
        {("certificate", "limits", 0, "sides", 0, "where"): ["beta1 > 0"]},
        "left out|other functions",
    ],
}
ALL = {**DERIVATIONS, **EXPLICIT, **REGIMES}


@pytest.mark.parametrize("rule", ALL.values(), ids=ALL)
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
    "explicit": lambda: json.loads(cost("powers")),
    "limits": lambda: json.loads(limits("a tied pair")),
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
    with pytest.raises(Rejected, match="an output has the name of another"):
        check(replaced(found, (P, "beta"), ["x", "y"]))


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
    with pytest.raises(Rejected, match="no condition keeps A from other roots"):
        check(replaced(found, (*path, "assumptions"), kept))
    other = {**piece["roots"][0], "branch": "the real root that starts at 2"}
    with pytest.raises(Rejected, match="less its start"):
        check(replaced(found, (*path, "roots"), [other]))


@pytest.mark.parametrize("count", [0, 61])
def test_outputs_are_some_and_not_too_many(count):
    with pytest.raises(NotACertificate, match="too many outputs, or none"):
        check(replaced(record(*NEURON), (P, "outputs"), ["a"] * count))


def test_sums_of_squares_have_squares_of_every_variable():
    x, y, z = Ring(3, 3, 0).symbols
    forms = {x * x + x * y + y * y: True, x * y + y * y: False, x * y: False, x * x - y * y: False}
    forms |= {x * x + x * y * 3 + y * y: False, x * x + x + 1: True, x * x + x * 3 + 1: False}
    forms |= {x * x * 2 + x * (y + z) * 4 + (y * y + z * z) * 3: False}
    assert {f: is_square_sum(f.top) for f in forms} == forms
