"""On the path of gradient flow in the weights grad Q is X^T s, with rising s for decreasing losses.

It is that of mirror flow of Q in the warped time.
"""

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
from numerics.confirm.paths import follow
from numerics.confirm.regression_problem import complete_problem
from tests.published import derive_once

TIMES = ("1/4", 1, 4)
TIED = {"start": {"p": "alpha", "m": "alpha"}, "positive": ["alpha"]}
PAIR = [[1, 2, -1], [2, -1, 1]]
SCALES = {"alpha": ["1/2", 1, "2/3"]}
NEURON, AT = ["a*u1", "a*u2"], {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}
MODELS = {
    "tied pair": (["p**2 - m**2"], TIED, PAIR, SCALES),
    "depth 3": (["p**3 - m**3"], TIED, PAIR, SCALES),
    "cubic": (["w + w**3"], {}, PAIR, {"w_0": ["1/2", 0, "-1/3"]}),
    "neuron": (NEURON, {}, [[1, 2]], AT),
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
    back = {name: getattr(found, name)[::-1] for name in ("warped", "gradient", "dual")}
    for wrong in ({"gradient": found.path}, back):
        assert not replace(found, **wrong).passed


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


WARPED = [
    (NEURON, AT),
    (NEURON, {"a_0": "1/2", "u1_0": 1, "u2_0": "2/3"}),
    (("a*b*u1", "a*b*u2"), {"a_0": 2, "b_0": "3/2", "u1_0": "1/2", "u2_0": "1/3"}),
    (("3*a*u1 + a*u2", "a*u2 - a*u1"), {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}),
]


DATA = {"X": [[1, 2]], "y": [3]}


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start"), WARPED, ids=lambda x: ", ".join(x))
def test_a_warped_flow_takes_the_path_of_the_mirror_flow(outputs, start):
    warp = mirror_path(derive_once(outputs), **DATA, start=start)
    assert warp.agreement >= 30
    assert warp.passed
    # g is no constant here: the pace does change.
    assert max(warp.warp) > (1 + mpmath.mpf("0.01")) * min(warp.warp)
    # tau is the integral of g: over every step between its bounds, here up to those of the grid.
    steps = zip(warp.time, warp.time[1:], warp.warped, warp.warped[1:], strict=False)
    low, high = 0.98 * min(warp.warp), 1.02 * max(warp.warp)
    assert all(low <= (b - a) / (t - s) <= high for s, t, a, b in steps)
    # The path is complete: beta interpolates at its end.
    assert abs(warp.path[-1][0] + 2 * warp.path[-1][1] - 3) < mpmath.mpf(10) ** -30


def test_a_wrong_warp_or_a_wrong_potential_is_seen():
    d = derive_once(NEURON)
    a = next(iter(d.warping.g.free_symbols))
    faster = replace(d, warping=replace(d.warping, g=a**2))
    assert mirror_path(faster, **DATA, start=AT).agreement < 3
    piece = d.potential.pieces[0]
    bent = replace(piece, gradient=tuple(g + g**3 / 1000 for g in piece.gradient))
    wrong = replace(d, potential=replace(d.potential, pieces=(bent,)))
    assert mirror_path(wrong, **DATA, start=AT).agreement < 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[1]]}, "X"),
        ({"y": [1, 2]}, "X has 1 rows but y has 2 numbers"),
        ({"y": ["nan"]}, "y"),
        ({"start": {"a_0": 1}}, "the start gives no value for u1_0, u2_0"),
        ({"start": {"a_0": -1, "u1_0": 1, "u2_0": 1}}, "Q was derived for a_0 > 0"),
        ({"digits": 0}, "digits"),
        ({"times": [2, 1]}, "increase"),
        ({"times": [0, 1]}, "increase"),
        ({"loss": "logistic", "times": [1]}, "label"),
    ],
)
def test_bad_input_is_one_line(changes, message):
    with pytest.raises(InputError, match=message) as caught:
        mirror_path(derive_once(NEURON), **{**DATA, "start": AT, **changes})
    assert "\n" not in str(caught.value)


def test_what_has_no_potential_in_coordinates_has_no_path():
    with pytest.raises(InputError, match="components"):
        mirror_path(derive_once("a*u", vectors=["u"]), [[1]], [1], {})
    with pytest.raises(NumericalError, match="there is no Q to flow along"):
        mirror_path(derive_once(["a*c", "a**2 + c**3"]), **DATA, start={"a_0": 1, "c_0": 1})


def test_the_report_shows_both_times():
    """A gradient that is undefined on the path agrees to no digit."""
    warp = mirror_path(derive_once(NEURON), **DATA, start=AT)
    *rows, (first, _) = warp.gradient
    assert replace(warp, gradient=(*rows, (first, mpmath.nan))).agreement == 0
    lines = warp.report().splitlines()
    assert lines[0].split() == ["t", "tau", "g", "beta;", "s"]
    assert any("grad Q = X^T s to 3" in line for line in lines)
    assert lines[-1].startswith("proved: g is bounded where beta is")


def test_a_potential_that_is_an_integral_is_evaluated_on_the_path():
    integral = derive_once(("w + w**3 + x**5 + x",))
    warp = mirror_path(integral, [[1]], [3], start={"w_0": 1, "x_0": 1})
    assert warp.agreement >= 30
