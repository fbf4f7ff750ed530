"""Perturbed flows of the weights in doubles, from the text of F alone: SymPy and SciPy, no more."""

import functools
import itertools
from dataclasses import dataclass, field

import numpy as np
import sympy
from scipy.integrate import solve_ivp


@dataclass
class Model:
    """F as texts, with learning rates of weights; copies of it stand side by side."""

    outputs: list
    rates: dict = field(default_factory=dict)
    mirror: str = ""
    copies: int = 2

    def __post_init__(self):
        F = [sympy.sympify(text) for text in self.outputs]
        self.w = sorted(set().union(*(f.free_symbols for f in F)), key=str)
        given = dict(self.rates)
        if self.mirror:
            psi = sympy.sympify(self.mirror)
            given = {str(w): 1 / psi.diff(w, 2) for w in self.w}
        J = sympy.Matrix(F).jacobian(self.w)
        G = sympy.diag(*(sympy.sympify(given.get(str(w), 1)) for w in self.w))
        found = (F, (J * G).T, G)
        self._F, self._X, self._G = (sympy.lambdify([self.w], x, "numpy") for x in found)
        self.p, self.d = len(self.w), len(F) * self.copies
        rng = np.random.default_rng(3)
        self.start = 0.5 + rng.random((self.copies, self.p)) / 2
        self.X = 0.5 + rng.random((1, self.d))
        self.y = self.X @ self.F(0.9 + rng.random(self.start.shape))

    def F(self, w):
        return np.concatenate([np.asarray(self._F(row), float) for row in w])

    def moved(self, w, steering):
        """Return G^-1 J^T steering."""
        parts = np.split(steering, self.copies)
        pairs = zip(w, parts, strict=True)
        return np.array([np.asarray(self._X(row), float) @ part for row, part in pairs])

    def raised(self, w, covectors):
        """Return G^-1 times covectors of the copies."""
        return np.array([self._G(row) @ x for row, x in zip(w, covectors, strict=True)])

    def gradient(self, w):
        return self.X.T @ (self.X @ self.F(w) - self.y)

    def values(self, expression, rows, **letters):
        """Return an expression in the weights, and in letters, for each copy."""
        f = _compiled(expression, tuple(map(str, self.w)), tuple(letters))
        more = zip(*letters.values(), strict=True) if letters else [()] * len(rows)
        return np.array([float(f(*row, *x)) for row, x in zip(rows, more, strict=True)])

    def derivative(self, expression, rows, velocity):
        """Return the derivative of an expression along velocities of the weights."""
        smooth = expression.replace(sympy.Abs, lambda x: sympy.sqrt(x**2))
        slopes = (smooth.diff(s) for s in smooth.free_symbols)
        names = [list(map(str, self.w)).index(s.name) for s in smooth.free_symbols]
        pairs = zip(slopes, names, strict=True)
        return sum(self.values(slope, rows) * velocity[:, k] for slope, k in pairs)

    def off_row_space(self, v):
        return np.abs(v - np.linalg.pinv(self.X) @ (self.X @ v)).max()


@functools.cache
def _compiled(expression, weights, letters):
    bare = expression.xreplace({s: sympy.Symbol(s.name) for s in expression.free_symbols})
    return sympy.lambdify(sympy.symbols((*weights, *letters)), bare, "numpy")


def integrate(slope, state, *times):
    """Return the end of an ordinary differential equation, in pieces with ends at the times."""
    for begin, end in itertools.pairwise(times):
        run = solve_ivp(slope, (begin, end), state, "DOP853", rtol=1e-12, atol=1e-13)
        assert run.success
        state = run.y[:, -1]
    return state


def bump(t):
    """A decay that ends at t = 1, with integral 1."""
    return 30 * t * t * (1 - t) ** 2 if 0 < t < 1 else 0.0


def limit(model, start, decay=0.0, time=60.0):
    """Return beta at the end of gradient flow, with a decay of given integral."""

    def slope(t, state):
        w = state.reshape(start.shape)
        return (-model.moved(w, model.gradient(w)) - decay * bump(t) * w).ravel()

    end = integrate(slope, start.ravel(), 0, 1, time).reshape(start.shape)
    beta = model.F(end)
    assert np.abs(model.X @ beta - model.y).max() < 1e-10
    return beta
