"""Ends of optimizers, and what steering reaches, as experiments."""

import json

import pytest

from derive.weights.orbit import lie_algebra, matrix
from numerics import max_margin
from numerics.experiments.optimizers import optimizers
from numerics.experiments.settings import OptimizerSetting, Stages
from tests.cli.commands import run


@pytest.mark.slow
def test_each_optimizer_ends_where_it_is_said_to():
    found = optimizers(OptimizerSetting(3, 6, 1500, (3.0, 0.1), seed=4), Stages())
    ends = {(e.problem, e.optimizer, e.step): e for e in found.ends}
    regression = {o: e for (p, o, _), e in ends.items() if p == "regression"}
    separable = {o: e for (p, o, _), e in ends.items() if p == "separable"}
    for name in ("gradient-descent", "momentum", "nesterov"):
        assert regression[name].l2 == pytest.approx(1, abs=1e-6)
        assert separable[name].l2 > 0.97
    for name, norm in (("steepest-descent", "l4_3"), ("signed", "linf")):
        assert getattr(regression[name], norm) < 0.99
        assert getattr(separable[name], norm) > 0.97
    one, two = (e for (p, o, _), e in ends.items() if o == "adagrad")
    assert abs(one.linf - two.linf) > 0.01
    assert max(max(e.l1, e.l4_3, e.l2, e.linf) for e in found.ends) <= 1 + 1e-6


def test_after_one_step_each_is_the_best_in_its_norm():
    found = optimizers(OptimizerSetting(4, 8, 1, (1.0,), seed=2), Stages()).ends
    numbers = [x for e in found for x in (e.l1, e.l4_3, e.l2, e.linf)]
    assert max(numbers) < 1 + 1e-5
    of = {e.optimizer: e for e in found if e.problem == "regression"}
    for name, norm in (("steepest-descent", "l4_3"), ("coordinate-descent", "l1")):
        assert getattr(of[name], norm) == pytest.approx(1, abs=1e-5)
        assert of[name].l2 < 0.999


def test_margins_in_lp_lie_between_proved_bounds():
    X = [[2, 1, 0], [1, -1, 3]]
    near = {p: max_margin(X, norm=f"l{p}") for p in ("4/3", "3", "2001/1000")}
    assert all(0 < x.upper / x.lower - 1 < 1e-6 for x in near.values())
    exact = 1 / float(max_margin(X, norm="l2").margin)
    assert near["4/3"].lower > exact > near["3"].upper
    assert float(near["2001/1000"].lower) == pytest.approx(exact, rel=1e-3)
    assert min(sum(a * b for a, b in zip(x, near["3"].value, strict=True)) for x in X) >= 1


def test_two_draws_reach_everything_and_commuting_ones_do_not():
    done = run("experiment", "controllability", "--dimensions", "2,3,4", "--json")
    draws = json.loads(done.stdout)["draws"]
    assert [d["dimension"] for d in draws] == [4, 9, 16]
    assert len(lie_algebra([matrix([[1, 2], [2, 1]]), matrix([[2, 1], [1, 2]])])) == 2
    # Skew matrices generate the rotations.
    turns = [[0, 1, 0], [-1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, -1, 0]]
    assert len(lie_algebra(map(matrix, turns))) == 3
