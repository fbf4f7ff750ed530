"""Coordinates in which Q is a sum: found by eigenvectors, accepted by identities alone."""

import pytest
import sympy

from derive import Parameterization, regimes, scale_start
from derive.potential.separation import find_separation
from derive.verdict import Verdict
from tests.published import derive_once


@pytest.mark.parametrize(
    ("outputs", "forms"),
    [
        (["u*x + v*y", "u*y + v*x"], [[1, 1], [1, -1]]),
        (["p**2 - m**2 + w**2", "p**2 - m**2 - 2*w**2"], [[2, 1], [1, -1]]),
        (["exp(u) + v**2", "3*exp(u) - v**2"], [[3, -1], [1, 1]]),
    ],
)
def test_coordinates_of_whole_numbers_are_found_and_proved(outputs, forms):
    found = find_separation(Parameterization.parse(outputs))
    assert found is not None
    assert found.forms == sympy.ImmutableMatrix(forms)
    assert len(found.evidence) == 3
    for e in found.evidence:
        assert e.right == "0"
        assert e.left != "0"
        assert sympy.expand(sympy.sympify(e.left)) == 0


@pytest.mark.parametrize(
    "outputs",
    [
        ["a*u", "a*v"],  # a neuron: no coordinates are separate
        ["a*c - b*d", "a*d + b*c"],  # K is a multiple of 1: every pair is orthogonal
        ["u + v", "u - 2*v"],  # K is constant
        ["u*x + v*y", "u*y + 2*v*x"],  # the eigenvectors are not rational, or K does not turn
        ["w**2 + v", "v"],  # K is not diagonal with a common basis
    ],
)
def test_what_does_not_separate_is_left_as_it_is(outputs):
    assert find_separation(Parameterization.parse(outputs)) is None


@pytest.mark.slow
def test_signs_of_separate_coordinates_are_their_own():
    p = scale_start(Parameterization.parse(["u*x + v*y", "u*y + v*x"]), "c")
    (limit,) = regimes(derive_once(p), "c", (0,)).limits
    assert limit.finding.verdict is Verdict.PROVED
    x1, x2 = limit.coordinates
    assert sympy.Abs(x1) / 2 + sympy.Abs(x2) / 2 == limit.potential.Q
    assert limit.below == (-sympy.S.Half, -sympy.S.Half)
    assert limit.basis == sympy.ImmutableMatrix([[1, 1], [1, -1]]) / 2
