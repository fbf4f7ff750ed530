"""The contests on small problems: every entry solves the problem that it is timed on."""

from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest

from tests.benchmarks import __main__ as ratios
from tests.benchmarks.contest import Contest, Entry, Time, measure, rows

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")  # other programs' warnings are theirs
@pytest.mark.parametrize(
    ("contest", "bound"),
    [
        (lambda: ratios.interpolants(5, 20, 0.3, rounds=1), 1e-5),
        (lambda: ratios.sparse_limit(5, 20), 1e-8),
        (lambda: ratios.precise_flow(20, Fraction(1, 20), rounds=1), 1e-18),
    ],
    ids=["interpolants", "l1", "flow"],
)
def test_entries_solve_the_problem(contest, bound):
    contest = contest()
    times = measure(contest)
    assert len(times) >= 2
    ran = [t for t in times if t.seconds]
    assert max(t.error for t in ran) < bound
    assert len(ran) >= 2
    lines = rows(contest.title, times).splitlines()
    assert len(lines) == len(times) + 1
    assert sum(line.endswith("not installed") for line in lines) == len(times) - len(ran)


def test_what_is_not_installed_is_a_line():
    missing = Entry("other", lambda: 1 / 0, needs="no_such_package")
    contest = Contest("title", (Entry("ours", lambda: 1), missing), float)
    ours, other = measure(contest)
    assert ours.error == 1
    assert rows("title", [ours, other]).endswith("not installed")


def test_flows_of_several_problems():
    lines = ratios.draws(20, range(2), lambda seed: Fraction(1 + seed, 50)).splitlines()
    assert [line.split()[0] for line in lines] == ["flows", "draw", "draw", "least", "median"]
    assert all(float(line.split()[-1]) < 1e-18 for line in lines[1:3])
    assert 0 < float(lines[3].split()[1]) <= float(lines[4].split()[1])


@pytest.mark.filterwarnings("ignore")
def test_entries_find_the_same_minimum():
    contest = ratios.interpolants(5, 20, 0.3, rounds=1)
    installed = [e for e in contest.entries if not e.needs or find_spec(e.needs)]
    first, *others = [entry.run() for entry in installed]
    for beta in others:
        assert np.allclose(beta, first, atol=1e-3 * np.abs(first).max())


@pytest.mark.filterwarnings("ignore")
def test_functions_agree():
    for contest in ratios.functions(50):
        assert max(t.error for t in measure(contest)) < 1e-12, contest.title


def test_the_median_and_the_spread_of_rounds():
    assert Time("x", (1.0, 2.0, 5.0)).median == 2
    assert rows("title", [Time("x", (1.0, 2.0, 5.0), 0.0)]).split()[2:5] == [
        "2.0000",
        "100%",
        "1.0",
    ]
