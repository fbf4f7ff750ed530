"""Running times against other programs, side by side in one run.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.ratios [--quick]

Each contest gives all entries the same problem, takes the best of a few runs, and prints times,
ratios to the first entry and what was reached: for interpolants the relative residual
|X beta - y|/|y|, for flows the largest error of a weight. CVXPY with Clarabel comes with the extra
``bench``, heyoka with the extra ``heyoka``; what is missing is a line that says so.
``--quick`` leaves out what takes minutes, or gigabytes: mpmath.odefun to the limit of a flow, and
a million dimensions.
"""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize

from derive import Parameterization, derive
from numerics.experiments.sparse_regression import train
from numerics.interpolate.design import read_design
from numerics.interpolate.interpolant import interpolate
from tests.benchmarks.flows import diagonal_by_odefun, diagonal_limit, run, worst

PAIR = Parameterization.parse(
    ["p**2 - m**2"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"]
)
POTENTIAL = derive(PAIR).potential


@dataclass(frozen=True)
class Entry:
    """A program: its name, what it runs, how often at most, and what it takes to be installed."""

    name: str
    run: Callable[[], Any]
    rounds: int = 1
    needs: str = ""


@dataclass(frozen=True)
class Contest:
    """Entries for one problem; the first is the one that others are compared with."""

    title: str
    entries: tuple[Entry, ...]
    error: Callable[[Any], float]


@dataclass(frozen=True)
class Time:
    """The seconds of the best run and the error of its result; nan for what is not installed."""

    name: str
    seconds: float = math.nan
    error: float = math.nan


def measure(contest: Contest) -> list[Time]:
    """Run every entry that is installed."""
    times = []
    for entry in contest.entries:
        if entry.needs and importlib.util.find_spec(entry.needs) is None:
            times.append(Time(entry.name))
            continue
        best, result = np.inf, None
        for _ in range(entry.rounds):
            begun = time.perf_counter()
            result = entry.run()
            best = min(best, time.perf_counter() - begun)
        times.append(Time(entry.name, best, contest.error(result)))
    return times


HEADER = f"{'':44}{'seconds':>10}{'ratio':>9}{'error':>10}"


def rows(title: str, times: Sequence[Time]) -> str:
    """Return the lines of one contest: seconds, ratios and errors."""
    first, lines = times[0].seconds, [title]
    for t in times:
        figures = f"{t.seconds:10.4f}{t.seconds / first:9.1f}{t.error:10.1e}"
        lines.append(f"  {t.name:42}{'not installed' if math.isnan(t.seconds) else figures}")
    return "\n".join(lines)


def data(m: int, d: int) -> tuple[Any, Any]:
    """A sparse regression problem."""
    rng = np.random.default_rng(0)
    X, beta = rng.standard_normal((m, d)), np.zeros(d)
    beta[:5] = 5**-0.5
    return X, X @ beta + rng.standard_normal(m) / 10


def _relative(X: Any, y: Any) -> Callable[[Any], float]:
    return lambda beta: float(np.linalg.norm(X @ beta - y) / np.linalg.norm(y))


def interpolants(m: int, d: int, alpha: float, rounds: int = 5) -> Contest:
    """min Q(beta) s.t. X beta = y, by general solvers and by the flow itself."""
    X, y = data(m, d)
    q = POTENTIAL.numeric({"alpha": alpha})
    start = {"p": alpha, "m": alpha}
    entries = [
        Entry("numerics.interpolate.interpolant", lambda: interpolate(q, X, y).value, rounds),
        Entry("gradient flow, scipy DOP853", lambda: train(PAIR, X, y, start).value),
        Entry("CVXPY + Clarabel", lambda: _conic(X, y, alpha), needs="cvxpy"),
    ]
    if m * d <= 2000:
        entries.append(
            Entry(
                "gradient flow, scipy LSODA", lambda: train(PAIR, X, y, start, method="LSODA").value
            )
        )
        entries.append(Entry("scipy trust-constr", lambda: _trust_constr(q, X, y)))
    return Contest(f"(m, d) = ({m}, {d}), alpha = {alpha:g}", tuple(entries), _relative(X, y))


def _conic(X: Any, y: Any, alpha: float) -> Any:
    """The same minimum in p^2 and m^2: relative entropies to alpha^2."""
    import cvxpy

    u, v = cvxpy.Variable(X.shape[1]), cvxpy.Variable(X.shape[1])
    entropy = cvxpy.kl_div(u, alpha**2) + cvxpy.kl_div(v, alpha**2)
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(entropy)), [X @ (u - v) == y])
    program.solve(solver=cvxpy.CLARABEL)
    return u.value - v.value


def _trust_constr(q: Any, X: Any, y: Any) -> Any:
    return scipy.optimize.minimize(
        lambda b: q(b).sum(),
        np.linalg.pinv(X) @ y,
        jac=q.gradient,
        hess=lambda b: np.diag(q.curvature(b)),
        method="trust-constr",
        constraints=scipy.optimize.LinearConstraint(X, y, y),
        options={"gtol": 1e-8, "xtol": 1e-12, "maxiter": 3000},
    ).x


