"""Gradient flow in weights: known limits, laws, refusals, other losses, and stiff flows."""

import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from derive import Parameterization, derive
from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language import parse_expression
from numerics.integrator.builder import compile_forward
from numerics.integrator.gradient_flow import flow
from numerics.integrator.implicit import Automatic, Radau, jacobians
from numerics.integrator.taylor import Taylor, integrate
from tests.numerics.integrator.programs import propagate

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
        *(({"max_steps": x}, "steps") for x in ("5", float("nan"), -1)),
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


ONE = Parameterization.parse(["w"])
PAIR = Parameterization.parse(["p**2 - m**2"])


def close(a, b, digits):
    with mpmath.workdps(80):
        return bool(abs(mpmath.mpf(a) - b) <= mpmath.mpf(10) ** -digits * abs(b))


@pytest.mark.parametrize("label", [1, -1])
def test_the_exponential_loss_of_one_weight_grows_like_the_log_of_time(label):
    # w' = exp(-w) from 0: w = log(1 + t), and the slope of the loss is 1/(1 + t).
    end = flow(ONE, [[1]], [label], {"w": 0}, digits=40, loss="exponential")
    assert end.converged
    with mpmath.workdps(60):
        assert end.time > mpmath.mpf(10) ** 39
        assert close(end.limit[0], label * mpmath.log1p(end.time), 38)
        assert close(end.residual, 1 / (1 + end.time), 38)


def test_labels_that_nothing_separates_have_no_end():
    with pytest.raises(NumericalError, match="no beta that separates the labels") as caught:
        flow(ONE, [[1], [1]], [1, -1], {"w": 1}, digits=10, loss="logistic", max_steps=400)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def pair():
    start = {"p": "1/2", "m": "1/3"}
    return flow(PAIR, [[1]], [1], start, digits=30, conserved=["p*m", "p**2 - m"])


def test_conserved_quantities_are_monitored(pair):
    kept, lost = pair.drift
    assert kept < mpmath.mpf(10) ** -30
    assert lost > 0.1


def test_what_is_lost_only_on_the_way_is_seen():
    # (w - 1)(w - 3) is the same at both ends, but not between them.
    end = flow(ONE, [[1]], [3], {"w": 1}, digits=20, conserved=["(w - 1)*(w - 3)"])
    assert end.drift[0] > 0.01


def test_laws_of_a_derivation_are_kept():
    derivation = derive(Parameterization.parse(["a*u1", "a*u2"]))
    start = {"a": 1, "u1": "1/2", "u2": "1/3"}
    laws = derivation.conserved.laws
    end = flow(derivation.parameterization, [[1, 2]], [1], start, digits=40, conserved=laws)
    assert laws
    assert max(end.drift) < mpmath.mpf(10) ** -40


