"""Numbers and what is decided of them: pi, numbers with relations, signs of constants."""

import math
from fractions import Fraction
from itertools import product

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive import InputError, LanguageError, Parameterization, Verdict, derive
from derive.language import parse_expression
from derive.model.notation import BranchOpen, Notation
from derive.model.signs import Premises
from derive.potential import find
from numerics import crosscheck
from tests.conditions import condition, holds, texts
from tests.published import derive_once

NOTATION = Notation(
    Parameterization.parse(["x*exp(y) + sqrt(z)"], dict(zip("xyz", "abc", strict=True)))
)
POINTS = [
    dict(zip("abc", p, strict=True)) for p in product(map(Fraction, (-2, -1, 1, 3)), repeat=3)
]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("a*b > 0, a > 0, b > 0", "a > 0, b > 0"),
        ("a*b > 0, b*c > 0, a*c > 0", "a*b > 0, b*c > 0"),
        ("a > 0, b > 0, a + b != 0, a**2 + a*b > 0", "a > 0, b > 0"),
        ("a - 1 > 0, a > 0, a + 1 != 0", "a - 1 > 0"),
        ("2*a**2 + 4*a*b + 2*b**2 != 0", "a + b != 0"),
        ("a + b > 0, 3*a**2 + 6*a*b + 3*b**2 != 0", "a + b > 0"),
        ("a**2 + b**2 != 0, a != 0", "a != 0"),
        ("exp(b) > 0, a*exp(b) > 0, a > 0", "a > 0"),
        ("sqrt(c) - 1 > 0, c > 0, c - 1 > 0", "sqrt(c) - 1 > 0"),
        ("a**2 + b**2 != 0, a - b != 0, a + b != 0", "a - b != 0, a + b != 0"),
        (
            "a**2 - b**2 + c != 0, a - b != 0, a + b != 0",
            "a**2 - b**2 + c != 0, a - b != 0, a + b != 0",
        ),
        ("-a > 0, -b > 0, a*b > 0", "-a > 0, -b > 0"),
        ("2 - sqrt(2) > 0, 1 != 0", ""),
        ("a*b > 0, a != 0", "a*b > 0"),
        ("a*b > 0, 4*a*b + 3*sqrt(c) != 0", "a*b > 0"),
        ("a > 0, b != 0", "a > 0, b != 0"),
    ],
)
def test_what_others_imply_is_dropped(given, left):
    premises = Premises(map(condition, given.split(", ")), NOTATION)
    assert {*map(str, premises.irredundant)} == {*filter(None, left.split(", "))}


@pytest.mark.parametrize(
    "given",
    [
        *("a*b > 0, -a*b > 0", "a > 0, b > 0, -a*b > 0", "a**2 - b**2 > 0, b**2 - a**2 > 0"),
        *("a - 1 > 0, -a > 0", "1 - sqrt(2) > 0", "a - a != 0", "-a**2 - b**2 > 0", "-exp(a) > 0"),
        *("a*b > 0, b*c > 0, -a*c > 0", "-a**2 > 0", "a > 0, b > 0, -a - b > 0"),
    ],
)
def test_what_cannot_hold_is_refused(given):
    with pytest.raises(BranchOpen):
        Premises(map(condition, given.split(", ")), NOTATION)


FUNCTIONS = [
    "a",
    "b",
    "-a",
    "a - 1",
    "a + b",
    "a - b",
    "b - a",
    "a*b",
    "a**2 + b**2",
    "a**2 - b**2",
    "a*b + 1",
    "a*(c + 2)",
    "a**2 - 1",
]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(FUNCTIONS), st.sampled_from([">", "!="])), max_size=5))
def test_the_rest_is_equivalent(drawn):
    """At numbers what is left holds where all does, and nowhere where nothing can be left."""
    told = [condition(f"{f} {sign} 0") for f, sign in drawn]
    satisfied = [all(holds(c, p) for c in told) for p in POINTS]
    try:
        left = Premises(told, NOTATION).irredundant
    except BranchOpen:
        assert not any(satisfied)
        return
    assert satisfied == [all(holds(c, p) for c in left) for p in POINTS]


BALANCED = {"start": {"a": "alpha", "b": "alpha", "u": "0"}, "positive": ["alpha"]}


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("outputs", "given", "left"),
    [
        ("log(u*v)", {}, "u_0 > 0; v_0 > 0"),
        ("w*abs(w)", {"positive": ["w"]}, "w_0 > 0"),
        ("c; a*b+c**2", {}, "a_0 + b_0 != 0"),
        ("c; a**2+b**2", {}, "a_0**2 + b_0**2 != 0"),
        ("u*v", {"rates": {"u": "u**2*v**2", "v": "1 + u**2"}},
         "v_0 != 0; u_0 != 0; v keeps its sign along the flow"),
        ("sqrt(a*b)", {}, "a_0*b_0 > 0"),
        ("u*v", {"rates": {"u": "u**2"}}, "u_0 != 0"),
        ("c; a*b", {}, "k2 > 0"),
        # Neither a**2 > b**2 nor b**2 > a**2 holds at a = b.
        ("a*b*u", {**BALANCED, "vectors": ["u"]}, "alpha > 0"),
        ("u*v", {"rates": {"u": "sqrt(1 + v**2)"}}, ""),
    ],
)  # fmt: skip
def test_models_ask_for_no_more_than_they_need(outputs, given, left):
    d = derive_once(outputs.split("; "), **given)
    asked = texts(*d.potential.pieces)
    assert "; ".join(asked) == left
    assert all(text in d.to_json() for text in asked)


