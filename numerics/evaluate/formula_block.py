"""Q on one block by formulas of grad Q in beta, in either number type."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import sympy
from sympy import Expr, Symbol

from derive.potential.piece import Piece, Root
from numerics.evaluate.backend import GUARD, Array, Backend, Compiled, Multiprecision, Number
from numerics.evaluate.balls.panels import precise_rule
from numerics.evaluate.blocks import NumericBlock
from numerics.evaluate.root_finding import select_root
from numerics.evaluate.source.inverses import invert

_DUAL = "mirror map"  # with a space: no symbol is called so
_UNIT = 1e-12  # a shift from beta_0 that is relatively below it may be rounding
Columns: TypeAlias = Callable[[Sequence[Array]], list[Array]]
"""Takes one array for each coordinate."""
_PANELS, _DOUBLINGS = 4, 7


class FormulaBlock(NumericBlock):
    """The gradient is written in beta, constants and roots, which are evaluated in order."""

    def __init__(
        self, piece: Piece, known: Mapping[str, Number], beta0: Sequence[Number], backend: Backend
    ) -> None:
        """Compile a piece; *known* are the numbers of start symbols and constants."""
        self._piece, self._backend, self._known, self._beta0 = piece, backend, known, beta0
        self._steps = [(root.symbol.name, root_step(root, backend)) for root in piece.roots]
        self._gradient = backend.compile(piece.gradient)
        self._value = None
        if not piece.value.has(sympy.Integral):
            self._value = backend.compile([piece.value])
        forms = [wall.form for wall in piece.domain.walls] if piece.domain else []
        self._walls = backend.compile(forms) if forms else None
        origin = dict(zip((b.name for b in piece.betas), beta0, strict=True))
        self._sides = self._walls({**known, **origin}) if self._walls else []

    def _environment(self, beta: Sequence[Array]) -> dict[str, Number]:
        names = [b.name for b in self._piece.betas]
        values = {**self._known, **dict(zip(names, beta, strict=True))}
        for wall, side in zip(self._walls(values) if self._walls else [], self._sides, strict=True):
            beyond = np.asarray(wall * side < 0)
            if np.any(beyond):
                nan = self._backend.number(np.nan)
                values.update((b, np.where(beyond, nan, values[b])[()]) for b in names)
        for name, step in self._steps:
            values[name] = step(values)
        return values

    def gradient(self, beta: Sequence[Array]) -> list[Array]:  # noqa: D102
        return self._gradient(self._environment(beta))

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q, up to its constant; Q - Q(beta_0) where it is a line integral."""
        if self._value is not None:
            return self._value(self._environment(beta))[0]
        return self._line_integral(beta)

    def _line_integral(self, beta: Sequence[Array]) -> Array:
        """Return int_0^1 <grad Q(beta_0 + t b), b> dt, b = beta - beta_0."""
        steps = [x - x0 for x, x0 in zip(beta, self._beta0, strict=True)]

        def slope(t: Number) -> Array:
            at = [x0 + t * s for x0, s in zip(self._beta0, steps, strict=True)]
            total: Array = 0 * steps[0]
            for g, s in zip(self.gradient(at), steps, strict=True):
                total = total + g * s
            return total

        return integrate_unit(slope, self._backend)

    @functools.cached_property
    def _hessian(self) -> tuple[list[tuple[str, Compiled]], Compiled]:
        """Return the derivatives of the roots, by name in order, and the Hessian of Q."""
        betas, roots = self._piece.betas, self._piece.roots
        names = {
            (r.symbol, b): Symbol(f"d{i} {j}")
            for i, r in enumerate(roots)
            for j, b in enumerate(betas)
        }

        def total(expression: Expr, b: Symbol, earlier: Sequence[Symbol]) -> Expr:
            parts = (expression.diff(s) * names[s, b] for s in earlier)
            return sympy.Add(expression.diff(b), *parts)

        steps = []
        for i, root in enumerate(roots):
            earlier = [r.symbol for r in roots[:i]]
            for b in betas:
                if root.explicit is not None:
                    slope = total(root.explicit, b, earlier)
                else:
                    slope = -total(root.polynomial, b, earlier) / root.polynomial.diff(root.symbol)
                steps.append((names[root.symbol, b].name, self._backend.compile([slope])))
        symbols = [r.symbol for r in roots]
        entries = [total(g, b, symbols) for g in self._piece.gradient for b in betas]
        return steps, self._backend.compile(entries)

    def hessian(self, beta: Sequence[Array]) -> list[Array]:  # noqa: D102
        steps, entries = self._hessian
        values = self._environment(beta)
        for name, step in steps:
            values[name] = step(values)[0]
        return entries(values)

    @functools.cached_property
    def _inverse(self) -> Compiled | None:
        """Return the inverse of a gradient that is written with its one beta once."""
        if self._piece.roots or len(self._piece.betas) > 1:
            return None
        image = invert(self._piece.gradient[0], self._piece.betas[0], Symbol(_DUAL))
        return None if image is None else self._backend.compile([image])

    def _inverted(self, inverse: Compiled, y: Array) -> Array:
        """Return the beta that *inverse* gives; nan where the interval around beta_0 ends.

        Q' increases from 0 at beta_0, so that beyond a pole the sign of beta - beta_0 is wrong.
        """
        (beta,) = inverse({**self._known, _DUAL: y})
        origin = self._beta0[0]
        outside = (beta - origin) * y < -_UNIT * abs(origin) * np.abs(y)
        return np.where(outside, self._backend.number(np.nan), beta) if outside.any() else beta

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Solve grad Q(beta) = y by its inverse, or by damped Newton steps in float64."""
        if self._inverse is not None:
            beta = self._inverted(self._inverse, y[0])
            return [self._environment([beta])[self._piece.betas[0].name]]
        return invert_by_newton(self.gradient, self.hessian, self._beta0, y)


def root_step(root: Root, backend: Backend) -> Callable[[Mapping[str, Number]], Array]:
    """Return what evaluates a root of a piece from beta, the constants and earlier roots."""
    if root.explicit is not None:
        explicit = backend.compile([root.explicit])

        def evaluate(values: Mapping[str, Number]) -> Array:
            return explicit(values)[0]

        return evaluate
    descending = sympy.Poly(root.polynomial, root.symbol).all_coeffs()
    coefficients = backend.compile(descending[::-1])
    from_above = root.from_above
    assert from_above is not None, "the formula says which root is meant"
    return lambda values: select_root(coefficients(values), from_above, backend)


def invert_by_newton(
    gradient: Columns, hessian: Columns, beta0: Sequence[Number], y: Sequence[Array]
) -> list[Array]:
    """Solve grad Q(beta) = y from beta_0, elementwise; nan where that is not reached to 1e-9."""
    d, shape = len(y), np.shape(y[0])
    goal = np.stack([np.reshape(v, -1) for v in y], axis=-1).astype(np.float64)
    x = np.broadcast_to(np.array([float(b) for b in beta0]), goal.shape).copy()

    def residual(at: Array) -> Array:
        return np.stack(gradient(list(at.T)), axis=-1) - goal

    left = residual(x)
    for _ in range(400):
        entries = np.stack(hessian(list(x.T)), axis=-1).reshape(-1, d, d)
        x, new = _damped_step(x, left, _solve(entries, left), residual)
        if np.array_equal(new, left):
            break
        left = new
    size = 1 + np.linalg.norm(goal, axis=-1, keepdims=True)
    close = np.linalg.norm(left, axis=-1, keepdims=True) <= 1e-9 * size
    x = np.where(close, x, np.nan)
    return [column.reshape(shape) for column in x.T]


def _solve(matrices: Array, vectors: Array) -> Array:
    """Solve the systems; nan where a matrix is not finite, least squares where one is singular."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    safe = np.where(finite[:, None, None], matrices, np.eye(matrices.shape[1]))
    try:
        steps = np.linalg.solve(safe, vectors[..., None])[..., 0]
    except np.linalg.LinAlgError:
        steps = (np.linalg.pinv(safe) @ vectors[..., None])[..., 0]
    return np.where(finite[:, None], steps, np.nan)


