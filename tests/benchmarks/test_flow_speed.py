"""High-precision flows, side by side in one run: pytest tests/benchmarks --benchmark-enable.

No test asserts on the clock; with benchmarks off each runs once, as a smoke test. The horizon is
short, as mpmath.odefun takes minutes to the limit.
"""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from tests.benchmarks.flows import MODELS, diagonal_by_odefun, diagonal_limit, run, worst

HORIZONS = [Fraction(1, 4), pytest.param(Fraction(16), marks=pytest.mark.slow)]
ENGINES = [
    "taylor",
    pytest.param(
        "heyoka",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("heyoka") is None, reason="heyoka is not installed"
        ),
    ),
]


@pytest.fixture(scope="module", params=HORIZONS, ids=lambda t: f"time {t}")
def horizon(request: pytest.FixtureRequest) -> tuple[Fraction, list[Any]]:
    """Return a time, and the weights then to 80 digits."""
    return request.param, list(run("diagonal", 80, time=request.param).weights)


@pytest.mark.benchmark(group="diagonal model, 50 digits, to a short horizon")
@pytest.mark.parametrize("engine", ENGINES)
def test_diagonal(benchmark: Any, horizon: tuple[Fraction, list[Any]], engine: str) -> None:
    time, expected = horizon
    end = benchmark.pedantic(
        run, ("diagonal",), {"time": time, "engine": engine}, rounds=3, warmup_rounds=1
    )
    assert worst(end.weights, expected) < mpmath.mpf(10) ** -48


@pytest.mark.benchmark(group="diagonal model, 50 digits, to a short horizon")
def test_odefun(benchmark: Any, horizon: tuple[Fraction, list[Any]]) -> None:
    time, expected = horizon
    weights = benchmark.pedantic(diagonal_by_odefun, (time,), rounds=1)
    assert worst(weights, expected) < mpmath.mpf(10) ** -48


@pytest.mark.benchmark(group="flows to their limit, 50 digits")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_limits(benchmark: Any, model: str, engine: str) -> None:
    end = benchmark.pedantic(run, (model,), {"engine": engine}, rounds=1)
    assert end.converged
    if model == "diagonal":
        assert worst(end.limit, diagonal_limit(70)) < mpmath.mpf(10) ** -48
