"""The time-ordered exponential of a matrix that changes with time, by Magnus steps.

Blanes, Casas, Ros, "Improved high order integrators based on the Magnus expansion", BIT 40 (2000):
the method of order 6 on three Gauss points. It is symmetric in time, so that its error has even
powers of the step only, from the 6th; extrapolation takes them away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import mpmath

from derive.errors import InputError, NumericalError
from numerics.reals import Real

Generator: TypeAlias = Callable[[Sequence[Real]], Sequence[Real]]
"""Returns A(t), an mpmath matrix, at each of some increasing times."""
_GUARD = 6
_FIRST_POWER = 6


@dataclass(frozen=True, slots=True, eq=False)
class TimeOrdered:
    """A time-ordered exponential and how it was reached.

    Attributes:
        value: M (n, n), an mpmath matrix.
        error: the change by the last extrapolation, relative to M.
        steps: of the finest product of exponentials.
        products: the products themselves, before extrapolation, of 2, 4, 8, .. steps.
    """

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
        digits: the digits to which two extrapolations must agree, relative to M.
        max_steps: those of the finest product.

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
    with mpmath.workdps(digits + _GUARD):
        tolerance = mpmath.mpf(10) ** -digits
        steps, products = 2, [_product(generator, mpmath.mpf(time), 2)]
        column, error = [products[0]], mpmath.inf
        while error > tolerance:
            if 2 * steps > max_steps:
                raise NumericalError(
                    f"{steps} Magnus steps agree to {mpmath.nstr(error, 2)} only, not to "
                    f"{digits} digits; ask for fewer digits or a shorter time"
                )
            steps *= 2
            products.append(_product(generator, mpmath.mpf(time), steps))
            best, column = column[-1], _extrapolated(column, products[-1])
            error = size(column[-1] - best) / size(column[-1])
        return TimeOrdered(column[-1], error, steps, tuple(products))


def size(matrix: Real) -> Real:
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
