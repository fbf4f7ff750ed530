"""Q as a sum over blocks of coordinates, whose parts are evaluated each in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from numerics.evaluate.backend import Array


class NumericBlock(ABC):
    """Q on one block: arrays of one shape for each coordinate in, such arrays out."""

    @abstractmethod
    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q, up to its constant."""

    @abstractmethod
    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""

    @abstractmethod
    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return the d^2 entries of the Hessian of Q, row by row."""

    @abstractmethod
    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta with grad Q(beta) = y; nan where none is found."""

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        total = self.value(b) - self.value(b0)
        for g, x, x0 in zip(self.gradient(b0), b, b0, strict=True):
            total = total - g * (x - x0)
        return total

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q has a formula whose errors are bounded."""
        return False

    @property
    def summand(self) -> NumericBlock:
        """The same, as precise near 0 as a sum with other blocks needs."""
        return self

    @property
    def in_doubles(self) -> NumericBlock:
        """The same in doubles alone: fast, with no bound of the error."""
        return self


@dataclass(frozen=True, slots=True)
class Blocks:
    """Q on arrays (..., d), the sum over blocks: of each the positions of coordinates, and Q."""

    parts: tuple[tuple[tuple[int, ...], NumericBlock], ...]
    d: int

    def _sum(self, term: Callable[..., Array], *points: Array) -> Array:
        total: Array = 0 * points[0][..., 0]
        for positions, block in self.parts:
            own = block if len(self.parts) == 1 else block.summand
            total = total + term(own, *([p[..., i] for i in positions] for p in points))
        return total

    def _scattered(
        self, points: Array, found: Callable[[NumericBlock, list[Array]], list[Array]]
    ) -> Array:
        """Return what each block finds for its coordinates, in the order of all."""
        results: list[Array] = [points] * self.d
        for positions, block in self.parts:
            entries = found(block, [points[..., i] for i in positions])
            for i, entry in zip(positions, entries, strict=True):
                results[i] = entry
        return np.stack(results, axis=-1)

    def value(self, beta: Array) -> Array:
        """Return Q."""
        return self._sum(lambda block, b: block.value(b), beta)

    def bregman(self, b: Array, b0: Array) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        return self._sum(lambda block, b, b0: block.bregman(b, b0), b, b0)

    def gradient(self, beta: Array) -> Array:
        """Return dQ/dbeta."""
        return self._scattered(beta, lambda block, b: block.gradient(b))

    def curvature(self, beta: Array) -> Array:
        """Return the diagonal of the Hessian."""
        return self._scattered(beta, lambda block, b: block.hessian(b)[:: len(b) + 1])

    def inverse(self, y: Array) -> Array:
        """Return the beta with grad Q = y."""
        return self._scattered(y, lambda block, part: block.inverse_gradient(part))

    def hessian(self, beta: Array) -> Array:
        """Return the Hessian, (..., d, d)."""
        rows: list[list[Array]] = [[0 * beta[..., i] for i in range(self.d)] for _ in range(self.d)]
        for positions, block in self.parts:
            entries = iter(block.hessian([beta[..., i] for i in positions]))
            for i in positions:
                for j in positions:
                    rows[i][j] = next(entries)
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    @property
    def in_doubles(self) -> Blocks:
        """The same in doubles alone."""
        return Blocks(tuple((i, block.in_doubles) for i, block in self.parts), self.d)
