"""Three witnesses of a derived Q: the limit of gradient flow, the interpolant, and optimality.

The flow integrates the weights and knows nothing of Q; the interpolant is found from Q as printed
and knows nothing of the flow; either must satisfy ``grad Q(beta) = X^T nu`` and ``X beta = y``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from derive.derivation import Derivation
from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language.limits import DEFAULT
from derive.language.symbolic import from_sympy
from numerics.confirm.agreement import (
    Copy,
    consistency,
    digits_of,
    distance,
    feasibility,
    kernel_agreement,
    stationarity,
)
from numerics.confirm.crosscheck_report import CrossCheck
from numerics.confirm.regression_problem import (
    COPIES,
    RegressionProblem,
    draw_matrix,
    draw_starts,
    draw_target,
    fixed_starts,
    replicate,
    side_by_side_trees,
)
from numerics.evaluate.formula_block import is_evaluable, not_evaluable
from numerics.evaluate.lowering import high_precision, lower, side_by_side
from numerics.evaluate.numbers import read_number
from numerics.evaluate.start import broken_signs, specialize
from numerics.flow.gradient_flow import Flow, flow
from numerics.interpolate.polish import Gradient, polished_interpolant

GUARD = 6
"""Digits that the flow is run to beyond those asked for."""
_ATTEMPTS = 12
_MAX_STEPS = 1500
# Laws were derived from F, which was read within limits of its own.
_ANY_SIZE = replace(
    DEFAULT, degree=10**6, exponent=10**4, nodes=10**6, terms=10**12, digits=1000, bits=10**5
)


def crosscheck(
    derivation: Derivation,
    X: Any = None,
    y: Any = None,
    start: Mapping[str, Any] | None = None,
    digits: int = 30,
    rng: np.random.Generator | None = None,
) -> CrossCheck:
    """Run gradient flow on a regression problem and compare its limit with the interpolant of Q.

    ``grad Q(beta) = X^T nu`` and ``X beta = y`` at both, which must be one point. Whatever is not
    given is drawn: X of d - 1 rows, start values of the symbols, y = X F(w) for w near the start.
    For a single output the interpolant would be unique, so independent copies are fitted jointly:
    as many as X has columns, each with its own start.

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
    if unable := [piece for piece in potential.pieces if not is_evaluable(piece)]:
        raise not_evaluable(unable[0])
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


def _check(derivation: Derivation, problem: RegressionProblem, digits: int) -> CrossCheck:
    """Run the flow and compare; where they disagree, once more with Q at twice the digits.

    Terms of Q may cancel, as all of grad Q does near the start: more digits tell that from an
    error, which stays.
    """
    laws = [from_sympy(law, _ANY_SIZE) for law in derivation.conserved.laws]
    end = flow(
        problem,
        problem.X,
        problem.y,
        dict(problem.origin),
        digits + GUARD,
        conserved=side_by_side_trees(laws, derivation.parameterization.weights, problem.copies),
        max_steps=_MAX_STEPS,
    )
    check = _compare(derivation, problem, end, digits, digits)
    return check if check.passed else _compare(derivation, problem, end, digits, 2 * digits)


def _compare(
    derivation: Derivation, problem: RegressionProblem, end: Flow, digits: int, precision: int
) -> CrossCheck:
    """Compare to *digits*, with Q evaluated to *precision* digits and guard digits."""
    potential, working, most = derivation.potential, precision + 2 * GUARD, digits + GUARD
    copies = _copies(derivation, problem, end)
    # A wrong gradient is to be found by the flow, not refused for its value at the start.
    forms = [high_precision(potential, c.start, working, check=False) for c in copies]

    def gradient(beta: Sequence[Any]) -> list[Any]:
        d = derivation.parameterization.d
        return [g for i, form in enumerate(forms) for g in form.gradient(beta[i * d : (i + 1) * d])]

    def optimality(beta: Sequence[Any]) -> float:
        return min(stationarity(problem.X, gradient(beta), working), most)

    found, missing = _interpolant(derivation, problem, gradient, working, most)
    consistent = [consistency(potential, c, precision) for c in copies]
    consistent += [kernel_agreement(potential, c, working) for c in copies]
    return CrossCheck(
        asked=digits,
        stationarity=optimality(end.limit),
        feasibility=min(digits_of(end.residual, end.scale), most),
        interpolation=None if found is None else min(distance(end.limit, found, working), most),
        optimality=None
        if found is None
        else min(optimality(found), feasibility(problem, found, end.scale, working)),
        consistency=_least(consistent, most),
        drift=_least([digits_of(x, 1) for x in end.drift], most),
        limit=end.limit,
        interpolant=found,
        missing=missing,
        problem=problem,
        steps=end.steps,
        time=end.time,
        broken=tuple(
            dict.fromkeys(t for c in copies for t in broken_signs(potential, c.begin, c.end))
        ),
    )


def _interpolant(
    derivation: Derivation,
    problem: RegressionProblem,
    gradient: Gradient,
    working: int,
    digits: int,
) -> tuple[tuple[Any, ...] | None, str]:
    """Return the interpolant of least Q, or why it is not found."""
    try:
        parts = [lower(derivation.potential, dict(s), check=False) for s in problem.starts]
        with mpmath.workdps(working):
            found = polished_interpolant(
                side_by_side(parts), gradient, problem.X, problem.y, digits
            )
    except (InputError, NumericalError) as error:
        return None, str(error)
    return found.value, ""


def _least(found: Iterable[float | None], cap: int) -> float | None:
    return min((min(x, cap) for x in found if x is not None), default=None)


def _copies(derivation: Derivation, problem: RegressionProblem, end: Flow) -> list[Copy]:
    p = derivation.parameterization
    copies = []
    for i, start in enumerate(problem.starts):
        weights, outputs = slice(p.p * i, p.p * (i + 1)), slice(p.d * i, p.d * (i + 1))
        begin, last = (
            dict(zip(p.weights, w[weights], strict=True)) for w in (end.start, end.weights)
        )
        copies.append(Copy(dict(start), begin, last, end.limit[outputs]))
    return copies