def test_tolerance_and_time_end_a_flow():
    whole = flow(ONE, [[1]], [1], {"w": 0}, digits=30)
    rough = flow(ONE, [[1]], [1], {"w": 0}, digits=30, tolerance="1e-5")
    early = flow(ONE, [[1]], [1], {"w": 0}, digits=30, time="1/2")
    assert whole.converged
    assert rough.converged
    assert not early.converged
    assert whole.time > rough.time > early.time == 0.5
    with mpmath.workdps(50):
        assert close(early.limit[0], -mpmath.expm1(mpmath.mpf(-1) / 2), 30)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "hinge"}, "no loss 'hinge'; the losses are squared, logistic, exponential"),
        ({"loss": "logistic", "y": [2]}, "number 1 of y must be a label 1 or -1"),
        ({"loss": "exponential", "y": ["1/2"]}, "number 1 of y must be a label 1 or -1"),
        ({"tolerance": 0}, "the tolerance must be positive"),
        ({"tolerance": 1}, "the tolerance must be at least 10\\^-digits = 1e-15, and below 1"),
        ({"tolerance": "1e-16"}, "the tolerance must be at least"),
        ({"tolerance": "nan"}, "the tolerance must be a finite real number"),
        ({"time": -1}, "time must be positive"),
        ({"conserved": ["w*v"]}, "v is not a weight"),
        ({"conserved": ["w +"]}, "column"),
    ],
)
def test_wrong_options(changes, message):
    given = {"X": [[1]], "y": [1], "start": {"w": 0}, "digits": 15} | changes
    with pytest.raises(InputError, match=message) as caught:
        flow(ONE, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("label", [1, -1])
def test_the_logistic_loss_of_one_weight(label):
    # w' = 1/(1 + e^w) from 0: w + e^w = 1 + t.
    end = flow(ONE, [[1]], [label], {"w": 0}, digits=40, loss="logistic", tolerance="1e-12")
    with mpmath.workdps(60):
        w = abs(end.limit[0])
        assert close(w + mpmath.exp(w), 1 + end.time, 39)
        assert not close(w, mpmath.log1p(end.time), 20)


FAST = 2000
SLAVED = [f"-{FAST}*(a - b**2)", "-b"]
"""b = exp(-t) drives a, which follows at a rate of its own."""


def exact(t):
    """Return a and b from (1, 1): a is c b^2 and what decays fast."""
    c = mpmath.mpf(FAST) / (FAST - 2)
    return [c * mpmath.exp(-2 * t) + (1 - c) * mpmath.exp(-FAST * t), mpmath.exp(-t)]


def test_a_stiff_system_takes_few_steps_and_keeps_its_digits():
    tape = compile_forward([parse_expression(f) for f in SLAVED], ["a", "b"])
    given = (tape, [Fraction(1)] * 2, 20, None, 600)
    end = integrate(*given, time=Fraction(20), engine=Automatic)
    with mpmath.workdps(30):
        gaps = [abs(x - y) for x, y in zip(end.state, exact(20), strict=True)]
    assert max(gaps) < mpmath.mpf(10) ** -22
    with pytest.raises(NumericalError, match="max_steps = 600"):
        integrate(*given, time=Fraction(20), engine=Taylor)


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize("digits", [45, 60])
def test_a_tiny_weight_that_leaves_a_saddle_late_keeps_its_digits(digits):
    """Beside stiff weights of size 1, c = 1/(1 + (1/c_0 - 1) exp(-t)), from 10^-digits on."""
    fields = ["-1000*(a - b)", "(1 - b)/10", "c - c**2"]
    tape = compile_forward([parse_expression(f) for f in fields], ["a", "b", "c"])
    start, end = [Fraction(3), Fraction(2), Fraction(1, 10**digits)], Fraction(12 * digits, 5)
    c = integrate(tape, start, 20, None, 600, time=end, engine=Automatic).state[2]
    with mpmath.workdps(90):
        late = mpmath.exp(-mpmath.mpf(end.numerator) / end.denominator)
        exact_c = 1 / (1 + (mpmath.mpf(10) ** digits - 1) * late)
        assert abs(c / exact_c - 1) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("h", [Fraction(1, 8), Fraction(1, 2)])
def test_one_step_is_right_to_its_tolerance(h):
    tape = compile_forward([parse_expression("w*sin(w) + 1/w")], ["w"])
    run = Radau(tape, [Fraction(1)], 25)
    run.longest = h
    run.step(None)
    (expected,) = integrate(tape, [Fraction(1)], 40, time=run.time).state
    assert 0 < run.time <= h
    assert abs(run.state[0] - expected) < mpmath.mpf(10) ** -27


def test_slopes_in_doubles_are_those_of_jets():
    texts = [
        "exp(a*b)/b",
        "sin(a)*cos(b) + tan(b)",
        "log(b)*tanh(a)",
        "asinh(a) - atan(b)",
        "b**0.3*a",
    ]
    tape = compile_forward([parse_expression(text) for text in texts], ["a", "b"])
    points = np.array([[0.3, 1.5], [-2.0, 0.75]])
    for point, found in zip(points, jacobians(tape, points), strict=True):
        for k in range(2):
            jets = [[mpmath.mpf(x), mpmath.mpf(i == k)] for i, x in enumerate(point.tolist())]
            slopes = [float(row[1]) for row in propagate(tape, jets, 20)]
            assert np.allclose(found[:, k], slopes, rtol=1e-13)


def test_more_digits_than_doubles_have_exponents():
    p = Parameterization.parse(["w"])
    assert flow(p, [[1]], [1], {"w": 0}, 400, time=Fraction(1, 1000)).digits == 400
