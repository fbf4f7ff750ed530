"""What gradient flow tends to on separable data: coercivity, horizon, KKT problem, agreement."""

import functools
import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
import sympy
from sympy import Symbol

from derive import Parameterization, Verdict, derive, margins
from derive.limits.find import regimes
from derive.render.arranged import tidy
from derive.separable import far
from derive.separable.far import Slope, find_end
from derive.separable.weights_problem import agreement, pose_in_weights
from derive.statement import Ground, Open, Statement
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated

TIED = {"start": {"p": "alpha", "m": "alpha"}, "positive": ["alpha"]}
MODELS = {
    "tied pair": (["p**2 - m**2"], TIED),
    "copies": (["p1**2 - m1**2", "p2**2 - m2**2"], {}),
    "unequal pair": (["p**2 - m**2/2"], {}),
    "depth 3": (["p**3 - m**3"], TIED),
    "of open sign": (["p**3 - m**3"], {"start": TIED["start"]}),
    "any depth": (["p**D - m**D"], TIED),
    "neuron": (["a*u1", "a*u2"], {}),
    "vector": (["a*u"], {"vectors": ["u"]}),
    "deep neuron": (["a*b*u"], {"vectors": ["u"]}),
    "width two": (["u1*v1 + u2*v2"], {}),
    "convolution": (["u*v + x*y", "u*y + v*x"], {}),
    "linear": (["w"], {}),
    "correlated": (["a + b", "a - 2*b"], {}),
    "square": (["w**2"], {}),
    "exponential": (["exp(w)"], {}),
    "sinh": (["sinh(w)"], {}),
    "cubic": (["w + w**3"], {}),
    "two rates": (["w", "p**2 - m**2"], {}),
    "bounded": (["tanh(w)"], {}),
    "exponential growth": (["asinh(w)"], {}),
}


@functools.cache
def found(name):
    outputs, options = MODELS[name]
    return margins(derive_once(outputs, **options))


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("name", "coercive", "norm", "cost"),
    [
        ("tied pair", "PROVED", "l1", "Abs(beta)"),
        ("copies", "PROVED", "l1", "Abs(beta1) + Abs(beta2)"),
        ("unequal pair", "PROVED", "asymmetric", "-beta/2 + 3*Abs(beta)/2"),
        ("depth 3", "REFUTED", None, "Abs(beta)**(2/3)"),
        ("of open sign", "REFUTED", None, "Abs(beta)**(2/3)"),
        ("any depth", "REFUTED", None, "None"),
        ("neuron", "PROVED", "l2", "2*sqrt(beta1**2 + beta2**2)"),
        ("vector", "PROVED", "l2", "2*s"),
        ("deep neuron", "PROVED", "l2", "3*s**(2/3)"),
        ("width two", "PROVED", "l1", "2*Abs(beta)"),
        ("convolution", "PROVED", "|DFT|_1", "Abs(beta1 - beta2) + Abs(beta1 + beta2)"),
        ("linear", "PROVED", "l2", "beta**2"),
        ("correlated", "PROVED", "quadratic", "(5*beta1**2 + 2*beta1*beta2 + 2*beta2**2)/9"),
        ("square", "PROVED", None, "None"),
        ("exponential", "REFUTED", None, "None"),
        ("sinh", "REFUTED", None, "None"),
        ("cubic", "REFUTED", None, "None"),
        ("two rates", "PROVED", None, "None"),
        ("bounded", "PROVED", None, "None"),
        ("exponential growth", "PROVED", "linf", "None"),
    ],
)
def test_what_is_decided(name, coercive, norm, cost):
    m = found(name)
    assert m.finite_time.verdict is m.verdict is Verdict.PROVED
    assert m.coercive.verdict.value == coercive
    assert (m.norm, m.horizon is None) == (norm, norm is None)
    assert str(m.cost) == cost
    assert (m.agreement is None) == (norm in (None, "linf"))
    assert m.agreement is None or m.agreement.verdict is Verdict.PROVED


def test_a_horizon_that_is_not_that_of_the_cost_is_told():
    """A negative control: the horizon of one model against the cost of another."""
    linear, tied = found("linear"), found("tied pair")
    assert agreement(linear.far, tied.weights).verdict is Verdict.REFUTED
    assert agreement(tied.far, linear.weights).verdict is Verdict.REFUTED
    other = pose_in_weights(found("unequal pair").derivation)
    assert agreement(tied.far, other).verdict is Verdict.REFUTED


def test_a_slope_that_grows_exponentially_has_the_largest_coordinate():
    assert str(found("exponential growth").horizon) == "Abs(beta)"


