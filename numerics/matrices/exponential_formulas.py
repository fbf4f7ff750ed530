"""Both exponential formulas against gradient flow in the weights, and the time-ordered one.

Magnus steps: Blanes, Casas, Ros, "Improved high order integrators based on the Magnus expansion",
BIT 40 (2000): the method of order 6 on three Gauss points. It is symmetric in time, so that its
error has even powers of the step only, from the 6th; extrapolation takes them away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import mpmath

from derive.errors import InputError, NumericalError
from numerics.matrices.commuting import commuting_solution
from numerics.matrices.matrix_flow import GUARD, MatrixState, Measurements, matrix_flow
from numerics.reals import Real

Generator: TypeAlias = Callable[[Sequence[Real]], Sequence[Real]]
"""Returns A(t), an mpmath matrix, at each of some increasing times."""
_FIRST_POWER = 6


@dataclass(frozen=True, slots=True)
class PathComparison:
    """Distances ``|formula - beta(t)|/|beta(t)|`` of both formulas from the flow, in mpf."""

    time: tuple[Real, ...]
    ordered: tuple[Real, ...]
    commuting: tuple[Real, ...]
    digits: int

    def report(self) -> str:
        """Return a table of the distances as lines of text."""
        lines = [f"{'t':>10} {'time-ordered':>14} {'commuting':>14}"]
        for row in zip(self.time, self.ordered, self.commuting, strict=True):
            t, *gaps = (mpmath.nstr(x, 3) for x in row)
            lines.append(f"{t:>10} {gaps[0]:>14} {gaps[1]:>14}")
        return "\n".join(lines)


def compare_paths(
    measurements: Measurements, start: Iterable[object], times: Iterable[object], digits: int = 12
) -> PathComparison:
    """Measure how far both exponential formulas are from gradient flow on W W^T.

    ``W' = -2 X*(r(t)) W`` is linear in W for given misfits r(t), so that ``beta(t) = M(t) beta_0
    M(t)^T`` with ``M' = -2 X*(r(t)) M``, ``M(0) = I``. The misfits are those of the flow in weights
    at Gauss points; M is a product of exponentials. Only where the A_i commute it is
    ``exp(X*(s))``.

    Args:
        measurements, start, times: as for :func:`matrix_flow`.
        digits: those to which M is computed from one time to the next.

    Raises:
        InputError: a number or a shape is wrong.
        NumericalError: the times are too far apart.

    Source: Gunasekar et al. 2017, on the flow of general measurements.
    """
    states = matrix_flow(measurements, start, times, digits)
    with mpmath.workdps(digits + GUARD):
        origin = matrix_flow(measurements, start, [0], digits)[0]
        before, total = origin, mpmath.eye(measurements.size)
        ordered, commuting = [], []
        for state in states:
            if state.time > before.time:
                total = _between(measurements, before, state, digits) * total
            before, beta = state, state.beta
            closed = commuting_solution(measurements, state.integral, origin.beta)
            ordered.append(_size(total * origin.beta * total.T - beta) / _size(beta))
            commuting.append(_size(closed - beta) / _size(beta))
        instants = tuple(state.time for state in states)
        return PathComparison(instants, tuple(ordered), tuple(commuting), digits)


def _between(
    measurements: Measurements, before: MatrixState, after: MatrixState, digits: int
) -> Real:
    """Return the time-ordered exponential of -2 X*(r) from one state to the next."""

    def generator(times: Sequence[Real]) -> list[Real]:
        path = matrix_flow(measurements, before.weights, times, digits)
        return [-2 * measurements.adjoint(state.misfit) for state in path]

    return time_ordered_exponential(generator, after.time - before.time, digits).value


@dataclass(frozen=True, slots=True, eq=False)
class TimeOrdered:
    """M (n, n), its relative error, and the products of 2, 4, 8, .. *steps* exponentials."""

    value: Real
    error: Real
    steps: int
    products: tuple[Real, ...]


def time_ordered_exponential(
    generator: Generator, time: Real, digits: int = 20, max_steps: int = 256
) -> TimeOrdered:
    """Return M(T) of ``M' = A(t) M``, ``M(0) = I``.

    ``M = T exp int_0^T A`` is the limit of products of ``exp(Omega)`` over short steps, later steps
    to the left; where all A(t) commute it is ``exp(int A)``, else it is not.

    Args:
        generator: gives A at increasing times in [0, T].
        time: T.
        digits: those to which two extrapolations must agree, relative to M.
        max_steps: of the finest product.

    Raises:
        NumericalError: *max_steps* do not suffice.

    Source: Blanes, Casas, Ros 2000.

    >>> turn = mpmath.matrix([[0, 1], [-1, 0]])
    >>> M = time_ordered_exponential(lambda times: [2 * t * turn for t in times], 1, 20).value
    >>> mpmath.nstr(M[0, 0], 15) == mpmath.nstr(mpmath.cos(1), 15)
    True
    """
    if max_steps < 4:
        raise InputError("max_steps must be at least 4")
    with mpmath.workdps(digits + GUARD):
        tolerance = mpmath.mpf(10) ** -digits
        steps, products = 2, [_product(generator, mpmath.mpf(time), 2)]
        column, error = products[:], mpmath.inf
        while error > tolerance:
            if 2 * steps > max_steps:
                agreed = f"{steps} Magnus steps agree to {mpmath.nstr(error, 2)} only"
                advice = "ask for fewer digits or a shorter time"
                raise NumericalError(f"{agreed}, not to {digits} digits; {advice}")
            steps *= 2
            products.append(_product(generator, mpmath.mpf(time), steps))
            best, column = column[-1], _extrapolated(column, products[-1])
            error = _size(column[-1] - best) / _size(column[-1])
        return TimeOrdered(column[-1], error, steps, tuple(products))


def _size(matrix: Real) -> Real:
    """Return the Frobenius norm of an mpmath matrix."""
    return mpmath.norm(matrix, 2)


def _extrapolated(column: list[Real], finest: Real) -> list[Real]:
    """Return the next row of Richardson's table, for errors in h^6, h^8, .. and half the step."""
    row = [finest]
    for j, coarse in enumerate(column):
        row.append(row[-1] + (row[-1] - coarse) / (2 ** (_FIRST_POWER + 2 * j) - 1))
    return row


def _product(generator: Generator, time: Real, steps: int) -> Real:
    h, shift = time / steps, mpmath.sqrt(mpmath.mpf(3) / 20)
    nodes = [h * (k + c) for k in range(steps) for c in (0.5 - shift, mpmath.mpf(0.5), 0.5 + shift)]
    values = generator(nodes)
    total = mpmath.eye(values[0].rows)
    for k in range(steps):
        total = mpmath.expm(_exponent(h, *values[3 * k : 3 * k + 3])) * total
    return total


def _exponent(h: Real, first: Real, middle: Real, last: Real) -> Real:
    """Return Omega of one step, from A at its Gauss points (Blanes, Casas, Ros 2000)."""
    a1 = h * middle
    a2 = mpmath.sqrt(15) * h / 3 * (last - first)
    a3 = h * 10 / 3 * (last - 2 * middle + first)
    c1 = _bracket(a1, a2)
    c2 = -_bracket(a1, 2 * a3 + c1) / 60
    return a1 + a3 / 12 + _bracket(-20 * a1 - a3 + c1, a2 + c2) / 240


def _bracket(a: Real, b: Real) -> Real:
    return a * b - b * a
