"""Limits of Q at a fixed predictor beta: which expansion fits the kind of Q."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.positivity import is_nonnegative
from derive.model.notation import Notation, positive_generators
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, Piece, kernel_of, written_out
from derive.regimes.closed_form import ClosedGradient, closed_form_limit
from derive.regimes.coupled_limit import find_separation, norm_limit, separated_limit
from derive.regimes.kernel_regime import TangentKernel
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
    alone = {i for block in p.blocks if len(block) == 1 for i in block}
    return ClosedGradient(
        entries,
        derivation.beta,
        tuple(i in alone for i in range(p.d)),
        frozenset({s.name for s in symbols if s.is_positive} | {point.variable}),
        roots,
        tuple(any(_ends_at_zero(piece, b) for piece in pieces) for b in derivation.beta),
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
    if not _starts_positive(p, gradient):
        return undecided(point, "Q ends at beta = 0, and beta_0 > 0 is not proved")
    limit = closed_form_limit(gradient, point, kernel.matrix)
    if limit.finding.verdict is Verdict.PROVED or not coupled:
        return limit
    along = norm_limit(gradient.entries, gradient.coordinates, point, gradient.positive)
    return along or limit


def _starts_positive(p: Parameterization, gradient: ClosedGradient) -> bool:
    """Tell whether beta_0 >= 0 is proved where Q ends at 0."""
    known = gradient.positive | positive_generators(p.start_field)
    start = [p.at_start(f) for f in p.F]
    ends = [b for b, ended in zip(start, gradient.ended, strict=True) if ended]
    return all(is_nonnegative(b, known) for b in ends)


def _ends_at_zero(piece: Piece, beta: Symbol) -> bool:
    """Tell whether K(beta) of a single output is proved to be 0, or to have a pole, at 0."""
    kernel = kernel_of(piece)
    if piece.betas != (beta,) or kernel is None or piece.roots:
        return False
    return any(
        _is_zero(written_out(f.xreplace({beta: sympy.S.Zero}), (), piece.constants))
        for f in (kernel, 1 / kernel)
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
