"""Matrices of open size: flows of the weights at three sizes, and what is refused."""

import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest
import sympy
from scipy.optimize import least_squares, linprog
from scipy.special import softmax

from derive import InputError, Parameterization, Verdict
from derive.certificate.checking.check import check_text
from derive.model.matrices import MatrixMap
from derive.weights.orbit import Orbit
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once
from tests.witnesses.flows import Flows, end_of

SYMMETRIC, PRODUCT = {"W": "n x r"}, {"U": "n x r", "V": "m x r"}


def parse(text, matrices, measurements="commuting"):
    return Parameterization.parse([text], matrices=matrices, measurements=measurements)


def orthonormal(n, rng):
    return np.linalg.qr(rng.normal(size=(n, n)))[0]


def flow_of(terms, start):
    """Return the flow of the entries of beta = sum c A B^T, by F alone, and the weights of it."""
    ends = np.cumsum([w.size for w in start.values()])[:-1]

    def weights(flat):
        parts = zip(start.items(), np.split(flat, ends, -1), strict=True)
        return {name: x.reshape(*flat.shape[:-1], *w.shape) for (name, w), x in parts}

    def F(flat):
        w = weights(flat)
        beta = sum(float(c) * w[a] @ np.swapaxes(w[b], -1, -2) for a, b, c in terms)
        return beta.reshape(*flat.shape[:-1], -1)

    return Flows.of_function(F, start.values()), weights


def limit_of(terms, start, X, y, rate=None):
    """Return the weights where gradient flow on the squared loss ends, and beta as a function."""
    flows, weights = flow_of(terms, start)
    end = weights(flows.fitted(X.reshape(len(X), -1), y, rate))
    return end, lambda w: sum(float(c) * w[a] @ w[b].T for a, b, c in terms)


def moved_by_loss_weights(terms, start, X, y):
    """Return how far apart the limits of two losses are."""
    ends = []
    for rate in (np.array([1.0, 1.0]), np.array([1.0, 20.0])):
        end, beta = limit_of(terms, start, X, y, rate)
        ends.append(beta(end))
    return np.linalg.norm(ends[1] - ends[0]), ends[0]


def bases_of(model, size, a, rng):
    """Return bases of both sides, and measurements that are diagonal in them."""
    n, m = size
    E = orthonormal(n, rng)
    H = E if model.is_square else orthonormal(m, rng)
    count = a.shape[1]
    return E, H, np.array([(E[:, :count] * row) @ H[:, :count].T for row in a])


def drawn_start(model, size, columns, rng):
    return {x: rng.normal(size=(size[x not in model.lefts], columns)) for x in model.names}


