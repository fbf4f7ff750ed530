"""Q on one output along a curve beta = h(z), in either number type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from derive.potential.piece import Parametric
from numerics.evaluate.backend import Array, Backend, Compiled, Interval, Number
from numerics.evaluate.blocks import NumericBlock
from numerics.evaluate.root_finding import invert_increasing


class ParametricBlock(NumericBlock):
    """beta = h(z): the parameter is found first, then Q and dQ/dbeta are functions of it."""

    def __init__(
        self,
        piece: Parametric,
        known: Mapping[str, Number],
        interval: Interval,
        backend: Backend,
    ) -> None:
        """Compile a parametric piece; *interval* is the range of z in numbers."""
        curve = piece.curve
        self._backend, self._known, self._interval = backend, known, interval
        self._beta, self._z = piece.betas[0].name, curve.parameter.name
        self._h = backend.compile([curve.beta])
        self._slope = backend.compile([curve.beta.diff(curve.parameter)])
        self._value = backend.compile([piece.value])
        self._gradient = backend.compile(piece.gradient)
        # The mirror map is a multiple of z, of the sign that h is monotone with.
        self._rate = backend.compile([piece.gradient[0].diff(curve.parameter)])
        zero = backend.array([0])
        self._sign = np.where(self._at(self._rate, zero)[0] < 0, -1, 1)

    def _at(self, function: Compiled, z: Array, **more: Array) -> Array:
        return function({**self._known, self._z: z, **more})[0]

    def _parameter(self, beta: Array) -> Array:
        return invert_increasing(
            lambda z: self._sign * self._at(self._h, z),
            lambda z: self._sign * self._at(self._slope, z),
            self._interval,
            self._sign * beta,
            self._backend,
        )

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""
        return [self._at(self._gradient, self._parameter(beta[0]))]

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q, up to its constant."""
        z = self._parameter(beta[0])
        return self._value({**self._known, self._z: z, self._beta: beta[0]})[0]

    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return Q'', the mirror map's slope in z over that of h."""
        z = self._parameter(beta[0])
        return [self._at(self._rate, z) / self._at(self._slope, z)]

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return h(z) at the z that the mirror map y belongs to."""
        z = y[0] / self._at(self._rate, 0 * y[0])
        inside = (z > self._interval[0]) & (z < self._interval[1])
        return [np.where(inside, self._at(self._h, z), self._backend.number(np.nan))]
