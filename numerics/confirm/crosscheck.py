"""Three witnesses of a derived Q: the limit of gradient flow, the interpolant, and optimality."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr, Symbol
from sympy.utilities.lambdify import implemented_function

from derive.components import in_components
from derive.copying import Copies
from derive.derivation import Derivation
from derive.errors import InputError, NumericalError, check_kind
from derive.language import parse_expression, to_sympy
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree
from derive.model.parameterization import Parameterization
from derive.potential.piece import Curve, Piece, follows_flow
from derive.printable import Held
from derive.records import Potential
from numerics.confirm.attempts import Attempt, attempts
from numerics.confirm.regression_problem import (
    ANY_SIZE,
    COPIES,
    SLACK,
    Check,
    Copy,
    RegressionProblem,
    complete_problem,
    digits_of,
    distance,
    draw_starts,
    first_sound,
    least,
    smooth,
    stationarity,
)
from numerics.evaluate.lowering import check_clock, fixed_starts, joint, refuse_integrals, unchecked
from numerics.evaluate.numbers import Real, evaluated, exact, rational, read_matrix
from numerics.evaluate.start import broken_signs, parameters_at, specialize, start_point
from numerics.integrator.builder import compile_kernel
from numerics.integrator.gradient_flow import Flow
from numerics.integrator.jets import Program, bits_of
from numerics.interpolants.interpolant import Gradient, polished_interpolant

_COMPARED = {
    "interpolation": "limit of the flow = interpolant of Q",
    "stationarity": "limit: grad Q in the row space of X",
    "feasibility": "limit: X beta = y",
    "optimality": "interpolant: grad Q and X beta = y",
    "consistency": "Q, its gradient and K agree",
    "drift": "conserved quantities at every step",
}
"""What is compared: relative to |limit|; |grad Q|; the larger of |y| and the misfit of the start;
the last two; |grad Q|; what a change of the weights may make of a conserved quantity."""


def at_rest(gradient: Gradient, beta: Sequence[Real], digits: int) -> float:
    """Return the digits to which ``grad Q = 0`` at beta, as a relative change of beta."""
    with mpmath.workdps(digits):
        return digits_of(mpmath.norm(gradient(beta)), _change(gradient, beta, digits))


def _change(gradient: Gradient, beta: Sequence[Real], digits: int) -> Real:
    """Return the size of the change of grad Q, per relative change of beta."""
    step = mpmath.mpf(10) ** (-digits // 2)
    here, beside = gradient(beta), gradient([x + step * (abs(x) or 1) for x in beta])
    return mpmath.norm([(b - a) / step for a, b in zip(here, beside, strict=True)])


def consistency(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed gradient is that of the printed Q.

    By a central difference at twice the precision. None for integrals, whose value is printed
    as that of their gradient, and for forms in a weight.
    """
    pairs = zip(potential.parameterization.blocks, potential.pieces, strict=True)
    closed = (b for b, x in pairs if not (follows_flow(x) or x.value.has(sympy.Integral)))
    coordinates = list(chain(*closed))
    if not coordinates:
        return None
    working = 2 * digits + 20
    q = unchecked(potential, copy.start)
    with mpmath.workdps(working):
        gradient = q.precise_gradient(copy.limit, working)
        if copy.begin == copy.end:  # the start interpolates, where grad Q is 0
            size = _change(partial(q.precise_gradient, digits=working), copy.limit, working)
        else:
            size = mpmath.norm([gradient[i] for i in coordinates])
        errors, fine = list[Real](), mpmath.mpf(10) ** -(digits // 2 + 4)
        for i in coordinates:
            step = (abs(copy.limit[i]) or 1) * fine
            beside = [
                [x + sign * step * (k == i) for k, x in enumerate(copy.limit)] for sign in (1, -1)
            ]
            above, below = (q.precise_value(x, working) for x in beside)
            errors.append((above - below) / (2 * step) - gradient[i])
        return digits_of(mpmath.norm(errors), size)


def kernel_agreement(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed K(limit) of single outputs is |grad F|^2 there."""
    p = potential.parameterization
    kernels = {}
    for block, piece in zip(p.blocks, potential.pieces, strict=True):
        if (K := piece.kernel) is not None:
            named = (piece.constants, piece.roots, piece.assumptions)
            kernels[block[0]] = Piece(piece.betas, K, (K,), *named, domain=piece.domain)
    if not kernels:
        return None
    pairs = zip(p.blocks, potential.pieces, strict=True)
    pieces = tuple(kernels.get(block[0], piece) for block, piece in pairs)
    q = unchecked(replace(potential, pieces=pieces), copy.start)
    with mpmath.workdps(digits):
        printed = q.precise_gradient(copy.limit, digits)
        found = []
        for i in kernels:
            tape = compile_kernel(p.trees[i], p.weights, p.rates)
            (K,) = Program(tape, bits_of(digits)).at([copy.end[w] for w in p.weights])
            found.append(digits_of(printed[i] - K, K))
        return min(found)


@dataclass(frozen=True, slots=True, repr=False)
class CrossCheck(Held):
    """How well the limit of gradient flow, the interpolant and Q agree, in decimal digits.

    Attributes:
        asked: the digits asked for.
        agreement: those that agree, of each in the table of what is compared; None where there is
            nothing to compare, or no interpolant.
        end: the flow.
        interpolant: the beta of least Q with X beta = y, found from Q alone; None with the reason
            in *missing*.
        problem: the X, y and start that were used.
        broken: weights' functions that Q assumes to keep their sign, and did not.
        tried: data that were drawn to break what Q assumes of the flow, and its walls.
    """

    asked: int
    agreement: Mapping[str, float | None] = field(hash=False)
    end: Flow
    interpolant: tuple[Real, ...] | None
    missing: str
    problem: RegressionProblem
    broken: tuple[str, ...] = ()
    tried: tuple[Attempt, ...] = ()

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
        title = f"Flow, interpolant and Q {verdict} {self.digits:.0f} digits ({self.asked} asked)"
        if agreed and not self.passed:
            title = "Flow, interpolant and Q DISAGREE where a condition is broken"
        if self.interpolant is None:
            title = "NOT CONFIRMED: the minimizer of Q was not found"
        rows = {_COMPARED[name]: x for name, x in self.agreement.items()}
        wrap = textwrap.TextWrapper(80, initial_indent="  ", subsequent_indent="    ")
        notes = tuple(map(wrap.fill, self._data()))
        return Check(self.passed, title, rows, notes=notes, absent="none is there").report()

    def _data(self) -> list[str]:
        problem, end = f"X is {len(self.problem.X)} x {len(self.end.limit)}", self.end
        if (copies := self.problem.model.count) > 1:
            problem += f", {copies} copies of F with starts of their own"
        starts = ["; ".join(f"{n} = {x}" for n, x in start) for start in self.problem.starts]
        return [
            *([f"no interpolant: {self.missing}"] if self.missing else []),
            f"{problem}; {end.steps} Taylor steps to time {mpmath.nstr(end.time, 4)}",
            *(f"start {s}" for s in starts if s),
            *("X = " + " ".join(map(str, row)) for row in self.problem.X),
            "y = " + " ".join(map(str, self.problem.y)),
            "limit beta = " + " ".join(mpmath.nstr(x, 12) for x in end.limit),
            *(f"{text} was assumed to keep its sign and did not" for text in self.broken),
            *(attempt.told() for attempt in self.tried),
        ]

    def to_record(self) -> dict[str, object]:
        """Return the check as what JSON can hold: whole digits, and numbers as strings."""
        problem, end = self.problem, self.end

        def written(beta: tuple[Real, ...]) -> list[str]:
            return [mpmath.nstr(x, self.asked) for x in beta]

        agreement = self.agreement.items()
        return {
            "passed": self.passed,
            "asked": self.asked,
            "digits": math.floor(self.digits),
            "agreement": {name: None if x is None else math.floor(x) for name, x in agreement},
            "limit": written(end.limit),
            "interpolant": None if self.interpolant is None else written(self.interpolant),
            "missing": self.missing,
            "broken": list(self.broken),
            "tried": [attempt.told() for attempt in self.tried],
            "X": [[str(x) for x in row] for row in problem.X],
            "y": [str(x) for x in problem.y],
            "starts": [{name: str(x) for name, x in start} for start in problem.starts],
            "steps": end.steps,
            "time": mpmath.nstr(end.time, 15),
        }


GUARD = 6
"""Digits that the flow is run to beyond those asked for."""


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
    A vector of open dimension is one of three components, which starts along the first axis.

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
    derivation = in_components(derivation)
    if not derivation.potential.pieces:
        raise NumericalError(f"there is no Q to check: {derivation.potential.finding.words}")
    if (X is None) != (y is None):
        raise InputError("give X and y together, or neither")
    subject = Subject.of(derivation, given, X, count)
    potential, symbols = subject.potential, subject.parameterization.start_symbols
    refuse_integrals(potential.pieces)
    rng = np.random.default_rng(0) if rng is None else rng

    def check() -> CrossCheck:
        return _check(subject, subject.problem(rng, X, y), digits)

    def sound() -> CrossCheck:
        if (found := check()).broken:
            raise NumericalError(f"{', '.join(found.broken)} changed sign along the flow")
        return found

    drawn = X is None or any(len(values) < len(symbols) for values in subject.fixed)
    found = first_sound(sound, "check Q") if drawn else check()
    if X is not None or potential.other_side is not None or not found.passed:
        return found
    return replace(found, tried=attempts(potential, dict(found.problem.starts[0])))


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked: the flow on F, its conserved quantities, and Q; and starts, a copy each."""

    parameterization: Parameterization
    potential: Potential
    laws: tuple[Tree, ...]
    warp: Expr | None
    fixed: Sequence[Mapping[str, Fraction]]

    @classmethod
    def of(
        cls,
        derivation: Derivation,
        start: Mapping[str, object],
        X: Iterable[object] | None = None,
        copies: int = 0,
    ) -> Subject:
        """Give the parameters of F the numbers in *start*, by default halves of odd numbers.

        Copies of one output are as many as X has columns.
        """
        potential, laws = derivation.potential, derivation.conserved.laws
        p = (potential if derivation.ties else derivation).parameterization
        names = p.parameters
        if names:
            values = parameters_at(names, start)
            potential = specialize(potential, values)
            p = potential.parameterization
            laws = tuple(exact(law, values) for law in laws)
        trees = tuple(from_sympy(smooth(law), ANY_SIZE) for law in laws)
        rest = {name: value for name, value in start.items() if name not in names}
        columns = COPIES if X is None else len(read_matrix(X)[0])
        fixed = fixed_starts(p.start_symbols, rest, copies or (1 if p.d > 1 else columns))
        return cls(p, potential, trees, derivation.warping.g, fixed)

    def problem(
        self,
        rng: np.random.Generator,
        X: Iterable[object] | None = None,
        y: Iterable[object] | None = None,
    ) -> RegressionProblem:
        """Draw what of the starts, X and y is not given."""
        starts = draw_starts(self.potential, self.fixed, rng)
        return complete_problem(self.parameterization, X, y, starts, rng)

    def side(self, end: Flow) -> Potential:
        """Return the Q of flows that end here; of two where the warp is 0 at the start."""
        other, weights = self.potential.other_side, self.parameterization.weights
        if other is None or self.warp is None:
            return self.potential
        at = dict(zip(weights, end.weights, strict=True))
        return self.potential if evaluated(self.warp, at) > 0 else other


def _check(subject: Subject, problem: RegressionProblem, digits: int) -> CrossCheck:
    """Run the flow and compare; where terms of Q may cancel, once more at twice the digits."""
    end = problem.flow(digits + GUARD, conserved=problem.model.spread(subject.laws))
    check = _compare(subject, problem, end, digits, digits)
    return check if check.passed else _compare(subject, problem, end, digits, 2 * digits)


def _compare(
    subject: Subject, problem: RegressionProblem, end: Flow, digits: int, precision: int
) -> CrossCheck:
    """Compare to *digits*, with Q evaluated to *precision* digits and guard digits."""
    potential, copies = subject.side(end), problem.copies(end)
    working, most = precision + 2 * GUARD, digits + GUARD
    # A wrong gradient is to be found by the flow, not refused for its value at the start.
    q, gradient = joint(potential, [c.start for c in copies], working)

    def in_row_space(beta: Sequence[Real]) -> float:
        if not end.steps:  # the start interpolates: grad Q is 0 but for rounding
            return min(at_rest(gradient, beta, working), most)
        return min(stationarity(problem.X, gradient(beta), working), most)

    found, missing = None, ""
    try:
        with mpmath.workdps(working):
            found = polished_interpolant(q, gradient, problem.X, problem.y, most)
    except (InputError, NumericalError) as error:
        missing = str(error)
    interpolation = optimality = None
    if found is not None:
        interpolation = min(distance(end.limit, found, working), most)
        with mpmath.workdps(working):
            pairs = zip(problem.X, problem.y, strict=True)
            misfit = [mpmath.fdot(map(rational, row), found) - rational(t) for row, t in pairs]
            optimality = min(in_row_space(found), digits_of(mpmath.norm(misfit), end.scale))
    consistent = [consistency(potential, c, precision) for c in copies]
    consistent += [kernel_agreement(potential, c, working) for c in copies]
    consistent += [path_agreement(potential, c, precision) for c in copies[:1]]
    ends = (({**c.start, **c.begin}, {**c.start, **c.end}) for c in copies)
    broken = (text for begin, last in ends for text in broken_signs(potential.pieces, begin, last))
    agreement = {
        "interpolation": interpolation,
        "stationarity": in_row_space(end.limit),
        "feasibility": min(digits_of(end.residual, end.scale), most),
        "optimality": optimality,
        "consistency": least(consistent, most),
        "drift": least([digits_of(x, 1) for x in end.drift], most),
    }
    return CrossCheck(digits, agreement, end, found, missing, problem, tuple(dict.fromkeys(broken)))


Values: TypeAlias = Mapping[str, Real]


def path_agreement(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which forms in a weight give beta, dQ/dbeta and Q where a flow ends.

    There both are known from an ODE in the weights, which knows no formula of Q. None where no
    form is in a weight, without integrals over integrals.
    """
    p, found = potential.parameterization, list[float]()
    q, origin = unchecked(potential, copy.start), start_point(p, copy.start)[1]
    with mpmath.workdps(digits):
        gradient, limit = q.precise_gradient(copy.limit, digits), copy.limit
        known = q.precise_value(limit, digits) - q.precise_value(origin, digits)
        for (i, *_), piece in zip(p.blocks, potential.pieces, strict=True):
            path = piece.curve
            if path is None or not path.weight or piece.abbreviations:
                continue
            values = {name: rational(x) for name, x in copy.start.items()}
            (beta,), (slope,) = piece.betas, piece.gradient
            values |= {s.name: evaluated(e, values) for s, e in piece.constants}
            begin, end = (on_curve(path, w) for w in (copy.begin, copy.end))
            slope, value = (with_roots(e, path, begin | values) for e in (slope, piece.value))
            there = {**values, **end, beta.name: limit[i]}
            shown = evaluated(path.beta, there), evaluated(slope, there)
            found += [
                digits_of(x - y, y) for x, y in zip(shown, (limit[i], gradient[i]), strict=True)
            ]
            if len(potential.pieces) == 1:
                whole, here = value.xreplace({beta: path.beta}), {**values, **begin}
                rise = evaluated(whole, there) - evaluated(whole, here)
                found.append(digits_of(rise - known, gradient[i] * limit[i]))
    return min(found, default=None)


def on_curve(path: Curve, weights: Values) -> dict[str, Real]:
    """Return t, and the roots above it, at a point of the flow."""
    roots = {A.name: weights[w] for w, A, _ in path.roots}
    own = to_sympy(parse_expression(path.weight), {w: sympy.Symbol(w) for w in weights})
    return {path.parameter.name: evaluated(own, weights), **roots}


def with_roots(expression: Expr, path: Curve, values: Values) -> Expr:
    """Return an expression in which A(x) is found in numbers, as a root from its start."""
    for _, A, zero in path.roots:

        def root(t: Real, A: Symbol = A, zero: Expr = zero) -> Real:
            at = {**values, path.parameter.name: t}
            return _root(lambda x: evaluated(zero, {**at, A.name: x}), values[A.name], A)

        found = implemented_function(A.name, root)
        expression = expression.replace(sympy.Function(A.name, real=True), found)
    return expression


def _root(f: Callable[[Real], Real], guess: Real, A: Symbol) -> Real:
    """Return the root of an increasing function of A, between bounds that leave a guess."""
    low, high, step = guess, guess, mpmath.mpf(1)
    while f(low) > 0:
        low, step = (low / 4 if A.is_positive else low - step), 2 * step
    while f(high) < 0:
        high, step = high + step, 2 * step
    return low if low == high else mpmath.findroot(f, (low, high), solver="anderson")
