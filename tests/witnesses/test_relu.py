"""What is said of a ReLU on <u, x> withstands flows, and these tell what is false."""

import random

import numpy as np
import pytest

from derive import Parameterization
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, derivation, repeated

KINDS = "activation", "idle data", "active unit"


def of(F):
    return derive_once(Parameterization.parse([F], vectors={"u": "d"}))


def put(d, kind, seeds=3):
    (s,) = d.says(kind)
    return sum(WITNESSES[kind](d, s, random.Random(seed)) for seed in range(seeds))


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("F", ["a*u", "u*norm(u)", "a*b*u", "u*(1 + norm(u)**2)"])
def test_statements_on_a_relu_withstand_flows(F, kind):
    assert put(of(F), kind) > 2


def test_nothing_is_said_where_there_is_no_direction():
    assert not derive_once(["a*u1", "a*u2"]).says(*KINDS)


def test_steering_off_the_rows_is_seen(monkeypatch):
    """Of a loss that is no function of the <x_i, beta>."""
    fitted, turn = derivation.fitted_by_a_relu, np.diag([1.0, 2.0, 0.5])

    def turned(flows, X, *rest):
        return fitted(flows, X @ turn, *rest)

    monkeypatch.setattr(derivation, "fitted_by_a_relu", turned)
    d = of("a*u")
    with pytest.raises(Refuted, match="off the rows"):
        repeated(WITNESSES["activation"], d, d.says("activation")[0])


def test_a_leaky_relu_has_no_idle_data(monkeypatch):
    fitted = derivation.fitted_by_a_relu
    monkeypatch.setattr(
        derivation,
        "fitted_by_a_relu",
        lambda flows, X, y, _, scale: fitted(flows, X, y, 0.5, scale),
    )
    d = of("a*u")
    with pytest.raises(Refuted, match="moved no limit"):
        repeated(WITNESSES["idle data"], d, d.says("idle data")[0])


def test_on_obtuse_data_the_unit_turns_off(monkeypatch):
    """Where <x_1, x_2> < 0, as the cone of data forbids."""
    monkeypatch.setattr(derivation, "ACUTE", -1.0)
    d = of("a*u")
    with pytest.raises(Refuted, match="turns off"):
        repeated(WITNESSES["active unit"], d, d.says("active unit")[0])


def test_two_orders_of_batches_fit_at_two_predictors():
    """Of beta = u, in fractions: row 2 after row 1, and before it."""
    x, y = np.array([[1, 0], [-1, 1]]), np.array([0, 3])
    ends = []
    for order in ((0, 1), (1, 0)):
        beta = np.array([1.0, 2.0])
        for i in order:
            output = x[i] @ beta
            if output > 0:
                beta = beta + (y[i] - output) / (x[i] @ x[i]) * x[i]
        assert np.array_equal(np.maximum(x @ beta, 0), y)
        ends.append(beta.tolist())
    assert ends == [[-0.5, 2.5], [0.0, 3.0]]
