"""What a perturbation does, put to the test by perturbed flows on small regression problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import numpy as np
import sympy

from derive.errors import NumericalError, check_kind
from derive.language import parse_expression
from derive.language.tree import Name
from derive.perturbed.record import Perturbation
from numerics.confirm.perturbed_case import Case, PathMean, drawing, noisy_paths
from numerics.confirm.regression_problem import (
    SLACK,
    distance,
    first_sound,
    least,
    stationarity,
    table,
)
from numerics.evaluate.numbers import Real, compiled, rational
from numerics.integrator.gradient_flow import flow
from numerics.integrator.jets import bits_of
from numerics.integrator.perturbed import NONE, Step, Terms, perturbed_flow, stepper, take_steps

DECAY = "exp(-t)"
"""kappa(t), of which the integral is 1."""
MASS, STEPS = Fraction(1, 20), 200
DAMPING, UNTIL = 3, Fraction(2)
"""Nesterov's r, and the time up to which that flow runs from t = 1."""
SIZES = tuple(Fraction(1, 4**k) for k in range(3, 9))
"""Step sizes, of which the first is taken at which no law is singular on the way."""


@dataclass(frozen=True, slots=True)
class PerturbedCheck:
    """How well the drift of c and y, and the limit, agree with a perturbed flow, in digits.

    Attributes:
        by, asked: the perturbation, and the digits asked for.
        laws: of c(inf) - c(0) being the drift along the flow; None where there are no laws.
        dual: of y(inf) - y(0), less the drift, being in the row space of X; None where not all
            are known.
        limit: of the limit being that of plain flow from the start that was predicted; None where
            none is.
        unperturbed: to which the limit is that of plain flow from the start itself.
        steps: that were taken.
        damped: of both under Nesterov's damping; None without momentum.
        paths: under noise, what c and y moved by over paths that are drawn, beside the drift.
    """

    by: str
    asked: int
    laws: float | None
    dual: float | None
    limit: float | None
    unperturbed: float | None
    steps: int
    damped: float | None = None
    paths: tuple[PathMean, ...] = ()

    @property
    def digits(self) -> float:
        """The least of what was compared; inf where nothing was."""
        compared = least((self.laws, self.dual, self.limit, self.damped))
        return np.inf if compared is None else compared

    @property
    def passed(self) -> bool:
        """Whether all but a few of the digits asked for were found."""
        agree = all(path.agrees for path in self.paths)
        return self.asked - SLACK <= self.digits < np.inf and agree

    def report(self) -> str:
        """Return the check as lines of at most 80 columns."""
        verdict = "agree to" if self.passed else "DISAGREE: they share only"
        rows = {
            f"laws under {self.by}": self.laws,
            f"dual coordinates under {self.by}": self.dual,
            "both under Nesterov's damping 3/t": self.damped,
            "limit = that from the start predicted": self.limit,
            "limit = that without (may differ)": self.unperturbed,
        }
        lines = [f"Flow of the weights and drift {verdict} {self.digits:.0f} digits"]
        if self.digits == np.inf:
            lines = ["NOT CONFIRMED: there is nothing to compare with a flow of the weights"]
        lines += table(rows, "not compared")
        return "\n".join([*lines, *(path.report() for path in self.paths)])


def confirm_perturbation(
    found: Perturbation,
    start: Mapping[str, object] | None = None,
    digits: int = 30,
    *,
    rng: np.random.Generator | None = None,
) -> PerturbedCheck:
    """Run a perturbed flow of the weights and compare with what was derived.

    Under decay and momentum the flow runs to its limit; c and y must move by the integrals of
    their drifts, y up to the row space of X, and under decay the limit must be that of plain flow
    from the start predicted. Under Nesterov's damping 3/t, of which the flow comes to rest too
    slowly, c + (t/2) c' and y + (t/2) y' must have moved so at a time. Steps are those of SGD, one
    row at a time. The drift under noise is half the second difference of c and y along the fields,
    and a mean over paths of an Euler scheme.

    Args:
        found: what was derived.
        start: numbers for start symbols and parameters; others are drawn, as are X and y.
        digits: decimal digits to look for.
        rng: what to draw from; the same problem each time by default.

    Raises:
        InputError: a number or a name is wrong.
        NumericalError: no perturbed flow was found that converges without meeting a pole.

    >>> from derive import Parameterization, derive, perturb
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> confirm_perturbation(perturb(derive(p), "decay"), digits=15).passed
    True
    """
    check_kind(found, Perturbation, "perturb(derive('p**2'), 'decay')")
    rng = np.random.default_rng(0) if rng is None else rng
    kinds, draw = found.kinds, drawing(found, dict(start or {}), rng)
    terms = Terms(
        parse_expression(DECAY) if "decay" in kinds else NONE,
        MASS if "momentum" in kinds else Fraction(0),
    )

    def check() -> PerturbedCheck:
        case = draw()
        if "step" in kinds:
            return _stepped(case, found, digits, rng)
        if "noise" in kinds and "momentum" not in kinds:
            return _differences(case, found, digits, rng)
        own = replace(terms, penalty=case.penalty, mirror=case.mirror)
        flowed = _flowed(case, found, own, digits)
        drawn = "noise" in kinds and not case.penalty
        return replace(flowed, paths=noisy_paths(case, kinds, rng) if drawn else ())

    return first_sound(check, "check the drift")


