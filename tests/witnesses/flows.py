"""Gradient flow in doubles from the text of F alone, for witnesses: SymPy reads F, SciPy runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from derive.language import parse_expression, to_sympy
from tests.witnesses import Unreached

TIGHT = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
RANK = 1e-9
"""Singular values, relative to the largest, that count as 0."""
RUN = 1_500
"""Evaluations after which a flow along a steering is given up: others than those that end in
finite time take 600."""
NOTHING = 1e-13
"""What a step changes of a least cost once it is found."""
RESOLVED = 1e-8
"""Sizes of weights whose logarithms steps of the absolute tolerance know to five digits."""


@dataclass(frozen=True)
class Flows:
    """F, J and the metric of the weights as NumPy functions, at one start in numbers.

    Attributes:
        w0: the weights at the start.
        F, J: of the weights; J has a row for each output.
        inverse: G^-1 of the weights.
    """

    w0: np.ndarray
    F: Callable[[np.ndarray], np.ndarray]
    J: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, p, start):
        """Read F, the start and the rates from their trees."""
        numbers = [*map(float, start.values())]
        begin, *maps = _maps(p, tuple(start))
        F, J, inverse = (partial(f, given=numbers) for f in maps)
        return cls(begin(np.array(numbers))[:, 0], lambda w: F(w)[:, 0], J, inverse)

    @classmethod
    def of_vector(cls, direction, start, u_0):
        """Read beta = phi u in the entries of u, with the Euclidean metric."""
        p = direction.parameterization
        scalars = [sympy.Symbol(w, real=True) for w in p.weights if w != direction.norm]
        u = sympy.Matrix([sympy.Symbol(f"u__{i}", real=True) for i in range(len(u_0))])
        numbers = {sympy.Symbol(n, real=True): x for n, x in start.items()}
        table = {s.name: s for s in (*scalars, *numbers)} | {direction.norm: sympy.sqrt(u.dot(u))}
        outputs = to_sympy(direction.coefficient, table).subs(numbers) * u
        first = [float(to_sympy(t, table).subs(numbers)) for w, t in p.start if w != direction.norm]
        symbols = [*scalars, *u]
        maps = (outputs, outputs.jacobian(symbols), sympy.eye(len(symbols)))
        F, J, inverse = (_compiled(symbols, x) for x in maps)
        return cls(np.array([*first, *u_0]), lambda w: F(w)[:, 0], J, inverse)

    @classmethod
    def of_function(cls, F, w0):
        """Take an analytic function of the last axis of arrays, and J by complex steps."""
        w0 = np.concatenate([np.ravel(part) for part in w0])
        step, eye = 1e-100, np.eye(len(w0))
        return cls(w0, F, lambda w: F(w + 1j * step * eye).imag.T / step, lambda w: eye)

    @classmethod
    def side_by_side(cls, copies):
        """Return copies with weights of their own as one F."""
        ends = np.cumsum([len(c.w0) for c in copies])[:-1]

        def each(name):
            of = [getattr(c, name) for c in copies]
            return lambda w: [f(x) for f, x in zip(of, np.split(w, ends), strict=True)]

        F, J, inverse = map(each, ("F", "J", "inverse"))
        return cls(
            np.concatenate([c.w0 for c in copies]),
            lambda w: np.concatenate(F(w)),
            lambda w: _block_diagonal(J(w)),
            lambda w: _block_diagonal(inverse(w)),
        )

    def in_unit_rates(self):
        """Return F in v, w = r^(1/2) v, whose flow under constant rates r is gradient flow."""
        root = np.sqrt(np.diag(self.inverse(self.w0)))
        return Flows(
            self.w0 / root,
            lambda v: self.F(root * v),
            lambda v: self.J(root * v) * root,
            lambda v: np.eye(len(root)),
        )

    def velocity(self, w, steering):
        """Return G^-1 J^T lambda."""
        found = self.inverse(w) @ self.J(w).T @ steering
        return found

    def kernel(self, w):
        """Return J G^-1 J^T."""
        J = self.J(w)
        found = J @ self.inverse(w) @ J.T
        return found

    def steered(self, steering, time=0.3, more=None):
        """Return the weights, and the integral of *more*, after each piece of a steering."""
        size, w = len(self.w0), self.w0
        total, found = np.zeros(len(steering[0])), []
        for piece in steering:

            def field(_, s, piece=piece):
                v = s[:size]
                rate = piece if more is None else more(v, piece)
                return np.concatenate([self.velocity(v, piece), rate])

            state = end_of(field, np.concatenate([w, total]), (0, time), RUN)
            w, total = state[:size], state[size:]
            found.append((w, total))
        return found

    def at(self, goal):
        """Return the weights at which a single output has a value, along dw/dbeta = grad F/K.

        Raises:
            Unreached: the curve ends before.
        """
        beta = self.F(self.w0)[0]

        def field(_, w):
            velocity = self.velocity(w, np.ones(1))
            return (goal - beta) * velocity / float(self.J(w)[0] @ velocity)

        return end_of(field, self.w0, (0, 1))

    def fitted(self, X, y, rows=None, decay=None, time=1e4):
        """Return the weights at the limit of gradient flow of the weighted squared loss.

        Raises:
            Unreached: it does not fit the data in that time.
        """
        scale = np.ones(len(y)) if rows is None else rows

        def field(t, w):
            v = self.velocity(w, -X.T @ (scale * (X @ self.F(w) - y)))
            return v if decay is None else v - decay(t) * w

        w = end_of(field, self.w0, (0, time), method="LSODA")
        if not np.max(np.abs(X @ self.F(w) - y)) < 1e-8 * (1 + np.max(np.abs(y))):
            raise Unreached
        return w

    def logistic(self, X, time):
        """Return the weights after some time of gradient flow of the logistic loss.

        Raises:
            Unreached: a weight falls below what such steps resolve.
        """

        def field(_, w):
            return self.velocity(w, X.T @ (1 / (1 + np.exp(X @ self.F(w)))))

        end = end_of(field, self.w0, (0, time))
        if np.any(np.abs(end[self.w0 != 0]) < RESOLVED):
            raise Unreached
        return end


def reached_dimension(p, start, rng):
    """Return in how many directions the end of a flow moves with its steering.

    The ends w(T) of all piecewise constant steerings fill the orbit of w_0 (Sussmann 1973); their
    derivatives by the values of one steering are integrated along the flow.
    """
    flows = Flows.of(p, start)
    symbols, given, outputs, _, G = _read(p, tuple(start))
    lam = [sympy.Symbol(f"lam_{i}", real=True) for i in range(p.d)]
    field = (G * outputs.jacobian(symbols).T * sympy.Matrix(lam)).jacobian(symbols)
    moved = partial(_compiled([*symbols, *lam, *given], field), given=[*map(float, start.values())])
    size, pieces = len(symbols), 2 * len(symbols) + 2
    w, columns = flows.w0, np.zeros((size, 0))
    for _ in range(pieces):
        piece = np.array([rng.uniform(-1, 1) for _ in range(p.d)])
        own = np.zeros((size, p.d))

        def along(_, s, piece=piece):
            v, S = s[:size], s[size:].reshape(size, -1)
            slope = moved(np.concatenate([v, piece])) @ S
            slope[:, -p.d :] += flows.inverse(v) @ flows.J(v).T
            return np.concatenate([flows.velocity(v, piece), slope.ravel()])

        both = np.hstack([columns, own])
        state = end_of(along, np.concatenate([w, both.ravel()]), (0, 0.4), RUN)
        w, columns = state[:size], state[size:].reshape(size, -1)
    values = np.linalg.svd(columns, compute_uv=False)
    return int(np.sum(values > RANK * values[0]))


def _read(p, names):
    """Return weights and names as symbols, and in these F, where it starts, and G^-1."""
    table = {n: sympy.Symbol(n, real=True) for n in (*p.weights, *p.parameters, *names)}

    def read(trees):
        return sympy.Matrix([to_sympy(tree, table) for tree in trees])

    G = sympy.eye(len(p.weights))
    if p.rates:
        texts = [t if isinstance(t, list) else [t] for t in p.geometry.texts]
        rows = [[*read(map(parse_expression, row))] for row in texts]
        G = sympy.diag(*(r[0] for r in rows)) if p.geometry.is_diagonal else sympy.Matrix(rows)
    symbols, given = ([table[n] for n in some] for some in (p.weights, names))
    return symbols, given, read(p.trees), read(tree for _, tree in p.start), G


@cache
def _maps(p, names):
    """Return where F starts as a function of names; F, J and G^-1 of weights and these."""
    symbols, given, F, start, G = _read(p, names)
    maps = (_compiled([*symbols, *given], x) for x in (F, F.jacobian(symbols), G))
    return _compiled(given, start), *maps


def _compiled(symbols, matrix):
    """Return a matrix as a function of weights and of what else is given."""
    if not matrix.free_symbols:
        constant = np.array(matrix.tolist(), dtype=float)
        return lambda w, given=(): constant
    f = sympy.lambdify(symbols, matrix.tolist(), "numpy", cse=True)

    def evaluated(w, given=()):
        return np.array(f(*w.tolist(), *given), dtype=float)

    return evaluated


def _block_diagonal(blocks):
    """Return the blocks in one matrix: SciPy's block_diag takes longer than a step of a flow."""
    rows, columns = (
        np.cumsum([0, *sizes]) for sizes in zip(*(b.shape for b in blocks), strict=True)
    )
    whole = np.zeros((rows[-1], columns[-1]))
    for b, r, c in zip(blocks, rows, columns, strict=False):
        whole[r : r + b.shape[0], c : c + b.shape[1]] = b
    return whole


