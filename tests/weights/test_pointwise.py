"""Conditions that fail at a start in numbers: never where they hold, and with a true residual."""

from itertools import islice

import pytest

from derive import Parameterization, Verdict
from derive.weights import pointwise
from derive.weights.conserved import find_conserved
from derive.weights.equations import hessian_conditions
from derive.weights.lie import find_lie_structure
from derive.weights.metric import find_metric
from derive.weights.witness import is_free, samples
from tests.models import DECIDED, NO, YES, parsed
from tests.published import derive_once

ENTANGLED = ["sin(u)*asinh(y)*sinh(y)", "u*x*tanh(v)"]
SHARED = ["(y + exp(y*x) + cos(x/2))*u", "(y + exp(y*x) + cos(x/2))*v"]


@pytest.fixture
def always(monkeypatch):
    """Look at points even where K is small."""
    monkeypatch.setattr(pointwise, "LARGE", 0)


def metric_of(p):
    return find_metric(find_conserved(find_lie_structure(p)))


def fails_as_hessian(metric):
    return pointwise.find_failing_condition(metric, hessian_conditions)


def fails_with_warp(metric):
    return pointwise.find_failing_condition(metric, pointwise.warp_and_closure)


def coupled(*verdicts):
    """Return the models of several outputs in one block of which this is decided at any start."""
    lines = (x for x, decided in DECIDED.items() if decided == verdicts and " from " not in x)
    return [p for p in map(parsed, lines) if p.d > 1 and len(p.blocks) == 1]


@pytest.mark.every(4)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", coupled(YES, YES), ids=repr)
def test_a_hessian_map_fails_nowhere(p):
    metric = metric_of(p)
    assert fails_as_hessian(metric) is None
    assert fails_with_warp(metric) is None


@pytest.mark.every(12)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", [*coupled(NO, YES), Parameterization.parse(SHARED)], ids=repr)
def test_a_warped_map_fails_only_without_its_warp(p):
    metric = metric_of(p)
    assert fails_as_hessian(metric) is not None
    assert fails_with_warp(metric) is None


@pytest.mark.every(4)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("p", coupled(NO, NO), ids=repr)
def test_what_the_exact_road_refutes_fails_at_a_start(p):
    assert fails_with_warp(metric_of(p)) is not None


def test_the_point_of_a_refutation_has_a_jacobian_of_full_rank():
    """At y = 1 the outputs y x/(1 + y^2), x^(2/3) move together, for ever."""
    d = derive_once(Parameterization.parse(["1/(1 + y**2)*y*x", "x**(2/3)"]))
    for finding in (d.hessian.finding, d.warping.finding):
        assert dict(finding.evidence[-1].point)["y"] != 1


@pytest.mark.slow
def test_a_shared_factor_of_several_functions_is_a_warp():
    d = derive_once(Parameterization.parse(SHARED))
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
    d = derive_once(Parameterization.parse(["A*B*C"], arrays=shapes))
    assert (d.hessian.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert d.conserved.count == 12
