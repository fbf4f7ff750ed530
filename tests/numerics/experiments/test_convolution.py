"""Limits of linear convolutional nets: certified, balanced, and a matter of the start."""

import numpy as np
import pytest

from numerics.experiments.convolution import convolution, descended, outputs
from numerics.experiments.settings import ConvolutionSetting, Stages
from numerics.margins.kkt import kkt_point


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
