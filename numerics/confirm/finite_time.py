"""The statement at every time, put to flows of the weights: grad Q(beta(t)) = X^T s(t), s rising.

On losses that decrease, with rows x_i that carry their labels, s_i(t) = int_0^t g a_i with a_i > 0.
The flow knows nothing of Q, and Q nothing of the flow: s is what solves the equations for its path.
A path on which they have no solution, or on which some s_i falls, is none of a mirror flow of Q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from numerics.confirm.agreement import SLACK, stationarity
from numerics.confirm.regression_problem import RegressionProblem, complete_problem
from numerics.evaluate.copies import fixed_starts
from numerics.evaluate.lowering import high_precision
from numerics.evaluate.numbers import read_matrix, read_number
from numerics.flow.gradient_flow import flow
from numerics.reals import Real, rational

GUARD = 8
"""Digits that the flow is run to beyond those asked for."""
TIMES = ("1/4", 1, 4)
Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, slots=True)
class FiniteTime:
    """The path of a flow at some times, and the multipliers s that solve grad Q = X^T s there.

    Attributes:
        times, path, multipliers: t; beta(t), n rows of d; s(t), n rows of m.
        agreement: the least digits to which grad Q(beta(t)) is X^T s(t).
        digits: those that were asked for.
    """

    times: tuple[Fraction, ...]
    path: tuple[tuple[Real, ...], ...]
    multipliers: tuple[tuple[Real, ...], ...]
    agreement: float
    digits: int

    @property
    def rising(self) -> bool:
        """Whether every s_i is positive, and greater at each time than at the one before."""
        rows = ((mpmath.mpf(0),) * len(self.multipliers[0]), *self.multipliers)
        return all(a < b for old, new in pairwise(rows) for a, b in zip(old, new, strict=True))

    @property
    def passed(self) -> bool:
        """Whether the path is one of a mirror flow of Q, to the digits that were asked for."""
        return self.rising and self.agreement >= self.digits - SLACK

    def report(self) -> str:
        """Return a table of t, beta and s as lines of text."""
        lines = [f"{'t':>8}  beta; s"]
        for t, beta, s in zip(self.times, self.path, self.multipliers, strict=True):
            both = ("  ".join(mpmath.nstr(x, 8) for x in row) for row in (beta, s))
            lines.append(f"{t!s:>8}  {'; '.join(both)}")
        rising = "rise" if self.rising else "do not rise"
        lines.append(f"grad Q = X^T s to {self.agreement:.0f} digits; all s_i {rising}")
        return "\n".join(lines)


def confirm_finite_time(
    derivation: Derivation,
    X: Iterable[object],
    start: Mapping[str, object],
    times: Iterable[object] = TIMES,
    digits: int = 30,
    *,
    loss: str = "exponential",
) -> FiniteTime:
    """Run gradient flow on a decreasing loss, and solve grad Q(beta(t)) = X^T s(t) on its path.

    Args:
        derivation: a Q that was proved, in coordinates.
        X: m independent rows that carry their labels; of a single output as many columns as there
            are copies of it.
        start: numbers for start symbols; for copies, a sequence gives each its own.
        times: at which to look, increasing.
        digits: decimal digits to look for.
        loss: exponential or logistic.

    Raises:
        InputError: a number, a shape or a name is wrong, or the rows are not independent.
        NumericalError: there is no Q, it has no numeric form, or the flow is too slow.
    """
    potential = derivation.potential
    p = potential.parameterization
    if derivation.direction is not None:
        raise InputError("flows need a number for the dimension: give outputs in components")
    if not potential.pieces:
        raise NumericalError(f"there is no Q to confirm: {potential.finding.reason}")
    given = [list(row) for row in X]  # type: ignore[call-overload]
    copies = 1 if p.d > 1 or not given else len(given[0])
    rows = read_matrix(given, p.d * copies)
    starts = fixed_starts(p.start_symbols, start, copies)
    problem = complete_problem(p, rows, [1] * len(rows), starts, np.random.default_rng(0))
    moments = tuple(read_number(t, "a time") for t in times)
    path = weights_path(problem, moments, digits + GUARD, loss)
    forms = [high_precision(potential, s, digits + 2 * GUARD) for s in starts]

    def gradient(beta: Sequence[Real]) -> list[Real]:
        parts = (beta[i * p.d : (i + 1) * p.d] for i in range(copies))
        return [g for form, part in zip(forms, parts, strict=True) for g in form.gradient(part)]

    return along_path(gradient, rows, (moments, path), digits)


def weights_path(
    problem: RegressionProblem, times: Sequence[Fraction], digits: int, loss: str
) -> tuple[tuple[Real, ...], ...]:
    """Return beta at increasing times of the flow in the weights."""
    if not times or times[0] <= 0 or any(a >= b for a, b in pairwise(times)):
        raise InputError("times must be positive and increase")
    state: dict[str, object] = dict(problem.origin)
    path, before = [], Fraction(0)
    for t in times:
        end = flow(problem.model, problem.X, problem.y, state, digits, loss=loss, time=t - before)
        state, before = dict(zip(problem.model.weights, end.weights, strict=True)), t
        path.append(end.limit)
    return tuple(path)


def along_path(
    gradient: Callable[[Sequence[Real]], Sequence[Real]],
    X: Rows,
    walk: tuple[tuple[Fraction, ...], tuple[tuple[Real, ...], ...]],
    digits: int,
) -> FiniteTime:
    """Solve grad Q(beta) = X^T s on a path, given as times and predictors, for any gradient."""
    times, path = walk
    with mpmath.workdps(digits + 2 * GUARD):
        rows = mpmath.matrix([[rational(x) for x in row] for row in X])
        gram = rows * rows.T
        slopes = [list(gradient(beta)) for beta in path]
        try:
            solved = [mpmath.lu_solve(gram, rows * mpmath.matrix(g)) for g in slopes]
        except ZeroDivisionError:
            raise InputError("the rows of X are not independent: s would not be unique") from None
    agreement = min(stationarity(X, g, digits + 2 * GUARD) for g in slopes)
    agreement = min(agreement, float(digits + GUARD))
    return FiniteTime(times, path, tuple(map(tuple, solved)), agreement, digits)
