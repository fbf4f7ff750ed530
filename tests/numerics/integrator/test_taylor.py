"""Tapes, their jets and the Taylor integrator, against closed forms and mpmath."""

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

from derive.errors import InputError, NumericalError
from derive.language import parse_expression
from derive.language.functions import CALLS
from derive.language.tree import Call, Name, Number, Operation, Power
from numerics.integrator.builder import Builder, compile_forward
from numerics.integrator.jets import Series
from numerics.integrator.taylor import Stepper, Taylor, _log_steps, integrate
from tests.numerics.integrator.programs import compile_gradient, propagate

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


def jet(grid: int, sizes: dict[int, int]) -> Series:
    """Return a series of degree 20 with coefficients 2^size on a grid 2^grid, 0 where none is."""
    series = Series(400)
    series.cells = [MPZ(1) << (sizes[j] - grid) if j in sizes else MPZ(0) for j in range(21)]
    series.choose(grid)
    return series


LARGE = jet(-300, {0: 7, 1: -30, 3: -31})
"""A polynomial, exact at any step, of which the size is known by its first coefficient."""


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [
        ({0: 5, 1: 3, **{j: -2 * j for j in range(2, 21)}}, {0: 5}),  # |w| itself
        ({0: 5, 1: 60, **{j: 60 - j for j in range(2, 21)}}, {1: 60}),  # it grows fast
        ({0: -150, 2: 40, 3: 45, 4: 70, **{j: 40 - j for j in range(5, 21)}}, {3: 45}),
        ({3: -120, **{j: -120 - j for j in range(4, 21)}}, {0: 7 - 60}),  # 0: beside the largest
    ],
)
def test_a_step_is_relative_to_a_weight_or_near_0_to_its_first_terms(sizes, counts) -> None:
    """h_j = (eps |w_m|/|w_j|)^(1/(j - m)), m = 0 or one of the first two, |w_0| >= eps |w'_0|."""
    ((m, size),) = counts.items()
    accuracy, order = -60.0, 20
    reach = min((size + accuracy - sizes[j]) / (j - m) for j in (20, 19))
    expected = reach - 0.7 / (order - 1) * math.log2(math.e)
    for series in (jet(-300, sizes), jet(-250, sizes)):
        (found,) = _log_steps([LARGE, series], accuracy, [order])
        assert found == pytest.approx(expected, abs=1e-9)
    assert _log_steps([LARGE], accuracy, [order]) == [math.inf]


@pytest.mark.parametrize("rate", ["1/1000", "1000/7", "1"])
def test_the_first_time_is_one_in_which_a_weight_moves(rate: str) -> None:
    run = Taylor(compile_forward([parse_expression(f"{rate}*w")], ["w"]), [Fraction(3)], 40)
    assert 1 / 4 <= 2.0 ** run._guess() * float(Fraction(rate)) <= 16
    assert run.order == 56  # 1.15 digits + 10


W, V = Name("w"), Name("v")
DIGITS, ORDER = 40, 12
POINT = Fraction(7, 10)

OTHERS = {
    "sigmoid": lambda w: 1 / (1 + mpmath.exp(-w)),
    "softplus": lambda w: mpmath.log1p(mpmath.exp(w)),
}
OPERATIONS = [
    *((name, Call(name, W), OTHERS.get(name) or getattr(mpmath, name)) for name in CALLS),
    ("number", Number(Fraction(1, 3)), lambda w: mpmath.mpf(1) / 3),
    ("add", Operation("+", W, Number(Fraction(1, 3))), lambda w: w + mpmath.mpf(1) / 3),
    ("square", Operation("*", W, W), lambda w: w * w),
    ("multiply", Operation("*", W, Call("exp", W)), lambda w: w * mpmath.exp(w)),
    ("divide", Operation("/", Call("sin", W), W), lambda w: mpmath.sin(w) / w),
    ("halve", Operation("/", W, Number(Fraction(2))), lambda w: w / 2),
    (
        "fractions",
        Operation("+", Operation("/", W, Number(Fraction(3))), Call("sin", W)),
        lambda w: w / 3 + mpmath.sin(w),
    ),
    ("power 0", Power(W, Fraction(0)), lambda w: mpmath.mpf(1)),
    ("power 7", Power(W, Fraction(7)), lambda w: w**7),
    ("power -3", Power(W, Fraction(-3)), lambda w: w**-3),
    ("power 2/3", Power(W, Fraction(2, 3)), lambda w: mpmath.root(w, 3) ** 2),
    ("power -5/2", Power(W, Fraction(-5, 2)), lambda w: mpmath.sqrt(w) ** -5),
    (
        "nested",
        Call("tanh", Operation("/", Call("log", W), Call("asinh", Power(W, Fraction(2))))),
        lambda w: mpmath.tanh(mpmath.log(w) / mpmath.asinh(w * w)),
    ),
    ("constant", Call("exp", Number(Fraction(2))), lambda w: mpmath.exp(2)),
]
IDS = [name for name, _, _ in OPERATIONS]


