"""Two statements about the path of a flow of the weights, at every time, put to the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise

import mpmath
import numpy as np

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree
from derive.limits.find import warped_time
from derive.model.parameterization import Parameterization
from derive.records import Potential
from derive.verdict import Finding, Verdict
from numerics.confirm.regression_problem import (
    SLACK,
    RegressionProblem,
    complete_problem,
    distance,
    stationarity,
)
from numerics.evaluate.copies import fixed_starts
from numerics.evaluate.lowering import HighPrecision, lower, side_by_side, unchecked
from numerics.evaluate.numbers import (
    Real,
    check_digits,
    rational,
    read_data,
    read_matrix,
    read_number,
)
from numerics.evaluate.start import broken_signs, read_start, start_point
from numerics.integrator.builder import Builder, Tape
from numerics.integrator.gradient_flow import (
    LOSSES,
    ConvergenceWatch,
    Slope,
    flow,
    slopes,
    steering,
)
from numerics.integrator.taylor import Stepper, integrate

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
        raise NumericalError(f"there is no Q to confirm: {potential.finding.words}")
    rows = read_matrix(X, p.d if p.d > 1 else None)
    copies = len(rows[0]) // p.d
    starts = fixed_starts(p.start_symbols, start, copies)
    problem = complete_problem(p, rows, [1] * len(rows), starts, np.random.default_rng(0))
    moments = tuple(read_number(t, "a time") for t in times)
    path = weights_path(problem, moments, digits + GUARD, loss)
    q = side_by_side([lower(potential, s) for s in starts])
    gradient = HighPrecision(digits + 2 * GUARD, (), q.functions).gradient
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


_TAU, _TIME = "warped time", "time t"  # with a space: no weight is called so
_GUARD = 6


@dataclass(frozen=True, slots=True)
class TimeWarp:
    """A flow of the weights beside grad Q, in mpf, at its n steps, to where it interpolates.

    Attributes:
        time, warped, warp: t of gradient flow in the weights, from 0; tau(t); g.
        path: beta(t), n rows of d.
        dual: where mirror flow of Q has grad Q at the time tau(t), the integral of lambda, which
            steers beta, over tau: n rows of d.
        gradient: grad Q(beta(t)), n rows of d.
        digits: those that the flow was run to.
        claims: that g is positive, tau onto [0, infinity) and g bounded: proved for this start, or
            assumed; empty where g = 1.
        floor: m with g >= m > 0, proved for all times; None where it was not.
    """

    time: tuple[Real, ...]
    warped: tuple[Real, ...]
    warp: tuple[Real, ...]
    path: tuple[tuple[Real, ...], ...]
    dual: tuple[tuple[Real, ...], ...]
    gradient: tuple[tuple[Real, ...], ...]
    digits: int
    claims: tuple[Finding, ...] = ()
    floor: Real | None = None

    @property
    def agreement(self) -> float:
        """The decimal digits to which grad Q is that of mirror flow, relative to its size."""
        most = self.digits + _GUARD
        return min(distance([*chain(*self.gradient)], [*chain(*self.dual)], most), float(most))

    @property
    def increasing(self) -> bool:
        """Whether g > 0 at every step, and tau increases from each to the next."""
        return min(self.warp) > 0 and all(a < b for a, b in pairwise(self.warped))

    def report(self) -> str:
        """Return a table of t, tau, g and beta as lines of text."""
        lines = [f"{'t':>12} {'tau':>12} {'g':>12}  beta"]
        for t, tau, g, beta in zip(self.time, self.warped, self.warp, self.path, strict=True):
            row = " ".join(f"{mpmath.nstr(x, 6):>12}" for x in (t, tau, g))
            lines.append(f"{row}  {' '.join(mpmath.nstr(x, 10) for x in beta)}")
        bounds = f"{mpmath.nstr(min(self.warp), 6)} <= g <= {mpmath.nstr(max(self.warp), 6)}"
        lines.append(f"{bounds}; the mirror flow of Q agrees to {self.agreement:.0f} digits")
        if self.floor is not None:
            lines.append(f"m = {mpmath.nstr(self.floor, 6)}")
        for claim in self.claims:
            proved = "proved: " if claim.verdict is Verdict.PROVED else ""
            lines.append(f"{proved}{claim.words}")
        return "\n".join(lines)


def time_warp(
    derivation: Derivation,
    X: Iterable[object],
    y: Iterable[object],
    start: Mapping[str, object],
    digits: int = 30,
) -> TimeWarp:
    """Run gradient flow in the weights, and compare grad Q with that of mirror flow on its path.

    ``w' = J^T lambda`` with ``lambda = -X^T (X F(w) - y)`` and ``tau' = g(w)``. In the time tau
    beta takes the path of mirror flow of Q, ``d/dtau grad Q(beta) = lambda``, where grad Q(beta(t))
    is the integral of ``g lambda``, which runs along with the weights and knows nothing of Q.

    Args:
        derivation: a Q that was proved, with its warp g.
        X, y: m rows of d numbers, and m numbers.
        start: a number for every start symbol.
        digits: decimal digits of the flow.

    Returns:
        Both at the steps of the flow in the weights, with t, tau and g.

    Raises:
        InputError: a number, a shape or a name is wrong, or Q assumes another start.
        NumericalError: Q has no numeric form, or the flow does not converge.

    Source: Azulay et al. 2021, section 5 and appendix B.1.
    """
    potential, g = derivation.potential, derivation.warping.g
    p = potential.parameterization
    rows, target = read_data(X, y, p.d)
    check_digits(digits)
    if g is None or not potential.pieces:
        raise NumericalError(f"there is no Q to flow along: {potential.finding.words}")
    if p.parameters:
        raise InputError(f"give the parameters numbers in F itself: {', '.join(p.parameters)}")
    values, working = read_start(p, start), digits + _GUARD
    _, form = unchecked(potential, values, working)
    field, observed = _programs(p, from_sympy(g), (LOSSES["squared"], rows, target))
    watch = ConvergenceWatch(observed, target, working, Fraction(1, 10**working))
    states, points = list[tuple[Real, ...]](), list[tuple[Real, ...]]()

    def stop(run: Stepper) -> bool:
        done = watch(run)
        states.append(run.state)
        points.append(watch.beta)
        return done

    integrate(field, (*start_point(p, values)[0], *[Fraction(0)] * (p.d + 2)), working, stop)
    path, warp = tuple(x[:-1] for x in points), tuple(x[-1] for x in points)
    _refuse_broken(potential, states, warp, values)
    *_, warped, time = zip(*states, strict=True)
    dual = tuple(state[p.p : -2] for state in states)
    gradient = tuple(tuple(form.gradient(b)) for b in path)
    proved, floor = warped_time(derivation, values), None
    if proved is not None and proved.floor is not None:
        with mpmath.workdps(working + _GUARD):
            floor = mpmath.sqrt(rational(proved.floor))
    claims = () if proved is None else proved.findings
    return TimeWarp(time, warped, warp, path, dual, gradient, digits, claims, floor)


def _programs(
    p: Parameterization, g: Tree, fit: tuple[Slope, Rows, Sequence[Fraction]]
) -> tuple[Tape, Tape]:
    """Return the tape of w', of g lambda, tau' = g and t' = 1, and that of F, g and residuals."""
    builder = Builder((*p.weights, *(f"dual {i}" for i in range(p.d)), _TAU, _TIME))
    outputs = tuple(builder.tree(tree) for tree in p.trees)
    steered = steering(*fit)(builder, outputs)
    moves = builder.raised(p.rates, builder.reverse(outputs, steered)[: p.p])
    pace = builder.tree(g)
    pushed = [builder.multiply(pace, x) for x in steered]
    field = builder.tape([*moves, *pushed, pace, builder.constant(Fraction(1))])
    return field, builder.tape([*outputs, pace, *slopes(*fit)(builder, outputs)])


def _refuse_broken(
    potential: Potential,
    states: Sequence[Sequence[Real]],
    warp: Sequence[Real],
    values: Mapping[str, Fraction],
) -> None:
    """Raise where the flow leaves what Q was derived for: g > 0, and signs that are kept."""
    names = potential.parameterization.weights
    first, *rest = (dict(zip(names, state, strict=False)) for state in states)
    broken = next(filter(None, (broken_signs(potential.pieces, first, w) for w in rest)), ())
    if broken or min(warp) <= 0:
        failed = f"{broken[0]} keeps its sign" if broken else "g > 0"
        shown = f"fails on that from {', '.join(f'{name} = {x}' for name, x in values.items())}"
        raise NumericalError(f"Q was derived for a flow on which {failed}, which {shown}")
