"""Q as a sum over blocks of coordinates, whose parts are evaluated each in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """Q as the sum over blocks: for each, the positions of its coordinates and its Q."""

    parts: tuple[tuple[tuple[int, ...], NumericBlock], ...]
    d: int

    def _sum(self, term: Callable[[NumericBlock, Sequence[int]], Array], zero: Array) -> Array:
        for positions, block in self.parts:
            zero = zero + term(block if len(self.parts) == 1 else block.summand, positions)
        return zero

    def _scattered(
        self, columns: Sequence[Array], found: Callable[[NumericBlock, list[Array]], list[Array]]
    ) -> list[Array]:
        """Return what each block finds for its coordinates, in the order of all."""
        results: list[Array] = list(columns)
        for positions, block in self.parts:
            entries = found(block, [columns[i] for i in positions])
            for i, entry in zip(positions, entries, strict=True):
                results[i] = entry
        return results

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q."""
        return self._sum(lambda block, at: block.value([beta[i] for i in at]), 0 * beta[0])

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""

        def term(block: NumericBlock, at: Sequence[int]) -> Array:
            return block.bregman([b[i] for i in at], [b0[i] for i in at])

        return self._sum(term, 0 * b[0])

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""
        return self._scattered(beta, lambda block, b: block.gradient(b))

    def curvature(self, beta: Sequence[Array]) -> list[Array]:
        """Return the diagonal of the Hessian."""
        return self._scattered(beta, lambda block, b: block.hessian(b)[:: len(b) + 1])

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta with grad Q = y."""
        return self._scattered(y, lambda block, part: block.inverse_gradient(part))

    def hessian(self, beta: Sequence[Array]) -> list[list[Array]]:
        """Return the rows of the Hessian."""
        found: list[list[Array]] = [[0 * b for b in beta] for _ in beta]
        for positions, block in self.parts:
            entries = iter(block.hessian([beta[i] for i in positions]))
            for i in positions:
                for j in positions:
                    found[i][j] = next(entries)
        return found

    @property
    def in_doubles(self) -> Blocks:
        """The same in doubles alone."""
        return Blocks(tuple((i, block.in_doubles) for i, block in self.parts), self.d)
