"""Wide random starts: moments for every width at once, confirmed by draws."""

from dataclasses import replace

import pytest
import sympy
from sympy import Rational

from derive import Parameterization, Verdict, random_width
from numerics.confirm.limits import confirm_width
from tests.published import derive_once

alpha = sympy.Symbol("alpha", positive=True)


@pytest.mark.slow
def test_random_width():
    wide = random_width()
    assert wide.finding.verdict is Verdict.PROVED
    k, sigma = sympy.symbols("k sigma", positive=True)
    assert wide.mu.subs(sigma, alpha / k ** Rational(1, 4)) == alpha * k ** Rational(1, 4)
    assert sympy.limit(wide.kappa_variance, k, sympy.oo) == 0 == sympy.limit(wide.bias, k, sympy.oo)
    # At width 2 the pipeline finds the same kappa.
    d = derive_once("u1*v1 + u2*v2")
    (kernel,) = d.metric.kernel
    (constant,) = d.metric.constants
    beta = d.beta[0]
    assert sympy.expand(kernel**2 - 4 * beta**2 - constant[0]) == 0


@pytest.mark.every(4)
@pytest.mark.parametrize("unit", ["u*v", "p**2 - m**2", "3*u*v + 3*x*y/2 + 3*x*y/2"])
def test_wide_starts_are_confirmed_by_draws(unit):
    wide = random_width(Parameterization.parse([unit]), "n")
    assert [limit.regime for limit in wide.limits] == ["rich", "kernel"]
    assert sympy.diff(wide.kappa_mean, wide.width) != 0
    c = confirm_width(wide)
    assert c.passed, c.report()
    doubled = replace(wide, kappa_mean=2 * wide.kappa_mean)
    narrow = replace(wide, kappa_variance=wide.kappa_variance / 400)
    wrong = replace(wide, limits=wide.limits[::-1], gradient=2 * wide.gradient)
    for broken in (doubled, narrow, wrong):
        assert not confirm_width(broken).passed
