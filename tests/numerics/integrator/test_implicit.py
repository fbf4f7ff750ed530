"""Stiff flows: implicit steps against closed forms, and slopes in doubles against jets."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from derive import Parameterization
from derive.errors import NumericalError
from derive.language import parse_expression
from numerics import flow
from numerics.integrator.builder import compile_forward
from numerics.integrator.implicit import Automatic, Radau, jacobians
from numerics.integrator.taylor import Taylor, integrate
from tests.numerics.integrator.programs import propagate

FAST = 2000
SLAVED = [f"-{FAST}*(a - b**2)", "-b"]
"""b = exp(-t) drives a, which follows at a rate of its own."""


def exact(t):
    """Return a and b from (1, 1): a is c b^2 and what decays fast."""
    c = mpmath.mpf(FAST) / (FAST - 2)
    return [c * mpmath.exp(-2 * t) + (1 - c) * mpmath.exp(-FAST * t), mpmath.exp(-t)]


def test_a_stiff_system_takes_few_steps_and_keeps_its_digits():
    tape = compile_forward([parse_expression(f) for f in SLAVED], ["a", "b"])
    given = (tape, [Fraction(1)] * 2, 20, None, 600)
    end = integrate(*given, time=Fraction(20), engine=Automatic)
    with mpmath.workdps(30):
        gaps = [abs(x - y) for x, y in zip(end.state, exact(20), strict=True)]
    assert max(gaps) < mpmath.mpf(10) ** -22
    with pytest.raises(NumericalError, match="max_steps = 600"):
        integrate(*given, time=Fraction(20), engine=Taylor)


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize("digits", [45, 60])
def test_a_tiny_weight_that_leaves_a_saddle_late_keeps_its_digits(digits):
    """Beside stiff weights of size 1, c = 1/(1 + (1/c_0 - 1) exp(-t)), from 10^-digits on."""
    fields = ["-1000*(a - b)", "(1 - b)/10", "c - c**2"]
    tape = compile_forward([parse_expression(f) for f in fields], ["a", "b", "c"])
    start, end = [Fraction(3), Fraction(2), Fraction(1, 10**digits)], Fraction(12 * digits, 5)
    c = integrate(tape, start, 20, None, 600, time=end, engine=Automatic).state[2]
    with mpmath.workdps(90):
        late = mpmath.exp(-mpmath.mpf(end.numerator) / end.denominator)
        exact_c = 1 / (1 + (mpmath.mpf(10) ** digits - 1) * late)
        assert abs(c / exact_c - 1) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("h", [Fraction(1, 8), Fraction(1, 2)])
def test_one_step_is_right_to_its_tolerance(h):
    tape = compile_forward([parse_expression("w*sin(w) + 1/w")], ["w"])
    run = Radau(tape, [Fraction(1)], 25)
    run.longest = h
    run.step(None)
    (expected,) = integrate(tape, [Fraction(1)], 40, time=run.time).state
    assert 0 < run.time <= h
    assert abs(run.state[0] - expected) < mpmath.mpf(10) ** -27


def test_slopes_in_doubles_are_those_of_jets():
    texts = [
        "exp(a*b)/b",
        "sin(a)*cos(b) + tan(b)",
        "log(b)*tanh(a)",
        "asinh(a) - atan(b)",
        "b**0.3*a",
    ]
    tape = compile_forward([parse_expression(text) for text in texts], ["a", "b"])
    points = np.array([[0.3, 1.5], [-2.0, 0.75]])
    for point, found in zip(points, jacobians(tape, points), strict=True):
        for k in range(2):
            jets = [[mpmath.mpf(x), mpmath.mpf(i == k)] for i, x in enumerate(point.tolist())]
            slopes = [float(row[1]) for row in propagate(tape, jets, 20)]
            assert np.allclose(found[:, k], slopes, rtol=1e-13)


def test_more_digits_than_doubles_have_exponents():
    p = Parameterization.parse(["w"])
    assert flow(p, [[1]], [1], {"w": 0}, 400, time=Fraction(1, 1000)).digits == 400
