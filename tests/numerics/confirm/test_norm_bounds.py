"""How small or large alpha must be: the two rate theorems of Woodworth et al. 2020, on problems.

For beta = p^2 - m^2 from p = m = alpha, b1 of least l1 and b2 of least l2 norm::

    alpha <= min((2 (1+e) |b1|_1)^(-(2+e)/(2e)), exp(-d/(e |b1|_1)))
        implies  |beta|_1 <= (1+e) |b1|_1                                    (Theorem 2)
    alpha >= sqrt(2 (1+e) (1+2/e) |b2|_2)  implies  |beta|_2^2 <= (1+e) |b2|_2^2
"""

import math

import numpy as np
import pytest

from numerics.confirm.limits import excess_at
from tests.published import derive_once

TIED = derive_once("p**2-m**2", start={"p": "alpha", "m": "alpha"}, positive=["alpha"]).potential


def small(eps, d, norm):
    return min((2 * (1 + eps) * norm) ** (-(2 + eps) / (2 * eps)), math.exp(-d / (eps * norm)))


def large(eps, d, norm):
    return math.sqrt(2 * (1 + eps) * (1 + 2 / eps) * norm)


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "p"), [(small, 1), (large, 2)], ids=["small", "large"])
def test_rates(bound, p):
    rng = np.random.default_rng([7, 20])
    for found in (excess_at(TIED, bound, p), excess_at(TIED, bound, p, 200, rng)):
        assert (found < 1 + 1e-9).all()


@pytest.mark.parametrize(("bound", "p"), [(large, 1), (small, 2)])
def test_rates_are_no_truisms(bound, p):
    """Control: with the scales exchanged, both bounds fail on some of the problems."""
    assert (excess_at(TIED, bound, p) > 1).sum() >= 3
