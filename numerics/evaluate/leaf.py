"""The leaf of the weights above Q: how gradient flow moves them, whatever beta is.

For any steering lambda the flow is ``G w' = J^T lambda``, with ``<lambda, beta>' = <lambda, K
lambda>``. It knows nothing of Q.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import starmap
from operator import mul
from typing import TypeAlias

import numpy as np
import sympy
from sympy import Expr, Symbol

from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece
from numerics.evaluate.backend import Array, compiled
from numerics.evaluate.start import broken_signs

Compiled: TypeAlias = Callable[..., list[float]]
KEPT = 16
"""Compiled functions that are kept, for other starts of the same F."""


class Coordinates:
    """The leaf of F in coordinates: the weights as an array w, the outputs as another."""

    def __init__(
        self, p: Parameterization, start: Sequence[Fraction], pieces: Sequence[Piece]
    ) -> None:
        """Keep F, w_0 and what Q assumes of the flow."""
        self.parameterization, self.pieces = p, pieces
        self.start = np.array(list(map(float, start)))

    def outputs(self, w: Array) -> Array:
        """Return F(w)."""
        p = self.parameterization
        return np.asarray(_compiled(p, p.F)(*w), dtype=np.float64)

    def motion(self, steering: Array, w: Array) -> tuple[Array, float]:
        """Return w' and <lambda, K lambda>."""
        *moves, rate = _motion(self.parameterization)(*w, *steering)
        return np.array(moves), float(rate)

    def broken(self, w: Array) -> tuple[str, ...]:
        """Return the functions whose sign is to be kept, and is another at w."""
        names = self.parameterization.weights
        points = (dict(zip(names, x.tolist(), strict=True)) for x in (self.start, w))
        return broken_signs(self.pieces, *points)


class OfVector:
    """The leaf of beta = phi(a, n) u, n = |u|: with s = phi n and R = |grad s|^2,

    (a, n)' = <u/n, lambda> grad s,   (u/n)' = (r phi/n) (lambda - <u/n, lambda> u/n).
    """

    def __init__(
        self,
        direction: Direction,
        start: Sequence[Fraction],
        vector: Array,
        parameters: Sequence[Fraction] = (),
    ) -> None:
        """Keep phi, the scalars at the start without n, u_0, and numbers for parameters of F."""
        self._direction, self._parameters = direction, tuple(map(float, parameters))
        self.start = np.array([*map(float, start), *vector])
        p = direction.parameterization
        exact = (*p.F, direction.turn * direction.n, *p.fields[0], direction.R, direction.T)
        self._scalars, self._known = len(start), _compiled(p, exact)

    def outputs(self, w: Array) -> Array:
        """Return beta."""
        known, unit, _ = self._at(w)
        return np.asarray(self._direction.sign * known[0] * unit)

    def motion(self, steering: Array, w: Array) -> tuple[Array, float]:
        """Return (a, u)' and <lambda, K lambda>."""
        (_, push, *slopes, R, T), unit, _ = self._at(w)
        sign = self._direction.sign
        along = float(unit @ steering)
        across = steering - along * unit
        *moves, growth = (sign * along * x for x in slopes)
        rate = R * along**2 + T * float(across @ across)
        return np.array([*moves, *(growth * unit + sign * push * across)]), rate

    def broken(self, w: Array) -> tuple[str, ...]:
        """Return phi where it has another sign at w."""
        (first, *_), *_ = self._at(self.start)
        (last, *_), *_ = self._at(w)
        return () if first * last > 0 else (f"the coefficient of {self._direction.vector}",)

    def spanned(self) -> Array:
        """Return u_0: u stays in the span of u_0 and of what steers it."""
        return self.start[self._scalars :]

    def within(self, basis: Array) -> OfVector:
        """Return the leaf in an orthonormal basis (d, k) of a space that u does not leave."""
        moved = copy.copy(self)
        u = basis.T @ self.start[self._scalars :]
        moved.start = np.concatenate([self.start[: self._scalars], u])
        return moved

    def _at(self, w: Array) -> tuple[list[float], Array, float]:
        """Return s and what moves it, u/n and n."""
        u = w[self._scalars :]
        n = float(np.linalg.norm(u))
        return self._known(*w[: self._scalars], n, *self._parameters), u / n, n


Leaf: TypeAlias = Coordinates | OfVector
Leaves: TypeAlias = Sequence[tuple[Sequence[int], Leaf]]
"""The coordinates of beta that a leaf is of."""


@functools.lru_cache(maxsize=KEPT)
def _motion(p: Parameterization) -> Compiled:
    """Compile w' and <lambda, K lambda> as functions of the weights and lambda."""
    lam, fields = [Symbol(f"lambda {i}") for i in range(p.d)], (p.fields, p.covectors)
    X, J = ([_dot(lam, x) for x in zip(*_written(p, f), strict=True)] for f in fields)
    return compiled([*X, _dot(X, J)], (*p.weights, *(x.name for x in lam)))


def _dot(left: Sequence[Expr], right: Sequence[Expr]) -> Expr:
    return sympy.Add(*starmap(mul, zip(left, right, strict=True)))


@functools.lru_cache(maxsize=KEPT)
def _compiled(p: Parameterization, functions: Field) -> Compiled:
    return compiled(_written(p, [functions])[0], (*p.weights, *p.parameters))


def _written(p: Parameterization, rows: Sequence[Field]) -> list[list[Expr]]:
    symbols = Notation(p, tuple(range(p.d))).weights
    return [[to_expr(x, symbols) for x in row] for row in rows]
