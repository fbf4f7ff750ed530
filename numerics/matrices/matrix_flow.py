"""Gradient flow of W W^T at high precision: the witness of both exponential formulas.

It knows the entries of ``W W^T`` and takes its gradient by reverse mode; no formula for the path is
used. Beside the weights it integrates the misfits, which the formulas are written in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise

import mpmath

from derive.errors import InputError
from numerics.evaluate.numbers import read_vector
from numerics.flow.builder import Builder
from numerics.flow.tape import Tape
from numerics.flow.taylor import integrate
from numerics.matrices.measurements import Measurements, read_rows
from numerics.reals import Real, check_digits, rational

GUARD = 6
"""Digits that a path is run to beyond those asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class MatrixState:
    """A point of the flow, in mpmath matrices and numbers.

    Attributes:
        time: t.
        weights: W (n, k).
        integral: ``s_i = -2 int_0^t r_i`` (m), the dual time that the formulas run in.
        misfit: ``r_i = <A_i, beta> - y_i`` (m).
    """

    time: Real
    weights: Real
    integral: tuple[Real, ...]
    misfit: tuple[Real, ...]

    @property
    def beta(self) -> Real:
        """The predictor ``W W^T`` (n, n), in the working precision."""
        return self.weights * self.weights.T


def matrix_flow(
    measurements: Measurements, start: Iterable[object], times: Iterable[object], digits: int = 30
) -> tuple[MatrixState, ...]:
    """Run gradient flow of ``|r|^2/2``, ``r_i = <A_i, W W^T> - y_i``, to each of the times.

    ``W' = -grad_W |r|^2/2 = -2 X*(r) W`` with ``X*(r) = sum_i r_i A_i``; the last form is not used.

    Args:
        measurements: A_1 .. A_m and y.
        start: W(0), n rows of k numbers; beta(0) = W(0) W(0)^T.
        times: increasing, >= 0.
        digits: decimal digits of the weights, which carry guard digits besides.

    Raises:
        InputError: a number or a shape is wrong.
        NumericalError: the flow is too slow.

    Source: Gunasekar et al. 2017, up to the scale of time.

    >>> data = Measurements.read([[[1, 0], [0, 1]]], [2])
    >>> (end,) = matrix_flow(data, [[1, 0], [0, "1/2"]], [20], digits=20)
    >>> mpmath.nstr(end.beta[0, 0] + end.beta[1, 1], 12)
    '2.0'
    """
    rows, n = read_rows(start, "the start W(0)"), measurements.size
    if len(rows) != n:
        raise InputError(f"the start W(0) has {len(rows)} rows but the measurements have {n}")
    instants = read_vector(times, "times")
    if instants[0] < 0 or any(a >= b for a, b in pairwise(instants)):
        raise InputError("times must be at least 0 and increase")
    check_digits(digits)
    field = _field(measurements, len(rows[0]))
    state: Sequence[Real] = [*chain(*rows), *[Fraction(0)] * len(measurements.target)]
    found, before = [], Fraction(0)
    for time in instants:
        state = integrate(field, state, digits + GUARD, time=time - before).state
        before = time
        found.append(_state(measurements, len(rows[0]), time, state, digits))
    return tuple(found)


def _field(measurements: Measurements, k: int) -> Tape:
    """Return the tape of W' and of s' = -2 r, in n k + m registers."""
    n, m = measurements.size, len(measurements.target)
    weights = [f"w {i} {j}" for i in range(n) for j in range(k)]
    builder = Builder((*weights, *(f"s {i}" for i in range(m))))
    w = [[builder.input(f"w {i} {j}") for j in range(k)] for i in range(n)]
    beta = [[builder.dot(a, b) for b in w] for a in w]
    misfits = [
        builder.linear(((beta[i][j], a[i][j]) for i in range(n) for j in range(n)), -y)
        for a, y in zip(measurements.matrices, measurements.target, strict=True)
    ]
    falling = [builder.linear([(r, Fraction(-1))]) for r in misfits]
    moves = builder.reverse(misfits, falling)[: len(weights)]
    return builder.tape([*moves, *(builder.linear([(r, Fraction(-2))]) for r in misfits)])


def _state(
    measurements: Measurements, k: int, time: Fraction, state: Sequence[Real], digits: int
) -> MatrixState:
    n = measurements.size
    with mpmath.workdps(digits + GUARD):
        weights = mpmath.matrix([list(state[i * k : (i + 1) * k]) for i in range(n)])
        beta = weights * weights.T
        misfit = tuple(
            mpmath.fsum(
                b * x.numerator / x.denominator for b, x in zip(beta, chain(*a), strict=True)
            )
            - rational(y)
            for a, y in zip(measurements.matrices, measurements.target, strict=True)
        )
        return MatrixState(rational(time), weights, tuple(state[n * k :]), misfit)
