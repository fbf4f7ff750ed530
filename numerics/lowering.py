"""Numbers from a derived Q: float64 arrays in NumPy, or any precision in mpmath.

Both evaluate the printed form as it stands, names in the order of their definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from derive.errors import InputError, NumericalError
from derive.records import Potential
from derive.stages.piece import Piece
from numerics.backend import Array, Backend, Float64, Multiprecision, exact
from numerics.coupled import Segment
from numerics.forms import (
    ClosedForm,
    Form,
    ParametricForm,
    has_form,
    is_integral,
    refuse,
)
from numerics.lifted import LiftedForm
from numerics.numbers import read_number
from numerics.quadrature import Lift
from numerics.start import check_assumptions, constants_of, read_start, specialize, start_point
from numerics.tiered import TieredForm, bregman, tiered

_CHECK_DIGITS = 40


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Q as the sum over blocks: for each, the positions of its coordinates and its form."""

    parts: tuple[tuple[tuple[int, ...], Form], ...]
    d: int

    def value(self, beta: Sequence[Array]) -> Array:
        total = 0 * beta[0]
        for positions, form in self.parts:
            total = total + form.value([beta[i] for i in positions])
        return total

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        found: list[Array] = list(beta)
        for positions, form in self.parts:
            for i, g in zip(positions, form.gradient([beta[i] for i in positions]), strict=True):
                found[i] = g
        return found

    def hessian(self, beta: Sequence[Array]) -> list[list[Array]]:
        found: list[list[Array]] = [[0 * b for b in beta] for _ in beta]
        for positions, form in self.parts:
            entries = iter(form.hessian([beta[i] for i in positions]))
            for i in positions:
                for j in positions:
                    found[i][j] = next(entries)
        return found

    def curvature(self, beta: Sequence[Array]) -> list[Array]:
        found: list[Array] = list(beta)
        for positions, form in self.parts:
            entries = form.hessian([beta[i] for i in positions])
            for i, entry in zip(positions, entries[:: len(positions) + 1], strict=True):
                found[i] = entry
        return found

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        total = 0 * b[0]
        for positions, form in self.parts:
            left, right = ([x[i] for i in positions] for x in (b, b0))
            total = total + bregman(form, left, right)
        return total

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        found: list[Array] = list(y)
        for positions, form in self.parts:
            parts = form.inverse_gradient([y[i] for i in positions])
            for i, b in zip(positions, parts, strict=True):
                found[i] = b
        return found


