"""What tests of others use: strategies for hypothesis, and a given Q against flows."""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from derive import Parameterization, derive
from derive.errors import InputError
from derive.language import parse_expression, to_sympy
from derive.testing import (
    KINDS,
    assert_mirror_flow,
    convex_potentials,
    parameterizations,
    regression_problems,
    separable_problems,
    starts,
    warps,
)
from derive.weights.conserved import find_lie_structure

drawn = settings(max_examples=30, deadline=None, derandomize=True)


@drawn
@given(parameterizations(start=st.none() | st.sampled_from(["1", "1/2"])))
def test_the_code_of_a_model_makes_it_again(p):
    assert eval(repr(p)) == p or repr(p) == f"<Parameterization R^{p.p} -> R^{p.d}>"


@pytest.mark.parametrize(
    "p",
    [
        Parameterization.parse(["a*u + b*v"], {"a": 1, "u": "r"}, ["b"], vectors=["u", "v"]),
        Parameterization.parse(["norm(u)*a*u"], vectors=["u"]),
        Parameterization.parse(["c*p**D - m"], {"p": "alpha"}, ["m"], ["c"]),
        Parameterization(["a*u"], ["u", "a"]),
    ],
    ids=repr,
)
def test_every_ingredient_is_in_the_code_that_hypothesis_shows(p):
    assert pretty(p) == repr(p)
    assert eval(repr(p)) == p


def test_an_output_that_is_left_out_is_in_the_code():
    p = Parameterization(["2*u**2 + 1", "v", "u**2"])
    assert repr(derive(p).parameterization) == repr(p)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "property_", "simplest"),
    [
        (("separable",), lambda p: p.d > 1, "['u**2', 'v**2']"),
        (("generators",), lambda p: p.d > 1, "['exp(u)', 'exp(v)']"),
        (("equivariant",), lambda p: True, "['a*u1', 'a*u2']"),
        (("degenerate",), lambda p: "twin" in p.weights, "['(u + twin)**2']"),
        ((), lambda p: True, "['u**2']"),
    ],
)
def test_shrunk_models_are_read_at_a_glance(kinds, property_, simplest):
    assert repr(find(parameterizations(*kinds), property_)) == f"Parameterization({simplest})"


@drawn
@given(parameterizations("commuting", "separable"), parameterizations("noncommuting"))
def test_flows_of_outputs_commute_or_not(one, other):
    assert find_lie_structure(one).commuting
    assert not find_lie_structure(other).commuting


@drawn
@given(parameterizations("homogeneous"), parameterizations("separable", "generators"))
def test_forms_have_a_degree_and_separate_outputs_share_nothing(form, separate):
    assert form.degree in (2, 3)
    assert len(separate.blocks) == separate.d


@pytest.mark.slow
def test_every_way_to_be_degenerate_is_drawn():
    for found in (
        lambda p: dict(p.start).get("x0") is not None,
        lambda p: "twin" in p.weights,
        lambda p: "x0" not in p.weights and len(p.start_symbols) < p.p,
    ):
        find(parameterizations("degenerate"), found)


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="did you mean commuting"):
        parameterizations("comuting")
    assert set(KINDS) > {"separable", "degenerate"}


@drawn
@given(st.data(), st.integers(1, 4))
def test_problems_are_fitted_and_separated_by_some_beta(data, d):
    X, y = data.draw(regression_problems(d))
    assert np.linalg.matrix_rank(X) == len(y) <= max(1, d - 1)
    rows, labels = data.draw(separable_problems(d, rows=2))
    margins = np.array(labels)[:, None] * np.array(rows)
    directions = np.array(np.meshgrid(*[range(-3, 4)] * d)).reshape(d, -1)
    assert (margins @ directions > 0).all(axis=0).any()


@drawn
@given(st.data(), st.integers(1, 3))
def test_potentials_are_strictly_convex_and_warps_positive(data, d):
    names = ["beta"] if d == 1 else [f"beta{i}" for i in range(1, d + 1)]
    point = [float(Fraction(x)) for x in data.draw(starts(names)).values()]
    Q, g = (to_sympy(parse_expression(data.draw(s(d)))) for s in (convex_potentials, warps))
    hessian = sympy.lambdify(names, sympy.hessian(Q, sympy.symbols(names)))
    assert np.linalg.eigvalsh(hessian(*point)).min() > 0
    assert g.free_symbols
    assert sympy.lambdify(names, g)(*point) > 0


def test_starts_are_exact_numbers():
    assert Fraction(find(starts(["a"]), lambda s: s["a"].startswith("-"))["a"]) == -1


PAIR = "p**2 - m**2", {"p": "alpha", "m": "alpha"}
HYPERBOLIC = "beta*asinh(beta/(2*alpha**2)) - sqrt(beta**2 + 4*alpha**4)"
NEURON = ["a*u1", "a*u2"], {"a": "alpha", "u1": 0, "u2": 0}
ROOT = "sqrt(4*beta1**2 + 4*beta2**2 + alpha**4)"
WARPED = f"sqrt(alpha**2/2 + {ROOT}/2)*({ROOT} - 2*alpha**2)"


