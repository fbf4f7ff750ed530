"""R in floating point, along the root that was proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from derive.errors import NumericalError
from derive.exact.balls import ball, real_roots
from derive.explicit.critical.intervals import End
from derive.explicit.critical.minimum_at import coefficients_at
from derive.explicit.minimum import CriticalRoot, RootByInterval, SquaredDistance

NOWHERE = float("nan")


def distance_function(
    distance: SquaredDistance, start: Mapping[str, Fraction]
) -> Callable[[Fraction], float]:
    """Return R as a function of one output.

    R(beta) = alpha^2 r(beta/alpha^D) where the start is alpha times numbers; between breakpoints r
    is one real root of its polynomial. Elsewhere R is certified point by point; it is nan where no
    w has F(w) = beta, or where no value was certified. *start* are numbers for the start symbols.

    Raises:
        NumericalError: R was not found.
    """
    if not isinstance(distance, CriticalRoot) or not distance.factors:
        raise NumericalError(f"there is no R to evaluate: {distance.finding.reason}")
    alpha = Fraction(1) if distance.scale is None else Fraction(start[str(distance.scale)])
    unit, name = alpha ** int(distance.problem.degree or 0), str(distance.variables[0])
    intervals = distance.intervals if isinstance(distance, RootByInterval) else ()
    ones = [Fraction(1) for _ in distance.problem.symbols]

    def value(beta: Fraction) -> float:
        b = beta / unit
        inside = next((x for x in intervals if _less(x.low, b) and _less(b, x.high)), None)
        if inside is not None:
            if inside.factor is None:
                return NOWHERE
            roots = real_roots(coefficients_at(distance.factors[inside.factor], [b, *ones]))
            return float(alpha) ** 2 * float(roots[inside.index].mid())
        try:
            found = distance.at({**start, name: beta})
        except NumericalError:
            return NOWHERE
        return NOWHERE if found is None else float(found.ball.mid())

    return value


def _less(x: End | None, y: End | None) -> bool:
    """Tell whether x < y, proved by balls; None is an infinite end."""
    if x is None or y is None:
        return True
    return bool(x < y if isinstance(x, Fraction) and isinstance(y, Fraction) else ball(x) < ball(y))
