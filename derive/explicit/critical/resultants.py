"""Where beta has a least w, with no condition on beta, by resultants.

At a least w, whether J has full rank there or not, the (d+1)-minors of the rows w - w_0 and J
vanish. A resultant of two polynomials is a combination of them, and vanishes wherever both do: so
what is left of these equations, when the weights have been eliminated from them pair by pair, holds
at every least w. Two that share a factor are split: both vanish where the factor does, or where
both quotients do. What holds at no point may come in as a factor; none that holds is lost.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb, ctx

from derive.exact.balls import ball, evaluate_any, real_roots
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize, terms
from derive.exact.linear.matrix import determinant, dot
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.feasible import BITS, lowest_distance

LARGEST = 60_000
"""Of the bound on a resultant's terms, from the sizes of the two polynomials."""
MAXIMAL_MINORS = 10
MAXIMAL_GRID = 40_000


def critical_equations(
    problem: ConstrainedProblem, field: FunctionField, images: Sequence[RationalFunction]
) -> list[RationalFunction]:
    """Return |w - w_0|^2 - r, F - beta and the minors, with *images* for r, w, beta, start."""
    size, d = len(problem.weights), len(problem.F)
    if math.comb(size, d + 1) > MAXIMAL_MINORS:
        raise Stopped("there are too many weights for resultants")
    r, w, rest = images[0], images[1 : size + 1], images[size + 1 :]
    given = [*w, *(field.zero for _ in problem.multipliers), *rest[d:]]
    away = [x - w0.compose(given, field) for x, w0 in zip(w, problem.w0, strict=True)]
    rows = [tuple(f.compose(given, field) for f in row) for row in problem.jacobian]
    columns = list(zip(away, *rows, strict=True))
    return [
        dot(away, away) - r,
        *(f.compose(given, field) - b for f, b in zip(problem.F, rest[:d], strict=True)),
        *(determinant(chosen) for chosen in itertools.combinations(columns, d + 1)),
    ]


@functools.lru_cache(maxsize=32)
def critical_polynomial(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    """Return irreducible factors of a P(r; beta, start) that vanishes at every least w.

    Raises Stopped where the resultants grow too large, or nothing is left of them.
    """
    names = ("r", *(f"w {i}" for i in range(len(problem.weights))), *problem.arguments)
    field = FunctionField(names)
    equations = [x.numerator for x in critical_equations(problem, field, field.gens)]
    weights = range(1, len(problem.weights) + 1)
    left = eliminant(equations, weights)
    kept = [k for k in range(len(names)) if k not in weights]
    total = {tuple(e[k] for k in kept): c for e, c in terms(left)}
    factors = factorize(problem.ring.from_dict(total))[1]
    return tuple(f for f, _ in factors if int(f.degrees()[0]))


def critical_values(problem: ConstrainedProblem) -> Polynomial:
    """Return a polynomial in beta, the last variable, that vanishes where grad F = 0; one output.

    Raises Stopped as :func:`critical_polynomial` does.
    """
    size = len(problem.weights)
    field = FunctionField((*(f"w {i}" for i in range(size)), "beta"))
    given = [*field.gens[:size], *[field.zero] * (len(problem.field.names) - size)]
    slopes = [f.compose(given, field) for f in problem.jacobian[0]]
    equations = [problem.F[0].compose(given, field) - field.gens[-1], *slopes]
    return eliminant([x.numerator for x in equations], range(size))


def eliminant(equations: Sequence[Polynomial], variables: Sequence[int]) -> Polynomial:
    """Return a polynomial without some variables that vanishes wherever all equations do.

    Raises Stopped where there is none but 0, or it grows too large.
    """
    left = _without(list(equations), frozenset(variables))
    if not left:
        raise Stopped("the critical points are more than finitely many for most beta")
    return functools.reduce(lambda f, g: f.gcd(g), left)


def _without(equations: list[Polynomial], variables: frozenset[int]) -> list[Polynomial]:
    """Return polynomials without the variables that vanish wherever the equations do."""
    equations = [_radical(f) for f in equations if not f.is_zero()]
    if any(f.is_constant() for f in equations) or not variables or not equations:
        return [f for f in equations if f.is_constant()] or equations
    k = min(sorted(variables), key=lambda k: _effort([int(f.degrees()[k]) for f in equations]))
    return _without_one(equations, k, variables)


def _without_one(
    equations: list[Polynomial], k: int, variables: frozenset[int]
) -> list[Polynomial]:
    """Return the same by eliminating the variable k first, from all by the simplest."""
    found = [f for f in equations if not int(f.degrees()[k])]
    having = [f for f in equations if int(f.degrees()[k])]
    having.sort(key=lambda f: (int(f.degrees()[k]), len(f)))
    for f in having[1:]:
        pivot = having[0]
        if len(f) * len(pivot) * int(f.degrees()[k]) * int(pivot.degrees()[k]) > LARGEST:
            raise Stopped("the resultants of the critical equations grow too large")
        new = f.resultant(pivot, k)
        if new.is_zero():
            rest = [g for g in equations if g is not f and g is not pivot]
            return _split(f, pivot, rest, variables)
        found.append(new)
    return _without(found, variables - {k})


def _split(
    f: Polynomial, pivot: Polynomial, rest: list[Polynomial], variables: frozenset[int]
) -> list[Polynomial]:
    """Return what vanishes where the common factor does, or both quotients, and the rest."""
    common = f.gcd(pivot)
    parts = ([common, *rest], [f / common, pivot / common, *rest])
    found = [_without(part, variables) for part in parts]
    if not all(found):
        return []
    one = pivot.context().constant(1)
    return [math.prod((functools.reduce(lambda f, g: f.gcd(g), x) for x in found), start=one)]


def _effort(degrees: list[int]) -> tuple[int, int]:
    """Return how long it takes to eliminate a variable in which equations have these degrees."""
    used = [n for n in degrees if n]
    return min(used, default=0) * max(used, default=0), sum(used)


def _radical(f: Polynomial) -> Polynomial:
    return math.prod((g for g, _ in factorize(f)[1]), start=f.context().constant(1))


def least_at(problem: ConstrainedProblem, data: Sequence[Fraction]) -> arb | None:
    """Return R in a ball at numbers for beta and the start, any of them; None without such w.

    Each weight of a least w is a root of an eliminant: the grid of these is finite. Raises Stopped
    where an eliminant was not found, or no point with F(w) = beta was proved at the lowest.
    """
    size = len(problem.weights)
    beta, w0 = problem.at(data)
    field = FunctionField(tuple(f"w {i}" for i in range(size)))
    images = [field.zero, *field.gens, *map(field.constant, data)]
    with ctx.workprec(BITS):
        equations = critical_equations(problem, field, images)[1:]
        return lowest_distance(problem, _grid(equations, size), w0, beta)


def _grid(equations: Sequence[RationalFunction], size: int) -> Iterator[tuple[arb, ...]]:
    """Yield boxes of points, among which are all real points where the equations hold."""
    numerators = [f.numerator for f in equations]
    axes = []
    for k in range(size):
        left = eliminant(numerators, [i for i in range(size) if i != k])
        line = [Fraction(0)] * (int(left.degrees()[k]) + 1)
        for exponents, c in terms(left):
            line[exponents[k]] += c
        axes.append(real_roots(line))
    if math.prod(map(len, axes)) > MAXIMAL_GRID:
        raise Stopped("there are too many candidates for critical points")
    for w in itertools.product(*axes):
        if all(ball(evaluate_any(f, w, BITS)).contains(0) for f in equations):
            yield w
