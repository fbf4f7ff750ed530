"""Limits of Q put to the test: interpolants at two scales against the minimizer of the limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.optimize

from derive.errors import DeriveError, NumericalError
from derive.limits.find import Regimes
from derive.limits.limit import Limit
from derive.records import Potential
from numerics.confirm.limits import draw_rest, has_integral, moves_exponent, point_at, proved_limits
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.interpolant import interpolate
from numerics.interpolants.least_l1 import NoMinimizer
from tests.numerics.confirm.limit_minimizer import LimitProblem, basis_of, least_of_limit

_HALVES = Fraction(1, 2), range(1, 61), 0.02, 0.02
"""Powers of a step: distances from the limit; the rate at the first, about, and its fall."""
_SMALL_STEPS = Fraction(19, 20), range(1, 61), 0.02, 0.2
"""The same where Q outgrows every power."""
_DEPTHS = Fraction(1, 2), range(1, 7), 0.15, 0.3
"""The same for exponents."""
_MIDDLE = 5
_NEAR = 0.3
"""The relative distance from which the two are compared."""
_ATTEMPTS = 6
_SLACK = 0.25
"""Of the logarithm of the ratio of distances."""
_ROUNDING = 1e-8
_TOLERANCE = 1e-13
_COPIES = 4
"""Coordinates of a Q of a single output."""


@dataclass(frozen=True, slots=True)
class InterpolantConfirmation:
    """The distance from the interpolant of Q to the minimizer of its limit, at two scales.

    Attributes:
        X, minimizer: (m, d); of the limit, (d,) in its own coordinates.
        scales, start: the two values of the start symbol; the values of the others.
        distances: max_i |beta_i - beta*_i| / max_i |beta*_i| at each.
        predicted: their ratio, which is no smaller if *sharp*; None where the limit is Q itself.
    """

    limit: Limit
    X: Array
    minimizer: Array
    scales: tuple[Fraction, Fraction]
    distances: tuple[float, float]
    predicted: float | None
    sharp: bool
    start: tuple[tuple[str, Fraction], ...]

    @property
    def ratio(self) -> float:
        """The second distance over the first."""
        first, second = self.distances
        return second / first if first else 0.0

    @property
    def passed(self) -> bool:
        """Whether the distance falls at the predicted rate; at least so where that is a bound."""
        first, second = self.distances
        if self.predicted is None or first < _ROUNDING:
            return max(first, second) < _ROUNDING
        if not (first < _NEAR and second < first):
            return False
        asked, found = np.log(self.predicted), np.log(self.ratio)
        reached = found <= asked * (1 - _SLACK) or second < _ROUNDING
        return bool(reached and (not self.sharp or found >= asked * (1 + _SLACK)))

    def report(self) -> str:
        """Return the test as a few short lines."""
        point = self.limit.point
        distances = " and ".join(f"{x:.3g}" for x in self.distances)
        scales = " and ".join(f"{float(x):.3g}" for x in self.scales)
        rate = "; the limit is Q itself"
        if self.predicted is not None:
            bound = "" if self.sharp else "at most "
            rate = f"; ratio {self.ratio:.3g}, predicted {bound}{self.predicted:.3g}"
        verdict = "confirmed" if self.passed else "NOT CONFIRMED"
        apart = f"  {distances} from the minimizer of the limit\n"
        return f"{point.text}: interpolant {verdict}\n{apart}  at {point.variable} = {scales}{rate}"


@dataclass(frozen=True, slots=True)
class Untested:
    """A limit for which no problem was found, and why; passed where there is none to be found."""

    limit: Limit
    reason: str
    passed: bool = False

    def report(self) -> str:
        """Return the reason as one line."""
        return f"{self.limit.point.text}: interpolant NOT TESTED; {self.reason}"


def confirm_minimizers(
    regimes: Regimes, rng: np.random.Generator | None = None
) -> tuple[InterpolantConfirmation | Untested, ...]:
    """Compare minimizers of Q and of each limit proved, subject to X beta = y drawn from *rng*."""
    rng, potential = rng or np.random.default_rng(0), regimes.derivation.potential
    return tuple(_approach(potential, limit, rng) for limit in proved_limits(regimes))


def _approach(
    potential: Potential, limit: Limit, rng: np.random.Generator
) -> InterpolantConfirmation | Untested:
    if has_integral(limit):
        return Untested(limit, "an integral stands in it", passed=True)
    if limit.error == 0:
        return Untested(limit, "its error is smaller than every power", passed=True)
    found: InterpolantConfirmation | Untested = Untested(limit, "no problem fits its assumptions")
    for attempt in range(_ATTEMPTS):
        try:
            # Later attempts are nearer to the limit, and beta nearer to 0.
            found = _try(potential, limit, rng, attempt)
        except NoMinimizer as fault:
            return Untested(limit, str(fault), passed=True)
        except DeriveError as fault:
            found = Untested(limit, str(fault)) if isinstance(found, Untested) else found
            continue
        if found.distances[0] < _NEAR:
            break
    return found


def _try(
    potential: Potential, limit: Limit, rng: np.random.Generator, attempt: int
) -> InterpolantConfirmation:
    d = len(limit.coordinates) if len(limit.coordinates) > 1 else _COPIES
    scales, start_rate, fall = _grid(potential, limit)
    rest = draw_rest(potential, limit.point, scales[_MIDDLE], rng, attempt)
    X = rng.uniform(0.5, 2, size=(d // 2, d))
    y = X @ basis_of(limit, d) @ rng.uniform(0.5, 1.5, size=d) * 2.0**-attempt
    problem = LimitProblem(potential, limit, X, y, rest)
    least = least_of_limit(problem, scales[_MIDDLE])
    first = _reached(least.rate, scales, 0, start_rate * 4.0**-attempt)
    second = _reached(least.rate, scales, first + 1, least.rate(scales[first]) * fall)
    pair = scales[first], scales[second]
    distances = _distance(problem, least.beta, pair[0]), _distance(problem, least.beta, pair[1])
    exact = limit.error is None and not least.sharp
    rate = None if exact else least.rate(pair[1]) / least.rate(pair[0])
    about = distances, rate, least.sharp, tuple(rest.items())
    return InterpolantConfirmation(limit, X, least.beta, pair, *about)


def _grid(potential: Potential, limit: Limit) -> tuple[list[Fraction], float, float]:
    grid = _HALVES
    if moves_exponent(potential, limit.point):
        grid = _DEPTHS
    elif limit.unit is not None and limit.unit.has(*limit.coordinates):
        grid = _SMALL_STEPS
    step, powers, start_rate, fall = grid
    return [point_at(limit.point, step**k) for k in powers], start_rate, fall


def _reached(
    rate: Callable[[Fraction], float], scales: Sequence[Fraction], after: int, bound: float
) -> int:
    """Return the first scale from *after* on at which the rate is so small."""
    for k in range(after, len(scales)):
        if rate(scales[k]) <= bound:
            return k
    raise NumericalError("the minimizer tends to that of the limit too slowly to be seen")


def _distance(problem: LimitProblem, least: Array, scale: Fraction) -> float:
    """Return how far the interpolant of Q is from a point, relative to its size."""
    q = problem.potential(scale)
    origin = problem.origin(scale)
    found = interpolate(q, problem.X, problem.y + problem.X @ origin, tol=_TOLERANCE)
    beta = found.value
    if max(found.residual, found.stationarity) > _ROUNDING:
        beta = _nearby(q, problem.X, origin + problem.basis @ least)
    x = np.linalg.solve(problem.basis, beta - origin)
    return float(np.abs(x - least).max() / np.abs(least).max())


def _nearby(q: NumericPotential, X: Array, beta: Array) -> Array:
    """Return the interpolant of a steep Q, which is unique, from a point with the same X beta."""
    along = np.linalg.svd(X)[2][X.shape[0] :]

    def slope(t: Array) -> Array:
        g = np.atleast_1d(q.gradient(beta + t @ along))
        return np.asarray(along @ g / np.linalg.norm(g))

    with np.errstate(all="ignore"):
        found = scipy.optimize.root(slope, np.zeros(len(along)), tol=_TOLERANCE).x
        left = np.abs(slope(found)).max()
    if not left < _ROUNDING:
        raise NumericalError("the interpolant was not found")
    return np.asarray(beta + found @ along)
