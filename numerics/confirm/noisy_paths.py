"""Noise in the row space along paths that are drawn: means of laws and dual coordinates.

One copy of F is steered by the noise of its residuals alone, dw = sum_a X_a sigma dB_a - k w dt, by
the Euler-Maruyama scheme: after a time, c - c(w_0) less the integral of its drift has the mean 0
up to O(h) in the step h, and y - y(w_0) less its own, too. Under momentum dw' + dw takes the place
of dw, and c + c' that of c. Here k = 1/10 where there is decay, or 0. A path stops
where a weight has moved by half of itself, as steep F explode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import sympy
from sympy import Expr, Integral, Symbol

from derive.language import to_sympy
from derive.model.geometry import Field
from derive.model.labels import beside
from derive.model.notation import to_expr
from numerics.evaluate.backend import Array, compiled

if TYPE_CHECKING:
    from numerics.confirm.perturbed_case import Case

PATHS, STEPS, SIZE = 4000, 100, 0.1
"""How many paths of how many steps, and by which part of themselves the weights move."""
ROUNDING = 1e-12
"""What is left of a law that every path keeps."""
NEWTON = 6
"""Steps of Newton's method, as theta moves by a hundredth of itself."""


@dataclass(frozen=True, slots=True)
class PathMean:
    """The mean change of a law or dual coordinate over paths, its standard error, and the drift's.

    *offset* is the mean of the difference of both, with its own standard error.
    """

    name: str
    mean: float
    error: float
    drift: float
    offset: tuple[float, float]

    @property
    def agrees(self) -> bool:
        """Whether the difference is within five standard errors, and what the steps leave out."""
        off, error = self.offset
        return abs(off) <= 5 * error + 2 / STEPS * abs(self.drift) + ROUNDING

    def report(self) -> str:
        """Return the comparison as a line."""
        found = f"{self.mean:+.5f} +- {self.error:.5f} over {PATHS} paths"
        return f"  {self.name} moved by {found}, drift {self.drift:+.5f}"


