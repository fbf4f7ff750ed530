"""Conditions on the start: none that others imply is left, and none that cannot hold is offered."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive import Parameterization, Verdict, derive
from derive.model.decided import Premises
from derive.model.notation import BranchOpen, Notation
from derive.potential import find
from tests.conditions import condition, holds, texts
from tests.published import derive_once

NOTATION = Notation(
    Parameterization.parse(["x*exp(y) + sqrt(z)"], dict(zip("xyz", "abc", strict=True)))
)
POINTS = [
    dict(zip("abc", p, strict=True)) for p in product(map(Fraction, (-2, -1, 1, 3)), repeat=3)
]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("a*b > 0, a > 0, b > 0", "a > 0, b > 0"),
        ("a*b > 0, b*c > 0, a*c > 0", "a*b > 0, b*c > 0"),
        ("a > 0, b > 0, a + b != 0, a**2 + a*b > 0", "a > 0, b > 0"),
        ("a - 1 > 0, a > 0, a + 1 != 0", "a - 1 > 0"),
        ("2*a**2 + 4*a*b + 2*b**2 != 0", "a + b != 0"),
        ("a + b > 0, 3*a**2 + 6*a*b + 3*b**2 != 0", "a + b > 0"),
        ("a**2 + b**2 != 0, a != 0", "a != 0"),
        ("exp(b) > 0, a*exp(b) > 0, a > 0", "a > 0"),
        ("sqrt(c) - 1 > 0, c > 0, c - 1 > 0", "sqrt(c) - 1 > 0, c - 1 > 0"),
        ("-a > 0, -b > 0, a*b > 0", "-a > 0, -b > 0"),
        ("2 - sqrt(2) > 0, 1 != 0", ""),
        ("a*b > 0, a != 0", "a*b > 0"),
        ("a > 0, b != 0", "a > 0, b != 0"),
    ],
)
def test_what_others_imply_is_dropped(given, left):
    premises = Premises(map(condition, given.split(", ")), NOTATION)
    assert {*map(str, premises.irredundant)} == {*filter(None, left.split(", "))}


@pytest.mark.parametrize(
    "given",
    [
        *("a*b > 0, -a*b > 0", "a > 0, b > 0, -a*b > 0", "a**2 - b**2 > 0, b**2 - a**2 > 0"),
        *("a - 1 > 0, -a > 0", "1 - sqrt(2) > 0", "a - a != 0", "-a**2 - b**2 > 0", "-exp(a) > 0"),
        *("a*b > 0, b*c > 0, -a*c > 0", "-a**2 > 0", "a > 0, b > 0, -a - b > 0"),
    ],
)
def test_what_cannot_hold_is_refused(given):
    with pytest.raises(BranchOpen):
        Premises(map(condition, given.split(", ")), NOTATION)


FUNCTIONS = [
    "a",
    "b",
    "-a",
    "a - 1",
    "a + b",
    "a - b",
    "b - a",
    "a*b",
    "a**2 + b**2",
    "a**2 - b**2",
    "a*b + 1",
    "a*(c + 2)",
    "a**2 - 1",
]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(FUNCTIONS), st.sampled_from([">", "!="])), max_size=5))
def test_the_rest_is_equivalent(drawn):
    """At numbers what is left holds where all does, and nowhere where nothing can be left."""
    told = [condition(f"{f} {sign} 0") for f, sign in drawn]
    satisfied = [all(holds(c, p) for c in told) for p in POINTS]
    try:
        left = Premises(told, NOTATION).irredundant
    except BranchOpen:
        assert not any(satisfied)
        return
    assert satisfied == [all(holds(c, p) for c in left) for p in POINTS]


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "left"),
    [
        ("log(u*v)", "u_0 > 0; v_0 > 0"),
        ("w*abs(w)", "w_0 > 0"),
        ("c; a*b+c**2", "a_0 + b_0 != 0"),
        ("c; a**2+b**2", "a_0**2 + b_0**2 != 0"),
        ("sqrt(a*b)", "a_0*b_0 > 0"),
        ("c; a*b", "k2 > 0"),
    ],
)
def test_models_ask_for_no_more_than_they_need(outputs, left):
    positive = ["w"] if "abs" in outputs else []
    d = derive_once(Parameterization.parse(outputs.split("; "), positive=positive))
    assert "; ".join(texts(*d.potential.pieces)) == left
    asked = [text for piece in d.potential.pieces for text in texts(piece)]
    assert all(text in d.to_json() for text in asked)


@pytest.mark.parametrize(
    ("of", "written"),
    [
        ("b**2 - a**2 - c**2", "b**2 > a**2 + c**2"),
        ("a", "a > 0"),
        ("-a", "a < 0"),
        ("a - 1", "a > 1"),
        ("a**2 + b", "a**2 + b > 0"),
    ],
)
def test_a_condition_is_written_without_signs(of, written):
    assert condition(f"{of} > 0").written == written


def test_balanced_layers_ask_for_no_order():
    """Neither a**2 > b**2 nor b**2 > a**2 holds at a = b."""
    start = {"a": "alpha", "b": "alpha", "u": "0"}
    p = Parameterization.parse(["a*b*u"], start, positive=["alpha"], vectors=["u"])
    assert texts(*derive(p).potential.pieces) == ("alpha > 0",)


def test_a_form_that_cannot_hold_is_not_offered(monkeypatch):
    """The next one is taken; without one Q is undecided."""
    p = Parameterization.parse(["x**2 + y**2", "x*y"])
    d = derive(p)
    forms = d.blocks[0].potential.forms
    impossible = (condition("-x_0**2 > 0"),)
    (kept, *_) = forms
    spoiled = find.Form("spoiled", find.replace(kept.piece, assumptions=impossible), None)
    monkeypatch.setattr(find, "_coupled", lambda *_: [spoiled, kept])
    assert derive(p).potential.Q == d.potential.Q
    monkeypatch.setattr(find, "_coupled", lambda *_: [spoiled])
    undecided = derive(p).potential
    assert undecided.finding.verdict is Verdict.UNDECIDED
    assert "does not have the signs" in undecided.finding.reason
