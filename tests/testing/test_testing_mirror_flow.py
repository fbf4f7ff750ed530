"""A Q of one's own against flows of the weights: the true ones pass, every false one is named."""

import re
import subprocess
import sys

import numpy as np
import pytest

from derive import Parameterization
from derive.errors import InputError
from derive.testing import assert_mirror_flow

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
    assert last.path.name == "test_testing_mirror_flow.py"
