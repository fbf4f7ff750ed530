"""Ends of optimizers and of convolutional nets, and what steering reaches, as experiments."""

import json

import numpy as np
import pytest

from derive.weights.orbit import lie_algebra, matrix
from numerics import max_margin
from numerics.experiments.convolution import convolution, descended, outputs
from numerics.experiments.optimizers import optimizers
from numerics.experiments.settings import ConvolutionSetting, OptimizerSetting, Stages
from numerics.margins.kkt import kkt_point
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


@pytest.mark.slow
def test_two_layers_have_one_value_and_three_have_several():
    found = convolution(ConvolutionSetting(layers=(2, 3), starts=5), Stages())
    of = {L: [float(x.critical) for x in found.limits if x.layers == L] for L in (2, 3)}
    low, high = found.least
    assert low - 1e-9 < min(of[2]) <= max(of[2]) < high + 1e-9
    assert max(of[3]) > 1.2 * min(of[3])
    for x in found.limits:
        assert float(x.critical) < x.end < 1.1 * float(x.critical)
    assert "2 critical value(s)" in found.to_text()
    assert found.to_csv().count("\n") == 10


@pytest.mark.slow
def test_the_cost_of_a_kkt_point_is_that_of_its_frequencies():
    X = [[4, 2, 0, -3], [-2, -5, -5, -5]]
    for seed in (0, 1, 3):
        point = kkt_point(outputs(4, 3), X, rng=np.random.default_rng(seed))
        sizes = np.abs(np.fft.fft([float(b) for b in point.beta]))
        assert float(point.cost) == pytest.approx(3 / 4 * np.sum(sizes ** (2 / 3)), abs=1e-6)


def test_outputs_are_circular_convolutions():
    w = np.random.default_rng(0).standard_normal((3, 4))
    names = {f"w{i + 1}_{k}": w[i, k] for i in range(3) for k in range(4)}
    beta = [eval(text, names) for text in outputs(4, 3)]
    assert np.fft.fft(beta) == pytest.approx(np.prod(np.fft.fft(w), axis=0))
    moved = descended(np.array([[1.0, 2, 0, 1]]), w, 300)
    hat = np.prod(np.fft.fft(moved), axis=0)
    assert np.fft.ifft(hat).real @ [1, 2, 0, 1] == pytest.approx(1)
