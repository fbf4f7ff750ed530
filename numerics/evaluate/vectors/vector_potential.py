"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from sympy import Integral
from sympy.core.function import AppliedUndef

from derive.errors import InputError, NumericalError
from derive.potential.block import DirectionTerms
from derive.records import Potential
from numerics.evaluate.backend import Array, Float64, FloatOrArray, Multiprecision, Number, exact
from numerics.evaluate.balls.mpfr_decimals import MpfrDigits
from numerics.evaluate.formula_block import FormulaBlock
from numerics.evaluate.numbers import read_number
from numerics.evaluate.potential import Functions, PotentialAtStart
from numerics.evaluate.source.formulas import FormulaText
from numerics.evaluate.source.program import Program, program
from numerics.evaluate.source.statements import NoSource, Statements, parameter, safe
from numerics.evaluate.start import check_assumptions, constants_of, read_start, start_point
from numerics.evaluate.vectors.vector_formulas import OnVectors, VectorFormulas, length

_BITS = 4096
"""Working precision of |u_0|."""
_CLOSE = Fraction(1, 10**12)
ALONG = "tangential"
"""The name of the formula of q'(s)/s."""


class VectorFunctions(Functions, Protocol):
    """Q of a vector, on arrays of shape (..., d)."""

    # ruff: noqa: D102
    @property
    def in_doubles(self) -> VectorInDoubles: ...
    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]: ...
    def hessian_product(self, beta: Array, x: Array) -> Array: ...


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
        with Float64().active():
            return self.functions.spectrum(self._read(beta))

    def hessian_product(self, beta: ArrayLike, x: ArrayLike) -> FloatOrArray:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        with Float64().active():
            return self.functions.hessian_product(self._read(beta), self._read(x))

    def length_slope(self, s: float) -> float:
        """Return q'(s) by its printed formula."""
        with Float64().active():
            return float(self.functions.in_doubles.slope(np.asarray(s)))

    @property
    def pull(self) -> Array:
        """The vector slope u_0 (d,): ``grad Q = q'(s) beta/s - pull``."""
        return self.functions.in_doubles.pull


class VectorInDoubles:
    """Q from the printed formulas of q, in doubles."""

    def __init__(self, q: FormulaBlock, beta0: Array, pull: Array) -> None:
        """Bind q to the start."""
        self._q, self.beta0, self.pull = q, beta0, pull

    @property
    def in_doubles(self) -> VectorInDoubles:
        """Itself."""
        return self

    def slope(self, s: Array) -> FloatOrArray:
        """Return q'."""
        return self._q.gradient([s])[0]

    def value(self, beta: Array) -> FloatOrArray:
        """Return Q - Q(beta_0)."""
        s, s0 = (np.linalg.norm(x, axis=-1) for x in (beta, self.beta0))
        rise = self._q.value([s]) - self._q.value([np.asarray(s0)])
        return rise - (beta - self.beta0) @ self.pull

    def gradient(self, beta: Array) -> FloatOrArray:
        """Return grad Q."""
        s = np.linalg.norm(beta, axis=-1)
        return (self.slope(s) / s)[..., None] * beta - self.pull

    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta and along it."""
        s = np.linalg.norm(beta, axis=-1)
        return self.slope(s) / s, self._q.hessian([s])[0]

    def hessian_product(self, beta: Array, x: Array) -> FloatOrArray:
        """Return ``Hess Q(beta) x``."""
        across, along = self.spectrum(beta)
        e = beta / np.linalg.norm(beta, axis=-1)[..., None]
        part = (along - across) * np.sum(e * x, axis=-1)
        return across[..., None] * x + part[..., None] * e

    def hessian(self, beta: Array) -> FloatOrArray:
        """Return the Hessian."""
        return self.hessian_product(beta[..., None, :], np.eye(beta.shape[-1]))

    def inverse(self, y: Array) -> FloatOrArray:
        """Return the beta with grad Q(beta) = y."""
        dual = y + self.pull
        size = np.linalg.norm(dual, axis=-1)
        return (self._q.inverse_gradient([size])[0] / size)[..., None] * dual

    def bregman(self, b: Array, b0: Array) -> FloatOrArray:
        """Return the Bregman divergence."""
        rise = self.value(b) - self.value(b0)
        return rise - np.sum(self.gradient(b0) * (b - b0), axis=-1)


class _Bounded(OnVectors):
    """Q with error bounds, *in_doubles* where the inverse of q' has no formula."""

    in_doubles: VectorInDoubles

    def inverse(self, y: Array) -> FloatOrArray:
        return super().inverse(y) if self._q.inverse_formulas() else self.in_doubles.inverse(y)


def lower_vector(potential: Potential, start: Mapping[str, Number]) -> NumericVectorPotential:
    """Return Q with numbers for its start symbols and for u_0, in float64.

    Args:
        potential: the dimension-free Q.
        start: a number for each start symbol of a scalar, and the vector u_0 (d,), d >= 2, under
            its printed name. Where the derivation was given |u_0|, u_0 must have that length.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, or q'(s) is known along a curve in the weights only.
    """
    values, vector = _read(potential, start)
    in_doubles = _in_doubles(potential, values, vector)
    functions: VectorFunctions = in_doubles
    try:
        written = vector_program(potential)
        space = written.space(length=length)
        q = written.form([name for name, _ in written.functions if name != ALONG], space)
        forms = VectorFormulas(q, space[ALONG], turning_of(potential).direction.sign)
        norm = norm_symbol(potential)
        names = [n for n in potential.parameterization.start_symbols if n != norm]
        known = {a: values[n] for a, n in zip(written.names, names, strict=True)}
        bounded = _Bounded(space["constants"], forms, known, list(map(float, vector)), MpfrDigits)
        bounded.in_doubles = in_doubles
        functions = bounded
    except NoSource:
        pass
    given = tuple(values.items())
    return NumericVectorPotential(len(vector), given, in_doubles.beta0, functions)


