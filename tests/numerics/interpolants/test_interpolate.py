"""The interpolant of least Q, against optimality conditions, other solvers and flows."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sympy
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from derive import InputError
from numerics import interpolate, interpolate_path
from numerics.interpolants.design import Dense
from numerics.interpolants.dual_newton import search
from numerics.interpolants.interpolant import Status
from tests.published import derive_once


def potential(*outputs, **options):
    return derive_once(outputs, **options).potential


PAIR = {"start": {"p": "alpha", "m": "alpha"}, "positive": ["alpha"]}


@cache
def tied(alpha):
    return potential("p**2-m**2", **PAIR).numeric({"alpha": alpha})


def gaussian(m, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, d)), rng.standard_normal(m)


def check(q, X, y, s, tol=1e-10):
    """Test both optimality conditions, which suffice as Q is strictly convex."""
    assert s.converged
    assert s.status is Status.CONVERGED
    scale = max(np.linalg.norm(y), np.linalg.norm(X @ np.resize(q.beta0, X.shape[1]) - y))
    assert np.linalg.norm(X @ s.value - y) <= tol * scale
    dual = X.T @ s.multiplier
    assert np.abs(q.gradient(s.value) - dual).max() <= tol * max(np.abs(dual).max(), 1e-300)


SEPARABLE = {
    "explicit, linear": (("w",), {}, {"w_0": 1}),
    "explicit, one-sided": (("w**2",), {}, {"w_0": "-3/2"}),
    "explicit, log": (("exp(w)",), {}, {"w_0": "1/3"}),
    "explicit, asinh": (("p**2-m**2",), PAIR, {"alpha": Fraction(1, 2)}),
    "explicit, own start": (("u*v-x*y",), {}, {"u_0": 1, "v_0": "1/2", "x_0": "-1/4", "y_0": 2}),
    "parametric, depth 3": (("p**3-m**3",), PAIR, {"alpha": "1/2"}),
    "parametric, depth 5": (("p**5-m**5",), PAIR, {"alpha": 1}),
    "algebraic": (("3*p**2-2*m**2",), {}, {"p_0": 1, "m_0": "1/2"}),
    "two roots": (("a*b*c",), {"start": {"a": "s", "b": "s", "c": "t"}}, {"s": 1, "t": 2}),
    "quadrature": (("w+w**3",), {}, {"w_0": "-1/2"}),
    "quadrature with an edge": (("a*b*c",), {}, {"a_0": 1, "b_0": "1/2", "c_0": "3/4"}),
    "different blocks": (("w1**2", "w2**3", "w3"), {}, {"w1_0": 1, "w2_0": "1/2", "w3_0": 0}),
}
COUPLED = {
    "neuron": (("a*u1", "a*u2"), {}, {"a_0": 1, "u1_0": "1/4", "u2_0": "-1/2"}),
    "neuron in three dimensions": (
        ("a*u1", "a*u2", "a*u3"),
        {},
        {"a_0": 1, "u1_0": "1/4", "u2_0": "-1/2", "u3_0": 1},
    ),
    "deep neuron": (
        ("a*b*u1", "a*b*u2"),
        {},
        {"a_0": 1, "b_0": "3/4", "u1_0": "1/4", "u2_0": "1/2"},
    ),
    "symmetric pair": (
        ("u1*v1+u2*v2", "u1*v2+u2*v1"),
        {},
        {"u1_0": 2, "u2_0": "1/2", "v1_0": "1/4", "v2_0": 1},
    ),
    "coupled quadrature": (
        ("a*b*c*u1", "a*b*c*u2"),
        {},
        {"a_0": 1, "b_0": "3/4", "c_0": "5/4", "u1_0": "1/4", "u2_0": "1/2"},
    ),
    "pair and a coordinate": (
        ("u1*v1+u2*v2", "u1*v2+u2*v1", "w**2"),
        {},
        {"u1_0": 2, "u2_0": "1/2", "v1_0": "1/4", "v2_0": 1, "w_0": 1},
    ),
}
OTHERS = {
    "square": (("w**2",), {}, {"w_0": 1}),
    "exponential": (("exp(w)",), {}, {"w_0": 0}),
    "beside others": (
        (*(f"w{i}**2" for i in range(8)), "p**2-m**2"),
        PAIR,
        {"alpha": 1, **{f"w{i}_0": 1 for i in range(8)}},
    ),
    "cone": (  # |beta_2| < beta_1
        ("u1*v1+u2*v2", "u1*v2+u2*v1"),
        {"start": {"u1": "s", "v1": "s", "u2": "t", "v2": "t"}},
        {"s": 1, "t": "1/2"},
    ),
}


@cache
def named(name):
    """Return the Q of a row of the tables above."""
    outputs, options, start = (SEPARABLE | COUPLED | OTHERS)[name]
    return potential(*outputs, **options).numeric(start)


def reachable(q, d, m, seed):
    """Return X, y and the optimum: a beta whose mirror map is in the row space of X."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    multiplier = rng.standard_normal(m) / 10
    for _ in range(20):
        beta = q.inverse_gradient(X.T @ multiplier)
        if np.isfinite(beta).all():
            return X, X @ beta, beta
        multiplier /= 2
    raise AssertionError("no dual vector in the range")