def test_large_starts_are_a_linear_model_first():
    scaled = found("tied pair").scaled
    assert (scaled.time, scaled.displacement, str(scaled.kernel[0])) == (2, 1, "8*alpha**2")
    assert str(found("any depth").scaled.time) == "2*D - 2"
    assert found("neuron").scaled.kernel is None  # F(w_0) is not 0
    for name in ("exponential", "vector", "correlated"):
        assert found(name).scaled.finding.verdict.value in ("UNDECIDED", "PROVED")


@pytest.mark.every(2)
@pytest.mark.parametrize("F", ["log(p) - log(m)", "1/p - 1/m", "p**(-2) - m**(-2)"])
def test_large_starts_are_nothing_linear_where_the_degree_is_not_positive(F):
    p = Parameterization.parse([F], {"p": "alpha", "m": "alpha"}, ["alpha"])
    m = margins(derive_once(p))
    assert m.scaled.finding.verdict is Verdict.UNDECIDED
    assert m.says("large starts", "large starts, late") == ()
    assert not m.says("KKT")[0].words.startswith("`w(t)")


def test_theorems_on_q_say_what_it_assumes_and_where_it_is():
    d = derive_once("p**2 - m**3")
    m, r = margins(d), regimes(d, "m_0", ("oo",))
    (always,), (Q,) = m.says("every time"), d.says("regularizer")
    assert [str(c.of) for c in always.conditions] == [str(c.of) for c in Q.conditions] == ["m_0"]
    for record in (m, r):
        page = " ".join(record.to_latex().split())
        assert "$Q$ is defined on all real $\\beta$ unless $p_{0} = 0$." in page
        assert "If $m_{0} > 0$, " in page


def test_what_is_claimed_is_not_open():
    for name in MODELS:
        statements = found(name).statements
        claimed = {s.kind for s in statements if isinstance(s, Statement)}
        assert not claimed & {s.kind for s in statements if isinstance(s, Open)}, name


def test_the_table_of_losses_is_what_is_derived():
    table = (Path(__file__).parents[2] / "docs/howto/margins.md").read_text(encoding="utf-8")
    for depth in ("2", "3", "4", "D"):
        outputs = f"p**{depth} - m**{depth}"
        m = margins(derive_once(outputs, **TIED))
        (limit,) = regimes(m.derivation, "alpha", ["0"]).limits
        logistic = "not decided"
        if m.norm or m.cost is not None:
            kkt = f"KKT point in the weights, R_F = {m.cost}"
            logistic = f"largest {m.norm} margin" if m.norm else kkt
        row = (outputs, limit.potential.Q, logistic, tidy(m.scaled.kernel[0]))
        assert f"| {' | '.join(map(str, row))} |" in table


def test_laws_that_vanish_at_kkt_points():
    assert [str(law) for law in found("vector").weights.vanishing] == ["a**2 - norm_u**2"]
    assert [str(law) for law in found("unequal pair").weights.vanishing] == ["m**2*p"]
    assert found("depth 3").weights.vanishing == ()  # 1/p + 1/m has a pole there


def test_weight_normalization_has_the_problem_of_its_length_alone():
    """The least |w|^2 would be at v = 0, where F is not defined: v has the entry 0 of Lambda."""
    p = Parameterization.parse(["c*v/norm(v)"], vectors=["v"])
    m = margins(derive_once(p))
    (level,) = m.weights.levels
    assert [str(w) for w in level.weights] == ["c"]
    assert [str(c.formula) for c in level.costs] == ["s**2"]
    assert m.cost is None
    p = Parameterization.parse(["1/p - 1/m"])
    assert margins(derive_once(p)).weights.finding.verdict is Verdict.UNDECIDED


def test_without_a_potential_the_problem_in_the_weights_is_left():
    p = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    m = margins(derive_once(p))
    assert m.verdict is m.finite_time.verdict is Verdict.REFUTED
    assert (m.far, m.hypotheses, m.horizon) == ((), (), None)
    assert str(m.cost) == "beta1 + beta3"


x = Symbol("x", real=True)


@pytest.mark.parametrize(
    ("kernel", "verdict", "growth", "value"),
    [
        (sympy.sqrt(x**2 + 1), "PROVED", (0, -1), 1),
        (2 * (x**2 + 1) ** sympy.Rational(1, 4), "PROVED", (sympy.Rational(-1, 2), 0), 1),
        (x**2 + 3, "REFUTED", None, None),
        (sympy.sqrt(x**2 + 1) / sympy.log(x**2 + 2), "PROVED", (0, -2), 1),
        (sympy.sqrt(x**2 + 1) * sympy.log(x**2 + 2), "UNDECIDED", None, None),
    ],
)
@pytest.mark.parametrize("side", [1, -1])
def test_a_slope_that_is_an_integral_grows_as_the_integral_of_its_leading_term(
    kernel, verdict, growth, value, side
):
    slope = Slope(sympy.Integral(1 / kernel, x), x, kernel=kernel)
    end = find_end(slope, side)
    assert (end.finding.verdict.value, end.growth) == (verdict, growth)
    assert end.value == (None if value is None else side * value)


