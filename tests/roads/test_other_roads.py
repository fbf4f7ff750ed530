"""Q derived once more, in numbers: along commuting fields, one after the other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from witness_flow import Model, integrate, number

from derive import Parameterization, Verdict
from tests.published import derive_once

COMMUTING = [
    ["a*c+b*d", "a*d+b*c"],
    ["x**2+y**2", "x*y"],
    ["p**2+q**2+r**2+s**2", "2*p*r+2*q*s"],
    ["x+y", "x-y"],
    ["(x+y)**3+(x-y)**3", "(x+y)**3-(x-y)**3"],
    ["x**2+y**2+2*z**2", "x*y"],
    ["3*x**2/2+x*y+3*y**2/2", "x**2-6*x*y+y**2"],
]
WARPED = [["a*u", "a*v"], ["a*b*u", "a*b*v"]]
SINGLE = ["p**2-m**2", "p**3-m**3", "u*v-x*y", "w**3", "w**2+5", "2*x+3*y", "u*v**2", "w*exp(s)"]
TIMES = ["1/20", "-1/30"]


def gradient_at_dual_time(outputs: list[str]) -> np.ndarray:
    """Return grad Q at beta = h(mu), grad F_a followed for the time mu_a, one after the other."""
    weights = Parameterization.parse(outputs).weights
    start = {w: f"{k + 2}/3" for k, w in enumerate(weights)}
    d = derive_once(Parameterization.parse(outputs, start))
    assert d.verdict is Verdict.PROVED
    model = Model.of(outputs, weights)
    with mpmath.workdps(20):
        w = [number(x) for x in start.values()]
        for a, time in enumerate(TIMES[: model.d]):
            w = integrate(lambda w, a=a: model.J(*w)[a], w, number(time))
        beta = [float(x) for x in model.F(*w)]
    return d.potential.numeric().gradient(beta)


@pytest.mark.every(8)
@pytest.mark.parametrize("outputs", [*COMMUTING, *([f] for f in SINGLE)])
def test_in_the_dual_times_of_commuting_fields_the_gradient_is_the_time(outputs: list[str]) -> None:
    """Li, Wang, Lee, Arora 2022, section 4: Q is the Legendre transform of H, grad H = h."""
    expected = [float(sympy.Rational(t)) for t in TIMES[: len(outputs)]]
    assert gradient_at_dual_time(outputs) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("outputs", WARPED)
def test_where_fields_do_not_commute_it_is_not(outputs: list[str]) -> None:
    expected = [float(sympy.Rational(t)) for t in TIMES]
    assert gradient_at_dual_time(outputs) != pytest.approx(expected, rel=1e-3)