def off_row(a, moved):
    """Return the part of a vector outside of the row space of a, relative to the vector."""
    rest = moved - a.T @ np.linalg.lstsq(a.T, moved, rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(moved)


def lengths_of(model, rows, k):
    stacked = np.array([rows[name][k] for name in model.names])
    return [
        np.sqrt(sum(np.sum((np.array(v, float).ravel() @ stacked) ** 2) for v in vectors))
        for _, vectors in model.eigenspaces
    ]


CASES = [
    ("W*T(W)", SYMMETRIC, (2, 2), 3),
    ("W*T(W)", SYMMETRIC, (4, 4), 2),
    ("U*T(V)", PRODUCT, (3, 2), 1),
    ("U*T(V)", PRODUCT, (3, 5), 4),
    ("U*T(U) - V*T(V)", {"U": "n x r", "V": "n x r"}, (3, 3), 2),
    ("2*U*T(U) + V*T(V)/3", {"U": "n x r", "V": "n x r"}, (3, 3), 3),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("text", "matrices", "size", "r"), CASES)
def test_flows_from_any_start_move_grad_q_in_the_row_space(text, matrices, size, r):
    model = parse(text, matrices)
    d, rng, count = derive_once(model), np.random.default_rng(7), min(size)
    assert d.verdict is Verdict.PROVED
    a = rng.normal(size=(max(1, count - 1), count))
    E, H, X = bases_of(model, size, a, rng)
    start = drawn_start(model, size, r, rng)
    aim = {x: w + 0.3 * rng.normal(size=w.shape) for x, w in start.items()}
    y = np.tensordot(X, sum(float(c) * aim[a] @ aim[b].T for a, b, c in model.terms), 2)
    end, beta = limit_of(model.terms, start, X, y)
    basis = {x: E if x in model.lefts else H for x in model.names}
    turned, moved, changes = {x: basis[x].T @ w for x, w in start.items()}, [], []
    for k in range(count):
        first = map(float, lengths_of(model, turned, k))
        symbols = d.entry.parameterization.start_symbols
        q = d.entry.potential.numeric(dict(zip(symbols, first, strict=True)))
        b, before = ((E.T @ beta(w) @ H)[k, k] for w in (end, start))
        changes.append(b - before)
        moved.append(float(np.asarray(q.gradient(np.array([b]))).ravel()[0]))
    assert off_row(a, np.array(moved)) < 1e-9
    if count > 1:
        assert off_row(a, np.array(changes)) > 1e-4  # as of Q = |b|^2/2


@pytest.mark.every(4)
@pytest.mark.parametrize(("text", "matrices"), [("W*T(W)", SYMMETRIC), ("U*T(V)", PRODUCT)])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_steering_tells_general_measurements_from_commuting_ones(text, matrices, n):
    """Loss weights steer beta elsewhere where there is no Q, and nowhere where there is one."""
    model, rng = parse(text, matrices, "general"), np.random.default_rng(3)
    assert derive_once(model).verdict is Verdict.REFUTED
    W = np.eye(n) + 0.3 * rng.normal(size=(n, n))
    start = dict.fromkeys(model.names, W)  # balanced
    draws = [rng.normal(size=(n, n)) for _ in range(2)]
    E = orthonormal(n, rng)
    for commuting, X in (
        (True, np.array([(E * np.diag(x)) @ E.T for x in draws])),
        (False, np.array([x + x.T for x in draws])),
    ):
        aim = W + 0.8 * rng.normal(size=(n, n))
        y = np.tensordot(X, aim @ aim.T, 2)
        apart, end = moved_by_loss_weights(model.terms, start, X, y)
        apart /= np.linalg.norm(end - W @ W.T)
        assert apart < 1e-7 if commuting else apart > 1e-3


@pytest.mark.parametrize(
    ("text", "matrices", "size"),
    [
        ("W*T(W)", SYMMETRIC, (3, 3)),
        ("U*T(V)", PRODUCT, (3, 4)),
        ("2*U*T(U) + V*T(V)/3", {"U": "n x r", "V": "n x r"}, (3, 3)),
    ],
)
def test_vanishing_starts_end_at_the_least_nuclear_norm(text, matrices, size):
    model, rng = parse(text, matrices), np.random.default_rng(5)
    d = derive_once(model)
    assert d.gives_nuclear_norm
    assert any("nuclear norm" in s.words for s in d.statements)
    a, y = np.array([[1.0, 2.0, 0.5]]), np.array([2.0])
    _, _, X = bases_of(model, size, a, rng)
    start = {x: 1e-4 * w for x, w in drawn_start(model, size, 3, rng).items()}
    end, beta = limit_of(model.terms, start, X, y)
    least = linprog(np.ones(6), A_eq=np.hstack([a, -a]), b_eq=y, bounds=(0, None)).fun
    assert abs(np.linalg.norm(beta(end), "nuc") / least - 1) < 0.05


@pytest.mark.parametrize(
    ("text", "matrices", "size"),
    [
        ("U*T(V)", PRODUCT, (3, 4)),
        ("U*T(U) - V*T(V)", {"U": "n x r", "V": "n x r"}, (3, 3)),
        ("W*T(W)", SYMMETRIC, (3, 3)),
        ("2*U*T(U) + V*T(V)/3", {"U": "n x r", "V": "n x r"}, (3, 3)),
    ],
)
def test_separable_data_end_at_the_largest_nuclear_margin(text, matrices, size):
    """In the time of log 1/L, from a start that is not small."""
    model, rng = parse(text, matrices), np.random.default_rng(2)
    d = derive_once(model)
    assert d.gives_nuclear_margin
    assert any("nuclear norm 1" in s.words for s in d.statements)
    positive = all(mu > 0 for mu, _ in model.eigenspaces)
    a = np.array([[1.0, 2.0, -0.5], [0.5, -1.0, -2.0 if positive else 2.0]])
    _, _, X = bases_of(model, size, a, rng)
    start = drawn_start(model, size, 2, rng)

    rows = X.reshape(2, -1)

    def pull(_, w):
        return flows.velocity(w, rows.T @ softmax(-rows @ flows.F(w)))

    flows, _ = flow_of(model.terms, start)
    end = end_of(pull, flows.w0, (0, 5), method="LSODA", rtol=1e-7, atol=1e-6)
    begin, end = (flows.F(w).reshape(size) for w in (flows.w0, end))
    margin = np.tensordot(X, end, 2).min() / np.linalg.norm(end, "nuc")
    free = np.hstack([a, -a])
    of_signs = a if positive else free
    least, other = (
        linprog(np.ones(x.shape[1]), A_ub=-x, b_ub=-np.ones(2), bounds=(0, None)).fun
        for x in (of_signs, free)
    )
    assert abs(margin * least - 1) < 0.02
    assert least > 1.2 * other or of_signs is free  # of beta >= 0, and not of all
    before = np.tensordot(X, begin, 2).min() / np.linalg.norm(begin, "nuc")
    assert abs(before * least - 1) > 0.1


def test_margins_over_a_half_line_are_of_flows_whose_direction_converges():
    d = derive_once(parse("W*T(W)", SYMMETRIC))
    (said,) = (s for s in d.statements if "nuclear norm 1" in s.words)
    assert "of all `beta >= 0`" in said.words
    assert any("b(t)/|b(t)|` converges" in str(c) for c in said.conditions)
    weighted = dataclasses.replace(
        d.margins, shape=dataclasses.replace(d.margins.shape, cone=2 * d.margins.shape.cone)
    )
    assert not dataclasses.replace(d, margins=weighted).gives_nuclear_margin


@pytest.mark.parametrize("commutes", [True, False])
def test_correlations_are_kept_and_q_is_of_eigenvalues_where_the_start_commutes(commutes):
    model, rng = parse("W*T(W)", SYMMETRIC), np.random.default_rng(11)
    said = [s.words for s in derive_once(model).statements if s.kind == "conserved"]
    assert any("where `O^T beta_0 O` is diagonal" in x for x in said)
    n = 3
    E, a = orthonormal(n, rng), np.array([[1.0, 2.0, -0.5], [0.5, 1.0, 2.0]])
    X = np.array([(E * row) @ E.T for row in a])
    W = E * np.array([0.5, 1.0, 1.5]) if commutes else rng.normal(size=(n, n))
    aim = W + 0.3 * rng.normal(size=(n, n))
    end, beta = limit_of(model.terms, {"W": W}, X, np.tensordot(X, aim @ aim.T, 2))
    ends = [E.T @ b @ E for b in (W @ W.T, beta(end))]
    kept = [b / np.sqrt(np.outer(np.diag(b), np.diag(b))) for b in ends]
    assert np.abs(kept[1] - kept[0]).max() < 1e-8
    # log of beta: the gradient of tr(beta log beta - beta), a function of eigenvalues
    spectra = (np.linalg.eigh(b) for b in ends)
    moved = np.subtract(*((V * np.log(x)) @ V.T for x, V in spectra))
    rows = np.array([np.diag(row) for row in a]).reshape(2, -1)
    assert (off_row(rows, moved.ravel()) < 1e-8) == commutes


def end_of_three(start, X, y, rows):
    """Return beta = U B C where square factors end that fit y."""

    def F(flat):
        U, B, C = np.moveaxis(flat.reshape(*flat.shape[:-1], *start.shape), -3, 0)
        return (U @ B @ C).reshape(*flat.shape[:-1], -1)

    flows = Flows.of_function(F, start)
    return F(flows.fitted(X.reshape(len(X), -1), y, rows)).reshape(start.shape[1:])


def test_balanced_factors_that_are_not_aligned_have_limits_that_loss_weights_move():
    """Of three factors under commuting measurements; aligned ones keep their limit."""
    rng, n = np.random.default_rng(2), 3
    a = np.array([[1.0, 2.0, 0.5], [0.5, -1.0, 2.0]])
    E, H = orthonormal(n, rng), orthonormal(n, rng)
    X = np.array([(E * row) @ H.T for row in a])
    one, two, D = orthonormal(n, rng), orthonormal(n, rng), np.diag([0.8, 1.0, 1.2])
    inner = [one @ D @ two.T, two @ D @ H.T]
    aligned, other = E @ D @ one.T, orthonormal(n, rng) @ D @ one.T
    apart = []
    for first in (aligned, other):  # each is balanced: W_l^T W_l = W_{l+1} W_{l+1}^T
        start = np.array([first, *inner])
        assert np.allclose(start[0].T @ start[0], start[1] @ start[1].T)
        b = np.linalg.multi_dot(start)
        y = np.tensordot(X, b + 0.4 * np.linalg.norm(b) * E @ np.diag([1, 0.5, 0.7]) @ H.T, 2)
        rates = np.array([[1.0, 1.0], [1.0, 10.0]])
        ends = [end_of_three(start, X, y, rate) for rate in rates]
        apart.append(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[0] - b))
    assert apart[0] < 1e-7
    assert apart[1] > 1e-3


