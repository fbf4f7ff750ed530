"""The function field: arithmetic, derivations with rules, composition, values."""

from dataclasses import replace
from fractions import Fraction
from math import prod

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.clock import Clock
from derive.errors import InputError
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


@pytest.mark.parametrize("text", ["exp(x)", "log(x)", "sin(y)"])
def test_conversion_refuses_functions_that_the_field_does_not_have(text):
    with pytest.raises(InputError, match="output 7 "):
        to_field(parse_expression(text), FIELD, "output 7")


def test_conversion_refuses_division_by_the_zero_function():
    with pytest.raises(InputError, match="output 1 divides"):
        to_field(parse_expression("1/(x - x)"), FIELD, "output 1")


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
