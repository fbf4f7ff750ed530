"""More families of open size: flows that know F alone, and what is said of them."""

import numpy as np
import pytest

from derive import Verdict
from tests.published import derive_once
from tests.test_open_matrices import PRODUCT, off_row, parse
from tests.witnesses.flows import Flows, end_of


def relu_net(start, X, slope_of_loss, c, time, steps=6000):
    """Return a and V after Euler steps on sum_j a_j sigma(<v_j, x_i>), v_j in columns."""
    a, V = start
    for _ in range(steps):
        inner = X @ V
        active = np.where(inner > 0, 1.0, c)
        pull = slope_of_loss((active * inner) @ a)
        steer = X.T @ (pull[:, None] * active)  # a column g_j for each unit
        step = time / steps
        a, V = a + step * np.sum(V * steer, axis=0), V + step * steer * a
    return a, V


def test_relu_units_stay_active_on_acute_data_and_move_in_the_span():
    d = derive_once(parse("U*T(V)", {"U": "1 x r", "V": "m x r"}, "general"))
    assert any("stay active" in s.words for s in d.statements if s.kind == "active unit")
    rng = np.random.default_rng(4)
    X = np.abs(rng.normal(size=(3, 5)))
    a, V = rng.uniform(0.3, 1, 4), np.linalg.pinv(X) @ rng.uniform(0.2, 1, (3, 4))
    V = V + (np.eye(5) - np.linalg.pinv(X) @ X) @ rng.normal(size=(5, 4))
    for c, sign, acute in ((0.0, 1, True), (0.3, 1, True), (0.3, -1, False)):
        rows = X if acute else np.array([X[0], X[1] - 2 * X[0], X[2]])
        begin = V if acute else V * np.where(rng.uniform(size=4) > 0.5, 1, -1)
        ends = relu_net((a, begin), rows, lambda f, s=sign: s / (1 + np.exp(s * f)), c, 3.0)
        off = np.eye(5) - np.linalg.pinv(rows) @ rows
        assert np.abs(off @ (ends[1] - begin)).max() < 1e-8
        balance = [u**2 - np.sum(W**2, axis=0) for u, W in ((a, begin), ends)]
        assert np.abs(balance[1] - balance[0]).max() < 1e-2
        assert (np.min(rows @ ends[1]) > 0 and np.min(ends[0]) > 0) == acute


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("even", [True, False])
def test_circular_convolution_under_even_measurements_is_a_product_of_width_two(n, even):
    """b_k = Re(u^_k v^_k) is <row k, row k> in the Fourier basis, of every length and any start."""
    d, rng = derive_once(parse("U*T(V)", PRODUCT, "diagonal")), np.random.default_rng(n)
    count, shift = n // 2 + 1, [(-k) % n for k in range(n)]
    X = rng.normal(size=(max(1, count - 1), n))
    X = X + X[:, shift] if even else X
    places = np.array([[(i - j) % n for j in range(n)] for i in range(n)])

    def convolved(flat):
        return np.einsum("...ij,...j->...i", flat[..., :n][..., places], flat[..., n:])

    begin = rng.normal(size=2 * n)
    y = X @ convolved(begin + 0.4 * rng.normal(size=2 * n))
    end = Flows.of_function(convolved, begin).fitted(X, y)

    def rows(flat):
        u, v = np.fft.fft(flat.reshape(2, n))[:, :count]
        return u, v.conj()

    (u, v), (u_1, v_1), moved = rows(begin), rows(end), []
    for k in range(count):
        lengths = [np.abs(u[k] + v[k]) / np.sqrt(2), np.abs(u[k] - v[k]) / np.sqrt(2)]
        symbols = d.entry.parameterization.start_symbols
        q = d.entry.potential.numeric(dict(zip(symbols, map(float, lengths), strict=True)))
        b = np.array([float((u_1[k] * v_1[k].conj()).real)])
        moved.append(float(np.asarray(q.gradient(b)).ravel()[0]))
    assert (off_row(np.fft.fft(X).real[:, :count], np.array(moved)) < 1e-9) == even


