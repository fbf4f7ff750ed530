"""Which decay shrinks the start and does nothing else, by flows of the weights on drawn data."""

import random

import pytest

from derive import perturb
from tests.published import derive_once
from tests.witnesses import WITNESSES


@pytest.mark.every(4)
@pytest.mark.parametrize("output", ["a*b + c", "W + a*b", "a*b*d + c", "a**2*b + c*d"])
def test_plain_decay_does_more_and_the_metric_that_is_told_does_not(output):
    v = perturb(derive_once(output), "decay")
    assert not v.start
    (told,) = v.says("decay metric")
    assert WITNESSES["decay metric"](v, told, random.Random(1)) > 0


def test_a_decay_of_the_dual_coordinate_is_no_rest():
    """y of p^2 - m^2 drifts by 1/4 under h = p^2/2 + m^2: Q is that of the start with it."""
    v = perturb(derive_once("p**2 - m**2"), "decay", penalty="p**2/2 + m**2")
    assert not v.is_steered
    assert "here `xi = 0`" not in v.to_text()
    assert "only the laws move" not in v.to_text()


def test_unequal_decay_of_a_product_does_not():
    v = perturb(derive_once("u*v"), "decay", penalty="u**2 + 2*v**2")
    assert not v.start
    assert perturb(derive_once("u*v"), "decay", penalty="u**2 + v**2").start


@pytest.mark.parametrize("output", ["a*b + 1", "w + w**3", "sinh(w)"])
def test_without_a_grading_no_metric_is_told(output):
    v = perturb(derive_once(output), "decay")
    assert not v.says("decay metric")