def close(a, b, digits=DIGITS):
    with mpmath.workdps(digits + 10):
        return bool(abs(a - b) <= mpmath.mpf(10) ** -digits * max(1, abs(b)))


@pytest.mark.parametrize(("tree", "function"), [row[1:] for row in OPERATIONS], ids=IDS)
def test_jets_of_a_function_and_of_its_gradient_agree_with_mpmath(tree, function):
    line = [POINT, Fraction(1)] + [Fraction(0)] * (ORDER - 1)
    seed = [Fraction(3)] + [Fraction(0)] * ORDER
    (jet,) = propagate(compile_forward([tree], ["w"]), [line], DIGITS)
    _, gradient = propagate(compile_gradient([tree], ["w"]), [line, seed], DIGITS)
    with mpmath.workdps(3 * DIGITS):
        expected = mpmath.taylor(function, mpmath.mpf(7) / 10, ORDER + 1)
        slope = [3 * (k + 1) * x for k, x in enumerate(expected[1:])]
    assert len(jet) == ORDER + 1
    assert all(close(a, b) for a, b in zip(jet, expected[:-1], strict=True))
    assert all(close(a, b) for a, b in zip(gradient, slope, strict=True))


EXPONENTS = [Fraction(n) for n in (-3, -2, -1, 0, 2, 3, 5)]
ROOTS = [Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3), Fraction(-5, 3), Fraction(7, 5)]


@pytest.mark.every(3)
@pytest.mark.parametrize("q", [*EXPONENTS, *ROOTS])
@pytest.mark.parametrize("scale", ["1e-60", "3", "1e60"])
def test_powers_at_any_scale(q, scale):
    """(s + s t/2)^q has the coefficients binom(q, k) s^q/2^k."""
    size = Fraction(scale)
    line = [size, size / 2] + [Fraction(0)] * (ORDER - 1)
    (jet,) = propagate(compile_forward([Power(W, q)], ["w"]), [line], DIGITS)
    with mpmath.workdps(3 * DIGITS):
        s, exponent = mpmath.mpf(scale), mpmath.mpf(q.numerator) / q.denominator
        for k, found in enumerate(jet):
            expected = mpmath.binomial(exponent, k) / 2**k
            assert close(found / s**exponent, expected)


def test_reverse_mode_of_two_outputs_in_two_weights():
    outputs = [Operation("*", W, Call("exp", V)), Operation("/", V, Operation("+", W, V))]
    tape = compile_gradient(outputs, ["w", "v"])
    w, v, a, b = Fraction(2), Fraction(1, 2), Fraction(3), Fraction(-1)
    values = [x for (x,) in propagate(tape, [[w], [v], [a], [b]], DIGITS)]
    with mpmath.workdps(60):
        e, s = mpmath.exp(mpmath.mpf(1) / 2), mpmath.mpf(5) / 2
        expected = [2 * e, 1 / (2 * s), 3 * e + 1 / (2 * s**2), 6 * e - 2 / s**2]
        assert all(close(x, y) for x, y in zip(values, expected, strict=True))


def test_a_weight_that_no_output_contains_has_gradient_zero():
    tape = compile_gradient([W], ["w", "v"], lambda builder, _: [builder.constant(Fraction(5))])
    assert [x for (x,) in propagate(tape, [[POINT], [POINT]], DIGITS)][1:] == [5, 0]


def test_common_subexpressions_are_shared():
    trees = [Call("exp", Operation("*", Name("w"), Name("v"))) for _ in range(5)]
    trees.append(Call("exp", Operation("*", Name("v"), Name("w"))))
    tape = compile_forward(trees, ["w", "v"])
    assert [i.op for i in tape.instructions] == ["input", "input", "multiply", "euler", "exp"]
    assert len(set(tape.outputs)) == 1


