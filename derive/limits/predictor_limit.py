"""Limits of Q at a fixed predictor beta: which expansion fits the kind of Q.

Of coupled outputs let Q = q(|beta|) + <z, beta> in which q outgrows the linear term, whatever its
growth: grad Q = psi(s) beta/s + z with s = |beta| and psi = q' > 0. Where z/psi(s) -> 0 at every s
> 0, grad Q/psi -> beta/|beta|, the gradient of the l2 norm, uniformly on compact sets without 0,
because psi is increasing. Minimizers of Q on {X beta = y}, y != 0, stay bounded, and the optimality
conditions of their limits are those of least l2 norm. psi may outgrow every power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.field.function_field import RationalFunction
from derive.limits.asymptotics import CONSTANT, depths_in
from derive.limits.fixed_beta import ClosedGradient, closed_form_limit
from derive.limits.implicit import parametric_limit
from derive.limits.kernel_regime import TangentKernel
from derive.limits.limit import Limit, LimitingPotential, Point, find_radial, undecided
from derive.model.notation import Notation, rational, to_expr
from derive.potential.chart import length_of
from derive.potential.piece import Piece, written_out
from derive.potential.separation import find_separation
from derive.verdict import Finding, Identity, Verdict


def predictor_limit(derivation: Derivation, point: Point, kernel: TangentKernel) -> Limit:
    """Return the limit of Q at fixed beta by the first expansion that proves one, or UNDECIDED."""
    potential = derivation.potential
    entries = potential.gradient if potential.pieces else None
    if entries is None:
        return undecided(point, f"there is no Q to take the limit of: {potential.finding.reason}")
    if any(g.has(sympy.Integral) for g in entries):
        return undecided(point, "Q is given by an integral, and so is its gradient")
    gradient = _closed_gradient(derivation, entries, point)
    limit = undecided(
        point, f"Q is given in a form whose expansion is not written: {potential.kind}"
    )
    limits = () if gradient is None else _of_closed_form(derivation, gradient, point, kernel)
    for limit in limits:
        if limit.finding.verdict is Verdict.PROVED:
            break
    return limit


def _of_closed_form(
    derivation: Derivation, gradient: ClosedGradient, point: Point, kernel: TangentKernel
) -> Iterator[Limit]:
    """Yield the limit along a curve, in coordinates in which Q is a sum, in beta, or in |beta|."""
    p, (piece, *others) = derivation.potential.parameterization, derivation.potential.pieces
    coupled = len(p.blocks) == 1 < p.d
    if coupled and derivation.hessian.verdict is Verdict.PROVED and not gradient.roots:
        separation = find_separation(p)
        slopes = None if separation is None else gradient.separated(separation.basis)
        if separation is not None and slopes is not None:
            limit = closed_form_limit(slopes, point, kernel.matrix)
            evidence = (*separation.evidence, *limit.finding.evidence)
            yield replace(limit, finding=replace(limit.finding, evidence=evidence))
    origin = [rational(_constant(f)) for f in p.F]
    gradient = gradient.turned(sympy.eye(p.d), origin) if any(origin) else gradient
    yield closed_form_limit(gradient, point, kernel.matrix)
    if piece.time_curve is not None and not others:
        along = parametric_limit(
            piece.time_curve.in_exponentials, piece.gradient[0], piece.betas[0], point
        )
        yield from () if along is None else (along,)
    if coupled:
        along = norm_limit(gradient.entries, gradient.coordinates, point, gradient.positive)
        yield from () if along is None else (replace(along, origin=gradient.origin or None),)


def _closed_gradient(
    derivation: Derivation, entries: tuple[Expr, ...], point: Point
) -> ClosedGradient | None:
    """Return grad Q and its symbols, or None where one of them has another meaning."""
    pieces, p = derivation.potential.pieces, derivation.potential.parameterization
    roots = _largest_roots(pieces)
    curves = {x.betas[0]: x.time_curve.in_exponentials for x in pieces if x.time_curve is not None}
    written = (*entries, *(curve.beta for curve in curves.values()))
    symbols = sympy.Tuple(*written).free_symbols
    own = {*derivation.beta, *dict(roots or ()), *(c.parameter for c in curves.values())}
    names = {*p.start_symbols, *p.parameters, *(symbol.name for symbol in own)}
    if roots is None or not {s.name for s in symbols} <= names:
        return None
    notation = Notation(p, tuple(range(p.d)))
    fixed = {*p.parameters} - {point.variable}
    return ClosedGradient(
        entries,
        derivation.beta,
        tuple((i,) in p.blocks for i in range(p.d)),
        frozenset({s.name for s in symbols if s.is_positive} | {point.variable}),
        roots,
        tuple(wall for piece in pieces if piece.domain for wall in piece.domain.walls),
        tuple(to_expr(p.at_start(f), notation.start_symbols) for f in p.F),
        tuple(map(curves.get, derivation.beta)),
        tuple(notation.fresh(f"x{b.name.lstrip(ascii_lowercase)}") for b in derivation.beta),
    ).at_depths(depths_in(*written, names=fixed))


def _constant(f: RationalFunction) -> Fraction:
    """Return F(0) of a polynomial; 0 of other functions."""
    if not f.is_polynomial() or f.field.generators:
        return Fraction(0)
    zero = [Fraction(0)] * len(f.field.names)
    return f.at(zero)


def _largest_roots(pieces: Sequence[Piece]) -> tuple[tuple[Symbol, Expr], ...] | None:
    """Return the polynomials of roots without formula; None where one is not the largest root."""
    named = [(r, piece.constants) for piece in pieces for r in piece.roots if r.explicit is None]
    if any(root.from_above != 0 for root, _ in named):
        return None
    return tuple((r.symbol, written_out(r.polynomial, (), values)) for r, values in named)


def norm_limit(
    gradient: Sequence[Expr], betas: Sequence[Symbol], point: Point, positive: frozenset[str]
) -> Limit | None:
    """Return the limit |beta| of a Q whose linear term is outgrown, or None."""
    radial = find_radial(gradient, betas, positive)
    if radial is None:
        return None
    psi, slopes, length = radial.psi, radial.offset, length_of(betas)
    decide = ElementarySigns({*positive, radial.length.name})
    try:
        # psi/s is an eigenvalue of the Hessian of Q, and so nowhere 0; what is flat is any power.
        rests = [point.expand(z / psi, decide) for z in slopes] if decide.sign(psi) > 0 else None
        outgrown = rests is not None and all(
            x.reaches(CONSTANT) and all(r > 0 for r, _ in x.terms) for x in rests
        )
    except Undecided:
        outgrown = False
    if not outgrown:
        return None
    factor = psi.xreplace({radial.length: length})
    size = sympy.sqrt(sympy.factor(sympy.Add(*(z**2 for z in slopes))))
    evidence = tuple(
        Identity(f"dQ/d{b} = N {b}/|beta| + z", str(g), f"({factor})*{b}/{length} + ({z})")
        for b, g, z in zip(betas, gradient, slopes, strict=True)
    )
    reason = "`grad Q = N beta/|beta| + z` with `N > 0` a function of `|beta|`, and `z/N -> 0`"
    potential = LimitingPotential("l2", None, tuple(b / length for b in betas), sympy.S.One)
    error = None if size == 0 else size / factor
    finding, at, below = Finding(Verdict.PROVED, reason, evidence), tuple(betas), potential.gradient
    return Limit(point, finding, "anti-NTK", at, None, factor, potential, below, error, True)
