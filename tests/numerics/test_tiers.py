"""Float64 results of derived Q: all digits, whatever cancels or overflows on the way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerics.sweep import MODELS, Sweep

FAST = ("linear", "square", "exponential", "tied", "tied, free start", "untied")
each_model = pytest.mark.parametrize("name", MODELS)
each_result = pytest.mark.parametrize("what", ["value", "gradient", "hessian", "bregman"])


@each_model
@each_result
def test_results_have_all_digits(name: str, what: str) -> None:
    errors = Sweep(name, 8, 5).errors(what)
    assert errors.max() < 1e-14


@pytest.mark.parametrize("name", [n for n, (outputs, _) in MODELS.items() if len(outputs) == 1])
def test_the_inverse_has_all_digits(name: str) -> None:
    assert Sweep(name, 8, 7).inverse_errors().max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
@each_result
def test_results_are_proved_at_every_point(name: str, what: str) -> None:
    """Sweep 10^5 points: beta from 1e-300 to 1e300, starts from 1e-8 to 1e8, log-uniform.

    A result is given only with a proved bound of 1e-14, else it is nan: there must be none. The
    bounds themselves are compared with mpmath at 2,000 of the points, drawn at random, as those
    60 digits and more are what takes the time.
    """
    sweep = Sweep(name, 100_000, 6)
    results = sweep.result(what)
    assert not np.isnan(results).any()
    drawn = np.random.default_rng(7).choice(len(results), 2_000, replace=False)
    assert sweep.errors(what, results, drawn).max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in MODELS if n not in FAST])
@each_result
def test_results_have_all_digits_everywhere(name: str, what: str) -> None:
    # A point may need a root or the parameter to hundreds of digits.
    errors = Sweep(name, 500 if name.startswith("deep") else 20_000, 6).errors(what)
    assert errors.max() < 1e-14


def test_the_sweep_sees_what_plain_doubles_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = Sweep("tied", 60, 5)
    a, b = sweep.start["alpha"], sweep.points[0]
    with np.errstate(all="ignore"):
        plain = b * np.arcsinh(b / (2 * a**2)) / 4 - np.sqrt(4 * a**4 + b**2) / 4 + a**2 / 2
    monkeypatch.setattr(sweep, "result", lambda what: plain[:, None])
    assert np.sum(sweep.errors("value") > 1e-8) > 5
