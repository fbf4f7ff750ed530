"""The starts at which a limit of Q is put to the test: near its point, the rest drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy

from derive.records import Potential
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit, Point
from derive.verdict import Verdict
from numerics.confirm.regression_problem import draw_starts
from numerics.evaluate.start import specialize


def proved_limits(regimes: Regimes) -> list[Limit]:
    """Return the limits that were proved."""
    return [x for x in regimes.limits if x.finding.verdict is Verdict.PROVED]


def moves_exponent(potential: Potential, point: Point) -> bool:
    """Tell whether the symbol that moves is a parameter of F, an exponent."""
    return point.variable in potential.parameterization.parameters


def point_at(point: Point, small: Fraction) -> Fraction:
    """Return the symbol at a distance from its limit; from infinity, at its inverse."""
    value = point.image(sympy.Rational(small.numerator, small.denominator))
    return Fraction(int(value.p), int(value.q))


def draw_rest(
    potential: Potential, point: Point, scale: Fraction, rng: np.random.Generator, attempt: int
) -> dict[str, Fraction]:
    """Return values for the start symbols and parameters other than the one that moves.

    Args:
        potential: Q, whose assumptions are met.
        point: names the symbol that moves.
        scale: its value.
        rng: what the others are drawn from.
        attempt: later ones are nearer to 0: symbols, and beta_i next to others, may have bounds.

    Raises:
        InputError: no values that fit were found.
    """
    name, parameters = point.variable, potential.parameterization.parameters
    # Roots of some starts are real powers only at whole depths.
    depths = {n: Fraction(2 * k + 7 + (attempt > 0), 2) for k, n in enumerate(parameters)}
    given = {**depths, name: scale}
    fixed = specialize(potential, {n: given[n] for n in parameters}) if parameters else potential
    symbols = fixed.parameterization.start_symbols
    drawn = draw_starts(fixed, [{n: v for n, v in given.items() if n in symbols}], rng)[0]
    near = {n: v / 3**attempt for n, v in drawn.items() if n not in given}
    return {n: v for n, v in {**given, **near}.items() if n != name}
