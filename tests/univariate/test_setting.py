"""Potentials, densities and the problem that is derived from them."""

from fractions import Fraction

import pytest

from derive.errors import InputError
from derive.exact.balls import as_fraction
from derive.univariate.problem import (
    read_activation,
    read_density,
    read_potential,
    variational_problem,
)


@pytest.mark.parametrize(
    ("text", "strict", "derivatives"),
    [
        ("x**2", True, 4),
        ("abs(x)**3 + x**2", True, 2),
        ("abs(x)**(5/2) + x**2", True, 2),
        ("x**4", False, 4),
        ("x**6 - x**4 + x**2", True, 4),
        ("cosh(x)", True, 4),
        ("log(cosh(x)) + x**2", True, 4),
    ],
)
def test_convexity_is_proved(text, strict, derivatives):
    found = read_potential(text)
    assert (found.strict, found.derivatives) == (strict, derivatives)


REFUSED = ["x**3", "x**4 - x**2", "abs(x)", "x", "x*y", "1/x**2", "x*log(x)", "x**x"]


@pytest.mark.parametrize("text", [*REFUSED, "(x**2)**(5/4)", "x**2 + tan(x)", "__import__('os')"])
def test_what_is_no_potential_is_refused(text):
    with pytest.raises(InputError, match="--potential: "):
        read_potential(text)


def test_what_is_convex_but_not_strictly_is_not_called_otherwise():
    with pytest.raises(InputError, match="not strictly convex: phi'' = 0"):
        read_potential("x")


@pytest.mark.parametrize(
    ("text", "square"),
    [
        ("uniform", Fraction(1, 3)),
        ("uniform on [-2, 2]", Fraction(4, 3)),
        ("1 - abs(b)", Fraction(1, 6)),
        ("7*(1 - b**2)", Fraction(1, 5)),
        ("1/4 on [-2, -1]; 1/2; 1/4 on [1, 2]", Fraction(1)),
        ("1 on [-2, -1]; 1 on [1, 2]", Fraction(7, 3)),
    ],
)
def test_moments_of_polynomial_densities_are_exact(text, square):
    density = read_density(text)
    assert density.exact
    assert [as_fraction(density.moment(k)) for k in range(3)] == [1, 0, square]


BAD = ["b + 2", "1 on [0, 1]", "b**2 - 1/2", "1 on [1, -1]", "1; 1 on [-2, 2]", "exp(b)", "b*c"]


@pytest.mark.parametrize("text", [*BAD, "exp(-b**2) on [-1, 2]", "1 on [-1, 1"])
def test_what_is_no_even_density_is_refused(text):
    with pytest.raises(InputError, match="--density: "):
        read_density(text)


def problem(activation="relu", potential="x**2", density="uniform", scaled=False):
    setting = read_potential(potential), read_activation(activation), read_density(density)
    return variational_problem(*setting, scaled)


def test_the_functional_of_relu_is_the_one_that_is_printed():
    for density, square in (("uniform", Fraction(1, 3)), ("1 - b**2", Fraction(1, 5))):
        found = problem(density=density)
        assert found.bending == 1
        assert [as_fraction(factor) for factor in found.affine] == [1, 1 / square]
    assert not found.remarks
    assert r"\begin{theorem}" in found.to_latex()


def test_factors_in_balls_are_no_fractions_on_the_page():
    page = problem(density="exp(-b**2) on [-1, 1]").to_latex()
    assert r"&= 3.94159965444 \Bigl(" in page
    assert "Decimals are rounded." in page
    assert "rounded" not in problem().to_latex()
    assert r"&= 3 \Bigl(" in problem().to_latex()


def test_a_limit_that_no_source_proves_is_called_formal():
    for found in (problem(scaled=True), problem("abs"), problem("abs", "x**4", scaled=True)):
        assert found.remarks
        assert "formally tends" in found.to_text()
        assert r"\begin{theorem}" not in found.to_latex()


def test_an_unscaled_potential_has_a_curvature_everywhere():
    with pytest.raises(InputError, match="add a square"):
        problem(potential="x**4")
