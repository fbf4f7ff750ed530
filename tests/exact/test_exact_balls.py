"""Numbers that are exact where they can be, and otherwise in balls that hold what they are."""

import pickle
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

from derive.exact.balls import (
    Unbounded,
    ball,
    evaluate_any,
    fraction,
    is_nonzero,
    precise,
    real_roots,
    root_of,
    shown,
    to_the_power,
    whole_power,
)
from derive.exact.field.function_field import FunctionField

THIRD, EIGHT = Fraction(1, 3), Fraction(8, 27)
u, v = FunctionField(("u", "v")).gens


@pytest.mark.parametrize(
    ("A", "e", "found"),
    [
        (EIGHT, Fraction(1, 3), Fraction(2, 3)),
        (EIGHT, Fraction(-2, 3), Fraction(9, 4)),
        (Fraction(-2), Fraction(-3), Fraction(-1, 8)),
        (Fraction(0), Fraction(2), Fraction(0)),
        (Fraction(2), Fraction(1, 2), None),
        (Fraction(8, 25), Fraction(1, 3), None),
        (Fraction(7, 27), Fraction(1, 3), None),
    ],
)
def test_powers_are_exact_where_they_are_rational(A, e, found):
    power = to_the_power(A, e)
    assert power == found if found is not None else isinstance(power, arb)
    assert isinstance(power, arb if found is None else Fraction)
    if A > 0:
        assert float(power) == pytest.approx(float(A) ** float(e))
        assert float(to_the_power(ball(A), e)) == pytest.approx(float(A) ** float(e))
        assert root_of(A, 1) == A


def test_what_is_not_real_or_not_finite_is_said():
    for A, e in ((Fraction(-1), THIRD), (Fraction(0), THIRD), (arb(0, 1), THIRD)):
        with pytest.raises(Unbounded):
            to_the_power(A, e)
    with pytest.raises(Unbounded):
        root_of(Fraction(-8), 3)
    with pytest.raises(Unbounded):
        root_of(arb(-8), 2)
    with pytest.raises(Unbounded):
        fraction(arb(2) ** (2**21))
    assert fraction(arb(2) ** 1000) == 2**1000
    with pytest.raises(Unbounded):
        evaluate_any(1 / u, [arb(0, 1), THIRD])
    with pytest.raises(ZeroDivisionError):
        evaluate_any(1 / u, [Fraction(0), THIRD])


def test_values_stay_exact_as_long_as_they_can():
    f = (u**2 * v - 3) / (u + v)
    exact = evaluate_any(f, [THIRD, Fraction(2)])
    assert exact == Fraction(-25, 21)
    around = evaluate_any(f, [ball(THIRD), Fraction(2)])
    assert isinstance(around, arb)
    assert (ball(exact) - around).contains(0)
    assert around.rad() < 1e-14
    assert evaluate_any(u / u, [arb(1, 1), THIRD]) == 1
    assert is_nonzero(THIRD)
    assert not is_nonzero(Fraction(0))
    assert not is_nonzero(arb(0, 1))
    assert is_nonzero(arb(3, 1))
    assert shown(THIRD) == THIRD
    with precise():
        assert shown(arb(2).sqrt()) == "1.4142135623730950488"
    assert whole_power(arb(0, 1), 3).is_finite()
    assert whole_power(arb(0, 1), 2).contains(1)
    assert whole_power(Fraction(-2), 5) == -32
    assert whole_power(arb(2), -2).contains(0.25)


def test_real_roots_are_apart_and_all_there():
    # (t^2 - 2) (t - 7/5)^2 (t^2 + 1), and 10^12 t^2 - 2 10^12 - 1 with a root close to sqrt(2)
    t = (Fraction(-2), 0, 1), (Fraction(-7, 5), 1), (Fraction(-7, 5), 1), (1, 0, 1)
    close = (Fraction(-2) - Fraction(1, 10**12), 0, 1)
    product = [Fraction(1)]
    for factor in (*t, close):
        product = [
            sum(product[i] * factor[k - i] for i in range(len(product)) if 0 <= k - i < len(factor))
            for k in range(len(product) + len(factor) - 1)
        ]
    roots = real_roots(product)
    assert [round(float(r.mid()), 6) for r in roots] == [
        *(-1.414214, -1.414214, 1.4, 1.414214, 1.414214)
    ]
    assert not any(a.overlaps(b) for a, b in pairwise(roots))


@pytest.mark.parametrize("x", [arb(2).sqrt(), arb(1, "1e-40"), arb(2) ** 5000, arb(0), -arb(1) / 3])
def test_balls_survive_pickling(x):
    again = pickle.loads(pickle.dumps(x))
    assert (again.mid(), again.rad()) == (x.mid(), x.rad())


@pytest.mark.parametrize("x", [arb("inf"), arb("-inf")])
def test_balls_without_ends_are_held(x):
    assert pickle.loads(pickle.dumps(x)).contains(x)
