"""Limits of Q at a fixed predictor beta: which expansion fits the kind of Q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.field.function_field import RationalFunction
from derive.exact.positivity import is_nonnegative
from derive.model.notation import Notation, positive_generators, rational
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, Piece, kernel_of, written_out
from derive.regimes.closed_form import closed_form_limit
from derive.regimes.coupled_limit import find_separation, norm_limit, separated_limit
from derive.regimes.kernel_regime import TangentKernel
from derive.regimes.leading_gradient import ClosedGradient
from derive.regimes.limit import Limit, Point, undecided
from derive.regimes.parametric_limit import parametric_limit
from derive.verdict import Verdict


def predictor_limit(derivation: Derivation, point: Point, kernel: TangentKernel) -> Limit:
    """Return the limit of Q at fixed beta, PROVED or UNDECIDED."""
    potential, pieces = derivation.potential, derivation.potential.pieces
    if not pieces or potential.gradient is None:
        reason = f"there is no Q to take the limit of: {potential.finding.reason}"
        return undecided(point, reason)
    if any(g.has(sympy.Integral) for g in potential.gradient):
        return undecided(point, "Q is given by an integral, and so is its gradient")
    for piece in pieces:
        if isinstance(piece, Parametric):
            if len(pieces) == 1:
                return parametric_limit(piece.curve, piece.gradient[0], derivation.beta[0], point)
            reason = "several outputs, one of them parametric: take the limit of each on its own"
            return undecided(point, reason)
    gradient = _closed_gradient(derivation, potential.gradient, point)
    if gradient is None:
        reason = f"Q is given in a form whose expansion is not written: {potential.kind}"
        return undecided(point, reason)
    return _limit(derivation, gradient, point, kernel)


def _closed_gradient(
    derivation: Derivation, entries: tuple[Expr, ...], point: Point
) -> ClosedGradient | None:
    """Return grad Q and its symbols, or None where one of them has another meaning."""
    pieces, p = derivation.potential.pieces, derivation.potential.parameterization
    roots = _largest_roots(pieces)
    symbols = set().union(*(g.free_symbols for g in entries))
    known = {*derivation.beta, *dict(roots or ())}
    names = {*p.start_symbols, *p.parameters, *(symbol.name for symbol in known)}
    if roots is None or not {s.name for s in symbols} <= names:
        return None
    notation = Notation(p, tuple(range(p.d)))
    alone = {i for block in p.blocks if len(block) == 1 for i in block}
    origin = [_constant(f) for f in p.F]
    return ClosedGradient(
        entries,
        derivation.beta,
        tuple(i in alone for i in range(p.d)),
        frozenset({s.name for s in symbols if s.is_positive} | {point.variable}),
        roots,
        tuple(
            any(_ends_at(piece, b, rational(c)) for piece in pieces)
            for b, c in zip(derivation.beta, origin, strict=True)
        ),
        tuple(notation.fresh(f"x{b.name.lstrip(ascii_lowercase)}") for b in derivation.beta),
    )


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
    placed = _placed(p, gradient)
    if placed is None:
        return undecided(point, "Q ends at beta = F(0), and the side of beta_0 is not proved")
    gradient = placed
    limit = closed_form_limit(gradient, point, kernel.matrix)
    if limit.finding.verdict is Verdict.PROVED or not coupled:
        return limit
    along = norm_limit(gradient.entries, gradient.coordinates, point, gradient.positive)
    if along is None:
        return limit
    return replace(along, origin=gradient.origin or None)


def _placed(p: Parameterization, gradient: ClosedGradient) -> ClosedGradient | None:
    """Return the gradient in beta - F(0), or its negative where Q ends at 0 and beta_0 is below it.

    None where Q ends there and the side of beta_0 is not proved.
    """
    known = gradient.positive | positive_generators(p.start_field)
    origin = [_constant(f) for f in p.F]
    signs = [1] * p.d
    for i, (f, c, ended) in enumerate(zip(p.F, origin, gradient.ended, strict=True)):
        start = p.at_start(f - f.field.constant(c))
        if ended and not is_nonnegative(start, known):
            if not is_nonnegative(-start, known):
                return None
            signs[i] = -1
    if not any(origin) and -1 not in signs:
        return gradient
    return gradient.moved([rational(c) for c in origin], signs)


def _constant(f: RationalFunction) -> Fraction:
    """Return F(0) of a polynomial; 0 of other functions."""
    if not f.is_polynomial() or f.field.generators:
        return Fraction(0)
    zero = [Fraction(0)] * len(f.field.names)
    return f.at(zero)


def _ends_at(piece: Piece, beta: Symbol, c: Expr) -> bool:
    """Tell whether K(beta) of a single output is proved to be 0, or to have a pole, at c."""
    kernel = kernel_of(piece)
    if piece.betas != (beta,) or kernel is None or piece.roots:
        return False
    return any(
        _is_zero(written_out(f.subs(beta, c), (), piece.constants)) for f in (kernel, 1 / kernel)
    )


def _is_zero(c: Expr) -> bool:
    """Tell whether an expression is proved to be 0."""
    try:
        return ElementarySigns().is_zero(c)
    except Undecided:
        return False


def _largest_roots(pieces: Sequence[Piece]) -> tuple[tuple[Symbol, Expr], ...] | None:
    """Return the polynomials of roots without formula; None where one is not the largest root."""
    named = [(r, piece.constants) for piece in pieces for r in piece.roots if r.explicit is None]
    if any(root.from_above != 0 for root, _ in named):
        return None
    return tuple((r.symbol, written_out(r.polynomial, (), values)) for r, values in named)
