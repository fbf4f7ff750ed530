"""Other costs of the weights, by brute force from many starts; and what is left open."""

import json
import random
from dataclasses import replace

import pytest
import sympy

from derive import InputError, Parameterization, Verdict, explicit_counterpart
from tests.cli.commands import run
from tests.witnesses import WITNESSES, Refuted
from tests.witnesses import fibre as _witnesses  # noqa: F401

COSTS = [
    (["u*v"], "3*u**2 + 5*v**2"),
    (["u*v"], "abs(u)**3 + abs(v)**3"),
    (["u*v"], "abs(u)**(3/2) + 2*abs(v)**(3/2)"),
    (["u*v"], "u**2 + v**4"),
    (["2*u*v*w/3"], "u**2 + 2*v**2 + 3*w**2"),
    (["u**2*v"], "u**2 + 7*v**2"),
    (["u**2*v*w**3"], "u**2 + 2*v**2 + 3*w**2"),
    (["-w**2"], "3*abs(w)"),
    (["w**2"], "w**4"),
    (["w**3"], "w**2"),
    (["p**2 - m**2"], "3*p**2 + 5*m**2"),
    (["p**3 - m**3"], "p**4 + m**4"),
    (["p**3 - 2*m**3"], "p**2 + m**2"),
    (["u*v + x*y"], "u**2 + v**2 + 2*x**2 + 3*y**2"),
    (["u*v + x*y"], "abs(u)**3 + abs(v)**3 + abs(x)**3 + abs(y)**3"),
    (["u*v", "w**2"], "u**2 + v**2 + w**2"),
    (["u*v"], "trace-K"),
    (["u*v*w"], "trace-K"),
    (["p**2 - m**2"], "trace-K"),
    (["p**3 - m**3"], "trace-K"),
    (["w**4"], "trace-K"),
]


@pytest.mark.every(7)
@pytest.mark.parametrize(("outputs", "cost"), COSTS)
def test_costs_are_the_least_from_many_starts(outputs, cost):
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    assert r.verdict is Verdict.PROVED
    assert sum(WITNESSES[s.kind](r, s, random.Random(1)) for s in r.statements) > 0
    assert sum(map(len, (r.to_latex(), r.to_html(), r.to_text()))) > 500


@pytest.mark.every(2)
@pytest.mark.parametrize(("outputs", "cost"), [COSTS[0], COSTS[-2]])
def test_false_costs_are_refuted(outputs, cost):
    """As without the factor 2^(-1/3) of p^3 - m^3, where both weights share the cost."""
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    (s,) = r.statements
    (block,) = r.blocks
    false = replace(block, sides=tuple(C * sympy.Rational(11, 10) for C in block.sides))
    with pytest.raises(Refuted):
        WITNESSES[s.kind](r, replace(s, values={**s.values, "block": false}), random.Random(1))


@pytest.mark.parametrize(
    ("outputs", "cost"),
    [
        (["a*u1", "a*u2"], "a**2 + u1**2 + u2**2"),
        (["W + a*b"], "W**2 + a**2 + b**2"),
        (["u*v + u*w"], "u**2 + v**2 + w**2"),
        (["w"], "trace-K"),
        (["u*v + 1"], "u**2 + v**2"),
    ],
)
def test_what_has_no_rule_is_left_open(outputs, cost):
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    assert (r.verdict, r.R) == (Verdict.UNDECIDED, None)


NONE = "u**2", "u**3 + v**2", "u**2 - v**2", "u*v", "u**2 + z**2", "log-det-K"


@pytest.mark.parametrize("cost", NONE)
def test_what_is_no_such_cost_is_refused(cost):
    with pytest.raises(InputError):
        explicit_counterpart(Parameterization.parse(["u*v"]), cost=cost)


def test_the_command_takes_a_cost():
    done = run("explicit", "u*v", "--cost", "3*u**2 + 12*v**2", "--json")
    assert (done.returncode, json.loads(done.stdout)["R"]) == (0, "12*Abs(beta)")
    assert run("explicit", "a*u1", "a*u2", "--cost", "trace-K").returncode == 3