def sparse_limit(m: int, d: int) -> Contest:
    """alpha = 1e-8 against least l1 norm by linear programming."""
    X, y = data(m, d)
    q = POTENTIAL.numeric({"alpha": 1e-8})

    def basis_pursuit() -> Any:
        both = np.hstack([X, -X])
        x = scipy.optimize.linprog(np.ones(2 * d), A_eq=both, b_eq=y, method="highs").x
        return x[:d] - x[d:]

    entries = (
        Entry("numerics.interpolate.interpolant, 1e-8", lambda: interpolate(q, X, y).value, 5),
        Entry("HiGHS, least l1 norm", basis_pursuit),
    )
    return Contest(f"(m, d) = ({m}, {d}), towards l1", entries, _relative(X, y))


def gram_products(m: int, d: int, alpha: float) -> Contest:
    """The solver against the Gram products X D X^T that its Newton steps need."""
    X, y = data(m, d)
    q, design = POTENTIAL.numeric({"alpha": alpha}), read_design(X)
    products = interpolate(q, X, y).iterations + 1
    weights = np.linspace(0.5, 1, d)

    def only_products() -> Any:
        for _ in range(products):
            design.gram(weights)
        return np.zeros(d)

    def scaled_copies() -> Any:
        for _ in range(products):
            (X * weights) @ X.T
        return np.zeros(d)

    entries = (
        Entry(f"{products} Gram products, in blocks", only_products, 2),
        Entry(f"{products} Gram products, scaled copies", scaled_copies, 2),
        Entry("numerics.interpolate.interpolant", lambda: interpolate(q, X, y).value, 2),
    )
    return Contest(f"(m, d) = ({m}, {d}), alpha = {alpha:g}", entries, _relative(X, y))


def precise_flow(digits: int, horizon: Fraction, rounds: int = 3, seed: int = 0) -> Contest:
    """Gradient flow of beta = p^2 - m^2 from alpha = 0.1, X 3 x 8, for a time."""
    exact = run("diagonal", digits + 20, seed, time=horizon).weights

    def ours(engine: str) -> Callable[[], Any]:
        return lambda: run("diagonal", digits, seed, time=horizon, engine=engine).weights

    entries = (
        Entry("numerics.flow.gradient_flow", ours("taylor"), rounds),
        Entry("by heyoka, with its compilation", ours("heyoka"), 1, "heyoka"),
        Entry("mpmath.odefun", lambda: diagonal_by_odefun(horizon, digits, seed)),
    )
    title = f"flow for time {float(horizon):g}, {digits} digits"
    return Contest(title, entries, lambda weights: float(worst(weights, exact)))


def limit_time(digits: int, seed: int = 0) -> Fraction:
    """Return the time at which that flow has come to |X beta - y| < 1e-40."""
    end = run("diagonal", digits, seed, tolerance=Fraction(1, 10**40)).time
    return Fraction(math.ceil(end))


def draws(digits: int, seeds: Sequence[int], time: Callable[[int], Fraction]) -> str:
    """Time that flow for several X and y; errors are those of its limit, by Newton on the dual."""
    lines, ratios = [f"flows for several X and y, {digits} digits: mpmath.odefun to ours"], []
    for seed in seeds:
        ours, *_, odefun = measure(precise_flow(digits, time(seed), 5, seed))
        limit = run("diagonal", digits, seed).limit
        error = float(worst(limit, diagonal_limit(digits + 20, seed)))
        ratios.append(odefun.seconds / ours.seconds)
        lines.append(f"  {f'draw {seed}':42}{ours.seconds:10.4f}{ratios[-1]:9.1f}{error:10.1e}")
    for name, ratio in (("least", min(ratios)), ("median", statistics.median(ratios))):
        lines.append(f"  {name:52}{ratio:9.1f}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print one table, contest by contest."""
    contests: list[Callable[[], Contest]] = [
        lambda: interpolants(100, 1000, 1.0),
        lambda: interpolants(100, 1000, 1e-2),
        lambda: interpolants(100, 1000, 1e-4),
        lambda: interpolants(10, 100, 1e-1),
        lambda: sparse_limit(100, 1000),
        lambda: precise_flow(50, Fraction(1)),
        lambda: precise_flow(50, Fraction(16)),
    ]
    if "--quick" not in arguments:
        contests.append(lambda: precise_flow(50, limit_time(50)))
        contests.append(lambda: gram_products(100, 10**6, 0.1))
    print(HEADER)
    for make in contests:
        contest = make()
        print(rows(contest.title, measure(contest)), flush=True)
    if "--quick" not in arguments:
        print(draws(50, range(6), lambda seed: limit_time(50, seed)))


if __name__ == "__main__":
    main(sys.argv[1:])
