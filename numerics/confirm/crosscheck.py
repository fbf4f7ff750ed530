"""Three witnesses of a derived Q: the limit of gradient flow, the interpolant, and optimality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import numpy as np
from sympy import Expr

from derive.copies import Copies
from derive.derivation import Derivation
from derive.errors import InputError, NumericalError, check_kind
from derive.language.budget import DEFAULT
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree
from derive.model.parameterization import Parameterization
from derive.records import Potential
from numerics.confirm import agreement
from numerics.confirm.agreement import CrossCheck, digits_of
from numerics.confirm.attempts import attempts
from numerics.confirm.regression_problem import (
    COPIES,
    RegressionProblem,
    complete_problem,
    draw_starts,
    first_sound,
)
from numerics.evaluate.backend import exact
from numerics.evaluate.copies import check_clock, fixed_starts
from numerics.evaluate.lowering import refuse_integrals, side_by_side, unchecked
from numerics.evaluate.numbers import read_number
from numerics.evaluate.start import broken_signs, specialize, with_pi
from numerics.flow.gradient_flow import Flow
from numerics.interpolate.polish import Gradient, polished_interpolant
from numerics.reals import Real

GUARD = 6
"""Digits that the flow is run to beyond those asked for."""
# Laws were derived from F, which was read within limits of its own.
ANY_SIZE = replace(
    DEFAULT, degree=10**6, exponent=10**4, nodes=10**6, terms=10**12, digits=1000, bits=10**5
)


def crosscheck(
    derivation: Derivation | Copies,
    X: Iterable[object] | None = None,
    y: Iterable[object] | None = None,
    start: Mapping[str, object] | None = None,
    digits: int = 30,
    *,
    rng: np.random.Generator | None = None,
) -> CrossCheck:
    """Run gradient flow on a regression problem and compare its limit with the interpolant of Q.

    ``grad Q(beta) = X^T nu`` and ``X beta = y`` at both, which must be one point. Whatever is not
    given is drawn: X of d - 1 rows, start values of the symbols, y = X F(w) for w near the start.
    For a single output the interpolant would be unique, so independent copies are fitted jointly:
    as many as X has columns, each with its own start. Where X is drawn and all agree, further data
    are drawn to break each condition of Q on the flow, and to lie behind each wall of its domain.

    Args:
        derivation: what to check; or copies, of which one is derived.
        X: m rows of d numbers; for d = 1, of as many as there are copies.
        y: m numbers; only together with X.
        start: numbers for start symbols; for copies, a sequence gives each its own.
        digits: decimal digits to look for.
        rng: what to draw from; the same problem each time by default.

    Returns:
        The digits to which the witnesses agree, and the problem that they were put to.

    Raises:
        InputError: a number, a shape or a name is wrong, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or the flow does not converge.

    Source: Gunasekar et al. 2018, "Characterizing implicit bias in terms of optimization geometry",
    theorem 1, on the limit of mirror flow.

    >>> from derive import Parameterization, derive
    >>> crosscheck(derive(Parameterization.parse(["w"])), digits=20).passed
    True
    """
    count, given = 0, dict(start or {})
    if isinstance(derivation, Copies):
        check_clock(derivation)
        count, given = derivation.count, {**dict(derivation.start), **given}
        derivation = derivation.derivation
    check_kind(derivation, Derivation, "derive('p**2')")
    subject, given = in_numbers(derivation, given)
    p, potential = subject.parameterization, subject.potential
    if not potential.pieces:
        raise NumericalError(f"there is no Q to check: {potential.finding.reason}")
    refuse_integrals(potential.pieces)
    if (X is None) != (y is None):
        raise InputError("give X and y together, or neither")
    rng = np.random.default_rng(0) if rng is None else rng
    count = count or (1 if p.d > 1 else _copies_for(X))
    fixed = fixed_starts(p.start_symbols, given, count)

    def check() -> CrossCheck:
        starts = draw_starts(potential, fixed, rng)
        return _check(subject, complete_problem(p, X, y, starts, rng), digits)

    def keeping_signs() -> CrossCheck:
        found = check()
        if found.broken:
            raise NumericalError(f"{', '.join(found.broken)} changed sign along the flow")
        return found

    drawn = X is None or any(len(values) < len(p.start_symbols) for values in fixed)
    found = first_sound(keeping_signs, "check Q") if drawn else check()
    elsewhere = subject.whole is not None or potential.other_side is not None
    if X is not None or elsewhere or not found.passed:
        return found
    return replace(found, tried=attempts(potential, dict(found.problem.starts[0])))


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is checked: the flow on F, its conserved quantities, and Q.

    Attributes:
        whole: F at the start that was given, where another is used in what was derived.
    """

    parameterization: Parameterization
    potential: Potential
    laws: tuple[Tree, ...]
    warp: Expr | None
    whole: Parameterization | None = None

    def side(self, end: Flow) -> Potential:
        """Return the Q of flows that end here; of two where the warp is 0 at the start."""
        other, weights = self.potential.other_side, self.parameterization.weights
        if other is None or self.warp is None:
            return self.potential
        values = dict(zip(weights, end.weights, strict=True))
        at = {symbol: values[symbol.name] for symbol in self.warp.free_symbols}
        return self.potential if self.warp.evalf(subs=at) > 0 else other


