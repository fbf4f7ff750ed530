"""Q in float64 arrays: its derivatives, its inverse mirror map and its Bregman divergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError
from numerics.evaluate.backend import Array, Float64, FloatOrArray
from numerics.evaluate.blocks import Blocks
from numerics.evaluate.numbers import read_array


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
        blocks: Q on each block of coordinates.
    """

    d: int
    start: tuple[tuple[str, Fraction], ...]
    beta0: tuple[float, ...]
    blocks: Blocks = field(repr=False)

    def __call__(self, beta: ArrayLike) -> FloatOrArray:
        """Return Q, which is 0 at beta_0 or up to a constant: a float, or an array of shape (n,).

        >>> from derive import Parameterization, derive
        >>> Q = derive(Parameterization.parse(["w"])).potential.numeric({"w_0": 1})
        >>> Q(3.0), Q([1.0, 2.0]).tolist()
        (2.0, [0.0, 0.5])
        """
        columns, _ = self._split(beta)
        with Float64().active():
            return _number(self.blocks.value(columns))

    def gradient(self, beta: ArrayLike) -> FloatOrArray:
        """Return the mirror map grad Q(beta), of the shape of beta."""
        return self._mapped(beta, self.blocks.gradient)

    def hessian(self, beta: ArrayLike) -> Array:
        """Return the Hessian of Q at points of shape (d,) or (n, d): (d, d) or (n, d, d)."""
        columns, _ = self._split(beta)
        with Float64().active():
            rows = self.blocks.hessian(columns)
            return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def curvature(self, beta: ArrayLike) -> FloatOrArray:
        """Return the diagonal of the Hessian, d^2 Q/dbeta_i^2, of the shape of beta."""
        return self._mapped(beta, self.blocks.curvature)

    def inverse_gradient(self, y: ArrayLike) -> FloatOrArray:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        return self._mapped(y, self.blocks.inverse_gradient)

    def bregman(self, b: ArrayLike, b0: ArrayLike) -> FloatOrArray:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        left, right = np.broadcast_arrays(np.asarray(b, float), np.asarray(b0, float))
        at, origin = self._split(left)[0], self._split(right)[0]
        with Float64().active():
            return _number(self.blocks.bregman(at, origin))

    @property
    def separable(self) -> bool:
        """Whether Q is a sum of functions of one coordinate each."""
        return all(len(positions) == 1 for positions, _ in self.blocks.parts)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q is known by a formula, rather than by a search."""
        return all(block.invertible for _, block in self.blocks.parts)

    @property
    def in_doubles(self) -> NumericPotential:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        return replace(self, blocks=self.blocks.in_doubles)

    def _split(self, values: ArrayLike) -> tuple[list[Array], bool]:
        """Return one array per coordinate, and whether they were an axis of *values*."""
        array = read_array(values)
        if self.d == 1 and not (array.ndim > 1 and array.shape[-1] == 1):
            return [array], False
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return [array[..., i] for i in range(self.d)], True

    def _mapped(
        self, values: ArrayLike, function: Callable[[Sequence[Array]], list[Array]]
    ) -> FloatOrArray:
        """Return d numbers at each point, of the shape of *values*."""
        columns, stacked = self._split(values)
        with Float64().active():
            found = function(columns)
            return np.stack(found, axis=-1) if stacked else _number(found[0])


def _number(array: Array) -> FloatOrArray:
    return float(array) if np.ndim(array) == 0 else np.array(array)
