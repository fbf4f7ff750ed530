"""The engine of heyoka against our own; skipped where heyoka is not installed."""

from fractions import Fraction

import mpmath
import pytest

from derive.language import parse_expression
from numerics.integrator.builder import compile_forward
from numerics.integrator.taylor import integrate
from tests.benchmarks.flows import diagonal_by_heyoka, run
from tests.numerics.integrator.test_taylor import pendulum

EXPRESSIONS = ("log(w)", "sqrt(w)", "sin(w) + cos(v)", "sinh(w)/cosh(v)", "asinh(w)*exp(v)", "v**3")


def worst(one, two):
    with mpmath.workdps(60):
        return max(abs(a - b) for a, b in zip(one, two, strict=True))


def test_the_engines_agree():
    pytest.importorskip("heyoka")
    time = Fraction(1)
    assert worst(run("diagonal", 40, time=time).weights, diagonal_by_heyoka(time, 40)) < 1e-40


@pytest.mark.parametrize("expression", [None, *EXPRESSIONS])
def test_every_operation(expression):
    pytest.importorskip("heyoka")
    from tests.benchmarks.heyoka_engine import Heyoka

    tape, start = pendulum(), [Fraction(1), Fraction(1, 2)]
    if expression is not None:
        tape = compile_forward([*map(parse_expression, (expression, "w - 2*v"))], ["w", "v"])
    ours = integrate(tape, start, 40, time=Fraction(1, 8))
    theirs = integrate(tape, start, 40, time=Fraction(1, 8), engine=Heyoka)
    assert worst(ours.state, theirs.state) < mpmath.mpf(10) ** -39
    assert ours.time == theirs.time == 0.125