@contextmanager
def quiet():
    """Run what may leave the doubles without a word."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def end_of(field, state, span, most=40_000, **how):
    """Return the state at the end of a span of time.

    Raises:
        Unreached: it ended early or left the doubles.
    """
    calls = 0

    def counted(t, s):
        nonlocal calls
        calls += 1
        if calls > most:
            raise Unreached
        found = field(t, s)
        return found

    try:
        with quiet():
            done = solve_ivp(counted, span, state, **{**TIGHT, **how})
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        raise Unreached from None
    end = done.y[:, -1]
    if not done.success or not np.all(np.isfinite(end)):
        raise Unreached
    return end


class Still(Exception):
    """Steps move nothing any more: tolerances below what doubles resolve are never met."""


def minima(f, points, held, met, jac=None, **options):
    """Yield what SLSQP finds from some points, and where, if what is held there is met."""
    met_by = np.abs if held["type"] == "eq" else np.negative

    def goes_on(w):
        nonlocal last, still
        cost, missed = float(f(w)), np.max(met_by(held["fun"](w)))
        still = still + 1 if abs(cost - last) <= NOTHING * (1 + cost) and missed < RANK else 0
        last = cost
        if still > 3:
            raise Still(cost, np.array(w))

    run = partial(minimize, f, jac=jac, constraints=held, method="SLSQP", options=options)
    for w in points:
        last, still = np.inf, 0
        try:
            with quiet():
                done = run(w, callback=goes_on)
            cost, x = float(done.fun), done.x
        except Still as end:
            cost, x = end.args
        if met(x):
            yield cost, x


def lightest(flows, beta, points, origin=0.0, maxiter=400, ftol=1e-15):
    """Yield |w - origin|^2 and w where it is least subject to F(w) = beta, from some points.

    Of the outputs in beta that are not nan.
    """
    asked = ~np.isnan(beta)

    def off(w):
        return (flows.F(w) - beta)[asked]

    held = {"type": "eq", "fun": off, "jac": lambda w: flows.J(w)[asked]}
    near = 1e-8 * (1 + np.max(np.abs(beta[asked])))
    return minima(
        lambda w: (w - origin) @ (w - origin),
        points,
        held,
        lambda w: np.max(np.abs(off(w))) < near,
        jac=lambda w: 2 * (w - origin),
        maxiter=maxiter,
        ftol=ftol,
    )


def draw_steering(d, rng, pieces=3):
    """Draw piecewise constant steering of several sizes, which may carry weights through 0."""
    size = rng.choice((0.5, 1.5, 4.0))
    return [np.array([rng.uniform(-size, size) for _ in range(d)]) for _ in range(pieces)]


def draw_start(p, rng):
    """Draw numbers for the symbols of the start and the parameters, of both signs where free."""
    weights = {tree.name for w, tree in p.start if getattr(tree, "name", "") == f"{w}_0"}
    numbers = {}
    for name in dict.fromkeys((*p.start_symbols, *p.parameters)):
        size = rng.choice((1, 2, 3, 5, 7)) / rng.choice((2, 3, 4))
        sign = rng.choice((-1, 1)) if name in weights else 1
        numbers[name] = size * sign
    return numbers
