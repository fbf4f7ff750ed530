"""Small starts beside a linear term: their limits at beta that grow are Huber's functions."""

import random
from dataclasses import replace

import pytest
import sympy

from derive import Parameterization
from derive.limits.find import regimes
from tests.witnesses import WITNESSES, Refuted, changed, repeated

A = "alpha"
SKIPS = {
    "a skip connection": (["W + a*b"], {"W": "0", "a": A, "b": "0"}, "Abs(x)*t - t**2/2", ()),
    "a free start": (["W + a*b"], None, "Abs(x)*t - t**2/2", ("a_0 - b_0", "a_0 + b_0")),
    "scaled": (["2*W + 3*a*b"], {"W": "0", "a": A, "b": A}, "x*u - 2*u**2", ()),
    "one side": (["W + a**2"], {"W": "0", "a": A}, "x*v - v**2/2", ()),
    "two rates": (
        ["W + a**2 - 2*b**2"], {"W": "0", "a": A, "b": "alpha**3"}, "x*w - w**2/2", (),
    ),
}  # fmt: skip
"""Sums with a linear term, and their limits at beta = N x; t, u, v, w are the slopes there."""


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SKIPS)
def test_beside_a_linear_term_small_starts_have_hubers_function(name):
    outputs, start, Q, nonzero = SKIPS[name]
    p = Parameterization.parse(outputs, start, [A] if start else [])
    r = regimes(p, A)
    (limit,) = r.growing
    _, x = limit.beta
    size, third = sympy.Abs(x), sympy.Rational(1, 3)
    slopes = {
        "t": sympy.Min(1, size),
        "u": sympy.Min(third, x / 4),
        "v": sympy.Min(sympy.S.Half, x),
        "w": sympy.Max(-sympy.Rational(3, 4), sympy.Min(sympy.S.Half, x)),
    }
    assert sympy.expand(limit.Q - sympy.sympify(Q, {"x": x, **slopes})) == 0
    assert (str(limit.size), tuple(map(str, limit.nonzero))) == ("log(1/alpha)", nonzero)
    (told,) = r.says("growing limit")
    assert WITNESSES[told.kind](r, told, random.Random(1)) > 0
    false = {"slope": limit.slope * 2}, {"slope": x}, {"slope": sympy.sign(x)}
    for change in false if name == "a skip connection" else false[:1]:
        wrong = changed(told, limit=replace(limit, **change))
        with pytest.raises(Refuted):
            repeated(WITNESSES[told.kind], r, wrong)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["a*b"], {"a": A, "b": "0"}),  # no linear term
        (["W + a*b"], {"W": "0", "a": "1", "b": A}),  # no small start
        (["W + a*b*c"], None),  # no exponentials
        (["W + a*b"], {"W": "1/alpha", "a": A, "b": "0"}),  # beta_0 is larger than N
    ],
)
def test_others_have_no_such_limit(outputs, start):
    assert regimes(Parameterization.parse(outputs, start, [A] if start else []), A).growing == ()
