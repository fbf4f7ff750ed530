"""The Taylor integrator against closed forms, mpmath.odefun and mpmath arithmetic."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.libmp import MPZ

from derive.errors import NumericalError
from derive.language import parse_expression
from numerics.integrator.builder import compile_forward
from numerics.integrator.jets import Series
from numerics.integrator.taylor import Stepper, Taylor, _log_steps, integrate

ROOT = Path(__file__).parents[3]
ONE = Fraction(1)


def solve(text: str, start: Fraction, time: Fraction, digits: int = 40) -> Any:
    tape = compile_forward([parse_expression(text)], ["w"])
    return integrate(tape, [start], digits, time=time).state[0]


def error(a: Any, b: Any) -> Any:
    with mpmath.workdps(120):
        return abs(mpmath.mpf(a) - b)


@pytest.mark.parametrize(
    ("text", "start", "exact"),
    [
        ("w**2", Fraction(1, 2), lambda: mpmath.mpf(1)),
        ("1/w", ONE, lambda: mpmath.sqrt(3)),
        ("exp(w)", Fraction(-1), lambda: -mpmath.log(mpmath.e - 1)),
        ("sqrt(w)", ONE, lambda: mpmath.mpf(9) / 4),
        ("3", Fraction(0), lambda: mpmath.mpf(3)),
        ("w**(2/3)", ONE, lambda: (mpmath.mpf(4) / 3) ** 3),
    ],
)
def test_closed_forms(text: str, start: Fraction, exact: Any) -> None:
    with mpmath.workdps(60):
        assert error(solve(text, start, ONE), exact()) < mpmath.mpf(10) ** -42


PROGRAM = """
from fractions import Fraction
from mpmath.libmp import BACKEND
from tests.numerics.integrator.programs import pendulum
from numerics.integrator.taylor import integrate
end = integrate(pendulum(), [Fraction(1), Fraction(1, 2)], 40, time=Fraction(3))
print(BACKEND, *((x._mpf_[0], int(x._mpf_[1]), x._mpf_[2]) for x in (*end.state, end.time)))
"""


@pytest.mark.slow
def test_the_integers_of_python_give_the_same_bits() -> None:
    lines = []
    for without in ({}, {"MPMATH_NOGMPY": "1"}):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **without},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        lines.append(done.stdout.split(maxsplit=1))
    assert [backend for backend, _ in lines] == ["gmpy", "python"]
    assert lines[0][1] == lines[1][1]


def test_small_weights_keep_their_relative_accuracy() -> None:
    tape = compile_forward([*map(parse_expression, ("-v", "w", "u"))], ["w", "v", "u"])
    tiny = Fraction(1, 10**40)
    end = integrate(tape, [ONE, Fraction(0), tiny], 30, time=Fraction(10))
    with mpmath.workdps(60):
        assert abs(end.state[2] * mpmath.mpf(10) ** 40 / mpmath.exp(10) - 1) < 1e-35


def test_stop_is_tested_at_the_start_and_after_each_step() -> None:
    tape, seen = compile_forward([parse_expression("w")], ["w"]), []

    def stop(run: Stepper) -> bool:
        seen.append(run.state[0])
        return bool(run.state[0] > 100)

    end = integrate(tape, [ONE], 20, stop)
    assert seen[0] == 1
    assert len(seen) == end.steps + 1
    assert end.state[0] == seen[-1] > 100 >= seen[-2]
    assert error(mpmath.log(end.state[0]), end.time) < 1e-12
    assert integrate(tape, [ONE], 20, lambda _: True).steps == 0


@pytest.mark.parametrize(
    ("text", "start", "message"),
    [
        ("w**2", ONE, "no longer changes"),
        ("log(w)", -ONE, "undefined"),
        ("1/w", Fraction(0), "undefined"),
        ("sqrt(w)", Fraction(0), "undefined"),
        ("exp(exp(exp(w)))", Fraction(10), "undefined or overflows"),
    ],
)
def test_what_cannot_be_integrated(text: str, start: Fraction, message: str) -> None:
    with pytest.raises(NumericalError, match=message) as caught:
        solve(text, start, Fraction(2))
    assert "\n" not in str(caught.value)


def test_stalls_and_limits() -> None:
    tape = compile_forward([parse_expression("-w")], ["w"])
    with pytest.raises(NumericalError, match="does not move"):
        integrate(tape, [Fraction(0)], 20, lambda _: False)
    with pytest.raises(NumericalError, match="max_steps = 3"):
        integrate(tape, [ONE], 20, lambda _: False, 3)
    with pytest.raises(ValueError, match="give stop or time"):
        integrate(tape, [ONE], 20)
    with pytest.raises(ValueError, match="as many starts"):
        integrate(tape, [ONE, ONE], 20, time=ONE)


def test_an_end_just_after_a_step_is_met() -> None:
    run = Taylor(compile_forward([parse_expression("w")], ["w"]), [ONE], 20)
    run.step(None)
    before, end = run.state[0], run.time + Fraction(1, 10**80)
    run.step(end)
    assert run.time == end
    assert error(run.state[0], before) < 1e-30


def number(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


@settings(max_examples=15, deadline=None)
@given(
    start=st.fractions(Fraction(1, 100), 2, max_denominator=100),
    share=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=997),
    digits=st.integers(5, 70),
)
def test_towards_a_pole(start: Fraction, share: Fraction, digits: int) -> None:
    # w' = w^2 has the solution w_0/(1 - w_0 t), whose errors grow like its slope.
    found = solve("w**2", start, share / start, digits)
    with mpmath.workdps(digits + 20):
        exact = number(start / (1 - share))
        assert abs(found / exact - 1) <= mpmath.mpf(10) ** -digits / number(1 - share)


@pytest.mark.parametrize("scale", [-30, 0, 30])
def test_a_first_step_that_is_guessed_too_long(scale: int) -> None:
    # The scale of time is then much larger than the step, and the coefficients grow.
    text = f"10**{scale}*(1 + w*w)" if scale >= 0 else f"(1 + w*w)/10**{-scale}"
    for numerator in range(1, 15, 3):
        time = Fraction(numerator, 10) / Fraction(10) ** scale
        found = solve(text, Fraction(0), time, 50)
        with mpmath.workdps(70):
            assert abs(found / mpmath.tan(mpmath.mpf(numerator) / 10) - 1) < mpmath.mpf(10) ** -50


@pytest.mark.parametrize("digits", [15, 30, 50])
@pytest.mark.parametrize("start", [Fraction(0), Fraction(1, 1000)])
def test_coefficients_that_come_late_are_found(start: Fraction, digits: int) -> None:
    """x' = 1, y' = x^60: to the orders used, y may look like a constant or a polynomial."""
    tape = compile_forward([*map(parse_expression, ("1", "x**60"))], ["x", "y"])
    end = integrate(tape, [start, Fraction(0)], digits, time=Fraction(3))
    exact = ((start + 3) ** 61 - start**61) / 61
    with mpmath.workdps(digits + 20):
        error = end.state[1] / mpmath.mpf(exact.numerator) * exact.denominator - 1
        assert abs(error) < mpmath.mpf(10) ** -digits


@pytest.mark.parametrize("gap", [1, 2])
def test_a_step_is_where_the_last_terms_fall_to_the_accuracy(gap: int) -> None:
    """For w_j = 2^-j, or every second, h_j = 2 eps^(1/j); the smaller of the last two counts."""
    series = Series(200)
    series.cells = [MPZ(1) << (200 - j) if j % gap == 0 else MPZ(0) for j in range(31)]
    series.choose(-200)
    orders, accuracy = (20, 30), -60.0
    expected = [1 + accuracy / (n - gap) - 0.7 / (n - 1) * math.log2(math.e) for n in orders]
    assert _log_steps([series], accuracy, orders) == pytest.approx(expected, abs=1e-9)
