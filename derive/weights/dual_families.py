"""Families of functions in which dual coordinates y and the conjugate R are sought.

They have monomials and Laurent monomials of the weights, inverse powers of Darboux polynomials, and
logarithms of Darboux polynomials with conserved coefficients. A family says where was looked, never
what exists. Where there are as many weights as outputs the differentials of y and R are known, and
show degrees and poles of what they are differentials of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import (
    LogFunction,
    generator_monomials,
    laurent_monomials,
    monomials,
    with_poles,
)
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.weights.adjoin import WrittenWarp, log_arguments
from derive.weights.conserved import ConservedQuantities

MAXIMAL_COLUMNS = 300
MANY_COLUMNS = 2000


@dataclass(frozen=True)
class DualFamily:
    """Functions of which y and R may be combinations; those of R are made when y is found."""

    y: Sequence[LogFunction]
    R: Iterable[LogFunction]


def dual_families(warp: WrittenWarp) -> Iterator[DualFamily]:
    """Yield the families for F with the one warp g, the simplest first; g = 1 for a Hessian map."""
    p = warp.warping.parameterization
    if warp.adjoined is not None:
        return _multiples(warp, warp.adjoined)
    if p.field.kinds:
        return _generated(warp)
    if warp.g.is_homogeneous() and all(f.is_homogeneous() for f in p.F):
        return _homogeneous(warp)
    return _mixed(warp)


def _homogeneous(warp: WrittenWarp) -> Iterator[DualFamily]:
    """Yield families over the poles of g, with forms of one degree for each output.

    For g of degree e and an output of degree D, y has degree e + 2 - r - D and R has e + 2 - r,
    where r is the degree of G^-1, 0 for gradient flow. Where <grad F_a, grad P> is a multiple of P
    for every a, the derivatives of a function have the poles at P that it has.
    """
    conserved = warp.warping.metric.conserved
    p, pole = conserved.parameterization, warp.g.field.polynomial(warp.g.denominator)
    highest = warp.g.degree() + 2 - (p.geometry.degree or 0)
    degrees = [highest - D for D in dict.fromkeys(f.degree() for f in p.F)]
    R = regular(p, _over(conserved, highest, pole))
    if degrees == [0]:  # logarithms alone will mostly do, and are few
        yield DualFamily(regular(p, _logs(conserved.darboux, (p.field.one,))), R)
    yield DualFamily(regular(p, [f for n in degrees for f in _over(conserved, n, pole)]), R)


def _mixed(warp: WrittenWarp) -> Iterator[DualFamily]:
    """Yield families of several degrees at once, over the poles of g, then with inverse forms."""
    conserved = warp.warping.metric.conserved
    p, pole = conserved.parameterization, warp.g.field.polynomial(warp.g.denominator)
    one = [p.field.one]
    laws = [law for law in conserved.laws if law.is_polynomial()]
    arguments = log_arguments(conserved)
    logs = _logs(arguments, [*one, *laws, *(a * b for a in laws for b in laws)])
    for n in range(1, 4):
        tops = (_up_to(p, m + pole.degree()) for m in (n, n + 2))
        yield DualFamily(*(regular(p, [*(LogFunction(f / pole) for f in x), *logs]) for x in tops))
    for n in range(1, 4):
        rest = [*_inverse_forms(p, n), *_logs(arguments, one)]
        yield DualFamily(
            *(regular(p, [*map(LogFunction, _up_to(p, m)), *rest]) for m in (n, n + 2))
        )


def _over(conserved: ConservedQuantities, degree: int, pole: RationalFunction) -> list[LogFunction]:
    """Return the family of one degree, over the given denominator and with poles at weights."""
    if pole.is_constant():
        return _graded(conserved, degree)
    p = conserved.parameterization
    found = _graded(conserved, degree) if degree < 0 else []
    found += [LogFunction(f.rational / pole) for f in _forms(p, degree + pole.degree())]
    return found + (_logs(conserved.darboux, (p.field.one,)) if degree == 0 else [])


def _generated(warp: WrittenWarp) -> Iterator[DualFamily]:
    """Yield the weights, then families of monomials in weights and generators of F."""
    conserved = warp.warping.metric.conserved
    p = conserved.parameterization
    logs = regular(p, _logs(log_arguments(conserved), (p.field.one,)))
    power = "power" in p.field.kinds
    if not warp.g.is_constant():
        yield DualFamily(list(map(LogFunction, p.w)), [*_monomials(p, 3 if power else 2), *logs])
    # For w^D the dual coordinate is w^(2 - D) = w^2/w^D, of reach 2.
    for reach in (2, 1, 3) if power else (1, 2, 3):
        # R grows faster than y: <grad R, grad F_j> = g F_j.
        yield DualFamily([*_monomials(p, reach), *logs], [*_monomials(p, reach + 1), *logs])


def _multiples(warp: WrittenWarp, E: RationalFunction) -> Iterator[DualFamily]:
    """Yield multiples of the new function by monomials, for y; R may be no such function."""
    p, within = warp.warping.parameterization, warp.before.parameterization
    if not within.field.kinds:
        pole = p.field.polynomial((warp.g / E).denominator)
        for n in range(4):
            y, R = (
                [LogFunction(E * f / pole) for f in (p.field.one, *_up_to(p, m))]
                for m in (n, n + 2)
            )
            yield DualFamily(regular(p, y), regular(p, R))
        return
    calls = (g.name for g in p.field.generators if g.kind != "parameter")
    places = ((name, p.field.positions[name]) for name in calls)
    # Generators that the flow keeps are conserved factors.
    conserved = (name for name, k in places if all(row[k].is_zero() for row in p.flow))
    kept = [p.field.one, *map(p.field.named, conserved)]
    yield DualFamily([LogFunction(E * w * k) for w in p.w for k in kept], [])
    for reach in (1, 2):
        family = [p.field.embed(f.rational) for f in _monomials(within, reach)]
        yield DualFamily([LogFunction(E * f) for f in family], [])


def _monomials(p: Parameterization, reach: int) -> list[LogFunction]:
    family = _members(p, dict.fromkeys(generator_monomials(p.field, reach)))
    return regular(p, family)[:MAXIMAL_COLUMNS]


def conjugate_family(conserved: ConservedQuantities, degree: int | None) -> list[LogFunction]:
    """Return the family of one degree; with None, mixed degrees for F that is not homogeneous."""
    p = conserved.parameterization
    if degree is not None:
        family = _graded(conserved, degree)
    else:
        highest = max(int(f.numerator.total_degree()) for f in p.F) + 1
        family = list(map(LogFunction, _up_to(p, highest))) + _inverse_forms(p, 3)
        family += _logs(log_arguments(conserved), (p.field.one,))
    return regular(p, family)


def forms_of_warp(conserved: ConservedQuantities, g: RationalFunction) -> list[LogFunction]:
    """Return forms in the weights of g, alone and times a law: for R where all forms are many."""
    p = conserved.parameterization
    if p.field.kinds or not g.is_homogeneous():
        return []
    used = [w for w in p.w if set(w.variables()) <= set(g.variables())]
    found = []
    for law in (p.field.one, *(law for law in conserved.laws if law.is_homogeneous())):
        degree = g.degree() + 2 - law.degree()
        if used and degree >= 0 and comb(len(used) + degree - 1, degree) <= MAXIMAL_COLUMNS:
            powers = monomials(len(used), degree)
            found += [prod(map(pow, used, e), start=law) for e in powers]
    return regular(p, map(LogFunction, found))


def regular(p: Parameterization, family: Iterable[LogFunction]) -> list[LogFunction]:
    """Return the members that have a value at the start: no pole there, no logarithm of 0."""
    found = []
    for f in family:
        try:
            p.at_start(f.rational)
            found += [] if any(p.at_start(a).is_zero() for _, a in f.logs) else [f]
        except ZeroDivisionError:
            continue
    return found


def _graded(conserved: ConservedQuantities, degree: int) -> list[LogFunction]:
    """Return the family of one degree: forms or Laurent monomials, and c log P, c conserved."""
    p = conserved.parameterization
    if degree > 0:
        laws = [law for law in conserved.laws if law.is_homogeneous()]
        coefficients = [law for law in laws if law.degree() == degree]
        coefficients += [
            a * b for i, a in enumerate(laws) for b in laws[i:] if a.degree() + b.degree() == degree
        ]
        return _forms(p, degree) + _logs(conserved.darboux, coefficients)
    laurent = _members(p, laurent_monomials(p.p, degree, max(2, abs(degree))))
    if degree == 0:
        return laurent[:MAXIMAL_COLUMNS] + _logs(conserved.darboux, (p.field.one,))
    powers = [
        LogFunction(P ** (degree // P.degree()))
        for P in conserved.darboux
        if P.degree() > 0 and degree % P.degree() == 0 and P not in p.field.gens
    ]
    return laurent[:MAXIMAL_COLUMNS] + powers


def _forms(p: Parameterization, degree: int) -> list[LogFunction]:
    if degree < 0 or comb(p.p + degree - 1, degree) > MAXIMAL_COLUMNS:
        return []
    return _members(p, monomials(p.p, degree))


def _members(p: Parameterization, rows: Iterable[tuple[int, ...]]) -> list[LogFunction]:
    return [LogFunction(p.field.monomial(e)) for e in rows]


def _up_to(p: Parameterization, degree: int) -> list[RationalFunction]:
    return [f.rational for n in range(1, degree + 1) for f in _forms(p, n)]


def _inverse_forms(p: Parameterization, degree: int) -> list[LogFunction]:
    return [f for n in range(1, degree + 1) for f in _members(p, laurent_monomials(p.p, -n, 0))]


def _logs(
    arguments: Sequence[RationalFunction], coefficients: Sequence[RationalFunction]
) -> list[LogFunction]:
    pairs = [(c, P) for c in coefficients for P in arguments]
    return [LogFunction(P.field.zero, ((c, P),)) for c, P in pairs]


def integral_family(
    conserved: ConservedQuantities, differentials: Sequence[Field]
) -> list[LogFunction]:
    """Return functions over the poles of given gradients, of degrees that exceed theirs by one.

    Source: the parallel integration of Risch and Norman (Bronstein 2005, ch. 10).
    """
    p, entries = conserved.parameterization, [f for row in differentials for f in row]
    below = p.field.one.denominator
    for f in entries:
        below = below * (f.denominator / below.gcd(f.denominator))
    pole = p.field.polynomial(below)
    tops = [pole.numerator, *((f * pole).numerator for f in entries)]
    roots = {g.name for g in p.field.generators if g.kind == "root"}
    highest = [max(int(top.degrees()[k]) for top in tops) for k in range(len(p.field.names))]
    total = max(int(top.total_degree()) for top in tops) + 1
    ranges = [
        range(1 if name in p.field.constants else 2 if name in roots else n + 2)
        for name, n in zip(p.field.names, highest, strict=True)
    ]
    if prod(map(len, ranges)) > MANY_COLUMNS:
        return []
    rows = [e for e in product(*ranges) if sum(e) <= total]
    arguments = with_poles(log_arguments(conserved), entries)
    rational = [LogFunction(p.field.monomial(e) / pole) for e in rows]
    return regular(p, [*rational, *_logs(arguments, [p.field.one])])
