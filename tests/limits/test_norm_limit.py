"""Limits of radial Q that outgrow every power: the linear term must be proved to be outgrown."""

import pytest
import sympy
from sympy import exp, sqrt

from derive.limits.point import read_point
from derive.limits.predictor_limit import norm_limit

x, y = betas = sympy.symbols("beta1 beta2", real=True)
c, z = sympy.Symbol("c", positive=True), sympy.Symbol("z", real=True)
s = sqrt(x**2 + y**2)


def limit(psi, slopes, at="0"):
    gradient = [psi * b / s + w for b, w in zip(betas, slopes, strict=True)]
    return norm_limit(gradient, betas, read_point("c", at), frozenset("c"))


@pytest.mark.parametrize(
    ("psi", "slopes", "error"),
    [
        (c * exp(s**2 / c**2), (-c * z, c), sqrt(z**2 + 1) * exp(-(s**2) / c**2)),
        (s * exp(s / c) / c**3, (1, -1), sqrt(2) * c**3 * exp(-s / c) / s),
        (s, (c, 2 * c), sqrt(5) * c / s),
        (s, (0, 0), None),
    ],
)
def test_a_linear_term_that_is_outgrown_leaves_the_l2_norm(psi, slopes, error):
    found = limit(psi, slopes)
    assert found.regime == "anti-NTK"
    assert found.potential.gradient == (x / s, y / s)
    assert sympy.simplify(found.unit / psi) == 1
    assert found.error == error or sympy.simplify(found.error - error) == 0


@pytest.mark.parametrize(
    ("psi", "slopes", "at"),
    [
        (c * exp(s**2 / c**2), (exp(2 / c**2), 0), "0"),  # not outgrown where |beta| < sqrt(2)
        (c * exp(s**2 / c**2), (c**2, 0), "oo"),
        (exp(-s / c), (c, 0), "0"),
        (s, (1, 0), "0"),
        (-s, (c, 0), "0"),
        (s * (1 + x**2), (c, 0), "0"),  # not radial
    ],
)
def test_what_is_not_outgrown_is_left_open(psi, slopes, at):
    assert limit(psi, slopes, at) is None