def test_nothing_is_said_of_vanishing_starts_where_the_limit_depends_on_the_start():
    d = derive_once(parse("W*T(W)", SYMMETRIC))
    weighted = dataclasses.replace(
        d.vanishing,
        potential=dataclasses.replace(
            d.vanishing.potential, Q=d.vanishing.potential.Q * sympy.Symbol("w_1")
        ),
    )
    d = dataclasses.replace(d, vanishing=weighted)
    assert not d.gives_nuclear_norm
    assert not any("least nuclear norm" in s.words for s in d.statements)


def test_the_entry_is_derived_by_the_ordinary_road_and_certified():
    d = derive_once(parse("U*T(V)", PRODUCT))
    alone = derive_once(Parameterization(["(x**2 - z**2)/2"], positive=["x", "z"]))
    assert d.entry.potential.Q == alone.potential.Q
    report = check_text(d.to_json())
    assert report.verdict == "PROVED"
    assert any("every size" in x for x in report.open)
    record = json.loads(d.to_json())
    assert record["parameterization"]["measurements"] == "commuting"
    for form in (d.to_text(), d.to_latex(standalone=True), d.to_html()):
        assert "nuclear norm" in form


@pytest.mark.parametrize(
    ("text", "matrices", "words"),
    [
        ("T(W)*W", SYMMETRIC, "sum of products"),
        ("W*T(W)*W*T(W)", SYMMETRIC, "each once"),
        ("U*B*V", {"U": "n x r", "B": "s x r", "V": "s x m"}, "columns and rows of one size"),
        ("W", SYMMETRIC, "sum of products"),
        ("a*W*T(W)", SYMMETRIC, "other weights"),
        ("U*T(V)", {"U": "n x r", "V": "m x s"}, "as many columns"),
        ("A*T(H)", {"A": "n x r", "H": "m x r"}, "something else"),
        ("W*T(W)", {"W": "n"}, "written n x r"),
        ("U*T(U) + U*T(V)", {"U": "n x r", "V": "n x r"}, "not rational"),
    ],
)
def test_what_is_no_such_form_is_refused(text, matrices, words):
    with pytest.raises(InputError, match=words):
        derive_once(parse(text, matrices))


