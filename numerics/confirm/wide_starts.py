"""Wide random starts put to the test: draws of the start against exact moments and the limit."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
import sympy

from derive.errors import NumericalError
from derive.regimes.random_width import DEVIATION, RandomWidth
from numerics.evaluate.backend import Array, compiled

_WIDTHS = 16, 256
_DRAWS = 4000
_STANDARD_ERRORS = 6
_RATE = 0.15, 0.4
"""Bounds of the fall of the mean squared distance, 1/16 in the width, to the power 1/2."""
_SCALES = mpmath.mpf(10) ** -3, mpmath.mpf(10) ** -6
_DIGITS = 40


@dataclass(frozen=True, slots=True)
class WidthConfirmation:
    """Draws of a wide start at two widths k.

    Attributes:
        means: the mean of kappa/E kappa - 1 at each, in standard errors.
        distances: the root mean square of dQ/dbeta over its limit, less 1, at beta = mu^2.
        limits: errors of the limits as mu -> 0 and infinity, at two scales each.
        predicted: the ratios of these errors.
    """

    means: tuple[float, float]
    distances: tuple[float, float]
    limits: tuple[tuple[float, float], ...]
    predicted: tuple[float, ...]

    @property
    def passed(self) -> bool:
        """Whether the moments fit, and the distances and the errors fall as they should."""
        ratio = self.distances[1] / self.distances[0]
        falls = zip(self.limits, self.predicted, strict=True)
        fall = all(abs(b / a / asked - 1) < _RATE[0] for (a, b), asked in falls)
        fits = max(map(abs, self.means)) < _STANDARD_ERRORS
        return bool(fits and fall and _RATE[0] < ratio < _RATE[1])

    def report(self) -> str:
        """Return the test as a few short lines."""
        verdict = "confirmed" if self.passed else "NOT CONFIRMED"
        means, distances = self.means, self.distances
        lines = [
            f"random starts: {verdict}",
            f"  widths {_WIDTHS[0]} and {_WIDTHS[1]}, {_DRAWS} draws each",
            f"  mean of kappa: {means[0]:.2g} and {means[1]:.2g} standard errors from E kappa",
            f"  dQ/dbeta at mu^2: {distances[0]:.3g} and {distances[1]:.3g} from its limit",
        ]
        for side, errors in zip(("0", "infinity"), self.limits, strict=True):
            lines.append(f"  mu -> {side}: errors {errors[0]:.3g} and {errors[1]:.3g}")
        return "\n".join(lines)


def confirm_width(found: RandomWidth, rng: np.random.Generator | None = None) -> WidthConfirmation:
    """Draw starts at two widths from *rng*, and take the limits in mu at two scales."""
    rng = np.random.default_rng(0) if rng is None else rng
    draws = [_draw(found, width, rng) for width in _WIDTHS]
    means, distances = zip(*draws, strict=True)
    limits, predicted = zip(*(_limit(found, k) for k in range(len(found.limits))), strict=True)
    return WidthConfirmation(means, distances, limits, predicted)


def _draw(found: RandomWidth, width: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean of kappa in standard errors, and how far dQ/dbeta is from its limit."""
    names = [sympy.Symbol(w, real=True) for w in found.unit.weights]
    (F,) = found.unit.outputs
    values = compiled([F, *(sympy.diff(F, w) for w in names)], found.unit.weights)
    w = rng.standard_normal((len(names), _DRAWS, width))
    f, *slopes = (np.broadcast_to(x, w.shape[1:]) for x in values(*w))
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


def _limit(found: RandomWidth, index: int) -> tuple[tuple[float, float], float]:
    """Return the errors of a limit in mu at two scales, and their predicted ratio."""
    limit = found.limits[index]
    (beta,) = limit.coordinates
    if limit.potential is None or limit.unit is None or limit.error is None:
        raise NumericalError(f"there is no limit to confirm: {limit.finding.reason}")
    wanted = found.gradient, limit.unit, limit.potential.gradient[0], limit.error
    errors, orders = [], []
    with mpmath.workdps(_DIGITS):
        for scale in _SCALES:
            mu = scale if limit.point.side == "0" else 1 / scale
            at = {limit.point.variable: mu, beta.name: mpmath.mpf(7) / 5}
            gradient, N, G, order = (
                mpmath.mpf(str(sympy.N(x.subs({s: at[s.name] for s in x.free_symbols}), _DIGITS)))
                for x in wanted
            )
            errors.append(abs(gradient / N / G - 1))
            orders.append(order)
    return (float(errors[0]), float(errors[1])), float(orders[1] / orders[0])
