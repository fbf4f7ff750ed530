"""Margins of F with a grading that is not I/D: which weights rule, which fade, and what is least.

The witnesses are flows of exponential loss in log time and brute force, on F and data alone.
"""

import random

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import minimize, nnls
from scipy.special import logsumexp, softmax

from derive import Parameterization, Verdict, margins
from derive.separable.weights_problem import pose_in_weights
from derive.statement import Ground
from tests.cli.commands import run
from tests.published import derive_once

LATE, CLOSE = 4e3, 0.06


def posed(outputs):
    return pose_in_weights(derive_once(Parameterization.parse(outputs)))


def compiled(outputs, names):
    symbols = sympy.symbols(names)
    F = sympy.Matrix([sympy.sympify(f) for f in outputs])
    f, J = (sympy.lambdify(symbols, x, "numpy") for x in (F, F.jacobian(symbols)))
    return lambda w: np.array(f(*w), float)[:, 0], lambda w: np.array(J(*w), float)


def late(F, J, X, w0):
    """Return the weights where sum_i exp(-<x_i, F>) = exp(-LATE)."""

    def field(_, w):
        g = J(w).T @ X.T @ softmax(-X @ F(w))
        return g / (g @ g)

    first = -float(logsumexp(-X @ F(w0)))
    done = solve_ivp(field, (first, LATE), w0, "LSODA", rtol=1e-8, atol=1e-10)
    assert done.success
    return done.y[:, -1]


def drawn(seed):
    """Return products of own weights of different numbers, rows, and a start.

    The rows are not separated without the first output, of which the fewest weights are.
    """
    rng = random.Random(seed)
    sizes = sorted(rng.sample((1, 2, 3), 2))
    names = [f"w{k}" for k in range(sum(sizes))]
    parts = [names[: sizes[0]], names[sizes[0] :]]
    rows = [[rng.uniform(0.5, 2), s * rng.uniform(0.5, 2)] for s in (1, -1, 1, -1)]
    w0 = np.array([0.1 * rng.uniform(0.7, 1.4) for _ in names])
    return ["*".join(part) for part in parts], names, parts, np.array(rows), w0


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(20))
def test_the_weights_of_fewest_factors_rule(seed):
    """Weights scaled to the margin 1 have J^T X^T lambda = those of the first output, else 0."""
    outputs, names, parts, X, w0 = drawn(seed)
    problem = posed(outputs)
    top, below = problem.levels
    assert ({*map(str, top.weights)}, {*map(str, below.weights)}) == ({*parts[0]}, {*parts[1]})
    F, J = compiled(outputs, names)
    w = late(F, J, X, w0)
    lam = np.array([1 / len(next(p for p in parts if x in p)) for x in names])
    v = w / np.min(X @ F(w)) ** lam
    tight = X[X @ F(v) < 1.2]
    rule = v * np.isin(names, parts[0])
    _, off = nnls(J(v).T @ tight.T, rule)
    assert off < CLOSE * np.linalg.norm(rule)
    _, plain = nnls(J(v).T @ tight.T, v)  # all weights alike: it is no such point
    assert plain > 2 * off


FADING = [
    (["W + a*b"], {"W"}, "2*Abs(beta)"),
    (["c + a*b*d"], {"c"}, "3*Abs(beta)**(2/3)"),
    (["a*b*c + a*d"], {"d"}, "3*Abs(beta)**(2/3)"),
    (["W1 + a*u1", "W2 + a*u2"], {"W1", "W2"}, "2*sqrt(beta1**2 + beta2**2)"),
    (["a*b*u1 + c*u1", "a*b*u2 + c*u2"], {"c"}, "3*(beta1**2 + beta2**2)**(1/3)"),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "fading", "cost"), FADING, ids=range(5))
def test_weights_fade_without_which_all_is_reached(outputs, fading, cost):
    problem = posed(outputs)
    assert {*map(str, problem.fading)} == fading
    assert [str(c.formula) for level in problem.levels for c in level.costs] == [cost]


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(20))
def test_the_fading_part_of_the_output_is_small_late(seed):
    rng = random.Random(seed)
    outputs, fading, _ = FADING[seed % len(FADING)]
    d = len(outputs)
    symbols = sympy.Matrix([sympy.sympify(f) for f in outputs]).free_symbols
    names = sorted(map(str, symbols))
    F, J = compiled(outputs, names)
    b = np.array([rng.uniform(0.5, 1) for _ in range(d)])
    X = np.array([[rng.gauss(0, 1) for _ in range(d)] for _ in range(d + 1)])
    X *= np.sign(X @ b)[:, None]
    w = late(F, J, X, np.array([rng.uniform(0.2, 0.6) for _ in names]))
    without = F(w * ~np.isin(names, [*fading]))
    assert np.linalg.norm(F(w) - without) < CLOSE * np.linalg.norm(F(w))


def test_the_example_of_two_levels():
    """x1 a b + x2 c on four rows: least c^2 at margins 1 is at beta = (22/21, -23/21)."""
    problem = posed(["a*b", "c"])
    assert [(str(x.degree), [str(c.formula) for c in x.costs]) for x in problem.levels] == [
        ("1", ["beta2**2"]),
        ("1/2", ["2*Abs(beta1)"]),
    ]
    b = np.array([22, -23]) / 21
    X = np.array([[2.0, 1.0], [-1.0, -2.0], [1.0, 3.0], [3.0, -1.0]])
    X = np.vstack([[1.0, (1 - 22 / 21) * -21 / 23], [-1.0, (1 + 22 / 21) * -21 / 23], X[[3]]])
    F, J = compiled(["a*b", "c"], ["a", "b", "c"])
    w = late(F, J, X, np.array([0.3, 0.2, 0.1]))
    beta = F(w) / np.min(X @ F(w))
    fits = {"type": "ineq", "fun": lambda b: X @ b - 1}
    least = minimize(lambda b: b[1] ** 2, beta, constraints=fits, options={"ftol": 1e-14}).x
    assert np.allclose(least, b, atol=1e-5)
    assert np.allclose(beta, b, atol=CLOSE)


@pytest.mark.parametrize("outputs", [["a*b + 1"], ["exp(p) - exp(m)"], ["a/b + c"]])
def test_without_a_grading_nothing_is_said(outputs):
    problem = posed(outputs)
    assert problem.finding.verdict is Verdict.UNDECIDED
    assert problem.levels == ()


def test_what_is_cited_and_what_is_conjectured():
    """No verdict of a theorem for what is a conjecture: that weights fade, and lower levels."""

    def grounds(outputs):
        m = margins(derive_once(Parameterization.parse(outputs)))
        return [(s.kind, s.ground) for s in m.says("KKT", "KKT levels")]

    two = [("KKT", Ground.CITED), ("KKT levels", Ground.CONJECTURED)]
    assert grounds(["a*b", "c"]) == two
    assert grounds(["W + a*b"]) == [("KKT levels", Ground.CONJECTURED)]


@pytest.mark.parametrize("form", ["--latex", "--html", "--json"])
def test_levels_are_in_every_form(form):
    done = run("margin", "a*b", "c", form)
    assert done.returncode == 0
    assert {"--json": '"levels"', "--latex": r"\Lambda", "--html": "Λ"}[form] in done.stdout
