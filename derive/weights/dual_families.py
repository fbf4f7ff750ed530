"""The families in which dual coordinates, warps and conjugate potentials are sought.

Monomials and Laurent monomials of the weights, inverse powers of Darboux polynomials, and
logarithms of Darboux polynomials with conserved coefficients. A family says where was looked,
never what exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import comb, prod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import (
    LogFunction,
    generator_monomials,
    laurent_monomials,
    monomials,
)
from derive.model.parameterization import Parameterization
from derive.verdict import Verdict
from derive.weights.adjoin import AdjoinedWarp, exponential, find_logarithm
from derive.weights.conserved import ConservedQuantities
from derive.weights.warping import WarpVerdict

MAXIMAL_COLUMNS = 300


@dataclass(frozen=True)
class DualFamily:
    """Functions of which y, g and R may be combinations; those of R are made when y is found."""

    y: Sequence[LogFunction]
    g: Sequence[RationalFunction]
    R: Iterable[LogFunction]


def candidate_families(warping: WarpVerdict) -> Iterator[DualFamily]:
    """Yield the families for F in its own field, the simplest first; g = 1 for a Hessian map."""
    conserved = warping.metric.conserved
    p = conserved.parameterization
    unwarped = warping.hessian.verdict is Verdict.PROVED
    if p.field.kinds:
        found = _generated(conserved)
        found = found if unwarped else chain(_weights_over_warp(warping), found)
    elif p.degree is not None and p.geometry.degree is not None:
        degrees = (0,) if unwarped else range(1, max(2 * abs(p.degree), 4) + 1)
        found = chain(_homogeneous(conserved, p.degree, degrees), _over_warp(warping))
    else:
        found = chain(_over_warp(warping), _mixed(conserved))
    for family in found:
        yield replace(family, g=[p.field.one]) if unwarped else family


def _homogeneous(
    conserved: ConservedQuantities, D: int, degrees: Iterable[int]
) -> Iterator[DualFamily]:
    """Yield families by the degree e of g: y has degree e + 2 - r - D, R has e + 2 - r.

    r is the degree of G^-1, 0 for gradient flow.
    """
    p = conserved.parameterization
    r = p.geometry.degree or 0
    for e in degrees:
        n, warps = e + 2 - r - D, [f.rational for f in _forms(p, e)]
        if n == 0:  # logarithms alone will mostly do, and are few
            logs = _regular(p, _logs(conserved, (p.field.one,)))
            yield DualFamily(logs, warps, _regular_graded(conserved, n + D))
        y = _regular(p, _graded(conserved, n))
        yield DualFamily(y, warps, _regular_graded(conserved, n + D))


def _mixed(conserved: ConservedQuantities) -> Iterator[DualFamily]:
    """Yield families of several degrees at once, for a rational F that is not homogeneous."""
    p = conserved.parameterization
    logs = _logs(conserved, (p.field.one,))
    for n in range(1, 4):
        rest = [*_inverse_forms(p, n), *logs]
        y, R = (_regular(p, [*map(LogFunction, _up_to(p, m)), *rest]) for m in (n, n + 2))
        yield DualFamily(y, [p.field.one, *_up_to(p, n)], R)


def known_warp(warping: WarpVerdict) -> RationalFunction | None:
    """Return the one warp, where that is a product of powers."""
    conserved = warping.metric.conserved
    logarithm = None if warping.H is None else find_logarithm(conserved, warping.H)
    return None if logarithm is None else exponential(logarithm)


def _over_warp(warping: WarpVerdict) -> Iterator[DualFamily]:
    """Yield families with the poles of the one warp: of one degree for each output, or of mixed.

    Where <grad F_a, grad P> is a multiple of P for every a, the derivatives of a function have
    the poles at P that it has.
    """
    conserved = warping.metric.conserved
    p, g = conserved.parameterization, known_warp(warping)
    if g is None:
        return
    pole = p.field.polynomial(g.denominator)
    laws = [law for law in conserved.laws if law.is_polynomial()]
    if g.is_homogeneous() and all(f.is_homogeneous() for f in p.F):
        degrees = [g.degree() + 2 - D for D in dict.fromkeys(f.degree() for f in p.F)]
        y = [f for n in degrees for f in _over(conserved, n, pole)]
        yield DualFamily(_regular(p, y), [g], _regular(p, _over(conserved, g.degree() + 2, pole)))
        return
    logs = _logs(conserved, [p.field.one, *laws, *(a * b for a in laws for b in laws)])
    for n in range(1, 4):
        y, R = (_regular(p, _up_to_over(p, m, pole) + logs) for m in (n, n + 2))
        yield DualFamily(y, [g], R)


def _up_to_over(p: Parameterization, degree: int, pole: RationalFunction) -> list[LogFunction]:
    return [LogFunction(f / pole) for f in _up_to(p, degree + pole.degree())]


def _over(conserved: ConservedQuantities, degree: int, pole: RationalFunction) -> list[LogFunction]:
    """Return the family of one degree with the given denominator."""
    if pole.is_constant():
        return _graded(conserved, degree)
    p = conserved.parameterization
    forms = _forms(p, degree + pole.degree()) if degree + pole.degree() >= 0 else []
    found = [LogFunction(f.rational / pole) for f in forms]
    return found + (_logs(conserved, (p.field.one,)) if degree == 0 else [])


def _weights_over_warp(warping: WarpVerdict) -> Iterator[DualFamily]:
    """Yield the weights themselves as y with the one warp, where that is a product of powers."""
    conserved = warping.metric.conserved
    p, g = conserved.parameterization, known_warp(warping)
    if g is not None:
        logs = _regular(p, _logs(conserved, (p.field.one,)))
        R = [*_monomials(p, 3 if "power" in p.field.kinds else 2), *logs]
        yield DualFamily(list(map(LogFunction, p.w)), [g], R)


def _generated(conserved: ConservedQuantities) -> Iterator[DualFamily]:
    """Yield families of monomials in weights and generators, for F with generators in it."""
    p = conserved.parameterization
    logs = _regular(p, _logs(conserved, (p.field.one,)))
    # For w^D the dual coordinate is w^(2 - D) = w^2/w^D, of reach 2.
    for reach in (2, 1, 3) if "power" in p.field.kinds else (1, 2, 3):
        family = _monomials(p, reach)
        warps = [p.field.one, *(f.rational for f in family)]
        # R grows faster than y: <grad R, grad F_j> = g F_j.
        yield DualFamily([*family, *logs], warps, [*_monomials(p, reach + 1), *logs])


def adjoined_families(adjoined: AdjoinedWarp) -> Iterator[DualFamily]:
    """Yield multiples of the new function by monomials, for y; R may be no such function."""
    p = adjoined.warping.parameterization
    within = adjoined.before.parameterization
    kept = [p.field.one, *_conserved_generators(p)]
    warps = [adjoined.g * k for k in kept]
    E = adjoined.exponential
    if not within.field.kinds:
        pole = p.field.polynomial((adjoined.g / E).denominator)
        for n in range(4):
            y, R = (
                [LogFunction(E * f / pole) for f in (p.field.one, *_up_to(p, m))]
                for m in (n, n + 2)
            )
            yield DualFamily(_regular(p, y), [adjoined.g], _regular(p, R))
        return
    yield DualFamily([LogFunction(E * w * k) for w in p.w for k in kept], warps, [])
    for reach in (1, 2):
        family = [p.field.embed(f.rational) for f in _monomials(within, reach)]
        yield DualFamily([LogFunction(E * f) for f in family], warps, [])


def _monomials(p: Parameterization, reach: int) -> list[LogFunction]:
    family = _members(p, dict.fromkeys(generator_monomials(p.field, reach)))
    kept = _conserved_generators(p)
    family += [LogFunction(f.rational * k) for f in family for k in kept]
    return _regular(p, family)[:MAXIMAL_COLUMNS]


def _conserved_generators(p: Parameterization) -> list[RationalFunction]:
    """Return the generators that the flow keeps: conserved factors of members of a family."""
    return [
        p.field.named(g.name)
        for g in p.field.generators
        if g.kind != "parameter" and all(row[p.field.positions[g.name]].is_zero() for row in p.flow)
    ]


def conjugate_family(conserved: ConservedQuantities, degree: int | None) -> list[LogFunction]:
    """Return the family of one degree; with None, mixed degrees for F that is not homogeneous."""
    p = conserved.parameterization
    if degree is not None:
        family = _graded(conserved, degree)
    else:
        highest = max(int(f.numerator.total_degree()) for f in p.F) + 1
        family = list(map(LogFunction, _up_to(p, highest))) + _inverse_forms(p, 3)
        family += _logs(conserved, (p.field.one,))
    return _regular(p, family)


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
    return _regular(p, map(LogFunction, found))


def _regular(p: Parameterization, family: Iterable[LogFunction]) -> list[LogFunction]:
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
        return _forms(p, degree) + _logs(conserved, coefficients)
    laurent = _members(p, laurent_monomials(p.p, degree, max(2, abs(degree))))
    if degree == 0:
        return laurent[:MAXIMAL_COLUMNS] + _logs(conserved, (p.field.one,))
    powers = [
        LogFunction(P ** (degree // P.degree()))
        for P in conserved.darboux
        if P.degree() > 0 and degree % P.degree() == 0 and P not in p.field.gens
    ]
    return laurent[:MAXIMAL_COLUMNS] + powers


def _regular_graded(conserved: ConservedQuantities, degree: int) -> Iterator[LogFunction]:
    yield from _regular(conserved.parameterization, _graded(conserved, degree))


def _forms(p: Parameterization, degree: int) -> list[LogFunction]:
    if comb(p.p + degree - 1, degree) > MAXIMAL_COLUMNS:
        return []
    return _members(p, monomials(p.p, degree))


def _members(p: Parameterization, rows: Iterable[tuple[int, ...]]) -> list[LogFunction]:
    return [LogFunction(p.field.monomial(e)) for e in rows]


def _up_to(p: Parameterization, degree: int) -> list[RationalFunction]:
    return [f.rational for n in range(1, degree + 1) for f in _forms(p, n)]


def _inverse_forms(p: Parameterization, degree: int) -> list[LogFunction]:
    return [f for n in range(1, degree + 1) for f in _members(p, laurent_monomials(p.p, -n, 0))]


def _logs(
    conserved: ConservedQuantities, coefficients: Sequence[RationalFunction]
) -> list[LogFunction]:
    field = conserved.parameterization.field
    return [LogFunction(field.zero, ((c, P),)) for c in coefficients for P in conserved.darboux]
