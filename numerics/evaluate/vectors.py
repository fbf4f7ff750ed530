"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction

import mpmath
import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError, NumericalError
from derive.potential.piece import of_the_flow
from derive.records import Potential
from numerics.evaluate.backend import Array, FloatOrArray, Number, quiet
from numerics.evaluate.blocks import FormulaBlock, invert_by_newton
from numerics.evaluate.doubles.arithmetic import Plain
from numerics.evaluate.evaluator import SMALLEST, Start, evaluate
from numerics.evaluate.formulas import NoSource
from numerics.evaluate.leaf import Leaves, OfVector
from numerics.evaluate.numbers import read_number
from numerics.evaluate.potential import PotentialAtStart
from numerics.evaluate.program import norm_symbol, program
from numerics.evaluate.start import at_start, with_pi

_BITS = 4096
"""Working precision of |u_0|."""
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
        """Return what is asked for, the two parts of a spectrum as a list; the shapes broadcast.

        By a search where the inverse of grad Q has no formula.
        """
        shape = np.broadcast_shapes(*(x.shape for x in points))
        flat = [np.broadcast_to(x, shape).reshape(-1, self.dimension) for x in points]
        if what == "inverse" and not self.block.invertible:
            return self._searched(*flat).reshape(shape)
        results = self.block(what, flat, SMALLEST)
        shaped = [x.reshape((*shape[:-1], *x.shape[1:])) for x in results]
        numbers = [float(x) if np.ndim(x) == 0 else np.asarray(x) for x in shaped]
        return numbers if what == "spectrum" else numbers[0]

    def _searched(self, y: Array) -> Array:
        dual = y + self.pull
        size, c = np.linalg.norm(dual, axis=-1), self.block.start.at(Plain)
        s0 = [float(np.linalg.norm(self.beta0))]
        (s,) = invert_by_newton(self.block.program.plain.q, c, s0, [size])
        return np.asarray((s / size)[..., None] * dual)

    def _constant(self, what: str) -> Array:
        zeros = [np.zeros((1, self.dimension))]
        (rows,) = evaluate(self.block.program, what, self.block.start, zeros)
        return np.asarray(rows[0])


class NumericVectorPotential(PotentialAtStart[VectorFunctions]):
    """Q of a vector model at a start; the cost is of order d for all but the Hessian.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["a*u"], vectors=["u"]))
    >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
    >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
    ([15.0, 20.0], 0.0, [1.243, 1.657])
    """

    __slots__ = ()

    def spectrum(self, beta: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta (d - 1 of them), and along it."""
        with quiet():
            across, along = self.functions("spectrum", self._read(beta))
            return across, along

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
    size = _length(vector)
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


def _length(vector: Sequence[Fraction]) -> Fraction:
    """Return |u|, right to more than a thousand digits."""
    square = sum((x * x for x in vector), Fraction(0))
    with mpmath.workprec(_BITS):
        root = mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)
        return read_number(root, "the length of a vector")
