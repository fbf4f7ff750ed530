"""Matrix factorization: limits on the shared eigenbasis, and the vanishing start."""

import math
from fractions import Fraction

import numpy as np
import pytest

from derive import InputError, NumericalError, Parameterization
from numerics import flow
from numerics.matrices import (
    commuting_limit,
    least_trace,
    sensing_limit,
    shared_eigenbasis,
    vanishing_start,
)
from tests.test_open_matrices import limit_of

COMMUTING = [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 0.5]]]
Y = [2, 0.5]
OTHERS = [[[1, 0], [0, "-1/2"]], [[0, 1], [1, "1/2"]]]


def test_commutation_is_decided_exactly():
    nearly = [[1, 0], [0, 1 + Fraction(1, 10**40)]]
    with pytest.raises(InputError, match="do not commute"):
        shared_eigenbasis([nearly, [[0, 1], [1, 0]]], [1, 1])


def test_the_commuting_limit_is_where_the_flow_ends():
    p = Parameterization.parse(["W*T(W)"], arrays={"W": (3, 3)})
    start = {f"W{i}{j}": Fraction(int(i == j), 10) for i in (1, 2, 3) for j in (1, 2, 3)}
    rows = [[2, 2, 0, 2, 0, 1], [0, 2, 0, 0, 0, "1/2"]]  # of the entries 11, 12, 13, 22, 23, 33
    beta = np.zeros((3, 3))
    beta[np.triu_indices(3)] = [float(x) for x in flow(p, rows, Y, start, 12).limit]
    beta = np.triu(beta) + np.triu(beta, 1).T
    shared = shared_eigenbasis(COMMUTING, Y)
    assert np.abs(shared.matrix(commuting_limit(shared, 0.01).value) - beta).max() < 1e-9
    # Control: from another scale, another limit.
    assert np.abs(shared.matrix(commuting_limit(shared, 0.02).value) - beta).max() > 1e-3


def test_the_vanishing_start_ends_at_the_least_nuclear_norm():
    found = vanishing_start(COMMUTING, Y, [1e-1, 1e-2, 1e-4, 1e-6, 1e-8])
    assert found.exponent == pytest.approx(0.75, abs=1e-12)
    assert [x.rate for x in found.limits[3:]] == pytest.approx([0.75, 0.75], abs=2e-4)
    excess = [x.excess for x in found.limits]
    assert excess == sorted(excess, reverse=True)
    assert excess[0] > 0.1  # control: from a start that is not small, not the least
    for limit in found.limits:
        assert limit.nuclear_norm - found.least == pytest.approx(limit.excess, abs=1e-8)
    assert "0.7500" in found.report()


def test_the_linear_program_solves_the_semidefinite_one():
    found = vanishing_start(COMMUTING, Y, [1e-2])
    matrices, y = np.array(COMMUTING, float), np.array(Y, float)
    # Weak duality: I - sum nu_i A_i >= 0 and <nu, y> = least.
    slack = np.eye(3) - np.tensordot(found.multiplier, matrices, 1)
    assert np.linalg.eigvalsh(slack)[0] > -1e-12
    assert found.multiplier @ y == pytest.approx(found.least, abs=1e-12)
    assert least_trace(matrices, y, tol=1e-8).nuclear_norm == pytest.approx(found.least, abs=1e-7)


def test_random_commuting_measurements_have_the_predicted_rate():
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    spectra = np.round(rng.standard_normal((2, 6)), 2)
    # Exact matrices that commute: polynomials in one.
    one = np.round((basis * spectra[0]) @ basis.T * 8)
    one = one + one.T
    data = [one, one @ one], [3, 40]
    found = vanishing_start(*data, [1e-4, 1e-6, 1e-8, 1e-10])
    assert found.exponent is not None
    assert found.limits[-1].rate == pytest.approx(found.exponent, abs=5e-3)
    found = shared_eigenbasis(*data)
    assert np.abs((found.basis * found.values[0]) @ found.basis.T - one).max() < 1e-10


def test_a_least_norm_that_is_not_unique_has_no_predicted_rate():
    found = vanishing_start([[[1, 0], [0, 1]]], [1], [1e-2, 1e-4])
    assert found.exponent is None
    assert found.limits[-1].excess == 0
    assert "not unique" in found.report()


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
    with pytest.raises(InputError, match="no positive semidefinite matrix"):
        vanishing_start(*negative, [1e-2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shared_eigenbasis([[[1, 2]]], [1]), "no size fits rows of 2 numbers"),
        (lambda: shared_eigenbasis([[[1]], [[1, 0], [0, 1]]], [1, 1]), "rows of as many numbers"),
        (lambda: shared_eigenbasis([[[1]]], [1, 2]), "1 measurements but y has 2"),
        (lambda: vanishing_start(OTHERS, Y, [1e-2]), "do not commute"),
        (lambda: vanishing_start(COMMUTING, Y, []), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, Y, [1e-2, 1e-1]), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, Y, [math.nan]), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, Y, 3), "sequence of numbers"),
        (
            lambda: commuting_limit(shared_eigenbasis(COMMUTING, Y), 0.0),
            "scale of the start must be positive",
        ),
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
