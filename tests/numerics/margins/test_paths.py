"""The monotone dual path and the flow in dual numbers, and flows of the weights."""

from fractions import Fraction

import numpy as np
import pytest

from derive import InputError, NumericalError, Parameterization, derive
from numerics import flow, interpolate, loss_flow, margin_path, max_margin
from numerics.confirm.regression_problem import complete_problem

LEAVES = [[2, 3], [-2, 5]]
STAYS = [[1, 2, -1], [2, -1, 1]]
LEVELS = np.array([1.0, 10.0, 100.0])


def tied(depth):
    start = {"p": "alpha", "m": "alpha"}
    return derive(Parameterization.parse([f"p**{depth} - m**{depth}"], start, ["alpha"]))


def apart(a, b):
    """1 - cos of the angle between two vectors, without cancellation."""
    return np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)) ** 2 / 2


def check_limit(depth, X, alpha):
    """At levels alpha^D c of the loss the flow is near the path at margins c."""
    d = tied(depth)
    path = margin_path(d.potential.numeric({"alpha": 1}), X, LEVELS)
    q = d.potential.numeric({"alpha": alpha})
    run = loss_flow(q, X, alpha**depth * LEVELS)
    gaps = [apart(a, b) for a, b in zip(run.value, path.value, strict=True)]
    assert max(gaps) < 1e-9
    return path


def test_depth_two_where_a_row_leaves():
    path = check_limit(2, LEAVES, 1000)
    ((row, level),) = path.left
    assert (row, 4 * path.multiplier[-1, 1]) == (1, pytest.approx(0.0203, abs=1e-4))
    assert 1 < level < 10
    # The largest margin in Q, without the memory of the row that left, is another predictor.
    q = tied(2).potential.numeric({"alpha": 1})
    other = interpolate(q, LEAVES[:1], [100.0]).value
    assert min(np.array(LEAVES) @ other) >= 100 - 1e-9
    assert apart(other, path.value[-1]) > 1e-6


def test_depth_two_where_none_leaves():
    path = check_limit(2, STAYS, 300)
    assert path.left == ()
    q = tied(2).potential.numeric({"alpha": 1})
    for c, beta in zip(LEVELS, path.value, strict=True):
        assert interpolate(q, STAYS, [c, c]).value == pytest.approx(beta, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("X", [LEAVES, STAYS])
def test_depth_three(X):
    assert len(check_limit(3, X, 100).left) == (X is LEAVES)


def test_a_neuron_with_its_warp():
    """Coupled outputs, and a warp, which only changes the clock."""
    d = derive(Parameterization.parse(["a*u1", "a*u2"]))
    q = d.potential.numeric({"a_0": 1, "u1_0": 0, "u2_0": 0})
    path = margin_path(q, LEAVES, [1.0, 10.0])
    assert [interpolate(q, LEAVES, [c, c]).value for c in (1.0, 10.0)] == [
        pytest.approx(beta, rel=1e-8) for beta in path.value
    ]


@pytest.mark.parametrize(
    ("outputs", "start", "X"),
    [
        (["p**2 - m**2"], {"p_0": "3/4", "m_0": "3/4"}, STAYS),
        (["a*u1", "a*u2"], {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}, LEAVES),
    ],
)
def test_the_flow_in_dual_numbers_is_that_of_the_weights(outputs, start, X):
    p = Parameterization.parse(outputs)
    copies = 1 if p.d > 1 else len(X[0])
    exact = {name: Fraction(v) for name, v in start.items()}
    starts = [exact] * copies
    problem = complete_problem(p, X, [1] * len(X), starts, np.random.default_rng(0))
    origin = dict(problem.origin)
    end = flow(problem.model, problem.X, problem.y, origin, 20, loss="exponential", time=20)
    beta = np.array([float(b) for b in end.limit])
    level = -np.log(np.sum(np.exp(-np.array(X) @ beta)))
    q = derive(p).potential.numeric(exact)
    assert loss_flow(q, X, [level]).value[0] == pytest.approx(beta, rel=1e-7)


@pytest.mark.slow
def test_the_rate_at_which_coordinates_vanish_is_that_of_the_certificate():
    """beta_j/beta_max ~ log(1/L)^(|z_j| - 1), z = X^T y of the exact l1 margin."""
    largest = max_margin(LEAVES, norm="l1")
    z = np.array(LEAVES, float).T @ np.array([float(y) for y in largest.multiplier])
    assert z == pytest.approx([2 / 3, 1])
    q = tied(2).potential.numeric({"alpha": 1})
    run = loss_flow(q, LEAVES, [1e6, 1e9]).value
    ratios = run[:, 0] / run[:, 1]
    exponent = np.log(ratios[1] / ratios[0]) / np.log(1e3)
    assert exponent == pytest.approx(abs(z[0]) - 1, abs=1e-3)


@pytest.mark.parametrize(
    ("X", "levels", "said"),
    [
        ([[1, 2], [3]], [1], "X must be an array"),
        ([1, 2], [1], "rows"),
        ([[1, float("nan")]], [1], "finite"),
        (LEAVES, [2, 1], "increase"),
        (LEAVES, [-5], "above"),
        (LEAVES, [], "increase"),
    ],
)
@pytest.mark.parametrize("follow", [margin_path, loss_flow])
def test_bad_input_is_refused(follow, X, levels, said):
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(InputError, match=said):
        follow(q, X, levels)


def test_what_is_no_potential_in_numbers_is_refused():
    with pytest.raises(InputError, match=r"potential\.numeric"):
        margin_path(tied(2), LEAVES, [1])


def test_rows_that_are_not_separable_end_the_path():
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(NumericalError):
        margin_path(q, [[1, 2], [-1, -2]], [1])
