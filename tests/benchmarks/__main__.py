"""Running times against other programs, side by side in one run: one command, one table.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks [--quick]

Each contest gives all entries the same problem, runs them in turns, and prints the median of the
seconds, half their range relative to it, the ratio to the first entry, and what was reached: for
interpolants the relative residual |X beta - y|/|y|, for flows the largest error of a weight, for
functions the range of their differences from bounded results, relative to the largest (Q is up to a
constant). CVXPY with Clarabel comes with the extra ``bench``; what is missing is a
line that says so. ``--quick`` leaves out what takes minutes, or gigabytes: mpmath.odefun to the
limit of a flow, and a million dimensions.
"""

import math
import statistics
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import scipy.optimize
import sympy

from derive import Parameterization, derive
from numerics.experiments.sparse_regression import train
from numerics.interpolants.design import read_design
from numerics.interpolants.interpolant import interpolate
from tests.benchmarks.contest import HEADER, Contest, Entry, measure, rows
from tests.benchmarks.flows import diagonal_by_odefun, diagonal_limit, run, stiff, worst
from tests.published import MODELS

ROOT = Path(__file__).parents[2]
PAIR = Parameterization.parse(
    ["p**2 - m**2"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"]
)


@cache
def potential():
    return derive(PAIR).potential


def data(m, d):
    """A sparse regression problem."""
    rng = np.random.default_rng(0)
    X, beta = rng.standard_normal((m, d)), np.zeros(d)
    beta[:5] = 5**-0.5
    return X, X @ beta + rng.standard_normal(m) / 10


def _relative(X, y):
    return lambda beta: float(np.linalg.norm(X @ beta - y) / np.linalg.norm(y))


def interpolants(m, d, alpha, rounds=5):
    """min Q(beta) s.t. X beta = y, by general solvers and by the flow itself."""
    X, y = data(m, d)
    q = potential().numeric({"alpha": alpha})
    start = {"p": alpha, "m": alpha}
    entries = [
        Entry("numerics.interpolants.interpolant", lambda: interpolate(q, X, y).value, rounds),
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


def _conic(X, y, alpha):
    """The same minimum in p^2 and m^2: relative entropies to alpha^2."""
    import cvxpy

    u, v = cvxpy.Variable(X.shape[1]), cvxpy.Variable(X.shape[1])
    entropy = cvxpy.kl_div(u, alpha**2) + cvxpy.kl_div(v, alpha**2)
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(entropy)), [X @ (u - v) == y])
    program.solve(solver=cvxpy.CLARABEL)
    return u.value - v.value


def _trust_constr(q, X, y):
    return scipy.optimize.minimize(
        lambda b: q(b).sum(),
        np.linalg.pinv(X) @ y,
        jac=q.gradient,
        hess=lambda b: np.diag(q.hessian(b)[:, 0, 0]),
        method="trust-constr",
        constraints=scipy.optimize.LinearConstraint(X, y, y),
        options={"gtol": 1e-8, "xtol": 1e-12, "maxiter": 3000},
    ).x


def sparse_limit(m, d):
    """alpha = 1e-8 against least l1 norm by linear programming."""
    X, y = data(m, d)
    q = potential().numeric({"alpha": 1e-8})

    def basis_pursuit():
        both = np.hstack([X, -X])
        x = scipy.optimize.linprog(np.ones(2 * d), A_eq=both, b_eq=y, method="highs").x
        return x[:d] - x[d:]

    entries = (
        Entry("numerics.interpolants.interpolant, 1e-8", lambda: interpolate(q, X, y).value, 5),
        Entry("HiGHS, least l1 norm", basis_pursuit),
    )
    return Contest(f"(m, d) = ({m}, {d}), towards l1", entries, _relative(X, y))


def gram_products(m, d, alpha):
    """The solver against the Gram products X D X^T that its Newton steps need."""
    X, y = data(m, d)
    q, design = potential().numeric({"alpha": alpha}), read_design(X)
    products = interpolate(q, X, y).iterations + 1
    weights = np.linspace(0.5, 1, d)

    def only_products():
        for _ in range(products):
            design.gram(weights)
        return np.zeros(d)

    def scaled_copies():
        for _ in range(products):
            (X * weights) @ X.T
        return np.zeros(d)

    entries = (
        Entry(f"{products} Gram products, in blocks", only_products, 2),
        Entry(f"{products} Gram products, scaled copies", scaled_copies, 2),
        Entry("numerics.interpolants.interpolant", lambda: interpolate(q, X, y).value, 2),
    )
    return Contest(f"(m, d) = ({m}, {d}), alpha = {alpha:g}", entries, _relative(X, y))


def precise_flow(digits, horizon, rounds=3, seed=0):
    """Gradient flow of beta = p^2 - m^2 from alpha = 0.1, X 3 x 8, for a time."""
    exact = run(digits + 20, seed, time=horizon).weights

    def ours():
        return run(digits, seed, time=horizon).weights

    entries = (
        Entry("numerics.integrator.gradient_flow", ours, rounds),
        Entry("mpmath.odefun", lambda: diagonal_by_odefun(horizon, digits, seed)),
    )
    title = f"flow for time {float(horizon):g}, {digits} digits"
    return Contest(title, entries, lambda weights: float(worst(weights, exact)))


def limit_time(digits, seed=0):
    """Return the time at which that flow has come to |X beta - y| < 1e-40."""
    end = run(digits, seed, tolerance=Fraction(1, 10**40)).time
    return Fraction(math.ceil(end))


