"""High-precision flows, side by side in one run: pytest tests/benchmarks --benchmark-enable.

No test asserts on the clock; with benchmarks off each runs once, as a smoke test. The horizon is
short, as mpmath.odefun takes about a minute to the limit: its step is at most 1/2, so that the
ratio grows with the horizon.
"""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from derive import Parameterization
from numerics.flow import Flow, flow

D, ROWS, DIGITS = 8, 3, 50
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
MODELS = {
    "diagonal": [f"p{i}**2 - m{i}**2" for i in range(D)],
    "deep diagonal": [f"p{i}**3 - m{i}**3" for i in range(D)],
    "one neuron": [f"a*u{i}" for i in range(D)],
}
STARTS = {
    "diagonal": Fraction(1, 10),
    "deep diagonal": Fraction(1, 2),
    "one neuron": Fraction(1, 10),
}


def problem() -> tuple[list[list[Fraction]], list[Fraction]]:
    """Draw X of 3 rows, and y = X beta for a beta of two entries."""
    rng = np.random.default_rng(0)
    X = [[Fraction(f"{x:.2f}") for x in row] for row in rng.standard_normal((ROWS, D))]
    return X, [row[1] - row[4] / 2 for row in X]


def run(model: str, **options: Any) -> Flow:
    p, (X, y) = Parameterization.parse(MODELS[model]), problem()
    start = dict.fromkeys(p.weights, STARTS[model])
    if model == "one neuron":
        start["a"] = Fraction(1)
    return flow(p, X, y, start, DIGITS, **options)


def diagonal_by_odefun(time: Fraction) -> list[Any]:
    """Return the weights p_1, m_1, p_2, .. at a time."""
    with mpmath.workdps(DIGITS):
        X, y = problem()
        rows = [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in X]
        target = [mpmath.mpf(x.numerator) / x.denominator for x in y]
        columns = list(zip(*rows, strict=True))

        def slope(_: Any, w: list[Any]) -> list[Any]:
            pairs = list(zip(w[::2], w[1::2], strict=True))
            beta = [p * p - m * m for p, m in pairs]
            left = [mpmath.fdot(r, beta) - t for r, t in zip(rows, target, strict=True)]
            pulls = [2 * mpmath.fdot(c, left) for c in columns]
            return [x for (p, m), g in zip(pairs, pulls, strict=True) for x in (-p * g, m * g)]

        start = [mpmath.mpf(1) / 10] * (2 * D)
        solution = mpmath.odefun(slope, 0, start)
        return list(solution(mpmath.mpf(time.numerator) / time.denominator))


@pytest.fixture(scope="module", params=HORIZONS, ids=lambda t: f"time {t}")
def horizon(request: pytest.FixtureRequest) -> tuple[Fraction, list[Any]]:
    """Return a time, and the weights then to 80 digits."""
    p, (X, y) = Parameterization.parse(MODELS["diagonal"]), problem()
    start = dict.fromkeys(p.weights, STARTS["diagonal"])
    return request.param, list(flow(p, X, y, start, 80, time=request.param).weights)


def worst(weights: Any, expected: Any) -> Any:
    with mpmath.workdps(100):
        return max(abs(a - b) for a, b in zip(weights, expected, strict=True))


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
