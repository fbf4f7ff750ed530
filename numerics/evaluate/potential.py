"""Q in float64 arrays: its derivatives, its inverse mirror map and its Bregman divergence.

Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, Self

import mpmath
import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError, NumericalError
from derive.potential.piece import of_the_flow
from derive.printable import Held
from derive.programming import NoSource
from derive.records import Potential
from numerics.evaluate.blocks import Blocks, FormulaBlock, Start, invert_by_newton
from numerics.evaluate.doubles.arithmetic import Plain
from numerics.evaluate.leaf import Leaves, OfVector
from numerics.evaluate.numbers import (
    GUARD,
    Array,
    FloatOrArray,
    Number,
    Real,
    quiet,
    read_array,
    read_number,
)
from numerics.evaluate.program import norm_symbol, program
from numerics.evaluate.start import at_start, with_pi


class Symbolic(Protocol):
    """What is Q in numbers at any start: a derived Q, or copies of F."""

    def numeric(self, start: Mapping[str, Any]) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class _InDoubles:
    """The same in doubles alone."""

    source: Symbolic

    def numeric(self, start: Mapping[str, Any]) -> Any:
        return self.source.numeric(start).in_doubles


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PotentialAtStart(Held):
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
    functions: Blocks | VectorFunctions = field(repr=False)
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
        points = map(self._read, np.broadcast_arrays(read_array(b), read_array(b0)))
        with quiet():
            return number_or_array(self.functions("bregman", *points))

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


class NumericPotential(PotentialAtStart):
    """Q of coordinates.

    For d = 1 a scalar, or an array whose last axis is not of length 1, is read elementwise, as is
    a vector.

    Attributes:
        d: the length of beta.
        start, beta0: the numbers of the start symbols, and F(w_0), where grad Q = 0.
        functions: Q and its derivatives, block by block.
    """

    __slots__ = ()
    functions: Blocks

    def stretch(self, beta: ArrayLike, y: ArrayLike) -> FloatOrArray:
        """Return dbeta_i/dy_i, of the shape of beta, at y = grad Q(beta) of a separable Q.

        Of a coupled one, 1.
        """
        if not self.separable:
            return np.ones_like(beta)
        read = self._read(y)
        return self._mapped(beta, lambda b: self.functions("stretch", b, read))

    def precise_value(self, beta: Sequence[Number], digits: int) -> Real:
        """Return Q at d numbers, up to an additive constant, in mpf; nan outside the domain."""
        with mpmath.workdps(digits + GUARD):
            return mpmath.fsum(own[0] for _, own in self._precisely("primitive", beta, digits))

    def precise_gradient(
        self, beta: Sequence[Number], digits: int, least: float = 0.0
    ) -> list[Real]:
        """Return the d numbers grad Q in mpf, below *least* to that; nan outside the domain."""
        found = self._precisely("gradient", beta, digits, least)
        by_place = {i: x for outputs, own in found for i, x in zip(outputs, own, strict=True)}
        return [by_place[i] for i in range(self.d)]

    def _precisely(
        self, what: str, beta: Sequence[Number], digits: int, least: float = 0.0
    ) -> list[tuple[Sequence[int], list[Real]]]:
        """Return what each block finds at its coordinates of a point."""
        blocks = self.functions.blocks
        if not all(x - x == 0 for x in beta):
            return [(outputs, [mpmath.nan] * len(outputs)) for outputs, _ in blocks]
        point = [read_number(x, "beta") for x in beta]
        of = {outputs: [point[i] for i in outputs] for outputs, _ in blocks}
        return [(i, block.precisely(what, of[i], digits, least)) for i, block in blocks]

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


_BITS = 4096
"""Working precision of |u_0|: more than a thousand digits."""
_CLOSE = Fraction(1, 10**12)


class VectorFunctions:
    """Q on beta of shape (..., d): with error bounds, or in doubles alone."""

    leaves: Leaves = ()

    def __init__(self, block: FormulaBlock, dimension: int) -> None:
        """Keep the formulas of the only block, bound to numbers of the start and u_0, (d,)."""
        self.block, self.dimension = block, dimension

    @functools.cached_property
    def in_doubles(self) -> VectorFunctions:
        """The same in doubles alone: fast, with no bound of the error."""
        moved = VectorFunctions(self.block.in_doubles, self.dimension)
        moved.leaves = self.leaves
        return moved

    @functools.cached_property
    def beta0(self) -> Array:
        """F(w_0), where grad Q = 0."""
        return self._constant("origin")

    @functools.cached_property
    def pull(self) -> Array:
        """The vector slope u_0 (d,): ``grad Q = q'(s) beta/s - pull``."""
        return self._constant("pull")

    def length_slope(self, s: float) -> float:
        """Return q'(s) in doubles."""
        slope, *_ = self.block.program.plain.q.forms("gradient")
        (number,) = slope(self.block.start.at(Plain), Plain(np.float64(s)))
        return float(number.v)

    def __call__(self, what: str, *points: Array) -> FloatOrArray:
        """Return what is asked for; the shapes broadcast."""
        shape = np.broadcast_shapes(*(x.shape for x in points))
        flat = [np.broadcast_to(x, shape).reshape(-1, self.dimension) for x in points]
        if what == "inverse" and not self.block.invertible:
            dual, s0 = flat[0] + self.pull, [float(np.linalg.norm(self.beta0))]
            size, c = np.linalg.norm(dual, axis=-1), self.block.start.at(Plain)
            (s,) = invert_by_newton(self.block.program.plain.q, c, s0, [size])
            return np.asarray((s / size)[..., None] * dual).reshape(shape)
        rows = self.block(what, flat)
        found = np.stack(rows, axis=-2) if what == "hessian" else rows[0]
        found = found.reshape((*shape[:-1], *found.shape[1:]))
        return float(found) if np.ndim(found) == 0 else np.asarray(found)

    def _constant(self, what: str) -> Array:
        (rows,) = self.block.bounded(what, [np.zeros((1, self.dimension))])
        return np.asarray(rows[0])