def in_numbers(
    derivation: Derivation, start: Mapping[str, object]
) -> tuple[_Subject, dict[str, object]]:
    """Give the parameters of F the numbers in *start*, by default halves of odd numbers."""
    potential, laws = derivation.potential, derivation.conserved.laws
    whole = None if derivation.equivalent is None else derivation.parameterization
    fewer = derivation.ties or whole is not None
    p = potential.parameterization if fewer else derivation.parameterization
    names = p.parameters
    start = with_pi(names, start)
    if names:
        values = {name: Fraction(2 * k + 7, 2) for k, name in enumerate(names)}
        given = [name for name in names if name in start]
        values |= {name: read_number(start[name], f"the parameter {name}") for name in given}
        potential = specialize(potential, values)
        p = potential.parameterization
        laws = tuple(exact(law, values) for law in laws)
    trees = tuple(from_sympy(law, ANY_SIZE) for law in laws)
    rest = {name: value for name, value in start.items() if name not in names}
    return _Subject(p, potential, trees, derivation.warping.g, whole), rest


def _copies_for(X: Iterable[object] | None) -> int:
    """Return how many copies of a single output the columns of X are for."""
    if X is None:
        return COPIES
    rows = X.tolist() if hasattr(X, "tolist") else X
    try:
        return len(rows[0])  # type: ignore[index]
    except (TypeError, IndexError, KeyError):
        raise InputError("X must be a sequence of rows of numbers") from None


def _check(subject: _Subject, problem: RegressionProblem, digits: int) -> CrossCheck:
    """Run the flow and compare; where terms of Q may cancel, once more at twice the digits."""
    laws = problem.model.spread(subject.laws)
    end = problem.flow(digits + GUARD, conserved=laws)
    if subject.whole is not None:
        end = replace(end, limit=_limit(subject.whole, problem, digits + GUARD))
    check = _compare(subject, problem, end, digits, digits)
    return check if check.passed else _compare(subject, problem, end, digits, 2 * digits)


def _limit(whole: Parameterization, problem: RegressionProblem, digits: int) -> tuple[Real, ...]:
    """Return the limit of the flow on the same data in all weights, from the start given."""
    rng = np.random.default_rng(0)  # nothing is left to be drawn
    starts = list(map(dict, problem.starts))
    return complete_problem(whole, problem.X, problem.y, starts, rng).flow(digits).limit


def _compare(
    subject: _Subject, problem: RegressionProblem, end: Flow, digits: int, precision: int
) -> CrossCheck:
    """Compare to *digits*, with Q evaluated to *precision* digits and guard digits."""
    p, potential = subject.parameterization, subject.side(end)
    d, working, most = p.d, precision + 2 * GUARD, digits + GUARD
    copies = problem.copies(end)
    # A wrong gradient is to be found by the flow, not refused for its value at the start.
    forms = [unchecked(potential, c.start, working)[1] for c in copies]

    def gradient(beta: Sequence[Real]) -> list[Real]:
        return [g for i, form in enumerate(forms) for g in form.gradient(beta[i * d : (i + 1) * d])]

    def in_row_space(beta: Sequence[Real]) -> float:
        if not end.steps:  # the start interpolates: grad Q is 0 but for rounding
            return min(agreement.at_rest(gradient, beta, working), most)
        return min(agreement.stationarity(problem.X, gradient(beta), working), most)

    found, missing = _interpolant(potential, problem, gradient, working, most)
    interpolation = optimality = None
    if found is not None:
        interpolation = min(agreement.distance(end.limit, found, working), most)
        fits = agreement.feasibility(problem, found, end.scale, working)
        optimality = min(in_row_space(found), fits)
    consistent = [agreement.consistency(potential, c, precision) for c in copies]
    consistent += [agreement.kernel_agreement(potential, c, working) for c in copies]
    ends = (({**c.start, **c.begin}, {**c.start, **c.end}) for c in copies)
    broken = (text for begin, last in ends for text in broken_signs(potential.pieces, begin, last))
    return CrossCheck(
        asked=digits,
        stationarity=in_row_space(end.limit),
        feasibility=min(digits_of(end.residual, end.scale), most),
        interpolation=interpolation,
        optimality=optimality,
        consistency=_least(consistent, most),
        drift=_least([digits_of(x, 1) for x in end.drift], most),
        limit=end.limit,
        interpolant=found,
        missing=missing,
        problem=problem,
        steps=end.steps,
        time=end.time,
        broken=tuple(dict.fromkeys(broken)),
    )


def _interpolant(
    potential: Potential, problem: RegressionProblem, gradient: Gradient, working: int, digits: int
) -> tuple[tuple[Real, ...] | None, str]:
    """Return the interpolant of least Q, or why it is not found."""
    try:
        parts = [unchecked(potential, dict(s))[0] for s in problem.starts]
        with mpmath.workdps(working):
            q = side_by_side(parts)
            return polished_interpolant(q, gradient, problem.X, problem.y, digits).value, ""
    except (InputError, NumericalError) as error:
        return None, str(error)


def _least(found: Iterable[float | None], cap: int) -> float | None:
    return min((min(x, cap) for x in found if x is not None), default=None)