@dataclass(frozen=True, slots=True)
class NumericPotential:
    """Q at a start, in float64; calling it evaluates Q.

    Coordinates run along the last axis: beta of shape (d,) or (n, d). For d = 1 a scalar, or an
    array whose last axis is not of length 1, is read elementwise, as is a vector. Outside the
    domain of Q every result is nan.

    Attributes:
        d: the number of coordinates.
        start: the exact values of the start symbols.
        beta0: F(w_0), where grad Q = 0.
    """

    d: int
    start: tuple[tuple[str, Fraction], ...]
    beta0: tuple[float, ...]
    _blocks: _Blocks = field(repr=False)

    def __call__(self, beta: Any) -> Any:
        """Return Q, which is 0 at beta_0 or up to a constant: a float, or an array of shape (n,).

        >>> from derive import Parameterization, derive
        >>> Q = lower(derive(Parameterization.parse(["w"])).potential, {"w_0": 1})
        >>> Q(3.0), Q([1.0, 2.0]).tolist()
        (2.0, [0.0, 0.5])
        """
        columns, _ = self._split(beta)
        with Float64().active():
            return _plain(self._blocks.value(columns))

    def gradient(self, beta: Any) -> Any:
        """Return grad Q(beta), of the shape of beta."""
        columns, stacked = self._split(beta)
        with Float64().active():
            return self._join(self._blocks.gradient(columns), stacked)

    def hessian(self, beta: Any) -> Any:
        """Return the Hessian of Q at points of shape (d,) or (n, d): (d, d) or (n, d, d)."""
        columns, _ = self._split(beta)
        with Float64().active():
            rows = self._blocks.hessian(columns)
            return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def curvature(self, beta: Any) -> Any:
        """Return the diagonal of the Hessian, d^2 Q/dbeta_i^2, of the shape of beta."""
        columns, stacked = self._split(beta)
        with Float64().active():
            return self._join(self._blocks.curvature(columns), stacked)

    @property
    def separable(self) -> bool:
        """Whether Q is a sum of functions of one coordinate each."""
        return all(len(positions) == 1 for positions, _ in self._blocks.parts)

    def inverse_gradient(self, y: Any) -> Any:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        columns, stacked = self._split(y)
        with Float64().active():
            return self._join(self._blocks.inverse_gradient(columns), stacked)

    def bregman(self, b: Any, b0: Any) -> Any:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        left, right = np.broadcast_arrays(np.asarray(b, float), np.asarray(b0, float))
        at, origin = self._split(left)[0], self._split(right)[0]
        with Float64().active():
            return _plain(self._blocks.bregman(at, origin))

    @property
    def plain(self) -> NumericPotential:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        parts = tuple(
            (i, f.plain if isinstance(f, TieredForm) else f) for i, f in self._blocks.parts
        )
        return replace(self, _blocks=_Blocks(parts, self.d))

    def _split(self, values: Any) -> tuple[list[Array], bool]:
        """Return one array per coordinate, and whether they were an axis of *values*."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("beta must be an array of real numbers") from None
        if self.d == 1 and not (array.ndim > 1 and array.shape[-1] == 1):
            return [array], False
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return [array[..., i] for i in range(self.d)], True

    def _join(self, columns: Sequence[Array], stacked: bool) -> Any:
        return np.stack(columns, axis=-1) if stacked else _plain(columns[0])


def _plain(array: Array) -> Any:
    return float(array) if np.ndim(array) == 0 else np.array(array)


@dataclass(frozen=True, slots=True)
class HighPrecision:
    """Q at a start, in mpf of the given decimal digits and guard digits."""

    digits: int
    beta0: tuple[Fraction, ...]
    _blocks: _Blocks = field(repr=False)

    def value(self, beta: Sequence[Any]) -> Any:
        """Return Q at d numbers, up to an additive constant; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            return self._blocks.value(_points(beta, backend))[0]

    def gradient(self, beta: Sequence[Any]) -> list[Any]:
        """Return the d numbers grad Q; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            return [g[0] for g in self._blocks.gradient(_points(beta, backend))]


def _points(beta: Sequence[Any], backend: Multiprecision) -> list[Array]:
    # Arrays of one number, as NumPy unpacks those of shape ().
    return [backend.array([read_number(x, "beta")]) for x in beta]


def lower(
    potential: Potential, start: Mapping[str, Any], *, check: bool = True
) -> NumericPotential:
    """Return Q with numbers for its start symbols, in float64.

    Args:
        potential: a derived Q.
        start: an integer, fraction, text such as "1/3", float or mpf for each start symbol.
        check: whether grad Q = 0 at the start is tested, which tells wrong branches of roots.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or grad Q is not 0 at the start.
    """
    checked = high_precision(potential, start, _CHECK_DIGITS, check=check)
    potential, start = _with_parameters(potential, start)
    values = read_start(potential.parameterization, start)
    blocks = _lowered(potential, values, Float64())
    beta0 = tuple(float(b) for b in checked.beta0)
    return NumericPotential(len(beta0), tuple(values.items()), beta0, blocks)


def side_by_side(potentials: Sequence[NumericPotential]) -> NumericPotential:
    """Return the sum of Qs, each of coordinates of its own, in their order."""
    parts: list[tuple[tuple[int, ...], Form]] = []
    shift = 0
    for q in potentials:
        parts += [(tuple(shift + i for i in positions), f) for positions, f in q._blocks.parts]
        shift += q.d
    start = tuple(pair for q in potentials for pair in q.start)
    beta0 = tuple(b for q in potentials for b in q.beta0)
    return NumericPotential(shift, start, beta0, _Blocks(tuple(parts), shift))


def high_precision(
    potential: Potential, start: Mapping[str, Any], digits: int, *, check: bool = True
) -> HighPrecision:
    """Return Q with numbers for its start symbols, in mpf.

    Args:
        potential: a derived Q.
        start: as for :func:`lower`.
        digits: decimal digits to work to.
        check: whether grad Q = 0 at the start is tested, which tells wrong branches of roots.

    Raises:
        InputError, NumericalError: as :func:`lower` does.
    """
    if not potential.pieces:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.reason}")
    potential, start = _with_parameters(potential, start)
    values = read_start(potential.parameterization, start)
    check_assumptions(potential, values)
    _, beta0 = start_point(potential.parameterization, values)
    lowered = HighPrecision(digits, beta0, _lowered(potential, values, Multiprecision(digits)))
    if check:
        _check_start(lowered)
    return lowered


def _with_parameters(
    potential: Potential, start: Mapping[str, Any]
) -> tuple[Potential, Mapping[str, Any]]:
    """Give the parameters of F their numbers."""
    names = potential.parameterization.parameters
    if not names:
        return potential, start
    if missing := [name for name in names if name not in start]:
        raise InputError(f"the start gives no value for {', '.join(missing)}")
    values = {name: read_number(start[name], f"the parameter {name}") for name in names}
    rest = {name: value for name, value in start.items() if name not in names}
    return specialize(potential, values), rest


def _check_start(lowered: HighPrecision) -> None:
    """Raise unless grad Q(beta_0) = 0, to the digits that a multiple root leaves."""
    size = max(map(abs, lowered.gradient(lowered.beta0)))
    if not size <= mpmath.mpf(10) ** (-lowered.digits // 5):
        shown = mpmath.nstr(size, 3)
        raise NumericalError(
            f"the chosen branch of Q gives |grad Q| = {shown} at the start, where it must be 0"
        )


def _lowered(potential: Potential, values: Mapping[str, Fraction], backend: Backend) -> _Blocks:
    p = potential.parameterization
    parts = []
    with backend.active():
        for outputs, piece in zip(p.blocks, potential.pieces, strict=True):
            parts.append((outputs, _form(potential, outputs, piece, values, backend)))
    if isinstance(backend, Float64):
        forms = [tiered(potential, i, values, form) for i, (_, form) in enumerate(parts)]
        parts = [(outputs, form) for (outputs, _), form in zip(parts, forms, strict=True)]
    return _Blocks(tuple(parts), p.d)


def _form(
    potential: Potential,
    outputs: tuple[int, ...],
    piece: Piece,
    values: Mapping[str, Fraction],
    backend: Backend,
) -> Form:
    if not has_form(piece):
        raise refuse(piece)
    p = potential.parameterization
    block = p if len(p.blocks) == 1 else p.restrict(outputs)
    weights, beta0 = start_point(block, values)
    known = {name: backend.number(value) for name, value in values.items()}
    constants = constants_of(piece, values)
    known.update((name, backend.number(value)) for name, value in constants.items())
    if piece.curve is not None:
        ends = piece.curve.interval
        low, high = (backend.number(exact(end, values).subs(constants)) for end in ends)
        return ParametricForm(piece, known, (low, high), backend)
    if piece.kind == "quadrature" and len(piece.betas) == 1:
        return LiftedForm(Lift(block, weights, beta0[0]), backend)
    if piece.lift is not None and is_integral(piece):
        return LiftedForm(Segment(block, piece.lift, weights, beta0), backend)
    return ClosedForm(piece, known, [backend.number(b) for b in beta0], backend)
