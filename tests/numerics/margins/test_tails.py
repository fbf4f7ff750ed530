"""Other tails, normalised steps and degenerate data, against runs of the flow in log time."""

import functools

import numpy as np
import pytest
from flint import arb, arb_mat
from scipy.integrate import solve_ivp

from derive import InputError, NumericalError
from numerics import NotSeparable, max_margin
from numerics.margins.interval import enclose
from numerics.margins.tails import iterated, power_tail, tail_rates

SPANNED = [[2, 3], [-2, 5]]


def duals(X, nu, ends):
    """w at log times under sum exp(-u^nu): ds/dlog t = t nu u^(nu - 1) exp(-u^nu)."""
    X = np.array(X, float)
    gram = X @ X.T

    def slope(tau, s):
        u = np.maximum(gram @ s, 1e-9)
        return nu * u ** (nu - 1) * np.exp(np.minimum(tau - u**nu, 60))

    start = np.linalg.lstsq(gram, np.full(len(X), 1.5), rcond=None)[0]
    run = solve_ivp(slope, (0, ends[-1]), start, "BDF", t_eval=ends, rtol=1e-11, atol=1e-11)
    return run.y.T @ X


def gaps(X, w):
    u = w @ np.array(X, float).T
    return float(max_margin(X).margin) - u.min(axis=1) / np.linalg.norm(w, axis=1)


@pytest.mark.parametrize("nu", ["1/2", 1, 4])
def test_a_power_tail_has_its_own_limit(nu):
    """The direction of a flow from elsewhere, and |w| over its power of t."""
    X = np.array([[2.0, 3.0], [-2.0, 5.0]])
    limit = power_tail(X.tolist(), nu)
    n = float(limit.nu)
    run = solve_ivp(
        lambda tau, w: np.exp(tau) * n * (X @ w) ** (-n - 1) @ X,
        (0, 60),
        np.array([0.1, 1.0]),
        "BDF",
        rtol=1e-11,
        atol=1e-11,
    )
    w = run.y[:, -1]
    assert w / np.linalg.norm(w) == pytest.approx([float(x) for x in limit.direction], abs=1e-6)
    assert w / (n * (n + 2) * np.exp(60)) ** (1 / (n + 2)) == pytest.approx(
        [float(x) for x in limit.value], rel=1e-5
    )
    assert limit.margin < float(limit.largest.margin) * 0.999999


def test_a_power_tail_tends_to_the_largest_margin():
    apart = [
        float(max_margin(SPANNED).margin) - float(power_tail(SPANNED, n).margin)
        for n in (1, 10, 100)
    ]
    assert apart[0] > 3 * apart[1] > 9 * apart[2] > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("nu", [0.5, 1.5, 3])
def test_the_gap_of_other_tails(nu):
    found = tail_rates(SPANNED, str(nu))
    assert found.spans
    ends = np.array([5e5, 1e6])
    first, last = ends * gaps(SPANNED, duals(SPANNED, nu, ends))
    assert 2 * last - first == pytest.approx(float(found.margin_constant), rel=1e-3)


def test_what_is_across_the_support_vectors_slows_thin_tails():
    found = tail_rates([[2, 0], [3, 1]], 3)
    assert (found.spans, found.margin_constant, float(found.margin_power)) == (
        False,
        None,
        pytest.approx(2 / 3),
    )
    ends = np.array([1e4, 1e6])
    first, last = gaps([[2, 0], [3, 1]], duals([[2, 0], [3, 1]], 3, ends))
    assert np.log(first / last) / np.log(100) == pytest.approx(2 / 3, abs=0.02)


def test_normalised_steps():
    """Small steps along the gradient over its length: 1/(sum of steps), not 1/sqrt."""
    X, w, eta = np.array([[2.0, 3.0], [-2.0, 5.0]]), np.array([0.3, 0.1]), 0.02
    constant = float(max_margin(X.tolist()).step_constant)
    seen = []
    for k in range(1, 40_001):
        p = np.exp(-(u := X @ w) + u.min())
        step = p @ X
        w = w + eta * step / np.linalg.norm(step)
        if k in (20_000, 40_000):
            seen.append(k * eta * gaps(X.tolist(), w[None])[0])
    assert 2 * seen[1] - seen[0] == pytest.approx(constant, rel=1e-3)


def test_degenerate_data_have_iterated_logarithms():
    X = [[1, 0], [1, 5]]
    first, second = (np.array(w, float) for w in iterated(X))
    ends = np.array([1e3, 1e6])
    w = duals(X, 1, ends)
    rest = (w - np.log(np.exp(1)) * ends[:, None] * first) @ second / (second @ second)
    assert np.diff(rest) == pytest.approx(np.diff(np.log(ends)), rel=1e-3)
    assert len(iterated([[2, 3], [-2, 5]])) == 1
    with pytest.raises(NumericalError, match="dependent"):
        iterated([[1, 1], [1, -1], [1, 0]])


def test_a_third_logarithm():
    """The row without a multiplier in the second problem enters the third."""
    parts = iterated([[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert [[str(x) for x in w] for w in parts] == [list("100"), list("010"), list("001")]


def test_krawczyk_refuses_double_zeros_and_finds_single_ones():
    def square(shift, x):
        return arb_mat([[x[0] * x[0] - shift]]), arb_mat([[2 * x[0]]])

    (root,) = enclose(functools.partial(square, arb(2)), [1.4])
    assert (root * root).contains(2)
    assert float(root.rad()) < 1e-30
    assert enclose(functools.partial(square, arb(0)), [1e-3]) is None
    assert enclose(functools.partial(square, arb(-1)), [1.0]) is None


def test_numbers_that_are_no_doubles_are_taken_exactly():
    """Of one row x the limit is a multiple of x; (1/3)^-(nu + 1) is that of 1/3."""
    limit = power_tail([["1/3", "2/7"]], "1/3")
    assert all(v.rad() < 1e-25 for v in limit.value)
    assert (limit.value[0] * 6 - limit.value[1] * 7).contains(0)


def test_what_has_no_limit_is_refused():
    with pytest.raises(NotSeparable):
        power_tail([[1, 2], [-1, -2]], 1)
    for nu in (0, -1, "x"):
        with pytest.raises(InputError):
            power_tail([[1, 2]], nu)
    with pytest.raises(NumericalError, match="multipliers"):
        tail_rates([[1, 0], [1, 5]], 2)