def _flowed(case: Case, found: Perturbation, terms: Terms, digits: int) -> PerturbedCheck:
    """Compare the limit of a perturbed flow, and what c and y are there."""
    kappa = case.letter("kappa")
    lam = sympy.Rational(terms.mass.numerator, terms.mass.denominator)
    size = {"decay": kappa, "momentum": lam}.get(found.by, sympy.S.One)
    along = case.trees(size, k=kappa, lam=lam)
    end = perturbed_flow(
        case.problem.model, case.data, replace(terms, along=(*along, Name(kappa.name))), digits
    )
    plain = flow(case.problem.model, *case.data, digits).limit
    limit = None
    if case.start:
        limit = distance(end.limit, _predicted(case, end.along[-1], digits), digits)
    laws, dual = _drifted(case, end.weights, end.along, digits)
    beside = distance(end.limit, plain, digits)
    damped = _damped(case, terms, digits) if terms.mass else None
    return PerturbedCheck(found.by, digits, laws, dual, limit, beside, end.steps, damped)


def _damped(case: Case, terms: Terms, digits: int) -> float | None:
    """Return the digits to which c and y moved by their drift under Nesterov's damping."""
    t, kappa = case.letter("t"), case.letter("kappa")
    along = case.trees(t / (DAMPING - 1), k=kappa, lam=sympy.S.One)
    given = replace(terms, mass=Fraction(0), damping=Fraction(DAMPING), along=along)
    end = perturbed_flow(case.problem.model, case.data, given, digits, until=UNTIL)
    with mpmath.workdps(digits + 10):
        mu = rational(UNTIL) / (DAMPING - 1)
        rates = case.derivatives(end.weights, end.velocities)
        left = [a - mu * b for a, b in zip(end.along, rates, strict=True)]
    return least(_drifted(case, end.weights, left, digits))


def _predicted(case: Case, decayed: Real, digits: int) -> tuple[Real, ...]:
    """Return the limit of plain flow from the start that was predicted."""
    begin = dict[str, object]()
    with mpmath.workdps(digits + 10):
        for prefix, start in zip(case.problem.model.prefixes, case.problem.starts, strict=True):
            own = {name: rational(x) for name, x in start}
            for w, f in case.start:
                names = sorted(s.name for s in f.free_symbols)
                values = [own.get(name, decayed) for name in names]
                (begin[prefix + w],) = compiled([f], names, "mpmath")(*values)
        return flow(case.problem.model, case.problem.X, case.problem.y, begin, digits).limit


def _drifted(
    case: Case, weights: Sequence[Real], along: Sequence[Real], digits: int
) -> tuple[float | None, float | None]:
    """Return the digits to which c moved by what is *along*, and all y but for the row space."""
    with mpmath.workdps(digits + 10):
        moved = case.moved(weights)
        left = [a - b for a, b in zip(moved, along, strict=False)]
        laws, _ = case.split(left, moved)
    y = left[len(left) - len(case.dual) * case.problem.model.count :]
    every = len(y) == len(case.problem.X[0])
    return laws, stationarity(case.problem.X, y, digits + 10) if every else None


def _stepped(
    case: Case, found: Perturbation, digits: int, rng: np.random.Generator
) -> PerturbedCheck:
    """Take steps of SGD; c and y move by the sums of their increments."""
    rows = [(int(i),) for i in rng.integers(len(case.problem.X), size=STEPS)]
    k = Fraction("decay" in found.kinds) / 2
    mu = Fraction("momentum" in found.kinds) / 4
    last = NumericalError("no step is small enough")
    for eta in SIZES:
        steps = [Step(eta, row, k, mu) for row in rows]
        try:
            given = case.problem.model, case.data, steps, case.trees(), digits
            end = take_steps(*given, penalty=case.penalty, mirror=case.mirror)
        except NumericalError as error:
            last = error
            continue
        with mpmath.workdps(digits + 10):
            moved = case.moved(end.weights)
            before = case.moved([w - v for w, v in zip(end.weights, end.velocities, strict=True)])
            left = [
                a - rational(mu) * b - c for a, b, c in zip(moved, before, end.along, strict=True)
            ]
            parts = case.split(left, moved)
            return PerturbedCheck(found.by, digits, *parts, None, None, end.steps)
    raise last


def _differences(
    case: Case, found: Perturbation, digits: int, rng: np.random.Generator
) -> PerturbedCheck:
    """Compare the drift under noise with half the second differences along the fields."""
    n, k = len(case.problem.model.weights), int("decay" in found.kinds)
    drawn = [Fraction(int(i), 8) for i in rng.integers(1, 9, size=len(case.problem.model.trees))]
    _, moves, _ = stepper(case.problem.model, (), bits_of(4 * digits), case.penalty, case.mirror)
    with mpmath.workdps(4 * digits):
        h, G, w = mpmath.mpf(10) ** -digits, [rational(x) for x in drawn], case.origin
        ends = (moves([*w, *[0] * n, *G, s * h, s * h * k, 0]) for s in (1, -1))
        second = [(a + b) / (2 * h * h) for a, b in zip(*map(case.moved, ends), strict=True)]
        wanted = case.evaluated(case.copied(lambda x: x.change), [*w, *G, k])
        left = [a - b for a, b in zip(second, wanted, strict=True)]
        parts = case.split(left, second)
    paths = () if case.penalty else noisy_paths(case, found.kinds, rng)
    return PerturbedCheck(found.by, digits, *parts, None, None, 2, None, paths)
