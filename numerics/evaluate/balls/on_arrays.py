"""Q and its derivatives on arrays: coordinates along the last axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array
from numerics.evaluate.balls.precision import SMALLEST, SUMMAND, Constants, Start, evaluate

Block: TypeAlias = tuple[Sequence[int], Callable[[Constants], None], Constants]
"""Which outputs, counted from 0; what adds the constants; the formulas."""


class OnArrays:
    """Q on beta of shape (..., d), or elementwise on any shape for d = 1.

    A number of the start may be an array that broadcasts with one coordinate of beta.
    """

    def __init__(self, blocks: Sequence[Block], start: Mapping[str, Array]) -> None:
        """Keep the blocks and the start."""
        self._blocks, self._start = blocks, start
        self._d = sum(len(outputs) for outputs, _, _ in blocks)

    def value(self, beta: Array) -> Array:
        """Return Q, which is 0 at the start."""
        return _number(sum(found[0] for _, found in self._run("value_formulas", beta)))

    def gradient(self, beta: Array) -> Array:
        """Return grad Q, of the shape of beta."""
        return self._joined("gradient_formulas", beta)

    def inverse(self, y: Array) -> Array:
        """Return the beta with ``grad Q(beta) = y``, nan where there is none."""
        return self._joined("inverse_formulas", y)

    def hessian(self, beta: Array) -> Array:
        """Return the Hessian, (..., d, d); elementwise for d = 1."""
        parts = list(self._run("hessian_formulas", beta))
        matrix = np.zeros((*np.shape(parts[0][1][0]), self._d, self._d))
        for outputs, found in parts:
            pairs = ((i, j) for i in outputs for j in outputs)
            for (i, j), entry in zip(pairs, found, strict=True):
                matrix[..., i, j] = entry
        return _number(matrix[..., 0, 0] if self._d == 1 else matrix)

    def bregman(self, b: Array, b0: Array) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        return _number(sum(found[0] for _, found in self._run("bregman_formulas", b, b0)))

    def _joined(self, forms: str, points: Array) -> Array:
        columns: dict[int, Array] = {}
        for outputs, found in self._run(forms, points):
            columns.update(zip(outputs, found, strict=True))
        if self._d == 1:
            return _number(columns[0])
        return np.stack([columns[i] for i in range(self._d)], axis=-1)

    def _run(self, forms: str, *points: Array) -> list[tuple[Sequence[int], list[Array]]]:
        """Evaluate on every block; one array for each number that the formula returns."""
        columns = [self._columns(p) for p in points]
        arrays = [np.asarray(x, dtype=float) for x in self._start.values() if np.ndim(x)]
        shape = np.broadcast_shapes(*(x.shape for c in columns for x in c), *map(np.shape, arrays))
        start = {
            name: np.broadcast_to(x, shape).ravel() if np.ndim(x) else x
            for name, x in self._start.items()
        }
        found = []
        added = len(self._blocks) > 1 and forms in ("value_formulas", "bregman_formulas")
        least = SUMMAND if added else SMALLEST
        for outputs, constants, q in self._blocks:
            flat = [np.broadcast_to(c[i], shape).ravel() for c in columns for i in outputs]
            try:
                results = evaluate(getattr(q, forms)(), Start(start, constants), flat, least)
            except ZeroDivisionError:
                shown = ", ".join(f"{name} = {x}" for name, x in self._start.items())
                raise ValueError(f"Q is undefined at the start {shown[:200]}") from None
            found.append((outputs, [x.reshape(shape) for x in results]))
        return found

    def _columns(self, points: Array) -> list[Array]:
        array = np.asarray(points, dtype=np.float64)
        if self._d == 1:
            return [array]
        if array.ndim == 0 or array.shape[-1] != self._d:
            raise ValueError(f"the last axis must be {self._d}, not of shape {array.shape}")
        return [array[..., i] for i in range(self._d)]


def _number(array: Array) -> Array:
    return float(array) if np.ndim(array) == 0 else np.asarray(array)
