"""Conditions that fail at a start in numbers: never where they hold, and with a true residual."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import islice

import mpmath
import pytest
from test_verdicts import HESSIAN_MAPS, REFUTED, WARPED

from derive import Parameterization, Verdict, derive
from derive.certificate.checking.check import check_text
from derive.verdict import Identity
from derive.weights import pointwise
from derive.weights.conserved import find_conserved
from derive.weights.equations import hessian_conditions
from derive.weights.lie import find_lie_structure
from derive.weights.metric import Metric, find_metric
from derive.weights.witness import is_free, samples

ENTANGLED = ["sin(u)*asinh(y)*sinh(y)", "u*x*tanh(v)"]
SHARED = ["(y + exp(y*x) + cos(x/2))*u", "(y + exp(y*x) + cos(x/2))*v"]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at points even where K is small."""
    monkeypatch.setattr(pointwise, "LARGE", 0)


def metric_of(outputs: list[str], start: dict[str, str] | None = None) -> Metric:
    p = Parameterization.parse(outputs, start)
    return find_metric(find_conserved(find_lie_structure(p)))


def fails_as_hessian(metric: Metric) -> Identity | None:
    return pointwise.find_failing_condition(metric, hessian_conditions)


def fails_with_warp(metric: Metric) -> Identity | None:
    return pointwise.find_failing_condition(metric, pointwise.warp_and_closure)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("outputs", "start"), [c for c in HESSIAN_MAPS if len(c[0]) > 1])
def test_a_hessian_map_fails_nowhere(outputs: list[str], start: dict[str, str] | None) -> None:
    metric = metric_of(outputs, start)
    assert fails_as_hessian(metric) is None
    assert fails_with_warp(metric) is None


@pytest.mark.every(4)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("outputs", [*(o for o, _ in WARPED), SHARED])
def test_a_warped_map_fails_only_without_its_warp(outputs: list[str]) -> None:
    metric = metric_of(outputs)
    assert fails_as_hessian(metric) is not None
    assert fails_with_warp(metric) is None


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("outputs", [o for o, start in REFUTED if start is None])
def test_what_the_exact_road_refutes_fails_at_a_start(outputs: list[str]) -> None:
    metric = metric_of(outputs)
    if len(metric.parameterization.blocks) == 1:
        assert fails_with_warp(metric) is not None


def derivative_along(
    x: Callable[..., list[mpmath.mpf]], f: Callable[..., mpmath.mpf], at: list[mpmath.mpf]
) -> mpmath.mpf:
    return mpmath.diff(lambda t: f(*(w + t * s for w, s in zip(at, x(*at), strict=True))), 0)


def test_the_residual_is_that_of_numerical_differentiation() -> None:
    d = derive(Parameterization.parse(ENTANGLED))
    assert d.verdict is Verdict.REFUTED
    (identity,) = d.hessian.finding.evidence
    assert identity.statement == "<grad F1, grad K21> = <grad F2, grad K11>"
    with mpmath.workdps(60):
        F = [
            lambda u, y, x, v: mpmath.sin(u) * mpmath.asinh(y) * mpmath.sinh(y),
            lambda u, y, x, v: u * x * mpmath.tanh(v),
        ]

        def slope(a: int) -> Callable[..., list[mpmath.mpf]]:
            orders = [tuple(int(i == k) for i in range(4)) for k in range(4)]
            return lambda *w: [mpmath.diff(F[a], w, order) for order in orders]

        def K(a: int, b: int) -> Callable[..., mpmath.mpf]:
            return lambda *w: mpmath.fdot(slope(a)(*w), slope(b)(*w))

        numbers = dict(identity.point)
        at = [
            mpmath.mpf(Fraction(numbers[w]).numerator) / Fraction(numbers[w]).denominator
            for w in ("u", "y", "x", "v")
        ]
        left = derivative_along(slope(0), K(1, 0), at)
        right = derivative_along(slope(1), K(0, 0), at)
        for printed, value in (
            (identity.left, left),
            (identity.right, right),
            (identity.residual, left - right),
        ):
            assert abs(mpmath.mpf(printed) / value - 1) < mpmath.mpf(10) ** -15


def test_the_certificate_of_a_refutation_is_accepted() -> None:
    d = derive(Parameterization.parse(["1/(1 + y**2)*y*x", "x**(2/3)"]))
    assert check_text(d.to_json()).verdict == "REFUTED"


def test_the_point_of_a_refutation_has_a_jacobian_of_full_rank() -> None:
    """At y = 1 the outputs y x/(1 + y^2), x^(2/3) move together, for ever."""
    d = derive(Parameterization.parse(["1/(1 + y**2)*y*x", "x**(2/3)"]))
    for finding in (d.hessian.finding, d.warping.finding):
        assert dict(finding.evidence[-1].point)["y"] != 1


@pytest.mark.slow
def test_a_shared_factor_of_several_functions_is_a_warp() -> None:
    d = derive(Parameterization.parse(SHARED))
    assert d.verdict is d.warping.verdict is Verdict.PROVED
    assert str(d.warping.g) == "y + exp(x*y) + cos(x/2)"


def test_a_failure_is_looked_for_where_the_outputs_move_independently() -> None:
    """The first starts in small numbers make the factors singular: none of them decides."""
    shapes = dict.fromkeys("ABC", (3, 3))
    p = Parameterization.parse(["A*B*C"], arrays=shapes)
    starts = [is_free(p, start) for start in islice(samples(p), 12)]
    assert not any(starts[:11])
    assert starts[11]


@pytest.mark.slow
def test_three_factors_have_no_potential() -> None:
    shapes = dict.fromkeys("ABC", (3, 3))
    d = derive(Parameterization.parse(["A*B*C"], arrays=shapes))
    assert (d.hessian.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert d.conserved.count == 12
