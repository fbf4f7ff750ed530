"""Limits of steepest descent: two roads that agree, and what is proved of them."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from derive.errors import InputError
from derive.exact.balls import ball
from derive.optimizers.least_norm import read_norm, shorter
from numerics.optimizers import steepest_descent_limit
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
