"""Factors of rational functions: irreducible, and their product is the function."""

from fractions import Fraction

import pytest

from derive.exact.field.factors import factored, factors
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression


@pytest.mark.parametrize(
    ("text", "number", "powers"),
    [
        ("-12*x**2*(x - y)/(5*y**3)", Fraction(-12, 5), {"x": 2, "x - y": 1, "y": -3}),
        ("7/3", Fraction(7, 3), {}),
        ("(x**2 - y**2)/(x**2 + y**2)", Fraction(1), {"x + y": 1, "x - y": 1, "x**2 + y**2": -1}),
        ("sqrt(x)/(y - x)", Fraction(-1), {"sqrt(x)": 1, "x - y": -1}),
    ],
)
def test_the_product_of_the_factors_is_the_function(text, number, powers):
    (f,) = build_elements([parse_expression(text)], ("x", "y"))
    content, found = factored(f)
    assert content == number
    assert {repr(x): n for x, n in found} == powers
    product = f.field.constant(content)
    for x, n in found:
        product *= x**n
    assert product == f
    assert factors(f) == [(x, n) for x, n in found if n > 0]