@pytest.mark.parametrize(
    ("of", "written"),
    [
        ("b**2 - a**2 - c**2", "b**2 > a**2 + c**2"),
        ("a", "a > 0"),
        ("-a", "a < 0"),
        ("a - 1", "a > 1"),
        ("a**2 + b", "a**2 + b > 0"),
    ],
)
def test_a_condition_is_written_without_signs(of, written):
    assert condition(f"{of} > 0").written == written


def test_a_form_that_cannot_hold_is_not_offered(monkeypatch):
    """The next one is taken; without one Q is undecided."""
    p = Parameterization.parse(["x**2 + y**2", "x*y"])
    d = derive(p)
    forms = d.blocks[0].potential.forms
    impossible = (condition("-x_0**2 > 0"),)
    (kept, *_) = forms
    spoiled = find.Form("spoiled", find.replace(kept.piece, assumptions=impossible), None)
    monkeypatch.setattr(find, "_coupled", lambda *_: [spoiled, kept])
    assert derive(p).potential.Q == d.potential.Q
    monkeypatch.setattr(find, "_coupled", lambda *_: [spoiled])
    undecided = derive(p).potential
    assert undecided.finding.verdict is Verdict.UNDECIDED
    assert "does not have the signs" in undecided.finding.reason


def test_pi_is_a_constant_of_F_and_of_the_start():
    d = derive_once("pi*w**2", start={"w": "pi"})
    assert d.verdict is Verdict.PROVED
    assert d.parameterization.weights == ("w",)
    assert "pi is the number" in d.to_text()
    assert "pi != 0" not in d.to_text()
    # grad Q = log(beta/(pi w_0^2))/(4 pi) is 0 at beta = pi^3 alone.
    q = d.potential.numeric({})
    assert float(q.gradient(math.pi**3)) == pytest.approx(0, abs=1e-14)
    assert float(q.gradient(math.e * math.pi**3)) == pytest.approx(1 / (4 * math.pi))


def test_the_flow_confirms_what_is_derived_with_pi():
    assert crosscheck(derive_once("pi*exp(w)"), digits=20).passed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outputs": ["sin(pi*w)"]}, "pi under sin"),
        ({"outputs": ["pi*w"], "weights": ["pi", "w"]}, "pi is the number"),
        ({"outputs": ["pi**2"]}, "no weight is left"),
    ],
)
def test_what_pi_is_not(arguments, message):
    with pytest.raises(InputError, match=message):
        Parameterization(**{**arguments, "outputs": [parse_expression(*arguments["outputs"])]})


def test_pi_has_no_other_value():
    d = derive_once("w**2", start={"w": "pi"})
    with pytest.raises(InputError, match="no other value"):
        d.potential.numeric({"pi": 3})


def test_the_base_of_exponentials_is_spelled_exp():
    with pytest.raises(LanguageError, match=r"write exp\(w\)"):
        Parameterization.parse(["e**w"])
    assert Parameterization.parse(["e**2*w"]).weights == ("e", "w")


def test_points_of_proofs_have_no_value_of_pi():
    d = derive_once(["pi*a*b*c", "c**2"])
    identity = next(i for i in d.hessian.finding.evidence if i.point)
    assert dict(identity.point) == {"a": 1, "b": 1, "c": 1}
    assert float(identity.residual) == pytest.approx(-2 * math.pi**2)
    assert "pi = " not in d.to_text()


@pytest.mark.slow
def test_numbers_for_pi_in_an_exponent_leave_something_to_evaluate():
    p = Parameterization.parse(["softplus(pi*a) - cos(b + 1/3)"], {"a": "alpha", "b": "alpha"})
    q = derive_once(p).potential.numeric({"alpha": 1})
    assert float(q.gradient(q.beta0[0])) == pytest.approx(0, abs=1e-12)


def test_a_form_in_the_weights_of_two_outputs_takes_numbers_for_parameters():
    """Q with D = 3 is that of F with 3 in it, up to its unit."""
    start, slopes = {"a": "1", "b": "2"}, []
    for outputs, parameters in (
        (["a**2 + b**2", "a**3 + D*b"], ["D"]),
        (["a**2 + b**2", "a**3 + 3*b"], []),
    ):
        p = Parameterization.parse(outputs, start, parameters=parameters)
        q = derive_once(p).potential.numeric(dict.fromkeys(parameters, 3))
        slopes.append(q.gradient(tuple(float(b) * 1.05 for b in q.beta0)))
    (u, v), (x, y) = slopes
    assert u / x == pytest.approx(v / y, rel=1e-9)
    assert u / x > 0