def test_unknown_measurements_are_refused():
    with pytest.raises(InputError, match="choose one of commuting"):
        MatrixMap.parse(["W*T(W)"], SYMMETRIC, "random")


DEEP = {"U": "n x r", "B": "r x s", "V": "m x s"}


def test_three_factors_have_a_spectral_q_from_aligned_starts():
    d = derive_once(parse("U*B*T(V)", DEEP))
    assert d.verdict is Verdict.PROVED
    assert d.entry.potential.Q == derive_once("d**3", positive=["d"]).potential.Q
    assert d.gives_nuclear_norm
    assert check_text(d.to_json()).verdict == "PROVED"
    for form in (d.to_text(), d.to_latex(standalone=True), d.to_html()):
        assert "singular values" in form
    assert derive_once(parse("U*B*T(V)", DEEP, "general")).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("shapes", "asked"),
    [
        (DEEP, ["`r >= min(n, m)`", "`s >= min(n, m)`"]),
        ({"U": "n x n", "B": "n x m", "V": "m x m"}, []),
        ({"U": "3 x r", "B": "r x 4", "V": "5 x 4"}, ["`r >= 3`"]),
    ],
)
def test_no_factor_is_narrower_than_beta(shapes, asked):
    """Else some b_k stay 0: with X = diag(1, 2), y = 2 and one column b = (2, 0), not (0, 1)."""
    p = parse("U*B*T(V)", shapes)
    assert list(p.asked) == asked
    assert all({*asked} <= {*s.conditions} for s in derive_once(p).statements)
    with pytest.raises(InputError, match="narrow"):
        parse("U*B*T(V)", {"U": "3 x 2", "B": "2 x 2", "V": "3 x 2"})


