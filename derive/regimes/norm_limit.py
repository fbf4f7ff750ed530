"""Limits of Q = q(|beta|) + <z, beta> in which q outgrows the linear term, whatever its growth.

grad Q = psi(s) beta/s + z with s = |beta| and psi = q' > 0. Where z/psi(s) -> 0 at every s > 0,
grad Q/psi -> beta/|beta|, the gradient of the l2 norm, uniformly on compact sets without 0, because
psi is increasing. Minimizers of Q on {X beta = y}, y != 0, stay bounded, and the optimality
conditions of their limits are those of least l2 norm. psi may outgrow every power.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.regimes.asymptotics import Expander
from derive.regimes.limit import Limit, LimitingPotential, Point
from derive.verdict import Finding, Identity, Verdict


def norm_limit(
    gradient: Sequence[Expr], betas: Sequence[Symbol], point: Point, positive: frozenset[str]
) -> Limit | None:
    """Return the limit |beta| of a Q whose linear term is outgrown, or None."""
    slopes = [
        sympy.Add(*(t for t in sympy.Add.make_args(g) if not t.has(*betas))) for g in gradient
    ]
    s = Symbol("length_", positive=True)
    rest = [g - z for g, z in zip(gradient, slopes, strict=True)]
    axis = {**dict.fromkeys(betas, sympy.S.Zero), betas[0]: s}
    psi = rest[0].subs(axis, simultaneous=True)
    length = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
    factor = psi.xreplace({s: length})
    across = [r * length - factor * b for r, b in zip(rest, betas, strict=True)]
    decide = ElementarySigns({*positive, s.name})
    try:
        # psi/s is an eigenvalue of the Hessian of Q, and so nowhere 0.
        along_beta = all(map(decide.is_zero, across)) and decide.sign(psi) > 0
        outgrown = along_beta and all(_vanishes(z / psi, point, decide) for z in slopes)
    except Undecided:
        outgrown = False
    if not outgrown:
        return None
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
    return all(r > 0 for r, _ in found.terms) and (found.order is None or found.order > 0)
