"""Where Q is proved to be defined and strictly convex: half-spaces, and what one output reaches."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from sympy import Symbol, oo, sympify

from derive import Parameterization, Verdict
from derive.model.notation import Notation
from derive.potential.branch import stays_away_from_zero
from derive.potential.monotone import along_curve
from derive.potential.piece import Curve
from tests.published import derive_once

CONVOLUTION = ["a*c+b*d", "a*d+b*c"]
SQUARES = ["x**2+y**2", "x*y"]
NEURON = ["a*u", "a*v"]
PRODUCT = ["a*c-b*d", "a*d+b*c"]


def domain(d):
    (piece,) = d.potential.pieces
    assert piece.domain is not None
    return piece.domain


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start", "walls", "conditions"),
    [
        (SQUARES, None, ["beta1 - 2*beta2", "beta1 + 2*beta2"], []),
        (CONVOLUTION, None, [], []),  # k1 > 0 and k2 > 0 are assumed
        (PRODUCT, None, [], ["a_0**2 + b_0**2 - c_0**2 - d_0**2"]),
        (["x+y", "x-y"], None, [], []),
        (NEURON, None, None, []),
        (NEURON, {"a": "2", "u": "1", "v": "0"}, [], []),
        (["x", "x*y"], {"x": "1", "y": "1"}, None, []),
        (CONVOLUTION, {"a": "2", "b": "1/2", "c": "0", "d": "1"}, [], []),
        (
            CONVOLUTION,
            {"a": "2", "b": "1", "c": "2", "d": "1"},
            ["beta1 + beta2", "beta1 - beta2"],
            [],
        ),
        (NEURON, {"a": "1", "u": "2", "v": "0"}, None, []),
        (["a**2-b**2", "2*a*b"], None, None, []),
    ],
)
def test_half_spaces(outputs, start, walls, conditions):
    """Or a hole, or open signs: a u with |u| > |a| at the start has no beta = 0, nor has the square
    of a complex number."""
    found = domain(derive_once(outputs, start))
    assert found.undecided == (("leaf",) if walls is None else ())
    assert found.exact == (walls is not None)
    assert all(wall.oriented for wall in found.walls)
    assert sorted(str(wall.form) for wall in found.walls) == sorted(walls or [])
    assert sorted(map(str, found.unless)) == sorted(conditions)


def test_every_start_lies_inside():
    d = derive_once(SQUARES)
    walls = [wall.form for wall in domain(d).walls]
    rng = Random(3)
    for _ in range(40):
        x, y = (Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(2))
        inside = [w.subs(dict(zip(d.beta, (x**2 + y**2, x * y), strict=True))) for w in walls]
        assert all(v > 0 for v in inside) == (abs(x) != abs(y))


BALANCED = "unless `u_0 - v_0 = 0` or `u_0 + v_0 = 0`"
"""From there u = v or u = -v, and u*v keeps its sign."""


CRITICAL = "the interval around $beta_0$ on which $K$ is positive and finite"
TIED = {"start": {"p": "a", "m": "a"}}
AT_ONE = {"start": {"p": "1", "m": "1"}}
WORDS = [
    # All in F and K is a power of beta, so beta = 0 ends them; but for a sum this is not known.
    ("w**D", {"positive": ["w"]}, "`beta > 0`"),
    ("w**D + w", {"positive": ["w"]}, f"{CRITICAL}, as far as $F$ is smooth"),
    ("w**(2/(2 - t))", {"positive": ["w"]}, "`beta > 0`"),
    ("u*v", {"start": {"u": "1 + a**2", "v": "1"}}, "all real $beta$"),  # a != 0 is assumed
    ("u*v", {"start": {"u": "a", "v": "0"}}, "all real $beta$"),  # K(w_0) = a**2
    ("u*v", {"start": {"u": "1", "v": "1"}}, "`beta > 0`"),
    # K = 8 p m/(12 p m - 1) has a pole where 12 p m = 1, between the walls +-(p_0^2 + m_0^2).
    ("p**2 - m**2", {**AT_ONE, "mirror": "p**4 + p*m + m**4"}, f"{CRITICAL}, `-2 < beta < 2`, "
     "as far as the learning rates of the weights are positive and finite"),
    ("p**2 - m**2", {**AT_ONE, "mirror": "p**2 + p*m + m**2"}, "all real $beta$"),
    # K = 1, and w is infinite at the ends.
    ("atan(w)", {"rates": {"w": "(1 + w**2)**2"}}, "`-pi/2 < beta < pi/2`"),
    ("-1/w", {"rates": {"w": "w**4"}}, "the $beta$ that the leaf of $w_0$ reaches while $J$ "
     "has full rank, the `beta` on the same side of `0` as `beta_0`"),
    ("w**2", {"rates": {"w": "w"}}, "`beta > 0`"),
    ("p**2 - m**3", {}, "all real $beta$ unless `p_0 = 0`"),  # from p_0 = 0 it is -m**3 < 0
    ("a**2 - exp(c)", {}, "all real $beta$ unless `a_0 = 0`"),
    # No sum of squares is positive.
    ("a**2 + b**2 - exp(c)", {}, "all real $beta$ unless `a_0**2 + b_0**2 = 0`"),
    ("exp(a) + c*u", {}, "all real $beta$ unless `c_0 - u_0 = 0`"),
    ("a**2 + c", {}, "all real $beta$"),  # which c alone takes to both ends
    ("W + a*b", {}, "all real $beta$"),
    ("a**2 + exp(c)", {}, "`beta > 0`"),
    ("exp(p) - exp(m)", {}, "all real $beta$"),
    ("p**(4/3) - m**(4/3)", TIED, "`-4*a**(4/3) < beta < 4*a**(4/3)`"),
    ("p**(3/2) - m**(3/2)", TIED, "`-8*a**(3/2) < beta < 8*a**(3/2)`"),
    ("w**2", {}, "`beta > 0`"),
    ("exp(w)", {}, "`beta > 0`"),
    ("tanh(w)", {}, "`-1 < beta < 1`"),
    ("1/(1+w**2)", {}, "`0 < beta < 1`"),
    ("a*b", {}, "all real $beta$"),
    ("a*b + 1", {}, "all real $beta$"),
    ("sqrt(2)*sinh(w) + 1", {}, "all real $beta$"),
    ("w + w**3", {}, "all real $beta$"),
    ("sqrt(1+w)", {}, "`beta > 0`"),
    ("1/w", {}, "the `beta` on the same side of `0` as `beta_0`"),
    ("sqrt(a**2+b**2)", {}, "`beta > 0`"),
    ("sqrt(2)*cosh(w) + 1", {}, "`beta > 1 + sqrt(2)`"),
    ("w**3 - w", {}, "the interval around $beta_0$ on which $K$ is positive and finite"),
    ("atan(w)", {}, "`-pi/2 < beta < pi/2`"),
    ("u*v**(1/2)", {}, "all real $beta$, as far as $F$ is smooth"),
    ("atan(u/v)", {}, "`-pi/2 < beta < pi/2`"),  # F jumps where v = 0
    ("u**2*v**2", {}, "`beta > 0`"),
    ("u**2*v**2*w**2", {}, "`beta > 0`"),
    ("u**(3/2)*v**(3/2)", {}, "`beta > 0`"),
    ("sqrt(a*b)", {}, "`beta > 0`"),
    ("sqrt(u)*sqrt(v)", {}, "`beta > 0`"),
    ("w/sqrt(1+w**2)", {}, "`-1 < beta < 1`"),
    ("tanh(u*v)", {}, f"`-1 < beta < 1` {BALANCED}"),
    ("3 - 2*sigmoid(u*v)", {}, f"`1 < beta < 3` {BALANCED}"),
    ("exp(-w**2)", {}, "`0 < beta < 1`"),
    ("1/(1 + u**2*v**2)", {}, "`0 < beta < 1`"),
    ("1/(exp(a) + exp(b))", {}, "`beta > 0`"),
    ("log(u*v)", {}, "all real $beta$"),
    ("asinh(u*v)", {}, f"all real $beta$ {BALANCED}"),
    # v may cross 0, where u does not.
    ("u**2*v", {}, "the interval around $beta_0$ on which $K$ is positive and finite"),
]  # fmt: skip
INEXACT = "as far as", "around", "reaches"


@pytest.mark.every(4)
@pytest.mark.parametrize(("output", "given", "where"), WORDS)
def test_the_domain_of_one_output_in_words(output, given, where):
    """sqrt(a**2 + b**2) has K = 1 and no beta < 0: what K says of the domain is not all."""
    found = domain(derive_once([output], **given))
    assert found.where == where
    assert found.words.endswith("$Q$ is strictly convex")
    assert found.exact != any(words in where for words in INEXACT)
    assert ("kernel" in found.undecided) == (CRITICAL in where)


@pytest.mark.parametrize(
    ("output", "end"),
    [("p**(4/3) - m**(4/3)", "4*a**(4/3)"), ("p**(3/2) - m**(3/2)", "8*a**(3/2)")],
)
def test_a_fractional_power_ends_where_a_base_reaches_0(output, end):
    """Along p**(2/3) + m**(2/3) = 2 a**(2/3) the base m is 0 at beta = (2 a**(2/3))**2."""
    q = derive_once([output], **TIED).potential.numeric({"a": "1/2"})
    edge = float(eval(end, {"a": 0.5}))
    inside, outside = edge * np.linspace(-0.999999, 0.999999, 401), edge * np.array([-1.001, 1.1])
    for found in (q, q.gradient, lambda b: q.bregman(b, 0 * b)):
        assert np.isfinite(found(inside)).all()
        assert np.isnan(found(outside)).all()
    slopes = q.gradient(edge * np.array([-0.9, 0.9]))
    assert np.allclose(q.inverse_gradient(slopes), edge * np.array([-0.9, 0.9]), rtol=1e-12)
    assert np.isnan(q.inverse_gradient(1.2 * slopes)).all()


def test_a_kernel_with_a_pole_at_0():
    d = derive_once(["sqrt(1+w**2)"])
    assert d.verdict is Verdict.PROVED
    assert [wall.end(*d.beta) for wall in domain(d).walls] == [1]  # 0 and -1 lie beyond
    q = derive_once(["sqrt(1+w**2)"], {"w": "1"}).potential.numeric({})
    assert np.isnan(q.gradient([-2.0, 0.5, 0.99])).all()
    assert np.isfinite(q.gradient([1.01, 2.0])).all()


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        ({"a": "1 + s**2", "u": "s"}, True),
        ({"a": "1 + s**2", "u": "2*s"}, False),  # a^2 - u^2 = (1 - s^2)^2
        ({"a": "s", "u": "0"}, False),
        ({}, False),
    ],
)
def test_a_weight_stays_away_from_zero_where_a_law_is_positive_for_every_start(start, kept):
    metric = derive_once("a*u", start).blocks[0].metric
    assert stays_away_from_zero(metric, metric.parameterization.field.named("a")) is kept


@pytest.mark.parametrize(
    ("output", "where"),
    [
        ("1/p - 1/m", "all real $beta$"),
        ("exp(2*p) - exp(-m)", "all real $beta$"),
        ("log(u) + v", "all real $beta$"),
        ("u**4 + log(v)", "all real $beta$"),
        ("1/b + a**2", "`beta > 0`"),
        ("sqrt(p) - sqrt(m)", "the `beta` on the same side of `sqrt(p_0)*(m_0**(3/2)/p_0**(3/2) +"
         " 1)**(1/3)` and `-sqrt(m_0)*(1 + p_0**(3/2)/m_0**(3/2))**(1/3)` as `beta_0`"),
        # What a start must not make 0 is too long to be read; an exponent in letters has no order.
        ("a*sqrt(a**2 + b**2)", "the $beta$ that the interval of `z` gives"),
        ("p**D - m**D", "the $beta$ that the interval of `z` gives"),
    ],
)  # fmt: skip
def test_the_ends_of_a_curve_are_expanded(output, where):
    assert domain(derive_once([output])).where == where


@pytest.mark.parametrize(
    ("h", "walls"),
    [
        # However slow an exponential is, it is beyond every power.
        ("z**3*exp(-z/10**8) + exp(-z)", ["beta"]),
        ("z**3*exp(z/10**8) - exp(z)", ["-beta"]),
        ("z - exp(-z/10**8)", []),
        ("exp(-k*z)", None),
    ],
)
def test_an_exponential_is_beyond_every_power_at_an_end(h, walls):
    notation = Notation(Parameterization.parse(["w**2"]))
    z = Symbol("z", real=True)
    curve = Curve(z, sympify(h, {"z": z}), (-oo, oo))
    found = along_curve(derive_once(["w**2"]).potential.pieces[0], curve, notation)
    assert ([str(w.form) for w in found.walls] if not found.undecided else None) == walls


def test_a_pole_that_a_root_removes_is_no_end():
    """1/(1 + 1/sqrt(G)) = (G - sqrt(G))/(G - 1) passes 1/2 at G = 1."""
    (piece,) = derive_once("1/(1 + (1/(a*b))**(1/2))").potential.pieces
    assert not piece.domain.walls or "beyond" in piece.domain.undecided
    (known,) = derive_once("1/sqrt(a*b)").potential.pieces
    assert known.domain.exact


def test_starts_from_which_an_end_is_at_infinity_are_told():
    """K is infinite at beta = -D/(4 b_0^2 (a_0^2 + c_0^2)), from b_0 = 0 nowhere."""
    (piece,) = derive_once("D/(a**2 - b**2 + c**2)**2", parameters=["D"]).potential.pieces
    assert {"b_0", "a_0**2 + c_0**2"} <= {*map(str, piece.domain.unless)}
