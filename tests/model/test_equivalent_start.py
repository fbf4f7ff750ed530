"""Starts of F that beta does not tell apart, and the simpler of them."""

from fractions import Fraction

import mpmath
import pytest

from derive import Parameterization, Verdict
from derive.language import to_text
from derive.model.equivalent_start import find_equivalent_start
from numerics import crosscheck
from tests.published import derive_once
from tests.witness_flow import Model

TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]
NAMES = ["a", "b", "u1", "u2", "v1", "v2"]


def two_neurons(*values):
    start = {w: str(x) for w, x in zip(NAMES, values, strict=True)}
    return Parameterization.parse(TWO, start=start)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("values", "neuron"),
    [
        ((0, 0, 1, 0, 0, 1), {"a": "1", "u1": "0", "u2": "0"}),
        ((0, 0, "3/5", "4/5", "-4/5", "3/5"), {"a": "1", "u1": "0", "u2": "0"}),
        ((3, 0, 5, 0, 0, 4), {"a": "5", "u1": "3", "u2": "0"}),
        ((0, 0, 1, 1, 1, -1), {"a": "sqrt(2)", "u1": "0", "u2": "0"}),
        ((0, 0, "c", 0, 0, "c"), {"a": "c", "u1": "0", "u2": "0"}),
    ],
)
def test_an_isotropic_conserved_matrix_is_that_of_one_neuron(values, neuron):
    """From a a^T - W W^T = c I, with the matrix W of u and v, one neuron moves beta alike."""
    found = find_equivalent_start(two_neurons(*values))
    assert found is not None
    assert found.start is not None
    assert {w: to_text(t) for w, t in found.start.start if w not in found.idle} == neuron
    assert found.start.functions == ("F1", "F2", "K11", "K12", "K22")


def test_the_flow_in_all_weights_minimises_the_q_of_one_neuron():
    d = derive_once(two_neurons(3, 0, 5, 0, 0, 4))
    assert (d.verdict, d.idle) == (Verdict.PROVED, ("b", "v1", "v2"))
    assert crosscheck(d, digits=20).passed


def test_beta_moves_alike_under_any_steering():
    model = Model.of(TWO, NAMES)
    with mpmath.workdps(30):
        paths = [[0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 2]]
        ends = []
        for path in paths:
            w = list(map(mpmath.mpf, path))
            for step in range(100):
                steering = [mpmath.sin(step), mpmath.cos(mpmath.mpf(step) / 3)]
                halfway = [x + s / 400 for x, s in zip(w, model.velocity(w, steering), strict=True)]
                slope = model.velocity(halfway, steering)
                w = [x + s / 200 for x, s in zip(w, slope, strict=True)]
            a, b, u1, u2, v1, v2 = w
            ends.append((a * u1 + b * v1, a * u2 + b * v2))
        first, same, other = ends
        assert mpmath.norm([x - y for x, y in zip(first, same, strict=True)]) < 1e-5
        assert mpmath.norm([x - y for x, y in zip(first, other, strict=True)]) > 1e-3


@pytest.mark.parametrize(
    "values", [(0, 0, 1, 0, 0, 2), (1, 0, 1, 0, 0, 1), (0, 0, 1, 0, 1, 1), (0, 0, "c", 0, 0, "k")]
)
def test_starts_beside_it_are_not(values):
    p = two_neurons(*values)
    assert find_equivalent_start(p) is None


def test_a_start_beside_it_has_no_q():
    p = two_neurons(0, 0, 1, 0, 0, 2)
    assert derive_once(p).verdict is Verdict.REFUTED


@pytest.mark.slow
def test_a_matrix_from_the_identity():
    shapes = {"W": (2, 2), "u": (2,)}
    start = {"W11": 1, "W22": 1, "W12": 0, "W21": 0, "u1": 0, "u2": 0}
    d = derive_once(Parameterization.parse(["W*u"], start=start, arrays=shapes))
    one = derive_once(Parameterization.parse(["a*u1", "a*u2"], start={"a": 1, "u1": 0, "u2": 0}))
    assert (d.verdict, d.potential.Q) == (Verdict.PROVED, one.potential.Q)
    assert "W11 = 0, u1 = 1, W21 = 0 and 0 for all others" in " ".join(d.to_text().split())
    # W^T W - u u^T = 9 I is isotropic; I - u u^T with u other than 0 is not.
    values = {**start, "W11": 5, "W22": 3, "u1": 4}
    same = derive_once(Parameterization.parse(["W*u"], start=values, arrays=shapes))
    assert (same.verdict, same.idle) == (Verdict.PROVED, ("W12", "u2", "W22"))
    for u in (Fraction(1, 2), "b"):
        other = Parameterization.parse(["W*u"], start={**start, "u1": u}, arrays=shapes)
        assert derive_once(other).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "outputs", [["p**3 - m**3"], ["exp(a)*u1", "exp(a)*u2 + b"], ["u*v"], ["u*v + x*y + p*q"]]
)
def test_other_models_are_left_alone(outputs):
    assert find_equivalent_start(Parameterization.parse(outputs)) is None
