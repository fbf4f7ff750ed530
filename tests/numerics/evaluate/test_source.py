"""Which sums in the formulas of a curve are written by the distance from an end of it."""

import pytest
import sympy
from sympy import Symbol, sqrt

from numerics.evaluate.program import _vanishes

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
