"""Matrices of open size, put to flows of all their entries."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from derive import Parameterization
from numerics.confirm import sizes
from numerics.confirm.limits import excess_at
from numerics.confirm.regression_problem import distance
from numerics.confirm.sizes import AlignedAt, check_matrices, steer_matrices
from tests.published import derive_once

DIGITS = 12
SYMMETRIC, PRODUCT = {"W": "n x r"}, {"U": "n x r", "V": "m x r"}
SUM = {"U": "n x r", "V": "n x r"}


def model(text, shapes, measurements="commuting"):
    return Parameterization.parse([text], matrices=shapes, measurements=measurements)


@pytest.fixture
def one_size(monkeypatch):
    """Where there are directions to be told apart."""
    monkeypatch.setattr(sizes, "OBLONG", sizes.OBLONG[1:2])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("text", "shapes"), [("U*T(V)", PRODUCT), ("W*T(W)", SYMMETRIC), ("U*T(U) - 2*V*T(V)", SUM)]
)
def test_flows_of_three_sizes_confirm_q(text, shapes):
    d = derive_once(model(text, shapes))
    check = check_matrices(d.parameterization, d.entry, DIGITS)
    assert check.passed
    compared = [x for x, digits in check.rows.items() if digits is not None]
    assert len(compared) == (9 if "2" in text else 12)


def test_another_q_is_told_apart(one_size):
    entry = derive_once(Parameterization(["(x**2 - z**2)/3"], positive=["x", "z"]))
    check = check_matrices(model("U*T(V)", PRODUCT), entry, DIGITS)
    failing = {x.partition(": ")[2] for x, digits in check.rows.items() if digits < 6}
    assert failing == {"grad q(b_k) in the row space of a"}


def test_measurements_in_other_bases_are_told_apart(one_size, monkeypatch):
    """The rows in bases that the measurements do not have keep no directions."""
    turned = sizes.AtSize.rows_of

    def rows_of(self, weights, bases):
        return turned(self, weights, {x: b.T for x, b in bases.items()})

    monkeypatch.setattr(sizes.AtSize, "rows_of", rows_of)
    d = derive_once(model("U*T(V)", PRODUCT))
    check = check_matrices(d.parameterization, d.entry, DIGITS)
    failing = {x.partition(": ")[2] for x, digits in check.rows.items() if (digits or 20) < 3}
    assert not check.passed
    assert "directions of the rows" in failing


def test_three_factors_need_an_aligned_start():
    d = derive_once(model("U*B*T(V)", {"U": "n x r", "B": "r x s", "V": "m x s"}))
    at, rng = AlignedAt(d.parameterization, (2, 2, 2)), np.random.default_rng(0)
    found = at.compare(sizes._slope(d.entry), rng, DIGITS + 5)
    assert min(found.values()) > DIGITS
    X = ((Fraction(1), Fraction(0), Fraction(0), Fraction(2)), (Fraction(1), 0, 0, Fraction(-1)))
    one, other = at.limits(
        X, [Fraction(k, 8) for k in (8, 2, 1, 9, 7, 3, 2, 8, 9, 1, 4, 8)], rng, 12
    )
    assert distance(one.limit, other.limit, 12) < 5


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("W*T(W)", SYMMETRIC),
        ("W*T(W)", {"W": "n x 1"}),
        ("U*T(V)", PRODUCT),
        ("U*T(V)", {"U": "1 x r", "V": "m x r"}),
    ],
)
def test_loss_weights_steer_what_does_not_commute(text, shapes, monkeypatch):
    orbit = derive_once(model(text, shapes, "general")).orbit
    check = steer_matrices(orbit)
    assert check.passed
    assert json.loads(json.dumps(check.to_record()))["passed"]
    monkeypatch.setattr(sizes, "TRIED", 1)
    monkeypatch.setattr(sizes, "WEIGHT", 1)
    assert not steer_matrices(orbit).passed


TIED = derive_once("p**2-m**2", start={"p": "alpha", "m": "alpha"}, positive=["alpha"]).potential


def small(eps, d, norm):
    return min((2 * (1 + eps) * norm) ** (-(2 + eps) / (2 * eps)), math.exp(-d / (eps * norm)))


def large(eps, d, norm):
    return math.sqrt(2 * (1 + eps) * (1 + 2 / eps) * norm)


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "p"), [(small, 1), (large, 2)], ids=["small", "large"])
def test_rates(bound, p):
    rng = np.random.default_rng([7, 20])
    for found in (excess_at(TIED, bound, p), excess_at(TIED, bound, p, 200, rng)):
        assert (found < 1 + 1e-9).all()


@pytest.mark.parametrize(("bound", "p"), [(large, 1), (small, 2)])
def test_rates_are_no_truisms(bound, p):
    """Control: with the scales exchanged, both bounds fail on some of the problems."""
    assert (excess_at(TIED, bound, p) > 1).sum() >= 3
