"""Conditions that a flow may break are tried: what is found beyond them is told, or refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from numerics.confirm import attempts as module
from numerics.confirm.attempts import attempts
from numerics.confirm.crosscheck import crosscheck
from numerics.interpolants.interpolant import Solution, Status
from tests.published import derive_once

NEURON = {"a": Fraction(29, 16), "u": Fraction(23, 16), "v": Fraction(5, 4)}


def derived(*outputs, **start):
    return derive_once(outputs, start=start)


def test_a_sign_that_the_flow_changes_is_tried_and_told():
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    (tried,) = check.tried
    assert tried.condition == "that a keeps its sign"
    assert tried.sound
    assert tried.outcome.startswith("it is broken, the interpolant is refused")
    assert check.passed
    text = " ".join(check.report().split())
    assert "tried to break that a keeps its sign: X = -1 -3/4, y = 23/32: it is broken" in text
    assert max(map(len, check.report().splitlines())) <= 80
    assert json.loads(json.dumps(check.to_record()))["tried"] == [tried.told()]


def test_an_interpolant_that_is_given_behind_a_zero_fails_the_check(monkeypatch):
    """As it was before: CONVERGED wherever both equations hold."""

    def careless(q, X, y):
        found = module_interpolate(q, X, y)
        return replace(found, status=Status.CONVERGED)

    module_interpolate = module.interpolate
    monkeypatch.setattr(module, "interpolate", careless)
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    assert not check.passed
    assert check.tried[0].outcome == "it is broken, flow and interpolant DISAGREE"
    assert check.report().startswith("Flow, interpolant and Q DISAGREE where a condition is broken")


def test_a_wrong_refusal_fails_the_check(monkeypatch):
    def refused(q, X, y):
        zeros = np.zeros(2)
        return Solution(zeros, zeros, 0.0, 0.0, 0, Status.BEYOND, "")

    monkeypatch.setattr(module, "interpolate", refused)
    d = derived("a*u**2", "a*v")
    (tried,) = attempts(d.potential, {f"{n}_0": x for n, x in NEURON.items()})
    assert tried.outcome.startswith("it holds, the interpolant is refused")
    assert not tried.sound


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "conditions"),
    [
        (("w**2",), ["beta > 0"]),
        (("w",), []),
        (("a/(a+b+c)", "b/(a+b+c)"), []),
        (("x**2+y**2", "x*y"), ["beta1 + 2*beta2 > 0", "beta1 - 2*beta2 > 0"]),
        (("a*b*u", "a*b*v"), ["that a keeps its sign", "that b keeps its sign"]),
    ],
)
def test_every_condition_and_wall_is_tried(outputs, conditions):
    d = derived(*outputs)
    start = {name: Fraction(k + 5, 4) for k, name in enumerate(d.parameterization.start_symbols)}
    found = attempts(d.potential, start)
    assert {attempt.condition for attempt in found} == {*conditions}
    assert all(attempt.sound for attempt in found)
    for attempt in found:
        assert len(attempt.row) == len(outputs)
        assert "the interpolant is refused" in attempt.outcome
