"""Signs: those of the start are decided, those along the flow kept or assumed, Q on either side."""

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import sympy

from derive import InputError, Parameterization, Verdict
from derive.certificate.checking.check import Rejected, check_text
from derive.components import in_components
from numerics import crosscheck, flow, interpolate
from tests.certificate.certificates import assert_rejected
from tests.conditions import texts
from tests.published import certified_once, derive_once

NORMALISED = [
    (("a/(a+b+c)", "b/(a+b+c)"), ("1", "1", "9/10")),
    (("a/(a+b+c)", "b/(a+b+c)"), ("-7/3", "2/3", "3/4")),
    (("a/(a+b+c+e)", "b/(a+b+c+e)"), ("2/5", "11/4", "2/3", "2/5")),
]


def derived(outputs, start):
    return derive_once(outputs, start=named(outputs, start))


def named(outputs, values):
    names = sorted(set("abceuvxyz") & set("".join(outputs)))
    return dict(zip(names, values, strict=True))


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start"), NORMALISED)
def test_the_warp_writes_normalised_outputs_wherever_the_flow_goes(outputs, start):
    d = derived(outputs, start)
    q = d.potential.numeric({})
    assert not [a for piece in d.potential.pieces for a in piece.assumptions]
    for x, to in (([1, 0], -0.15), ([1, 0], 0.2), ([1, -2], 0.3)):
        y = float(np.dot(x, q.beta0)) + to
        limit = flow(d.parameterization, [x], [y], named(outputs, start), 12).limit
        found = interpolate(q, [x], [y])
        assert found.converged
        assert np.allclose(found.value, np.array(limit, dtype=float), atol=1e-8)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "start", "said"),
    [
        ("a*u a*v", None, "a**2 > u**2 + v**2"),
        ("a*u a*v", ("1", "2", "0"), ""),
        ("a*u a*v", ("2", "1", "1"), None),
        ("a*b*u a*b*v", None, "a**2 > b**2 or a**2 > u**2 + v**2"),
        ("x**2*y y*z**2", None, "2*y**2 > x**2 + z**2"),
        ("a*c a*b**2", None, "2*a**2 > b**2 + 2*c**2"),
        ("(a**2-b**2)*u (a**2-b**2)*v", None, "a**2 + b**2 > 2*a*b + 2*u**2 + 2*v**2 or a*b < 0"),
    ],
)
def test_a_condition_is_offered_where_it_can_hold(outputs, start, said):
    outputs = outputs.split()
    given = None if start is None else named(outputs, start)
    d = derive_once(outputs, start=given)
    marker = " keeps its sign along the flow"
    found = [text for text in texts(*d.potential.pieces) if marker in text]
    if said is None:
        assert found == []
        return
    _, _, note = found[0].partition(marker)
    options = note.removeprefix(" (automatic when ").removesuffix(" at the start)").split(" or ")
    assert sorted(options) == said.split(" or ")
    page = d.to_latex()
    assert (" automatic when" in page) == bool(said)
    assert page.count("$") % 2 == 0


