"""Running times against other programs, side by side in one run.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.ratios [--large]

Each contest gives all entries the same problem, takes the best of a few runs, and prints times,
ratios to the first entry and the relative residual |X beta - y|/|y| that was reached.
CVXPY with Clarabel comes with the extra ``bench``; what is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import scipy.optimize

from derive import Parameterization, derive
from numerics.design import read_design
from numerics.experiments.training import train
from numerics.interpolate import interpolate
from numerics.tape import compile_gradient
from numerics.taylor import integrate

PAIR = Parameterization.parse(
    ["p**2 - m**2"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"]
)
POTENTIAL = derive(PAIR).potential


@dataclass(frozen=True)
class Entry:
    """A program: its name, what it runs, which returns beta, and how often at most."""

    name: str
    run: Callable[[], Any]
    rounds: int = 1


@dataclass(frozen=True)
class Contest:
    """Entries for one problem; the first is the one that others are compared with."""

    title: str
    entries: tuple[Entry, ...]
    residual: Callable[[Any], float]


@dataclass(frozen=True)
class Time:
    """The seconds of the best run, and the relative residual of its result."""

    name: str
    seconds: float
    residual: float


def measure(contest: Contest) -> list[Time]:
    """Run every entry."""
    times = []
    for entry in contest.entries:
        best, result = np.inf, None
        for _ in range(entry.rounds):
            begun = time.perf_counter()
            result = entry.run()
            best = min(best, time.perf_counter() - begun)
        times.append(Time(entry.name, best, contest.residual(result)))
    return times


def table(title: str, times: Sequence[Time]) -> str:
    """Return lines of seconds, ratios and residuals."""
    first = times[0].seconds
    lines = [title, f"  {'':32}{'seconds':>10}{'ratio':>9}{'residual':>10}"]
    for t in times:
        lines.append(f"  {t.name:32}{t.seconds:10.4f}{t.seconds / first:9.1f}{t.residual:10.1e}")
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
        Entry("numerics.interpolate", lambda: interpolate(q, X, y).value, rounds),
        Entry("gradient flow, DOP853", lambda: train(PAIR, X, y, start).value),
    ]
    if importlib.util.find_spec("cvxpy"):
        entries.append(Entry("CVXPY + Clarabel", lambda: _conic(X, y, alpha)))
    if m * d <= 2000:
        entries.append(
            Entry("gradient flow, LSODA", lambda: train(PAIR, X, y, start, method="LSODA").value)
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
        Entry("numerics.interpolate, 1e-8", lambda: interpolate(q, X, y).value, 5),
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
        Entry("numerics.interpolate", lambda: interpolate(q, X, y).value, 2),
    )
    return Contest(f"(m, d) = ({m}, {d}), alpha = {alpha:g}", entries, _relative(X, y))


def precise_flow(digits: int, horizon: Fraction) -> Contest:
    """Gradient flow of beta = p^2 - m^2, X 2 x 4, for a short time."""
    names = [f"{w}{i}" for w in "pm" for i in range(4)]
    model = Parameterization.parse([f"p{i}**2 - m{i}**2" for i in range(4)])
    X, y = [[1, 2, 0, -1], [0, 1, 3, 1]], [1, 2]
    columns = list(zip(*X, strict=True))

    def seed(builder: Any, beta: Any) -> list[Any]:
        left = [builder.linear(zip(beta, map(Fraction, r), strict=True), Fraction(-t))
                for r, t in zip(X, y, strict=True)]  # fmt: skip
        return [builder.linear((x, Fraction(-c)) for x, c in zip(left, column, strict=True))
                for column in columns]  # fmt: skip

    tape = compile_gradient(model.trees, model.weights, seed)
    field = tape.take(range(4, 4 + len(model.weights)))
    start = [Fraction(1, 10)] * 8

    def taylor() -> Any:
        end = integrate(field, start, digits, time=horizon).state
        return [end[model.weights.index(name)] for name in names]

    def motion(_: Any, w: Any) -> list[Any]:
        p, m = w[:4], w[4:]
        beta = [a * a - b * b for a, b in zip(p, m, strict=True)]
        left = [mpmath.fdot(r, beta) - t for r, t in zip(X, y, strict=True)]
        force = [mpmath.fdot(column, left) for column in columns]
        return [-2 * f * a for f, a in zip(force, p, strict=True)] + [
            2 * f * b for f, b in zip(force, m, strict=True)
        ]

    def odefun() -> Any:
        with mpmath.workdps(digits):
            origin = [mpmath.mpf(1) / 10] * 8
            return mpmath.odefun(motion, 0, origin)(
                mpmath.mpf(horizon.numerator) / horizon.denominator
            )

    reference: list[Any] = integrate(field, start, digits + 20, time=horizon).state
    exact = [reference[model.weights.index(name)] for name in names]

    def error(w: Any) -> float:
        with mpmath.workdps(digits + 20):
            return float(max(abs(a - b) / abs(b) for a, b in zip(w, exact, strict=True)))

    entries = (
        Entry("numerics.taylor", taylor, 3),
        Entry("mpmath.odefun", odefun),
    )
    return Contest(f"flow for time {horizon}, {digits} digits (residual: error)", entries, error)


def main(arguments: Sequence[str]) -> None:
    """Print a table for each contest."""
    contests: list[Callable[[], Contest]] = [
        lambda: interpolants(100, 1000, 1.0),
        lambda: interpolants(100, 1000, 1e-2),
        lambda: interpolants(100, 1000, 1e-4),
        lambda: interpolants(10, 100, 1e-1),
        lambda: sparse_limit(100, 1000),
        lambda: precise_flow(50, Fraction(1, 4)),
    ]
    if "--large" in arguments:
        contests.append(lambda: gram_products(100, 10**6, 0.1))
    for make in contests:
        contest = make()
        print(table(contest.title, measure(contest)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
