"""Matrix factorization: exponential formulas against the flow, and the vanishing start."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from derive import InputError, NumericalError
from numerics.matrices import (
    Measurements,
    commuting_limit,
    commuting_solution,
    least_trace,
    matrix_flow,
    shared_eigenbasis,
    vanishing_start,
)

COMMUTING = Measurements.read(
    [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, "1/2"]]], [2, "1/2"]
)
START = [["1/2", 0, "1/5"], ["1/10", "1/3", 0], [0, "1/4", "2/5"]]
OTHERS = Measurements.read([[[1, 0], [0, "-1/2"]], [[0, 1], [1, "1/2"]]], [1, "1/2"])
SMALL_START = [["1/2", 0], ["1/5", "1/3"]]


def distance(a, b):
    return mpmath.norm(a - b, 2) / mpmath.norm(b, 2)


def test_commutation_is_decided_exactly():
    nearly = [[1, 0], [0, 1 + Fraction(1, 10**40)]]
    assert COMMUTING.noncommuting is None
    assert OTHERS.noncommuting == (0, 1)
    assert Measurements.read([nearly, [[0, 1], [1, 0]]], [1, 1]).noncommuting == (0, 1)


def test_the_flow_moves_by_the_adjoint_of_the_misfits():
    """W' = -2 X*(r) W, seen over a short time; reverse mode does not know it."""
    step = Fraction(1, 10**8)
    before, after = matrix_flow(OTHERS, SMALL_START, [0, step], 40)
    with mpmath.workdps(40):
        slope = (after.weights - before.weights) * 10**8
        expected = -2 * OTHERS.adjoint(before.misfit) * before.weights
        assert distance(slope, expected) < 1e-7
        drift = [s * 10**8 + 2 * r for s, r in zip(after.integral, before.misfit, strict=True)]
        assert max(map(abs, drift)) < 1e-7


def test_commuting_measurements_have_the_flow_in_closed_form():
    """To 40 digits, from a start that commutes with none of the measurements."""
    origin, *path = matrix_flow(COMMUTING, START, [0, "1/2", 1, 4], 40)
    with mpmath.workdps(46):
        for state in path:
            closed = commuting_solution(COMMUTING, state.integral, origin.beta)
            assert distance(closed, state.beta) < mpmath.mpf(10) ** -40
        # As printed on slides, with the other sign in the second exponent, it is not the flow.
        factor = mpmath.expm(COMMUTING.adjoint(path[-1].integral))
        assert distance(factor * origin.beta * mpmath.inverse(factor), path[-1].beta) > 0.1


def test_others_need_an_exponential_for_each_short_time():
    """The product of exponentials in the order of time has errors of order h^2."""
    gaps = []
    for steps in (1, 8, 16):
        before, *path = matrix_flow(
            OTHERS, SMALL_START, [f"{2 * k}/{steps}" for k in range(steps + 1)], 20
        )
        with mpmath.workdps(26):
            beta = before.beta
            for state in path:
                moved = [b - a for a, b in zip(before.integral, state.integral, strict=True)]
                beta, before = commuting_solution(OTHERS, moved, beta), state
            gaps.append(distance(beta, before.beta))
    assert gaps[0] > mpmath.mpf("5e-3")
    assert 3.5 < gaps[1] / gaps[2] < 4.5


def test_the_commuting_limit_is_where_the_flow_ends():
    scale = Fraction(1, 100)
    start = [[Fraction(int(i == j), 10) for j in range(3)] for i in range(3)]
    (end,) = matrix_flow(COMMUTING, start, [40], 20)
    assert max(map(abs, end.misfit)) < 1e-11
    beta = np.array(end.beta.tolist(), dtype=float)
    assert np.abs(commuting_limit(COMMUTING, float(scale)).beta - beta).max() < 1e-9
    # Control: from another scale, another limit.
    assert np.abs(commuting_limit(COMMUTING, 2 * float(scale)).beta - beta).max() > 1e-3


