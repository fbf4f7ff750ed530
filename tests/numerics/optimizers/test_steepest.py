"""Limits of steepest descent: two roads that agree, and what is proved of them."""

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy.optimize import linprog

from derive.errors import InputError
from derive.exact.balls import ball
from derive.optimizers.least_norm import read_norm, shorter
from numerics.optimizers import coordinate_descent_limit, lasso_path, steepest_descent_limit
from numerics.optimizers.steepest import _flowed

X, Y = [[1, 1, 1], [1, 2, 0]], [1, 10]


def fractions(rows):
    return [[Fraction(int(x)) for x in row] for row in rows]


def test_the_example_of_gunasekar_and_others():
    found = steepest_descent_limit(X, Y, "4/3", digits=30)
    assert [mpmath.nstr(x, 8) for x in found.limit] == ["0.2825957", "4.8587021", "-4.1412979"]
    assert float(found.defect) == pytest.approx(-1.225, abs=1e-3)
    assert found.radius < 1e-30
    assert steepest_descent_limit(X, Y, 4 / 3).norm == "l4/3"
    with mpmath.workdps(40):
        for row, b in zip(X, Y, strict=True):
            assert abs(mpmath.fdot(row, found.limit) - b) <= 4 * found.radius


@pytest.mark.slow
def test_quadrature_and_flow_agree_on_drawn_data():
    rng = np.random.default_rng(3)
    for _ in range(6):
        A, y = rng.integers(-5, 6, (2, 4)), rng.integers(-5, 6, 2)
        for p in ("4/3", "6/5"):
            found = steepest_descent_limit(A, y, p)
            assert found.radius is not None
            flowed = _flowed(fractions(A), fractions([y])[0], read_norm(p), 12)
            assert np.array(flowed, float) == pytest.approx(np.array(found.limit, float), abs=1e-8)


def test_gradient_descent_and_single_rows_have_no_defect():
    assert steepest_descent_limit(X, Y, 2).limit == (
        Fraction(1, 3),
        Fraction(29, 6),
        Fraction(-25, 6),
    )
    assert steepest_descent_limit(X, Y, 2).defect == 0
    for p in ("4/3", "3/2", 3, 5):
        found = steepest_descent_limit([[1, 2, -3]], [5], p)
        assert found.defect == 0
        assert float(mpmath.fdot([1, 2, -3], found.limit)) == pytest.approx(5)
        w = [arb(float(x), 1e-14) for x in found.limit]  # a double is not the limit itself
        assert shorter(fractions([[1, 2, -3]]), [Fraction(5)], w, read_norm(p)) is None


@pytest.mark.parametrize("p", ["4/3", "3/2", "3", "inf", "1"])
def test_something_is_shorter_than_the_limit(p):
    A, y = ([[-2, 3, -1], [0, 3, 1]], [2, 1]) if p == "1" else (X, Y)
    norm = read_norm(p)
    limit = steepest_descent_limit(A, y, p).limit
    w = [ball(Fraction(x) if isinstance(x, Fraction) else Fraction(float(x))) for x in limit]
    found = shorter(fractions(A), fractions([y])[0], w, norm)
    assert norm.value(list(map(ball, found))) < norm.value(w)
    assert [sum(a * b for a, b in zip(r, found, strict=True)) for r in A] == y


@pytest.mark.parametrize("p", ["1/2", "x", 0, "4/0", None])
def test_bad_norms_get_one_line(p):
    with pytest.raises(InputError, match="p must be"):
        steepest_descent_limit(X, Y, p)


def test_dependent_rows_are_refused():
    with pytest.raises(InputError, match="dependent"):
        steepest_descent_limit([[1, 2, 3], [2, 4, 6]], [1, 2], "4/3")


def test_nothing_to_move_and_nowhere_else_to_end():
    assert steepest_descent_limit([[-3, 1]], [0], 3).limit == (0, 0)
    for p in ("4/3", 3):
        assert steepest_descent_limit([[1, 2], [3, 4]], [5, 6], p).limit == (-4, Fraction(9, 2))


ROWS, LABELS = [[-2, 3, -1], [0, 3, 1]], [2, 1]
HALF = Fraction(1, 2)


