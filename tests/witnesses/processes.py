"""Perturbed processes run from F, psi and h alone, in doubles, for witnesses.

What a record says of laws, dual coordinates and drifts is read as functions of the weights; the
optimizers are run step by step, and flows by SciPy.
"""

import functools
from dataclasses import dataclass, field, replace

import numpy as np
import sympy

from derive.language import to_sympy
from derive.perturbed.coordinates import MIRROR
from tests.witnesses import Refuted, Unreached
from tests.witnesses.flows import end_of

LAM, DAMPING = 0.05, 3


@dataclass
class Process:
    """Copies of F as columns, with the coordinates in which the process moves straight.

    Attributes:
        numbers: for start symbols and parameters.
        w0: the start, a column for each copy.
    """

    record: object
    numbers: dict
    w0: np.ndarray
    X: np.ndarray
    y: np.ndarray
    size: dict = field(default_factory=dict)
    mass: float = LAM

    @classmethod
    def of(cls, v, rng, copies=None):
        """Draw a start for each copy, and data."""
        d = v.derivation
        if d.direction is not None or d.parameterization.affine:
            raise Unreached
        p = d.parameterization
        count = copies or (2 if p.d == 1 else 1)
        constants = {x: rng.choice((2.5, 3.0, 3.5)) for x in p.parameters}
        starts = [{s: rng.uniform(0.5, 1) for s in p.start_symbols} for _ in range(count)]
        w0 = np.array([[number(tree, {**constants, **s}) for _, tree in p.start] for s in starts]).T
        X = np.array([[rng.uniform(0.5, 1.5) for _ in range(p.d * count)]])
        found = cls(v, {**constants, "starts": starts}, w0, X, np.zeros(1))
        found.size = constants
        moved = np.array([[rng.uniform(0.8, 1.4) for _ in row] for row in w0])
        target = found.F(np.where(w0, w0 * moved, moved - 1))  # as from 0 no share of it moves
        found.y = X @ target.ravel()
        return found

    @property
    def p(self):
        return self.record.derivation.parameterization

    @functools.cached_property
    def _compiled(self):
        p, v = self.p, self.record
        symbols = [sympy.Symbol(w, real=True) for w in p.weights]
        table = dict(zip(p.weights, symbols, strict=True))
        table |= {x: sympy.Float(n, 30) for x, n in self.size.items()}
        F = sympy.Matrix([to_sympy(tree, table) for tree in p.trees])
        psi = p.geometry.psi
        G = sympy.eye(len(symbols))
        theta = sympy.Matrix(symbols)
        if psi is not None:
            theta = sympy.Matrix([to_sympy(psi, table).diff(w) for w in symbols])
            G = theta.jacobian(symbols).inv()
        elif p.rates:
            rates = [to_sympy(tree, table) for tree in p.rates]
            n = len(symbols)
            G = sympy.diag(*rates) if len(rates) == n else sympy.Matrix(n, n, rates)
        h = sympy.S.Zero if v.penalty is None else v.penalty
        known = {s: table[s.name] for s in h.free_symbols}
        dh = sympy.Matrix([h.xreplace(known).diff(w) for w in symbols])
        parts = {"F": F, "J": F.jacobian(symbols), "P": G, "theta": theta, "dh": dh}
        return {k: sympy.lambdify(symbols, x, "numpy") for k, x in parts.items()}

    def at_columns(self, name, w):
        """Return a matrix at each column, the columns last."""
        with np.errstate(all="ignore"):
            found = [np.asarray(self._compiled[name](*column), w.dtype) for column in w.T]
        return np.stack(found, axis=-1)

    def F(self, w):
        """Return the outputs, copy by copy as rows."""
        return self.at_columns("F", w)[:, 0].T

    @property
    def mirrored(self):
        return self.record.process == MIRROR

    def push(self, w, steering):
        """Return sum_a lambda_a X_a by x; steering copy by copy."""
        covector = np.einsum(
            "apn,na->pn", self.at_columns("J", w), steering.reshape(w.shape[1], -1)
        )
        return covector if self.mirrored else self.raised(w, covector)

    def raised(self, w, covector):
        return np.einsum("pqn,qn->pn", self.at_columns("P", w), covector)

    def shrinking(self, w):
        """Return what decay is along, by x."""
        if self.record.penalty is not None:
            dh = self.at_columns("dh", w)[:, 0]
            return dh if self.mirrored else self.raised(w, dh)
        if not self.mirrored:
            return w
        P = np.moveaxis(self.at_columns("P", w), -1, 0)
        return np.linalg.solve(P, w.T[..., None])[..., 0].T

    def vector(self, w, v):
        """Return the velocity of the weights, of components v by x."""
        return self.raised(w, v) if self.mirrored else v

    def x(self, w):
        return self.at_columns("theta", w)[:, 0] if self.mirrored else w

    def at(self, x, near):
        """Return the weights with these coordinates, by Newton's method from others."""
        if not self.mirrored:
            return x
        w = near
        for _ in range(40):
            off = x - self.x(w)
            w = w + self.raised(w, off)
            if not np.isfinite(w).all():
                raise Unreached
            if np.abs(off).max() < 1e-15 * (1 + np.abs(x).max()):
                break
        return w

    def gradient(self, w):
        return self.X.T @ (self.X @ self.F(w).ravel() - self.y)

    def values(self, expressions, w, **letters):
        """Return expressions in the weights and letters, a row for each, copies as columns."""
        names = dict(zip(self.p.weights, w, strict=True)) | self.size | letters
        rows = []
        for f in expressions:
            for i, part in enumerate(f.atoms(sympy.Integral)):
                names[f"integral{i}"] = self.integral(part, w, letters)
                f = f.xreplace({part: sympy.Symbol(f"integral{i}")})
            key = tuple(sorted(s.name for s in f.free_symbols))
            if any(name not in names for name in key):
                raise Unreached
            compiled = _function(f, key)
            with np.errstate(all="ignore"):
                row = compiled(*(names[name] for name in key))
            rows.append(np.broadcast_to(row, w.shape[1:]))
        found = np.array(rows, w.dtype).reshape(len(rows), *w.shape[1:])
        if not np.isfinite(found).all():
            raise Unreached
        return found

    def integral(self, f, w, letters):
        """Return an integral over the one weight from the start, or between limits."""
        ((s, *ends),) = f.limits
        low, high = self.values(ends, w, **letters) if ends else (self.w0[0], w[0])
        points, parts = np.polynomial.legendre.leggauss(40)
        rows = []
        for t in points:
            at = low + (1 + t) / 2 * (high - low)
            given = {s.name: at} if ends else {}
            rows.append(self.values([f.function], at[None] if not ends else w, **letters, **given))
        return (high - low) / 2 * sum(c * row[0] for c, row in zip(parts, rows, strict=True))

    @property
    def labels(self):
        return [""] if self.p.d == 1 else [str(x) for x in self.p.labels]

    def steering(self, G):
        """Return letters G of a steering, copy by copy."""
        return dict(
            zip((f"G{a}" for a in self.labels), G.reshape(-1, len(self.labels)).T, strict=True)
        )

    def covariances(self, G):
        rows = G.reshape(-1, len(self.labels)).T
        pairs = [(a, b) for i, a in enumerate(range(len(rows))) for b in range(i, len(rows))]
        return {f"S{self.labels[a]}{self.labels[b]}": rows[a] * rows[b] for a, b in pairs}

    def beside_rows(self, y):
        """Return dual coordinates, copies as columns, but for their part in the row space."""
        flat = y.T.ravel()
        return (flat - np.linalg.pinv(self.X) @ (self.X @ flat)).reshape(y.T.shape).T

    def off_rows(self, y):
        return np.abs(self.beside_rows(y)).max(initial=0)


