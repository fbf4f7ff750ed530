"""Integrals with erf, Ei and Li_2 have the derivative that they should, at points in numbers."""

import mpmath
import pytest
import sympy
from sympy.abc import E, d, u

from derive.exact.named_integrals import NAMED, Exponential, Li2

LINE, BELL, RISING = -u, d / 2 - u**2 / 2, u**2 / 2 - u / 3 + d


def _exponential(A):
    def rational(x, part):
        return sympy.integrate(part, x)

    return Exponential(u, E, A, rational, lambda a: int(sympy.sign(a)) if a.is_number else 0)


@pytest.mark.parametrize(
    ("integrand", "A", "names"),
    [
        (E, BELL, {sympy.erf}),
        (u**4 * E**2, BELL, {sympy.erf}),
        (u * E, BELL, set()),
        ((1 + u**3) * E, RISING, {sympy.erfi}),
        (E / (u + 1), LINE, {sympy.Ei}),
        (u**2 * E / (u + 1) ** 3, LINE, {sympy.Ei}),
        (E**2 / u**3 + E / (u * (u + 2)) + u, d - u, {sympy.Ei}),
        (u**3 * E, LINE, set()),
        ((u + E) / (E + 1), u, {Li2}),
        (u / (E - 2) + u * E + u / E, u, {Li2}),
        (u / (E - 2) ** 2 + u / (E + 3) ** 3, 2 * u, {Li2}),
    ],
)
def test_the_integral_has_its_derivative(integrand, A, names):
    found = _exponential(A).integral(integrand)
    assert {f for f in NAMED if found.has(f)} == names
    error = found.xreplace({E: sympy.exp(A)}).diff(u) - integrand.xreplace({E: sympy.exp(A)})
    for at in (sympy.Rational(7, 5), sympy.Rational(9, 4)):
        assert abs(sympy.N(error.xreplace({u: at, d: sympy.Rational(1, 3)}), 30)) < 1e-25


@pytest.mark.parametrize(
    ("integrand", "A"),
    [
        (E / (u**2 + 1), LINE),  # poles that are no rational numbers
        (E / (u + 1), BELL),  # a pole beside a bell
        (u**2 / (E + 1), u),  # would take Li_3
        (u / (E + 1), u + 1),  # E is no power of exp(u)
        (E / (E + u), u),
        (E, d * u**2),  # a sign that is not known
        (u / (E - d), u),
    ],
)
def test_other_integrals_are_left(integrand, A):
    assert _exponential(A).integral(integrand) is None


def test_li2_is_the_dilogarithm():
    slope = Li2(u).diff(u)
    for z in (-3.0, -0.5, 0.7):
        exact = mpmath.diff(lambda x: mpmath.polylog(2, x), z)
        assert float(slope.subs(u, z)) == pytest.approx(float(exact.real), rel=1e-9)
