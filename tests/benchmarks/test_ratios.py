"""The contests on small problems: every entry solves the problem that it is timed on."""

from fractions import Fraction

import numpy as np
import pytest

from tests.benchmarks import ratios


@pytest.mark.filterwarnings("ignore")  # other programs' warnings are theirs
@pytest.mark.parametrize(
    ("contest", "bound"),
    [
        (ratios.interpolants(5, 20, 0.3, rounds=1), 1e-5),
        (ratios.sparse_limit(5, 20), 1e-8),
        (ratios.precise_flow(20, Fraction(1, 20)), 1e-18),
    ],
    ids=["interpolants", "l1", "flow"],
)
def test_entries_solve_the_problem(contest, bound):
    times = ratios.measure(contest)
    assert len(times) >= 2
    assert max(t.residual for t in times) < bound
    assert ratios.table(contest.title, times).count("\n") == len(times) + 1


@pytest.mark.filterwarnings("ignore")
def test_entries_find_the_same_minimum():
    contest = ratios.interpolants(5, 20, 0.3, rounds=1)
    first, *others = [entry.run() for entry in contest.entries]
    for beta in others:
        assert np.allclose(beta, first, atol=1e-3 * np.abs(first).max())


@pytest.mark.benchmark(group="interpolant (100, 1000)")
@pytest.mark.parametrize("alpha", [1e2, 1e-2, 1e-6, 1e-12])
def test_interpolant(benchmark, alpha):
    X, y = ratios.data(100, 1000)
    q = ratios.POTENTIAL.numeric({"alpha": alpha})
    assert benchmark(lambda: ratios.interpolate(q, X, y)).converged
