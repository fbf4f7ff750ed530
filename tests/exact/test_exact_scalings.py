"""What scalings of the variables tell apart, and what they never do."""

from random import Random

import pytest

from derive.exact.field.function_field import FunctionField
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.linear.modular import _numerators, by_monomials, nullspace
from derive.exact.linear.scalings import told_apart
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression


def read(texts):
    return build_elements([*map(parse_expression, texts)], ("a", "b", "c"), (), ())


@pytest.mark.parametrize(
    ("target", "functions"),
    [
        ("a", ["a*b", "a**2 - b**2"]),
        ("a*b", ["a**3*b**3", "c"]),
        ("b", ["a*b", "a/b"]),
        ("a*exp(b)", ["exp(2*b)", "a**2 + 1"]),
        ("sqrt(a**2 + b**2)", ["a", "b**2"]),
        ("a*sqrt(a**2 + b**2)", ["a**2", "b"]),
    ],
)
def test_what_a_scaling_moves_is_not_rational_in_what_it_leaves_alone(target, functions):
    target, *functions = read([target, *functions])
    assert told_apart(target, functions)
    assert express(target, Coordinates.of([(f"g{k}", g) for k, g in enumerate(functions)])) is None
    assert not told_apart(target * target / target, [*functions, target])


@pytest.mark.parametrize(
    "functions",
    [
        ["a*b", "a**2 - b**2"],
        ["a**2/b", "b*c", "a + c**2"],
        ["exp(a)*b", "exp(2*a) + b**2"],
        ["sqrt(a**2 + b**2)*a", "b**2"],
        ["(a**2 + b**2)**(1/3)", "a*b"],
    ],
)
def test_what_is_rational_in_functions_is_never_told_apart(functions):
    functions, rng = read(functions), Random(3)
    one = functions[0].field.one
    for _ in range(12):
        top, below = (
            sum((rng.randint(-2, 2) * rng.choice(functions) ** rng.randint(0, 2) for _ in "123"), x)
            for x in (0 * one, 7 * one)
        )
        assert below.is_zero() or not told_apart(top / below, functions)


def test_equations_by_monomials_are_those_of_quotients():
    """Of c_0 a/b + c_1 (a + b)/b + c_2: over one denominator; none where that is long."""
    a, b = FunctionField(("a", "b")).gens
    row = [a / b, (a + b) / b, 0 * a + 1]
    assert nullspace(by_monomials([row])) == [(1, -1, 1)]
    assert nullspace(by_monomials([[*row[:2], a]])) == []
    assert by_monomials([[1 / (a + b + k) for k in range(1, 30)]]) is None
    assert _numerators([a / b, b / a]) == [(a * a).numerator, (b * b).numerator]
