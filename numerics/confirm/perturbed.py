"""What a perturbation does, put to the test by perturbed flows of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import sympy

from derive.errors import DegenerateStart, InputError, NumericalError, check_kind
from derive.language import parse_expression
from derive.language.tree import Name, Number, Operation, Tree
from derive.perturbed.record import Perturbation
from numerics.confirm.agreement import SLACK, distance, stationarity
from numerics.confirm.perturbed_case import Case, cases
from numerics.flow.fixed_point import bits_of
from numerics.flow.gradient_flow import flow
from numerics.flow.perturbed import Perturbed, Step, Terms, perturbed_flow, stepper, take_steps
from numerics.reals import Real, rational

DECAY = "exp(-t)"
"""kappa(t), of which the integral is 1."""
MASS, STEPS = Fraction(1, 20), 200
SIZES = tuple(Fraction(1, 4**k) for k in range(3, 9))
"""Step sizes, of which the first is taken at which no law is singular on the way."""


@dataclass(frozen=True, slots=True)
class PerturbedCheck:
    """How well the drift of c and y, and the limit, agree with a perturbed flow, in digits.

    Attributes:
        by, asked: the perturbation, and the digits asked for.
        laws: of c(inf) - c(0) being the drift along the flow; None where there are no laws.
        dual: of y(inf) - y(0), less the drift, being in the row space of X; None without y.
        limit: of the limit being that of plain flow from the start that was predicted; None where
            none is.
        unperturbed: to which the limit is that of plain flow from the start itself.
        steps: that were taken.
    """

    by: str
    asked: int
    laws: float | None
    dual: float | None
    limit: float | None
    unperturbed: float | None
    steps: int

    @property
    def digits(self) -> float:
        """The least of what was compared; inf where nothing was."""
        return min((x for x in (self.laws, self.dual, self.limit) if x is not None), default=np.inf)

    @property
    def passed(self) -> bool:
        """Whether all but a few of the digits asked for were found."""
        return self.asked - SLACK <= self.digits < np.inf

    def report(self) -> str:
        """Return the check as lines of at most 80 columns."""
        verdict = "agree to" if self.passed else "DISAGREE: they share only"
        shown = {
            f"laws under {self.by}": self.laws,
            f"dual coordinates under {self.by}": self.dual,
            "limit = that from the start predicted": self.limit,
            "limit = that without (may differ)": self.unperturbed,
        }
        lines = [f"Flow of the weights and drift {verdict} {self.digits:.0f} digits"]
        if self.digits == np.inf:
            lines = ["NOT CONFIRMED: there is nothing to compare with a flow of the weights"]
        for name, x in shown.items():
            lines.append(f"  {name:38} {'not compared' if x is None else f'{x:3.0f} digits'}")
        return "\n".join(lines)


def confirm_perturbation(
    found: Perturbation,
    start: Mapping[str, object] | None = None,
    digits: int = 30,
    *,
    decay: str = DECAY,
    mass: Fraction = MASS,
    rng: np.random.Generator | None = None,
) -> PerturbedCheck:
    """Run a perturbed flow of the weights and compare with what was derived.

    Under decay and momentum the flow runs to its limit; c and y must move by the integrals of
    their drifts, y up to the row space of X, and under decay the limit must be that of plain flow
    from the start predicted. Steps are those of SGD, one row at a time. The drift under noise is
    half the second difference of c and y along the fields.

    Args:
        found: what was derived.
        start: numbers for start symbols and parameters; others are drawn, as are X and y.
        digits: decimal digits to look for.
        decay, mass: kappa(t), and the mass of momentum.
        rng: what to draw from; the same problem each time by default.

    Raises:
        InputError: a number or a name is wrong, or the decay is that of a penalty.
        NumericalError: no perturbed flow was found that converges without meeting a pole.

    >>> from derive import Parameterization, derive, perturb
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> confirm_perturbation(perturb(derive(p), "decay"), digits=15).passed
    True
    """
    check_kind(found, Perturbation, "perturb(derive('p**2'), 'decay')")
    if found.penalty is not None:
        raise InputError("flows with a penalty are not run")
    rng = np.random.default_rng(0) if rng is None else rng
    terms = {"decay": parse_expression(decay), "momentum": Number(mass)}
    last = ""
    for case in cases(found, dict(start or {}), rng):
        try:
            if found.by == "noise":
                return _differences(case, digits, rng)
            if found.by == "step":
                return _stepped(case, digits, rng)
            return _flowed(case, found.by, terms[found.by], digits)
        except (NumericalError, DegenerateStart) as error:
            last = str(error)
    raise NumericalError(f"no problem was found on which to check the drift: {last}")


def _flowed(case: Case, by: str, factor: Tree, digits: int) -> PerturbedCheck:
    """Compare the limit of a perturbed flow, and what c and y are there."""
    along = [Operation("*", Name("kappa") if by == "decay" else factor, f) for f in case.trees()]
    terms = Terms(mass=factor.value) if isinstance(factor, Number) else Terms(decay=factor)
    given = Terms(terms.decay, terms.mass, (*along, Name("kappa")))
    end = perturbed_flow(case.problem, case.data, given, digits)
    plain = flow(case.problem, *case.data, digits).limit
    wanted = _predicted(case, end.along[-1], digits) if by == "decay" and case.start else None
    limit = None if wanted is None else distance(end.limit, wanted, digits)
    laws, dual = _drifted(case, end, digits)
    beside = distance(end.limit, plain, digits)
    return PerturbedCheck(by, digits, laws, dual, limit, beside, end.steps)


def _predicted(case: Case, decayed: Real, digits: int) -> tuple[Real, ...]:
    """Return the limit of plain flow from the start that was predicted."""
    begin = dict[str, object]()
    with mpmath.workdps(digits + 10):
        for prefix, start in zip(case.problem.model.prefixes, case.problem.starts, strict=True):
            own = {name: rational(x) for name, x in start}
            for w, f in case.start:
                symbols = sorted(f.free_symbols, key=str)
                values = [own.get(s.name, decayed) for s in symbols]
                begin[prefix + w] = sympy.lambdify(symbols, f, "mpmath")(*values)
        return flow(case.problem, case.problem.X, case.problem.y, begin, digits).limit


def _drifted(case: Case, end: Perturbed, digits: int) -> tuple[float | None, float | None]:
    """Return the digits to which c moved by its drift, and y but for the row space."""
    with mpmath.workdps(digits + 10):
        moved = case.moved(end.weights)
        left = [a - b for a, b in zip(moved, end.along, strict=False)]
        laws, dual = case.split(left, moved)
    y = left[len(left) - len(case.dual) * case.problem.model.count :]
    return laws, dual if dual is None else stationarity(case.problem.X, y, digits + 10)


def _stepped(case: Case, digits: int, rng: np.random.Generator) -> PerturbedCheck:
    """Take steps of SGD; c and y move by the sums of their increments."""
    rows = [(int(i),) for i in rng.integers(len(case.problem.X), size=STEPS)]
    last = NumericalError("no step is small enough")
    for eta in SIZES:
        steps = [Step(eta, row) for row in rows]
        try:
            end = take_steps(case.problem, case.data, steps, case.trees(), digits)
        except NumericalError as error:
            last = error
            continue
        with mpmath.workdps(digits + 10):
            moved = case.moved(end.weights)
            left = [a - b for a, b in zip(moved, end.along, strict=True)]
            return PerturbedCheck("step", digits, *case.split(left, moved), None, None, end.steps)
    raise last


def _differences(case: Case, digits: int, rng: np.random.Generator) -> PerturbedCheck:
    """Compare the drift under noise with half the second differences along the fields."""
    n = len(case.problem.weights)
    drawn = [Fraction(int(k), 8) for k in rng.integers(1, 9, size=len(case.problem.trees))]
    _, moves = stepper(case.problem, (), bits_of(4 * digits))
    with mpmath.workdps(4 * digits):
        h, G, w = mpmath.mpf(10) ** -digits, [rational(x) for x in drawn], case.origin
        found = [case.moved(moves.at([*w, *G, s * h])[:n]) for s in (1, -1)]
        second = [(a + b) / (2 * h * h) for a, b in zip(*found, strict=True)]
        wanted = case.evaluated(case.copied(lambda x: x.change), [*w, *G])
        left = [a - b for a, b in zip(second, wanted, strict=True)]
        return PerturbedCheck("noise", digits, *case.split(left, second), None, None, 2)
