"""Gradient flow in weights: known limits, conserved quantities, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language.tree import Call, Name, Number, Operation, Power, Tree
from numerics.integrator.gradient_flow import flow
from numerics.integrator.jets import GUARD

TWO = Fraction(2)
X = [["1", "1/2", "-1/3"], ["1/4", "-1", "2/3"]]
Y = [1, "1/2"]
NULL = [Fraction(0), Fraction(-3, 4), Fraction(-9, 8)]
"""A vector that both rows of X annihilate."""
ALPHA = Fraction(1, 10)


@dataclass(frozen=True)
class Given:
    trees: tuple[Tree, ...]
    weights: tuple[str, ...]


def square(name):
    return Power(Name(name), TWO)


def difference_of_squares(d):
    pairs = [(f"p{i}", f"m{i}") for i in range(d)]
    minus = Number(Fraction(-1))
    trees = (Operation("+", square(p), Operation("*", minus, square(m))) for p, m in pairs)
    return Given(tuple(trees), tuple(name for pair in pairs for name in pair))


def linear(d):
    names = tuple(f"w{i}" for i in range(d))
    return Given(tuple(Name(name) for name in names), names)


DIAGONAL = difference_of_squares(3)
EQUAL = dict.fromkeys(DIAGONAL.weights, ALPHA)


def distance_to_row_space(dual):
    null = [mpmath.mpf(x.numerator) / x.denominator for x in NULL]
    return abs(mpmath.fdot(null, dual)) / mpmath.norm(null)


def test_null_vector():
    assert all(sum(Fraction(a) * b for a, b in zip(row, NULL, strict=True)) == 0 for row in X)


@pytest.fixture(scope="module")
def end():
    return flow(DIAGONAL, X, Y, EQUAL, digits=30)


def test_the_limit_interpolates(end):
    with mpmath.workdps(60):
        left = [
            mpmath.fsum(
                mpmath.mpf(Fraction(a).numerator) / Fraction(a).denominator * b
                for a, b in zip(row, end.limit, strict=True)
            )
            - mpmath.mpf(Fraction(y).numerator) / Fraction(y).denominator
            for row, y in zip(X, Y, strict=True)
        ]
        assert mpmath.norm(left) < mpmath.mpf("1.2e-30")
        assert abs(mpmath.norm(left) - end.residual) < mpmath.mpf(10) ** -38


def test_the_mirror_map_lies_in_the_row_space(end):
    with mpmath.workdps(60):
        dual = [
            mpmath.asinh(beta / (2 * mpmath.mpf(ALPHA.numerator) ** 2 / 100)) for beta in end.limit
        ]
        assert distance_to_row_space(dual) < mpmath.mpf(10) ** -28


@pytest.mark.parametrize(
    "wrong",
    [
        lambda b: b,
        lambda b: mpmath.sign(b) * mpmath.log(1 + abs(b) / mpmath.mpf("0.02")),
        lambda b: mpmath.asinh(b / mpmath.mpf("0.04")),
    ],
)
def test_a_wrong_mirror_map_is_off_in_the_first_digits(end, wrong):
    with mpmath.workdps(60):
        assert distance_to_row_space([wrong(beta) for beta in end.limit]) > 1e-3


def test_the_product_is_conserved(end):
    with mpmath.workdps(60):
        for p, m in zip(end.weights[::2], end.weights[1::2], strict=True):
            assert abs(p * m - mpmath.mpf(1) / 100) < mpmath.mpf(10) ** -28


def test_the_record(end):
    assert (end.digits, end.order) == (30, 45)
    assert end.steps > 1
    assert end.time > 0
    numbers = (*end.limit, *end.weights, *end.start, end.residual, end.time)
    assert all(isinstance(x, mpmath.mpf) for x in numbers)
    with mpmath.workdps(60):
        assert all(abs(x * 10 - 1) < mpmath.mpf(10) ** -(30 + GUARD) for x in end.start)


def test_more_digits_give_the_same_limit(end):
    more = flow(DIAGONAL, X, Y, EQUAL, digits=60)
    with mpmath.workdps(70):
        assert all(abs(a - b) < 1e-28 for a, b in zip(end.limit, more.limit, strict=True))


def test_linear_weights_give_the_least_norm():
    end = flow(linear(3), X, Y, dict.fromkeys(("w0", "w1", "w2"), 0), digits=40)
    with mpmath.workdps(60):
        matrix = mpmath.matrix(
            [
                [mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in row]
                for row in X
            ]
        )
        best = matrix.T * mpmath.lu_solve(matrix * matrix.T, mpmath.matrix([1, mpmath.mpf("0.5")]))
        assert max(abs(a - b) for a, b in zip(end.limit, best, strict=True)) < 1e-38


def test_exponential_weights_minimise_an_entropy():
    # beta = exp(w) has the metric beta^2, so that the dual variable is -1/beta.
    trees = tuple(Call("exp", Name(f"w{i}")) for i in range(3))
    start = {"w0": 0, "w1": "1/2", "w2": -1}
    end = flow(Given(trees, ("w0", "w1", "w2")), X, Y, start, digits=30)
    with mpmath.workdps(60):
        begin = [mpmath.exp(w) for w in end.start]
        dual = [1 / b - 1 / c for b, c in zip(begin, end.limit, strict=True)]
        assert distance_to_row_space(dual) < 1e-28


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "convert",
    [
        lambda rows: [[float(Fraction(x)) for x in row] for row in rows],
        lambda rows: np.array([[float(Fraction(x)) for x in row] for row in rows]),
        lambda rows: mpmath.matrix([[float(Fraction(x)) for x in row] for row in rows]),
        lambda rows: [[Decimal(float(Fraction(x))) for x in row] for row in rows],
        lambda rows: [[mpmath.mpf(float(Fraction(x))) for x in row] for row in rows],
        lambda rows: [tuple(Fraction(float(Fraction(x))) for x in row) for row in rows],
    ],
)
def test_floats_count_at_their_exact_value(convert):
    start = {name: np.float64(0.25) for name in DIAGONAL.weights}
    exact = [[Fraction(float(Fraction(x))) for x in row] for row in X]
    one = flow(DIAGONAL, convert(X), np.array([1.0, 0.5]), start, digits=20)
    assert one.limit == flow(DIAGONAL, exact, Y, start, digits=20).limit


def test_a_start_that_interpolates_takes_no_step():
    end = flow(linear(1), [[2]], [np.int64(6)], {"w0": "3"}, digits=20)
    assert (end.steps, end.limit, end.residual, end.time) == (0, (3,), 0, 0)


@pytest.mark.parametrize("size", ["1e-30", "1", "1e30"])
def test_digits_are_relative_to_the_problem(size):
    scale = Fraction(size)
    start = {"p0": 2 * scale, "m0": scale}
    end = flow(difference_of_squares(1), [[1]], [scale**2], start, digits=20)
    one = flow(difference_of_squares(1), [[1]], [1], {"p0": 2, "m0": 1}, digits=20)
    with mpmath.workdps(60):
        ratio = mpmath.mpf(size)
        assert end.residual <= end.scale * mpmath.mpf("1e-20")
        assert abs(end.scale / ratio**2 - 2) < 1e-30
        assert abs(end.weights[0] / ratio - one.weights[0]) < 1e-19


def test_a_target_of_zero_has_the_scale_of_the_start():
    end = flow(linear(1), [[1]], [0], {"w0": "1e-30"}, digits=20)
    assert 0 < abs(end.limit[0]) < 1e-49
    assert abs(end.scale / mpmath.mpf("1e-30") - 1) < 1e-15


def test_a_tiny_start_is_no_critical_point():
    start = dict.fromkeys(("p0", "m0"), "1e-60")
    end = flow(difference_of_squares(1), [[1]], [1], start, digits=20)
    with mpmath.workdps(60):
        assert abs(end.limit[0] - 1) < 1e-19


def test_progress_is_reported():
    seen = []
    end = flow(DIAGONAL, X, Y, EQUAL, digits=15, progress=lambda *args: seen.append(args))
    assert [step for step, _ in seen] == list(range(end.steps + 1))
    assert seen[-1][1] == end.residual < 1e-14 < seen[0][1]


SMALL = difference_of_squares(1)
HALF = {"p0": "1/2", "m0": "1/2"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": []}, "X is empty"),
        ({"X": [[]]}, "row 1 of X is empty"),
        ({"X": [1]}, "row 1 of X must be a sequence"),
        ({"X": 3}, "X must be a sequence"),
        ({"X": [[1, 2]]}, "row 1 of X has 2 numbers but F has 1 outputs"),
        ({"X": [[1], [2]]}, "X has 2 rows but y has 1 numbers"),
        ({"X": [[float("nan")]]}, "number 1 of row 1 of X must be a finite real number, not nan"),
        ({"X": [["1e999999999"]]}, "exponent"),
        ({"y": []}, "y is empty"),
        ({"y": [float("inf")]}, "number 1 of y must be a finite real number, not inf"),
        ({"y": [mpmath.inf]}, "number 1 of y"),
        ({"y": [mpmath.ldexp(1, 10**6)]}, "exponent"),
        ({"y": [1j]}, "number 1 of y"),
        ({"y": ["one"]}, "number 1 of y must be a finite real number, not 'one'"),
        ({"y": ["1/0"]}, "number 1 of y"),
        ({"y": [None]}, "number 1 of y"),
        ({"y": "12"}, "y is empty|must be a sequence"),
        ({"start": {"p0": 1}}, "no value for m0"),
        ({"start": {**HALF, "q": 1}}, "names q, not among p0, m0"),
        ({"start": {**HALF, "m0": float("-inf")}}, "the start of m0"),
        ({"digits": 0}, "digits"),
        ({"digits": 1.5}, "digits"),
    ],
)
def test_wrong_input(changes, message):
    given = {"X": [[1]], "y": [1], "start": HALF, "digits": 15} | changes
    with pytest.raises(InputError, match=message) as caught:
        flow(SMALL, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "rows", "target", "start", "message"),
    [
        (square("w"), [[1]], [1], 0, "does not move"),
        (square("w"), [[1]], [-1], "1/2", "critical point"),
        (square("w"), [[1], [1]], [1, 2], "1/2", "critical point|no longer changes"),
        (Name("w"), [[1], [1]], [1, 2], 0, "critical point|no longer changes"),
    ],
)
def test_stalls(weights, rows, target, start, message):
    with pytest.raises(NumericalError, match=message) as caught:
        flow(Given((weights,), ("w",)), rows, target, {"w": start}, digits=15)
    assert "did not reach" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_steps():
    with pytest.raises(NumericalError, match="max_steps = 5 is reached"):
        flow(DIAGONAL, X, Y, EQUAL, digits=30, max_steps=5)


@pytest.mark.parametrize(("function", "start"), [("log", -1), ("log", 0), ("sqrt", 0)])
def test_a_start_outside_the_domain(function, start):
    given = Given((Call(function, Name("w")),), ("w",))
    with pytest.raises(DegenerateStart, match="undefined at the start"):
        flow(given, [[1]], [1], {"w": start}, digits=15)
