"""Gradient flow in weights: known limits, conserved quantities, and refusals."""

import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language import parse_expression
from numerics.integrator.gradient_flow import flow

X = [["1", "1/2", "-1/3"], ["1/4", "-1", "2/3"]]
Y = [1, "1/2"]
NULL = [Fraction(0), Fraction(-3, 4), Fraction(-9, 8)]
"""A vector that both rows of X annihilate."""
ALPHA = Fraction(1, 10)


def given(*texts):
    """Return F, and its weights as they are met."""
    names = dict.fromkeys(re.findall(r"\b[pmw]\d?\b", " ".join(texts)))
    return SimpleNamespace(trees=tuple(map(parse_expression, texts)), weights=tuple(names))


def difference_of_squares(d):
    return given(*(f"p{i}**2 - m{i}**2" for i in range(d)))


DIAGONAL = difference_of_squares(3)
EQUAL = dict.fromkeys(DIAGONAL.weights, ALPHA)


def distance_to_row_space(dual):
    null = [mpmath.mpf(x.numerator) / x.denominator for x in NULL]
    return abs(mpmath.fdot(null, dual)) / mpmath.norm(null)


@pytest.fixture(scope="module")
def end():
    return flow(DIAGONAL, X, Y, EQUAL, digits=30)


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


def test_more_digits_give_the_same_limit(end):
    more = flow(DIAGONAL, X, Y, EQUAL, digits=60)
    with mpmath.workdps(70):
        assert all(abs(a - b) < 1e-28 for a, b in zip(end.limit, more.limit, strict=True))


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
    end = flow(given("w"), [[2]], [np.int64(6)], {"w": "3"}, digits=20)
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
    end = flow(given("w"), [[1]], [0], {"w": "1e-30"}, digits=20)
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
    options = {"X": [[1]], "y": [1], "start": HALF, "digits": 15} | changes
    with pytest.raises(InputError, match=message) as caught:
        flow(SMALL, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "rows", "target", "start", "message"),
    [
        ("w**2", [[1]], [1], 0, "does not move"),
        ("w**2", [[1]], [-1], "1/2", "critical point"),
        ("w**2", [[1], [1]], [1, 2], "1/2", "critical point|no longer changes"),
        ("w", [[1], [1]], [1, 2], 0, "critical point|no longer changes"),
    ],
)
def test_stalls(text, rows, target, start, message):
    with pytest.raises(NumericalError, match=message) as caught:
        flow(given(text), rows, target, {"w": start}, digits=15)
    assert "did not reach" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_steps():
    with pytest.raises(NumericalError, match="max_steps = 5 is reached"):
        flow(DIAGONAL, X, Y, EQUAL, digits=30, max_steps=5)


@pytest.mark.parametrize(("function", "start"), [("log", -1), ("log", 0), ("sqrt", 0)])
def test_a_start_outside_the_domain(function, start):
    with pytest.raises(DegenerateStart, match="undefined at the start"):
        flow(given(f"{function}(w)"), [[1]], [1], {"w": start}, digits=15)
