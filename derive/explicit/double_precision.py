"""R in floating point, along the branch that was proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import fmpq, fmpq_poly

from derive.errors import NumericalError
from derive.exact.roots import real_roots
from derive.explicit.counterpart import LENGTH, SquaredDistance
from derive.explicit.critical.branch import Branch


def distance_function(
    distance: SquaredDistance, start: Mapping[str, Fraction]
) -> Callable[[Fraction], float]:
    """Return R as a function of one output.

    R(beta) = alpha^2 r(beta/alpha^D) where the start is alpha times numbers; between the ends of a
    branch r is one real root of its polynomial. Elsewhere R is certified point by point; it is
    nan where no w has F(w) = beta, or where no value was certified.

    Args:
        distance: R of a block of one output.
        start: numbers for its start symbols.

    Raises:
        NumericalError: R was not found.
    """
    if distance.problem is None or not distance.factors:
        raise NumericalError(f"there is no R to evaluate: {distance.finding.reason}")
    alpha = Fraction(1) if distance.scale is None else Fraction(start[str(distance.scale)])
    degree = distance.problem.degree if distance.scale is not None else 0
    unit, lines = alpha ** int(degree or 0), [_line(distance, b) for b in distance.branches]
    name = str(distance.variables[0])

    def value(beta: Fraction) -> float:
        b = beta / unit
        for branch, line in zip(distance.branches, lines, strict=True):
            if _inside(branch, b):
                if branch.factor is None:
                    return float("nan")
                root = real_roots(line(b))[branch.index]
                return float(alpha) ** 2 * float(root.mid())
        try:
            found = distance.at({**start, name: beta})
        except NumericalError:
            return float("nan")
        return float("nan") if found is None else float(found.ball.mid())

    return value


def _line(distance: SquaredDistance, branch: Branch) -> Callable[[Fraction], list[Fraction]]:
    """Return the coefficients in r of a branch's polynomial as functions of b."""
    if branch.factor is None:
        return lambda b: []
    b = distance.argument
    rows = sympy.Poly(distance.equations[branch.factor], LENGTH).all_coeffs()[::-1]
    table = [
        fmpq_poly([fmpq(int(c.p), int(c.q)) for c in sympy.Poly(row, b).all_coeffs()[::-1]])
        for row in rows
    ]

    def line(x: Fraction) -> list[Fraction]:
        at = fmpq(x.numerator, x.denominator)
        found = (row(at) for row in table)
        return [Fraction(int(c.p), int(c.q)) for c in found]

    return line


def _inside(branch: Branch, b: Fraction) -> bool:
    """Tell whether b lies between the ends, proved by balls."""
    return _less(branch.low, b) and _less(b, branch.high)


def _less(x: Any, y: Any) -> bool:
    if x is None or y is None:
        return True
    left, right = (
        fmpq(v.numerator, v.denominator) if isinstance(v, Fraction) else v for v in (x, y)
    )
    return bool(left < right)
