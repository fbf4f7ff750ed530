"""Limits of coupled outputs: Q is a sum in other coordinates, or a function of |beta|.

Such coordinates are those of :mod:`derive.potential.separation`.

Or let Q = q(|beta|) + <z, beta> in which q outgrows the linear term, whatever its growth: grad Q =
psi(s) beta/s + z with s = |beta| and psi = q' > 0. Where z/psi(s) -> 0 at every s > 0, grad Q/psi
-> beta/|beta|, the gradient of the l2 norm, uniformly on compact sets without 0, because psi is
increasing. Minimizers of Q on {X beta = y}, y != 0, stay bounded, and the optimality conditions of
their limits are those of least l2 norm. psi may outgrow every power.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.potential.separation import Separation
from derive.regimes.asymptotics import CONSTANT, Expander
from derive.regimes.closed_form import closed_form_limit
from derive.regimes.initialization import norm
from derive.regimes.leading_gradient import ClosedGradient
from derive.regimes.limit import Limit, LimitingPotential, undecided
from derive.regimes.point import Point
from derive.verdict import Finding, Identity, Verdict


def separated_limit(
    separation: Separation,
    gradient: ClosedGradient,
    x: Sequence[Symbol],
    point: Point,
    kernel: sympy.ImmutableMatrix,
) -> Limit:
    """Return the limit of Q at fixed x = V^T beta, from its gradient in beta."""
    slopes = slopes_along(gradient, separation, x)
    if slopes is None:
        return undecided(point, "dQ/dx as it is written mixes coordinates that are separate")
    kernel = sympy.ImmutableMatrix(separation.forms * kernel * separation.forms.T)
    limit = closed_form_limit(slopes, point, kernel)
    evidence = (*separation.evidence, *limit.finding.evidence)
    finding = replace(limit.finding, evidence=evidence)
    turned = separation.basis if limit.basis is None else separation.basis * limit.basis
    return replace(limit, finding=finding, basis=turned)


def slopes_along(
    gradient: ClosedGradient, separation: Separation, x: Sequence[Symbol]
) -> ClosedGradient | None:
    """Return dQ/dx, each a function of its x_k as it is written, or None."""
    basis = separation.basis
    images = dict(zip(gradient.coordinates, basis * sympy.Matrix(x), strict=True))
    slopes = sympy.Matrix([g.xreplace(images) for g in gradient.entries])
    found = tuple(sympy.expand(g) for g in basis.T * slopes)
    others = [[y for y in x if y != own] for own in x]
    if any(g.has(*o) for g, o in zip(found, others, strict=True)):
        return None
    walls = (replace(w, form=sympy.expand(w.form.xreplace(images))) for w in gradient.walls)
    own = (True,) * len(x)
    return ClosedGradient(found, tuple(x), own, gradient.positive, walls=tuple(walls))


@dataclass(frozen=True)
class Radial:
    """grad Q = psi(s) beta/s + z with s = |beta| and z free of beta.

    Attributes:
        psi: in the symbol *length*; *along* is the same in beta.
        offset: z.
    """

    psi: Expr
    length: Symbol
    along: Expr
    offset: tuple[Expr, ...]


def find_radial(
    gradient: Sequence[Expr], betas: Sequence[Symbol], positive: Iterable[str]
) -> Radial | None:
    """Return the parts of a gradient that is along beta but for a constant, or None."""
    slopes = tuple(g.as_independent(*betas, as_Add=True)[0] for g in gradient)
    s = Symbol("length_", positive=True)
    rest = [g - z for g, z in zip(gradient, slopes, strict=True)]
    axis = {**dict.fromkeys(betas, sympy.S.Zero), betas[0]: s}
    psi = rest[0].subs(axis, simultaneous=True)
    length = norm(betas)
    factor = psi.xreplace({s: length})
    across = [r * length - factor * b for r, b in zip(rest, betas, strict=True)]
    try:
        along_beta = all(map(ElementarySigns({*positive, s.name}).is_zero, across))
    except Undecided:
        along_beta = False
    return Radial(psi, s, factor, slopes) if along_beta else None


def norm_limit(
    gradient: Sequence[Expr], betas: Sequence[Symbol], point: Point, positive: frozenset[str]
) -> Limit | None:
    """Return the limit |beta| of a Q whose linear term is outgrown, or None."""
    radial = find_radial(gradient, betas, positive)
    if radial is None:
        return None
    psi, factor, slopes = radial.psi, radial.along, radial.offset
    decide = ElementarySigns({*positive, radial.length.name})
    try:
        # psi/s is an eigenvalue of the Hessian of Q, and so nowhere 0.
        outgrown = decide.sign(psi) > 0 and all(_vanishes(z / psi, point, decide) for z in slopes)
    except Undecided:
        outgrown = False
    if not outgrown:
        return None
    length = norm(betas)
    size = sympy.sqrt(sympy.factor(sympy.Add(*(z**2 for z in slopes))))
    evidence = tuple(
        Identity(f"dQ/d{b} = N {b}/|beta| + z", str(g), f"({factor})*{b}/{length} + ({z})")
        for b, g, z in zip(betas, gradient, slopes, strict=True)
    )
    reason = "grad Q = N beta/|beta| + z with N > 0 a function of |beta| and z/N -> 0"
    found = LimitingPotential("l2", None, tuple(b / length for b in betas), sympy.S.One)
    error = None if size == 0 else size / factor
    finding, at, below = Finding(Verdict.PROVED, reason, evidence), tuple(betas), found.gradient
    return Limit(point, finding, "anti-NTK", at, None, factor, found, below, error, True)


def _vanishes(f: Expr, point: Point, decide: ElementarySigns) -> bool:
    """Tell whether f -> 0 by its expansion; what is flat counts as any power."""
    e = Symbol("e_", positive=True)
    small = {x: point.image(e) for x in f.free_symbols if x.name == point.variable}
    found = Expander(e, decide, Fraction(1)).expand(sympy.powsimp(f.xreplace(small)))
    return found.reaches(CONSTANT) and all(r > 0 for r, _ in found.terms)
