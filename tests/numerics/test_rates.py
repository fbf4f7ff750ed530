"""How small or large alpha must be: the two rate theorems of Woodworth et al. 2020, on problems.

For beta = p^2 - m^2 from p = m = alpha, b1 of least l1 and b2 of least l2 norm, 0 < e < d::

    alpha <= min((2 (1+e) |b1|_1)^(-(2+e)/(2e)), exp(-d/(e |b1|_1)))
        implies  |beta|_1 <= (1+e) |b1|_1                                    (Theorem 2)
    alpha >= sqrt(2 (1+e) (1+2/e) |b2|_2)  implies  |beta|_2^2 <= (1+e) |b2|_2^2
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from derive import Parameterization, derive
from numerics import interpolate

TIED = derive(
    Parameterization.parse(["p**2-m**2"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"])
).potential


@dataclass(frozen=True)
class Case:
    """A random problem, with e and the least norms."""

    X: Any
    y: Any
    e: float
    l1: float
    l2: float

    @property
    def small(self) -> float:
        first = (2 * (1 + self.e) * self.l1) ** (-(2 + self.e) / (2 * self.e))
        return min(first, math.exp(-self.X.shape[1] / (self.e * self.l1)))

    @property
    def large(self) -> float:
        return math.sqrt(2 * (1 + self.e) * (1 + 2 / self.e) * self.l2)

    def solve(self, alpha: float) -> Any:
        s = interpolate(TIED.numeric({"alpha": alpha}), self.X, self.y)
        assert s.converged, s.message
        return s.value


def case(seed: int) -> Case:
    rng = np.random.default_rng([7, seed])
    d = int(rng.integers(2, 13))
    m = int(rng.integers(1, d))
    X = rng.standard_normal((m, d))
    y = rng.standard_normal(m)
    program = scipy.optimize.linprog(np.ones(2 * d), A_eq=np.hstack([X, -X]), b_eq=y)
    # The theorem asks for exp(-d/(e l1)): sizes are drawn such that it is no denormal number.
    e, l1 = float(rng.uniform(0.3, 2)), float(rng.uniform(0.2, 1.5) * d)
    y = y * (l1 / program.fun)
    return Case(X, y, e, l1, float(np.linalg.norm(np.linalg.pinv(X) @ y)))


def check(problem: Case) -> None:
    beta = problem.solve(problem.small)
    assert np.abs(beta).sum() <= (1 + problem.e) * problem.l1 * (1 + 1e-9)
    beta = problem.solve(problem.large)
    assert beta @ beta <= (1 + problem.e) * problem.l2**2 * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_rates(seed: int) -> None:
    check(case(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 220))
def test_rates_on_many_problems(seed: int) -> None:
    check(case(seed))


def test_rates_are_no_truisms() -> None:
    """Control: with the scales exchanged, both bounds fail on many of the problems."""
    failures = np.zeros(2)
    for seed in range(20):
        problem = case(seed)
        l1 = np.abs(problem.solve(problem.large)).sum()
        l2 = np.linalg.norm(problem.solve(problem.small))
        failures += [l1 > 1.05 * problem.l1, l2**2 > 1.05 * problem.l2**2]
    assert failures.min() >= 10