def test_sine_and_cosine_share_one_pair():
    tape = compile_forward([Call("cos", W), Call("sin", W), Call("tan", W)], ["w"])
    assert [i.op for i in tape.instructions] == ["input", "euler", "sin", "cos", "divide"]


def test_a_program_drops_what_its_outputs_do_not_need():
    builder = Builder(["w", "v"])
    _, last = map(builder.tree, (Call("exp", W), Call("log", V)))
    tape = builder.tape([last])
    assert [i.op for i in tape.instructions] == ["input", "logderivative", "log"]
    assert tape.inputs == ("w", "v")


@pytest.mark.parametrize(("exponent", "products"), [(2, 2), (3, 3), (4, 4), (5, 4), (15, 9)])
def test_the_gradient_of_a_power_takes_few_products(exponent, products):
    tape = compile_gradient([Power(W, Fraction(exponent))], ["w"])
    assert sum(i.op == "multiply" for i in tape.instructions) == products


def test_a_power_that_is_an_older_register_keeps_its_gradient():
    eight, double = (Operation("*", Number(Fraction(n)), W) for n in (8, 2))
    older = Operation("*", eight, Power(W, Fraction(2)))  # 8 w^3, before 2 w is
    both = [Operation("*", older, V), Power(double, Fraction(3))]
    tape = compile_gradient(
        both, ["w", "v"], lambda builder, _: [builder.constant(Fraction(1))] * 2
    )
    values = [x for (x,) in propagate(tape, [[Fraction(3)], [Fraction(5)]], DIGITS)]
    assert values == [1080, 216, 24 * 9 * 6, 216]


def test_integer_powers_are_defined_at_zero():
    line = [Fraction(0), Fraction(1), Fraction(0), Fraction(0)]
    (jet,) = propagate(compile_forward([Power(W, Fraction(3))], ["w"]), [line], DIGITS)
    assert list(jet) == [0, 0, 0, 1]


def test_the_slope_of_tanh_does_not_cancel():
    tape = compile_gradient([Call("tanh", W)], ["w"])
    _, (slope,) = propagate(tape, [[Fraction(100)], [Fraction(1)]], DIGITS)
    with mpmath.workdps(60):
        assert abs(slope * mpmath.cosh(100) ** 2 - 1) < mpmath.mpf(10) ** -DIGITS


def test_a_deep_tree_needs_no_recursion():
    tree = W
    for _ in range(5000):
        tree = Operation("+", Call("sin", tree), V)
    tape = compile_gradient([tree], ["w", "v"])
    assert len(tape.outputs) == 3


@pytest.mark.parametrize(
    "tree",
    [
        Name("u"),
        Call("erf", W),
        Operation("/", W, Number(Fraction(0))),
        Power(Number(Fraction(0)), Fraction(-1)),
    ],
)
def test_what_cannot_be_compiled(tree):
    with pytest.raises(InputError):
        compile_forward([tree], ["w"])


@pytest.mark.parametrize("tree", [Call("log", W), Call("sqrt", W), Power(W, Fraction(1, 3))])
def test_values_outside_the_domain(tree):
    with pytest.raises(NumericalError, match="undefined"):
        propagate(compile_forward([tree], ["w"]), [[Fraction(-1)]], DIGITS)


def test_builder_rejects_an_unknown_input():
    with pytest.raises(InputError, match="v is not a weight"):
        Builder(["w"]).input("v")


def test_negative_mpf_are_taken_with_their_sign():
    (jet,) = propagate(compile_forward([W], ["w"]), [[mpmath.mpf("-1.5"), mpmath.mpf(-4)]], DIGITS)
    assert list(jet) == [mpmath.mpf("-1.5"), -4]


def test_factors_of_outputs_are_taken_out():
    product = Operation("*", W, V)
    trees = [Operation("*", Number(Fraction(-2, 3)), product), V, Operation("+", W, Number(POINT))]
    tape, factors = compile_forward(trees, ["w", "v"]).unscaled()
    assert factors == (Fraction(-2, 3), 1, 1)
    values = propagate(tape, [[Fraction(3)], [Fraction(5)]], 20)
    assert [mpmath.nstr(v, 10) for (v,) in values] == ["15.0", "5.0", "3.7"]