NEURONS = ["a*u1 + b*v1", "a*u2 + b*v2"]
ALIGNED = {"a": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"}


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["w**2"], {"w": "asinh(1) - log(1 + sqrt(2))"}),  # 0, critical
        (["sin(w)"], {"w": "pi/7"}),
        (["w**2"], {"w": "pi - 4*atan(1)"}),  # 0
        (["sin(a)*b"], {"a": "pi/5", "b": "0"}),
        (NEURONS, {**ALIGNED, "b": "sin(pi/2) + sin(2*pi/5)"}),
        (NEURONS, {**ALIGNED, "b": "4*atan(1)/pi"}),
        (["w**2"], {"w": "sin(atan(1)) - cos(atan(1))"}),
    ],
)
def test_related_numbers_are_refused(outputs, start):
    why = "critical point" if "asinh" in str(start) else "are related|are algebraic"
    with pytest.raises(InputError, match=why):
        Parameterization.parse(outputs, start=start)


@pytest.mark.parametrize("n", range(-25, 26))
def test_sines_of_known_parts_of_pi_are_numbers(n):
    for d in (1, 2, 3, 4, 6):
        p = Parameterization.parse(
            ["sin(w)*b", "cos(w)*c"], {"w": f"{n}*pi/{d}", "b": "2", "c": "1"}
        )
        found = [float(sympy.sympify(repr(p.at_start(f)))) for f in p.F]
        assert found == pytest.approx([2 * math.sin(n * math.pi / d), math.cos(n * math.pi / d)])


def test_starts_at_parts_of_pi_are_exact():
    """1 for sin(pi/2), where there is a Q; and critical points, where nothing moves."""
    assert derive(Parameterization.parse(NEURONS, {**ALIGNED, "b": "sin(pi/2)"})).potential.Q
    d = derive_once("sin(w)", start={"w": "pi/6"})
    assert str(d.potential.gradient[0]) == "log((beta + 1)/(1 - beta))/2 - log(3)/2"
    assert crosscheck(d, digits=15).passed
    for outputs, start in ((["sin(w)"], {"w": "pi/2"}), (["sin(a)*b"], {"a": "pi", "b": "0"})):
        with pytest.raises(InputError, match="critical point"):
            Parameterization.parse(outputs, start=start)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "start"),
    [
        (["a*b*u", "a*b*v"], {"a": "2", "b": "1", "u": "pi", "v": "2"}),
        ("w**2", {"w": "pi"}),
        ("w**2", {"w": "log(2) + log(3)"}),
        ("w**2", {"w": "sin(1) + cos(1)"}),
        ("u*v", {"u": "exp(1)", "v": "log(2)"}),
        ("softplus(a) - exp(b)", {"a": "1", "b": "1"}),
        (["atan(u)*x", "atan(u)*y"], {"u": "1", "x": "1", "y": "0"}),  # atan(1) is pi/4
        (["a*b + 2*c*d - 2", "-a*b - pi*c*d"], {"a": "1/3"}),
    ],
)
def test_numbers_without_a_relation_are_taken(output, start):
    d = derive_once(output, start)
    assert d.verdict is Verdict.PROVED
    assert "pi = " not in d.to_text()


def test_eulers_number_is_no_letter():
    text = derive_once("exp(1)*w", start={"w": "E"}).to_text()
    assert "Q = beta**2*exp(-2)/2 - E*beta*exp(-1)" in text


def test_a_start_that_is_not_critical_is_no_zero_of_what_q_divides_by():
    q = derive_once("w**2 + sqrt(2)*w").potential
    at = {w: sympy.sqrt(2) / 2 for w in q.Q.free_symbols if w.name == "w_0"}
    assert q.gradient[0].subs(at).subs("beta", 2).is_finite


@pytest.mark.parametrize(
    ("output", "start", "text"),
    [
        ("((1 - w)*(2 - w))**p", "0", "(1 - w)**p*(2 - w)**p"),
        ("(w*(w - 1))**p", "-1", "(-w)**p*(-(w - 1))**p"),
        ("((1 - w)/(w - 2))**p", "3/2", "(-(1 - w))**p*(-(w - 2))**(-p)"),
        ("(3*w)**p", "w_0", "(3*w)**p"),
    ],
)
def test_factors_of_a_base_have_the_signs_of_the_start(output, start, text):
    p = Parameterization.parse([output], {"w": start})
    assert p.texts == (text,)
    d = derive_once(p)
    assert d.verdict is Verdict.PROVED
    if start != "w_0":
        assert crosscheck(d, digits=15).passed


def test_symbols_are_not_assumed_positive_where_weights_would_start_negative():
    """sqrt(v) from v = -alpha asks for alpha < 0."""
    d = derive(Parameterization.parse(["u**3 + sqrt(v)"], {"u": "pi", "v": "-alpha"}))
    assert d.verdict is Verdict.UNDECIDED
    assert "cannot all be positive" in d.to_text()
    d = derive(Parameterization.parse(["sqrt(v)*u"], {"u": "1", "v": "-alpha"}))
    assert d.verdict is Verdict.PROVED