def _damped_step(
    x: Array, left: Array, step: Array, residual: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return x - t step with the first t = 1, 1/2, ... that lowers the residual; else x."""
    scale = np.ones(len(x))
    norm = np.asarray(np.linalg.norm(left, axis=-1))
    for _ in range(60):
        trial = x - scale[:, None] * step
        new = residual(trial)
        better = np.asarray(np.linalg.norm(new, axis=-1) < norm * (1 - 1e-4 * scale))
        if np.all(better | (norm == 0)):
            break
        scale = np.where(better, scale, scale / 2)
    keep = better[:, None]
    return np.where(keep, trial, x), np.where(keep, new, left)


def integrate_unit(function: Callable[[Number], Array], backend: Backend) -> Array:
    """Return ``int_0^1 f(t) dt``, elementwise; *function* takes a number t."""

    def total(panels: int) -> Array:
        found: Array = sum(weight * function(t) for t, weight in _nodes(backend, panels))
        return found

    coarse, close = total(_PANELS), backend.number(10) ** -backend.digits
    for doubling in range(1, _DOUBLINGS):
        fine = total(_PANELS << doubling)
        # What is undefined stays so, however fine the panels are.
        if not np.any(np.abs(fine - coarse) > close * np.abs(fine)):
            return fine
        coarse = fine
    return coarse


def _nodes(backend: Backend, panels: int) -> list[tuple[Number, Number]]:
    """Return nodes and weights of [0, 1] in equal panels, enough nodes for smooth integrands."""
    if isinstance(backend, Multiprecision):
        n = 12 << max(2, (backend.digits // 15).bit_length())
        rule = precise_rule(n, backend.digits + 2 * GUARD)
        base = [(backend.number(2 * t - 1), backend.number(2 * w)) for t, w in rule]
    else:
        base = list(zip(*np.polynomial.legendre.leggauss(40), strict=True))
    return [
        ((k + (1 + x) / 2) / panels, weight / (2 * panels))
        for k in range(panels)
        for x, weight in base
    ]
