"""Margins of F with a grading that is not I/D: which weights rule, and which fade."""

import random
from dataclasses import replace

import pytest

from derive import Verdict, margins
from derive.statement import Ground, Statement
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated


def found(outputs):
    return margins(derive_once(outputs))


def posed(outputs):
    return found(outputs).weights


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
    m = found(outputs)
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
    m = found(outputs)
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
        return [(s.kind, s.ground) for s in found(outputs).says("KKT", "KKT levels")]

    two = [("KKT", Ground.CITED), ("KKT levels", Ground.CONJECTURED)]
    assert grounds(["a*b", "c"]) == two
    assert grounds(["W + a*b"]) == [("KKT levels", Ground.CONJECTURED)]


@pytest.mark.parametrize("form", ["--latex", "--html", "--json"])
def test_levels_are_in_every_form(form):
    done = run("margin", "a*b", "c", form)
    assert done.returncode == 0
    assert {"--json": '"levels"', "--latex": r"\Lambda", "--html": "Λ"}[form] in done.stdout