def test_the_vanishing_start_ends_at_the_least_nuclear_norm():
    found = vanishing_start(COMMUTING, [1e-1, 1e-2, 1e-4, 1e-6, 1e-8])
    assert found.exponent == pytest.approx(0.75, abs=1e-12)
    assert [x.rate for x in found.limits[3:]] == pytest.approx([0.75, 0.75], abs=2e-4)
    excess = [x.excess for x in found.limits]
    assert excess == sorted(excess, reverse=True)
    assert excess[0] > 0.1  # control: from a start that is not small, not the least
    for limit in found.limits:
        assert limit.nuclear_norm - found.least == pytest.approx(limit.excess, abs=1e-8)
    assert "0.7500" in found.report()


def test_the_linear_program_solves_the_semidefinite_one():
    found = vanishing_start(COMMUTING, [1e-2])
    matrices, y = COMMUTING.array(), COMMUTING.values()
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
    data = Measurements.read([one, one @ one], [3, 40])
    found = vanishing_start(data, [1e-4, 1e-6, 1e-8, 1e-10])
    assert found.exponent is not None
    assert found.limits[-1].rate == pytest.approx(found.exponent, abs=5e-3)
    basis, values = shared_eigenbasis(data)
    assert np.abs(basis @ np.diag(values[0]) @ basis.T - one).max() < 1e-10


def test_a_least_norm_that_is_not_unique_has_no_predicted_rate():
    found = vanishing_start(Measurements.read([[[1, 0], [0, 1]]], [1]), [1e-2, 1e-4])
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
    negative = Measurements.read([[[1, 0], [0, 2]]], [-1])
    with pytest.raises(NumericalError, match="there may be no positive semidefinite matrix"):
        least_trace(negative.array(), negative.values(), max_iterations=500)
    with pytest.raises(InputError, match="no positive semidefinite matrix"):
        vanishing_start(negative, [1e-2])


@pytest.mark.parametrize(
    ("matrices", "y", "message"),
    [
        ([[[1, 2], [0, 1]]], [1], "A_1 is not symmetric"),
        ([[[1, 2]]], [1], "A_1 must be square"),
        ([[[1, 2], [2]]], [1], "rows of one length"),
        ([[[1]], [[1, 0], [0, 1]]], [1, 1], "A_2 has 2 rows but A_1 has 1"),
        ([[[float("nan")]]], [1], "finite real number"),
        ([[[1]]], [1, 2], "1 measurements but y has 2"),
        ([], [1], "0 measurements"),
        (3, [1], "sequence of matrices"),
        ([3], [1], "A_1 must be a sequence of rows"),
    ],
)
def test_bad_measurements_are_refused_in_one_line(matrices, y, message):
    with pytest.raises(InputError, match=message) as caught:
        Measurements.read(matrices, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matrix_flow(OTHERS, [[1, 0]], [1]), "has 1 rows but the measurements have 2"),
        (lambda: matrix_flow(OTHERS, SMALL_START, [1, 1]), "increase"),
        (lambda: matrix_flow(OTHERS, SMALL_START, [-1]), "at least 0"),
        (lambda: matrix_flow(OTHERS, SMALL_START, [1], 0), "digits"),
        (lambda: commuting_solution(OTHERS, [1], mpmath.eye(2)), "s has 1 numbers, not 2"),
        (lambda: shared_eigenbasis(OTHERS), "A_1 and A_2 do not commute"),
        (lambda: vanishing_start(OTHERS, [1e-2]), "A_1 and A_2 do not commute"),
        (lambda: vanishing_start(COMMUTING, []), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, [1e-2, 1e-1]), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, [math.nan]), "positive and fall"),
        (lambda: vanishing_start(COMMUTING, 3), "sequence of numbers"),
        (lambda: commuting_limit(COMMUTING, 0.0), "scale of the start must be positive"),
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
