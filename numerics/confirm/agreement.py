"""What the witnesses of a derived Q agree on, in decimal digits: measured, and as a report."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import mpmath
import sympy

from derive.potential.piece import Explicit, Quadrature
from derive.records import Potential
from numerics.confirm.attempts import Attempt
from numerics.confirm.regression_problem import Copy, RegressionProblem
from numerics.evaluate.lowering import HighPrecision, unchecked
from numerics.flow.builder import compile_kernel
from numerics.flow.fixed_point import bits_of
from numerics.flow.jets import Program
from numerics.interpolate.polish import Gradient
from numerics.reals import Real, rational

SLACK = 5
"""Digits that a passed check may lack."""
_COMPARED = {
    "interpolation": "limit of the flow = interpolant of Q",
    "stationarity": "limit: grad Q in the row space of X",
    "feasibility": "limit: X beta = y",
    "optimality": "interpolant: grad Q and X beta = y",
    "consistency": "Q, its gradient and K agree",
    "drift": "conserved quantities at every step",
}


def digits_of(error: Real, scale: Real) -> float:
    """Return -log10 |error/scale|: inf for an exact agreement, 0 where a side is undefined."""
    if error != error or scale != scale or mpmath.isinf(error):
        return 0.0
    if not error:
        return float("inf")
    return float(-mpmath.log10(abs(error) / (abs(scale) or 1)))


def stationarity(X: Sequence[Sequence[Fraction]], gradient: Sequence[Real], digits: int) -> float:
    """Return the digits to which a vector is ``X^T nu``, by its distance from the row space."""
    with mpmath.workdps(digits):
        g = mpmath.matrix(list(gradient))
        if any(x != x for x in g):
            return 0.0
        rows = mpmath.matrix([[rational(x) for x in r] for r in X])
        nu = mpmath.lu_solve(rows * rows.T, rows * g)
        return digits_of(mpmath.norm(g - rows.T * nu), mpmath.norm(g))


def at_rest(gradient: Gradient, beta: Sequence[Real], digits: int) -> float:
    """Return the digits to which ``grad Q = 0`` at beta, as a relative change of beta."""
    with mpmath.workdps(digits):
        return digits_of(mpmath.norm(gradient(beta)), _change(gradient, beta, digits))


def _change(gradient: Gradient, beta: Sequence[Real], digits: int) -> Real:
    """Return the size of the change of grad Q, per relative change of beta."""
    step = mpmath.mpf(10) ** (-digits // 2)
    here, beside = gradient(beta), gradient([x + step * (abs(x) or 1) for x in beta])
    return mpmath.norm([(b - a) / step for a, b in zip(here, beside, strict=True)])


def feasibility(
    problem: RegressionProblem, beta: Sequence[Real], scale: Real, digits: int
) -> float:
    """Return the digits to which ``X beta = y``, relative to *scale*."""
    with mpmath.workdps(digits):
        pairs = zip(problem.X, problem.y, strict=True)
        misfit = [mpmath.fdot(map(rational, row), beta) - rational(t) for row, t in pairs]
        return digits_of(mpmath.norm(misfit), scale)


def distance(left: Sequence[Real], right: Sequence[Real], digits: int) -> float:
    """Return the digits that two vectors share, relative to the norm of the first."""
    with mpmath.workdps(digits):
        gaps = [a - b for a, b in zip(left, right, strict=True)]
        return digits_of(mpmath.norm(gaps), mpmath.norm(list(left)))


def consistency(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed gradient is that of the printed Q.

    By a central difference at twice the precision. None for quadratures, whose value is printed
    as the integral of their gradient.
    """
    pairs = zip(potential.parameterization.blocks, potential.pieces, strict=True)
    closed = (block for block, piece in pairs if not piece.value.has(sympy.Integral))
    coordinates = list(chain(*closed))
    if not coordinates:
        return None
    working = 2 * digits + 20
    _, form = unchecked(potential, copy.start, working)
    with mpmath.workdps(working):
        gradient = form.gradient(copy.limit)
        if copy.begin == copy.end:  # the start interpolates, where grad Q is 0
            size = _change(form.gradient, copy.limit, working)
        else:
            size = mpmath.norm([gradient[i] for i in coordinates])
        slopes = [_difference(form, copy.limit, i, digits // 2 + 4) for i in coordinates]
        errors = [s - gradient[i] for s, i in zip(slopes, coordinates, strict=True)]
        return digits_of(mpmath.norm(errors), size)


def _difference(form: HighPrecision, beta: Sequence[Real], i: int, fine: int) -> Real:
    """Return the central difference of Q in coordinate i, with a step of 10^-fine."""
    step = (abs(beta[i]) or 1) * mpmath.mpf(10) ** -fine
    sides = [[x + sign * step * (k == i) for k, x in enumerate(beta)] for sign in (1, -1)]
    above, below = (form.value(side) for side in sides)
    return (above - below) / (2 * step)


def kernel_agreement(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed K(limit) of single outputs is |grad F|^2 there."""
    p = potential.parameterization
    kernels = {}
    for block, piece in zip(p.blocks, potential.pieces, strict=True):
        if isinstance(piece, Explicit | Quadrature) and (K := piece.kernel) is not None:
            named = (piece.constants, piece.roots, piece.assumptions)
            kernels[block[0]] = Explicit(piece.betas, K, (K,), *named, domain=piece.domain)
    if not kernels:
        return None
    pairs = zip(p.blocks, potential.pieces, strict=True)
    pieces = tuple(kernels.get(block[0], piece) for block, piece in pairs)
    _, form = unchecked(replace(potential, pieces=pieces), copy.start, digits)
    with mpmath.workdps(digits):
        printed = form.gradient(copy.limit)
        found = []
        for i in kernels:
            tape = compile_kernel(p.trees[i], p.weights, p.rates)
            (K,) = Program(tape, bits_of(digits)).at([copy.end[w] for w in p.weights])
            found.append(digits_of(printed[i] - K, K))
        return min(found)


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """How well the limit of gradient flow, the interpolant and Q agree, in decimal digits.

    Attributes:
        asked: the digits asked for.
        stationarity: of grad Q(limit) lying in the row space of X, relative to |grad Q|.
        feasibility: of X limit = y, relative to the larger of |y| and the misfit of the start.
        interpolation: of the limit being the interpolant, relative to the norm of the limit; None
            where no interpolant was found.
        optimality: of the interpolant, as the two above.
        consistency: of the gradient being that of Q and, for a single output, of K(limit) being
            |grad F|^2 at the end of the flow; None where the form prints nothing to compare.
        drift: of the conserved quantities at every step of the flow, relative to what a change
            of the weights may make of them; None where there are none.
        limit, steps, time: of the flow.
        interpolant: the beta of least Q with X beta = y, found from Q alone; None with the reason
            in *missing*.
        problem: the X, y and start that were used.
        broken: weights' functions that Q assumes to keep their sign, and did not.
        tried: data that were drawn to break what Q assumes of the flow, and its walls.
    """

    asked: int
    stationarity: float
    feasibility: float
    interpolation: float | None
    optimality: float | None
    consistency: float | None
    drift: float | None
    limit: tuple[Real, ...]
    interpolant: tuple[Real, ...] | None
    missing: str
    problem: RegressionProblem
    steps: int
    time: Real
    broken: tuple[str, ...] = ()
    tried: tuple[Attempt, ...] = ()

    @property
    def agreement(self) -> dict[str, float | None]:
        """The digits that agree, by attribute; None where there was nothing to compare."""
        return {name: getattr(self, name) for name in _COMPARED}

    @property
    def digits(self) -> float:
        """The digits to which all agree: the least that was found."""
        return min(x for x in self.agreement.values() if x is not None)

    @property
    def passed(self) -> bool:
        """Whether all but a few of the digits asked for were found, by every witness."""
        agreed = self.interpolant is not None and self.digits >= self.asked - SLACK
        return agreed and all(attempt.sound for attempt in self.tried)

    def report(self) -> str:
        """Return the check as lines of at most 80 columns."""
        agreed = self.digits >= self.asked - SLACK
        verdict = "agree to" if agreed else "DISAGREE: they share only"
        lines = [f"Flow, interpolant and Q {verdict} {self.digits:.0f} digits ({self.asked} asked)"]
        if agreed and not self.passed:
            lines = ["Flow, interpolant and Q DISAGREE where a condition is broken"]
        if self.interpolant is None:
            lines = ["NOT CONFIRMED: the minimizer of Q was not found"]
        for name, x in self.agreement.items():
            shown = "not compared: there is none" if x is None else f"{x:3.0f} digits"
            lines.append(f"  {_COMPARED[name]:36}  {shown}")
        for text in self._data():
            lines += textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)

    def _data(self) -> list[str]:
        problem = f"X is {len(self.problem.X)} x {len(self.limit)}"
        if (copies := self.problem.model.count) > 1:
            problem += f", {copies} copies of F with starts of their own"
        starts = ["; ".join(f"{n} = {x}" for n, x in start) for start in self.problem.starts]
        return [
            *([f"no interpolant: {self.missing}"] if self.missing else []),
            f"{problem}; {self.steps} Taylor steps to time {mpmath.nstr(self.time, 4)}",
            *(f"start {s}" for s in starts if s),
            *("X = " + " ".join(map(str, row)) for row in self.problem.X),
            "y = " + " ".join(map(str, self.problem.y)),
            "limit beta = " + " ".join(mpmath.nstr(x, 12) for x in self.limit),
            *(f"{text} was assumed to keep its sign and did not" for text in self.broken),
            *(attempt.told() for attempt in self.tried),
        ]

    def to_record(self) -> dict[str, object]:
        """Return the check as what JSON can hold: whole digits, and numbers as strings."""
        problem = self.problem

        def written(beta: tuple[Real, ...]) -> list[str]:
            return [mpmath.nstr(x, self.asked) for x in beta]

        agreement = self.agreement.items()
        return {
            "passed": self.passed,
            "asked": self.asked,
            "digits": math.floor(self.digits),
            "agreement": {name: None if x is None else math.floor(x) for name, x in agreement},
            "limit": written(self.limit),
            "interpolant": None if self.interpolant is None else written(self.interpolant),
            "missing": self.missing,
            "broken": list(self.broken),
            "tried": [attempt.told() for attempt in self.tried],
            "X": [[str(x) for x in row] for row in problem.X],
            "y": [str(x) for x in problem.y],
            "starts": [{name: str(x) for name, x in start} for start in problem.starts],
            "steps": self.steps,
            "time": mpmath.nstr(self.time, 15),
        }

    def added_to(self, record: str) -> str:
        """Return the JSON record of a derivation with the check as its field ``check``."""
        return json.dumps({**json.loads(record), "check": self.to_record()}, indent=2)