def noisy_paths(
    case: Case, kinds: Collection[str], rng: np.random.Generator
) -> tuple[PathMean, ...]:
    """Draw paths of the first copy from its start, and compare."""
    p, followed = case.problem.model.one, (*case.laws, *case.dual)
    names = {w: Symbol(w, real=True) for w in (*p.weights, *p.parameters)}
    velocities, k = [beside(f"{w}_t", case.taken) for w in p.weights], SIZE * ("decay" in kinds)
    sizes = {Symbol(beside(x, case.taken), real=True): v for x, v in (("k", k), ("lam", 1))}
    x = Coordinates.of(case)
    forms = [f.quantity for f in followed]
    slopes = [case.smooth(f.quantity).diff(names[w]) for f in followed for w in p.weights]
    slope = _function(slopes, p.weights)
    begin = np.repeat(np.array([[float(x)] for _, x in case.problem.origin[: p.p]]), PATHS, axis=1)
    fields = _function([to_expr(f, names) for row in p.fields for f in row], p.weights)
    sigma = SIZE * np.linalg.norm(begin[:, 0]) / np.linalg.norm(fields(begin)[:, 0])
    S = _covariance(case, float(sigma**2))
    drift = _function(
        [f.change.xreplace({**S, **sizes}) for f in followed], (*p.weights, *velocities)
    )
    total, w, v = np.zeros((len(followed), PATHS)), begin, np.zeros_like(begin)
    reach = np.where(begin, np.abs(begin), np.abs(begin).max()) / 2
    for _ in range(STEPS):
        h = (np.abs(w - begin) < reach).all(axis=0) / STEPS
        total += drift(np.concatenate([w, x.raised(w, v)])) * h
        noise = sigma * np.sqrt(h) * rng.standard_normal((p.d, 1, PATHS))
        kick = (x.push(w).reshape(p.d, p.p, PATHS) * noise).sum(axis=0) - k * h * x.decayed(w)
        if "momentum" in kinds:
            w, v = x.moved(w, v * h), v + kick - v * h
        else:
            w = x.moved(w, kick)
    moved = _moved(forms, p.weights, begin, w)
    moved += (slope(w).reshape(-1, p.p, PATHS) * x.raised(w, v)).sum(axis=1)
    compared = zip(followed, moved, total, strict=True)
    return tuple(_compared(str(x.symbol), one, other) for x, one, other in compared)


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The weights of all paths, or theta = grad psi(w) of mirror descent.

    Attributes:
        push: the fields in these coordinates.
        P, theta: G^-1 and theta; None where the coordinates are the weights.
    """

    push: Callable[[Array], Array]
    P: Callable[[Array], Array] | None = None
    theta: Callable[[Array], Array] | None = None

    @classmethod
    def of(cls, case: Case) -> Coordinates:
        """Return the coordinates of the process of a case."""
        p = case.problem.model.one
        names = {w: Symbol(w, real=True) for w in (*p.weights, *p.parameters)}

        def of_weights(rows: Iterable[Field]) -> Callable[[Array], Array]:
            return _function([to_expr(f, names) for row in rows for f in row], p.weights)

        if not case.psi:
            return cls(of_weights(p.fields))
        one, zero = p.field.one, p.field.zero
        unit = tuple(tuple(one if i == j else zero for j in range(p.p)) for i in range(p.p))
        psi = to_sympy(case.psi[0], names)
        theta = _function([psi.diff(names[w]) for w in p.weights], p.weights)
        return cls(of_weights(p.covectors), of_weights(p.geometry.fields(unit)), theta)

    def raised(self, w: Array, v: Array) -> Array:
        """Return the vector with components v."""
        if self.P is None:
            return v
        n = len(w)
        found: Array = np.einsum("ij...,j...->i...", self.P(w).reshape(n, n, -1), v)
        return found

    def decayed(self, w: Array) -> Array:
        """Return the components of w."""
        if self.P is None:
            return w
        n = len(w)
        P = np.moveaxis(self.P(w).reshape(n, n, -1), -1, 0)
        found: Array = np.linalg.solve(P, w.T[..., None])[..., 0].T
        return found

    def moved(self, w: Array, step: Array) -> Array:
        """Return the weights after a step in the coordinates, by Newton's method."""
        if self.theta is None:
            return w + step
        target = self.theta(w) + step
        for _ in range(NEWTON):
            w = w + self.raised(w, target - self.theta(w))
        return w


def _moved(forms: Sequence[Expr], weights: Sequence[str], begin: Array, w: Array) -> Array:
    """Return by how much functions, or integrals over the one weight, differ from the start."""
    quantity = _function([sympy.S.Zero if isinstance(f, Integral) else f for f in forms], weights)
    integrals = np.array([_integral(f, weights, begin, w) for f in forms])
    found: Array = quantity(w) - quantity(begin) + integrals
    return found


def _integral(f: Expr, weights: Sequence[str], begin: Array, w: Array) -> Array:
    """Return the integral of a slope over the one weight, by Gauss's rule; 0 of no integral."""
    if not isinstance(f, Integral):
        return np.zeros(PATHS)
    slope, (points, parts) = _function([f.function], weights), np.polynomial.legendre.leggauss(20)
    half = (w - begin) / 2
    rows = (c * slope(begin + (1 + t) * half)[0] for t, c in zip(points, parts, strict=True))
    found: Array = half[0] * sum(rows)
    return found


def _covariance(case: Case, variance: float) -> dict[Symbol, float]:
    """Return the numbers of all S, which are called otherwise where a weight has the name."""
    pairs = product(("", *map(str, case.problem.model.one.labels)), repeat=2)
    return {
        Symbol(beside(f"S{a}{b}", case.taken), real=True): variance * (a == b) for a, b in pairs
    }


def _compared(name: str, moved: Array, drift: Array) -> PathMean:
    means = [(float(f.mean()), float(f.std() / np.sqrt(PATHS))) for f in (moved, moved - drift)]
    return PathMean(name, *means[0], float(drift.mean()), means[1])


def _function(forms: list[Expr], weights: Sequence[str]) -> Callable[[Array], Array]:
    """Return functions of the weights on all paths."""
    f = compiled(forms, weights)
    return lambda w: np.array([np.broadcast_to(x, w.shape[1:]) for x in f(*w)], dtype=float)
