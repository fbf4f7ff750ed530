"""Timings, side by side in one run: pytest tests/benchmarks --benchmark-enable.

No test asserts on the clock; with benchmarks off each runs once, as a smoke test.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from derive import Parameterization, derive
from tests.published import MODELS

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.benchmark(group="algebra: parse to Derivation, warm, in process")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_algebra(benchmark, model):
    def whole():
        return derive(Parameterization.parse(model.outputs, model.start, model.positive))

    derivation = benchmark(whole)
    assert derivation.warping.verdict.value == model.warp


@pytest.mark.benchmark(group="whole command against the import of its libraries")
@pytest.mark.parametrize(
    "command",
    [
        ["-c", "import sympy, scipy"],
        ["-m", "derive", "--help"],
        ["-m", "derive", "regularizer", "a*u1", "a*u2"],
        ["-m", "derive", "regularizer", "a*b*u1", "a*b*u2"],
        ["-m", "derive", "regularizer", "a*u1", "a*u2", "--check"],
    ],
    ids=["import sympy, scipy", "--help", "neuron", "deep neuron", "neuron --check"],
)
def test_command(benchmark, command):
    def whole():
        return subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, check=False
        )

    assert benchmark.pedantic(whole, rounds=3, warmup_rounds=1).returncode == 0