def test_the_root_that_is_negative_far_out_is_followed():
    A = Symbol("A", real=True)
    ends = [find_end(Slope(A, x, ((A, A**3 + A - x),)), side) for side in (1, -1)]
    assert [(e.growth, e.value) for e in ends] == [((sympy.Rational(-1, 3), 0), s) for s in (1, -1)]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["p**2 - m**2", "--start", "p=alpha,m=alpha"], 0, "Horizon of Q: l1"),
        (["W*T(W)", "--matrix", "W:2x2"], 1, "there is no Q"),
        (["1/w"], 3, "if Q reaches there"),
        (["w +"], 2, ""),
    ],
)
def test_the_command(arguments, code, said):
    done = run("margin", *arguments)
    assert done.returncode == code
    assert said in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr


def test_long_coefficients_of_the_start_are_expanded_by_name():
    """Four coefficients of h have sums of roots of the start in them, and Q grows as one log."""
    d = derive_once("a*sqrt(a**2 + b**2)")
    (growth,) = margins(d).far
    assert growth.leading.growth == (Fraction(0), -1)
    assert growth.leading.constants == (sympy.Rational(1, 4),)
    q = d.potential.numeric({"a_0": 1, "b_0": 2})
    far, farther = (q.gradient([sign * 10.0**8])[0] for sign in (1, -1)), 10.0**12
    for sign, slope in zip((1, -1), far, strict=True):
        rise = q.gradient([sign * farther])[0] - slope
        assert rise * sign == pytest.approx(math.log(10**4) / 4, rel=1e-4)


@pytest.mark.parametrize(("F", "sign"), [("w**2", ">= 0"), ("-w**2", "<= 0")])
def test_on_a_half_line_the_margin_is_over_that_side(F, sign):
    m = margins(derive_once(F))
    (s,) = m.says("direction on half-lines")
    assert (m.horizon, m.norm, str(m.shape.cone)) == (None, None, "Abs(beta)")
    assert f"over beta {sign}" in " ".join(m.to_text().split())
    assert sum(WITNESSES[s.kind](m, s, Random(seed)) for seed in range(2))
    assert not margins(derive_once("exp(w)")).says(s.kind)


@pytest.mark.parametrize(
    ("F", "rates", "R"),
    [
        ("u*v", {"v": "eta"}, "2*Abs(beta)/sqrt(eta)"),
        ("u**2*v", {"v": "eta"}, "3*2**(1/3)*Abs(beta)**(2/3)/(2*eta**(1/3))"),
        ("u*v", {"u": "a", "v": "b"}, "2*Abs(beta)/(sqrt(a)*sqrt(b))"),
    ],
)
def test_costs_have_the_names_of_rates(F, rates, R):
    """R_F at rates in names is that of rates 1 at beta/s; at a number it is the same."""
    whole = margins(derive(Parameterization.parse([F], rates=rates)))
    assert str(whole.cost) == R
    numbers = dict.fromkeys(rates, "3")
    at = margins(derive(Parameterization.parse([F], rates=numbers))).cost
    b = sympy.Symbol("beta")
    found, wanted = (
        e.subs({s: 3 if s.name != "beta" else b for s in e.free_symbols}).subs(b, 2)
        for e in (whole.cost, at)
    )
    assert abs(sympy.N(found - wanted, 20)) < 1e-15


def test_of_sums_that_rates_scale_apart_no_cost_is_said():
    m = margins(derive(Parameterization.parse(["u*v + x*y"], rates={"v": "eta"})))
    assert m.cost is None


def test_curves_of_cosh_and_sinh_are_expanded():
    """They are printed so, and grow as the exponentials that they are."""
    start = {"a": "alpha", "b": "alpha*s", "c": "alpha"}
    d = derive_once("a**2 + b*c", start, ["alpha", "s"])
    assert d.potential.pieces[0].curve.beta.has(sympy.cosh)
    assert margins(d).norm == "asymmetric"
    limits = regimes(d, "alpha", [0]).limits
    assert [x.finding.verdict for x in limits] == [Verdict.PROVED]


def test_of_a_root_that_is_not_written_no_expansion_is_asked_for(monkeypatch):
    """From a = b of a^2 b^3 it took minutes, and the degree tells that grad Q is bounded."""
    monkeypatch.setattr(far, "find_end", None)
    found = margins(derive_once(["a**2*b**3"], start={"a": "alpha", "b": "alpha"}))
    assert found.coercive.verdict is Verdict.REFUTED
    assert "of degree 5 > 2 is infinite after a finite time" in found.coercive.reason