OPEN = {"p": "alpha**2", "q": "alpha**2"}
ASSUMED = [
    # That a number is positive is not assumed.
    ("pi*w**2", {}, "w_0 != 0"),
    ("softplus(a) - exp(b)", {"start": {"a": "1", "b": "1"}}, ""),
    ("log(exp(a) + exp(b))", {"start": {"a": "-1", "b": "-1"}}, ""),
    ("exp(u)*v", {}, ""),  # as the pi before an erf is 4 atan(1)
    # Nor that an exponential is not 0, nor twice what is assumed to be positive.
    (["c*a/sqrt(a**2+b**2)", "c*b/sqrt(a**2+b**2)"], {},
     "a_0**2 + b_0**2 > 0; c_0 > 0; c keeps its sign along the flow"),
    # Of sinh(a) = (exp(a) - 1)(exp(a) + 1)/(2 exp(a)) one factor alone may change its sign.
    (["sinh(a)*u", "sinh(a)*v"], {},
     "a keeps its sign along the flow; a_0 > 0"),
    # Automatic when x**2 > y**2, and when y**2 > x**2: never together.
    (["x*y*z", "x*y"], {},
     "x_0 > 0; y_0 > 0; x keeps its sign along the flow; y keeps its sign along the flow"),
    # What a root is of starts positive: a**2*b**(2/3) has x**(1/3) in Q.
    ("(a**3*b)**(2/3)", {}, "a_0**3*b_0 > 0; b_0 > 0"),
    ("(a*b)**(1/3)", {}, "a_0*b_0 > 0"),
    # A start at rest has mu = -oo; sinh(w), which is nowhere at rest, asks nothing.
    ("cosh(w)", {}, "w_0 != 0"),
    ("w*exp(w)", {}, "w_0 + 1 != 0"),
    ("log(cosh(w))", {}, "w_0 != 0"),
    ("sinh(w)", {}, ""),
    # From equal weights delta is 0, and mu another function.
    ("1/(exp(a) + exp(b))", {}, "a_0 - b_0 != 0"),
    ("1/(exp(a) + exp(b) + exp(c))", {},
     "b_0 - c_0 != 0; a_0 - b_0 != 0; a_0 - c_0 != 0"),
    # sqrt((delta - t^3)/t) has the sign of t below it, where b is asked for; u^2 has none.
    ("b**3/(b**2 + a**2)", {}, "a_0 != 0"),
    ("u**2*v", {}, ""),
    ("a**2*b/(1 + b**2)", {}, "b_0 - 1 != 0; b_0 + 1 != 0"),
    # Signs that are open, as positive symbols allow, and below an open exponent.
    ("p**3 - m**3", {"start": {"p": "0", "m": "alpha + 1"}}, "alpha + 1 > 0"),
    ("p**3", {"start": {"p": "alpha - 1"}}, "alpha - 1 > 0"),
    ("p**D + q", {"start": OPEN}, "alpha > 0; D != 0; D - 2 != 0"),
    ("p**D - q**D", {"start": OPEN}, "alpha > 0; D != 0; D - 2 != 0"),
    # What an integral within an integral divides by: delta = b_0^2 - c_0^2.
    ("q**2*sqrt(1 + (b*c)**2)", {},
     "c_0 != 0; b_0 != 0; b_0 - c_0 != 0; b_0 + c_0 != 0"),
    # b sinh(a) has the sign of a b, as what stands before both exponentials has one.
    ("log(sinh(a)*b)", {}, "a_0*b_0 > 0"),
    # Balanced layers keep their signs by their laws.
    ("a*b*c*u", {"start": dict.fromkeys("abcu", "alpha"), "vectors": ["u"]}, "alpha > 0"),
]  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize(("outputs", "given", "said"), ASSUMED, ids=str)
def test_what_always_holds_is_not_assumed(outputs, given, said):
    assert "; ".join(texts(*derive_once(outputs, **given).potential.pieces)) == said


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("outputs", "start", "kept"),
    [
        # b**2 - u**2 - v**2 is the second law less the first of those that are printed.
        ("a*b*u a*b*v", "3 2 1 1", True),
        ("a*b*u a*b*v", "3 1 1 1", False),
        # a**2 - b**2/2 - c**2 is half of the law.
        ("a*c a*b**2", "2 1 1", True),
        ("a*c a*b**2", "1 1 1", False),
    ],
)
def test_a_sum_of_laws_keeps_a_sign_in_the_certificate_too(outputs, start, kept):
    d = derived(tuple(outputs.split()), start.split())
    assert (d.potential.pieces[0].assumptions == ()) is kept
    checked = check_text(d.to_json())
    assert not checked.open
    assert any("keeps its sign" in line for line in checked.theorem) is not kept
    record = json.loads(d.to_json())
    for piece in record["potential"]["pieces"]:
        piece["assumptions"] = [a for a in piece["assumptions"] if "keeps" not in a]
    with pytest.raises(Rejected) if not kept else nullcontext():
        check_text(json.dumps(record))
    # Of sums that are not conserved, or not positive at the start, nothing follows.
    for sums in ([], ["b**2 + 1", "a**2", "-1 - u**2"]) if "sums" in record["certificate"] else ():
        record["certificate"]["sums"] = sums
        assert_rejected(record)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "start", "kept"),
    [
        ("a*u a*v", {"a": "alpha", "u": "0", "v": "0"}, True),
        ("a*u a*v", {"a": "2*s", "u": "s", "v": "s"}, True),
        ("a*u a*v", {"a": "s", "u": "s", "v": "s"}, False),
        ("a*u a*v", {"a": "s + t", "u": "s", "v": "0"}, True),
        ("a*c a*b**2", {"a": "2*s", "b": "s", "c": "s"}, True),
        ("a*c a*b**2", {"a": "s", "b": "s", "c": "s"}, False),
        ("a*b*u a*b*v", {"a": "alpha", "b": "alpha", "u": "0", "v": "0"}, True),
    ],
)
def test_what_a_law_proves_of_a_start_in_symbols_is_not_assumed(outputs, start, kept):
    """As a = alpha > 0 at the start, a**2 >= alpha**2 > 0 all along."""
    positive = sorted({*"st"} & set("".join(start.values())))
    d = derive_once(outputs.split(), start=start, positive=positive)
    (piece,) = d.potential.pieces
    assert any("keeps its sign" in text for text in texts(piece)) is not kept
    assert (piece.domain.convex == "warp assumed") is not kept


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "start", "g"),
    [
        (["a*u1", "a*u2"], {"a": "1 - sqrt(2)", "u1": "1", "u2": "1"}, "-a"),
        (["a*u1", "a*u2"], {"a": "sqrt(2) - 1", "u1": "1", "u2": "1"}, "a"),
        (["a*u1", "a*u2"], {"a": "-log(2)", "u1": "1", "u2": "1"}, "-a"),
        (["a*u1", "a*u2"], {"a": "sin(4)", "u1": "1", "u2": "1"}, "-a"),
        (["a*b*u1", "a*b*u2"], {"a": "1 - exp(1)"}, "-a*b"),
        (["log(a)*u1", "log(a)*u2"], {"a": "1/2", "u1": "1", "u2": "1"}, "-log(a)"),
        (["cos(a)*u1", "cos(a)*u2"], {"a": "2", "u1": "1/2", "u2": "1"}, "-cos(a)"),
    ],
    ids=lambda value: str(value),
)
def test_the_warp_is_positive_at_the_start(outputs, start, g):
    d = derive_once(outputs, start)
    assert (d.verdict, str(d.warping.g)) == (Verdict.PROVED, g)
    for piece in d.potential.pieces:
        assert not any("sqrt(2)" in text or "log(2)" in text for text in texts(piece))


