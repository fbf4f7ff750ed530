"""Witnesses of optimizers: their updates run on drawn data, in fractions and in doubles."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog, minimize, nnls

from derive.optimizers.optimizer import optimizers
from derive.optimizers.paths import rank
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness
from tests.witnesses.drawn import DRAWN

FUNCTIONS = {"exp": np.exp, "sqrt": np.sqrt, "log": np.log}
STEPS = 20_000
CLOSE = 1e-4
NEAR = 0.05
"""How near a margin is to the largest after STEPS steps, or comes nearer at the rate 1/|w|."""
SHRINKS = 0.8
"""What is left of its distance in the last three quarters of the steps: half, as |w| is twice."""
DUAL = {"l1": np.inf, "l2": 2.0, "linf": 1.0, "l4/3": 4.0}
"""The exponent of the dual of each norm."""


class Drawn:
    """Vectors, matrices and fractions: products of two matrices are products of operators."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Drawn(self.value + other.value)

    def __mul__(self, other):
        a, b = self.value, other.value
        return Drawn(a * b if isinstance(a, Fraction) or isinstance(b, Fraction) else a @ b)

    def __neg__(self):
        return Drawn(-self.value)

    def __sub__(self, other):
        return self + -other

    def __truediv__(self, other):
        return Drawn(self.value * (1 / other.value))


def iterates(update, X, rng, steps=4):
    """Run an update in fractions, with drawn scalars, rows, forms and starts."""
    m, d = X.shape

    def whole(rows, columns):
        entries = [[Fraction(rng.randrange(-4, 5)) for _ in range(columns)] for _ in range(rows)]
        return np.array(entries, dtype=object)

    eye = np.vectorize(Fraction)(np.eye(d, dtype=int))
    starts = {"0": Drawn(eye[:, :1] * 0), "h": Drawn(eye * 2)}
    z0 = Drawn(whole(d, 1))
    state = {x: starts.get(s, z0) for x, s in update.state.items()}
    for _ in range(steps):
        known = dict(state)
        known |= {x: Drawn(Fraction(rng.randrange(1, 5), 3)) for x in update.scalars}
        known |= {x: Drawn(Fraction(rng.randrange(-4, 5), 3)) for x in update.signed}
        known |= {x: Drawn(X.T @ whole(m, 1)) for x in update.rows}
        known |= {x: Drawn(whole(1, d)) for x in update.forms}
        state = {x: eval(text, {}, known) for x, text in update.update.items()}
        yield [x for (x,) in (state[update.point] - z0).value]


@witness("span")
def stays_in_the_rows(o, statement, rng):
    """Look for an iterate off row(X); for a law that is refuted, at as many first steps."""
    u = o.update
    if o.span.verdict is Verdict.REFUTED:
        X = np.array(u.read_data()[0], dtype=float)
        residuals = ([rng.uniform(-3, 3) for _ in X] for _ in range(200))
        steps = [_step(u, np.zeros(X.shape[1]), X.T @ r, 1.0) for r in residuals]
        if np.linalg.matrix_rank(np.array(steps), tol=1e-9) <= len(X):
            raise Refuted("first steps are dependent")
        return 1
    if u.potential:
        return _limits(o, rng)
    X = np.array([[Fraction(rng.randrange(-3, 4)) for _ in range(5)] for _ in range(2)])
    moved = list(iterates(u, X, rng))
    if rank([*X.tolist(), *moved]) > rank(X.tolist()):
        raise Refuted(f"iterates leave the rows {X.tolist()}")
    return len(moved)


def _step(u, w, g, eta):
    """Return the first step from w at a slope."""
    known = {**FUNCTIONS, "g": g, "eta": eta, "w": w, "d": _steepest(u.norm, g)}
    known |= {x: np.zeros_like(w) for x in u.state if x != "w"}
    return np.asarray(eval(u.update["w"], {}, known)) - w


def _steepest(norm, g):
    """Return d, the slope of |g|_*^2/2 in the dual norm."""
    if not norm or not np.any(g):
        return g
    if norm == "1":
        return np.where(np.abs(g) == np.max(np.abs(g)), g, 0.0)
    if norm == "inf":
        return np.sum(np.abs(g)) * np.sign(g)
    p = float(Fraction(norm))
    q = p / (p - 1)
    size = np.sum(np.abs(g) ** q) ** (1 / q)
    return np.asarray(np.sign(g) * np.abs(g) ** (q - 1) * size ** (2 - q))


def trained(o, slope, eta, d, steps=STEPS):
    """Return w after some steps from 0 (from 1 on w > 0), or None; sinh(w) stands for grad psi."""
    u = o.update
    point = "v" if "v" in u.state else u.point
    start = np.ones(d) if u.positive else np.zeros(d)
    state = {x: np.zeros(d) if s == "0" else start for x, s in u.state.items()}
    if u.forms or u.space != "row(X)" or u.metric:
        return None
    known = {**FUNCTIONS, "mu": 0.5, "alpha": eta, "beta": 0.3}
    for k in range(steps):
        w = np.arcsinh(state["z"]) if u.point == "z" else state[point]
        g = slope(w)
        if not np.any(g):
            break
        size = float(np.linalg.norm(g))
        known |= {"g": g, "d": _steepest(u.norm, g), "N": size, **state}
        known["eta"] = size * eta * 3 / np.sqrt(k + 10) if "N" in u.scalars else eta
        state = {x: eval(text, {}, known) for x, text in u.update.items()}
    return np.arcsinh(state["z"]) if u.point == "z" else state[u.point]


