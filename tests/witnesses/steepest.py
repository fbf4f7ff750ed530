"""Witnesses of steepest descent on the weights: flows of phi(grad), and minimisation by force."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import sympy
from scipy.optimize import linprog, minimize

from derive.errors import DeriveError
from tests.witnesses import Refuted, Unreached, witness
from tests.witnesses.fibre import FINE, Fibre
from tests.witnesses.flows import end_of

LEAST = 1e-9
STEPS = 40_000
LEFT = 1e-3
"""Of the largest output, below which one is at rest."""


class Copies:
    """Copies of one output F with weights of their own, and phi(x) = sign(x) |x|^s."""

    def __init__(self, p, rng, count=3):
        self.p, self.s = p, float(p.geometry.steepest)
        w = [sympy.Symbol(name) for name in p.weights]
        (F,) = (f.xreplace({x: sympy.Symbol(x.name) for x in f.free_symbols}) for f in p.outputs)
        self.F = self.function(F)
        self.dF = sympy.lambdify(w, [sympy.diff(F, x) + 0 * x for x in w], "numpy")
        self.symbols = {name: rng.randint(2, 7) / 4 for name in p.start_symbols}
        names = {sympy.Symbol(k): v for k, v in self.symbols.items()}
        start = [sympy.sympify(str(f).replace("^", "**")).subs(names) for f in p.w0]
        self.w0 = np.repeat(np.array(start, float)[:, None], count, 1)

    def function(self, f):
        """Return a function of the weights, by their names."""
        symbols = [sympy.Symbol(name) for name in self.p.weights]
        plain = f.xreplace({x: sympy.Symbol(x.name) for x in f.free_symbols})
        return sympy.lambdify(symbols, plain, "numpy")

    def beta(self, w):
        return self.F(*w) * np.ones(w.shape[1])

    def slope(self, w, steering):
        G = np.array([g * np.ones(w.shape[1]) for g in self.dF(*w)]) * steering
        return np.sign(G) * np.abs(G) ** self.s

    def inside(self, w):
        """Refuse a run on which some d_k F vanishes."""
        first = np.sign(np.array([g * np.ones(w.shape[1]) for g in self.dF(*self.w0)]))
        last = np.sign(np.array([g * np.ones(w.shape[1]) for g in self.dF(*w)]))
        if (first != last).any() or (first == 0).any():
            raise Unreached


def steered(copies, x, time):
    """Return w at a time of the flow of one row under a slope sigma(t) that changes its size.

    The unit of time is that in which no weight moves faster than 1 at the start.
    """
    time /= max(1, np.abs(copies.slope(copies.w0, x)).max())

    def slope(t, state):
        w = state.reshape(copies.w0.shape)
        return copies.slope(w, (1 + 0.5 * np.sin(t)) * x).ravel()

    w = end_of(slope, copies.w0.ravel(), (0, time)).reshape(copies.w0.shape)
    copies.inside(w)
    return w


@witness("one row")
def one_row(d, statement, rng):
    """Run the flow on one row; draw others with the same <x, beta>, none of which costs less."""
    copies = Copies(d.parameterization, rng)
    x = np.array([rng.choice((-1, 1)) * rng.randint(1, 4) / 2 for _ in range(3)])
    w = steered(copies, x, rng.choice((0.05, 0.1, 0.2)))
    q = d.potential.numeric(copies.symbols)

    def slopes(b):
        return np.ravel([q.gradient(np.array([x])) for x in np.ravel(b)]).reshape(np.shape(b))

    nodes, sizes = np.polynomial.legendre.leggauss(12)
    start = copies.beta(copies.w0)

    def cost(beta):
        if not copies.s:
            return np.abs(slopes(beta)).max()
        half = (beta - start) / 2
        g = slopes(start + np.multiply.outer(nodes + 1, half))
        return (sizes @ (np.sign(g) * np.abs(g) ** (1 / copies.s))) @ half

    beta, tried = copies.beta(w), 0
    reached = cost(beta)
    moved = np.abs(beta - copies.beta(copies.w0)).max()
    for _ in range(8):
        v = np.array([rng.gauss(0, 1) for _ in x])
        v -= x * (v @ x) / (x @ x)
        try:
            other = cost(beta + rng.choice((0.05, 0.3)) * moved * v / np.abs(v).max())
        except DeriveError:
            continue
        if np.isnan(other):  # too many digits are lost there
            continue
        tried += 1
        if not other > reached - 1e-6 * abs(reached) - LEAST:
            raise Refuted(f"{beta} costs {reached}, another {other}")
    return tried


@witness("box")
def box(d, statement, rng):
    """Take small sign steps on some rows: |dQ/dbeta| is at most the time."""
    copies, step = Copies(d.parameterization, rng), 2e-4
    X = np.array([[rng.randint(-4, 4) + 0.5 for _ in range(3)] for _ in range(2)])
    y, w = np.array([rng.gauss(0, 1) for _ in X]), copies.w0
    for _ in range(500):
        w = w + step * copies.slope(w, -X.T @ (X @ copies.beta(w) - y))
        copies.inside(w)
    q = d.potential.numeric(copies.symbols)
    slopes = [abs(float(np.squeeze(q.gradient(np.array([b]))))) for b in copies.beta(w)]
    if max(slopes) > 500 * step * (1 + 5e-3):
        raise Refuted(f"|dQ/dbeta| is {slopes} at {500 * step}")
    return 1


def least_cost(p, power, b, rng):
    """Return min |w|_p^p, or min max |w_k|, subject to F(w) = b; infinity without such w."""
    cost = "max" if power is None else " + ".join(f"abs({w})**({power})" for w in p.weights)
    found = Fibre(SimpleNamespace(parameterization=p, cost=cost), [0]).least(np.array([b]), rng)
    return np.inf if found is None else found


@witness("steepest cost")
def steepest_cost(m, statement, rng):
    """Compare the least cost at several beta with c |beta|^r, on the sides that are said."""
    p = m.derivation.parameterization
    s = p.geometry.steepest
    power = Fraction(1 + 1 / s) if s else None
    r = float(Fraction(1 + 1 / s if s else 1) / p.degree)
    one = statement.values["side"] or 1
    sides = {b: one * b for b in (1.0, 2.5, *(() if statement.values["side"] else (-1.0, -0.4)))}
    costs = {b: least_cost(p, power, at, rng) for b, at in sides.items()}
    off = [abs(c / (costs[1.0] * abs(b) ** r) - 1) for b, c in costs.items()]
    if not max(off) < 1e-3:
        raise Refuted(f"the least costs are {costs}")
    wanted = "linf" if power is None else f"l{Fraction(1 + 1 / s) / p.degree}"
    if statement.values["norm"] != wanted:
        raise Refuted(f"the norm is {wanted}")
    return len(costs)


def pushing(model):
    """Return Phi of slopes: powers of entries, or the polar factors of matrices."""
    if not model.shapes:
        s = 0.0 if model.push == "oo" else float(1 / (Fraction(model.push) - 1))
        return lambda g: np.sign(g) * np.abs(g) ** s
    places = [np.array([[model.plain.weights.index(f"{x}{i + 1}{j + 1}") for j in range(n)]
                        for i in range(k)]) for x, (k, n) in model.shapes]  # fmt: skip

    def polar(g):
        move = np.zeros_like(g)
        for at in places:
            left, _, right = np.linalg.svd(g[at], full_matrices=False)
            move[at] = left @ right
        return move

    return polar


@witness("shared margin")
def shared_margin(m, statement, rng):
    """Run normalised steps of F with shared weights, on separable rows, to the largest margin."""
    p, push = m.parameterization.plain, pushing(m.parameterization)
    w = [sympy.Symbol(name) for name in p.weights]
    outputs = [sympy.sympify(str(f).replace("^", "**")) for f in p.F]
    F = sympy.lambdify(w, outputs, "numpy")
    J = sympy.lambdify(w, sympy.Matrix(outputs).jacobian(w), "numpy")
    d, D = len(outputs), p.degree
    b = np.array([rng.choice((-1, 1)) * rng.uniform(0.3, 1) for _ in range(d)])
    X = np.array([[rng.gauss(0, 1) for _ in range(d)] for _ in range(4)])
    X *= np.sign(X @ b)[:, None]
    norm = statement.values["norm"]
    order = np.inf if norm in ("linf", "op") else float(norm[1:])
    programs = ({"type": "ineq", "fun": lambda b: X @ b - 1},)
    starts = (k * b / np.min(X @ b) for k in (1, 2, 5))
    size = lambda b: np.linalg.norm(b, min(order, 60))  # noqa: E731
    if norm == "op":  # of 2 x 2 matrices, the norm of singular values
        size = lambda b: np.linalg.norm(np.linalg.svd(b.reshape(2, 2))[1], 60)  # noqa: E731
    best = min(
        minimize(size, x, constraints=programs, method="SLSQP", options=FINE).fun for x in starts
    )
    v = np.array([rng.gauss(0, 1) for _ in w])
    for _ in range(STEPS):
        u = X @ np.array(F(*v), float)
        a = np.exp(u.min() - u)
        g = np.array(J(*v), float).T @ X.T @ (a / a.sum())
        move = push(g)
        v = v + 0.02 / max(1, np.abs(v).max() ** (D - 1)) * move / max(np.abs(move).max(), 1e-12)
    beta = np.array(F(*v), float)
    if not (margin := np.min(X @ beta)) > 5:
        raise Unreached
    if not 1 - 0.02 < size(beta) / margin / best < 1.1:
        raise Refuted(f"{beta} has {size(beta) / margin}, and the least is {best}, on {X.tolist()}")
    return 1


@witness("steepest KKT")
def steepest_kkt(m, statement, rng):
    """Run normalised steps on separable rows: the margin per |w|_p^D grows to the largest.

    Of signs weights grow alike and differ by what they began with, so that beta/|w|^D is a
    polynomial in 1/|w|, of degree D - 1 where F is a monomial: it is the largest at |w| = infinity,
    but where a copy is left at rest at F = 0, a saddle.
    """
    if hasattr(m, "parameterization"):
        return 0  # of shared weights the margin itself is run
    p = m.derivation.parameterization
    copies, s, D = Copies(p, rng, 4), p.geometry.steepest, p.degree
    direction = np.array([rng.choice((-1, 1)) for _ in range(4)])
    X = np.array([[rng.randint(0, 3) + 0.3 for _ in range(4)] for _ in range(3)]) * direction
    power = float(1 + 1 / s) if s else None
    w, margins, sizes = copies.w0, [], []
    for k in range(40_000):
        u = X @ copies.beta(w)
        a = np.exp(u.min() - u)
        v = copies.slope(w, X.T @ (a / a.sum()))
        w = w + 0.02 / max(1, np.abs(w).max() ** (D - 1)) * v / max(np.abs(v).max(), 1e-12)
        if k % 2_000 == 1_999:  # the last are of one row, which has the least margin
            size = np.abs(w).max() if power is None else (np.abs(w) ** power).sum() ** (1 / power)
            margins.append((X @ copies.beta(w)).min() / size**D)
            sizes.append(size)
    reached = np.abs(copies.beta(w))
    if margins[-1] <= 0 or reached.min() < LEFT * reached.max():
        raise Unreached
    if margins[-1] < 0.98 * max(margins):
        raise Refuted(f"the margin falls: {margins}")
    if (
        power is None
    ):  # max |w| >= c |beta|_inf^(1/D), so that the margin is at most max_b min X b / c^D
        ends = np.eye(4)
        rows = np.hstack([-X, np.ones((3, 1))])
        best = -linprog(
            [0, 0, 0, 0, -1], A_ub=rows, b_ub=np.zeros(3), bounds=[(-1, 1)] * 4 + [(None, None)]
        ).fun
        scale = least_cost(p, None, 1.0, rng) ** D * len(ends) / 4
        of = np.polyfit(1 / np.array(sizes[-D:]), margins[-D:], min(D, len(sizes)) - 1)
        limit = of[-1]
        if not 0.98 * best / scale < limit < 1.02 * best / scale:
            raise Refuted(f"the margin tends to {limit}, which is not {best / scale}")
    return 1
