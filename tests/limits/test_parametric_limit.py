"""Limits of parametric Q: h(z) = beta is solved as c -> 0, or what is not decided is left open."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from sympy import Symbol, log

from derive.exact.elementary_signs import Undecided
from derive.limits.asymptotics import Deep, exponent, is_positive_exponent
from derive.limits.fixed_beta import ClosedGradient, closed_form_limit
from derive.limits.limit import read_point
from derive.potential.piece import Curve
from derive.verdict import Verdict

c, z = Symbol("c", positive=True), Symbol("z", real=True)
beta = Symbol("beta", real=True)
D = Symbol("D", real=True)
x = Symbol("x", positive=True)
HALF = sympy.Rational(1, 2)


def limit(h, mu, at="0", positive=()):
    curve, depths = Curve(z, h, (sympy.Integer(-1), sympy.Integer(1))), {D: 2 + x}
    at_depth = Curve(z, h.xreplace(depths), curve.interval)
    gradient = ClosedGradient(
        (mu.xreplace(depths),),
        (beta,),
        (True,),
        frozenset({"c", *positive}),
        curves=(at_depth,),
        depths=depths if (h * mu).has(D) else {},
    )
    return closed_form_limit(gradient, read_point("c", at), sympy.ImmutableMatrix([[1]]))


def test_a_power_that_vanishes_gives_the_slopes_at_the_ends():
    found = limit(c**2 / (1 - z) - c**2 / (1 + z), z / c)
    assert found.regime == "rich"
    assert found.unit == 1 / c
    # mu = z: 1 - z ~ c^2/beta.
    assert (found.error, found.sharp) == (c**2, True)


def test_a_depth_stands_for_every_number_above_two():
    q = D / (D - 2)
    found = limit(c**D * (1 - z) ** -q - c**D * (1 + z) ** -q, c ** (2 - D) * z)
    assert (found.regime, found.depths, found.sharp) == ("rich", (D,), True)
    assert sympy.simplify(found.unit - c ** (2 - D)) == 0
    assert sympy.simplify(found.error - c ** (D - 2)) == 0
    (series,) = (e.right for e in found.finding.evidence)
    for depth in (sympy.Rational(5, 2), sympy.Integer(3), sympy.Integer(6)):
        small, at = sympy.Rational(1, 10**12), sympy.Rational(3, 7)
        terms = sympy.sympify(series.split(" + o(")[0] + ")", {"c": c, "beta": beta, "D": D})
        told = sympy.N(terms.subs({D: depth, c: small, beta: at}), 100)
        h = (c**D * (1 - z) ** -q - c**D * (1 + z) ** -q).subs({D: depth, c: small})
        with mpmath.workdps(100):
            # 1 - z is small: it is what is solved for.
            solve = sympy.lambdify(z, h.subs(z, 1 - z) - at, "mpmath")
            guess = mpmath.mpf(str(sympy.N((at / small**depth) ** (-1 / q.subs(D, depth)), 100)))
            gap = mpmath.findroot(solve, (guess, guess * (1 + mpmath.mpf(10) ** -9)))
            slope = (1 - gap) * mpmath.mpf(str(sympy.N(small ** (2 - depth), 100)))
            rate = abs(mpmath.mpf(str(told)) / slope - 1)
        assert rate < mpmath.mpf(10) ** float(-12 * (depth - 2) - 3)


def test_ends_that_differ_are_not_called_l1():
    found = limit(c / (1 - z) - c / (1 + z), z + HALF)
    assert found.finding.verdict is Verdict.PROVED
    assert found.regime == "intermediate"
    assert found.potential.gradient == (sympy.Rational(3, 2),)
    assert found.below == (-HALF,)


@pytest.mark.parametrize(
    ("h", "mu", "at"),
    [
        (c * z, z, "0"),  # no pole
        (c / (1 - z) + c / (1 + z), z, "0"),  # the same sign at both ends
        (c * log(1 + z) - c * log(1 - z), z, "0"),  # h -> infinity, but by no power
        (c ** (D - 3) / (1 - z) - c ** (D - 3) / (1 + z), z, "0"),  # D > 2 may be below 3
        (c / (1 - z) - c / (1 + z), c**z, "0"),
    ],
)
def test_what_is_not_decided_is_left_open(h, mu, at):
    found = limit(h, mu, at)
    assert found.finding.verdict is Verdict.UNDECIDED
    assert found.potential is None


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