def complaint(outputs, Q, start=None, **options):
    """Return what is said of a false Q, a line."""
    with pytest.raises(AssertionError) as caught:
        assert_mirror_flow(outputs, Q, start=start, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_printed_potentials_pass():
    assert_mirror_flow(PAIR[0], HYPERBOLIC, start=PAIR[1])
    assert_mirror_flow(PAIR[0], HYPERBOLIC, start={**PAIR[1], "alpha": "1/3"}, digits=40)
    assert_mirror_flow("w**2", "beta*log(beta) - beta")  # w_0 is drawn
    assert_mirror_flow("w", "beta**2/2 - w_0*beta")
    assert_mirror_flow(["u**2", "exp(v)"], "beta1*log(beta1)/4 - beta1/4 - log(beta2)")


def test_a_warp_changes_nothing_in_the_optimality_conditions():
    assert_mirror_flow(NEURON[0], WARPED, start=NEURON[1])
    assert_mirror_flow(NEURON[0], f"3*({WARPED}) + 5*beta1", start=NEURON[1])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("Q", "why"),
    [
        ("beta**2", "leaves the row space of X by"),
        (HYPERBOLIC.replace("2*alpha", "3*alpha", 1), "leaves the row space of X by"),
        (f"-({HYPERBOLIC})", "does not increase along the flow: Q is not convex"),
        ("3*beta + 7", "stays as it is along the flow"),
        ("sqrt(beta - 100)", "no real vector at beta = ("),
    ],
)
def test_what_is_no_potential_is_told_in_a_line(Q, why):
    said = complaint(PAIR[0], Q, start=PAIR[1])
    model = "Parameterization(['p**2 - m**2'], start={'p': 'alpha', 'm': 'alpha'})"
    assert said.startswith(f"{Q} is no mirror potential of {model}: ")
    assert why in said
    assert re.search(r"at X = \[\[.*\]\], y = \[.*\] from copy1_p = .* for 3 copies of F$", said)


def test_rates_and_mirrors_are_those_of_the_model():
    """They were left out: a Q of plain gradient flow passed, and the right one did not."""
    root = "sqrt(4*r**2*beta**2 + (r**2*v_0**2 - u_0**2)**2)"
    Q = f"beta*asinh(2*r*beta/(r**2*v_0**2 - u_0**2)) - {root}/(2*r)"
    start = {"u": 1, "v": 2}
    for rates, r, other in ({"u": 4}, 2, 1), ({}, 1, 2):
        p = Parameterization.parse(["u*v"], rates=rates)
        assert_mirror_flow(p, re.sub(r"\br\b", str(r), Q), start=start)
        complaint(p, re.sub(r"\br\b", str(other), Q), start=start)
    entropy = Parameterization.parse(["p - m"], mirror="p*log(p) + m*log(m)")
    assert_mirror_flow(entropy, "beta*asinh(beta/2) - sqrt(beta**2 + 4)", start={"p": 1, "m": 1})
    complaint(entropy, "beta**2", start={"p": 1, "m": 1})


def test_the_potential_of_another_start_fails():
    complaint(NEURON[0], "(beta1**2 + beta2**2)**(3/4)", start=NEURON[1])
    complaint(["u*v", "w*z"], "cosh(beta1) + beta2**2")
    assert "0." in complaint("w**2", "beta**2", rng=np.random.default_rng(7), problems=1)


def test_digits_tell_apart_what_is_nearly_right():
    near = HYPERBOLIC.replace("4*alpha", "(4 + 1/10**9)*alpha")
    assert_mirror_flow(PAIR[0], near, start=PAIR[1], digits=6)
    complaint(PAIR[0], near, start=PAIR[1], digits=15)


@pytest.mark.parametrize(
    ("outputs", "Q", "start", "why"),
    [
        ("w**2", "gamma*beta", {}, "Q uses gamma: it may use beta, w_0"),
        ("w**2", "beta1**2", {}, "Q uses beta1"),
        ("w**2", "beta**2", {"v": 1}, "the start names v"),
        ("p**D - m**D", "beta**2", {}, "no number for the parameter D"),
        (Parameterization.parse(["a*u"], vectors=["u"]), "beta", {}, "need a number"),
    ],
)
def test_what_makes_no_sense_is_refused(outputs, Q, start, why):
    with pytest.raises(InputError, match=why):
        assert_mirror_flow(outputs, Q, start=start)


@pytest.mark.parametrize("Q", [3.5, None, ["beta"]])
def test_only_text_and_expressions_are_read(Q):
    with pytest.raises(InputError, match=f"Q is a {type(Q).__name__}: give text"):
        assert_mirror_flow("w**2", Q)


@pytest.mark.slow
def test_without_hypothesis_one_line_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import derive.testing"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    needs = "derive.testing needs hypothesis: pip install 'regderive[test]'"
    assert last == f"ImportError: {needs}"


def test_a_failing_test_points_at_its_own_line():
    with pytest.raises(AssertionError) as caught:
        assert_mirror_flow("p**2 - m**2", "beta**2", start={"p": "alpha", "m": "alpha"})
    *_, last = caught.traceback.filter(caught)
    assert last.path.name == Path(__file__).name
