"""What a perturbation does, put to the test by perturbed flows on small regression problems."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TypeAlias

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
    Check,
    distance,
    first_sound,
    least,
    stationarity,
)
from numerics.evaluate.numbers import Real, evaluated, rational
from numerics.integrator.gradient_flow import flow
from numerics.integrator.jets import bits_of
from numerics.integrator.perturbed import NONE, Step, Terms, perturbed_flow, stepper, take_steps

DECAY = "4*exp(-4*t)"
"""kappa(t), of which the integral is 1."""
MASS, STEPS = Fraction(1, 20), 200
"""The greatest mass: with more than 1/(4 |X K X^T|) a flow swings, of which each turn is dear."""
DAMPING, UNTIL = 3, Fraction(2)
"""Nesterov's r, and the time up to which that flow runs from t = 1."""
SIZES = tuple(Fraction(1, 4**k) for k in range(3, 9))
"""Step sizes, of which the first is taken at which no law is singular on the way."""


ROWS = {
    "laws": "laws under {by}",
    "dual": "dual coordinates under {by}",
    "damped": "both under Nesterov's damping 3/t",
    "limit": "limit = that from the start predicted",
    "unperturbed": "limit = that without (may differ)",
}
"""What is compared: c(inf) - c(0) with its drift along the flow; y(inf) - y(0), less its drift,
with the row space of X; both at a time; and the limit with that of plain flow, from two starts."""
Digits: TypeAlias = dict[str, float | None]


def confirm_perturbation(
    found: Perturbation,
    start: Mapping[str, object] | None = None,
    digits: int = 30,
    *,
    rng: np.random.Generator | None = None,
) -> Check:
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
    decay = parse_expression(DECAY) if "decay" in kinds else NONE

    def check() -> Check:
        case = draw()
        if "step" in kinds:
            compared = _stepped(case, kinds, digits, rng)
        elif "noise" in kinds and "momentum" not in kinds:
            compared = _differences(case, kinds, digits, rng)
        else:
            mass = case.lightness(MASS) if "momentum" in kinds else Fraction(0)
            own = Terms(decay, mass, penalty=case.penalty, mirror=case.mirror)
            compared = _flowed(case, found.by, own, digits)
        drawn = "noise" in kinds and not (case.penalty or "step" in kinds)
        paths = noisy_paths(case, kinds, rng) if drawn and (case.laws or case.dual) else ()
        return _told(found.by, compared, paths, digits)

    return first_sound(check, "check the drift")


def _told(by: str, compared: Digits, paths: Sequence[PathMean], asked: int) -> Check:
    """Return the check that passes where all agrees, but the limit with the unperturbed one."""
    known = least(x for name, x in compared.items() if name != "unperturbed")
    passed = known is not None and asked - SLACK <= known and all(path.agrees for path in paths)
    shared = "exactly" if known == math.inf else f"to {known or 0:.0f} digits"
    title = (
        f"Flow of the weights and drift {'agree' if passed else 'DISAGREE: they agree'} {shared}"
    )
    if known is None:
        title = "NOT CONFIRMED: there is nothing to compare with a flow of the weights"
    rows = {text.format(by=by): compared.get(name) for name, text in ROWS.items()}
    moved = [asdict(path) | {"agrees": path.agrees} for path in paths]
    record = {"asked": asked, **compared, "paths": moved}
    return Check(passed, title, rows, record, tuple(path.report() for path in paths))


def _flowed(case: Case, by: str, terms: Terms, digits: int) -> Digits:
    """Compare the limit of a perturbed flow, and what c and y are there."""
    kappa = case.letter("kappa")
    lam = sympy.Rational(terms.mass.numerator, terms.mass.denominator)
    size = {"decay": kappa, "momentum": lam}.get(by, sympy.S.One)
    along = (*case.trees(size, k=kappa, lam=lam), Name(kappa.name))
    end = perturbed_flow(case.problem.model, case.data, replace(terms, along=along), digits)
    plain = flow(case.problem.model, *case.data, digits).limit
    found = _drifted(case, end.weights, end.along, digits)
    found["unperturbed"] = distance(end.limit, plain, digits)
    if case.start:
        found["limit"] = distance(end.limit, _predicted(case, end.along[-1], digits), digits)
    if terms.mass:
        found["damped"] = _damped(case, terms, digits)
    return found


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
    return least(_drifted(case, end.weights, left, digits).values())


def _predicted(case: Case, decayed: Real, digits: int) -> tuple[Real, ...]:
    """Return the limit of plain flow from the start that was predicted."""
    begin = dict[str, object](case.problem.origin)
    with mpmath.workdps(digits + 10):
        for prefix, start in zip(case.problem.model.prefixes, case.problem.starts, strict=True):
            own = {name: rational(x) for name, x in start}
            for w, f in case.start:
                names = (s.name for s in f.free_symbols)
                begin[prefix + w] = evaluated(f, {x: own.get(x, decayed) for x in names})
        return flow(case.problem.model, case.problem.X, case.problem.y, begin, digits).limit


def _drifted(case: Case, weights: Sequence[Real], along: Sequence[Real], digits: int) -> Digits:
    """Return the digits to which c moved by what is *along*, and all y but for the row space."""
    with mpmath.workdps(digits + 10):
        moved = case.moved(weights)
        left = [a - b for a, b in zip(moved, along, strict=False)]
        found = case.split(left, moved)
    y = left[len(left) - len(case.dual) * case.problem.model.count :]
    every = len(y) == len(case.problem.X[0])
    return found | {"dual": stationarity(case.problem.X, y, digits + 10) if every else None}


def _stepped(case: Case, kinds: Collection[str], digits: int, rng: np.random.Generator) -> Digits:
    """Take steps of SGD; c and y move by the sums of their increments."""
    rows = [(int(i),) for i in rng.integers(len(case.problem.X), size=STEPS)]
    k = Fraction("decay" in kinds) / 2
    mu = Fraction("momentum" in kinds) / 4
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
            return case.split(left, moved)
    raise last


def _differences(
    case: Case, kinds: Collection[str], digits: int, rng: np.random.Generator
) -> Digits:
    """Compare the drift under noise with half the second differences along the fields."""
    n, k = len(case.problem.model.weights), int("decay" in kinds)
    drawn = [Fraction(int(i), 8) for i in rng.integers(1, 9, size=len(case.problem.model.trees))]
    _, moves, _ = stepper(case.problem.model, (), bits_of(4 * digits), case.penalty, case.mirror)
    with mpmath.workdps(4 * digits):
        h, G, w = mpmath.mpf(10) ** -digits, [rational(x) for x in drawn], case.origin
        ends = (moves([*w, *[0] * n, *G, s * h, s * h * k, 0]) for s in (1, -1))
        second = [(a + b) / (2 * h * h) for a, b in zip(*map(case.moved, ends), strict=True)]
        wanted = case.evaluated(case.copied(lambda x: x.change), [*w, *G, k])
        left = [a - b for a, b in zip(second, wanted, strict=True)]
        return case.split(left, second)