@functools.cache
def _function(f, names):
    bare = f.xreplace({s: sympy.Symbol(s.name) for s in f.free_symbols})
    return sympy.lambdify(sympy.symbols(names), bare, "numpy")


def number(tree, numbers):
    table = {name: sympy.Float(x, 30) for name, x in numbers.items()}
    return float(to_sympy(tree, table))


def claims_of(v):
    laws = len(v.of_laws)
    drifts = (*v.of_laws, *v.of_dual)
    return laws, [x.quantity for x in drifts], [x.change for x in drifts]


def agree(process, v, off, scale, what, digits=1e-7):
    """Raise Refuted where laws, or y but for the row space, are off."""
    laws = len(v.of_laws)
    bound = digits * (1 + np.abs(scale).max(initial=0))
    worst = np.abs(off[:laws]).max(initial=0)
    outputs = process.p.d
    if len(off) - laws == outputs:
        worst = max(worst, process.off_rows(off[laws:]))
    if worst > bound:
        raise Refuted(f"{what}: off by {worst:.3g} from {process.w0.tolist()}, {process.X}")


def steps(process, rng, count=30, eta=None):
    """Run the optimizer; return the weights, and what the drifts add up to, or Unreached."""
    v = process.record
    _, quantities, changes = claims_of(v)
    eta = eta or rng.choice((0.01, 0.03, 0.1))
    k, mu = 0.3 * ("decay" in v.kinds), 0.4 * ("momentum" in v.kinds)
    # Logarithms of what decays lose digits.
    w = last = process.w0.astype(float if process.mirrored else np.longdouble)
    total = np.zeros((len(changes), w.shape[1]))
    for _ in range(count):
        G = process.gradient(w)
        letters = process.steering(G) | {"eta": eta, "k": k, "mu": mu}
        letters |= {f"{name}_t": a for name, a in zip(process.p.weights, w - last, strict=True)}
        force = process.push(w, G) + k * process.shrinking(w) * ("decay" in v.kinds)
        x = process.x(w) - eta * force + mu * (process.x(w) - process.x(last))
        after = process.at(x, w)
        letters |= {f"{n}_next": a for n, a in zip(process.p.weights, after, strict=True)}
        if (process.values(v.conditions, w, **letters) <= 0).any():
            raise Unreached
        total = total + process.values(changes, w, **letters)
        if not np.isfinite(after).all() or np.abs(after).max() > 1e6:
            raise Unreached
        w, last = after, w
    now, then, origin = (process.values(quantities, x) for x in (w, last, process.w0))
    moved = now - origin - mu * (then - origin)
    return w.astype(float), moved.astype(float), total.astype(float)


