"""Gradient flow against the derived Q: does the limit minimize Q among the interpolants?

The flow integrates the weights and knows nothing of Q; Q is evaluated as printed. Its limit must
satisfy ``grad Q(beta) = X^T nu`` and ``X beta = y``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from derive.derivation import Derivation
from derive.errors import DegenerateStart, InputError, NumericalError
from numerics.agreement import (
    Copy,
    consistency,
    digits_of,
    drift,
    kernel_agreement,
    stationarity,
)
from numerics.flow import Flow, flow
from numerics.forms import has_form, refuse
from numerics.lowering import high_precision
from numerics.numbers import read_number
from numerics.problem import (
    COPIES,
    Problem,
    draw_matrix,
    draw_starts,
    draw_target,
    fixed_starts,
    replicate,
)
from numerics.start import broken_signs, specialize

GUARD = 6
"""Digits that the flow is run to beyond those asked for."""
SLACK = 5
"""Digits that a passed check may lack."""
_ATTEMPTS = 12
_MAX_STEPS = 1500


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """How well the limit of gradient flow fits Q, in decimal digits.

    Attributes:
        asked: the digits asked for.
        stationarity: of grad Q(limit) lying in the row space of X, relative to |grad Q|.
        feasibility: of X limit = y, relative to the larger of |y| and the misfit of the start.
        consistency: of the gradient being that of Q and, for a single output, of K(limit) being
            |grad F|^2 at the end of the flow; None where the form prints nothing to compare.
        drift: of the conserved quantities between start and end, relative to their terms; None
            where there are none.
        limit: the end of the flow, as mpf.
        problem: the X, y and start that were used.
        steps, time: of the flow.
        broken: weights' functions that Q assumes to keep their sign, and did not.
    """

    asked: int
    stationarity: float
    feasibility: float
    consistency: float | None
    drift: float | None
    limit: tuple[Any, ...]
    problem: Problem
    steps: int
    time: Any
    broken: tuple[str, ...] = ()

    @property
    def digits(self) -> float:
        """The digits to which the limit is a minimizer: the least that was found."""
        found = (self.stationarity, self.feasibility, self.consistency)
        return min(x for x in found if x is not None)

    @property
    def passed(self) -> bool:
        """Whether all but a few of the digits asked for were found."""
        return self.digits >= self.asked - SLACK

    def report(self) -> str:
        """Return the check as lines of at most 80 columns."""
        verdict = "agree to" if self.passed else "DISAGREE: they share only"
        rows, copies = len(self.problem.X), self.problem.copies
        problem = f"X is {rows} x {len(self.limit)}"
        if copies > 1:
            problem += f", {copies} copies of F with starts of their own"
        lines = [
            f"Flow and formula {verdict} {self.digits:.0f} digits ({self.asked} asked)",
            f"  grad Q in the row space of X  {_shown(self.stationarity)}",
            f"  X beta = y                    {_shown(self.feasibility)}",
            f"  Q, its gradient and K agree   {_shown(self.consistency)}",
            f"  conserved quantities kept     {_shown(self.drift)}",
        ]
        flow = f"{problem}; {self.steps} Taylor steps to time {mpmath.nstr(self.time, 4)}"
        starts = ["; ".join(f"{n} = {x}" for n, x in start) for start in self.problem.starts]
        data = [
            flow,
            *(f"start {s}" for s in starts if s),
            *("X = " + " ".join(map(str, row)) for row in self.problem.X),
            "y = " + " ".join(map(str, self.problem.y)),
            "limit beta = " + " ".join(mpmath.nstr(x, 12) for x in self.limit),
            *(f"{text} was assumed to keep its sign and did not" for text in self.broken),
        ]
        for text in data:
            lines += textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)


def _shown(digits: float | None) -> str:
    return " - (nothing to compare)" if digits is None else f"{digits:3.0f} digits"


def crosscheck(
    derivation: Derivation,
    X: Any = None,
    y: Any = None,
    start: Mapping[str, Any] | None = None,
    digits: int = 30,
    rng: np.random.Generator | None = None,
) -> CrossCheck:
    """Run gradient flow on a regression problem and compare its limit with Q.

    ``grad Q(limit) = X^T nu`` and ``X limit = y``. Whatever is not given is drawn: X of d - 1
    rows, start values of the symbols, y = X F(w) for w near the start. For a single output the
    interpolant would be unique, so independent copies are fitted jointly: as many as X has
    columns, each with its own start.

    Args:
        derivation: what to check.
        X: m rows of d numbers; for d = 1, of as many as there are copies.
        y: m numbers; only together with X.
        start: numbers for start symbols; for copies, a sequence gives each its own.
        digits: decimal digits to look for.
        rng: what to draw from; the same problem each time by default.

    Raises:
        InputError: a number, a shape or a name is wrong, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or the flow does not converge.

    >>> from derive import Parameterization, derive
    >>> crosscheck(derive(Parameterization.parse(["w"])), digits=20).passed
    True
    """
    if derivation.ties:
        moving = derivation.potential.parameterization
        derivation = replace(derivation, parameterization=moving, ties=())
    if derivation.parameterization.parameters:
        derivation, start = _specialized(derivation, start or {})
    p, potential = derivation.parameterization, derivation.potential
    if not potential.pieces:
        raise NumericalError(f"there is no Q to check: {potential.finding.reason}")
    if unable := [piece for piece in potential.pieces if not has_form(piece)]:
        raise refuse(unable[0])
    if (X is None) != (y is None):
        raise InputError("give X and y together, or neither")
    rng = np.random.default_rng(0) if rng is None else rng
    columns = p.d if p.d > 1 else _width(X)
    fixed = fixed_starts(p, start or {}, columns // p.d)
    drawn = X is None or any(len(f) < len(p.start_symbols) for f in fixed)
    last = ""
    for _ in range(_ATTEMPTS):
        try:
            starts = draw_starts(potential, fixed, rng)
            rows = draw_matrix(columns, rng) if X is None else X
            target = draw_target(p, rows, starts, rng) if X is None else y
            check = _check(derivation, replicate(p, rows, target, starts), digits)
        except (NumericalError, DegenerateStart) as error:
            if not drawn:
                raise
            last = str(error)
            continue
        if not (drawn and check.broken):
            return check
        last = f"{', '.join(check.broken)} changed sign along the flow"
    raise NumericalError(f"no problem was found on which to check Q: {last}")


def _specialized(
    derivation: Derivation, start: Mapping[str, Any]
) -> tuple[Derivation, dict[str, Any]]:
    """Give the parameters of F the numbers in *start*, by default halves of odd numbers."""
    names = derivation.parameterization.parameters
    values = {name: Fraction(2 * k + 7, 2) for k, name in enumerate(names)}
    values.update(
        (name, read_number(start[name], f"the parameter {name}")) for name in names if name in start
    )
    potential = specialize(derivation.potential, values)
    rest = {name: value for name, value in start.items() if name not in names}
    p = potential.parameterization
    blocks = tuple(
        replace(b, notation=replace(b.notation, values=tuple(values.items())))
        for b in derivation.blocks
    )
    return replace(derivation, parameterization=p, potential=potential, blocks=blocks), rest


def _width(X: Any) -> int:
    """Return how many copies of a single output the columns of X are for."""
    if X is None:
        return COPIES
    rows = X.tolist() if hasattr(X, "tolist") else X
    try:
        return len(rows[0])
    except (TypeError, IndexError, KeyError):
        raise InputError("X must be a sequence of rows of numbers") from None


def _check(derivation: Derivation, problem: Problem, digits: int) -> CrossCheck:
    """Run the flow and compare; where they disagree, once more with Q at twice the digits.

    Terms of Q may cancel, as all of grad Q does near the start: more digits tell that from an
    error, which stays.
    """
    end = flow(
        problem, problem.X, problem.y, dict(problem.origin), digits + GUARD, max_steps=_MAX_STEPS
    )
    check = _compare(derivation, problem, end, digits, digits)
    return check if check.passed else _compare(derivation, problem, end, digits, 2 * digits)


def _compare(
    derivation: Derivation, problem: Problem, end: Flow, digits: int, precision: int
) -> CrossCheck:
    """Compare to *digits*, with Q evaluated to *precision* digits and guard digits."""
    potential, working = derivation.potential, precision + 2 * GUARD
    copies = _copies(derivation, problem, end)
    gradient: list[Any] = []
    for copy in copies:
        # A wrong gradient is to be found by the flow, not refused for its value at the start.
        form = high_precision(potential, copy.start, working, check=False)
        gradient += form.gradient(copy.limit)
    consistent = [consistency(potential, c, precision) for c in copies]
    consistent += [kernel_agreement(potential, c, working) for c in copies]
    return CrossCheck(
        digits,
        min(stationarity(problem.X, gradient, working), digits + GUARD),
        min(digits_of(end.residual, end.scale), digits + GUARD),
        _least(consistent, digits + GUARD),
        _least([drift(derivation, copies, working)], digits + GUARD),
        end.limit,
        problem,
        end.steps,
        end.time,
        tuple(dict.fromkeys(t for c in copies for t in broken_signs(potential, c.begin, c.end))),
    )


def _least(found: Iterable[float | None], cap: int) -> float | None:
    return min((min(x, cap) for x in found if x is not None), default=None)


def _copies(derivation: Derivation, problem: Problem, end: Flow) -> list[Copy]:
    p = derivation.parameterization
    copies = []
    for i, start in enumerate(problem.starts):
        weights, outputs = slice(p.p * i, p.p * (i + 1)), slice(p.d * i, p.d * (i + 1))
        begin, last = (
            dict(zip(p.weights, w[weights], strict=True)) for w in (end.start, end.weights)
        )
        copies.append(Copy(dict(start), begin, last, end.limit[outputs]))
    return copies
