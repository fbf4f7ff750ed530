"""The cross-check: every kind of Q passes, and one that is wrong does not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from derive import InputError, NumericalError
from numerics.confirm.crosscheck import crosscheck
from tests.published import derive_once

pytestmark = pytest.mark.every(3)


def derived(*outputs, **start):
    return derive_once(outputs, start=start)


TIED = {"p": "alpha", "m": "alpha"}


def tampered(d, change):
    pieces = tuple(change(piece) for piece in d.potential.pieces)
    return crosscheck(replace(d, potential=replace(d.potential, pieces=pieces)), digits=20)


def first_term_doubled(expressions):
    first, *rest = expressions
    return (first + first.as_ordered_terms()[-1], *rest)


def test_a_wrong_curve_is_found():
    def change(piece):
        assert piece.time_curve is not None
        beta, *_ = first_term_doubled((piece.curve.beta,))
        return replace(piece, curve=replace(piece.curve, beta=beta))

    assert tampered(derived("p**3-m**3", **TIED), change).agreement["stationarity"] < 5


def test_a_wrong_value_is_found():
    wrong = tampered(derived("w**2"), lambda piece: replace(piece, value=2 * piece.value))
    assert wrong.agreement["stationarity"] > 15
    assert wrong.agreement["consistency"] is not None
    assert wrong.agreement["consistency"] < 5
    assert not wrong.passed


def test_a_wrong_kernel_is_found():
    wrong = tampered(derived("u*v"), lambda piece: replace(piece, kernel=2 * piece.kernel))
    assert wrong.digits < 5


LEFT = "a*u1/(1+a**2)", "a*u2/(1+a**2)"
"""A model whose Q is an integral along curves of the weights."""


SLOW = (pytest.param(part, marks=pytest.mark.slow) for part in ("log_warp", "rho"))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["weights", *SLOW])
def test_a_wrong_lift_is_found(part):
    def doubled(functions):
        return (
            tuple(doubled(f) if isinstance(f, tuple) else 2 * f for f in functions[:1])
            + (functions[1:])
        )

    def change(piece):
        assert piece.lift is not None
        lift = replace(piece.lift, **{part: doubled(getattr(piece.lift, part))})
        return replace(piece, lift=lift)

    wrong = tampered(derived(*LEFT), change)
    assert wrong.agreement["stationarity"] < 8  # of 20
    assert not wrong.passed


def test_a_weight_that_changes_its_sign_is_reported():
    start = {"a_0": "1/10", "u1_0": 1, "u2_0": "1/2"}
    check = crosscheck(derived("a*u1", "a*u2"), [[1, "1/2"]], [-4], start, digits=15)
    assert check.broken == ("a",)
    assert "a was assumed to keep its sign and did not" in check.report()


@pytest.mark.parametrize("size", ["1/1000", "1/1000000", "1e-20"])
def test_a_small_problem_is_as_exact(size):
    check = crosscheck(derived("a*b", a=size, b=size), digits=30)
    assert check.digits >= 30
    assert abs(check.end.limit[0]) < 10 * float(Fraction(size)) ** 2


def test_cancellation_is_no_error():
    """Terms of size 1 leave a gradient of 1e-18 of a conserved quantity that starts from 1e-18."""
    start = {"a": "1/1000000007", "u1": "22/7", "u2": "-355/113"}
    check = crosscheck(derived("a*u1", "a*u2", **start), digits=30)
    assert check.passed
    assert check.agreement["drift"] is not None
    assert check.agreement["drift"] > 30


def test_problems_repeat_and_differ():
    d = derived("w**2")
    first, second = crosscheck(d, digits=10), crosscheck(d, digits=10)
    assert first == second
    assert crosscheck(d, digits=10, rng=np.random.default_rng(1)).problem != first.problem


def test_refusals():
    d = derived("p**2-m**2", **TIED)
    with pytest.raises(InputError, match="X and y together"):
        crosscheck(d, X=[[1, 2]])
    with pytest.raises(InputError, match="names beta"):
        crosscheck(d, start={"beta": 1})
    with pytest.raises(InputError, match="2 values, not 3"):
        crosscheck(d, start={"alpha": [1, 2]})
    with pytest.raises(InputError, match="2 rows but y has 1"):
        crosscheck(d, [[1, 2, 3], [1, 0, 0]], [1])
    with pytest.raises(InputError, match="sequence of rows"):
        crosscheck(d, 3, [1])
    with pytest.raises(InputError, match="derive again"):
        crosscheck(derived("a*u1", "a*u2"), start={"a_0": -1})
    with pytest.raises(NumericalError, match="there is no Q"):
        crosscheck(derived("a*u1", "a*u2", "w**2"))
    with pytest.raises(NumericalError, match="no numeric form"):
        tampered(derived(*LEFT), lambda piece: replace(piece, lift=None))
    with pytest.raises(NumericalError, match="gradient flow"):
        crosscheck(derived("w**2"), [[1, 1]], [-1], {"w_0": 1}, digits=10)


def test_a_start_that_interpolates_has_nothing_to_satisfy():
    d = derive_once(["u1/a", "-u2/a"], start={"u1": "2"})
    check = crosscheck(d, X=[[-1, -2]], y=["14/29"], start={"a_0": "29/16", "u2_0": "23/16"})
    assert check.passed
    assert check.end.steps == 0
    drawn = crosscheck(d, digits=20)
    assert drawn.passed
    assert drawn.end.steps > 0
