"""Numbers from a derived Q: float64 arrays in NumPy, or any precision in mpmath.

Both evaluate the printed form as it stands, names in the order of their definition.

In float64 every result has a bound of its error: it is given where it is proved right to 1e-14,
else decimals step in, and where these fail too it is nan. ``pytest -m sweep`` compares all
functions of every proved model of the catalogue with 60 digits. Exceptions to 1e-14, where the
true value is a normal double:

* The inverse mirror map of a model for which no formula of it is found, of which the catalogue
  has none: Newton's method in doubles, to 1e-9.
* Q whose gradient is an integral (``a*b*c`` of three scalars), of which the catalogue has none
  either: the results are those of an ODE or of a rule for integrals, without a bound.
* Weight normalization with c_0 > 37 |v_0|: the slope exp(c_0^2/(2 |v_0|^2)) at the start is no
  double, nor is any slope of Q.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath
import sympy

from derive.errors import InputError, NumericalError
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, Piece, Quadrature
from derive.records import Potential
from numerics.evaluate.backend import Array, Backend, Float64, Multiprecision, Number, exact
from numerics.evaluate.blocks import Blocks, NumericBlock, ParametricBlock, bounded
from numerics.evaluate.formula_block import FormulaBlock
from numerics.evaluate.integrated_block import IntegratedBlock, OutputOde, SegmentOde
from numerics.evaluate.numbers import read_number
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.start import (
    check_assumptions,
    constants_of,
    read_start,
    specialize,
    start_point,
    with_pi,
)
from numerics.evaluate.vectors.vector_potential import NumericVectorPotential, lower_vector

_CHECK_DIGITS = 40


@dataclass(frozen=True, slots=True)
class HighPrecision:
    """Q at a start, in mpf of the given decimal digits and guard digits."""

    digits: int
    beta0: tuple[Fraction, ...]
    blocks: Blocks = field(repr=False)

    def value(self, beta: Sequence[Number]) -> Number:
        """Return Q at d numbers, up to an additive constant; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            return self.blocks.value(_point(beta, backend))[0]

    def gradient(self, beta: Sequence[Number]) -> list[Number]:
        """Return the d numbers grad Q; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            return list(self.blocks.gradient(_point(beta, backend))[0])


def _point(beta: Sequence[Number], backend: Multiprecision) -> Array:
    return backend.array([[read_number(x, "beta") for x in beta]])


def numeric(
    potential: Potential, start: Mapping[str, Number]
) -> NumericPotential | NumericVectorPotential:
    """Return Q as :func:`lower` or, where beta is a vector of open dimension, lower_vector does."""
    return (lower_vector if potential.parameterization.vectors else lower)(potential, start)


def lower(potential: Potential, start: Mapping[str, Number]) -> NumericPotential:
    """Return Q with numbers for its start symbols, in float64.

    Args:
        potential: a derived Q.
        start: an integer, fraction, text such as "1/3", float or mpf for each start symbol.

    Returns:
        Q, its derivatives, its inverse mirror map and its Bregman divergence, as functions of beta.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or grad Q is not 0 at the start.
    """
    high_precision(potential, start, _CHECK_DIGITS)
    return lower_unchecked(potential, start)


def lower_unchecked(potential: Potential, start: Mapping[str, Number]) -> NumericPotential:
    """Return what :func:`lower` does, without a test that grad Q = 0 at the start."""
    potential, values, beta0 = _at_start(potential, start)
    blocks = _lowered(potential, values, Float64())
    return NumericPotential(
        len(beta0), tuple(values.items()), tuple(map(Float64().number, beta0)), blocks
    )


def high_precision(potential: Potential, start: Mapping[str, Number], digits: int) -> HighPrecision:
    """Return Q with numbers for its start symbols, in mpf.

    Args:
        potential: a derived Q.
        start: as for :func:`lower`.
        digits: decimal digits to work to.

    Raises:
        InputError, NumericalError: as :func:`lower` does.
    """
    lowered = high_precision_unchecked(potential, start, digits)
    # Where J has lower rank there, beta_0 is at the end of the domain of Q.
    if potential.parameterization.starts_regular:
        _check_start(lowered)
    return lowered


def high_precision_unchecked(
    potential: Potential, start: Mapping[str, Number], digits: int
) -> HighPrecision:
    """Return what :func:`high_precision` does, without a test that grad Q = 0 at the start."""
    potential, values, beta0 = _at_start(potential, start)
    return HighPrecision(digits, beta0, _lowered(potential, values, Multiprecision(digits)))


def side_by_side(potentials: Sequence[NumericPotential]) -> NumericPotential:
    """Return the sum of Qs, each of coordinates of its own, in their order."""
    parts: list[tuple[tuple[int, ...], NumericBlock]] = []
    shift = 0
    for q in potentials:
        parts += [(tuple(shift + i for i in positions), f) for positions, f in q.functions.parts]
        shift += q.d
    start = tuple(pair for q in potentials for pair in q.start)
    beta0 = tuple(b for q in potentials for b in q.beta0)
    bounds = tuple(pair for q in potentials for pair in q.functions.bounds)
    return NumericPotential(shift, start, beta0, Blocks(tuple(parts), shift, bounds))


def _at_start(
    potential: Potential, start: Mapping[str, Number]
) -> tuple[Potential, Mapping[str, Fraction], tuple[Fraction, ...]]:
    """Return Q with numbers for the parameters of F, the exact start symbols, and beta_0."""
    if not potential.pieces:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.reason}")
    p = potential.parameterization
    start = with_pi(p.parameters, start)
    if missing := [name for name in p.parameters if name not in start]:
        raise InputError(f"the start gives no value for {', '.join(missing)}")
    numbers = {name: read_number(start[name], f"the parameter {name}") for name in p.parameters}
    values = read_start(p, {name: x for name, x in start.items() if name not in numbers})
    check_assumptions(potential, {**values, **numbers})
    if numbers:
        potential = specialize(potential, numbers)
    return potential, values, start_point(potential.parameterization, values)[1]


def _check_start(lowered: HighPrecision) -> None:
    """Raise unless grad Q(beta_0) = 0, to the digits that a multiple root leaves.

    It tells wrong branches of roots.
    """
    size = max(map(abs, lowered.gradient(lowered.beta0)))
    if not size <= mpmath.mpf(10) ** (-lowered.digits // 5):
        shown = mpmath.nstr(size, 3)
        raise NumericalError(
            f"the chosen branch of Q gives |grad Q| = {shown} at the start, where it must be 0"
        )


def _lowered(potential: Potential, values: Mapping[str, Fraction], backend: Backend) -> Blocks:
    p = potential.parameterization
    parts = []
    bounds = [(-math.inf, math.inf)] * p.d
    with backend.active():
        for i, (outputs, piece) in enumerate(zip(p.blocks, potential.pieces, strict=True)):
            own = p if len(p.blocks) == 1 else p.restrict(outputs)
            block = _block(own, piece, values, backend)
            if isinstance(backend, Float64):
                block = bounded(potential, i, values, block)
            parts.append((outputs, block))
            bounds[outputs[0]] = _bounds(piece, start_point(own, values)[1], values)
    return Blocks(tuple(parts), p.d, tuple(bounds))


def _bounds(
    piece: Piece, beta0: Sequence[Fraction], values: Mapping[str, Fraction]
) -> tuple[float, float]:
    """Return the ends of the domain next to beta_0 of one output, infinite where none is known."""
    if piece.domain is None or len(piece.betas) > 1:
        return -math.inf, math.inf
    (beta,), (start,) = piece.betas, beta0
    ends = [float(exact(wall.end(beta), values)) for wall in piece.domain.walls]
    low, high = ([x for x in ends if (x > start if side > 0 else x < start)] for side in (-1, 1))
    return max(low, default=-math.inf), min(high, default=math.inf)


def _block(
    p: Parameterization, piece: Piece, values: Mapping[str, Fraction], backend: Backend
) -> NumericBlock:
    """Make a piece ready to evaluate: Q on one block, whose F is that of *p*."""
    weights, beta0 = start_point(p, values)
    if isinstance(piece, Quadrature):
        if len(piece.betas) == 1:
            return IntegratedBlock(OutputOde(p, weights, beta0[0]), backend)
        if piece.lift is not None:
            return IntegratedBlock(SegmentOde(p, piece.lift, weights, beta0), backend)
        refuse_integrals([piece])
    constants = constants_of(piece, values)
    known = {name: backend.number(value) for name, value in {**values, **constants}.items()}
    if isinstance(piece, Parametric):
        ends = (exact(end, values).subs(constants) for end in piece.curve.interval)
        low, high = map(backend.number, ends)
        return ParametricBlock(piece, known, (low, high), backend)
    return FormulaBlock(piece, known, list(map(backend.number, beta0)), backend)


def refuse_integrals(pieces: Iterable[Piece]) -> None:
    """Raise NumericalError for a piece that cannot be evaluated."""
    for piece in pieces:
        lifted = isinstance(piece, Quadrature) and piece.lift is not None
        integral = any(g.has(sympy.Integral) for g in piece.gradient)
        if len(piece.betas) > 1 and not lifted and integral:
            names = ", ".join(b.name for b in piece.betas)
            raise NumericalError(f"no numeric form of Q on {names}: its gradient is an integral")