def problems(count, seed):
    """Draw whole numbers that break every tie, with independent rows."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        m = int(rng.integers(1, 4))
        A = rng.integers(-9, 10, (m, int(rng.integers(m + 1, 7))))
        y = rng.integers(-9, 10, m)
        if np.linalg.matrix_rank(A) == m and not refuses(A, y):
            found.append((A, y))
    return found


def refuses(A, y):
    try:
        coordinate_descent_limit(A, y)
    except InputError as tie:
        # More columns tie than are independent.
        tied = [int(j) - 1 for j in re.findall(r"\d+", str(tie))]
        assert np.linalg.matrix_rank(A[:, tied]) < len(tied)
        return True
    return False


def small_steps(A, y, step, end=1e-7):
    """Move the coordinate of the largest slope, in proportion to it, until slopes are small."""
    gram, slopes, w = (A.T @ A).tolist(), (A.T @ y).astype(float).tolist(), [0.0] * A.shape[1]
    step /= max(gram[j][j] for j in range(len(w)))
    first = max(map(abs, slopes))
    while (largest := max(map(abs, slopes))) > end * first:
        j = next(j for j, x in enumerate(slopes) if abs(x) == largest)
        move = step * slopes[j]
        w[j] += move
        slopes = [x - move * g for x, g in zip(slopes, gram[j], strict=True)]
    return w


def test_the_limit_is_not_the_least_l1_norm():
    found, lasso = coordinate_descent_limit(ROWS, LABELS), lasso_path(ROWS, LABELS)
    assert found.limit == (-HALF / 2, Fraction(5, 12), -HALF / 2)
    assert lasso.limit == (-HALF, Fraction(1, 3), 0)
    assert [sum(map(abs, w)) for w in (found.limit, lasso.limit)] == [
        Fraction(11, 12),
        Fraction(5, 6),
    ]
    assert all(type(x) is Fraction for w in found.breakpoints for x in w)
    assert found.levels == (9, HALF * 3, HALF, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "step", "error"),
    [(8, 2e-3, 2e-3), pytest.param(50, 1.5e-4, 1e-4, marks=pytest.mark.slow)],
)
def test_small_steps_agree(count, step, error):
    for A, y in problems(count, 1):
        assert small_steps(A, y, step) == pytest.approx(
            [float(x) for x in coordinate_descent_limit(A, y).limit], abs=error
        )


def test_the_lasso_ends_at_the_least_l1_norm():
    longer = 0
    for A, y in problems(40, 2):
        lasso, limit = lasso_path(A, y), coordinate_descent_limit(A, y).limit
        least = linprog(np.ones(2 * A.shape[1]), A_eq=np.hstack([A, -A]), b_eq=y)
        size = sum(map(abs, lasso.limit))
        assert float(size) == pytest.approx(least.fun, rel=1e-9)
        # The direction of r is a certificate: |X^T v|_inf <= 1 and <v, y> = |w|_1.
        slopes = [sum(int(a) * v for a, v in zip(c, lasso.direction, strict=True)) for c in A.T]
        assert max(map(abs, slopes)) <= 1
        assert sum(int(b) * v for b, v in zip(y, lasso.direction, strict=True)) == size
        longer += sum(map(abs, limit)) > size
    assert 0 < longer < 40


def test_a_start_is_an_origin():
    start = [1, "1/3", -2]
    moved = [
        b - sum(a * Fraction(s) for a, s in zip(r, start, strict=True))
        for r, b in zip(ROWS, LABELS, strict=True)
    ]
    limit = coordinate_descent_limit(ROWS, LABELS, start).limit
    steps = coordinate_descent_limit(ROWS, moved).limit
    assert limit == tuple(a + Fraction(s) for a, s in zip(steps, start, strict=True))


def test_ties_are_refused_where_they_leave_w_open():
    assert coordinate_descent_limit([[1, 0], [0, 1]], [1, 1]).limit == (1, 1)
    with pytest.raises(InputError, match="1, 2 tie"):
        coordinate_descent_limit([[1, -1]], [1])


def test_signs_end_where_small_steps_do():
    A, y = np.array([[2, -1, 1], [1, 1, 3]]), np.array([3, -1])
    w, slopes = np.zeros(3), None
    while slopes is None or np.abs(slopes).sum() > 1e-6:
        slopes = A.T @ (y - A @ w)
        w += 1e-4 * np.abs(slopes).sum() * np.sign(slopes)
    assert w == pytest.approx(
        [float(x) for x in steepest_descent_limit(A, y, "inf").limit], abs=1e-3
    )


@pytest.mark.parametrize(
    ("A", "y", "word"),
    [
        ([[1, 2], [1]], [1, 2], "one length"),
        ([[1, 2]], [1, 2], "1 rows"),
        ([], [], "empty"),
        ([[1, "x"]], [1], "finite"),
    ],
)
def test_bad_data_get_one_line(A, y, word):
    with pytest.raises(InputError, match=word):
        coordinate_descent_limit(A, y)