@pytest.mark.every(12)
@pytest.mark.parametrize("name", [*SEPARABLE, *COUPLED])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_is_found(name, seed):
    q = named(name)
    assert q.separable == (name in SEPARABLE)
    d = 8 if q.d == 1 else q.d
    X, y, beta = reachable(q, d, max(1, d // 3) if q.separable else d - 1, seed)
    s = interpolate(q, X, y)
    check(q, X, y, s)
    assert np.allclose(s.value, beta, rtol=1e-6, atol=1e-8)


def test_beyond_an_edge_nothing_is_defined():
    """The leaf of a b c ends at finite dual times; points beyond are nan, in any order."""
    q = named("quadrature with an edge")
    dual = np.array([2.0, 0.1, np.nan, -9, -0.1, 1, 30, -10])
    beta = q.inverse_gradient(dual)
    inside = np.array([False, True, False, False, True, True, False, False])
    assert (np.isfinite(beta) == inside).all()
    assert np.allclose(q.gradient(beta[inside]), dual[inside])


def nearly_dependent():
    """Singular values from 1 to 1e-5: products of the rows themselves lose ten digits."""
    X, y = gaussian(20, 60, seed=1)
    left, _, right = np.linalg.svd(X, full_matrices=False)
    return left * np.logspace(0, -5, 20) @ right, y


OF_TIED_PAIRS = {  # X and y, the scales of the start, and the tolerance
    "loose": (gaussian(10, 40), ("1", "1e-6", "1e-12"), 1e-6),
    "tight": (gaussian(10, 40), ("1", "1e-6", "1e-12"), 1e-13),
    "columns of different sizes": (
        (gaussian(20, 20, seed=9)[0] * np.logspace(0, 4, 20), gaussian(20, 20, seed=9)[1]),
        ("1e-4", "1e-8", "1e-12"),
        1e-9,
    ),
    "nearly dependent rows": (nearly_dependent(), ("1", "1e-4", "1e-8", "1e-12"), 1e-10),
}


@pytest.mark.parametrize("name", OF_TIED_PAIRS)
def test_the_tolerance_is_met_in_few_steps(name):
    (X, y), scales, tol = OF_TIED_PAIRS[name]
    for alpha in scales:
        s = interpolate(tied(alpha), X, y, tol=tol)
        check(tied(alpha), X, y, s, tol)
        assert s.iterations < 60


def mask(X):
    return X * (np.abs(X) > 0.7)


FORMS = {
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "view": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr array": scipy.sparse.csr_array,
    "coo matrix": scipy.sparse.coo_matrix,
    "operator": aslinearoperator,
    "operator of a sparse array": lambda X: aslinearoperator(scipy.sparse.csc_array(X)),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_X(form):
    X, y = gaussian(6, 20)
    X = mask(X)
    reference = interpolate(tied("1/10"), X, y)
    s = interpolate(tied("1/10"), FORMS[form](X), y)
    check(tied("1/10"), X, y, s)
    assert np.allclose(s.value, reference.value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int8, bool, np.float32, np.float16])
def test_number_types_count_at_their_value(dtype):
    X = np.array([[1, 2, 3, 0], [0, 1, 100, 7]]).astype(dtype)
    y = np.array([1, 101]).astype(dtype)
    s = interpolate(tied("1/10"), X, y)
    check(tied("1/10"), X.astype(float), y.astype(float), s)
    assert s.value.dtype == np.float64


def replaced(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


X4, Y4 = gaussian(4, 12)
REFUSED = {
    "nan in X": (replaced(X4, (1, 2), np.nan), Y4, "row 1 of X .* nan or inf"),
    "inf in X": (replaced(X4, (2, 2), np.inf), Y4, "row 2 of X .* nan or inf"),
    "inf - inf in X": (
        replaced(replaced(X4, (2, 2), np.inf), (2, 3), -np.inf),
        Y4,
        "row 2 of X .* nan or inf",
    ),
    "nan in a sparse X": (
        scipy.sparse.csr_array(replaced(X4, (1, 2), np.nan)),
        Y4,
        "row 1 of X .* nan or inf",
    ),
    "nan in an operator": (
        aslinearoperator(replaced(X4, (1, 2), np.nan)),
        Y4,
        "product .* nan or inf",
    ),
    "masked X": (np.ma.masked_array(X4, X4 > 2), Y4, "masked"),
    "masked y": (X4, np.ma.masked_array(Y4, Y4 > 2), "masked"),
    "nan in y": (X4, replaced(Y4, 1, np.nan), "entry 1 of y .* nan or inf"),
    "inf in y": (X4, replaced(Y4, 3, -np.inf), "entry 3 of y .* nan or inf"),
    "y too long": (X4, np.ones(5), "X has 4 rows but y has shape"),
    "y a column": (X4, np.ones((4, 1)), "y has shape"),
    "y a number": (X4, 1.0, "y has shape"),
    "X a vector": (np.ones(3), [1], "must be a matrix"),
    "X a tensor": (np.ones((2, 2, 2)), [1, 1], "must be a matrix"),
    "X None": (None, [1], "must be a matrix"),
    "no rows": (np.ones((0, 5)), [], "empty"),
    "no columns": (np.ones((5, 0)), np.ones(5), "empty"),
    "nothing": ([], [], "must be a matrix"),
    "ragged": ([[1, 2], [1]], [1, 2], "rows of one length"),
    "text": ([["1", "2"]], [1], "real numbers"),
    "text in y": ([[1, 2]], ["1"], "real numbers"),
    "complex X": (X4 + 1j, Y4, "complex"),
    "complex sparse X": (scipy.sparse.csr_array(X4 + 1j), Y4, "complex"),
    "complex y": (X4, Y4 + 1j, "complex"),
    "X overflows": (1e200 * X4, Y4, "overflows"),
    "X underflows": (replaced(X4, 1, 1e-200), Y4, "row 1 .* underflows"),
    "y overflows": (X4, 1e200 * Y4, "too large"),
    "no adjoint": (
        LinearOperator((4, 12), matvec=lambda v: X4 @ v, dtype=np.float64),
        Y4,
        "rmatvec",
    ),
    "no products": (
        LinearOperator((4, 12), matvec=lambda v: v, rmatvec=lambda u: X4.T @ u, dtype=np.float64),
        Y4,
        "a product with X fails: cannot reshape",
    ),
    "complex products": (
        LinearOperator((4, 12), lambda v: 1j * X4 @ v, lambda u: X4.T @ u, dtype=np.float64),
        Y4,
        "not real numbers",
    ),
    "no true adjoint": (
        LinearOperator((4, 12), lambda v: X4 @ v, lambda u: 2 * X4.T @ u, dtype=np.float64),
        Y4,
        "not the adjoint",
    ),
    "repeated row": (X4[[0, 1, 1, 2]], Y4, "row 2 .* combination of row 1; y is not"),
    "repeated row of a sparse X": (
        scipy.sparse.csr_array(X4[[0, 1, 1, 2]]),
        Y4,
        "row 2 .* combination of row 1; y is not",
    ),
    "dependent row": (
        np.vstack([X4, 3 * X4[0] - X4[1]]),
        np.append(Y4, 1),
        "row 4 .* combination of rows 0, 1; y is not",
    ),
    "zero row": (np.vstack([X4, 0 * X4[0]]), np.append(Y4, 1), "row 4 .* zero; y is 1 there"),
    "more rows than columns": (X4.T, np.ones(12), "is a combination of rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_data_gets_one_line(name):
    X, y, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        interpolate(tied("1/10"), X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"tol": 0}, {"tol": np.nan}, {"tol": "a"}, {"max_iterations": 0}, {"max_iterations": True}],
)
def test_bad_options_get_one_line(options):
    with pytest.raises(InputError, match="must be"):
        interpolate(tied("1/10"), X4, Y4, **options)


@pytest.mark.parametrize("alpha", [0, "0", -1, True])
def test_a_start_that_cannot_move_is_refused(alpha):
    with pytest.raises(InputError, match=r"alpha > 0|True"):
        tied(alpha)


def test_symbols_are_no_numbers():
    with pytest.raises(InputError, match="numeric"):
        interpolate(potential("p**2-m**2", **PAIR), X4, Y4)
    with pytest.raises(InputError, match="12 columns but Q has 2"):
        interpolate(named("neuron"), X4, Y4)


POSITIVE = np.abs(X4)


@pytest.mark.parametrize("name", ["square", "exponential"])
@pytest.mark.parametrize("y", [-np.abs(Y4), [1, 1, 1, -1]], ids=["all", "one"])
def test_targets_outside_the_range_are_refused(name, y):
    row = int(np.flatnonzero(np.asarray(y) < 0)[0])
    with pytest.raises(InputError, match=f"out of reach.* as row {row} shows"):
        interpolate(named(name), POSITIVE, y)


def test_several_rows_put_a_target_out_of_reach():
    """Each row has beta of both signs; their sum has none, and is to be negative."""
    X = np.vstack([X4[0], POSITIVE[1] - X4[0]])
    with pytest.raises(InputError, match=r"out of reach.* as a combination of rows 0, 1 shows"):
        interpolate(named("square"), X, [1, -2])


def test_rows_that_are_out_of_reach_count_the_dropped_ones():
    X = np.vstack([POSITIVE[:1], POSITIVE[:1], np.eye(12)[3]])
    with pytest.raises(InputError, match="as row 2 shows"):
        interpolate(named("square"), X, [5, 5, -1])


DEPENDENT = {
    "repeated": (X4[[0, 1, 1, 2]], Y4[[0, 1, 1, 2]], (2,)),
    "combined": (np.vstack([X4, 3 * X4[0] - X4[1]]), np.append(Y4, 3 * Y4[0] - Y4[1]), (4,)),
    "nearly repeated": (np.vstack([X4, X4[0] + 1e-14 * X4[1] ** 3]), np.append(Y4, Y4[0]), (4,)),
    "zero": (np.vstack([X4, 0 * X4[0]]), np.append(Y4, 0), (4,)),
    "only zeros": (np.zeros((2, 12)), np.zeros(2), (0, 1)),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_rows_that_follow_from_others_are_dropped(name):
    X, y, dropped = DEPENDENT[name]
    s = interpolate(tied("1/10"), X, y)
    check(tied("1/10"), X, y, s)
    assert s.dropped == dropped
    assert not s.multiplier[list(dropped)].any()
    assert "dropped" in s.message


def test_close_rows_are_kept():
    """Control: a row at a relative distance of 1e-6 is independent, and counts."""
    X = np.vstack([X4, X4[0] + 1e-6 * X4[1] ** 3])
    y = np.append(Y4, Y4[0] + 1e-6)
    s = interpolate(tied("1/10"), X, y)
    assert s.dropped == ()
    check(tied("1/10"), X, y, s)


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12])
@pytest.mark.parametrize("name", ["tied pair", "square", "depth 3", "neuron"])
def test_tiny_targets_are_met_to_their_own_digits(name, size):
    X, y = np.array([[2.0, 1.0, 0.0], [0.5, 0.0, 1.0]]), np.array([3.0, 1.0]) * size
    models = {
        "tied pair": tied("1/10"),
        "square": named("square"),
        "depth 3": potential("p**3-m**3", **PAIR).numeric({"alpha": "1/2"}),
        "neuron": named("neuron"),
    }
    q = models[name]
    X, y = (X, y) if q.d == 1 else (X[:1, 1::-1], y[:1])
    s, other = (interpolate(q, X, target) for target in (y, y * (1 + 1e-9)))
    missed, wrong = (float(np.linalg.norm(X @ x.value - y)) for x in (s, other))
    tol, rounding = 1e-10 * np.linalg.norm(y), 2e-15 * np.linalg.norm(X) * np.linalg.norm(s.value)
    assert s.converged
    assert missed <= max(tol, rounding)
    # beta of the neuron does not vanish with y. The others are told from the solution of another y,
    # which relative to X beta_0 they are not.
    assert rounding < tol or name == "neuron"
    assert wrong > tol or name == "neuron"


@pytest.mark.parametrize("step", [1e-6, 1e-12])
def test_targets_next_to_the_start_move_beta(step):
    X, y = gaussian(3, 8)
    moved = X.sum(axis=1) + step * y
    s = interpolate(named("square"), X, moved)
    assert s.converged
    nearest = np.linalg.pinv(X) @ (step * y)  # as Q is a quadratic form so near to beta_0
    assert np.linalg.norm(s.value - 1 - nearest) < (1e-3 + step) * np.linalg.norm(nearest) + 1e-15
    # A coordinate that stays 0, right to its own rounding, leaves the others as they were.
    both = interpolate(named("beside others"), np.column_stack([X, np.zeros(3)]), moved)
    assert both.converged
    assert np.array_equal(both.value, [*s.value, 0])


def test_limits_are_told():
    s = interpolate(tied("1e-6"), X4, Y4, max_iterations=1)
    assert (s.status, s.converged, s.iterations) == (Status.ITERATION_LIMIT, False, 1)
    assert "max_iterations" in s.message
    X = np.diag([1, 1, 500, 1]) @ X4
    s = interpolate(tied("1/10"), X, Y4, tol=1e-15)
    assert s.status is Status.STALLED
    assert "rounding" in s.message
    assert s.residual > 1e-15


@pytest.mark.parametrize("span", [5, 9, 16, 60, 250])
@pytest.mark.parametrize("alpha", ["10", "1e-1", "1e-8"])
def test_rows_of_different_lengths(alpha, span):
    """A row times a power of 2 is the same equation: the same beta, to the last bit."""
    X, y = gaussian(20, 60)
    powers = np.round(np.linspace(-span / 2, span / 2, 20) / np.log10(2))
    units = 2.0**powers
    s = interpolate(tied(alpha), units[:, None] * X, units * y, tol=1e-13)
    check(tied(alpha), X, y, replace(s, multiplier=units * s.multiplier), 1e-12)
    assert "cancel" not in s.message
    again = interpolate(tied(alpha), units[::-1, None] * X, units[::-1] * y, tol=1e-13)
    assert np.allclose(again.value, s.value, rtol=1e-9, atol=1e-12)


def test_long_rows_that_cancel_are_told():
    X, y = gaussian(20, 60)
    lengths = np.logspace(-6, 6, 20)
    s = interpolate(tied("1/10"), lengths[:, None] * X, y)
    check(tied("1/10"), X, y / lengths, replace(s, multiplier=lengths * s.multiplier), 1e-12)
    assert "cancel" in s.message
    assert np.linalg.norm(lengths * (X @ s.value) - y) > 1e-10 * np.linalg.norm(y)


def test_line_search_ends_on_slopes_that_do_not_rise():
    assert search(lambda t: -1.0, -1.0)[1] is False
    assert search(lambda t: np.nan if t > 1e-9 else -1.0, -1.0)[1] is False
    assert search(lambda t: 1e308 if t > 1e-3 else t - 1e-3, -1e-3)[1]
    assert search(lambda t: t, 0.0) == (0.0, False)


EDGES = [  # of a coupled domain: at the wall, next to it, and beyond it
    ("cone", [1, 1], (0, 1e-9, -1)),
    ("cone", [1, 0], (0, 1e-3, -1)),
    ("cone", [1, -1], (0, 1e-9, -1)),
    ("cone", [2, 1], (0, 1e-3, -1)),
    ("pair and a coordinate", [0, 0, 1], (0, 1e-8, -1)),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "row", "targets"), EDGES, ids=str)
def test_targets_about_the_boundary_of_a_coupled_domain(name, row, targets):
    at, near, beyond = targets
    q = named(name)
    s = interpolate(q, [row], [at])
    assert s.status is Status.BOUNDARY
    assert "no beta fits" in s.message
    s = interpolate(q, [row], [near])
    check(q, np.array([row]), np.array([near]), s)
    assert s.iterations < 40
    with pytest.raises(InputError, match="out of reach"):
        interpolate(q, [row], [beyond])


@pytest.mark.parametrize("alpha", ["1e-100", "1e-300", "1e200"])
def test_scales_beyond_double_precision_get_one_line(alpha):
    with pytest.raises(InputError, match="the start is too small or too large"):
        interpolate(tied(alpha), X4, Y4)
    assert interpolate(tied("1e-70"), X4, Y4).converged
    assert interpolate(tied("1e100"), X4, Y4).converged


@pytest.mark.parametrize(
    "form",
    [np.asarray, scipy.sparse.csr_array, aslinearoperator],
    ids=["array", "sparse", "operator"],
)
def test_targets_out_of_reach_among_many_columns(form):
    """Of 3000 columns the program takes a part; a combination of two rows is positive."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 3000)), rng.standard_normal(5)
    X[3], y[3] = np.abs(X[3]) - X[1], -1 - y[1]
    with pytest.raises(InputError, match=r"out of reach.* rows"):
        interpolate(named("square"), form(X), y)
    reached = interpolate(named("square"), form(X), X @ rng.uniform(0.5, 2, 3000))
    assert reached.converged


@pytest.mark.parametrize("seed", range(12))
def test_the_boundary_is_where_a_linear_program_finds_no_positive_solution(seed):
    """``max t`` subject to ``X beta = y, beta_j >= t`` is 0 where only a boundary point fits."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    d = int(rng.integers(m + 1, 20))
    X, beta = np.abs(rng.normal(size=(m, d))), np.zeros(d)
    beta[:k] = rng.uniform(0.5, 2, k)
    s = interpolate(named("square"), X, X @ beta)
    most = scipy.optimize.linprog(
        np.append(np.zeros(d), -1),
        A_ub=np.hstack([-np.eye(d), np.ones((d, 1))]),
        b_ub=np.zeros(d),
        A_eq=np.hstack([X, np.zeros((m, 1))]),
        b_eq=X @ beta,
        bounds=(None, None),
    )
    assert s.status is (Status.BOUNDARY if -most.fun < 1e-7 else Status.CONVERGED)


@pytest.mark.parametrize("added", [0, 0.1])
def test_a_boundary_of_many_coordinates(added):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(20, 10_000)))
    X[0, :3] = 0  # so that the first equation alone puts all others at 0
    beta = np.where(np.arange(10_000) < 3, 1.0, added)
    s = interpolate(named("square"), X, X @ beta)
    assert s.status is (Status.CONVERGED if added else Status.BOUNDARY)


