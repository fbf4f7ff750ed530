"""A warp that is 0 at the start: a Q for each sign that it may end with."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from derive import Parameterization, Verdict
from derive.certificate.checking.check import check_text
from derive.components import in_components
from numerics import crosscheck, flow, interpolate
from tests.conditions import texts
from tests.published import certified_once, derive_once

NEURON = Parameterization.parse(["a*u1", "a*u2"], {"a": "0", "u1": "1", "u2": "-1"})
DATA = [([["3/2", "1/2"]], ["-1"]), ([["3/2", "1/2"]], ["2"])]
"""a' = <u_0, X^T y> is negative at the start for the first, positive for the second."""


def test_both_sides_differ_by_the_slope_of_the_start():
    d = derive_once(Parameterization.parse(["a*u1", "a*u2"], {"a": "0"}))
    assert d.verdict is Verdict.PROVED
    above, below = d.potential, d.potential.other_side
    slopes = zip(above.gradient, below.gradient, strict=True)
    assert [str(sympy.expand(y - x)) for x, y in slopes] == ["2*u1_0", "2*u2_0"]
    assert "a > 0 at the limit of the flow" in texts(*above.pieces)
    assert "-a > 0 at the limit of the flow" in texts(*below.pieces)
    assert "lambda1*u1_0 + lambda2*u2_0" in d.potential.finding.reason
    assert "On the other side:" in d.to_text()
    theorem = d.to_latex(part="theorem")
    assert theorem.count(r"\sqrt{A}") > 1
    assert "instead, with" in theorem


@pytest.mark.parametrize(("X", "y"), DATA)
def test_flows_end_at_the_interpolant_of_their_side(X, y):
    d = derive_once(NEURON)
    assert crosscheck(d, X, y, digits=15).passed
    swapped = replace(d.potential.other_side, other_side=replace(d.potential, other_side=None))
    assert not crosscheck(replace(d, potential=swapped), X, y, digits=15).passed


@pytest.mark.slow
def test_a_vector_of_open_dimension_has_both_sides():
    d = derive_once(Parameterization.parse(["(a - b)*u"], {"a": "c", "b": "c"}, vectors=["u"]))
    above, below = d.potential, d.potential.other_side
    assert (d.verdict, above.turning.slope, below.turning.slope) == (Verdict.PROVED, 1, -1)
    assert "where its derivative along the flow is 2*<lambda, u_0>" in above.finding.reason
    assert d.to_text().count("grad Q = q'(s) beta/s + z, z = ") == 2
    explicit = in_components(d)
    for y in ("2", "-3"):
        assert crosscheck(explicit, [["1", "2", "1/2"]], [y], {"c": 1}, digits=15).passed
    swapped = replace(explicit.potential, other_side=replace(explicit.potential, other_side=None))
    other = crosscheck(replace(explicit, potential=swapped), [["1", "2", "1/2"]], ["-3"], digits=15)
    assert not other.passed


def test_numbers_of_one_side():
    """Doubles, from a beta_0 at which grad Q has no value."""
    d = derive_once(NEURON)
    end = flow(NEURON, [[1.5, 0.5]], [-1.0], {"a": 0, "u1": 1, "u2": -1}, digits=12)
    assert end.weights[0] < 0
    found = interpolate(d.potential.other_side.numeric({}), [[1.5, 0.5]], [-1.0])
    assert found.converged
    assert max(abs(found.value - [float(x) for x in end.limit])) < 1e-9


@pytest.mark.parametrize("vectors", [(), ("u",)], ids=["coordinates", "vector"])
def test_values_of_q_agree_with_its_slopes(vectors):
    """Q = 2/3 A^(3/2) - delta A^(1/2) - <u_0, b> is 0 at b = 0, where b/sqrt(A) is no number."""
    outputs, start = (["a*u"], {"u_0": [1, 2]}) if vectors else (["a*u1", "a*u2"], None)
    d = derive_once(Parameterization.parse(outputs, {"a": "0"}, vectors=vectors))
    q = d.potential.numeric(start or {"u1_0": 1, "u2_0": 2})
    at, step = np.array([0.5, 1.0]), np.array([0.1, -0.2])
    A = (np.sqrt(25 + 4 * 1.25) - 5) / 2
    assert abs(q(at) - (2 / 3 * A**1.5 + 5 * A**0.5 - 2.5)) < 1e-13
    assert q(0 * at) == 0
    assert abs(q(at + step) - q(at) - q.gradient(at) @ step - q.bregman(at + step, at)) < 1e-13
    assert abs(q(at + step) - q(at)) > 1e-4


def test_what_is_certified_of_it():
    report = check_text(certified_once(NEURON))
    assert report.verdict == "PROVED"
    assert any("= -c g X^T r" in x and x.endswith("warp g = a") for x in report.theorem)
    assert {"Q of beta1, beta2", "Q where the warp ends negative"} <= set(report.open)


def test_a_warp_away_from_zero_has_one_side():
    d = derive_once(NEURON.with_(start={**dict(NEURON.start), "a": NEURON.start[1][1]}))
    assert d.verdict is Verdict.PROVED
    assert d.potential.other_side is None
