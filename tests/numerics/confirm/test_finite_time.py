"""grad Q = X^T s with rising s, on flows of the weights under decreasing losses."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy

from derive import InputError, NumericalError, Parameterization
from derive.language.symbolic import from_sympy
from numerics import mirror_path
from numerics.confirm import attempts as module
from numerics.confirm.attempts import attempts
from numerics.confirm.crosscheck import crosscheck
from numerics.confirm.paths import follow
from numerics.confirm.regression_problem import complete_problem
from numerics.interpolants.interpolant import Solution, Status
from tests.published import derive_once

TIMES = ("1/4", 1, 4)
TIED = {"start": {"p": "alpha", "m": "alpha"}, "positive": ["alpha"]}
PAIR = [[1, 2, -1], [2, -1, 1]]
SCALES = {"alpha": ["1/2", 1, "2/3"]}
MODELS = {
    "tied pair": (["p**2 - m**2"], TIED, PAIR, SCALES),
    "depth 3": (["p**3 - m**3"], TIED, PAIR, SCALES),
    "cubic": (["w + w**3"], {}, PAIR, {"w_0": ["1/2", 0, "-1/3"]}),
    "neuron": (["a*u1", "a*u2"], {}, [[1, 2]], {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("name", MODELS)
def test_the_statement_at_every_time(name, loss):
    outputs, options, X, start = MODELS[name]
    d = derive_once(outputs, **options)
    found = mirror_path(d, X, [1] * len(X), start, loss=loss, times=TIMES)
    assert found.agreement >= 30
    assert found.passed
    rows = ((0,) * len(X), *found.multipliers)
    assert all(a < b for old, new in pairwise(rows) for a, b in zip(old, new, strict=True))


def entropy(beta):
    """The gradient of a matrix entropy of B = W W^T, in B11, B12, B22: log(B)/4."""
    log = mpmath.matrix(2, 2)
    values, vectors = mpmath.eigsy(mpmath.matrix([[beta[0], beta[1]], [beta[1], beta[2]]]))
    for k, value in enumerate(values):
        log += mpmath.log(value) * vectors[:, k] * vectors[:, k].T
    return [log[0, 0] / 4, log[0, 1] / 2, log[1, 1] / 4]


@pytest.mark.parametrize(("X", "holds"), [([[2, 1, 1]], True), ([[2, 1, 1], [1, -2, 0]], False)])
def test_a_matrix_that_has_a_potential_for_commuting_data_alone(X, holds):
    """A negative control: from W = I, W W^T moves as if by the entropy where matrices commute."""
    p = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    unit = {"W11_0": 1, "W12_0": 0, "W21_0": 0, "W22_0": 1}
    start = [{k: Fraction(v) for k, v in unit.items()}]
    problem = complete_problem(p, X, [1] * len(X), start, np.random.default_rng(0))
    times = (Fraction(1, 4), Fraction(1))
    one = from_sympy(sympy.Integer(1))
    _, found = follow(problem, entropy, one, 20, loss="exponential", times=times)
    assert found.passed is holds
    assert (found.agreement > 20) is holds


def test_a_wrong_potential_is_told():
    outputs, options, X, start = MODELS["tied pair"]
    d = derive_once(outputs, **options)
    found = mirror_path(d, X, [1, 1], start, 20, loss="exponential", times=TIMES)
    assert found.passed
    assert not replace(found, gradient=found.path).passed
    back = {name: getattr(found, name)[::-1] for name in ("warped", "gradient", "dual")}
    assert not replace(found, **back).passed


def test_what_cannot_be_confirmed():
    d = derive_once(["a*u1", "a*u2"])
    start = MODELS["neuron"][3]
    for times in ([2, 1], [0, 1]):
        with pytest.raises(InputError, match="increase"):
            mirror_path(d, [[1, 2]], [1], start, 10, times=times)
    with pytest.raises(InputError, match="label"):
        mirror_path(d, [[1, 2]], [3], start, 10, loss="logistic", times=[1])
    with pytest.raises(InputError, match="components"):
        mirror_path(derive_once("a*u", vectors=["u"]), [[1]], [1], {})
    none = derive_once("W*T(W)", arrays={"W": (2, 2)})
    with pytest.raises(NumericalError, match="no Q"):
        mirror_path(none, [[1, 0, 0]], [1], {})


NEURON = {"a": Fraction(29, 16), "u": Fraction(23, 16), "v": Fraction(5, 4)}


def derived(*outputs, **start):
    return derive_once(outputs, start=start)


def test_a_sign_that_the_flow_changes_is_tried_and_told():
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    (tried,) = check.tried
    assert tried.condition == "that a keeps its sign"
    assert tried.sound
    assert tried.outcome.startswith("it is broken, the interpolant is refused")
    assert check.passed
    text = " ".join(check.report().split())
    assert "tried to break that a keeps its sign: X = -1 -3/4, y = 23/32: it is broken" in text
    assert max(map(len, check.report().splitlines())) <= 80
    assert json.loads(json.dumps(check.to_record()))["tried"] == [tried.told()]


def test_an_interpolant_that_is_given_behind_a_zero_fails_the_check(monkeypatch):
    """As it was before: CONVERGED wherever both equations hold."""

    def careless(q, X, y):
        found = module_interpolate(q, X, y)
        return replace(found, status=Status.CONVERGED)

    module_interpolate = module.interpolate
    monkeypatch.setattr(module, "interpolate", careless)
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    assert not check.passed
    assert check.tried[0].outcome == "it is broken, flow and interpolant DISAGREE"
    assert check.report().startswith("Flow, interpolant and Q DISAGREE where a condition is broken")


def test_a_wrong_refusal_fails_the_check(monkeypatch):
    def refused(q, X, y):
        zeros = np.zeros(2)
        return Solution(zeros, zeros, 0.0, 0.0, 0, Status.BEYOND, "")

    monkeypatch.setattr(module, "interpolate", refused)
    d = derived("a*u**2", "a*v")
    (tried,) = attempts(d.potential, {f"{n}_0": x for n, x in NEURON.items()})
    assert tried.outcome.startswith("it holds, the interpolant is refused")
    assert not tried.sound


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "conditions"),
    [
        (("w**2",), ["beta > 0"]),
        (("w",), []),
        (("a/(a+b+c)", "b/(a+b+c)"), []),
        (("x**2+y**2", "x*y"), ["beta1 + 2*beta2 > 0", "beta1 - 2*beta2 > 0"]),
        (("a*b*u", "a*b*v"), ["that a keeps its sign", "that b keeps its sign"]),
    ],
)
def test_every_condition_and_wall_is_tried(outputs, conditions):
    d = derived(*outputs)
    start = {name: Fraction(k + 5, 4) for k, name in enumerate(d.parameterization.start_symbols)}
    found = attempts(d.potential, start)
    assert {attempt.condition for attempt in found} == {*conditions}
    assert all(attempt.sound for attempt in found)
    for attempt in found:
        assert len(attempt.row) == len(outputs)
        assert "the interpolant is refused" in attempt.outcome