def test_small_aligned_starts_of_three_factors_end_at_the_least_nuclear_norm():
    rng, n, alpha = np.random.default_rng(1), 2, 0.02
    bases = [orthonormal(n, rng) for _ in range(4)]
    X = np.array([bases[0] * np.array([1.0, 2.0]) @ bases[3].T])
    start = alpha * np.array([left @ right.T for left, right in pairwise(bases)])
    end = end_of_three(start, X, np.array([2.0]), None)
    # The least of b_1 + b_2 where b_1 + 2 b_2 = 2.
    assert abs(np.linalg.norm(end, "nuc") - 1) < 0.02
    off = bases[0].T @ end @ bases[3]
    assert abs(off[0, 1]) + abs(off[1, 0]) < 1e-8


HALF = {"b": "1/2"}
CONVOLVED = ["a*d + b*f + c*e", "a*e + b*d + c*f", "a*f + b*e + c*d"]
FAMILIES = [  # of given size, by the ordinary road: what has a Q, and what beside it has none
    ([CONVOLVED[0], f"{CONVOLVED[1]} + {CONVOLVED[2]}"], {}, Verdict.PROVED),
    (CONVOLVED[:2], {}, Verdict.REFUTED),
    (["a**2 + b**2", "b**2 + c**2"], HALF, Verdict.PROVED),
    (["a**2 + b**2", "a*b + b*c"], HALF, Verdict.REFUTED),
    (["u1*v1*w1 + u2*v2*w2"], {}, Verdict.PROVED),
    (["u1*v1*w1 + u2*v2*w2", "u1*v1*x1 + u2*v2*x2"], {}, Verdict.REFUTED),
]


@pytest.mark.parametrize(("outputs", "rates", "verdict"), FAMILIES)
def test_even_convolutions_squares_on_the_diagonal_and_tensors(outputs, rates, verdict):
    assert derive_once(Parameterization.parse(outputs, rates=rates)).verdict is verdict


# X of 2 x 3 entries: in common bases, and not.
SHARED = [[1, 2, 0, 2, 1, 0], [3, 1, 0, 1, 3, 0]], [[1, 0, 2, 0, 1, 0], [0, 1, 1, 2, 0, 3]]
RANKS = [  # of W W^T and U V^T, from starts with 1, 2, ... columns
    ("W*T(W)", {"W": "n x r"}, 2, (2, 3)),
    ("W*T(W)", {"W": "n x r"}, 3, (3, 5, 6)),
    ("U*T(V)", {"U": "2 x r", "V": "2 x r"}, 2, (3, 4)),
    ("U*T(V)", {"U": "3 x r", "V": "3 x r"}, 3, (5, 8, 9)),
]


@pytest.mark.parametrize(("text", "matrices", "n", "dimensions"), RANKS)
def test_two_measurements_steer_to_all_matrices_of_the_rank_of_the_start(
    text, matrices, n, dimensions
):
    rng = np.random.default_rng(n)
    model = parse(text, matrices, rng.integers(-5, 6, (2, n * n)).tolist())
    orbits = [Orbit(model, (n, n), model.given, r) for r in range(1, n + 1)]
    assert tuple(o.dimension for o in orbits) == dimensions
    assert orbits[0].is_whole
    d = derive_once(model)
    assert d.orbit.width == next(r for r, x in enumerate(dimensions, 1) if x > 2)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_two_measurements_steer_to_every_matrix_of_the_rank_of_the_start(rank):
    """By flows of W in pieces; by measurements that commute not."""
    told = derive_once(parse("W*T(W)", SYMMETRIC, "general")).statements
    said = [s for s in told if s.conditions]
    assert any("to every `beta >= 0` of the rank of `beta_0`" in s.words for s in said)
    rng, n = np.random.default_rng(rank), 3
    one, two = (x + x.T for x in rng.normal(size=(2, n, n)))
    start, aim = (w @ w.T for w in rng.normal(size=(2, n, rank)))

    def missed(*X):
        bases = [np.linalg.eigh(x / np.linalg.norm(x)) for x in X] * 6

        def moved(times):
            G = np.eye(n)
            for s, (values, E) in zip(times, bases, strict=True):
                G = (E * np.exp(s * values)) @ E.T @ G
            return (G @ start @ G.T - aim).ravel()

        for _ in range(4):
            found = least_squares(moved, rng.normal(size=12), bounds=(-5, 5), max_nfev=200)
            if (off := np.linalg.norm(found.fun)) < 1e-6:
                break
        return off

    assert missed(one, two) < 1e-6
    assert missed(one, one @ one) > 0.05