def _limits(o, rng):
    """Fit drawn data, and look whether grad psi(w) - grad psi(w_0) is in row(X)."""
    X = np.array([[rng.uniform(0.2, 1) for _ in range(4)] for _ in range(2)])
    y = X @ np.array([rng.uniform(0.5, 2) for _ in range(4)])
    w = trained(o, lambda w: X.T @ (X @ w - y), 0.1 / np.linalg.norm(X, 2) ** 2, 4)
    if w is None or np.max(np.abs(X @ w - y)) > CLOSE:
        return 0
    dual = np.log(w) if o.update.potential else np.sinh(w) if o.update.point == "z" else w
    nu = np.linalg.lstsq(X.T, dual, rcond=None)[0]
    if np.max(np.abs(X.T @ nu - dual)) > CLOSE:
        raise Refuted(f"the limit {w.tolist()} is off the rows {X.tolist()}")
    return 1


@witness("optimizer limit")
def minimises(o, statement, rng):
    """Run the optimizer on data; where a least norm is refuted, compare the norms of both ends."""
    if o.example is None:
        return 0 if statement.about else _limits(o, rng)
    X, y = (np.array(x, dtype=float) for x in (o.example.X, o.example.y))
    w = trained(o, lambda w: X.T @ (X @ w - y), 0.01 / np.linalg.norm(X, 2) ** 2, X.shape[1])
    ends = (o.example.limit, o.example.shorter)
    limit, other = (np.array([float(Fraction(x)) for x in end]) for end in ends)
    size = [_size(v, o.example.norm) for v in (limit, other)]
    if np.max(np.abs(X @ other - y)) > CLOSE or not size[1] < size[0]:
        raise Refuted("the other interpolant is not shorter")
    if np.max(np.abs(w - limit)) > 0.02 * np.max(np.abs(limit)):
        raise Refuted(f"small steps end at {w.tolist()}, not {limit.tolist()}")
    return 1


@witness("iterates")
def multipliers_are_positive(o, statement, rng):
    """Look for a negative multiplier after steps on logistic loss."""
    X = np.array([[rng.uniform(-2, 2) for _ in range(5)] for _ in range(3)])
    steps = rng.randrange(2, 20)
    w = trained(o, lambda w: -X.T @ (1 / (1 + np.exp(X @ w))), 0.2, 5, steps)
    if w is None:
        return 0
    dual = np.log(w) if o.update.potential else np.sinh(w) if o.update.point == "z" else w
    if nnls(X.T, dual)[1] > CLOSE:
        raise Refuted(f"{dual.tolist()} is not in the cone of {X.tolist()}")
    return 1


@witness("tail")
def margin_is_near_the_largest(o, statement, rng):
    """Run on separable data under the exponential loss, with steps over the loss."""
    name = o.update.tail["norm"].strip("`")
    if name not in DUAL or o.update.id in ("sgd",):
        return 0
    X = np.array([[rng.uniform(-1, 1) + 0.4 for _ in range(3)] for _ in range(4)])
    best = _largest(X, name)
    if best < 0.1:
        return 0

    def slope(w):
        weights = np.exp(-(X @ w) + np.min(X @ w))
        return np.asarray(-X.T @ (weights / np.sum(weights)))

    early, late = (trained(o, slope, 0.1, 3, steps) for steps in (STEPS // 4, STEPS))
    off, found = (best - float(np.min(X @ w) / _size(w, name)) for w in (early, late))
    stays = abs(found) > SHRINKS * abs(off)
    if found < -NEAR * best or (found > NEAR * best and stays):
        margin = best - found
        raise Refuted(f"the margin in {name} is {margin}, the largest {best}, on {X.tolist()}")
    return 1


def _size(w, name):
    """Return |w| in a norm."""
    q = DUAL[name]
    return float(np.linalg.norm(w, 1.0 if np.isinf(q) else np.inf if q == 1 else q / (q - 1)))


def _largest(X, name):
    """Return the largest min_i <x_i, w> with |w| <= 1; negative or 0 without one."""
    (m, d), one = X.shape, np.ones
    if name in ("l1", "linf"):
        sizes = one((1, 2 * d)) if name == "l1" else np.hstack([np.eye(d), np.eye(d)])
        k = len(sizes)
        rows = np.block([[-X, X, one((m, 1))], [sizes, np.zeros((k, 1))]])
        bounds = [(0, None)] * (2 * d) + [(None, None)]
        cost, right = [*np.zeros(2 * d), -1.0], np.concatenate([np.zeros(m), one(k)])
        return float(-linprog(cost, rows, right, bounds=bounds).fun)
    given = {"type": "ineq", "fun": lambda w: X @ w - 1}
    first = np.linalg.lstsq(X, one(m), rcond=None)[0]
    options = {"ftol": 1e-12, "maxiter": 500}
    p = 2.0 if name == "l2" else 4 / 3
    done = minimize(
        lambda w: np.sum(np.abs(w) ** p),
        first,
        constraints=[given],
        method="SLSQP",
        options=options,
    )
    return float(done.fun ** (-1 / p)) if done.success else 0.0


def found(rng):
    """Draw optimizers of the table, again and again."""
    known = optimizers().found
    while True:
        yield rng.choice(known)


DRAWN["optimizers"] = found
