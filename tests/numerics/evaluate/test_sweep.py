"""Float64 results of every proved model against 60 digits: `pytest -m sweep`, with a table."""

from dataclasses import asdict

import numpy as np
import pytest

from derive import InputError, Parameterization, derive
from tests.numerics.evaluate.sweep import MODELS, OF_PARAMETERS, POINTS, Sweep, potential_of

_PARTS = 4
_CASES = [(name, part) for name in MODELS for part in range(_PARTS)]


def _hold(rows, wanted):
    for function, row in rows.items():
        assert row.compared >= wanted, f"{function}: too few points"
        assert row.missing == 0, f"{function}: no result at {row.at}"
        assert row.worst < 1e-14, f"{function}: {row.worst} at {row.at}"


@pytest.mark.every(12)
@pytest.mark.parametrize("name", MODELS)
def test_results_have_all_digits(name):
    _hold(Sweep(name, 9).run(5, points=5, starts=12), 5)


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "part"), _CASES)
def test_sweep(name, part, record_property):
    """Beta from 1e-300 to 1e300 and starts from 1e-8 to 1e8, log-uniform."""
    wanted = POINTS // _PARTS
    rows = Sweep(name, part).run(wanted)
    record_property("sweep", {f"{name} {f}": asdict(row) for f, row in rows.items()})
    _hold(rows, wanted)


@pytest.mark.parametrize("name", ["tied-pair", "square"])
def test_the_sweep_sees_what_plain_doubles_lose(name, monkeypatch):
    sweep = Sweep(name, 5)
    lowered = sweep._lowered

    def plain():
        start, q = lowered()
        return start, q.in_doubles

    monkeypatch.setattr(sweep, "_lowered", plain)
    with np.errstate(all="ignore"):
        rows = sweep.run(40, points=20, starts=10)
    assert rows["bregman"].worst > 1e-8
    assert rows["value"].worst > 1e-8


def test_the_sweep_sees_a_missing_result_and_a_wrong_digit(monkeypatch):
    sweep = Sweep("linear", 5)
    evaluate = sweep._evaluate

    def broken(q, function, *points):
        found = evaluate(q, function, *points) * (1 + 1e-13)
        return np.where(np.arange(len(found)) == 3, np.nan, found) if function == "value" else found

    monkeypatch.setattr(sweep, "_evaluate", broken)
    rows = sweep.run(10, points=20, starts=4)
    assert rows["value"].missing == 1
    assert 0.9e-13 < rows["gradient"].worst < 1.1e-13
    assert 0.9e-13 < rows["inverse"].worst < 1.1e-13


def test_a_vector_with_a_parameter_is_that_with_a_number():
    at = {"a_0": 1, "u_0": [1, 2]}
    with pytest.raises(InputError, match="no value for eta"):
        potential_of(OF_PARAMETERS).numeric(at)
    fixed = derive(Parameterization.parse(["a*u"], vectors=["u"], rates={"a": "2"})).potential
    given = potential_of(OF_PARAMETERS).numeric({**at, "eta": 2})
    assert np.allclose(given.gradient([0.5, 0.2]), fixed.numeric(at).gradient([0.5, 0.2]), 1e-12)
    assert not np.allclose(given.gradient([0.5, 0.2]), 0)