@pytest.mark.parametrize("n", [2, 3, 5])
def test_squares_of_symmetric_matrices_scale_rows_as_sinkhorn_does(n):
    """Of W^2 on its diagonal, W symmetric: T = W o W keeps the form D M D, with sums b of rows."""
    rng = np.random.default_rng(n)
    W = rng.normal(size=(n, n))
    W, rows = W + W.T, max(1, n - 1)

    def squared(flat):
        V = flat.reshape(*flat.shape[:-1], n, n)
        return (V @ V).reshape(flat.shape)

    for diagonal in (True, False):
        X = np.array([np.diag(x) for x in rng.normal(size=(rows, n))])
        X = X if diagonal or n == 2 else X + 0.5 * np.roll(np.eye(n), 1, 0)
        X = (X + X.transpose(0, 2, 1)) / 2
        aim = W + 0.3 * rng.normal(size=(n, n))
        y = np.tensordot(X, (aim + aim.T) @ (aim + aim.T) / 4, 2)
        end = Flows.of_function(squared, W).fitted(X.reshape(rows, -1), y)
        V = end.reshape(n, n)
        grown = np.log(V**2 / W**2).ravel()
        # dQ = sum_k nu_k db_k with b = T 1 is log(T/M)_kl/4 = (nu_k + nu_l)/2, nu in the span of a
        forms = np.array([np.add.outer(np.diag(x), np.diag(x)).ravel() for x in X])
        assert (off_row(forms, grown) < 1e-8) == (diagonal or n == 2)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_tensors_of_any_rank_decouple_under_diagonal_measurements(n):
    """b_k = sum_l u_kl v_kl w_kl moves by itself: one mu_k for all l, in the span of a."""
    rng, rank = np.random.default_rng(n), 2
    begin = rng.normal(size=3 * n * rank)
    a = rng.normal(size=(max(1, n - 1), n))

    def of(count):
        return lambda w: np.prod(w.reshape(*w.shape[:-1], 3, count, rank), axis=-3).sum(axis=-1)

    b = of(n)

    y, one = a @ b(begin + 0.3 * rng.normal(size=begin.size)), np.ones(1)
    flows = Flows.of_function(b, begin)

    def timed(_, state):
        pull = a.T @ (y - a @ b(state[:-n]))
        return np.concatenate([flows.velocity(state[:-n], pull), pull])

    end = end_of(timed, np.append(begin, np.zeros(n)), (0, 300), method="LSODA")
    assert np.abs(a @ b(end[:-n]) - y).max() < 1e-9
    again = []
    for k in range(n):  # one output, from the same start, steered for the time mu_k
        single = Flows.of_function(of(1), begin.reshape(3, n, rank)[:, k])
        ((alone, _),) = single.steered([one], end[k - n])
        again.append(*of(1)(alone))
    assert np.allclose(again, b(end[:-n]), atol=1e-8)
    assert off_row(a, end[-n:]) < 1e-9
    assert derive_once(["u1*v1*w1 + u2*v2*w2"]).verdict is Verdict.PROVED


@pytest.mark.parametrize(("text", "unit"), [("2*U*B*T(V)", 2), ("-U*B*T(V)", -1), ("U*B*T(V)", 1)])
def test_a_multiple_of_a_product_has_its_verdict_and_q(text, unit):
    """Q is that of the product at beta/c."""
    shapes = {"U": "n x r", "B": "r x s", "V": "m x s"}
    d, plain = (derive_once(parse(x, shapes)) for x in (text, "U*B*T(V)"))
    assert d.verdict is plain.verdict is Verdict.PROVED
    (b,), q = d.entry.beta, d.entry.potential.Q
    own = plain.entry.potential.Q.subs(plain.entry.beta[0], b / unit)
    (start,) = own.free_symbols - {b}
    for x in (0.7, 1.9):
        at = {b: unit * x, start: 0.8}
        assert abs(q.subs(at) - own.subs(at)) < 1e-12
    assert ("<= 0" in d.parameterization.among) == (unit < 0)


@pytest.mark.parametrize("text", ["2*U*T(V)", "-U*T(V)", "U*T(V)/3"])
def test_a_multiple_of_a_sum_of_neurons_tends_where_that_does(text):
    d, plain = (
        derive_once(parse(x, {"U": "1 x r", "V": "m x r"}, "general")) for x in (text, "U*T(V)")
    )
    said = [[s.words for s in x.statements if s.kind == "regime"] for x in (d, plain)]
    assert said[0] == said[1] != []
    assert d.verdict is plain.verdict
