"""Limits of vector models in every dimension, by those in a plane."""

from dataclasses import replace

import pytest
import sympy
from sympy import Rational, sqrt

from derive import Parameterization, regimes
from derive.limits.fixed_beta import ClosedGradient
from derive.limits.initialization import with_scale
from numerics.confirm.limits import confirm_limits
from tests.published import derive_once


def limits_of(model):
    return regimes(derive_once(with_scale(model, "alpha")), "alpha")


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("text", "start", "names"),
    [
        ("a*u", None, ["anti-NTK", "kernel"]),
        ("a*u", {"a": "alpha", "u": "1"}, ["intermediate", "kernel"]),
        ("a*b*u", None, ["anti-NTK", "kernel"]),
        ("c*v/norm(v)", None, ["anti-NTK", "kernel"]),
        ("a**2*u", {"a": "2*alpha", "u": "alpha"}, ["anti-NTK", "kernel"]),
    ],
)
def test_limits_in_every_dimension(text, start, names):
    vector = "v" if "v" in text else "u"
    positive = ("alpha",) * bool(start)
    r = limits_of(Parameterization.parse([text], start, positive, vectors=[vector]))
    assert [limit.regime for limit in r.limits] == names
    confirmed = confirm_limits(r)
    assert len(confirmed) == 2
    assert all(c.passed for c in confirmed), [c.report() for c in confirmed]
    assert "in every dimension" in r.to_text()


def test_limits_in_every_dimension_are_those_of_three():
    """Q in R^3 with the same start in another direction, at a point drawn once."""
    r = limits_of(Parameterization.parse(["a*u"], {"a": "2*alpha", "u": "3*alpha"}, vectors=["u"]))
    start = {"a": "2*alpha", "u1": "alpha", "u2": "2*alpha", "u3": "-2*alpha"}
    space = Parameterization.parse(["a*u1", "a*u2", "a*u3"], start, ["alpha"])
    explicit = regimes(derive_once(space), "alpha")
    beta = sympy.Matrix([Rational(3, 2), Rational(-1, 5), Rational(4, 7)])
    unit = sympy.Matrix([1, 2, -2]) / 3
    along = beta.dot(unit)
    length = sqrt(beta.dot(beta) - along**2)
    for plane, space in zip(r.limits, explicit.limits, strict=True):
        here = dict(zip(plane.coordinates, (along, length), strict=True))
        there = dict(zip(space.coordinates, beta, strict=True))
        ours, theirs = plane.potential.Q * plane.unit, space.potential.Q * space.unit
        assert sympy.simplify(ours.subs(here) - theirs.subs(there)) == 0


def test_a_bound_is_said_where_no_logarithm_can_stand_before_it():
    c = sympy.Symbol("c", positive=True)
    start = {"a": "c", "u1": "3/c", "u2": "4/c"}
    model = Parameterization.parse(["a*u1", "a*u2"], start, ("c",))
    limit, _ = regimes(derive_once(model), "c").limits
    assert (limit.error.subs(sympy.Symbol("c"), c), limit.sharp) == (c**4, False)
    x = sympy.Symbol("x", real=True)
    gradient = ClosedGradient((x / sqrt(abs(x) + c),), (x,), (True,), frozenset("c"))
    assert gradient.is_algebraic
    for e in (sympy.asinh(x / c), sympy.log(x + c), c**x, sympy.exp(x)):
        assert not replace(gradient, entries=(e,)).is_algebraic
