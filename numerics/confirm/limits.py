"""Limits of Q, and moments of wide starts, put to the test in numbers.

How small or large a start must be for a least norm: claimed bounds tried on random problems. The
theorems of Woodworth et al. 2020 on beta = p^2 - m^2 are of this kind, |beta|_p^p <= (1 + eps)
|b|_p^p with p = 1 for small starts and p = 2 for large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import TypeAlias

import mpmath
import numpy as np
import sympy

from derive.errors import DeriveError, NumericalError
from derive.limits.find import Regimes
from derive.limits.limit import Limit, Point
from derive.limits.random_width import DEVIATION, RandomWidth
from derive.records import Potential
from derive.verdict import Verdict
from numerics.confirm.regression_problem import Check, draw_starts, first_sound
from numerics.evaluate.lowering import lower
from numerics.evaluate.numbers import (
    GUARD,
    Array,
    Real,
    check_digits,
    evaluated,
    exact,
    on_arrays,
    rational,
)
from numerics.evaluate.start import parameters_at, specialize
from numerics.interpolants.interpolant import interpolate, least_l1

_SCALES = Fraction(1, 10**3), Fraction(1, 10**6)
"""The two distances from the limit; from infinity, their inverses."""
_DEPTHS = Fraction(1, 16), Fraction(1, 64)
"""The same for parameters, which are exponents."""
_EXPONENTS = Fraction(1, 8), Fraction(1, 16)
"""The same where the small parameter is an exponential."""
_LOGARITHMIC = mpmath.mpf(1) / 2
"""The ratio of log(1/alpha) at the two distances."""
_ATTEMPTS = 6
_SLACK = 0.2
"""Of the logarithm of the ratio of errors."""
_WORKING = 4
"""Times the digits asked for are worked with where errors of high order are seen in these as 0."""
_Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Fall:
    """Errors max_i |dQ/dbeta_i / N - G_i| / max_i |G_i| of a limit at two scales, as mpf.

    *predicted* is the ratio of the errors by the predicted order; None where they fall faster than
    every power. Of an order that is not *sharp* it is a bound, that of 1/log(1/alpha) of none.
    """

    errors: tuple[Real, Real]
    predicted: Real | None
    sharp: bool

    @property
    def ratio(self) -> Real:
        """The second error over the first."""
        return self.errors[1] / self.errors[0] if self.errors[0] else mpmath.mpf(0)

    @property
    def fits(self) -> bool:
        """Whether the error falls as predicted; at least so where that is a bound."""
        first, second = self.errors
        if not (first < 1 and second < 1):
            return False
        if not second:
            return True
        if self.predicted is None:
            return bool(self.ratio < mpmath.mpf(1) / 10)
        asked, found = mpmath.log(self.predicted), mpmath.log(self.ratio)
        if not self.sharp:
            return bool(found <= asked * (1 - _SLACK))
        return bool(abs(found - asked) <= _SLACK * abs(asked))


def confirm_limits(
    regimes: Regimes, digits: int = 40, rng: np.random.Generator | None = None
) -> tuple[Check, ...]:
    """Compare grad Q with each limit that was proved: ``|grad Q(beta)/N - G(beta)| / |G(beta)|``.

    The beta and the start are drawn from *rng*, the same each time by default, and errors seen to
    *digits*. The expansion behind the limit is not used: they must fall as the order predicts.
    NumericalError where Q cannot be evaluated, or no start fits its assumptions.
    """
    check_digits(digits)
    rng, potential = rng or np.random.default_rng(0), regimes.derivation.potential
    found = list[Check]()
    for x in regimes.limits:
        slopes = () if x.potential is None else x.potential.gradient
        written = not any(f is not None and f.has(sympy.Integral) for f in (*slopes, x.unit))
        if written and x.finding.verdict is Verdict.PROVED:
            found.append(_confirm(potential, x, digits, rng))
    return tuple(found)


def _confirm(potential: Potential, limit: Limit, digits: int, rng: np.random.Generator) -> Check:
    point, exponents = limit.point, potential.parameterization.parameters
    distances = _DEPTHS if point.variable in exponents else _SCALES
    if point.rate is not None or limit.error == 0:
        distances = _EXPONENTS
    attempts = count()

    def check() -> Check:
        attempt = next(attempts)
        scales = [point_at(point, x / 4**attempt) for x in distances]
        rest = draw_rest(potential, point, scales[0], rng, attempt)
        sizes = [3 ** (attempt // 2)] + [3**attempt] * (len(limit.coordinates) - 1)
        x = tuple(Fraction(int(rng.integers(9, 30)), 7 * size) for size in sizes)
        falls = _falls(potential, limit, (scales, rest, x), digits)
        fall, passed = max(falls, key=lambda x: max(x.errors)), all(x.fits for x in falls)
        if max(fall.errors) >= 1 and attempt + 1 < _ATTEMPTS:
            raise NumericalError("the scales are not near the limit yet")
        at = " and ".join(mpmath.nstr(rational(x), 3) for x in scales)
        errors = " and ".join(mpmath.nstr(x, 3) for x in fall.errors)
        at = f"{point.variable} = {at}"
        if fall.predicted is not None and limit.error is not None:
            bound, asked = "at most " * (not limit.sharp), mpmath.nstr(fall.predicted, 3)
            at += f"; ratio {mpmath.nstr(fall.ratio, 3)}, predicted {bound}{asked}"
        title = f"{point.text}: {'confirmed' if passed else 'NOT CONFIRMED'}"
        record = {"limit": point.text}
        return Check(passed, title, record=record, notes=(f"  errors {errors}", f"  at {at}"))

    return first_sound(check, "confirm the limit", _ATTEMPTS, (DeriveError,))


_Gradient: TypeAlias = Callable[[Mapping[str, Fraction], Sequence[Real]], Sequence[Real]]
"""grad Q by the start and beta."""
_Drawn: TypeAlias = tuple[Sequence[Fraction], Mapping[str, Fraction], _Point]
"""The two scales, the rest of the start, and a point."""


def _falls(potential: Potential, limit: Limit, at: _Drawn, digits: int) -> list[Fall]:
    """Return the errors on both sides; with more digits where one is 0 in these."""

    def found(digits: int) -> list[Fall]:
        def gradient(start: Mapping[str, Fraction], beta: Sequence[Real]) -> Sequence[Real]:
            return lower(potential, start, digits).precise_gradient(beta, digits)

        return _on_sides(limit, gradient, at, digits)

    falls = found(digits)
    return falls if all(min(x.errors) for x in falls) else found(_WORKING * digits)


def _on_sides(limit: Limit, gradient: _Gradient, at: _Drawn, digits: int) -> list[Fall]:
    """Return the errors at x and at -x; without end where that is reached and ought not to be."""
    scales, rest, x = at
    found, other = [_at_scales(limit, gradient, at, digits)], tuple(-v for v in x)
    if limit.below and None not in limit.below:
        found.append(_at_scales(limit, gradient, (scales, rest, other), digits))
    elif len(limit.below) == 1 and limit.potential is not None and not limit.steep:
        anyhow = replace(limit, below=limit.potential.gradient)
        with suppress(DeriveError):
            _at_scales(anyhow, gradient, (scales, rest, other), digits)
            found.append(Fall((mpmath.inf, mpmath.inf), None, False))
    return found


def _at_scales(limit: Limit, gradient: _Gradient, at: _Drawn, digits: int) -> Fall:
    """Return the errors of grad Q at two scales, from a start and at a point."""
    (scales, rest, x), predicted = at, None
    starts = [{**rest, limit.point.variable: scale} for scale in scales]
    first, second = (_error(limit, gradient, start, x, digits) for start in starts)
    if limit.error is None:
        predicted = _LOGARITHMIC
    elif limit.error != 0:
        with mpmath.workdps(digits + GUARD):
            before, after = (evaluated(limit.error, _numbers(limit, start, x)) for start in starts)
            predicted = after / before
    return Fall((first, second), predicted, limit.sharp)


def _error(
    limit: Limit, gradient: _Gradient, start: Mapping[str, Fraction], x: _Point, digits: int
) -> Real:
    """Return the largest error of dQ/dx_i, over the largest |G_i|."""
    form, unit = limit.potential, limit.unit
    if form is None or unit is None:
        raise NumericalError(f"there is no limit to confirm: {limit.finding.words}")
    M = sympy.eye(len(x)) if limit.basis is None else limit.basis
    with mpmath.workdps(digits + GUARD):
        at = _numbers(limit, start, x)
        moved = sympy.Matrix(limit.origin or [0] * len(x)) + M * sympy.Matrix(limit.coordinates)
        beta = [evaluated(b, at) for b in moved]
        if form.curve is not None:
            # The limit is parametric: x stands for its parameter, inside its interval.
            (z,) = form.curve.free_symbols
            at[z.name] = rational(x[0] / 7)
            beta = [evaluated(form.curve, at)]
        N = evaluated(unit, at)
        expected = [evaluated(g, at) for g in limit.slopes_at(x[0])]
        slopes = [g / N for g in gradient(start, beta)]
        along = [mpmath.fdot(map(evaluated, column), slopes) for column in M.T.tolist()]
        gaps = [abs(f - g) for f, g in zip(along, expected, strict=True)]
        if any(gap != gap for gap in gaps):
            raise NumericalError("Q is undefined at the point where its limit was to be confirmed")
        error = max(gaps) / max(map(abs, expected))
        # What rounding leaves counts as nothing.
        return error if error > mpmath.mpf(10) ** -(3 * digits // 4) else mpmath.mpf(0)


def _numbers(limit: Limit, start: Mapping[str, Fraction], x: _Point) -> dict[str, Real]:
    """Return numbers for the start and the coordinates of a limit."""
    named = {c.name: v for c, v in zip(limit.coordinates, x, strict=True)}
    return {name: rational(v) for name, v in {**start, **named}.items()}


def point_at(point: Point, small: Fraction) -> Fraction:
    """Return the symbol at a distance from its limit; from infinity, at its inverse."""
    value = replace(point, rate=None).image(sympy.Rational(small.numerator, small.denominator))
    return Fraction(int(value.p), int(value.q))


def draw_rest(
    potential: Potential, point: Point, scale: Fraction, rng: np.random.Generator, attempt: int
) -> dict[str, Fraction]:
    """Return values for all symbols but the one that moves, as Q assumes at *scale*."""
    name, parameters = point.variable, potential.parameterization.parameters
    # Roots of some starts are real powers only at whole depths.
    given = {**parameters_at(parameters, {}, int(attempt > 0)), name: scale}
    fixed = specialize(potential, {n: given[n] for n in parameters}) if parameters else potential
    symbols = fixed.parameterization.start_symbols
    drawn = draw_starts(fixed, [{n: v for n, v in given.items() if n in symbols}], rng)[0]
    for size in (Fraction(1, 3**attempt), Fraction(3**attempt)):  # far out where near 0 is none
        rest = {n: v for n, v in given.items() if n != name}
        rest |= {n: size * v for n, v in drawn.items() if n not in given}
        for condition in point.given:  # the signs of some symbols are turned, so that it is > 0
            if exact(condition, rest).is_negative:
                free = {s.name for s in condition.free_symbols if not s.is_positive}
                rest = {n: -v if n in free else v for n, v in rest.items()}
        if all(exact(condition, rest).is_positive for condition in point.given):
            return rest
    raise NumericalError("no start was found on which to confirm the limit")


_WIDTHS = 16, 256
_DRAWS = 4000
_STANDARD_ERRORS = 6
_RATE = 0.15, 0.4
"""Bounds of the fall of the mean squared distance, 1/16 in the width, to the power 1/2."""
_DIGITS = 40


def confirm_width(found: RandomWidth, rng: np.random.Generator | None = None) -> Check:
    """Draw starts at two widths from *rng*, and take the limits in mu at two scales.

    The mean of kappa/E kappa - 1 fits at each, and the root mean square of dQ/dbeta over its limit
    less 1, at beta = mu^2, and the errors of the limits fall as they should.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    draws = [_draw(found, width, rng) for width in _WIDTHS]
    means, distances = zip(*draws, strict=True)
    x = Fraction(7, 5)

    def gradient(start: Mapping[str, Fraction], _: Sequence[Real]) -> Sequence[Real]:
        (beta,) = found.limits[0].coordinates
        at = {**start, beta.name: x}
        return [evaluated(found.gradient, {name: rational(v) for name, v in at.items()})]

    falls = []
    for limit in found.limits:
        near, nearer = (point_at(limit.point, small) for small in _SCALES)
        falls.append(_at_scales(limit, gradient, ((near, nearer), {}, (x,)), _DIGITS))
    as_predicted = all(x.predicted and abs(x.ratio / x.predicted - 1) < _RATE[0] for x in falls)
    nearer = _RATE[0] < distances[1] / distances[0] < _RATE[1]
    passed = bool(max(map(abs, means)) < _STANDARD_ERRORS and as_predicted and nearer)
    lines = [
        f"  widths {_WIDTHS[0]} and {_WIDTHS[1]}, {_DRAWS} draws each",
        f"  mean of kappa: {means[0]:.2g} and {means[1]:.2g} standard errors from E kappa",
        f"  dQ/dbeta at mu^2: {distances[0]:.3g} and {distances[1]:.3g} from its limit",
    ]
    for side, fall in zip(("0", "infinity"), falls, strict=True):
        first, second = map(float, fall.errors)
        lines.append(f"  mu -> {side}: errors {first:.3g} and {second:.3g}")
    title = f"random starts: {'confirmed' if passed else 'NOT CONFIRMED'}"
    return Check(passed, title, notes=tuple(lines))