def bump(t):
    """A decay that ends at t = 1, with integral 1."""
    return 30 * t * t * (1 - t) ** 2 if 0 < t < 1 else 0.0


def flowed(process, time, decay=bump, damping=0):
    """Run decay and momentum; return w, w', and the integrals of the drifts."""
    v = process.record
    _, _, changes = claims_of(v)
    shape, n = process.w0.shape, process.w0.size
    momentum, decays = "momentum" in v.kinds, "decay" in v.kinds
    begin = 1.0 if damping else 0.0

    def slope(t, state):
        w = state[:n].reshape(shape)
        k = 0.7 * decay(t - begin) * decays
        force = -process.push(w, process.gradient(w)) - k * process.shrinking(w)
        if not momentum:
            letters = {"k": k}
            size = k if v.by == "decay" else 1
            added = size * process.values(changes, w, **letters)
            return np.concatenate([process.vector(w, force).ravel(), added.ravel()])
        z = state[n : 2 * n].reshape(shape)
        velocity = process.vector(w, z)
        letters = {f"{name}_t": a for name, a in zip(process.p.weights, velocity, strict=True)}
        lam = 1.0 if damping else process.mass
        mu = t / (damping - 1) if damping else 1.0
        size = mu * lam if v.by == "momentum" else mu
        added = size * process.values(changes, w, k=k, lam=lam, **letters)
        rate = force - damping / t * z if damping else (force - z) / process.mass
        return np.concatenate([velocity.ravel(), rate.ravel(), added.ravel()])

    size = (2 if momentum else 1) * n
    state = np.concatenate([process.w0.ravel(), np.zeros(size - n + len(changes) * shape[1])])
    for a, b in ((begin, begin + 1), (begin + 1, begin + time)):
        if b > a:
            way = {} if b - a < 10 else {"method": "LSODA", "rtol": 1e-10, "atol": 1e-12}
            state = end_of(slope, state, (a, b), 10**6, **way)
    w = state[:n].reshape(shape)
    velocity = process.vector(w, state[n:size].reshape(shape)) if momentum else np.zeros(shape)
    return w, velocity, state[size:].reshape(len(changes), shape[1])


def rates_of(process, expressions, w, velocity):
    """Return derivatives of expressions along a velocity, by central differences."""
    h = 1e-6
    ends = (process.values(expressions, w + s * h * velocity) for s in (1, -1))
    return np.subtract(*ends) / (2 * h)


def crossed(process, w):
    """Tell whether what laws or y are singular at has changed its sign."""
    singular = process.record.singular
    both = (process.values(singular, x) for x in (w, process.w0))
    return singular and (np.multiply(*both) <= 0).any()


class Unperturbed:
    """A record without perturbation."""

    def __init__(self, v):
        self.derivation, self.process, self.kinds, self.by = v.derivation, v.process, (), ""
        self.of_laws = self.of_dual = self.singular = self.conditions = ()
        self.penalty = None


def unperturbed(process):
    """Return the same data with plain gradient flow."""
    return replace(process, record=Unperturbed(process.record))
