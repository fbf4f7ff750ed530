"""Exponential-tailed losses, conserved quantities on the way, and where a flow is told to end."""

import mpmath
import pytest

from derive import Parameterization, derive
from derive.errors import InputError, NumericalError
from numerics.integrator.gradient_flow import flow

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
