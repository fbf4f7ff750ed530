"""Which sums in the formulas of a curve are written by the distance from an end of it."""

import pytest
import sympy
from sympy import Symbol, sqrt

from numerics.evaluate.program import _vanishes, program
from tests.published import derive_once

p, m, D = (Symbol(name, positive=True) for name in ("p_0", "m_0", "D"))
x, y = Symbol("x_0", real=True), Symbol("y_0", real=True)


@pytest.mark.parametrize(
    ("expression", "zero"),
    [
        (1 - m**D * m ** (2 - D) * p**2 * p ** (D - 2) / (m**2 * p**D), True),
        (sqrt(p**2) - p, True),
        (sqrt(p * m) - sqrt(p) * sqrt(m), True),
        (1 + m**D * p**2 / (m**2 * p**D), False),
        (1 - m ** (D - 2) * p ** (2 - D), False),
        # Of the sign of x nothing is known: it is 0 for some x, but not for all.
        (sqrt(x**2, evaluate=False) - x, False),
        (sqrt(x * y) - sqrt(x) * sqrt(y), False),
        (sympy.Function("f")(x) - 1, False),
    ],
)
def test_only_what_is_proved_vanishes(expression, zero):
    assert _vanishes(expression) is zero


def test_the_ends_of_a_curve_with_two_starts_and_a_symbolic_exponent():
    curve = program(derive_once("p**D-m**D").potential, 0).functions
    head, *lines = curve["curve"].splitlines()
    assert head == "def curve(c, v0, v1, v2):"  # z, and its distances from the ends
    assert all(name in "".join(lines) for name in ("v1", "v2"))


def test_the_inverse_of_two_roots_and_that_of_none():
    for outputs in (("u0*v0+u1*v1", "u0*v1+u1*v0"), ("a*c-b*d", "a*d+b*c")):
        functions = dict(program(derive_once(outputs).potential, 0).functions)
        assert "inverse" in functions
