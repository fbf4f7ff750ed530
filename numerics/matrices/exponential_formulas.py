"""Both exponential formulas against gradient flow in the weights, at given times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mpmath

from numerics.matrices.commuting import commuting_solution
from numerics.matrices.magnus import size, time_ordered_exponential
from numerics.matrices.matrix_flow import GUARD, MatrixState, matrix_flow
from numerics.matrices.measurements import Measurements
from numerics.reals import Real


@dataclass(frozen=True, slots=True)
class PathComparison:
    """Relative distances ``|formula - beta(t)|/|beta(t)|`` from the flow in weights, in mpf.

    Attributes:
        time: the n times.
        ordered: of ``M(t) beta_0 M(t)^T``, with M the time-ordered exponential.
        commuting: of ``exp(X*(s)) beta_0 exp(X*(s))``.
        digits: those that M was computed to.
    """

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
        measurements: A_1 .. A_m and y.
        start: W(0), n rows of k numbers.
        times: increasing, >= 0.
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
            ordered.append(size(total * origin.beta * total.T - beta) / size(beta))
            commuting.append(size(closed - beta) / size(beta))
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
