"""Hessian and warp verdicts on adversarial models, and the points that refute."""

from itertools import islice

import pytest
import sympy

from derive import Parameterization, Verdict
from derive.weights import hessian
from derive.weights.witness import hessian_conditions, is_free, samples
from tests.models import COUPLED, DECIDED, NO, YES, parsed
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


@pytest.mark.parametrize(("outputs", "g"), WARPED)
def test_warped(outputs, g):
    d = derive_once(outputs)
    assert d.hessian.verdict is Verdict.REFUTED
    assert d.warping.verdict is d.verdict is Verdict.PROVED
    known = {w: sympy.Symbol(w, real=True) for w in d.parameterization.weights}
    ratio = sympy.cancel(d.warping.g / sympy.sympify(g, locals=known))
    assert ratio.is_number
    assert ratio != 0


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
    assert derive_once(TWO_NEURONS, start).warping.verdict is not Verdict.REFUTED


def test_warp_that_is_zero_at_the_start_gives_no_integral():
    """Without a closed form there is nothing on either side of 0."""
    d = derive_once(["a*b*c*u", "2*a*b*c*v"], {"b": "0"})
    assert d.warping.verdict is Verdict.PROVED
    assert d.verdict is Verdict.UNDECIDED
    assert d.potential.Q is None


def test_independent_blocks_need_one_clock():
    neurons = derive_once(["a*u1", "a*u2", "b*v1", "b*v2"])
    assert neurons.verdict is Verdict.REFUTED
    assert "independent blocks" in neurons.warping.finding.reason
    scalars = derive_once(["a*b", "c*d", "e**2"])
    assert scalars.verdict is Verdict.PROVED


SHARED = ["(y + exp(y*x) + cos(x/2))*u", "(y + exp(y*x) + cos(x/2))*v"]


@pytest.fixture
def always(monkeypatch):
    """Look at points even where K is small."""
    monkeypatch.setattr(hessian, "LARGE", 0)


def metric_of(p):
    return derive_once(p).blocks[0].metric


def fails_as_hessian(metric):
    return hessian.find_failing_condition(metric, hessian_conditions)


def fails_with_warp(metric):
    return hessian.find_failing_condition(metric, hessian.warp_and_closure)


def coupled(*verdicts):
    """Return the models of several outputs in one block of which this is decided at any start."""
    lines = (x for x in COUPLED if DECIDED[x] == verdicts and " from " not in x)
    return [p for p in map(parsed, lines) if len(p.blocks) == 1]


@pytest.mark.every(4)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", coupled(YES, YES), ids=repr)
def test_a_hessian_map_fails_nowhere(p):
    metric = metric_of(p)
    assert fails_as_hessian(metric) is None
    assert fails_with_warp(metric) is None


@pytest.mark.every(24)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", [*coupled(NO, YES), Parameterization.parse(SHARED)], ids=repr)
def test_a_warped_map_fails_only_without_its_warp(p):
    metric = metric_of(p)
    assert fails_as_hessian(metric) is not None
    assert fails_with_warp(metric) is None


@pytest.mark.every(8)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", coupled(NO, NO), ids=repr)
def test_what_the_exact_road_refutes_fails_at_a_start(p):
    assert fails_with_warp(metric_of(p)) is not None


def test_the_point_of_a_refutation_has_a_jacobian_of_full_rank():
    """At y = 1 the outputs y x/(1 + y^2), x^(2/3) move together, for ever."""
    d = derive_once(["1/(1 + y**2)*y*x", "x**(2/3)"])
    for finding in (d.hessian.finding, d.warping.finding):
        assert dict(finding.evidence[-1].point)["y"] != 1


@pytest.mark.slow
def test_a_shared_factor_of_several_functions_is_a_warp():
    d = derive_once(SHARED)
    assert d.verdict is d.warping.verdict is Verdict.PROVED
    assert str(d.warping.g) == "y + exp(x*y) + cos(x/2)"


def test_a_failure_is_looked_for_where_the_outputs_move_independently():
    """The first starts in small numbers make the factors singular: none of them decides."""
    shapes = dict.fromkeys("ABC", (3, 3))
    p = Parameterization.parse(["A*B*C"], arrays=shapes)
    starts = [is_free(p, start) for start in islice(samples(p), 12)]
    assert not any(starts[:11])
    assert starts[11]


@pytest.mark.slow
def test_three_factors_have_no_potential():
    shapes = dict.fromkeys("ABC", (3, 3))
    d = derive_once("A*B*C", arrays=shapes)
    assert (d.hessian.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert d.conserved.count == 12


@pytest.mark.parametrize(
    ("outputs", "verdict", "asked"),
    [
        (["a**2*b", "a + b"], Verdict.REFUTED, 1),
        (["a*u1", "a*u2"], Verdict.PROVED, 1),
        (["a*u1", "a*u2", "a*u3"], Verdict.PROVED, 0),
    ],
)
def test_the_curl_of_a_warp_is_asked_of_two_outputs_alone(outputs, verdict, asked):
    """In two weights H solves its equations and nothing is vertical: the curl alone refutes."""
    warping = derive_once(outputs).warping
    assert warping.verdict is verdict
    claims = [e.claim for e in warping.finding.evidence]
    assert sum(c.startswith("X1 H2 - X2 H1 = omega") for c in claims) == asked
