"""Limits in norms, in separate coordinates, and at beta that grow, which are Huber's functions."""

import random
from dataclasses import replace

import pytest
import sympy
from sympy import exp, sqrt

from derive import Parameterization, regimes, scale_start
from derive.limits.find import norm_limit
from derive.limits.fixed_beta import ClosedGradient
from derive.limits.limit import read_point, with_scale
from derive.potential.separation import find_separation
from derive.verdict import Verdict
from numerics.confirm.limits import confirm_limits
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, changed, repeated


def limits_of(model):
    return regimes(derive_once(with_scale(model, "alpha")), "alpha")


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("text", "start", "names"),
    [
        ("a*u", None, ["anti-NTK", "kernel"]),
        ("a*u", {"a": "alpha", "u": "1"}, ["intermediate", "kernel"]),
        ("a*b*u", None, ["anti-NTK", "kernel"]),
        ("a*b*u", {"a": "alpha", "b": "alpha", "u": "0"}, ["anti-NTK", "kernel"]),
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


x, y = betas = sympy.symbols("beta1 beta2", real=True)
c, z = sympy.Symbol("c", positive=True), sympy.Symbol("z", real=True)
s = sqrt(x**2 + y**2)


def limit(psi, slopes, at="0"):
    gradient = [psi * b / s + w for b, w in zip(betas, slopes, strict=True)]
    return norm_limit(gradient, betas, read_point("c", at), frozenset("c"))


@pytest.mark.parametrize(
    ("psi", "slopes", "error"),
    [
        (c * exp(s**2 / c**2), (-c * z, c), sqrt(z**2 + 1) * exp(-(s**2) / c**2)),
        (s * exp(s / c) / c**3, (1, -1), sqrt(2) * c**3 * exp(-s / c) / s),
        (s, (c, 2 * c), sqrt(5) * c / s),
        (s, (0, 0), None),
    ],
)
def test_a_linear_term_that_is_outgrown_leaves_the_l2_norm(psi, slopes, error):
    found = limit(psi, slopes)
    assert found.regime == "anti-NTK"
    assert found.potential.gradient == (x / s, y / s)
    assert sympy.simplify(found.unit / psi) == 1
    assert found.error == error or sympy.simplify(found.error / error).free_symbols <= {z}


@pytest.mark.parametrize(
    ("psi", "slopes", "at"),
    [
        (c * exp(s**2 / c**2), (exp(2 / c**2), 0), "0"),  # not outgrown where |beta| < sqrt(2)
        (c * exp(s**2 / c**2), (c**2, 0), "oo"),
        (exp(-s / c), (c, 0), "0"),
        (s, (1, 0), "0"),
        (-s, (c, 0), "0"),
        (s * (1 + x**2), (c, 0), "0"),  # not radial
    ],
)
def test_what_is_not_outgrown_is_left_open(psi, slopes, at):
    assert limit(psi, slopes, at) is None


@pytest.mark.parametrize(
    ("outputs", "forms"),
    [
        (["u*x + v*y", "u*y + v*x"], [[1, 1], [1, -1]]),
        (["p**2 - m**2 + w**2", "p**2 - m**2 - 2*w**2"], [[2, 1], [1, -1]]),
        (["exp(u) + v**2", "3*exp(u) - v**2"], [[3, -1], [1, 1]]),
    ],
)
def test_coordinates_of_whole_numbers_are_found_and_proved(outputs, forms):
    found = find_separation(Parameterization.parse(outputs))
    assert found.forms == sympy.ImmutableMatrix(forms)
    assert len(found.evidence) == 3
    for e in found.evidence:
        assert e.right == "0"
        assert e.left != "0"
        assert sympy.expand(sympy.sympify(e.left)) == 0


@pytest.mark.parametrize(
    "outputs",
    [
        ["a*u", "a*v"],  # a neuron: no coordinates are separate
        ["a*c - b*d", "a*d + b*c"],  # K is a multiple of 1: every pair is orthogonal
        ["u + v", "u - 2*v"],  # K is constant
        ["u*x + v*y", "u*y + 2*v*x"],  # the eigenvectors are not rational, or K does not turn
        ["w**2 + v", "v"],  # K is not diagonal with a common basis
    ],
)
def test_what_does_not_separate_is_left_as_it_is(outputs):
    assert find_separation(Parameterization.parse(outputs)) is None


@pytest.mark.slow
def test_signs_of_separate_coordinates_are_their_own():
    p = scale_start(Parameterization.parse(["u*x + v*y", "u*y + v*x"]), "c")
    (limit,) = regimes(derive_once(p), "c", (0,)).limits
    assert limit.finding.verdict is Verdict.PROVED
    x1, x2 = limit.coordinates
    assert sympy.Abs(x1) / 2 + sympy.Abs(x2) / 2 == limit.potential.Q
    assert limit.below == (-sympy.S.Half, -sympy.S.Half)
    assert limit.basis == sympy.ImmutableMatrix([[1, 1], [1, -1]]) / 2


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