def test_given_measurements_are_told_apart_by_their_bases():
    shapes = {"U": "2 x r", "V": "3 x r"}
    one, other = (derive_once(parse("U*T(V)", shapes, X)) for X in SHARED)
    assert (one.verdict, other.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    assert one.entry is not None
    rng = np.random.default_rng(4)
    start = {"U": rng.normal(size=(2, 2)), "V": rng.normal(size=(3, 2))}
    aim = (start["U"] + 0.5) @ (start["V"] - 0.5).T
    for d in (one, other):
        X = np.array(d.parameterization.given, float).reshape(2, 2, 3)
        y = np.tensordot(X, aim, 2)
        apart, _ = moved_by_loss_weights(d.parameterization.terms, start, X, y)
        assert apart < 1e-7 if d is one else apart > 1e-3


FIXING = [
    ("W*T(W)", SYMMETRIC, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], (2, 2, 2)),
    ("W*T(W)", {"W": "2 x 1"}, "general", (2, 2, 1)),
    ("W*T(W)", {"W": "n x 1"}, "general", (2, 2, 1)),
    ("U*T(V)", {"U": "1 x r", "V": "2 x r"}, "general", (1, 2, 2)),
]


@pytest.mark.parametrize(("text", "shapes", "X", "at"), FIXING)
def test_measurements_that_fix_all_that_they_reach_are_outputs_without_a_q(text, shapes, X, at):
    d = derive_once(parse(text, shapes, X))
    assert (*d.fixed.size, d.fixed.width) == at
    assert d.verdict is d.entry.verdict is Verdict.REFUTED
    assert (d.orbit is not None) == (shapes == {"W": "n x 1"})
    assert check_text(d.to_json()).verdict == "REFUTED"
    assert any("grad Q(beta))' = g" in s.words for s in d.statements)
    assert r"\nabla Q(\beta))'" in d.to_latex(standalone=True)
    assert "<math" in d.to_html()


@pytest.mark.parametrize(
    ("text", "shapes", "verdict"),
    [
        ("W*T(W)", {"W": "1 x r"}, Verdict.PROVED),
        ("U*T(V)", {"U": "1 x r", "V": "1 x r"}, Verdict.PROVED),
        ("U*T(V)", {"U": "1 x 1", "V": "m x 1"}, Verdict.UNDECIDED),  # a*u, which has a Q
        ("U*T(V)", {"U": "2 x r", "V": "1 x r"}, Verdict.REFUTED),
    ],
)
def test_no_block_is_larger_than_the_matrices(text, shapes, verdict):
    d = derive_once(parse(text, shapes, "general"))
    assert d.verdict is verdict
    assert (d.fixed is not None) == (verdict is Verdict.REFUTED)


NEURONS = [({"U": "1 x r", "V": "m x r"}, (1, 4)), ({"U": "n x r", "V": "1 x r"}, (4, 1))]


def neurons(shape, a, V):
    """Return the weights of sums of neurons, the row and the rest."""
    return {"U": a, "V": V} if shape[0] == 1 else {"U": V, "V": a}


