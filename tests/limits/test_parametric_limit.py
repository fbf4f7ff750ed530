"""Limits of parametric Q: h(z) = beta is solved as c -> 0, or what is not decided is left open."""

from fractions import Fraction

import pytest
import sympy
from sympy import Symbol, log

from derive.exact.asymptotics import Deep, exponent, is_positive_exponent
from derive.exact.elementary_signs import Undecided
from derive.limits.fixed_beta import ClosedGradient, closed_form_limit
from derive.limits.limit import read_point
from derive.potential.piece import Curve
from derive.verdict import Verdict

c, z = Symbol("c", positive=True), Symbol("z", real=True)
beta = Symbol("beta", real=True)
D = Symbol("D", real=True)
x = Symbol("x", positive=True)


def limit(h, mu):
    curve, depths = Curve(z, h, (sympy.Integer(-1), sympy.Integer(1))), {D: 2 + x}
    at_depth = Curve(z, h.xreplace(depths), curve.interval)
    gradient = ClosedGradient(
        (mu.xreplace(depths),),
        (beta,),
        (True,),
        frozenset("c"),
        curves=(at_depth,),
        depths=depths if (h * mu).has(D) else {},
    )
    return closed_form_limit(gradient, read_point("c", "0"), sympy.ImmutableMatrix([[1]]))


@pytest.mark.parametrize(
    ("h", "mu", "verdict"),
    [
        (c / (1 - z) - c / (1 + z), z + sympy.S.Half, Verdict.PROVED),
        (c * z, z, Verdict.UNDECIDED),  # no pole
        (c / (1 - z) + c / (1 + z), z, Verdict.UNDECIDED),  # the same sign at both ends
        # h -> infinity, but by no power; D > 2 may be below 3.
        (c * log(1 + z) - c * log(1 - z), z, Verdict.UNDECIDED),
        (c ** (D - 3) / (1 - z) - c ** (D - 3) / (1 + z), z, Verdict.UNDECIDED),
        (c / (1 - z) - c / (1 + z), c**z, Verdict.UNDECIDED),
    ],
)
def test_what_is_not_decided_is_left_open(h, mu, verdict):
    found = limit(h, mu)
    assert found.finding.verdict is verdict
    assert (found.potential is None) == (verdict is Verdict.UNDECIDED)


def test_exponents_are_ordered_where_that_holds_for_every_depth():
    assert Fraction(1) < exponent(x + 2)
    assert exponent(x) > 0
    assert exponent(x / (x + 2)) < exponent(x)
    assert exponent(x) + exponent(2 - x) == Fraction(2)
    assert isinstance(exponent(x) * 2, Deep)
    with pytest.raises(Undecided):
        assert exponent(x) < 1


def test_exponents_in_a_depth_above_two():
    assert is_positive_exponent(D / (D - 2))
    assert is_positive_exponent(sympy.Rational(1, 3))
    for open_exponent in (D - 3, 2 - D, D / (2 - D), (D - 3) ** 2, sympy.S.Zero):
        assert not is_positive_exponent(open_exponent)