def stiff_flow(scales, digits):
    """Gradient flow of beta = p^2 - m^2 to its limit, the rows of X scaled."""
    exact = stiff(scales, digits + 5).weights
    entries = (
        Entry("rows scaled by 1", lambda: stiff([1] * len(scales), digits)),
        Entry(f"rows scaled by {', '.join(map(str, scales))}", lambda: stiff(scales, digits)),
    )
    title = f"stiff flow to its limit, {digits} digits"
    return Contest(title, entries, lambda end: float(worst(end.weights, exact)))


def functions(count, alpha=0.5):
    """Q, its gradient and its Bregman divergence at many points, against NumPy and lambdify."""
    b, b0 = np.random.default_rng(0).standard_normal((2, count))
    q, a = potential().numeric({"alpha": alpha}), 2 * alpha**2

    def value(b):
        return (b * np.arcsinh(b / a) - np.hypot(b, a) + a) / 4

    def gradient(b):
        return np.arcsinh(b / a) / 4

    ours = {"Q": lambda q: q(b), "grad Q": lambda q: q.gradient(b)}
    ours["Bregman"] = lambda q: q.bregman(b, b0)
    numpy = {
        "Q": lambda: value(b),
        "grad Q": lambda: gradient(b),
        "Bregman": lambda: value(b) - value(b0) - gradient(b0) * (b - b0),
    }
    printed = dict(zip(("Q", "grad Q"), (potential().Q, potential().gradient[0]), strict=True))
    contests = []
    for name, evaluate in ours.items():
        entries = [
            Entry("NumPy by hand", numpy[name], 5),
            Entry("bounded", lambda f=evaluate: f(q), 3),
            Entry("in_doubles", lambda f=evaluate: f(q.in_doubles), 5),
        ]
        if name in printed:
            symbols = sorted(printed[name].free_symbols, key=str)
            lambdified = sympy.lambdify(symbols, printed[name], "numpy")
            entries.append(Entry("SymPy's lambdify", lambda f=lambdified: f(alpha, b), 5))
        right = evaluate(q)
        far = lambda x, right=right: float(np.ptp(x - right) / np.abs(right).max())  # noqa: E731
        contests.append(Contest(f"{name} at {count} points", tuple(entries), far))
    return contests


def commands():
    """Whole commands against the import of the libraries that they use."""
    texts = {
        "import sympy, scipy": ["-c", "import sympy, scipy"],
        "--help": ["-m", "derive", "--help"],
        "neuron": ["-m", "derive", "regularizer", "a*u1", "a*u2"],
        "neuron --check": ["-m", "derive", "regularizer", "a*u1", "a*u2", "--check"],
    }

    def whole(command):
        return subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, check=False
        )

    entries = [Entry(n, lambda x=x: whole(x), 3) for n, x in texts.items()]
    return Contest(
        "whole commands; the error is the exit code", tuple(entries), lambda x: x.returncode
    )


def algebra():
    """From outputs to Q, warm, in this process."""

    def whole(model):
        found = derive(Parameterization.parse(model.outputs, model.start, model.positive))
        return found.warping.verdict.value != model.warp

    entries = tuple(Entry(m.name, lambda m=m: whole(m), 3) for m in MODELS)
    return Contest("algebra; the error tells a wrong verdict", entries, float)


def draws(digits, seeds, time):
    """Time that flow for several X and y; errors are those of its limit, by Newton on the dual."""
    lines, ratios = [f"flows for several X and y, {digits} digits: mpmath.odefun to ours"], []
    for seed in seeds:
        ours, *_, odefun = measure(precise_flow(digits, time(seed), 5, seed))
        limit = run(digits, seed).limit
        error = float(worst(limit, diagonal_limit(digits + 20, seed)))
        ratios.append(odefun.median / ours.median)
        lines.append(f"  {f'draw {seed}':50}{ours.median:10.4f}{ratios[-1]:9.1f}{error:10.1e}")
    for name, ratio in (("least", min(ratios)), ("median", statistics.median(ratios))):
        lines.append(f"  {name:60}{ratio:9.1f}")
    return "\n".join(lines)


def main(arguments):
    """Print one table, contest by contest."""
    contests = [
        commands,
        algebra,
        *(lambda x=x: x for x in functions(10**6)),
        lambda: interpolants(100, 1000, 1.0),
        lambda: interpolants(100, 1000, 1e-2),
        lambda: interpolants(100, 1000, 1e-4),
        lambda: interpolants(10, 100, 1e-1),
        lambda: sparse_limit(100, 1000),
        lambda: precise_flow(50, Fraction(1)),
        lambda: precise_flow(50, Fraction(16)),
        lambda: stiff_flow([1, 10, 30], 30),
    ]
    if "--quick" not in arguments:
        contests.append(lambda: precise_flow(50, limit_time(50)))
        contests.append(lambda: stiff_flow([1, 10, 30, 100], 30))
        contests.append(lambda: gram_products(100, 10**6, 0.1))
        contests.append(lambda: gram_products(1000, 10**4, 0.1))
    print(HEADER)
    for make in contests:
        contest = make()
        print(rows(contest.title, measure(contest)), flush=True)
    if "--quick" not in arguments:
        print(draws(50, range(6), lambda seed: limit_time(50, seed)))


if __name__ == "__main__":
    main(sys.argv[1:])