@pytest.mark.parametrize(("shapes", "shape"), NEURONS)
def test_many_neurons_from_small_starts_of_any_shape_end_near_the_least_l2_norm(shapes, shape):
    """The error is of the order of the start, and a start that is not small ends elsewhere."""
    said = [s.words for s in derive_once(parse("U*T(V)", shapes, "general")).statements]
    assert any("O(alpha)` of that of least `|beta|_2`" in x for x in said)
    rng, errors = np.random.default_rng(3), []
    X, a, V = rng.normal(size=(2, *shape)), rng.normal(size=(1, 3)), rng.normal(size=(4, 3))
    y = np.array([1.0, -0.5])
    least = (np.linalg.pinv(X.reshape(2, 4)) @ y).reshape(shape)
    for alpha in (1.0, 1e-1, 1e-2, 1e-3):
        end, beta = limit_of([("U", "V", 1)], neurons(shape, alpha * a, alpha * V), X, y)
        errors.append(np.linalg.norm(beta(end) - least) / alpha)
    assert errors[0] > 0.3
    assert max(errors[1:]) < 5 * min(errors[1:])


@pytest.mark.parametrize("balanced", [True, False])
def test_many_neurons_that_start_balanced_minimise_what_one_does(balanced):
    said = derive_once(parse("U*T(V)", NEURONS[0][0], "general")).statements
    assert any("from `U_0^T U_0 = V_0^T V_0` the flow is that of one" in s.words for s in said)
    rng = np.random.default_rng(4)
    X, a, u = rng.normal(size=(2, 1, 4)), rng.normal(size=(1, 3)), rng.normal(size=(4, 1))
    V = u / np.linalg.norm(u) @ a if balanced else u @ a
    end, beta = limit_of([("U", "V", 1)], {"U": a, "V": V}, X, np.array([1.0, -0.5]))
    b, b0 = beta(end).ravel(), (a @ V.T).ravel()
    slope = b / np.linalg.norm(b) ** 0.5 - b0 / np.linalg.norm(b0) ** 0.5
    assert (off_row(X.reshape(2, 4), slope) < 1e-8) == balanced


@pytest.mark.parametrize("measurements", ["commuting", "general"])
def test_a_record_says_no_other_verdict_than_its_proof(measurements):
    record = json.loads(derive_once(parse("U*T(V)", PRODUCT, measurements)).to_json())
    verdict = {"verdict": "REFUTED" if record["verdict"] == "PROVED" else "PROVED"}
    finding = {"finding": record["finding"] | verdict}
    for forged in (verdict, finding, verdict | finding):
        assert_rejected(record | forged, f"the record proves {record['verdict']}")
    assert_rejected(record | {"also": "r = 1"}, "missing or unknown")


@pytest.mark.parametrize("forged", [{"dimension": 5}, {"X": [["1", "0", "0", "2"]] * 2}])
def test_the_reach_of_measurements_is_certified(forged):
    text = derive_once(parse("U*T(V)", PRODUCT, "general")).to_json()
    assert check_text(text).verdict == "REFUTED"
    record = json.loads(text)
    record["orbit"] |= forged
    assert_rejected(record)


@pytest.mark.parametrize("shift", [0.0, 1.5, None])
def test_k_of_a_product_is_a_function_of_beta_where_it_is_said_to_be(shift):
    """From U^T U - V^T V = shift I the flow keeps U U^T = (d + sqrt(d^2 + 4 B B^T))/2."""
    said = [
        s for s in derive_once(parse("U*T(V)", PRODUCT, "general")).statements if "closed" in s.kind
    ]
    assert ["no function" in s.words for s in said] == [True, False]
    n, rng = 3, np.random.default_rng(6)
    V = np.eye(n) + 0.3 * rng.normal(size=(n, n))
    U = rng.normal(size=(n, n))
    if shift is not None:
        values, E = np.linalg.eigh(V.T @ V + shift * np.eye(n))
        U = orthonormal(n, rng) * np.sqrt(values) @ E.T
    X = rng.normal(size=(4, n, n))
    y = np.tensordot(X, (U + 0.3) @ (V - 0.3).T, 2)
    end, beta = limit_of([("U", "V", 1)], {"U": U, "V": V}, X, y)
    B, d = beta(end), shift or 0.0
    values, E = np.linalg.eigh(B @ B.T)
    P = (E * (d + np.sqrt(d**2 + 4 * values)) / 2) @ E.T
    assert np.abs(end["U"] @ end["U"].T - P).max() < 1e-8 or shift is None
    assert np.abs(end["U"] @ end["U"].T - P).max() > 1e-2 or shift is not None