def _draw(found: RandomWidth, width: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean of kappa in standard errors, and how far dQ/dbeta is from its limit."""
    names = [sympy.Symbol(w, real=True) for w in found.unit.weights]
    (F,) = found.unit.outputs
    values = on_arrays([F, *(sympy.diff(F, w) for w in names)], found.unit.weights)
    w = rng.standard_normal((len(names), _DRAWS, width))
    f, *slopes = values(w)
    K, beta0 = sum(s * s for s in slopes).sum(axis=1), f.sum(axis=1)
    c = float(found.curvature)
    kappa: Array = K * K - c * beta0 * beta0
    at = {found.width: width, DEVIATION: 1}
    mean, spread = (float(x.subs(at)) for x in (found.kappa_mean, found.kappa_variance))
    error = (kappa.mean() / mean - 1) / np.sqrt(spread / _DRAWS)
    # Q' is the integral of 1/sqrt(c b^2 + kappa) from beta_0 to mu^2.
    ends = [np.arcsinh(np.sqrt(c / kappa) * b) for b in ((mean / c) ** 0.5, beta0)]
    ratio = (ends[0] - ends[1]) / np.arcsinh(1)
    return float(error), float(np.sqrt(np.mean((ratio - 1) ** 2)))


def excess_at(
    potential: Potential,
    bound: Callable[[float, int, float], float],
    p: int,
    problems: int = 20,
    rng: np.random.Generator | None = None,
) -> Array:
    """Return ``|beta|_p^p/((1 + eps) |b|_p^p)`` on drawn problems, the start at a claimed bound.

    beta is of least Q and b of least norm among X beta = y, for 2 to 12 coordinates of Q of one.

    Args:
        potential: Q with one start symbol.
        bound: that symbol by eps, d and ``|b|_p``.
        p: 1 or 2.
        problems, rng: how many; what they are drawn from, the same each time by default.

    Raises:
        NumericalError: a problem was not solved.
    """
    rng, found = np.random.default_rng(0) if rng is None else rng, []
    (name,) = potential.parameterization.start_symbols
    for _ in range(problems):
        d = int(rng.integers(2, 13))
        m = int(rng.integers(1, d))
        X, y = rng.standard_normal((m, d)), rng.standard_normal(m)
        eps, size = float(rng.uniform(0.1, 0.6)), float(rng.uniform(0.2, 1.5) * d)
        y *= size / np.abs(least_l1(X, y)).sum()  # so that exp(-d/(eps |b|_1)) is no denormal
        least = size if p == 1 else float(np.linalg.norm(np.linalg.pinv(X) @ y))
        solution = interpolate(lower(potential, {name: bound(eps, d, least)}), X, y)
        if not solution.converged:
            raise NumericalError(solution.message)
        found.append(np.sum(np.abs(solution.value) ** p) / ((1 + eps) * least**p))
    return np.array(found)
