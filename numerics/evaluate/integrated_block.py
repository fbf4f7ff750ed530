"""Q without a closed form on one block, each point of it found by an ODE along the leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import mpmath
import numpy as np

from numerics.evaluate.backend import Array, Backend, Number
from numerics.evaluate.blocks import NumericBlock


class LeafOde(Protocol):
    """What a form that integrates an ODE for every point needs, d numbers at a time."""

    @property
    def beta0(self) -> Number: ...  # noqa: D102
    def mirror_map(  # noqa: D102
        self, beta: Sequence[Number], digits: int
    ) -> tuple[tuple[Number, ...], Number]: ...
    def hessian(self, beta: Sequence[Number], digits: int) -> tuple[Number, ...]: ...  # noqa: D102
    def inverse(self, mu: Sequence[Number], digits: int) -> tuple[Number, ...]: ...  # noqa: D102


class IntegratedBlock(NumericBlock):
    """Q without a closed form, along the leaf: a single output, or coupled ones."""

    def __init__(self, lift: LeafOde, backend: Backend) -> None:
        """Bind the lift to a number type."""
        self._lift, self._backend = lift, backend
        self._digits = backend.digits + 5

    def _each(
        self,
        function: Callable[[Sequence[Number]], Sequence[Number]],
        columns: Sequence[Array],
        count: int,
        origin: Number,
    ) -> list[Array]:
        """Map each point to *count* numbers; nan where a coordinate is not finite."""
        sources, undefined = [np.asarray(c) for c in columns], (mpmath.nan,) * count
        points = list(zip(*(source.flat for source in sources), strict=True))
        results: list[Sequence[Number]] = [undefined] * len(points)
        alone = len(columns) == 1
        for side in _outwards(points, self._backend.number(origin) if alone else None):
            for i in side:
                results[i] = function(points[i])
                if results[i][0] != results[i][0]:
                    break  # it is slow to find that a leaf ends, and nothing lies beyond
        shape = sources[0].shape
        return [self._backend.array([r[i] for r in results]).reshape(shape) for i in range(count)]

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""
        lift, digits = self._lift, self._digits
        return self._each(lambda b: lift.mirror_map(b, digits)[0], beta, len(beta), lift.beta0)

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q - Q(beta_0)."""
        lift, digits = self._lift, self._digits
        return self._each(lambda b: [lift.mirror_map(b, digits)[1]], beta, 1, lift.beta0)[0]

    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return the d^2 entries of the Hessian of Q, row by row."""
        lift, digits = self._lift, self._digits
        return self._each(lambda b: lift.hessian(b, digits), beta, len(beta) ** 2, lift.beta0)

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta that the mirror map takes to y."""
        lift, digits = self._lift, self._digits
        return self._each(lambda mu: lift.inverse(mu, digits), y, len(y), 0)


def _outwards(points: Sequence[Sequence[Number]], origin: Number) -> list[list[int]]:
    """Return the finite points, those on each side of the origin from there outwards.

    Without an origin, as for several coordinates, each point is a side of its own.
    """
    inside = [i for i, point in enumerate(points) if all(x - x == 0 for x in point)]
    if origin is None:
        return [[i] for i in inside]
    ordered = sorted(inside, key=lambda i: abs(points[i][0] - origin))
    above = [i for i in ordered if points[i][0] >= origin]
    return [above, [i for i in ordered if points[i][0] < origin]]
