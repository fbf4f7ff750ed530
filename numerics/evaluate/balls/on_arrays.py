"""Q and its derivatives on arrays: coordinates along the last axis, the sum over blocks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array
from numerics.evaluate.balls.precision import SMALLEST, SUMMAND, Constants, Start, evaluate

Evaluation: TypeAlias = Callable[[str, Sequence[Array], float], list[Array]]
"""Of what is asked for ("value", ...), flat columns of points and the least number that matters,
one array for each number that a formula returns."""
Block: TypeAlias = tuple[Sequence[int], Callable[[Constants], None], Any]
"""Which outputs, counted from 0; what adds the constants; the formulas."""


class Total:
    """Q on beta of shape (..., d), the sum over blocks."""

    def __init__(self, parts: Sequence[tuple[Sequence[int], Evaluation]]) -> None:
        """Keep the outputs of each block, counted from 0, and its Q."""
        self.parts, self.d = parts, sum(len(outputs) for outputs, _ in parts)

    def __call__(self, what: str, *points: Array) -> Array:
        """Return what is asked for: "value" or "bregman", (...); "hessian", (..., d, d).

        "gradient", "inverse" and, of outputs that are blocks of their own, "stretch" have the shape
        of the points.
        """
        parts = self.run(what, *points)
        if what in ("value", "bregman"):
            return sum(found[0] for _, found in parts)
        if what == "hessian":
            matrix = np.zeros((*np.shape(parts[0][1][0]), self.d, self.d))
            for outputs, found in parts:
                pairs = ((i, j) for i in outputs for j in outputs)
                for (i, j), entry in zip(pairs, found, strict=True):
                    matrix[..., i, j] = entry
            return matrix
        columns = {i: x for places, found in parts for i, x in zip(places, found, strict=True)}
        # One coordinate takes a view, which is cheaper than a stack.
        if self.d == 1:
            return columns[0][..., None]
        return np.stack([columns[i] for i in range(self.d)], axis=-1)

    def run(self, what: str, *points: Array) -> list[tuple[Sequence[int], list[Array]]]:
        """Evaluate on every block; one array for each number that the formula returns."""
        first, *others = (p.shape[:-1] for p in points)
        shape = np.broadcast_shapes(first, *others) if others else first
        added = len(self.parts) > 1 and what in ("value", "bregman")
        least, found = SUMMAND if added else SMALLEST, []
        for outputs, block in self.parts:
            columns = (p[..., i] for p in points for i in outputs)
            flat = [(x if x.shape == shape else np.broadcast_to(x, shape)).ravel() for x in columns]
            found.append((outputs, [x.reshape(shape) for x in block(what, flat, least)]))
        return found


class OnArrays(Total):
    """The same for formulas and a start; elementwise on any shape for d = 1.

    A number of the start may be an array that broadcasts with one coordinate of beta.
    """

    def __init__(self, blocks: Sequence[Block], start: Mapping[str, Array]) -> None:
        """Keep the blocks and the start."""
        super().__init__([(outputs, self._bound(*rest)) for outputs, *rest in blocks])
        self._start, self._spread = start, dict(start)

    def __call__(self, what: str, *points: Array) -> Array:
        """Return what is asked for; of one output elementwise."""
        found = super().__call__(what, *points)
        if self.d == 1 and what not in ("value", "bregman"):
            found = found[..., 0, 0] if what == "hessian" else found[..., 0]
        return float(found) if np.ndim(found) == 0 else np.asarray(found)

    def run(self, what: str, *points: Array) -> list[tuple[Sequence[int], list[Array]]]:
        """Evaluate on every block, at points that the numbers of the start broadcast with."""
        read = [self._read(p) for p in points]
        numbers = [np.asarray(x, dtype=float) for x in self._start.values()]
        shape = np.broadcast_shapes(*(p.shape[:-1] for p in read), *(x.shape for x in numbers))
        self._spread = {
            name: np.broadcast_to(x, shape).ravel() if x.ndim else self._start[name]
            for name, x in zip(self._start, numbers, strict=True)
        }
        return super().run(what, *(np.broadcast_to(p, (*shape, self.d)) for p in read))

    def _bound(self, constants: Callable[[Constants], None], q: Any) -> Evaluation:
        def evaluated(what: str, columns: Sequence[Array], least: float) -> list[Array]:
            try:
                forms = q.forms(what)
                return evaluate(forms, Start(self._spread, constants), columns, least)
            except ZeroDivisionError:
                shown = ", ".join(f"{name} = {x}" for name, x in self._start.items())
                raise ValueError(f"Q is undefined at the start {shown[:200]}") from None

        return evaluated

    def _read(self, points: Array) -> Array:
        array = np.asarray(points, dtype=np.float64)
        if self.d == 1:
            return array[..., None]
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise ValueError(f"the last axis must be {self.d}, not of shape {array.shape}")
        return array
