"""Hessian and warp verdicts on published and adversarial models, with evidence re-evaluated."""

import re

import pytest
import sympy

from derive import Parameterization, Verdict
from tests.published import derive_once

HOPF = ["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"]
TWO_NEURONS = ["a*u1+b*v1", "a*u2+b*v2"]

WARPED = [
    (["a*u1", "a*u2"], "a"),
    (["a*u1", "a*u2", "a*u3"], "a"),
    (["a*u1", "a*u2", "a*u3", "a*u4"], "a"),
    (["a*b*u1", "a*b*u2"], "a*b"),
    (["a**2*u1", "a**2*u2"], "a**2"),
    (["(x+y)*u", "(x+y)*v"], "x+y"),
    (["a*c-b*d", "a*d+b*c"], "a**2+b**2+c**2+d**2"),
    (["a**2-b**2", "2*a*b"], "a**2+b**2"),
    (HOPF, "p**2+q**2+r**2+s**2"),
    (["x", "x*y"], "x"),
    (["x*y", "x+y"], "x-y"),
]


def decided(outputs, start=None):
    return derive_once(Parameterization.parse(outputs, start))


@pytest.mark.parametrize(("outputs", "g"), WARPED)
def test_warped(outputs, g):
    d = decided(outputs)
    assert d.hessian.verdict is Verdict.REFUTED
    assert d.warping.verdict is d.verdict is Verdict.PROVED
    known = {w: sympy.Symbol(w, real=True) for w in d.parameterization.weights}
    ratio = sympy.cancel(d.warping.g / sympy.sympify(g, locals=known))
    assert ratio.is_number
    assert ratio != 0


@pytest.mark.parametrize("outputs", [o for o, _ in WARPED])
def test_evidence_says_what_the_statement_says(outputs):
    """<grad F_a, grad K_bc> recomputed from F alone is the printed side of the identity."""
    d = decided(outputs)
    p = d.parameterization
    names = {w: sympy.Symbol(w) for w in p.weights}
    F = [sympy.sympify(text, locals=names) for text in outputs]
    J = sympy.Matrix(F).jacobian(list(names.values()))
    K = J * J.T
    (identity,) = [i for i in d.hessian.finding.evidence if not i.holds]
    found = re.findall(r"<grad F(\d), grad K(\d)(\d)>", identity.statement)
    assert len(found) == 2
    for (a, b, c), text in zip(found, (identity.left, identity.right), strict=True):
        slope = sum(
            J[int(a) - 1, k] * sympy.diff(K[int(b) - 1, int(c) - 1], w)
            for k, w in enumerate(names.values())
        )
        assert sympy.expand(slope - sympy.sympify(text, locals=names)) == 0


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "start",
    [
        {"a": "1", "b": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"},
        {"a": "1", "b": "1", "u1": "1", "u2": "2", "v1": "1", "v2": "2"},
        {"a": "2", "b": "1", "u1": "2", "u2": "0", "v1": "1", "v2": "0"},
    ],
)
def test_aligned_neurons_are_one_neuron(start):
    """On this leaf two neurons are one, which has a warp: it must not be refuted."""
    assert decided(TWO_NEURONS, start).warping.verdict is not Verdict.REFUTED


def test_warp_that_is_zero_at_the_start_gives_no_integral():
    """Without a closed form there is nothing on either side of 0."""
    d = decided(["a*b*c*u", "2*a*b*c*v"], {"b": "0"})
    assert d.warping.verdict is Verdict.PROVED
    assert d.verdict is Verdict.UNDECIDED
    assert d.potential.Q is None


def test_independent_blocks_need_one_clock():
    neurons = decided(["a*u1", "a*u2", "b*v1", "b*v2"])
    assert neurons.verdict is Verdict.REFUTED
    assert "independent blocks" in neurons.warping.finding.reason
    scalars = decided(["a*b", "c*d", "e**2"])
    assert scalars.verdict is Verdict.PROVED