@pytest.mark.parametrize("start", ["1 - sqrt(2)", "-log(2)"])
def test_f_is_not_defined_at_a_negative_number(start):
    with pytest.raises(InputError, match="only where w > 0"):
        derive_once("log(w)", {"w": start})
    d = derive_once("log(w)", {"w": "sqrt(2) - 1"})
    assert d.verdict is Verdict.PROVED


def test_a_root_that_is_not_crossed_is_preferred():
    """g = 1/a is never 0, while u1 crosses 0: Q is written by a."""
    start = {"a": "2", "u1": "1", "u2": "-1"}
    d = derive_once(["u1/a", "u2/a"], start)
    assert not d.potential.pieces[0].assumptions
    q = d.potential.numeric({})
    beta = [-0.1, -0.2]
    length = (1 + beta[0] ** 2 + beta[1] ** 2) ** 0.5
    right = [6**0.5 * beta[0] / length - 1, 6**0.5 * beta[1] / length + 1]
    assert abs(q.gradient(beta) - right).max() < 1e-12


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("larger", "claimed"), [("a + b", True), ("a - b", False), ("b - a", False)]
)
def test_an_interval_whose_end_may_be_on_either_side_is_not_claimed(larger, claimed):
    """From p = a - b the curve of p**3 - m**3 has a pole at z = (b - a)/a: below 0, or above."""
    d = derive_once("p**3 - m**3", start={"p": larger, "m": "a"})
    (piece,) = d.potential.pieces
    assert (d.verdict, piece.kind) == (Verdict.PROVED, "parametric")
    assert bool(piece.curve.interval) is claimed