def graded(outputs):
    return margins(derive_once(outputs))


def posed(outputs):
    return graded(outputs).weights


def withstood(m):
    """Return how many trials what is said of points in the weights withstood."""
    claimed = [s for s in m.says("KKT", "KKT levels", "level cost") if isinstance(s, Statement)]
    return sum(WITNESSES[s.kind](m, s, random.Random(seed)) for s in claimed for seed in range(1))


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "outputs", [["a", "b*c"], ["a*b", "c*d*e"], ["a", "b*c*d"], ["a*b", "c"]], ids=str
)
def test_the_weights_of_fewest_factors_rule(outputs):
    fewest, most = sorted((set(f.split("*")) for f in outputs), key=len)
    m = graded(outputs)
    top, below = m.weights.levels
    assert ({*map(str, top.weights)}, {*map(str, below.weights)}) == (fewest, most)
    assert withstood(m) > 0


FADING = [
    (["W + a*b"], {"W"}, "2*Abs(beta)"),
    (["c + a*b*d"], {"c"}, "3*Abs(beta)**(2/3)"),
    (["a*b*c + a*d"], {"d"}, "3*Abs(beta)**(2/3)"),
    (["W1 + a*u1", "W2 + a*u2"], {"W1", "W2"}, "2*sqrt(beta1**2 + beta2**2)"),
    (["a*b*u1 + c*u1", "a*b*u2 + c*u2"], {"c"}, "3*(beta1**2 + beta2**2)**(1/3)"),
]


@pytest.mark.every(5)
@pytest.mark.parametrize(("outputs", "fading", "cost"), FADING, ids=range(5))
def test_weights_fade_without_which_all_is_reached(outputs, fading, cost):
    m = graded(outputs)
    assert {*map(str, m.weights.fading)} == fading
    assert [str(c.formula) for level in m.weights.levels for c in level.costs] == [cost]
    assert withstood(m) > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["a*b*c", "u**3*v - w**4"])
def test_of_a_degree_above_two_the_gradient_is_bounded_whatever_q_is(output):
    m = margins(derive_once([output]))
    assert (m.verdict, m.coercive.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    (said,) = m.says("coercive")
    assert WITNESSES["coercive"](m, said, random.Random(1)) > 0
    false = replace(m, coercive=replace(m.coercive, verdict=Verdict.PROVED))
    with pytest.raises(Refuted):
        repeated(WITNESSES["coercive"], false, said)
    assert margins(derive_once(["a*b + c*d"])).coercive.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("output", "rates", "nonzero"),
    [
        ("W + a*b", {}, "a_0 + b_0, a_0 - b_0"),
        ("W + p**2 - m**2", {}, "p_0, m_0"),
        ("a*b + c", {"c": "c"}, "a_0 + b_0"),  # a_0 = b_0 ends the domain
    ],
)
def test_beside_a_skip_connection_the_horizon_is_that_of_the_product(output, rates, nonzero):
    """Where no exponential of the flow is missing: its beta and mu are followed there, and not."""
    m = margins(derive_once([output], rates=rates))
    assert (m.verdict, m.norm) == (Verdict.PROVED, "l1")
    assert ", ".join(map(str, m.far[0].leading.nonzero)) == nonzero
    for s in m.says("coercive", "growth", "direction"):
        assert WITNESSES[s.kind](m, s, random.Random(1)) > 0
    start = {"m": "0"} if "m" in output else {"a": "0", "b": "0"}  # ties break by rounding
    other = derive_once([output], start, rates=rates)
    with pytest.raises(Refuted):
        repeated(WITNESSES["growth"], replace(m, derivation=other), m.says("growth")[0])


@pytest.mark.parametrize("outputs", [["a*b + 1"], ["exp(p) - exp(m)"], ["a/b + c"]])
def test_without_a_grading_nothing_is_said(outputs):
    problem = posed(outputs)
    assert problem.finding.verdict is Verdict.UNDECIDED
    assert problem.levels == ()


def test_what_is_cited_and_what_is_conjectured():
    """No verdict of a theorem for what is a conjecture: that weights fade, and lower levels."""

    def grounds(outputs):
        return [(s.kind, s.ground) for s in graded(outputs).says("KKT", "KKT levels")]

    two = [("KKT", Ground.CITED), ("KKT levels", Ground.CONJECTURED)]
    assert grounds(["a*b", "c"]) == two
    assert grounds(["W + a*b"]) == [("KKT levels", Ground.CONJECTURED)]


@pytest.mark.parametrize("form", ["--latex", "--html", "--json"])
def test_levels_are_in_every_form(form):
    done = run("margin", "a*b", "c", form)
    assert done.returncode == 0
    assert {"--json": '"levels"', "--latex": r"\Lambda", "--html": "Λ"}[form] in done.stdout
