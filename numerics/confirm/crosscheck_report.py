"""What the witnesses of a derived Q agree on, as a record, as text and for JSON."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import dataclass

import mpmath

from numerics.confirm.regression_problem import RegressionProblem
from numerics.reals import Real

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


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """How well the limit of gradient flow, the interpolant and Q agree, in decimal digits.

    Attributes:
        asked: the digits asked for.
        stationarity: of grad Q(limit) lying in the row space of X, relative to |grad Q|.
        feasibility: of X limit = y, relative to the larger of |y| and the misfit of the start.
        interpolation: of the limit being the interpolant, relative to the norm of the limit; None
            where no interpolant was found.
        optimality: of the interpolant, in grad Q and X beta = y as for the limit.
        consistency: of the gradient being that of Q and, for a single output, of K(limit) being
            |grad F|^2 at the end of the flow; None where the form prints nothing to compare.
        drift: of the conserved quantities at every step of the flow, relative to what a change
            of the weights may make of them; None where there are none.
        limit: the end of the flow, as mpf.
        interpolant: the beta of least Q with X beta = y, found from Q alone; None with the reason
            in *missing*.
        problem: the X, y and start that were used.
        steps, time: of the flow.
        broken: weights' functions that Q assumes to keep their sign, and did not.
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
        return self.interpolant is not None and self.digits >= self.asked - SLACK

    def report(self) -> str:
        """Return the check as lines of at most 80 columns."""
        lines = [
            self._verdict(),
            *(f"  {_COMPARED[name]:36}  {_shown(x)}" for name, x in self.agreement.items()),
        ]
        for text in self._data():
            lines += textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.interpolant is None:
            return "NOT CONFIRMED: the minimizer of Q was not found"
        verdict = "agree to" if self.passed else "DISAGREE: they share only"
        return f"Flow, interpolant and Q {verdict} {self.digits:.0f} digits ({self.asked} asked)"

    def _data(self) -> list[str]:
        rows, copies = len(self.problem.X), self.problem.copies
        problem = f"X is {rows} x {len(self.limit)}"
        if copies > 1:
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
        ]

    def to_record(self) -> dict[str, object]:
        """Return the check as what JSON can hold: whole digits, and numbers as strings."""
        problem = self.problem

        def written(beta: tuple[Real, ...]) -> list[str]:
            return [mpmath.nstr(x, self.asked) for x in beta]

        return {
            "passed": self.passed,
            "asked": self.asked,
            "digits": math.floor(self.digits),
            "agreement": {
                name: None if x is None else math.floor(x) for name, x in self.agreement.items()
            },
            "limit": written(self.limit),
            "interpolant": None if self.interpolant is None else written(self.interpolant),
            "missing": self.missing,
            "broken": list(self.broken),
            "X": [[str(x) for x in row] for row in problem.X],
            "y": [str(x) for x in problem.y],
            "starts": [{name: str(x) for name, x in start} for start in problem.starts],
            "steps": self.steps,
            "time": mpmath.nstr(self.time, 15),
        }

    def added_to(self, record: str) -> str:
        """Return the JSON record of a derivation with the check as its field ``check``."""
        whole = {**json.loads(record), "check": self.to_record()}
        return json.dumps(whole, indent=2, ensure_ascii=True)


def _shown(digits: float | None) -> str:
    if digits is None:
        return "not compared: there is none"
    return f"{digits:3.0f} digits"
