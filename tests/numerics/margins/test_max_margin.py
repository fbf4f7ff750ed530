"""Exact margins: certificates, SciPy, degenerate data, rates, and what is refused."""

import functools
import importlib
import json
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb, arb_mat
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, lsq_linear
from scipy.special import logsumexp

from derive import InputError
from derive.separable.rates import tail_rate
from numerics import NotSeparable, max_margin
from numerics.margins.interval import enclose
from tests.cli.commands import assert_answers, refusal_of, run
from tests.numerics.margins.certificate import certifies, combined, dot, lifted, refutes

NORMS = ("l2", "l1", "linf", "softmax")


def drawn(rng, norm):
    """Rows of small whole numbers, with ties in plenty; half of them separable on purpose."""
    m, d = rng.randint(1, 12), rng.randint(1, 8)
    w = [rng.randint(-3, 3) for _ in range(d)]
    X = [[rng.randint(-3, 3) for _ in range(d)] for _ in range(m)]
    if norm == "softmax":
        far = rng.choice([1, 4])
        centres = [[far * rng.randint(-2, 2) for _ in range(d)] for _ in range(3)]
        labels = [i % 3 for i in range(max(m, 3))]
        rows = [[c + rng.randint(1 - far // 2, 1) for c in centres[k]] for k in labels]
        return rows, labels
    if rng.random() < 0.7:
        X = [[-c for c in x] if dot(x, w) < 0 else x for x in X]
    return X, None


def of_scipy(X, norm):
    """The largest margin, from another form of the problem and another method."""
    X = np.array(X, float)
    m, d = X.shape
    if norm == "l2":
        A = np.vstack([X.T, np.ones(m)])
        a = lsq_linear(A, np.append(np.zeros(d), 1), bounds=(0, np.inf), method="bvls", tol=1e-15).x
        slack = 1 - a.sum()
        return slack / np.linalg.norm(X.T @ a)
    # max t s.t. X w >= t, |w| <= 1
    if norm == "l1":
        A = np.block([[-X, X, np.ones((m, 1))], [np.ones((1, 2 * d)), np.zeros((1, 1))]])
        found = linprog(np.append(np.zeros(2 * d), -1), A, np.append(np.zeros(m), 1))
    else:
        A = np.hstack([-X, np.ones((m, 1))])
        bounds = [(-1, 1)] * d + [(None, None)]
        found = linprog(np.append(np.zeros(d), -1), A, np.zeros(m), bounds=bounds)
    return -found.fun


def checked(X, labels, norm):
    """Certify an answer, compare it with SciPy, and return it; None for data that cancel."""
    rows = X if labels is None else lifted(X, labels)
    own = "l2" if norm == "softmax" else norm
    try:
        found = max_margin(X, labels, norm)
    except NotSeparable as none:
        weights = none.certificate.weights
        found = None
    if found is None:
        assert refutes(rows, weights)
        return None
    assert certifies(rows, own, found.value, found.multiplier)
    assert float(found.margin) == pytest.approx(of_scipy(rows, own), abs=1e-9)
    assert found.tight == tuple(i for i, x in enumerate(rows) if dot(x, found.value) == 1)
    if not found.degenerate and own == "l2" and found.determined:
        assert all(found.multiplier[i] > 0 for i in found.tight)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("norm", NORMS)
def test_certificates(norm):
    rng = random.Random(1)
    answers = [checked(*drawn(rng, norm), norm) for _ in range(225)]
    assert any(a is None for a in answers)
    assert any(a is not None and a.degenerate for a in answers)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_entries_on_one_side_of_0(norm):
    """SciPy agrees; multipliers bound the norm from below, and rows that cancel all margins."""
    rng, ends = random.Random(0), set()
    for _ in range(40):
        X, _ = drawn(rng, norm)
        sides = tuple(rng.choice((-1, 0, 1)) for _ in X[0])
        d, size = len(sides), np.ones(len(X[0]))
        bound = [(0 if s > 0 else None, 0 if s < 0 else None) for s in sides]
        t = np.eye(d) if norm == "l1" else np.ones((d, 1))
        A = np.block(
            [[-np.array(X), 0 * t[:1].repeat(len(X), 0)], [np.eye(d), -t], [-np.eye(d), -t]]
        )
        right = np.append(-np.ones(len(X)), np.zeros(2 * d))
        cost = np.append(0 * size, np.ones(t.shape[1]))
        best = linprog(cost, A, right, bounds=bound + [(None, None)] * t.shape[1])
        try:
            found = max_margin(X, norm=norm, sides=sides)
        except NotSeparable as none:
            pulled = combined(X, none.certificate.weights)
            assert best.status == 2
            assert all(s * x <= 0 if s else x == 0 for s, x in zip(sides, pulled, strict=True))
            ends.add("none")
            continue
        assert all(s * x >= 0 for s, x in zip(sides, found.value, strict=True))
        assert min(dot(x, found.value) for x in X) == 1
        assert float(1 / found.margin) == pytest.approx(best.fun, abs=1e-9)
        if any(sides):
            assert found.sides == sides
            ends.add("some")
    assert ends == {"none", "some"}


def test_a_forged_certificate_is_refused():
    X = [[1, 2], [2, -1], [5, 5]]
    found = max_margin(X)
    assert certifies(X, "l2", found.value, found.multiplier)
    half = [y / 2 for y in found.multiplier]
    assert not certifies(X, "l2", found.value, half)
    assert not certifies(X, "l2", [2 * x for x in found.value], [2 * y for y in found.multiplier])
    found = max_margin(X, norm="l1")
    assert not certifies(X, "l1", found.value, [y / 2 for y in found.multiplier])
    assert not certifies(X, "linf", found.value, found.multiplier)
    assert not refutes(X, [Fraction(1), Fraction(0), Fraction(0)])


@pytest.mark.parametrize(
    ("X", "degenerate", "determined"),
    [
        ([[1, 0], [1, 5], [0, 1]], False, True),
        ([[1, 0], [1, 5]], True, True),  # both have margin 1, the second without a multiplier
        ([[1, 1], [1, -1], [1, 0]], False, False),  # all three may have one
        ([[1, 0], [1, 0], [2, 1]], False, True),  # copies share one
        ([[2, -3], [0, -3], [-3, -3]], False, False),
        ([[1, 0, 0], [1, 1, 0], [1, -1, 0], [1, 0, 1]], True, False),
    ],
)
def test_degenerate_rows_of_l2(X, degenerate, determined):
    found = max_margin(X)
    assert (found.degenerate, found.determined) == (degenerate, determined)
    assert found.loss_constant == sum(found.multiplier)
    assert (found.gap_constant is None) == (not determined)


@pytest.mark.parametrize(
    ("norm", "X", "degenerate"),
    [
        ("l1", [[1, 1]], True),
        ("l1", [[2, 1]], False),
        ("l1", [[2, 3], [-2, 5]], False),
        ("linf", [[1, 0]], True),
        ("linf", [[1, 2]], False),
        ("l1", [[1, 0], [0, 1]], False),
    ],
)
def test_whether_the_solution_is_unique(norm, X, degenerate):
    assert max_margin(X, norm=norm).degenerate is degenerate


END = 1e6


def run_to_the_end(X):
    """The margins and |w| of a linear model at log t = END/2 and END: ds/dlog t = t exp(-u)."""
    X = np.array(X, float)
    gram = X @ X.T
    found = solve_ivp(
        lambda tau, s: np.exp(tau - gram @ s),
        (0, END),
        np.zeros(len(X)),
        method="BDF",
        jac=lambda tau, s: -np.exp(tau - gram @ s)[:, None] * gram,
        t_eval=(END / 2, END),
        rtol=1e-12,
        atol=1e-10,
    )
    return [(gram @ s, np.sqrt(s @ gram @ s)) for s in found.y.T]


def check_rates(X):
    """t L(t), log t times the gap and the offsets of support vectors, against a run.

    The gap times log t has an error of order 1/log t, which both times take away.
    """
    found = max_margin(X)
    half, (u, norm) = run_to_the_end(X)
    assert np.exp(END + logsumexp(-u)) == pytest.approx(float(found.loss_constant), rel=1e-5)
    first, last = (
        tau * (float(found.margin) - v.min() / size)
        for tau, (v, size) in ((END / 2, half), (END, (u, norm)))
    )
    assert 2 * last - first == pytest.approx(float(found.gap_constant), rel=1e-5, abs=1e-6)
    for i in found.support:
        offset = -np.log(float(found.multiplier[i]))
        assert u[i] - END == pytest.approx(offset, rel=1e-5, abs=1e-5)


def regular(rng):
    """Rows whose constants are known, drawn."""
    while True:
        X, _ = drawn(rng, "l2")
        try:
            found = max_margin(X)
        except NotSeparable:
            continue
        if found.gap_constant is not None and len(found.support) > 1:
            return X


def test_rates_of_degenerate_data():
    """The margin has the constants of support vectors; the direction is slower, by log log t."""
    X = [[1, 0, 0], [0, 2, 0], [0.5, 1, 5]]
    assert max_margin(X).degenerate
    check_rates(X)
    # Across the span of support vectors, that is along the last axis, the limit has nothing.
    half, end = (np.linalg.solve(X, u)[2] / size for u, size in run_to_the_end(X))
    slope = (end * END - half * END / 2) / np.log(2)
    assert slope == pytest.approx(float(max_margin(X).turn_constant), rel=1e-4)


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


SPANNED = [[2, 3], [-2, 5]]


@pytest.mark.every(2)
@pytest.mark.parametrize("nu", [0.5, 1.5, 3])
def test_the_gap_of_other_tails(nu):
    constant = max_margin(SPANNED).gap_of(Fraction(nu), sympy.S.Zero)
    ends = np.array([5e5, 1e6])
    first, last = ends * gaps(SPANNED, duals(SPANNED, nu, ends))
    assert 2 * last - first == pytest.approx(float(constant), rel=1e-3)


def test_what_is_across_the_support_vectors_slows_thin_tails():
    X, ends = [[2, 0], [3, 1]], np.array([1e4, 1e6])
    assert max_margin(X).gap_of(Fraction(3)) is None
    (power, _), _ = tail_rate("margin", Fraction(3))
    first, last = gaps(X, duals(X, 3, ends))
    assert np.log(first / last) / np.log(100) == pytest.approx(float(power), abs=0.02)


def test_normalised_steps():
    """Small steps along the gradient over its length: 1/(sum of steps), not 1/sqrt."""
    X, w, eta = np.array(SPANNED, float), np.array([0.3, 0.1]), 0.02
    seen = []
    for k in range(1, 40_001):
        p = np.exp(-(u := X @ w) + u.min())
        step = p @ X
        w = w + eta * step / np.linalg.norm(step)
        if k in (20_000, 40_000):
            seen.append(k * eta * gaps(SPANNED, w[None])[0])
    constant = max_margin(SPANNED).step_constant
    assert 2 * seen[1] - seen[0] == pytest.approx(float(constant), rel=1e-3)


def test_degenerate_data_have_an_iterated_logarithm():
    X = [[1, 0], [1, 5]]
    found = max_margin(X)
    first, second = (np.array(w, float) for w in (found.value, found.second))
    ends = np.array([1e3, 1e6])
    rest = (duals(X, 1, ends) - ends[:, None] * first) @ second / (second @ second)
    assert np.diff(rest) == pytest.approx(np.diff(np.log(ends)), rel=1e-3)
    assert max_margin(SPANNED).turn_constant == 0
    assert max_margin([[1, 1], [1, -1], [1, 0]]).turn_constant is None


def test_krawczyk_refuses_double_zeros_and_finds_single_ones():
    def square(shift, x):
        return arb_mat([[x[0] * x[0] - shift]]), arb_mat([[2 * x[0]]])

    (root,) = enclose(functools.partial(square, arb(2)), [1.4])
    assert (root * root).contains(2)
    assert float(root.rad()) < 1e-30
    assert enclose(functools.partial(square, arb(0)), [1e-3]) is None
    assert enclose(functools.partial(square, arb(-1)), [1.0]) is None


@pytest.mark.slow
def test_rates_of_many_linear_models():
    check_rates([[1, 2], [2, -1], [5, 5]])
    rng = random.Random(5)
    for _ in range(20):
        check_rates(regular(rng))


def test_constants_are_logarithms_of_rationals():
    found = max_margin([[2, 3], [-2, 5]])
    logs = found.gap_constant.atoms(sympy.log)
    assert logs
    assert all(x.args[0].is_Rational for x in logs)
    same = max_margin([[1, 1], [1, -1]])
    assert same.gap_constant == 0
    assert json.loads(same.to_json())["gap_constant"] == "0"


@pytest.mark.parametrize(
    ("X", "labels", "said"),
    [
        ([[1, float("nan")]], None, "finite"),
        ([[1, float("inf")]], None, "finite"),
        ([], None, "empty"),
        ([[]], None, "empty"),
        ("1 2", None, "sequence"),
        (5, None, "sequence"),
        ([[1, 2], [3]], None, "row 2"),
        ([[1, 2], [3, 4]], ["a", "a"], "all examples are of class a"),
        ([[1, 2], [3, 4]], ["a"], "2 rows"),
        ([[1, True]], None, "number"),
    ],
)
def test_bad_data_are_refused_in_a_line(X, labels, said):
    with pytest.raises(InputError, match=said) as refused:
        max_margin(X, labels)
    assert "\n" not in str(refused.value)


def test_an_unknown_norm_is_refused():
    with pytest.raises(InputError, match="l1, linf"):
        max_margin([[1]], norm="l1/2")


def test_a_row_of_zeros_is_not_separable():
    with pytest.raises(NotSeparable) as none:
        max_margin([[1, 2], [0, 0]], norm="l1")
    assert none.value.certificate.weights == (0, 1)


NINE = [[1, 2, 0], [2, -1, 1], [-3, 1, 2], [0, -2, -3], [1, 1, 1], [2, 0, -1], [-1, 3, 0]]
NINE += [[0, 1, -2], [-2, -1, 1]]


@pytest.mark.parametrize("norm", ["l2", "l1", "linf", "l3", "l4/3", "dft"])
def test_separability_is_decided_before_any_norm(monkeypatch, norm):
    """The solver of a norm is not asked where a combination of the rows is 0."""
    room = importlib.import_module("numerics.margins.max_margin")
    asked = []
    for name in ("nearest", "least_norm", "interval"):
        real = getattr(room, name)
        monkeypatch.setattr(room, name, lambda *a, f=real, **k: asked.append(1) or f(*a, **k))
    with pytest.raises(NotSeparable) as none:
        max_margin(NINE, norm=norm)
    y = none.value.certificate.weights
    assert sum(y) == 1
    assert min(y) >= 0
    assert all(
        sum(a * x for a, x in zip(y, column, strict=True)) == 0
        for column in zip(*NINE, strict=True)
    )
    assert asked == []
    max_margin([row for row in NINE if row[0] > 0], norm=norm)
    assert asked == [1] * (1 + (norm == "l2"))  # across the support vectors, too


def test_a_norm_is_refused_before_separability_is_asked():
    with pytest.raises(InputError, match="two classes"):
        max_margin([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"], norm="l3")


def test_one_row_and_many_rows():
    assert max_margin([[3, 4]]).value == (Fraction(3, 25), Fraction(4, 25))
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, size=(10_000, 3)) * 2 + 1
    X = X * np.sign(X @ [3, 2, 2])[:, None]  # odd numbers, so never 0
    X = X.tolist()
    found = max_margin(X)
    assert certifies(X, "l2", found.value, found.multiplier)


def test_classes():
    found = max_margin([[2, 1], [1, 3]], ["b", "a"])
    assert found.classes == ("a", "b")
    assert combined([[2, 1], [-1, -3]], found.multiplier) == list(found.value)
    assert max_margin([[2, 1], [1, 3]], [10, 9]).value == found.value


def written(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("height,width,kind\n2,3,1\n-2,5,1\n1,-9/2,0\n\n", 0, "beta = (0, 1/3)"),
        ("1,2,a\n2,4,b\n", 1, "add up to 0"),
    ],
)
def test_the_command_on_data(tmp_path, text, code, said):
    path = written(tmp_path, text)
    done = run("margin", "p**2 - m**2", "--start", "p=1,m=1", "--data", path)
    assert_answers(done, code, [said])


@pytest.mark.parametrize(
    ("outputs", "code", "said"),
    [
        (["w**2"], 0, "l1 margin, beta >= 0, certified in rational numbers\n  margin = 1\n"),
        (["w**2", "w2**2 - w3**2", "--start", "w2=1,w3=1"], 0, "l1 margin, beta1 >= 0"),
        (["-w**2", "w2"], 3, "no horizon"),
        (["w**2 - v**2", "--start", "w=1,v=1"], 0, "beta = (1/3, -1/3)"),
        (["w**(3/2)"], 3, "on the beta that are reached alone"),  # l_(4/3) of copies
        (["a**2", "2*b**2"], 3, "on the beta that are reached alone"),
        (["(a + b)**4", "--norm", "l1"], 0, "beta = (1/3, -1/3)"),
        (["a*u1", "a*u2", "--steepest", "oo"], 0, "largest linf margin"),
        (["a*u1 + b*v1", "a*u2 + b*v2", "--steepest", "3"], 3, "give a norm"),
    ],
)
def test_half_lines_on_data(tmp_path, outputs, code, said):
    """The least l1 norm is at (1/3, -1/3), which no w**2 has: of these it is at (1, 0)."""
    path = written(tmp_path, "1,-2,1\n2,-1,1\n-1,2,0\n")
    done = run("margin", *outputs, "--data", path)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_data_that_the_beta_that_are_reached_do_not_separate(tmp_path):
    done = run("margin", "w**2", "--data", written(tmp_path, "-1,-2,1\n1,2,0\n"))
    assert_answers(done, 1, ["no predictor that is reached"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,a\n3,nan,b\n", "line 2, entry 2"),
        ("1,2,a\n3,b\n", "line 2 has 2 entries"),
        ("1\n2\n", "two entries or more"),
        ("", "no rows"),
        ("a,b\n", "no rows"),
        ("1,2,a\n3,4,a\n", "all examples are of class a"),
        ("1,1e999999999,a\n3,4,b\n", "exponent"),
    ],
)
def test_a_bad_table_is_refused_in_a_line(tmp_path, text, said):
    path = written(tmp_path, text)
    assert said in refusal_of("margin", "w", "--data", path)


def test_the_features_have_to_fit(tmp_path):
    path = written(tmp_path, "1,2,3,a\n3,4,5,b\n")
    assert "2 outputs" in refusal_of("margin", "a*u1", "a*u2", "--data", path)


@pytest.mark.slow
def test_long_numbers_are_written():
    """Data in doubles have multipliers of thousands of digits."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 180))
    found = max_margin((X * np.sign(X @ rng.standard_normal(180))[:, None]).tolist())
    assert max(y.denominator for y in found.multiplier) > 10**4300
    assert sympy.N(found.margin, 8) == sympy.N(json.loads(found.to_json())["margin"].rstrip("."), 8)
    assert "log(t) (margin" in found.to_text()
