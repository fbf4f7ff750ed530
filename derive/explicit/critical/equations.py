"""The equations of critical points, and what is left of them without the weights.

A least w with F(w) = beta is a point where J has full rank and w - w_0 = J^T mu for multipliers mu,
or one where J has rank below d: beta is then a critical value of F. By Sard's theorem almost no
beta is, so that for almost all beta R is a root of the polynomial P(r; beta, start) that is left of

    w - w_0 = J^T mu,   F(w) = beta,   |w - w_0|^2 = r.

Along its points dr = 2 <mu, d beta> - 2 <w - w_0, d w_0>. On a factor of P that has any, therefore

    mu = -(dP/d beta)/(2 dP/dr),   w = w_0 + (dP/d w_0)/(2 dP/dr),   |dP/d w_0|^2 = 4 r (dP/dr)^2,

as far as the start has symbols of its own: then w is rational in r, beta and the start.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Exponents, Polynomial, evaluate, terms
from derive.exact.linear.matrix import determinant, dot
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.critical.elimination import eliminate

MAXIMAL_MINORS = 60
LONGEST = 100
"""Of the terms of a factor of P on which a determinant is evaluated."""


@dataclass(frozen=True)
class CriticalEquations:
    """Polynomials in d multipliers, p weights, r, and arguments of R without a number."""

    d: int
    p: int
    at_points: tuple[Polynomial, ...]
    of_distance: tuple[Polynomial, ...]

    @property
    def values(self) -> tuple[Polynomial, ...]:
        """Irreducible polynomials in r and the arguments, of which one vanishes at each point."""
        return eliminate((*self.at_points, *self.of_distance), range(self.d + self.p))

    @property
    def outputs(self) -> tuple[Polynomial, ...]:
        """Irreducible polynomials in the arguments, of which one vanishes at each point."""
        return eliminate(self.at_points, range(self.d + self.p))

    def values_of(self, weight: int) -> tuple[Polynomial, ...]:
        """Return irreducible polynomials in one of the weights, of which one vanishes."""
        others = (k for k in range(self.d + self.p) if k != self.d + weight)
        return eliminate(self.at_points, others)


def lagrange(problem: ConstrainedProblem, data: Sequence[Fraction | None]) -> CriticalEquations:
    """Return the conditions with multipliers; *data* are beta and the start, None where free.

    By Euler <w, J^T mu> = D <mu, beta> for F of degree D, so r = D <mu, beta> - <w - w_0, w_0>.
    This spares factors without critical points, which a start of free symbols tells apart.
    """
    degree = problem.degree or 0 if None in _own_symbols(problem) else 0
    return _equations(problem, data, problem.conditions, degree)


def singular(problem: ConstrainedProblem, data: Sequence[Fraction | None]) -> CriticalEquations:
    """Return the equations of the points with F(w) = beta where J has rank below d.

    Raises:
        Stopped: J has too many minors.
    """
    columns = list(combinations(zip(*problem.jacobian, strict=True), len(problem.F)))
    if len(columns) > MAXIMAL_MINORS:
        raise Stopped("the Jacobian has too many minors")
    return _equations(problem, data, map(determinant, columns))


def _equations(
    problem: ConstrainedProblem,
    data: Sequence[Fraction | None],
    conditions: Iterable[RationalFunction],
    degree: int = 0,
) -> CriticalEquations:
    """Return the conditions with F = beta, and the distance, that of Euler too for a degree."""
    d, p = len(problem.F), len(problem.weights)
    pairs = list(zip(problem.arguments, data, strict=True))
    free = [name for name, value in pairs if value is None]
    # Weights may be called r.
    weights = (f"weight {i}" for i in range(p))
    field = FunctionField((*problem.multipliers, *weights, "r", *free))
    mu, w, r = field.gens[:d], field.gens[d : d + p], field.gens[d + p]
    given = [field.named(name) if x is None else field.constant(x) for name, x in pairs]

    def on(f: RationalFunction) -> RationalFunction:
        return f.compose((*w, *mu, *given[d:]), field)

    away = [on(x - x0) for x, x0 in zip(problem.w, problem.w0, strict=True)]
    reached = (on(f) - b for f, b in zip(problem.F, given[:d], strict=True))
    length = [dot(away, away) - r]
    if degree:
        length.append(degree * dot(mu, given[:d]) - dot([on(x) for x in problem.w0], away) - r)
    points = (*reached, *map(on, conditions))
    return CriticalEquations(d, p, _numerators(points), _numerators(length))


def _numerators(functions: Iterable[RationalFunction]) -> tuple[Polynomial, ...]:
    return tuple(f.numerator for f in functions)


@functools.lru_cache(maxsize=32)
def critical_factors(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    """Return the irreducible factors of the polynomial P(r; beta, start) of all critical points.

    Those without r, which vanish for special beta only, are left out. Where the problem scales,
    P is found at alpha = 1, and is homogeneous for r of degree 2 and beta of degree D.

    Raises:
        Stopped: P was not found.
    """
    scales = bool(problem.single and problem.symbols)
    data = [*(None for _ in problem.F), *(Fraction(1) if scales else None for _ in problem.symbols)]
    first = len(problem.F) + len(problem.weights)
    values = [{e[first:]: c for e, c in terms(f)} for f in lagrange(problem, data).values]
    if scales:
        values = [_homogeneous(f, int(problem.degree or 0)) for f in values]
    found = [problem.ring.from_dict(f) for f in values if any(e[0] for e in f)]
    if len(found) > 1:
        found = [f for f in found if _may_be_distance(problem, f)]
    if not found:
        raise Stopped("no polynomial vanishes at the critical points of most beta")
    return tuple(sorted(found, key=str))


def _homogeneous(f: Mapping[Exponents, int], D: int) -> dict[Exponents, int]:
    """Return a polynomial in r and beta with powers of alpha, for degrees 2, D and 1."""
    top = max(2 * k + D * m for k, m in f)
    return {(k, m, top - 2 * k - D * m): c for (k, m), c in f.items()}


def _may_be_distance(problem: ConstrainedProblem, factor: Polynomial) -> bool:
    """Tell whether |dP/d w_0|^2 = 4 r (dP/dr)^2 on a factor, if the start is all symbols.

    Resultants bring in factors that have no critical points.
    """
    own = _own_symbols(problem)
    if None in own:
        return True
    slopes = [factor.derivative(k) for k in own if k is not None]
    r, slope = factor.context().gen(0), factor.derivative(0)
    total = sum((x * x for x in slopes), -4 * r * slope * slope)
    return bool(divmod(total, factor)[1].is_zero())


def _own_symbols(problem: ConstrainedProblem) -> list[int | None]:
    """Return, for each weight, the place of its start in P where that is a symbol of its own."""
    used = [name for x in problem.w0 for name in x.variables()]
    own = {
        problem.field.named(name): 1 + len(problem.F) + k
        for k, name in enumerate(problem.symbols)
        if used.count(name) == 1
    }
    return [own.get(x) for x in problem.w0]


def follow_from_distance(problem: ConstrainedProblem, factor: Polynomial) -> bool:
    """Tell whether the weights are proved rational in r and the data, on the only factor of P.

    Then for almost all data every real root r of it has real weights above it. The weights whose
    starts are no symbols of their own are to be those of a linear system, w - w_0 = J^T mu, with
    a determinant that is not 0.
    """
    own = _own_symbols(problem)
    others = [k for k, place in enumerate(own) if place is None]
    rows = tuple(tuple(problem.conditions[i].partial(j) for j in others) for i in others)
    if not others or any(x.depends_on(k) for row in rows for x in row for k in others):
        return not others
    if len(factor) > LONGEST:
        return False
    field = FunctionField(("r", *problem.arguments))
    P = evaluate(factor, field.gens, field.constant)
    below = 2 * P.partial(0)
    weights = (field.zero if k is None else field.gens[k] + P.partial(k) / below for k in own)
    multipliers = (-P.partial(1 + i) / below for i in range(len(problem.F)))
    images = [*weights, *multipliers, *field.gens[1 + len(problem.F) :]]
    value = determinant(rows).compose(images, field).numerator
    return not divmod(value, P.numerator)[1].is_zero()
