"""Limits of parametric Q: signs, poles and powers are decided exactly or left open."""

from __future__ import annotations

import pytest
import sympy
from sympy import Symbol, log, sqrt

from derive.exact.field.function_field import FunctionField
from derive.exact.signs import Signs
from derive.limits.limit import Limit
from derive.limits.parametric_limit import is_positive_exponent, parametric_limit
from derive.limits.point import read_point
from derive.potential.piece import Curve
from derive.verdict import Verdict

c, z = Symbol("c", positive=True), Symbol("z", real=True)
D = Symbol("D", real=True)
HALF = sympy.Rational(1, 2)


def limit(h: sympy.Expr, mu: sympy.Expr, at: str = "0") -> Limit:
    curve = Curve(z, h, (sympy.Integer(-1), sympy.Integer(1)))
    return parametric_limit(curve, mu, Symbol("beta", real=True), read_point("c", at))


def test_a_power_that_vanishes_gives_the_slopes_at_the_ends():
    found = limit(c**2 / (1 - z) - c**2 / (1 + z), z / c)
    assert found.regime == "rich"
    assert found.unit == 1 / c
    # mu = z: 1 - z ~ c^2/beta.
    assert found.error == c**2
    for evidence in found.finding.evidence:
        assert evidence.left != evidence.right
        assert sympy.expand(sympy.sympify(f"({evidence.left}) - ({evidence.right})")) == 0


def test_ends_that_differ_are_not_called_l1():
    found = limit(c / (1 - z) - c / (1 + z), z + HALF)
    assert found.finding.verdict is Verdict.PROVED
    assert found.regime == "intermediate"
    assert found.potential.gradient == (sympy.Rational(3, 2),)
    assert found.below == (-HALF,)


@pytest.mark.parametrize(
    ("h", "mu", "at"),
    [
        (c / (1 - z) - c / (1 + z), z, "oo"),  # h -> infinity
        (c / (1 - z) - c / (1 + z), 1 / (1 - z), "0"),  # mu infinite at an end
        (c / (1 - z) - c / (1 + z), log(1 - z), "0"),
        (c / (1 - z) - c / (1 + z), sqrt(1 - z), "0"),  # mu has no slope there: the rate is open
        (c * z, z, "0"),  # no pole
        (c / (1 - z) + c / (1 + z), z, "0"),  # the same sign at both ends
        (c * log(1 + z) - c * log(1 - z), z, "0"),  # h -> infinity, but by no power
        ((c + c**2) * (1 / (1 - z) - 1 / (1 + z)), z, "0"),  # no power of c
        (c ** (D - 3) / (1 - z) - c ** (D - 3) / (1 + z), z, "0"),  # D > 2 may be below 3
        (c / (1 - z) - c / (1 + z), c**z, "0"),
    ],
)
def test_what_is_not_decided_is_left_open(h, mu, at):
    found = limit(h, mu, at)
    assert found.finding.verdict is Verdict.UNDECIDED
    assert found.potential is None


def test_exponents_in_a_depth_above_two():
    assert is_positive_exponent(D / (D - 2))
    assert is_positive_exponent(sympy.Rational(1, 3))
    for open_exponent in (D - 3, 2 - D, D / (2 - D), (D - 3) ** 2, sympy.S.Zero):
        assert not is_positive_exponent(open_exponent)


def test_positive_functions_are_nowhere_zero():
    x, y = FunctionField(("x", "y")).gens
    known = frozenset("x")
    for f in (x, 1 / x, x + y**2, (x + 1) / (x + y**4), (-x - 1) / (-x), y**2 + 3):
        assert Signs(known).is_positive(f)
        assert not Signs(known).is_positive(-f)
    for f in (y, y**2, x * y**2, x - 1, x - x, x + y, (x - 1) ** 2):
        assert not Signs(known).is_positive(f)
