"""What numerics takes: Q at a start as a function of beta, and the parts of it that solvers use."""

# ruff: noqa: D102
from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from numpy.typing import ArrayLike

from numerics.evaluate.backend import Array, FloatOrArray


class MirrorMap(Protocol):
    """Of any Q: the mirror map grad Q at beta; nan outside the domain."""

    def gradient(self, beta: Array) -> Array: ...


class InverseMap(MirrorMap, Protocol):
    """The inverse of the mirror map too: beta at grad Q."""

    def inverse_gradient(self, y: Array) -> Array: ...


class SeparableMap(InverseMap, Protocol):
    """Of a separable Q: Q'' at beta too, elementwise."""

    def curvature(self, beta: Array) -> Array: ...


class CoupledMap(MirrorMap, Protocol):
    """Of a coupled Q: grad Q (d,) and its Hessian (d, d) at beta."""

    def hessian(self, beta: Array) -> Array: ...


class VectorFunctions(Protocol):
    """Q of a vector, on arrays of shape (..., d)."""

    def value(self, beta: Array) -> FloatOrArray: ...
    def gradient(self, beta: Array) -> Array: ...
    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]: ...
    def hessian(self, beta: Array) -> Array: ...
    def hessian_product(self, beta: Array, x: Array) -> Array: ...
    def inverse(self, y: Array) -> Array: ...
    def bregman(self, b: Array, b0: Array) -> FloatOrArray: ...


class CallablePotential(Protocol):
    """Q at a start, with grad Q(beta_0) = 0; coordinates run along the last axis, (d,) or (n, d).

    Every record that :meth:`derive.records.Potential.numeric` returns is one.
    """

    @property
    def d(self) -> int: ...
    @property
    def start(self) -> tuple[tuple[str, Fraction], ...]: ...
    @property
    def beta0(self) -> ArrayLike: ...
    @property
    def in_doubles(self) -> CallablePotential: ...

    def __call__(self, beta: ArrayLike) -> FloatOrArray: ...
    def gradient(self, beta: ArrayLike) -> FloatOrArray: ...
    def hessian(self, beta: ArrayLike) -> Array: ...
    def inverse_gradient(self, y: ArrayLike) -> FloatOrArray: ...
    def bregman(self, b: ArrayLike, b0: ArrayLike) -> FloatOrArray: ...
