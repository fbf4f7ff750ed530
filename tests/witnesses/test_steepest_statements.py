"""What is said of steepest descent on the weights, put to witnesses, and false claims."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from derive import InputError, Parameterization, margins
from derive.verdict import Verdict
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated
from tests.witnesses.steepest import Copies, steered

SAME = {"p": "alpha", "m": "alpha"}
MODELS = (["u*v"], None), (["p**2 - m**2"], SAME), (["u*v*w"], None), (["p**3 - m**3"], SAME)
CASES = [*itertools.product(MODELS, ("oo", "3", "4/3", "3/2", "4"))]


def of(outputs, start, norm):
    return derive_once(Parameterization.parse(outputs, start, steepest=norm))


@pytest.mark.every(20)
@pytest.mark.parametrize(("model", "norm"), CASES, ids=lambda x: str(x))
def test_laws_and_the_potential_are_those_of_flows_of_phi(model, norm):
    """c stays, dQ/dbeta_j moves by phi(l_j) on one row, and what is said withstands witnesses."""
    d = of(*model, norm)
    assert d.verdict is Verdict.PROVED
    copies = Copies(d.parameterization, random.Random(3))
    x, time = np.array([1.0, -0.5, 2.0]), 0.1
    w = steered(copies, x, time)
    for law in d.conserved.laws:
        c = copies.function(law)
        assert np.abs(c(*w) - c(*copies.w0)).max() < 1e-8
    q = d.potential.numeric(copies.symbols)
    slopes = [float(np.squeeze(q.gradient(np.array([b])))) for b in copies.beta(w)]
    ratio = np.array(slopes) / (np.sign(x) * np.abs(x) ** copies.s)
    assert np.abs(ratio / ratio[0] - 1).max() < 1e-6
    assert d.says("one row")
    for s in d.says("one row", "box"):
        for seed in range(2):
            WITNESSES[s.kind](d, s, random.Random(seed))


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("outputs", "norm", "beta"),
    [
        (["u*v"], "oo", "linf"),
        (["u*v"], "3", "l3/2"),
        (["p**2 - m**2"], "4", "l2"),
        (["w**3"], "oo", "linf"),
        (["u*v"], "4/3", "l2/3"),
    ],
)
def test_margins_of_steepest_descent(outputs, norm, beta):
    m = margins(of(outputs, None, norm))
    assert (m.norm, m.verdict) == (beta, Verdict.PROVED)
    for s in m.says("steepest cost", "steepest KKT"):
        assert WITNESSES[s.kind](m, s, random.Random(1)) > 0


@pytest.mark.every(3)
def test_false_claims_are_refuted():
    """The Q of another norm; least sums of Q where phi leaves the row space; another margin."""
    d, other = of(["u*v"], None, "oo"), of(["u*v"], None, "4/3")
    (row,) = d.says("one row")
    with pytest.raises(Refuted):
        repeated(WITNESSES["one row"], replace(d, potential=other.potential), row)
    (box,) = d.says("box")
    fast = of(["u*v/8"], None, "oo").potential
    with pytest.raises(Refuted):
        repeated(WITNESSES["box"], replace(d, potential=fast), box)
    m = margins(d)
    (cost,) = m.says("steepest cost")
    with pytest.raises(Refuted):
        repeated(WITNESSES["steepest cost"], m, replace(cost, values={**cost.values, "norm": "l2"}))


@pytest.mark.parametrize("norm", ["oo", "3", "4/3", "4"])
def test_shared_weights_keep_nothing(norm):
    for outputs in (["a*u1", "a*u2"], ["a*u1", "a*u2", "a*u3"]):
        with pytest.raises(InputError, match="keeps no function of them"):
            Parameterization.parse(outputs, steepest=norm)
    assert Parameterization.parse(["a*u1", "a*u2"], steepest="2").geometry.steepest is None
    with pytest.raises(InputError, match="weights of their own"):
        Parameterization.parse(["a + b", "a - b"], steepest=norm)


@pytest.mark.parametrize(
    ("outputs", "start", "norm", "words"),
    [
        (["u*v"], {"u": "-1"}, "oo", "put -u for u"),
        (["u*v"], {"u": "0"}, "oo", "start elsewhere"),
        (["(u - v)*w"], None, "oo", "start at numbers"),
        (["u*v"], None, "1", "above 1"),
        (["u*v"], None, "1/0", "above 1"),
    ],
)
def test_refusals(outputs, start, norm, words):
    with pytest.raises(InputError, match=words):
        Parameterization.parse(outputs, start, steepest=norm)


@pytest.mark.parametrize(("model", "norm"), [(MODELS[1], "oo"), (MODELS[0], "oo")])
def test_where_a_weight_reaches_zero_the_domain_ends(model, norm):
    """K of p^2 - m^2 is constant until m is 0, at |beta| = 4 alpha^2."""
    (piece,) = of(*model, norm).potential.pieces
    ends = {"p**2 - m**2": "`-4*alpha**2 < beta < 4*alpha**2`", "u*v": "`beta > 0`"}
    assert piece.domain.where == ends[model[0][0]]


@pytest.mark.parametrize(
    ("outputs", "given", "slope"),
    [
        (["exp(w)"], {}, 1.4),
        (["c*u"], {"positive": ["c"], "parameters": ["c"]}, 1.4),
        (["sinh(w)"], {}, np.sqrt(1 + 1.4**2)),
    ],
)
def test_signs_of_functions_and_parameters_are_known(outputs, given, slope):
    """Under sign descent Q'' = 1/|F'|, here where beta, and c, are 1.4."""
    d = derive_once(Parameterization.parse(outputs, steepest="oo", **given))
    second = d.potential.Q.diff(d.beta[0], 2)
    found = float(second.subs(dict.fromkeys(second.free_symbols, 1.4)))
    assert abs(found * slope - 1) < 1e-12


def test_a_map_survives_being_shown_and_copied():
    p = Parameterization.parse(["u*v"], steepest="4/3")
    assert eval(repr(p)) == p
    assert p.with_(labels=[1]).geometry == p.geometry
    assert Parameterization.parse(["u*v"], steepest="3") != p


@pytest.mark.parametrize(
    ("norm", "code", "words"), [("oo", 0, "546/275"), ("4/3", 3, "not convex")]
)
def test_the_command_computes_margins_in_norms_alone(norm, code, words):
    done = run("margin", "u*v", "--steepest", norm, "--data", "examples/iris.csv")
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True)
