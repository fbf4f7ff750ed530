"""Signs at the start: those of numbers are decided, and none is assumed without need."""

import pytest

from derive import InputError, Parameterization, Verdict
from derive.model.condition import Sign
from tests.conditions import texts
from tests.published import derive_once


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("outputs", "start", "g"),
    [
        (["a*u1", "a*u2"], {"a": "1 - sqrt(2)", "u1": "1", "u2": "1"}, "-a"),
        (["a*u1", "a*u2"], {"a": "sqrt(2) - 1", "u1": "1", "u2": "1"}, "a"),
        (["a*u1", "a*u2"], {"a": "-log(2)", "u1": "1", "u2": "1"}, "-a"),
        (["a*u1", "a*u2"], {"a": "sin(4)", "u1": "1", "u2": "1"}, "-a"),
        (["a*b*u1", "a*b*u2"], {"a": "1 - exp(1)"}, "-a*b"),
        (["log(a)*u1", "log(a)*u2"], {"a": "1/2", "u1": "1", "u2": "1"}, "-log(a)"),
        (["cos(a)*u1", "cos(a)*u2"], {"a": "2", "u1": "1/2", "u2": "1"}, "-cos(a)"),
    ],
    ids=lambda value: str(value),
)
def test_the_warp_is_positive_at_the_start(outputs, start, g):
    d = derive_once(Parameterization.parse(outputs, start))
    assert (d.verdict, str(d.warping.g)) == (Verdict.PROVED, g)
    for piece in d.potential.pieces:
        assert not any("sqrt(2)" in text or "log(2)" in text for text in texts(piece))


def test_q_is_flat_at_the_start():
    start = {"a": "1 - sqrt(2)", "u1": "1", "u2": "1"}
    d = derive_once(Parameterization.parse(["a*u1", "a*u2"], start))
    q, beta0 = d.potential.numeric({}), [1 - 2**0.5] * 2
    assert abs(q.gradient(beta0)).max() < 1e-12


@pytest.mark.parametrize("start", ["1 - sqrt(2)", "-log(2)"])
def test_f_is_not_defined_at_a_negative_number(start):
    with pytest.raises(InputError, match="only where w > 0"):
        derive_once(Parameterization.parse(["log(w)"], {"w": start}))
    d = derive_once(Parameterization.parse(["log(w)"], {"w": "sqrt(2) - 1"}))
    assert d.verdict is Verdict.PROVED


def test_a_root_that_is_not_crossed_is_preferred():
    """g = 1/a is never 0, while u1 crosses 0: Q is written by a."""
    start = {"a": "2", "u1": "1", "u2": "-1"}
    d = derive_once(Parameterization.parse(["u1/a", "u2/a"], start))
    assert not d.potential.pieces[0].assumptions
    q = d.potential.numeric({})
    beta = [-0.1, -0.2]
    length = (1 + beta[0] ** 2 + beta[1] ** 2) ** 0.5
    right = [6**0.5 * beta[0] / length - 1, 6**0.5 * beta[1] / length + 1]
    assert abs(q.gradient(beta) - right).max() < 1e-12


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("pi*w**2", {}),
        ("softplus(a) - exp(b)", {"a": "1", "b": "1"}),
        ("log(exp(a) + exp(b))", {"a": "-1", "b": "-1"}),
    ],
)
def test_that_a_number_is_positive_is_not_assumed(output, start):
    (piece,) = derive_once(Parameterization.parse([output], start)).potential.pieces
    assert not [c for c in piece.assumptions if c.sign is Sign.POSITIVE]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["x", "x*y"], {"x": -1, "y": 1}),
        (["x", "y*(1+x)"], {"x": -2, "y": 1}),
        (["x*y*z", "z"], {"x": 1, "y": 0.5, "z": -1}),
        (["x*y", "x+y"], {"x": 1, "y": 2}),
        (["x*y", "x+y"], {"x": 2, "y": 1}),
        (["a*u1", "a*u2"], {"a": -1, "u1": 2, "u2": 1}),
    ],
)
def test_warp_is_positive_or_assumed_so(outputs, start):
    """A start at which g < 0 must break a stated assumption: a sign, not only its constancy."""
    d = derive_once(Parameterization.parse(outputs))
    numbers = {**start, **{f"{w}_0": x for w, x in start.items()}}
    stated = [a.of for x in d.potential.pieces for a in x.assumptions if a.sign is Sign.POSITIVE]
    g, *signs = (
        f.subs({s: numbers[s.name] for s in f.free_symbols}) for f in (d.warping.g, *stated)
    )
    assert g > 0 or any(sign <= 0 for sign in signs), stated


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("larger", "claimed"), [("a + b", True), ("a - b", False), ("b - a", False)]
)
def test_an_interval_whose_end_may_be_on_either_side_is_not_claimed(larger, claimed):
    """From p = a - b the curve of p**3 - m**3 has a pole at z = (b - a)/a: below 0, or above."""
    d = derive_once(Parameterization.parse(["p**3 - m**3"], start={"p": larger, "m": "a"}))
    (piece,) = d.potential.pieces
    assert (d.verdict, piece.kind) == (Verdict.PROVED, "parametric")
    assert bool(piece.curve.interval) is claimed
