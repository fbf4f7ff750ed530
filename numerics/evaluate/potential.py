"""Q in float64 arrays: its derivatives, its inverse mirror map and its Bregman divergence."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError
from numerics.evaluate.backend import Array, FloatOrArray, Number, quiet
from numerics.evaluate.blocks import Blocks
from numerics.evaluate.leaf import Leaves
from numerics.evaluate.numbers import read_array


class Functions(Protocol):
    """Q on arrays of shape (..., d)."""

    # ruff: noqa: D102
    @property
    def in_doubles(self) -> Self: ...
    def __call__(self, what: str, *points: Array) -> FloatOrArray: ...
    @property
    def leaves(self) -> Leaves: ...


F_co = TypeVar("F_co", bound=Functions, covariant=True)


class Symbolic(Protocol):
    """What is Q in numbers at any start: a derived Q, or copies of F."""

    def numeric(self, start: Mapping[str, Any]) -> Any: ...


@dataclass(frozen=True, slots=True)
class _InDoubles:
    """The same in doubles alone."""

    source: Symbolic

    def numeric(self, start: Mapping[str, Any]) -> Any:
        return self.source.numeric(start).in_doubles


@dataclass(frozen=True, slots=True, eq=False)
class PotentialAtStart(Generic[F_co]):
    """Q at a start, in float64; calling it evaluates Q.

    Coordinates run along the last axis: beta of shape (d,) or (n, d). Outside the domain of Q
    every result is nan.

    Attributes:
        d: the number of coordinates.
        start: the exact values of the start symbols; of a vector, or of copies, as a tuple.
        beta0: F(w_0), where grad Q = 0.
        functions: Q on arrays.
        source: what it is Q of; two are equal that are Q of the same at the same start.
    """

    d: int
    start: tuple[tuple[str, Number], ...]
    beta0: tuple[float, ...] | Array
    functions: F_co = field(repr=False)
    source: Symbolic | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again: the derived Q and the start, not the program."""
        if self.source is None:
            raise TypeError("a potential that was not made by Potential.numeric is not pickled")
        return type(self.source).numeric, (self.source, dict(self.start))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PotentialAtStart) or self.source is None:
            return self is other
        return (self.source, self.start) == (other.source, other.start)

    def __hash__(self) -> int:
        return id(self) if self.source is None else hash((self.source, self.start))

    def __call__(self, beta: ArrayLike) -> FloatOrArray:
        """Return Q, which is 0 at beta_0 or up to a constant: a float, or an array of shape (n,).

        >>> from derive import Parameterization, derive
        >>> Q = derive(Parameterization.parse(["w"])).potential.numeric({"w_0": 1})
        >>> Q(3.0), Q([1.0, 2.0]).tolist()
        (2.0, [0.0, 0.5])
        """
        with quiet():
            return number_or_array(self.functions("value", self._read(beta)))

    def gradient(self, beta: ArrayLike) -> FloatOrArray:
        """Return the mirror map grad Q(beta), of the shape of beta."""
        return self._mapped(beta, partial(self.functions, "gradient"))

    def hessian(self, beta: ArrayLike) -> Array:
        """Return the Hessian of Q at points of shape (d,) or (n, d): (d, d) or (n, d, d)."""
        with quiet():
            return np.asarray(self.functions("hessian", self._read(beta)))

    def inverse_gradient(self, y: ArrayLike) -> FloatOrArray:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        return self._mapped(y, partial(self.functions, "inverse"))

    def bregman(self, b: ArrayLike, b0: ArrayLike) -> FloatOrArray:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        with quiet():
            return number_or_array(self.functions("bregman", self._read(b), self._read(b0)))

    def plot(self, ax: Any = None) -> Any:
        """Draw Q, of one output as a curve, of several its level sets, by matplotlib.

        Args:
            ax: the axes of matplotlib to draw on, or new ones.

        Returns:
            the display of ``numerics.figures``, with the arrays that were drawn.

        Raises:
            InputError: matplotlib is not installed.
        """
        room = importlib.import_module("numerics.figures.derived")  # which stands on this one
        return room.PotentialDisplay.of_numbers(self, dict(self.start)).plot(ax)

    @property
    def in_doubles(self) -> Self:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        source = None if self.source is None else _InDoubles(self.source)
        return replace(self, functions=self.functions.in_doubles, source=source)

    def _read(self, values: ArrayLike) -> Array:
        """Return points as an array (..., d)."""
        array = read_array(values)
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return array

    def _mapped(self, values: ArrayLike, function: Callable[[Array], Array]) -> FloatOrArray:
        """Return d numbers at each point, of the shape of *values*."""
        with quiet():
            return function(self._read(values))


AnyPotential: TypeAlias = PotentialAtStart[Functions]


class NumericPotential(PotentialAtStart[Blocks]):
    """Q of coordinates.

    For d = 1 a scalar, or an array whose last axis is not of length 1, is read elementwise, as is
    a vector.

    Attributes:
        d: the length of beta.
        start, beta0: the numbers of the start symbols, and F(w_0), where grad Q = 0.
        functions: Q and its derivatives, block by block.
    """

    __slots__ = ()

    def curvature(self, beta: ArrayLike) -> FloatOrArray:
        """Return the diagonal of the Hessian, d^2 Q/dbeta_i^2, of the shape of beta."""
        return self._mapped(beta, self.functions.curvature)

    def stretch(self, beta: ArrayLike, y: ArrayLike) -> FloatOrArray:
        """Return dbeta_i/dy_i, of the shape of beta, at y = grad Q(beta) of a separable Q.

        Of a coupled one, 1.
        """
        if not self.separable:
            return np.ones_like(beta)
        read = self._read(y)
        return self._mapped(beta, lambda b: self.functions("stretch", b, read))

    def bregman(self, b: ArrayLike, b0: ArrayLike) -> FloatOrArray:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        return super().bregman(*np.broadcast_arrays(read_array(b), read_array(b0)))

    @property
    def separable(self) -> bool:
        """Whether Q is a sum of functions of one coordinate each."""
        return all(len(positions) == 1 for positions, _ in self.functions.blocks)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q is known by a formula, rather than by a search."""
        return all(block.invertible for _, block in self.functions.blocks)

    def _read(self, values: ArrayLike) -> Array:
        array = read_array(values)
        if self.d == 1 and not (array.ndim > 1 and array.shape[-1] == 1):
            return array[..., None]
        return super()._read(array)

    def _mapped(self, values: ArrayLike, function: Callable[[Array], Array]) -> FloatOrArray:
        points = self._read(values)
        with quiet():
            found = function(points)
        if points.ndim > np.ndim(values):
            return number_or_array(found[..., 0])
        return found if self.d > 1 else np.array(found)


def number_or_array(array: FloatOrArray) -> FloatOrArray:
    """Return a float for an array of shape ()."""
    return float(array) if np.ndim(array) == 0 else np.array(array)
