"""On the path of gradient flow in the weights grad Q is that of mirror flow in the warped time."""

from dataclasses import replace

import mpmath
import pytest

from derive import InputError, NumericalError
from numerics.confirm.paths import mirror_path
from tests.published import derive_once

NEURON = (("a*u1", "a*u2"), {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"})
WARPED = [
    NEURON,
    (("a*u1", "a*u2"), {"a_0": "1/2", "u1_0": 1, "u2_0": "2/3"}),
    (("a*b*u1", "a*b*u2"), {"a_0": 2, "b_0": "3/2", "u1_0": "1/2", "u2_0": "1/3"}),
    (("3*a*u1 + a*u2", "a*u2 - a*u1"), {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}),
]


def data(d):
    return {"X": [[1, 2][:d]], "y": [3]}


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start"), WARPED, ids=lambda x: ", ".join(x))
def test_a_warped_flow_takes_the_path_of_the_mirror_flow(outputs, start):
    warp = mirror_path(derive_once(outputs), **data(2), start=start)
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
    d = derive_once(NEURON[0])
    a = next(iter(d.warping.g.free_symbols))
    faster = replace(d, warping=replace(d.warping, g=a**2))
    assert mirror_path(faster, **data(2), start=NEURON[1]).agreement < 3
    piece = d.potential.pieces[0]
    bent = replace(piece, gradient=tuple(g + g**3 / 1000 for g in piece.gradient))
    wrong = replace(d, potential=replace(d.potential, pieces=(bent,)))
    assert mirror_path(wrong, **data(2), start=NEURON[1]).agreement < 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[1]]}, "X"),
        ({"y": [1, 2]}, "X has 1 rows but y has 2 numbers"),
        ({"y": ["nan"]}, "y"),
        ({"start": {"a_0": 1}}, "the start gives no value for u1_0, u2_0"),
        ({"start": {"a_0": -1, "u1_0": 1, "u2_0": 1}}, "Q was derived for a_0 > 0"),
        ({"digits": 0}, "digits"),
    ],
)
def test_bad_input_is_one_line(changes, message):
    given = {**data(2), "start": NEURON[1], **changes}
    with pytest.raises(InputError, match=message) as caught:
        mirror_path(derive_once(NEURON[0]), **given)
    assert "\n" not in str(caught.value)


def test_without_a_potential_there_is_no_mirror_flow():
    refuted = derive_once(["a*c", "a**2 + c**3"])
    with pytest.raises(NumericalError, match="there is no Q to flow along"):
        mirror_path(refuted, **data(2), start={"a_0": 1, "c_0": 1})


def test_a_gradient_that_is_undefined_on_the_path_agrees_to_no_digit():
    warp = mirror_path(derive_once(NEURON[0]), **data(2), start=NEURON[1])
    *rows, (first, _) = warp.gradient
    assert replace(warp, gradient=(*rows, (first, mpmath.nan))).agreement == 0


def test_the_report_shows_both_times():
    lines = mirror_path(derive_once(NEURON[0]), **data(2), start=NEURON[1]).report().splitlines()
    assert lines[0].split() == ["t", "tau", "g", "beta;", "s"]
    assert any("grad Q = X^T s to 3" in line for line in lines)
    assert lines[-1].startswith("proved: g is bounded where beta is")


def test_a_potential_that_is_an_integral_is_evaluated_on_the_path():
    integral = derive_once(("w + w**3 + x**5 + x",))
    warp = mirror_path(integral, [[1]], [3], start={"w_0": 1, "x_0": 1})
    assert warp.agreement >= 30
