"""How small or large alpha must be: the two rate theorems of Woodworth et al. 2020, on problems.

For beta = p^2 - m^2 from p = m = alpha, b1 of least l1 and b2 of least l2 norm::

    alpha <= min((2 (1+e) |b1|_1)^(-(2+e)/(2e)), exp(-d/(e |b1|_1)))
        implies  |beta|_1 <= (1+e) |b1|_1                                    (Theorem 2)
    alpha >= sqrt(2 (1+e) (1+2/e) |b2|_2)  implies  |beta|_2^2 <= (1+e) |b2|_2^2
"""

import numpy as np
import pytest

from derive import InputError
from numerics.confirm.limits import draw_problem, try_norm_bound
from tests.published import derive_once

TIED = derive_once("p**2-m**2", start={"p": "alpha", "m": "alpha"}, positive=["alpha"]).potential
SMALL = ("(2*(1 + eps)*norm)**(-(2 + eps)/(2*eps))", "exp(-d/(eps*norm))"), "alpha", "0", 1
LARGE = ("sqrt(2*(1 + eps)*(1 + 2/eps)*norm)",), "alpha", "infinity", 2


@pytest.mark.parametrize("claim", [SMALL, LARGE], ids=["small", "large"])
def test_rates(claim):
    assert try_norm_bound(TIED, *claim) == ()


@pytest.mark.slow
@pytest.mark.parametrize("claim", [SMALL, LARGE], ids=["small", "large"])
def test_rates_on_many_problems(claim):
    rng = np.random.default_rng([7, 20])
    assert try_norm_bound(TIED, *claim, problems=200, rng=rng) == ()


def test_rates_are_no_truisms():
    """Control: with the scales exchanged, both bounds fail on some of the problems."""
    (small, *_), (large, *_) = SMALL, LARGE
    for claim in ((large, "alpha", "infinity", 1), (small, "alpha", "0", 2)):
        found = try_norm_bound(TIED, *claim)
        assert len(found) >= 3
        assert all(f.value > f.bound for f in found)


def test_least_norms_are_least():
    for seed in range(5):
        problem = draw_problem(np.random.default_rng(seed))
        other = np.linalg.pinv(problem.X) @ problem.y
        assert np.allclose(problem.X @ other, problem.y)
        assert np.linalg.norm(other) == pytest.approx(problem.least[2])
        assert np.abs(other).sum() >= problem.least[1] * (1 - 1e-9)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ((("1",), "alpha", "0", 3), "l1 or l2"),
        ((("1",), "alpha", "1", 1), "0 or infinity"),
        ((("gamma",), "alpha", "0", 1), "gamma is not defined"),
    ],
)
def test_bad_input_is_one_line(claim, message):
    with pytest.raises(InputError, match=message):
        try_norm_bound(TIED, *claim)
