"""Polynomials that vanish at every critical point, found by linear algebra, proved by expansion."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize, terms
from derive.exact.linear.implicitization import Coordinates, Relation, RelationSearch, find_relation
from derive.exact.linear.matrix import rank
from derive.exact.linear.modular import centred, reconstruct, shows_full_rank
from derive.exact.linear.monomials import Grading
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.critical.critical_families import (
    CriticalFamily,
    critical_families,
    differentials,
)
from derive.explicit.critical.resultants import critical_polynomial

MAXIMAL_MONOMIALS = 700
HIGHEST = 80


def critical_factors(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    """Return the irreducible factors of the polynomial P(r; beta, start) of all critical points.

    Those without r, which vanish for special beta only, are left out. Raises Stopped where the
    critical points, or their polynomial, were not found.
    """
    try:
        return _factors_on_families(problem)
    except Stopped as first:
        try:
            return critical_polynomial(problem)
        except Stopped:
            raise first from None


def _factors_on_families(problem: ConstrainedProblem) -> tuple[Polynomial, ...]:
    found: dict[str, Polynomial] = {}
    for family in critical_families(problem):
        if family.dominant:
            relation = eliminate(family, family.distance, 2)
            powers = enumerate(relation.coefficients)
            total = {(k, *e): n for k, c in powers for e, n in terms(c.numerator)}
            factors = factorize(problem.ring.from_dict(total))[1]
            found.update((str(f), f) for f, _ in factors if int(f.degrees()[0]))
    return tuple(found[text] for text in sorted(found))


def eliminate(family: CriticalFamily, target: RationalFunction, degree: int = 0) -> Relation:
    """Return P with P(target; beta, start) = 0 on a dominant family, accepted by exact expansion.

    *degree* is how the target scales with the weights, where the problem scales. Raises Stopped
    where there is no P of a size that is tried.
    """
    found = _eliminate(family, target, degree)
    if found is None:
        raise Stopped("no polynomial of moderate size vanishes at the critical points")
    return found


def follow_from_distance(problem: ConstrainedProblem) -> bool:
    """Tell whether the weights are proved rational in r and the data on the one dominant family.

    Then for almost all data every real root r of an irreducible P has real weights above it.
    """
    dominant = [family for family in critical_families(problem) if family.dominant]
    if len(dominant) != 1:
        return False
    (family,) = dominant
    beside, linear = (("r", family.distance),), (0, 1)
    return all(_relation(family, w, 1, beside, linear) is not None for w in family.w)


@functools.lru_cache(maxsize=256)
def _eliminate(family: CriticalFamily, target: RationalFunction, degree: int) -> Relation | None:
    if not target.is_constant() and shows_full_rank(differentials([target, *family.data])):
        # Independent of beta and the start: there is none of any size.
        return None
    return _relation(family, target, degree)


def _relation(
    family: CriticalFamily,
    target: RationalFunction,
    degree: int,
    beside: Sequence[tuple[str, RationalFunction]] = (),
    powers: tuple[int, ...] | None = None,
) -> Relation | None:
    """Return the relation of a target with the data and squared distances *beside* these."""
    problem = family.problem
    given = zip(problem.arguments, family.data, strict=True)
    coordinates = Coordinates.of([*given, *beside])
    field = coordinates.field
    if target.is_constant():
        return Relation((-field.constant(target.value()), field.one), target)
    grading = None
    if problem.scaled and problem.degree and degree:
        outputs, symbols = (problem.degree for _ in problem.F), (1 for _ in problem.symbols)
        grading = Grading((degree, *outputs, *symbols, *(2 for _ in beside)), exact=True)
    lifts = (reconstruct, centred)
    search = RelationSearch(
        target, coordinates, powers, grading, limit=MAXIMAL_MONOMIALS, lifts=lifts
    )
    return next(filter(None, map(search.at, range(1, HIGHEST + 1))), None)


def excluded(functions: Sequence[RationalFunction], values: Sequence[Fraction]) -> bool:
    """Tell whether a relation between functions proves that they never take given values together.

    False means that none was found that does.
    """
    independent: list[int] = []
    for i, f in enumerate(functions):
        if rank(differentials([functions[k] for k in (*independent, i)])) > len(independent):
            independent.append(i)
            continue
        if f.is_constant():
            if f.value() != values[i]:
                return True
            continue
        # The names only tell the coordinates apart.
        coordinates = Coordinates.of([(f"x{k}", functions[k]) for k in independent])
        relation = find_relation(f, coordinates)
        if relation is not None:
            known = [values[k] for k in independent]
            if sum(c.at(known) * values[i] ** n for n, c in enumerate(relation.coefficients)):
                return True
    return False
