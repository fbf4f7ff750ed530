"""Q in float64 arrays: its derivatives, its inverse mirror map and its Bregman divergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array, Float64
from numerics.evaluate.bounded_block import BoundedBlock, bregman
from numerics.evaluate.protocols import NumericBlock


@dataclass(frozen=True, slots=True)
class Blocks:
    """Q as the sum over blocks: for each, the positions of its coordinates and its form."""

    parts: tuple[tuple[tuple[int, ...], NumericBlock], ...]
    d: int

    def _summands(self) -> Iterator[tuple[tuple[int, ...], NumericBlock]]:
        """Yield the parts, as precise near 0 as their sum needs."""
        for positions, form in self.parts:
            if len(self.parts) > 1 and isinstance(form, BoundedBlock):
                form = form.summand
            yield positions, form

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q."""
        total = 0 * beta[0]
        for positions, form in self._summands():
            total = total + form.value([beta[i] for i in positions])
        return total

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""
        found: list[Array] = list(beta)
        for positions, form in self.parts:
            for i, g in zip(positions, form.gradient([beta[i] for i in positions]), strict=True):
                found[i] = g
        return found

    def hessian(self, beta: Sequence[Array]) -> list[list[Array]]:
        """Return the rows of the Hessian."""
        found: list[list[Array]] = [[0 * b for b in beta] for _ in beta]
        for positions, form in self.parts:
            entries = iter(form.hessian([beta[i] for i in positions]))
            for i in positions:
                for j in positions:
                    found[i][j] = next(entries)
        return found

    def curvature(self, beta: Sequence[Array]) -> list[Array]:
        """Return the diagonal of the Hessian."""
        found: list[Array] = list(beta)
        for positions, form in self.parts:
            entries = form.hessian([beta[i] for i in positions])
            for i, entry in zip(positions, entries[:: len(positions) + 1], strict=True):
                found[i] = entry
        return found

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        total = 0 * b[0]
        for positions, form in self._summands():
            left, right = ([x[i] for i in positions] for x in (b, b0))
            total = total + bregman(form, left, right)
        return total

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta with grad Q = y."""
        found: list[Array] = list(y)
        for positions, form in self.parts:
            parts = form.inverse_gradient([y[i] for i in positions])
            for i, b in zip(positions, parts, strict=True):
                found[i] = b
        return found


@dataclass(frozen=True, slots=True)
class NumericPotential:
    """Q at a start, in float64; calling it evaluates Q.

    Coordinates run along the last axis: beta of shape (d,) or (n, d). For d = 1 a scalar, or an
    array whose last axis is not of length 1, is read elementwise, as is a vector. Outside the
    domain of Q every result is nan.

    Attributes:
        d: the number of coordinates.
        start: the exact values of the start symbols.
        beta0: F(w_0), where grad Q = 0.
        blocks: the forms of Q, for each block of coordinates.
    """

    d: int
    start: tuple[tuple[str, Fraction], ...]
    beta0: tuple[float, ...]
    blocks: Blocks = field(repr=False)

    def __call__(self, beta: Any) -> Any:
        """Return Q, which is 0 at beta_0 or up to a constant: a float, or an array of shape (n,).

        >>> from derive import Parameterization, derive
        >>> Q = derive(Parameterization.parse(["w"])).potential.numeric({"w_0": 1})
        >>> Q(3.0), Q([1.0, 2.0]).tolist()
        (2.0, [0.0, 0.5])
        """
        columns, _ = self._split(beta)
        with Float64().active():
            return _number(self.blocks.value(columns))

    def gradient(self, beta: Any) -> Any:
        """Return grad Q(beta), of the shape of beta."""
        columns, stacked = self._split(beta)
        with Float64().active():
            return self._join(self.blocks.gradient(columns), stacked)

    def hessian(self, beta: Any) -> Any:
        """Return the Hessian of Q at points of shape (d,) or (n, d): (d, d) or (n, d, d)."""
        columns, _ = self._split(beta)
        with Float64().active():
            rows = self.blocks.hessian(columns)
            return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def curvature(self, beta: Any) -> Any:
        """Return the diagonal of the Hessian, d^2 Q/dbeta_i^2, of the shape of beta."""
        columns, stacked = self._split(beta)
        with Float64().active():
            return self._join(self.blocks.curvature(columns), stacked)

    @property
    def separable(self) -> bool:
        """Whether Q is a sum of functions of one coordinate each."""
        return all(len(positions) == 1 for positions, _ in self.blocks.parts)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q is known by a formula, rather than by a search."""
        return all(isinstance(f, BoundedBlock) and f.invertible for _, f in self.blocks.parts)

    def inverse_gradient(self, y: Any) -> Any:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        columns, stacked = self._split(y)
        with Float64().active():
            return self._join(self.blocks.inverse_gradient(columns), stacked)

    def bregman(self, b: Any, b0: Any) -> Any:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        left, right = np.broadcast_arrays(np.asarray(b, float), np.asarray(b0, float))
        at, origin = self._split(left)[0], self._split(right)[0]
        with Float64().active():
            return _number(self.blocks.bregman(at, origin))

    @property
    def in_doubles(self) -> NumericPotential:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        parts = tuple(
            (i, f.in_doubles if isinstance(f, BoundedBlock) else f) for i, f in self.blocks.parts
        )
        return replace(self, blocks=Blocks(parts, self.d))

    def _split(self, values: Any) -> tuple[list[Array], bool]:
        """Return one array per coordinate, and whether they were an axis of *values*."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("beta must be an array of real numbers") from None
        if self.d == 1 and not (array.ndim > 1 and array.shape[-1] == 1):
            return [array], False
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return [array[..., i] for i in range(self.d)], True

    def _join(self, columns: Sequence[Array], stacked: bool) -> Any:
        return np.stack(columns, axis=-1) if stacked else _number(columns[0])


def _number(array: Array) -> Any:
    return float(array) if np.ndim(array) == 0 else np.array(array)
