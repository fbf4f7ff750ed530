"""Matrix factorization: limits in common bases, and what is least in nuclear norm."""

import math
from fractions import Fraction

import numpy as np
import pytest

from derive import InputError, NumericalError, Parameterization
from numerics.matrices import least_trace, sensing_limit, shared_bases
from tests.test_open_matrices import limit_of

COMMUTING = [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 0.5]]]
Y = [2, 0.5]


def sensed(A):
    rows = [[x for row in one for x in row] for one in A]
    return Parameterization.parse(["W*T(W)"], matrices={"W": "n x r"}, measurements=rows)


def test_commutation_is_decided_exactly():
    nearly = [[1, 0], [0, 1 + Fraction(1, 10**40)]]
    with pytest.raises(InputError, match="do not commute"):
        shared_bases(sensed([nearly, [[0, 1], [1, 0]]]), [1, 1])


def random_commuting():
    """Return exact matrices that commute: polynomials in one."""
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    one = np.round((basis * np.round(rng.standard_normal((2, 6)), 2)[0]) @ basis.T * 8)
    one = one + one.T
    return [one, one @ one], [3, 40]


@pytest.mark.parametrize("data", [(COMMUTING, Y), random_commuting()])
def test_vanishing_starts_end_at_the_least_nuclear_norm_at_the_rate_of_its_dual(data):
    A, y = np.array(data[0], float), data[1]
    least = least_trace(A, y, tol=1e-12)
    slack = np.linalg.eigvalsh(np.eye(A.shape[1]) - np.tensordot(least.multiplier, A, 1))
    rate = slack[slack > 1e-7].min()
    ends = [
        sensing_limit(sensed(data[0]), y, {"W": np.sqrt(eps) * np.eye(A.shape[1])})
        for eps in (1e-1, 1e-4, 1e-6)
    ]
    excess = [np.trace(end) - least.bound for end in ends]
    assert excess == sorted(excess, reverse=True)
    assert excess[0] > 0.1  # control: from a start that is not small, not the least
    assert np.log(excess[1] / excess[2]) / np.log(100) == pytest.approx(rate, abs=1e-2)


def gaussian(n, m, seed):
    rng = np.random.default_rng(seed)
    G, v = rng.standard_normal((m, n, n)), rng.standard_normal((n, 1))
    return (G + G.transpose(0, 2, 1)) / 2, v @ v.T


def test_the_least_trace_is_certified_and_recovers_rank_one():
    matrices, truth = gaussian(8, 30, 0)
    y = np.tensordot(matrices, truth, 2)
    found = least_trace(matrices, y, tol=1e-8)
    assert found.residual <= 1e-8
    assert np.linalg.eigvalsh(np.tensordot(found.multiplier, matrices, 1))[-1] <= 1 + 1e-12
    assert found.nuclear_norm == pytest.approx(found.bound, rel=1e-7)
    assert np.abs(found.beta - truth).max() < 1e-5
    # Control: of 8 measurements, the truth is not the least.
    few = least_trace(matrices[:8], y[:8])
    assert few.nuclear_norm < np.trace(truth) - 0.1


def test_the_least_trace_agrees_with_a_conic_solver():
    cvxpy = pytest.importorskip("cvxpy")
    matrices, truth = gaussian(8, 15, 1)
    y = np.tensordot(matrices, truth, 2)
    beta = cvxpy.Variable((8, 8), PSD=True)
    fits = [cvxpy.trace(A @ beta) == b for A, b in zip(matrices, y, strict=True)]
    least = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(beta)), fits).solve(solver="CLARABEL")
    assert least_trace(matrices, y, tol=1e-7).nuclear_norm == pytest.approx(least, rel=1e-6)


def test_measurements_that_no_positive_matrix_has():
    negative = [[[1, 0], [0, 2]]], [-1]
    with pytest.raises(NumericalError, match="there may be no positive semidefinite matrix"):
        least_trace(*negative, max_iterations=500)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shared_bases(sensed([[[1]]]), [1, 2]), "1 measurements but y has 2"),
        (lambda: least_trace([[[1, 2], [0, 1]]], [1]), "symmetric"),
        (lambda: least_trace([[[1]], [[2]]], [1, 2]), "depend linearly"),
        (lambda: least_trace([[[math.inf]]], [1]), "finite"),
        (lambda: least_trace([[1]], [1]), "shapes"),
        (lambda: least_trace("a", [1]), "must be"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


PAIR = {"U": "n x r", "V": "n x r"}
SENSED = [
    ("W*T(W)", {"W": "n x r"}, [[1, 2, 2, 1], [3, 1, 1, 3]]),
    ("U*T(V)", {"U": "2 x r", "V": "3 x r"}, [[1, 2, 0, 2, 1, 0], [3, 1, 0, 1, 3, 0]]),
    ("2*U*T(U) + V*T(V)/3", PAIR, [[1, 2, 2, 1]]),
    ("U*T(U) - V*T(V)", PAIR, [[1, 2, 2, 1], [3, 1, 1, 3]]),
]


@pytest.mark.parametrize(("text", "shapes", "X"), SENSED)
def test_the_sensing_limit_is_where_the_flow_ends_from_any_start(text, shapes, X):
    model = Parameterization.parse([text], matrices=shapes, measurements=X)
    rng = np.random.default_rng(5)
    size = model.size_for(len(X[0]))
    starts = {x: rng.normal(size=shape) for x, shape in model.shapes_at(*size, 2).items()}
    aim = {x: w + 0.3 * rng.normal(size=w.shape) for x, w in starts.items()}
    A = np.array(model.given, dtype=float).reshape(-1, *size)
    y = np.tensordot(A, sum(float(c) * aim[a] @ aim[b].T for a, b, c in model.terms), 2)
    end, beta = limit_of(model.terms, starts, A, y)
    assert np.abs(sensing_limit(model, y.tolist(), starts) - beta(end)).max() < 1e-9
    moved = {x: w + 0.2 * rng.normal(size=w.shape) for x, w in starts.items()}
    other = sensing_limit(model, y.tolist(), moved)
    assert np.abs(other - beta(end)).max() > 1e-3


def test_a_sensing_limit_needs_common_bases():
    X = [[1, 0, 0, 2], [0, 1, 1, 0]]
    model = Parameterization.parse(["W*T(W)"], matrices={"W": "n x r"}, measurements=X)
    with pytest.raises(InputError, match="do not commute"):
        sensing_limit(model, [1, 1], {"W": np.eye(2)})
