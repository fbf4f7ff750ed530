"""The path of gradient flow in the weights, beside that of mirror flow of Q in its own time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise

import mpmath
import numpy as np

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree
from derive.limits.find import warped_time
from derive.printable import Held
from derive.records import Potential
from derive.verdict import Finding, Verdict
from numerics.confirm.regression_problem import SLACK, RegressionProblem, complete_problem, distance
from numerics.evaluate.lowering import fixed_starts, joint
from numerics.evaluate.numbers import Real, check_digits, rational, read_data, read_number
from numerics.evaluate.start import broken_signs, refuse_missing
from numerics.integrator.gradient_flow import ConvergenceWatch, Steered, read_loss
from numerics.integrator.implicit import Automatic
from numerics.integrator.jets import Program, bits_of
from numerics.integrator.taylor import Stepper, integrate

_TAU, _TIME = "warped time", "time t"  # with a space: no weight is called so
GUARD = 6
"""Digits that the flow is run to beyond those asked for."""


@dataclass(frozen=True, slots=True, repr=False)
class MirrorPath(Held):
    """A flow of the weights beside grad Q, in mpf, at n times.

    Attributes:
        time, warped, warp: t of gradient flow in the weights; tau(t); g.
        path: beta(t), n rows of d.
        multipliers: s(t), the integral of -dL/dz over tau, one for each row of X: n rows of m.
        dual: where mirror flow of Q has grad Q at the time tau(t), X^T s: n rows of d.
        gradient: grad Q(beta(t)), n rows of d.
        digits: those that were asked for.
        claims: that g is positive, tau onto [0, infinity) and g bounded: proved for this start, or
            assumed; empty where g = 1.
        floor: m with g >= m > 0, proved for all times; None where it was not.
    """

    time: tuple[Real, ...]
    warped: tuple[Real, ...]
    warp: tuple[Real, ...]
    path: tuple[tuple[Real, ...], ...]
    multipliers: tuple[tuple[Real, ...], ...]
    dual: tuple[tuple[Real, ...], ...]
    gradient: tuple[tuple[Real, ...], ...]
    digits: int
    claims: tuple[Finding, ...] = ()
    floor: Real | None = None

    @property
    def agreement(self) -> float:
        """The decimal digits to which grad Q is that of mirror flow, relative to its size."""
        most = self.digits + GUARD
        return min(distance([*chain(*self.gradient)], [*chain(*self.dual)], most), float(most))

    @property
    def increasing(self) -> bool:
        """Whether g > 0 at every time, and tau increases from each to the next."""
        return min(self.warp) > 0 and all(a < b for a, b in pairwise(self.warped))

    @property
    def passed(self) -> bool:
        """Whether the path is one of mirror flow of Q, to the digits that were asked for."""
        return self.increasing and self.agreement >= self.digits - SLACK

    def report(self) -> str:
        """Return a table of t, tau, g, beta and s as lines of text."""
        lines = [f"{'t':>12} {'tau':>12} {'g':>12}  beta; s"]
        times = zip(self.time, self.warped, self.warp, strict=True)
        for clock, beta, s in zip(times, self.path, self.multipliers, strict=True):
            row = " ".join(f"{mpmath.nstr(x, 6):>12}" for x in clock)
            both = (" ".join(mpmath.nstr(x, 10) for x in numbers) for numbers in (beta, s))
            lines.append(f"{row}  {'; '.join(both)}")
        bounds = f"{mpmath.nstr(min(self.warp), 6)} <= g <= {mpmath.nstr(max(self.warp), 6)}"
        lines.append(f"{bounds}; grad Q = X^T s to {self.agreement:.0f} digits")
        if self.floor is not None:
            lines.append(f"m = {mpmath.nstr(self.floor, 6)}")
        for claim in self.claims:
            proved = "proved: " if claim.verdict is Verdict.PROVED else ""
            lines.append(f"{proved}{claim.words}")
        return "\n".join(lines)


def mirror_path(
    derivation: Derivation,
    X: Iterable[object],
    y: Iterable[object],
    start: Mapping[str, object],
    digits: int = 30,
    *,
    loss: str = "squared",
    times: Iterable[object] = (),
) -> MirrorPath:
    """Run gradient flow in the weights, and compare grad Q with that of mirror flow on its path.

    ``w' = J^T X^T r`` with ``r = -dL/dz``, z = X F(w), and ``tau' = g(w)``. In the time tau beta
    takes the path of mirror flow of Q, ``d/dtau grad Q(beta) = X^T r``, where grad Q(beta(t)) is
    X^T s, ``s' = g r``, which runs along with the weights and knows nothing of Q. Under a loss
    that decreases in the margins all s_i rise from 0, and beta(t) is where Q is least among the
    predictors with margins at least its own.

    Args:
        derivation: a Q that was proved, in coordinates, with its warp g.
        X, y: m rows of d numbers, and m numbers; of a single output as many columns as there are
            copies of it.
        start: numbers for start symbols; for copies, a sequence gives each its own.
        digits: decimal digits to look for.
        loss: squared; exponential or logistic, for labels y = 1 or -1.
        times: at which to look, increasing; else at every step, until the flow has converged.

    Raises:
        InputError: a number, a shape or a name is wrong, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or the flow does not converge.

    Source: Azulay et al. 2021, section 5 and appendix B.1.
    """
    potential, g = derivation.potential, derivation.warping.g
    p = potential.parameterization
    if derivation.direction is not None:
        raise InputError("flows need a number for the dimension: give outputs in components")
    rows, target = read_data(X, y, p.d if p.d > 1 else None)
    check_digits(digits)
    if g is None or not potential.pieces:
        raise NumericalError(f"there is no Q to flow along: {potential.finding.words}")
    if p.parameters:
        raise InputError(f"give the parameters numbers in F itself: {', '.join(p.parameters)}")
    starts = fixed_starts(p.start_symbols, start, len(rows[0]) // p.d)
    refuse_missing(p.start_symbols, start)
    _, gradient = joint(potential, starts, digits + GUARD)
    problem = complete_problem(p, rows, target, starts, np.random.default_rng(0))
    moments = [read_number(t, "a time") for t in times]
    states, found = follow(problem, gradient, from_sympy(g), digits, loss=loss, times=moments)
    _refuse_broken(potential, problem, states, found.warp)
    proved = warped_time(derivation, starts[0])
    if proved is None:
        return found
    with mpmath.workdps(digits + 2 * GUARD):
        floor = None if proved.floor is None else mpmath.sqrt(rational(proved.floor))
    return replace(found, claims=proved.findings, floor=floor)


def follow(
    problem: RegressionProblem,
    gradient: Callable[[Sequence[Real]], Sequence[Real]],
    g: Tree,
    digits: int,
    *,
    loss: str,
    times: Sequence[Fraction],
) -> tuple[list[tuple[Real, ...]], MirrorPath]:
    """Return the states of a flow on a problem, and its path beside any gradient and pace g."""
    if any(a >= b for a, b in pairwise((Fraction(0), *times))):
        raise InputError("times must be positive and increase")
    working, m, d = digits + GUARD, len(problem.y), len(problem.X[0])
    model, slope = problem.model, read_loss(loss, problem.y)
    # w', s' = g r, tau' = g and t' = 1, beside F, g and dL/dz.
    more = (*(f"multiplier {i}" for i in range(m)), _TAU, _TIME)
    builder = Steered(model, (problem.X, problem.y), slope, more)
    pace = builder.tree(model.spread([g])[0])
    rises = [builder.linear([(builder.multiply(pace, x), Fraction(-1))]) for x in builder.slopes]
    moves = builder.raised(model.rates, builder.pulled)
    field = builder.tape([*moves, *rises, pace, builder.constant(Fraction(1))])
    observed = builder.tape([*builder.beta, pace, *builder.slopes])
    watch = ConvergenceWatch(observed, problem.y, working, Fraction(1, 10**working))
    origin = (*(x for _, x in problem.origin), *[Fraction(0)] * (m + 2))
    states, state = list[tuple[Real, ...]](), tuple[Real, ...](origin)

    def stop(run: Stepper) -> bool:
        states.append(run.state)
        return watch(run)

    if not times:
        integrate(field, state, working, stop, engine=Automatic)
    for before, t in pairwise((Fraction(0), *times)):
        state = integrate(field, state, working, time=t - before, engine=Automatic).state
        states.append(state)
    program = Program(observed, bits_of(working))
    seen = [program.at(state) for state in states]
    path = tuple(tuple(x[:d]) for x in seen)
    s = tuple(state[-m - 2 : -2] for state in states)
    with mpmath.workdps(working):
        rows = mpmath.matrix([list(map(rational, row)) for row in problem.X])
        dual = tuple(map(tuple, (mpmath.matrix([*map(list, s)]) * rows).tolist()))
        slopes_of_Q = tuple(map(tuple, map(gradient, path)))
    *_, warped, time = zip(*states, strict=True)
    warp = tuple(x[d] for x in seen)
    return states, MirrorPath(time, warped, warp, path, s, dual, slopes_of_Q, digits)


def _refuse_broken(
    potential: Potential,
    problem: RegressionProblem,
    states: Sequence[Sequence[Real]],
    warp: Sequence[Real],
) -> None:
    """Raise where the flow leaves what Q was derived for: g > 0, and signs that are kept."""
    p, failed = potential.parameterization, ["g > 0"] * (min(warp) <= 0)
    for i, start in enumerate(problem.starts):
        own = (state[p.p * i : p.p * (i + 1)] for state in states)
        first, *rest = ({**dict(start), **dict(zip(p.weights, w, strict=True))} for w in own)
        for w in rest:
            failed += (f"{f} keeps its sign" for f in broken_signs(potential.pieces, first, w))
    if failed:
        shown = f"fails on that from {', '.join(f'{n} = {x}' for n, x in problem.starts[0])}"
        raise NumericalError(f"Q was derived for a flow on which {failed[-1]}, which {shown}")
