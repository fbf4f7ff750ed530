"""Limits of Q at a fixed predictor beta: which expansion fits the kind of Q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.field.function_field import RationalFunction
from derive.model.notation import Notation, rational, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Curve, Parametric, Piece, written_out
from derive.potential.separation import find_separation
from derive.regimes.closed_form import closed_form_limit
from derive.regimes.coupled_limit import norm_limit, separated_limit
from derive.regimes.finite_time import moved_start_limit
from derive.regimes.kernel_regime import TangentKernel
from derive.regimes.leading_gradient import ClosedGradient
from derive.regimes.limit import Limit, undecided
from derive.regimes.parametric_limit import parametric_limit
from derive.regimes.point import Point
from derive.verdict import Verdict


def predictor_limit(derivation: Derivation, point: Point, kernel: TangentKernel) -> Limit:
    """Return the limit of Q at fixed beta, PROVED or UNDECIDED."""
    potential, pieces = derivation.potential, derivation.potential.pieces
    if not pieces or potential.gradient is None:
        reason = f"there is no Q to take the limit of: {potential.finding.reason}"
        return undecided(point, reason)
    limit = undecided(point, "Q is given by an integral, and so is its gradient")
    if not any(g.has(sympy.Integral) for g in potential.gradient):
        limit = _of_closed_form(derivation, potential.gradient, point, kernel)
    if limit.finding.verdict is Verdict.PROVED:
        return limit
    start = kernel.beta_0[0]
    return moved_start_limit(potential.parameterization, pieces[0], point, start) or limit


def _of_closed_form(
    derivation: Derivation, entries: tuple[Expr, ...], point: Point, kernel: TangentKernel
) -> Limit:
    """Return the limit of a Q whose gradient is a formula."""
    potential, pieces = derivation.potential, derivation.potential.pieces
    gradient = _closed_gradient(derivation, entries, point)
    if gradient is None:
        reason = f"Q is given in a form whose expansion is not written: {potential.kind}"
        return undecided(point, reason)
    if len(pieces) == 1 and isinstance(pieces[0], Parametric):
        gradient = _from_zero(derivation.potential.parameterization, gradient)
        return _along_curve(pieces[0], gradient, point, kernel)
    return _limit(derivation, gradient, point, kernel)


def _along_curve(
    piece: Parametric, gradient: ClosedGradient, point: Point, kernel: TangentKernel
) -> Limit:
    """Return the limit of a parametric Q: at the ends of its curve, by one term, or along it."""
    limit = parametric_limit(piece.curve, piece.gradient[0], piece.betas[0], point)
    if limit.finding.verdict is Verdict.PROVED:
        return limit
    return closed_form_limit(gradient, point, kernel.matrix)


def _closed_gradient(
    derivation: Derivation, entries: tuple[Expr, ...], point: Point
) -> ClosedGradient | None:
    """Return grad Q and its symbols, or None where one of them has another meaning."""
    pieces, p = derivation.potential.pieces, derivation.potential.parameterization
    roots = _largest_roots(pieces)
    curves = _curves(pieces)
    written = (*entries, *(curve.beta for curve in curves.values()))
    symbols = set[Symbol]().union(*(f.free_symbols for f in written))
    known = {*derivation.beta, *dict(roots or ()), *(c.parameter for c in curves.values())}
    names = {*p.start_symbols, *p.parameters, *(symbol.name for symbol in known)}
    if roots is None or not {s.name for s in symbols} <= names:
        return None
    notation = Notation(p, tuple(range(p.d)))
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
    )


def _curves(pieces: Sequence[Piece]) -> dict[Symbol, Curve]:
    return {piece.betas[0]: piece.curve for piece in pieces if isinstance(piece, Parametric)}


def _limit(
    derivation: Derivation, gradient: ClosedGradient, point: Point, kernel: TangentKernel
) -> Limit:
    """Return the limit in coordinates in which Q is a sum, in beta, or along |beta|."""
    p = derivation.potential.parameterization
    coupled = len(p.blocks) == 1 < p.d
    if coupled and derivation.hessian.verdict is Verdict.PROVED and not gradient.roots:
        separation, notation = find_separation(p), Notation(p, tuple(range(p.d)))
        if separation is not None:
            x = tuple(notation.fresh(f"x{i}") for i in p.labels)
            limit = separated_limit(separation, gradient, x, point, kernel.matrix)
            if limit.finding.verdict is Verdict.PROVED:
                return limit
    gradient = _from_zero(p, gradient)
    limit = closed_form_limit(gradient, point, kernel.matrix)
    if limit.finding.verdict is Verdict.PROVED or not coupled:
        return limit
    along = norm_limit(gradient.entries, gradient.coordinates, point, gradient.positive)
    if along is None:
        return limit
    return replace(along, origin=gradient.origin or None)


def _from_zero(p: Parameterization, gradient: ClosedGradient) -> ClosedGradient:
    """Return the gradient in beta - F(0)."""
    origin = [rational(_constant(f)) for f in p.F]
    return gradient.moved(origin, (1,) * p.d) if any(origin) else gradient


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
