"""Results in doubles against mpmath, over the range of doubles and many starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import sympy
from mpmath import mpf

from derive import Parameterization, derive
from derive.records import Potential
from numerics.program import program, start_outputs
from numerics.source import hessian
from numerics.vectorized import Vectorized

TIED = {"p": "alpha", "m": "alpha"}
NORMALIZED = ("g*v1/sqrt(v1**2+v2**2)", "g*v2/sqrt(v1**2+v2**2)")
MODELS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "linear": (("w",), {}),
    "square": (("w**2",), {"w": "alpha"}),
    "exponential": (("exp(w)",), {"w": "log_alpha"}),
    "tied": (("p**2-m**2",), TIED),
    "tied, free start": (("p**2-m**2",), {}),
    "untied": (("u*v-x*y",), {}),
    "deep 3": (("p**3-m**3",), TIED),
    "deep 5": (("p**5-m**5",), TIED),
    "deep D": (("p**D-m**D",), TIED),
    "neuron": (("a*u1", "a*u2"), {}),
    "deep neuron": (("a*b*u1", "a*b*u2"), {}),
}
SIZES = {"value": 1, "gradient": 1, "hessian": 2, "bregman": 1}


def potential(name: str) -> Potential:
    outputs, start = MODELS[name]
    return derive(Parameterization.parse(outputs, start=start)).potential


class Sweep:
    """One model at drawn points and starts."""

    def __init__(self, name: str, count: int, seed: int) -> None:
        self.potential = potential(name)
        self.piece = self.potential.pieces[0]
        written = program(self.potential, 0)
        self.names = written.names
        rng = np.random.default_rng(seed)
        self.start: dict[str, Any] = {n: 10 ** rng.uniform(-8, 8, count) for n in self.names}
        if "log_alpha" in self.start:
            self.start["log_alpha"] = np.log(self.start["log_alpha"])
        if "D" in self.start:
            self.start["D"] = rng.integers(3, 8, count).astype(float)
        self.d = len(self.piece.betas)
        self.points = [self._points(name, rng, count) for _ in range(2)]
        self.q = Vectorized([(written.outputs, *written.load())], self.start)
        self.origin = [
            self._function(e)
            for e in start_outputs(self.potential.parameterization, written.outputs)
        ]

    def _points(self, name: str, rng: Any, count: int) -> Any:
        size = 10 ** rng.uniform(-300, 300, count)
        if name in ("square", "exponential"):
            return size
        signs = rng.choice([-1, 1], (count, self.d))
        shares = 10 ** rng.uniform(-3, 0, (count, self.d))
        found = size[:, None] * signs * (shares if self.d > 1 else 1)
        return found[:, 0] if self.d == 1 else found

    def result(self, what: str) -> Any:
        """Return the results in doubles, one row for each point."""
        arguments = self.points if what == "bregman" else self.points[:1]
        found = getattr(self.q, what)(*arguments)
        return np.reshape(found, (len(self.points[0]), -1))

    def inverse_errors(self) -> Any:
        """Return ``|Q'(beta) - y|/|beta Q''(beta)|`` at the beta found for y, for one output."""
        slopes = self.q.gradient(self.points[0])
        self.points[0] = self.q.inverse(slopes)
        found = np.zeros(len(slopes))
        for i, (beta, y) in enumerate(zip(self.points[0], slopes, strict=True)):
            if 2.0**-1022 <= abs(beta) < np.inf and abs(y) >= 2.0**-1022:
                (slope,), (rate,) = self._true("gradient", i), self._true("hessian", i)
                found[i] = abs((slope - mpf(float(y))) / (rate * mpf(float(beta))))
        return found

    def errors(self, what: str, results: Any = None, at: Any = None) -> Any:
        """Return the relative errors where the true value is a normal double, else 0.

        They are those of *results*, by default of all, at the points *at*, by default at all.
        """
        results = self.result(what) if results is None else results
        found = np.zeros(results.shape)
        for i in range(len(results)) if at is None else at:
            for j, (x, true) in enumerate(zip(results[i], self._true(what, i), strict=True)):
                if mpf(2) ** -1022 <= abs(true) < mpf(2) ** 1024:
                    found[i, j] = abs(mpf(float(x)) / true - 1) if x == x else np.inf
        return found

    def _true(self, what: str, i: int) -> list[Any]:
        """Return the numbers meant, right to more than 60 digits."""
        start = {n: mpf(float(x[i])) for n, x in self.start.items()}
        b, b0 = ([mpf(float(x)) for x in np.atleast_1d(p[i])] for p in self.points)
        logs = [abs(mpmath.log10(abs(x))) for x in (*b, *b0)]
        spread = sum(abs(mpmath.log10(abs(x))) if x else 0 for x in start.values())
        with mpmath.workdps(100 + int(4 * max(logs) + 12 * spread)):
            for symbol, value in self.piece.constants:
                start[symbol.name] = self._function(value)(start)
            if what == "bregman":
                left, right = self._at(start, b), self._at(start, b0)
                rise = self._value(left) - self._value(right)
                slopes = [self._function(g)(right) for g in self.piece.gradient]
                return [rise - sum(g * (x - y) for g, x, y in zip(slopes, b, b0, strict=True))]
            at = self._at(start, b)
            if what == "value":
                origin = self._at(start, [f(start) for f in self.origin])
                return [self._value(at) - self._value(origin)]
            if what == "gradient":
                return [self._function(g)(at) for g in self.piece.gradient]
            if self.piece.curve is None:
                return [self._function(h)(at) for h in hessian(self.piece)]
            z, curve = self.piece.curve.parameter, self.piece.curve
            rates = (e.diff(z) for e in (self.piece.gradient[0], curve.beta))
            rate, slope = (self._function(e)(at) for e in rates)
            return [rate / slope]

    def _value(self, at: dict[str, Any]) -> Any:
        return self._function(self.piece.value)(at)

    def _at(self, start: dict[str, Any], beta: list[Any]) -> dict[str, Any]:
        """Add beta, and the roots or the parameter that belong to it."""
        at = {**start, **{s.name: x for s, x in zip(self.piece.betas, beta, strict=True)}}
        for root in self.piece.roots:
            rows = sympy.Poly(root.polynomial, root.symbol).all_coeffs()
            at[root.symbol.name] = _largest_root([self._function(c)(at) for c in rows])
        if self.piece.curve is not None:
            at[self.piece.curve.parameter.name] = self._parameter(at, beta[0])
        return at

    def _parameter(self, at: dict[str, Any], beta: Any) -> Any:
        """Bisect for z by the logarithm of its distance from an end or from 0, then polish."""
        curve = self.piece.curve
        assert curve is not None
        name = curve.parameter.name
        h, slope = self._function(curve.beta), self._function(curve.beta.diff(curve.parameter))
        low, high = (self._function(e)(at) for e in curve.interval)
        origin = h({**at, name: mpf(0)})
        end = high if beta > origin else low
        far = abs(beta - origin) > abs(h({**at, name: end / 2}) - origin)
        goal, inner, outer = abs(beta - origin), mpf(0), mpf(2000)
        for _ in range(60):
            s = (inner + outer) / 2
            x = mpmath.exp(-s) * end
            point = end - x if far else x
            grown = mpmath.inf if point == end else abs(h({**at, name: point}) - origin)
            inner, outer = (s, outer) if (grown < goal) == far else (inner, s)
        z = end - end * mpmath.exp(-s) if far else end * mpmath.exp(-s)
        for _ in range(8):
            z -= (h({**at, name: z}) - beta) / slope({**at, name: z})
        return z

    def _function(self, expression: Any) -> Callable[[dict[str, Any]], Any]:
        found = _COMPILED.get(expression)
        if found is None:
            symbols = sorted(expression.free_symbols, key=str)
            plain = [sympy.Dummy() for _ in symbols]
            images = dict(zip(symbols, plain, strict=True))
            function = sympy.lambdify(plain, expression.xreplace(images), "mpmath")
            names = [s.name for s in symbols]
            found = _COMPILED[expression] = lambda at: mpf(function(*(at[n] for n in names)))
        return found


_COMPILED: dict[Any, Callable[[dict[str, Any]], Any]] = {}


def _largest_root(rows: list[Any]) -> Any:
    """Fall from above by Newton's method; the highest coefficient is 1."""
    slopes = [c * (len(rows) - 1 - i) for i, c in enumerate(rows[:-1])]
    x = 2 * max(abs(c) ** (mpf(1) / k) for k, c in enumerate(rows) if k)
    while True:
        new = x - mpmath.polyval(rows, x) / mpmath.polyval(slopes, x)
        if new >= x:
            return x
        x = new