class NumericVectorPotential(PotentialAtStart):
    """Q of a vector model at a start; the cost is of order d for all but the Hessian.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["a*u"], vectors=["u"]))
    >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
    >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
    ([15.0, 20.0], 0.0, [1.243, 1.657])
    """

    __slots__ = ()
    functions: VectorFunctions

    def hessian_product(self, beta: ArrayLike, x: ArrayLike) -> FloatOrArray:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        with quiet():
            return self.functions("product", self._read(beta), self._read(x))


def lower_vector(potential: Potential, start: Mapping[str, Number]) -> NumericVectorPotential:
    """Return Q with numbers for its start symbols and for u_0, in float64.

    Args:
        potential: the dimension-free Q.
        start: a number for each parameter and each start symbol of a scalar, and the vector u_0
            (d,), d >= 2, under its printed name. Where the derivation was given |u_0|, u_0 has
            that length.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, or q'(s) is known along a curve in the weights only.
    """
    if potential.turning is None:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.words}")
    direction, norm = potential.turning.direction, norm_symbol(potential)
    name, given = direction.start_vector, dict(start)
    if name not in given:
        raise InputError(f"the start gives no value for the vector {name}")
    u0 = given.pop(name)
    if len(shape := np.shape(u0)) != 1 or shape[0] < 2:
        text = f"{name} has shape {shape}, but it must be a vector of 2 or more numbers"
        raise InputError(text)
    vector = tuple(read_number(x, f"an entry of {name}") for x in u0)
    square = sum((x * x for x in vector), Fraction(0))
    with mpmath.workprec(_BITS):
        root = mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)
        size = read_number(root, f"the length of {name}")
    if norm is not None:
        if norm in given:
            raise InputError(f"the start gives {norm}, which is the length of {name}")
        if not size:
            text = f"Q was derived for {name} != 0"
            raise InputError(f"{text}: derive again with the start {direction.vector}=0")
        given[norm] = size
    potential, values, weights, _ = at_start(potential, given)
    if abs(weights[-1] - size) > _CLOSE * abs(weights[-1]):
        has, says = float(size), float(weights[-1])
        raise InputError(f"{name} has length {has:g}, but the start says {says:g}")
    try:
        written = program(potential, 0)
    except NoSource as reason:
        advice = f"give a dimension, --vector {direction.vector}:3"
        text = f"no numeric form of Q for every dimension: {reason}; {advice}"
        raise NumericalError(text) from None
    numbers = {n: x for n, x in values.items() if n != norm}
    known, doubles = dict(zip(written.names, numbers.values(), strict=True)), [*map(float, vector)]
    begin = Start(known, written.constants, doubles)
    q = VectorFunctions(FormulaBlock(written, begin), len(vector))
    if any(map(of_the_flow, potential.pieces)):
        powers = direction.parameterization.parameters
        given = with_pi(powers, given)
        bound = [read_number(given[name], f"the parameter {name}") for name in powers]
        leaf = OfVector(direction, weights[:-1], np.array(doubles), bound)
        q.leaves = ((range(len(vector)), leaf),)
    exact = (*numbers.items(), (name, vector))
    return NumericVectorPotential(len(vector), exact, q.beta0, q, potential)
