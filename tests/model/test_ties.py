"""Special starts: weights that stay tied, starts that beta does not tell apart, orientations."""

import numpy as np
import pytest
import sympy

from derive import Parameterization, Verdict
from derive.errors import InputError
from derive.model.restriction import find_ties
from numerics import crosscheck, flow, interpolate
from tests.published import derive_once

TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]


ONES = {"u": "1", "v": "1"}


@pytest.mark.parametrize(
    ("outputs", "start", "rates"),
    [
        (TWO, {"a": "3", "b": "4", "u1": "1", "u2": "2", "v1": "2", "v2": "1"}, {}),
        (TWO, {"a": "1", "b": "1", "u1": "1", "u2": "2", "v1": "1", "v2": "3"}, {}),
        (TWO, {}, {}),
        # Equal weights that move differently, and a single one that leaves the origin.
        (["exp(u) - exp(v)"], ONES, {}),
        (["u*exp(v)"], ONES, {}),
        (["tanh(u)*v"], ONES, {}),
        (["sqrt(u**2 + v**2)"], ONES, {}),
        (["w + w**3"], {"w": "0"}, {}),
        (["exp(w)"], {"w": "0"}, {}),
        (["u*v"], ONES, {"u": "2", "v": "1/2"}),
        (["u*v"], ONES, {"u": "1 + u**2", "v": "1"}),
        (["u*v"], ONES, {"u": "u**2", "v": "v"}),
    ],
)
def test_what_is_not_aligned_or_moves_differently_has_no_ties(outputs, start, rates):
    p = Parameterization.parse(outputs, start, rates=rates)
    assert find_ties(p) is None
    assert outputs is not TWO or derive_once(p).verdict is Verdict.REFUTED


@pytest.mark.slow
def test_symbolic_ratios_become_parameters():
    start = {"a": "s", "b": "k*s", "u1": "t", "u2": "0", "v1": "k*t", "v2": "0"}
    d = derive_once(TWO, start=start)
    assert d.verdict is Verdict.PROVED
    assert "k" in d.potential.parameterization.parameters
    assert crosscheck(d, digits=20).passed
    assert "left out: b = k*a" in d.to_text()
    assert "b = a k" in d.to_latex()


def test_equal_weights_are_followed_as_one():
    """Q is that of ``p**2 - m**2`` with the rates 1/2: what u*v - x*y has in all its weights."""
    start = dict.fromkeys("uvxy", "alpha")
    d = derive_once("u*v - x*y", start, ["alpha"])
    assert (d.verdict, dict(d.ties).keys()) == (Verdict.PROVED, {"v", "y"})
    start |= {"v": "gamma", "y": "gamma"}
    both = derive_once("u*v - x*y", start, ["alpha", "gamma"])
    assert not both.ties
    gaps = zip(d.potential.gradient, both.potential.gradient, strict=True)
    values = {"alpha": sympy.Rational(3, 4), "gamma": sympy.Rational(3, 4)}
    for beta in (sympy.Rational(-2, 3), sympy.Rational(5, 2)):
        known = values | {d.beta[0].name: beta}
        for gap in gaps:
            ours, theirs = (
                g.subs({s: known[s.name] for s in g.free_symbols}).evalf(30) for g in gap
            )
            assert abs(ours - theirs) < 1e-25


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("F", "start", "rates", "kind"),
    [
        ("u**4 + v**4", {"u": "x", "v": "x"}, {}, "explicit"),
        ("u*v*w", dict.fromkeys("uv", "x"), {}, "quadrature"),
        ("exp(u) + exp(v)", {"u": "x", "v": "x"}, {}, "explicit"),
        ("u*v", {"u": "2", "v": "1"}, {"u": "2", "v": "1/2"}, "explicit"),
        ("tanh(u*v)", {"u": "2/3", "v": "2/3"}, {}, "explicit"),
        ("u*v", {"u": "1", "v": "1"}, {"u": "eta", "v": "eta"}, "explicit"),
        ("u*v", {"u": "x", "v": "x"}, {"u": "u**2", "v": "v**2"}, "explicit"),
        ("u**D*v**D", {"u": "x", "v": "x"}, {}, "explicit"),
        ("exp(u) + exp(v)", {"u": "0", "v": "0"}, {}, "explicit"),  # which leaves the origin
        ("u*v", {"u": "x", "v": "x"}, {"u": "1/v", "v": "1/u"}, "explicit"),
    ],
)
def test_fewer_weights_have_the_simpler_form(F, start, rates, kind):
    """The flow is that of one weight, in the metric that the line has from that of all."""
    d = derive_once(F, start, ["x"] * ("x" in start.values() and not rates), rates=rates)
    assert dict(d.ties).keys() == {"v"}
    assert (d.verdict, d.potential.pieces[0].kind) == (Verdict.PROVED, kind)
    assert crosscheck(d, digits=20).passed


SIDES = [("(w**2)**(1/3)", "-1"), ("(w**2)**(1/4)", "-1"), ("((w-2)**2)**(1/3)", "1")]


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), SIDES)
def test_a_root_of_an_even_power_is_that_of_the_side_of_the_start(output, start):
    """All three are |x|^k from |x| = 1; the flow of the weights agrees, and ends at x = 0."""
    p = Parameterization.parse([output], start={"w": start})
    d = derive_once(p)
    same = derive_once(output, start={"w": "3" if start == "1" else "1"})
    assert d.potential.gradient == same.potential.gradient
    (piece,) = d.potential.pieces
    assert piece.domain.where == "`beta > 0`"
    twice = [output, output.replace("w", "v")]
    two = Parameterization.parse(twice, start={"w": start, "v": start})
    q = derive_once(two).potential.numeric({})
    reached = flow(two, [[1.0, 0.5]], [2.5], start={"w": start, "v": start}, digits=12)
    found = interpolate(q, [[1.0, 0.5]], [2.5]).value
    assert np.allclose(found, np.array(reached.limit, dtype=float), rtol=1e-9)


@pytest.mark.parametrize(
    ("output", "start", "why"),
    [
        *((f"(w**2)**({n})", {}, "has a kink") for n in ("1/3", "1/4", "1/2")),
        *((f"w**({n})", {"w": "-1"}, "root of a negative number") for n in ("1/3", "1/2")),
    ],
)
def test_odd_and_even_roots_without_a_sign_or_of_a_negative_one_are_refused_alike(
    output, start, why
):
    with pytest.raises(InputError, match=why):
        Parameterization.parse([output], start)