@pytest.mark.parametrize("seed", range(8))
def test_reach_is_that_of_a_linear_program(seed):
    """Beta of w**2 is positive; targets are drawn near the end of what such beta reach."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 12)), int(rng.integers(13, 60))
    X = rng.normal(size=(m, d)) + 0.5
    y = X @ rng.uniform(0, 1, d) - rng.uniform(0, 3) * d * rng.normal(size=m) / 2
    feasible = scipy.optimize.linprog(np.zeros(d), A_eq=X, b_eq=y, bounds=(0, None)).status == 0
    if feasible:
        check(named("square"), X, y, interpolate(named("square"), X, y))
    else:
        with pytest.raises(InputError, match="out of reach"):
            interpolate(named("square"), X, y)


SMALL = {
    "sum and product": (("x**2+y**2", "x*y"), {"x_0": 3, "y_0": 1}),
    "convolution": (("a*c+b*d", "a*d+b*c"), {"a_0": 2, "b_0": 1, "c_0": "1/2", "d_0": "1/3"}),
    "pair and a coordinate": COUPLED["pair and a coordinate"][::2],
    "complex": (("a*c-b*d", "a*d+b*c"), {"a_0": 2, "b_0": 1, "c_0": "1/2", "d_0": "1/3"}),
    "neuron": (("a*u1", "a*u2"), {"a_0": 1, "u1_0": "1/4", "u2_0": "-1/2"}),
}


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(100, marks=pytest.mark.slow),
        Fraction(1, 1000),
        pytest.param(Fraction(1, 10**5), marks=pytest.mark.slow),
        Fraction(1, 10**8),
    ],
)
@pytest.mark.parametrize("name", SMALL)
def test_coupled_q_from_starts_of_any_size(name, size):
    """The targets are F(w) at drawn w; from small starts beta is next to the end of the domain."""
    outputs, start = SMALL[name]
    derived = potential(*outputs)
    q = derived.numeric({k: size * Fraction(v) for k, v in start.items()})
    F = [sympy.sympify(f) for f in outputs]
    rng = np.random.default_rng(0)
    for _ in range(2):
        X = rng.normal(size=(1, len(F)))
        w = {k.removesuffix("_0"): rng.normal() for k in start}
        y = X @ [float(f.subs(w)) for f in F]
        s = interpolate(q, X, y)
        assert s.converged
        nearest = q.inverse_gradient(X.T @ s.multiplier)
        assert np.allclose(s.value, nearest, rtol=0, atol=1e-9 * np.abs(nearest).max())
        assert np.abs(X @ nearest - y) <= 1e-9 * np.abs(X * nearest).sum()


@pytest.mark.parametrize("depth", [2, 3])
def test_a_path_is_the_same_solutions_in_fewer_steps(depth):
    X, y = gaussian(4, 20)
    pair = potential(f"p**{depth}-m**{depth}", **PAIR)
    alphas = np.geomspace(1, 0.2, 6)
    cold = [interpolate(pair.numeric({"alpha": a}), X, y) for a in alphas]
    path = interpolate_path(lambda a: pair.numeric({"alpha": a}), alphas, X, y)
    for alpha, alone, s in zip(alphas, cold, path, strict=True):
        check(pair.numeric({"alpha": alpha}), X, y, s)
        assert np.allclose(s.value, alone.value, rtol=1e-7, atol=1e-9)
    assert sum(s.iterations for s in path[1:]) < sum(s.iterations for s in cold[1:])


def test_a_warm_start_that_is_of_no_use_does_no_harm():
    X, y = gaussian(4, 20)
    wrong = replace(interpolate(tied(1), X, y), value=np.full(20, 1e200))
    check(tied(1), X, y, interpolate(tied(1), X, y, warm=wrong))
    undefined = replace(wrong, value=np.full(20, np.nan))
    check(tied(1), X, y, interpolate(tied(1), X, y, warm=undefined))
    with pytest.raises(InputError, match="warm is of 20 coordinates, X has 19"):
        interpolate(tied(1), X[:, 1:], y, warm=wrong)


@pytest.mark.every(2)
@pytest.mark.parametrize(("m", "d"), [(8, 2**19), (200, 1000)], ids=["sketched", "by gradients"])
@pytest.mark.parametrize("alpha", [0.1, 1e-2])
def test_gram_products_are_saved(m, d, alpha, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((m, d)), rng.standard_normal(m)
    made = []

    gram = Dense.gram

    def counted(design, weights):
        made.append(np.count_nonzero(weights))
        return gram(design, weights)

    monkeypatch.setattr(Dense, "gram", counted)
    found = interpolate(tied(alpha), X, y)
    assert found.converged
    assert np.linalg.norm(X @ found.value - y) <= 1e-9 * np.linalg.norm(y)
    beta = 2 * alpha**2 * np.sinh(4 * X.T @ found.multiplier)
    assert np.allclose(beta, found.value, rtol=1e-6, atol=1e-12)
    assert sum(made) < d * (1.5 if m == 8 else found.iterations - 2)


@pytest.mark.parametrize("alpha", [1, Fraction(1, 100)])
def test_slopes_that_stay_below_a_bound_are_found_again(alpha):
    """Q' = atan(A/alpha)/alpha has no beta beyond pi/(2 alpha), where tan goes on."""
    start = {"a": "alpha", "b": "alpha", "u": "0"}
    q = potential("a*b*u", start=start, positive=["alpha"]).numeric({"alpha": alpha})
    end = float(np.pi / 2 / alpha)
    assert np.isnan(q.inverse_gradient([1.01 * end, -2 * end, 3 * end])).all()
    assert np.isfinite(q.inverse_gradient([0.99 * end, -0.5 * end])).all()
    X, y = np.array([[1.0, 2.0, 0.5, 1.5], [0.7, 1.1, 1.9, 0.6]]), np.array([7.0, 5.0])
    found = interpolate(q, X, y)
    assert max(found.residual, found.stationarity) < 1e-9


@pytest.mark.parametrize(("depth", "alpha"), [(5, 1e-2), (5, 3e-3), (4, 1e-3)])
def test_rounding_of_the_dual_is_no_end_where_beta_is_steep_in_it(depth, alpha):
    """Next to the end of the curve of depth 5 a dual in doubles tells few digits of beta."""
    rng = np.random.default_rng(0)
    X, sparse = rng.normal(size=(100, 1000)), np.zeros(1000)
    sparse[:5] = 1
    q = potential(f"p**{depth}-m**{depth}", **PAIR).numeric({"alpha": alpha})
    found = interpolate(q, X, X @ sparse)
    assert found.converged
    assert found.iterations < 15
    assert np.abs(found.value - sparse).max() < 1e-2
