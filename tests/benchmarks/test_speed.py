"""Timings, side by side in one run: pytest tests/benchmarks --benchmark-enable.

No test asserts on the clock; with benchmarks off each runs once, as a smoke test.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from derive import Parameterization, Verdict, derive
from derive.catalogue import entries
from derive.catalogue.audit import audit_entry
from derive.catalogue.library import derive_entry
from derive.certificate.checking.check import check_text
from numerics.confirm.norm_bounds import try_norm_bound
from tests.published import MODELS

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.benchmark(group="algebra: parse to Derivation, warm, in process")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_algebra(benchmark, model):
    def whole():
        return derive(Parameterization.parse(model.outputs, model.start, model.positive))

    derivation = benchmark(whole)
    assert derivation.warping.verdict.value == model.warp


EQUAL = {"start": {"p": "alpha", "m": "alpha"}, "positive": ["alpha"]}
FURTHER = {
    "exp(w)": (["exp(w)"], {}),
    "p**D - m**D": (["p**D - m**D"], EQUAL),
    "c*a*u, slope c": (["c*a*u1", "c*a*u2"], {"parameters": ["c"], "positive": ["c"]}),
    "weight normalization, d = 2": (["c*v1/sqrt(v1**2 + v2**2)", "c*v2/sqrt(v1**2 + v2**2)"], {}),
    "W W^T": (["W*T(W)"], {"arrays": {"W": (2, 2)}}),
    "U V^T": (["U*T(V)"], {"arrays": {"U": (2, 2), "V": (2, 2)}}),
    "circular convolution, 3": (
        ["u1*v1 + u2*v3 + u3*v2", "u1*v2 + u2*v1 + u3*v3", "u1*v3 + u2*v2 + u3*v1"],
        {},
    ),
}


@pytest.mark.benchmark(group="algebra of further models, warm, in process")
@pytest.mark.parametrize("name", FURTHER)
def test_further_algebra(benchmark, name):
    outputs, options = FURTHER[name]
    derivation = benchmark(lambda: derive(Parameterization.parse(outputs, **options)))
    assert derivation.warping.verdict is not Verdict.UNDECIDED


@pytest.mark.benchmark(group="every dimension at once, warm, in process")
@pytest.mark.parametrize("text", ["a*v", "a*b*v", "c*v/norm(v)"])
def test_vectors(benchmark, text):
    derivation = benchmark(lambda: derive(Parameterization.parse([text], vectors=["v"])))
    assert derivation.verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.benchmark(group="the whole catalogue, warm, in process")
def test_catalogue(benchmark):
    derived = benchmark.pedantic(lambda: [derive_entry(e) for e in entries()])
    assert [d.verdict.value for d in derived] == [e.verdict for e in entries()]


@pytest.mark.slow
@pytest.mark.benchmark(group="the whole catalogue, warm, in process")
def test_audit(benchmark):
    audits = benchmark.pedantic(
        lambda: [a for e in entries() for a in audit_entry(e, try_norm_bound)]
    )
    assert len(audits) == sum(len(e.printed) for e in entries())


@pytest.mark.benchmark(group="derive check, warm, in process")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_check(benchmark, model):
    record = derive(Parameterization.parse(model.outputs, model.start, model.positive)).to_json()
    assert benchmark(lambda: check_text(record)).verdict in ("PROVED", "REFUTED")


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