def _read(
    potential: Potential, start: Mapping[str, Number]
) -> tuple[dict[str, Fraction], tuple[Fraction, ...]]:
    """Return the exact start symbols, |u_0| among them, and u_0."""
    if potential.turning is None or not potential.pieces:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.reason}")
    (piece,), direction = potential.pieces, potential.turning.direction
    if any(g.has(Integral) or g.atoms(AppliedUndef) for g in piece.gradient):
        raise NumericalError(
            "no numeric form of Q for every dimension: its gradient is known along a curve in the "
            f"weights only; give a dimension, --vector {direction.vector}:3"
        )
    name = direction.start_vector
    if name not in start:
        raise InputError(f"the start gives no value for the vector {name}")
    vector = _read_vector(start[name], name)
    norm = norm_symbol(potential)
    rest = {n: x for n, x in start.items() if n != name}
    if norm is not None:
        if norm in rest:
            raise InputError(f"the start gives {norm}, which is the length of {name}")
        rest[norm] = _length(vector)
    values = read_start(potential.parameterization, rest)
    if norm is not None and not values[norm]:
        text = f"Q was derived for {name} != 0"
        raise InputError(f"{text}: derive again with the start {direction.vector}=0")
    check_assumptions(potential, values)
    given, length = start_point(potential.parameterization, values)[0][-1], _length(vector)
    if abs(given - length) > _CLOSE * abs(given):
        has, says = float(length), float(given)
        raise InputError(f"{name} has length {has:g}, but the start says {says:g}")
    return values, vector


def _read_vector(values: Number, name: str) -> tuple[Fraction, ...]:
    shape = np.shape(values)
    if len(shape) != 1 or shape[0] < 2:
        raise InputError(f"{name} has shape {shape}, but it must be a vector of 2 or more numbers")
    return tuple(read_number(x, f"an entry of {name}") for x in values)


def _length(vector: Sequence[Fraction]) -> Fraction:
    """Return |u|, right to more than a thousand digits."""
    square = sum(x * x for x in vector)
    shift = max(0, _BITS + square.denominator.bit_length() - square.numerator.bit_length()) // 2
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    return Fraction(root, 1 << shift)


def _in_doubles(
    potential: Potential, values: Mapping[str, Fraction], vector: Sequence[Fraction]
) -> VectorInDoubles:
    """Return Q by the printed formulas of q, with beta_0 and the pull (d,) rounded once."""
    turning, (piece,) = turning_of(potential), potential.pieces
    weights, (s0,) = start_point(potential.parameterization, values)
    wide, backend = Multiprecision(40), Float64()
    with wide.active():
        slope = wide.number(exact(turning.slope, values))
        pull = np.array([float(slope * wide.number(x)) for x in vector])
        ratio = s0 / weights[-1] * turning.direction.sign if weights[-1] else Fraction(0)
        beta0 = np.array([float(wide.number(x * ratio)) for x in vector])
    numbers = {**values, **constants_of(piece, values)}
    with backend.active():
        known = {name: backend.number(value) for name, value in numbers.items()}
        q = FormulaBlock(piece, known, [backend.number(s0)], backend)
    return VectorInDoubles(q, beta0, pull)


def turning_of(potential: Potential) -> DirectionTerms:
    """Return what the direction of beta adds to q(s).

    Raises:
        NumericalError: there is no Q.
    """
    if potential.turning is None or not potential.pieces:
        raise NumericalError(f"there is no Q, {potential.finding.reason}")
    return potential.turning


def norm_symbol(potential: Potential) -> str | None:
    """Return the start symbol of |u_0|; None where the start says what it is."""
    name = f"{potential.parameterization.weights[-1]}_0"
    return name if repr(potential.parameterization.w0[-1]) == name else None


def vector_program(potential: Potential) -> Program:
    """Write the functions of q, the slope of the linear term, and |u_0| from u_0.

    Raises:
        NoSource: the form of q needs something that has no bounds here.
    """
    slope = turning_of(potential).slope
    written = program(potential, 0)
    (piece,), norm = potential.pieces, norm_symbol(potential)
    (s,) = piece.betas
    known = {name: f"c.{parameter(name)}" for name in potential.parameterization.start_symbols}
    writer = Statements(known)
    writer.define("slope of Q", "c.slope", ("", [slope]))
    constants = written.constants
    if norm is not None:
        head, _, rest = constants.partition('"""\n')
        constants = f'{head}"""\n    c.{parameter(norm)} = length(c.vector).take(0)\n{rest}'
    constants += "".join(f"\n    {line}" for line in writer.lines)
    known.update((x.name, f"c.{safe(x.name)}") for x, _ in piece.constants)
    across = FormulaText(ALONG, (s,), piece.roots, (piece.gradient[0] / s,), f"q'({s})/{s}")
    names = tuple(n for n in written.names if norm is None or n != parameter(norm))
    functions = (*written.functions, (ALONG, across.text(known)))
    return Program((), names, constants, functions)
