"""The function field: arithmetic, derivations, composition; values, exact or in balls."""

import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.clock import Clock
from derive.errors import InputError
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
from derive.exact.field.factors import exact_square_root, factored, to_shorter_text
from derive.exact.field.function_field import FunctionField
from derive.exact.towers.tower import build_elements, to_field
from derive.language import parse_expression

FIELD = FunctionField(("x", "y"))
x, y = FIELD.gens
X, Y = sympy.symbols("x y")


def as_sympy(element):
    return sympy.sympify(repr(element))


@st.composite
def elements(draw):
    def polynomial():
        total = FIELD.constant(draw(st.integers(-3, 3)))
        for _ in range(draw(st.integers(1, 3))):
            total += (
                draw(st.integers(-3, 3))
                * x ** draw(st.integers(0, 2))
                * y ** draw(st.integers(0, 2))
            )
        return total

    top, bottom = polynomial(), polynomial()
    return top if bottom.is_zero() else top / bottom


@settings(max_examples=20, deadline=None, derandomize=True)
@given(elements(), elements())
def test_arithmetic_agrees_with_sympy(a, b):
    for ours, theirs in (
        (a + b, as_sympy(a) + as_sympy(b)),
        (a - b, as_sympy(a) - as_sympy(b)),
        (a * b, as_sympy(a) * as_sympy(b)),
    ):
        assert sympy.cancel(as_sympy(ours) - theirs) == 0
    assert (a == b) == (sympy.cancel(as_sympy(a) - as_sympy(b)) == 0)
    if not b.is_zero():
        assert a / b * b == a


@settings(max_examples=40, deadline=None, derandomize=True)
@given(elements(), elements())
def test_the_shorter_text_is_the_same_function(a, b):
    for f in (a, a * b, a * a, *([] if b.is_zero() else [a / (b * b)])):
        text = to_shorter_text(f)
        assert len(text) <= len(repr(f))
        assert build_elements([parse_expression(text)], FIELD.names)[0] == f


@settings(max_examples=20, deadline=None, derandomize=True)
@given(elements(), elements())
def test_derivation_agrees_with_sympy_and_leibniz(a, b):
    for k, symbol in enumerate((X, Y)):
        assert sympy.cancel(as_sympy(FIELD.derivative(a, k)) - sympy.diff(as_sympy(a), symbol)) == 0
        product = FIELD.derivative(a * b, k)
        assert product == FIELD.derivative(a, k) * b + a * FIELD.derivative(b, k)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(elements(), st.fractions(-3, 3, max_denominator=4), st.fractions(-3, 3, max_denominator=4))
def test_values_agree_with_sympy(a, u, v):
    point = {X: sympy.Rational(u), Y: sympy.Rational(v)}
    bottom = sympy.denom(sympy.together(as_sympy(a))).subs(point)
    if bottom == 0:
        with pytest.raises(ZeroDivisionError):
            a.at((u, v))
        return
    expected = as_sympy(a).subs(point)
    assert a.at((u, v)) == Fraction(int(expected.p), int(expected.q))


@pytest.mark.parametrize("text", ["exp(x)", "log(x)", "sin(y)", "1/(x - x)"])
def test_conversion_refuses_functions_that_the_field_does_not_have_and_division_by_zero(text):
    with pytest.raises(InputError, match="output 7 divides" if "/" in text else "output 7 "):
        to_field(parse_expression(text), FIELD, "output 7")


def test_factors_beside_a_norm():
    """Where only x^2 is met, x^2 = r^2 - y^2; what is under the root stays as it is."""
    (r,) = build_elements([parse_expression("sqrt(x**2 + y**2)")], "xyc")
    x, y, c = (r.field.named(name) for name in "xyc")
    for f, count in (
        (x**2 + 2 * y**2 + 2 * r * y, 2),  # (r + y)^2
        ((c - 1 - r) * (c + 1 + r), 2),
        (x**2 + y**2, 1),
        (x * (x**2 + y**2 - 1), 3),
        (x + y, 1),
        (x**2 - y, 1),
        (x**3 + x + r, 1),
    ):
        number, powers = factored(f)
        assert sum(n for _, n in powers) == count
        assert prod((g**n for g, n in powers), start=r.field.constant(number)) == f
    root = exact_square_root((c**2 - (1 + r) ** 2) ** 2)
    assert root in (c**2 - (1 + r) ** 2, (1 + r) ** 2 - c**2)
    assert exact_square_root(x**2 + y**2 - 2 * r * c + c**2) in (r - c, c - r)
    assert exact_square_root(x**2 + y**2) in (None, r)


def test_one_quotient_looks_at_the_clock_as_often_as_it_has_powers_to_reduce():
    class Counting(Clock):
        __slots__ = ("seen",)

        def check(self):
            self.seen += 1

    looks = []
    for n in (10, 40):
        (root,) = build_elements([parse_expression("sqrt(w**2 + 1)")], ["w"])
        field = replace(root.field, clock=Counting())
        field.clock.seen = 0
        (one, g) = (field.ring.constant(1), field.ring.gens()[-1])
        field.quotient(sum((g**k for k in range(n)), one), one)
        looks.append(field.clock.seen)
    assert looks[1] >= looks[0] + 30


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