NEURON = Parameterization.parse(["a*u1", "a*u2"], {"a": "0", "u1": "1", "u2": "-1"})
DATA = [([["3/2", "1/2"]], ["-1"]), ([["3/2", "1/2"]], ["2"])]
"""a' = <u_0, X^T y> is negative at the start for the first, positive for the second."""


def test_both_sides_differ_by_the_slope_of_the_start():
    d = derive_once(["a*u1", "a*u2"], {"a": "0"})
    assert d.verdict is Verdict.PROVED
    above, below = d.potential, d.potential.other_side
    slopes = zip(above.gradient, below.gradient, strict=True)
    assert [str(sympy.expand(y - x)) for x, y in slopes] == ["2*u1_0", "2*u2_0"]
    assert "a > 0 at the limit of the flow" in texts(*above.pieces)
    assert "-a > 0 at the limit of the flow" in texts(*below.pieces)
    assert "lambda1*u1_0 + lambda2*u2_0" in d.potential.finding.reason
    assert "On the other side:" in d.to_text()
    theorem = d.to_latex(part="theorem")
    assert theorem.count(r"\sqrt{A}") > 1
    assert "instead, with" in theorem


@pytest.mark.parametrize(("X", "y"), DATA)
def test_flows_end_at_the_interpolant_of_their_side(X, y):
    d = derive_once(NEURON)
    assert crosscheck(d, X, y, digits=15).passed
    swapped = replace(d.potential.other_side, other_side=replace(d.potential, other_side=None))
    assert not crosscheck(replace(d, potential=swapped), X, y, digits=15).passed


@pytest.mark.slow
def test_a_vector_of_open_dimension_has_both_sides():
    d = derive_once("(a - b)*u", {"a": "c", "b": "c"}, vectors=["u"])
    above, below = d.potential, d.potential.other_side
    assert (d.verdict, above.turning.slope, below.turning.slope) == (Verdict.PROVED, 1, -1)
    assert "where its derivative along the flow is 2*<lambda, u_0>" in above.finding.reason
    assert d.to_text().count("grad Q = q'(s) beta/s + z, z = ") == 2
    explicit = in_components(d)
    for y in ("2", "-3"):
        assert crosscheck(explicit, [["1", "2", "1/2"]], [y], {"c": 1}, digits=15).passed
    swapped = replace(explicit.potential, other_side=replace(explicit.potential, other_side=None))
    other = crosscheck(replace(explicit, potential=swapped), [["1", "2", "1/2"]], ["-3"], digits=15)
    assert not other.passed


@pytest.mark.parametrize("vectors", [(), ("u",)], ids=["coordinates", "vector"])
def test_values_of_q_agree_with_its_slopes(vectors):
    """Q = 2/3 A^(3/2) - delta A^(1/2) - <u_0, b> is 0 at b = 0, where b/sqrt(A) is no number."""
    outputs, start = (["a*u"], {"u_0": [1, 2]}) if vectors else (["a*u1", "a*u2"], None)
    d = derive_once(outputs, {"a": "0"}, vectors=vectors)
    q = d.potential.numeric(start or {"u1_0": 1, "u2_0": 2})
    at, step = np.array([0.5, 1.0]), np.array([0.1, -0.2])
    A = (np.sqrt(25 + 4 * 1.25) - 5) / 2
    assert abs(q(at) - (2 / 3 * A**1.5 + 5 * A**0.5 - 2.5)) < 1e-13
    assert q(0 * at) == 0
    assert abs(q(at + step) - q(at) - q.gradient(at) @ step - q.bregman(at + step, at)) < 1e-13
    assert abs(q(at + step) - q(at)) > 1e-4


def test_what_is_certified_of_it():
    report = check_text(certified_once(NEURON))
    assert report.verdict == "PROVED"
    assert any("= -c g X^T r" in x and x.endswith("warp g = a") for x in report.theorem)
    assert {"Q of beta1, beta2", "Q where the warp ends negative"} <= set(report.open)


def test_a_warp_away_from_zero_has_one_side():
    d = derive_once(NEURON.with_(start={**dict(NEURON.start), "a": NEURON.start[1][1]}))
    assert d.verdict is Verdict.PROVED
    assert d.potential.other_side is None
