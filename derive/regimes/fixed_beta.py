"""Limits of Q at fixed beta: which expansion fits the form in which Q is given."""

from __future__ import annotations

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.positivity import is_nonnegative
from derive.model.notation import Notation, positive_generators
from derive.potential.piece import Parametric, kernel_of
from derive.regimes.coefficients import Coefficients, Unexpanded
from derive.regimes.curve import curve_limit
from derive.regimes.expand import closed_limit
from derive.regimes.length import radial_limit
from derive.regimes.limit import Limit, Point, undecided
from derive.regimes.linearization import TangentKernel
from derive.regimes.separation import find_separation, separated_limit
from derive.verdict import Verdict


def limit_at_fixed_beta(derivation: Derivation, point: Point, kernel: TangentKernel) -> Limit:
    """Return the limit of Q at fixed beta from its closed form.

    Args:
        derivation: of Q.
        point: where a start symbol tends to.
        kernel: K(w_0).
    """
    potential = derivation.potential
    p = potential.parameterization
    if not potential.pieces or potential.gradient is None:
        reason = f"there is no Q to take the limit of: {potential.finding.reason}"
        return undecided(point, reason)
    if any(g.has(sympy.Integral) for g in potential.gradient):
        return undecided(point, "Q is given by an integral, and so is its gradient")
    curves = [piece for piece in potential.pieces if isinstance(piece, Parametric)]
    if curves:
        if len(potential.pieces) > 1:
            reason = "several outputs, one of them parametric: take the limit of each on its own"
            return undecided(point, reason)
        return curve_limit(curves[0].curve, curves[0].gradient[0], derivation.beta[0], point)
    roots = _roots(derivation)
    symbols = {s for g in potential.gradient for s in g.free_symbols}
    names = {*p.start_symbols, *p.parameters, *(symbol.name for symbol, _ in roots or ())}
    names |= {b.name for b in derivation.beta}
    if roots is None or any(s.name not in names for s in symbols):
        reason = f"Q is given in a form whose expansion is not written: {potential.kind}"
        return undecided(point, reason)
    positive = frozenset({s.name for s in symbols if s.is_positive} | {point.variable})
    at = (point, positive, kernel.matrix)
    coupled = len(p.blocks) == 1 < p.d
    if coupled and derivation.hessian.verdict is Verdict.PROVED and not roots:
        separation, notation = find_separation(p), Notation(p, tuple(range(p.d)))
        x = tuple(notation.fresh(f"x{i}") for i in p.labels)
        if separation is not None:
            limit = separated_limit(separation, potential.gradient, derivation.beta, x, *at)
            if limit.finding.verdict is Verdict.PROVED:
                return limit
    single = [len(block) == 1 for i in range(p.d) for block in p.blocks if i in block]
    ended = [_ends_at_zero(derivation, b) for b in derivation.beta]
    known = positive | positive_generators(p.start_field)
    start = [p.at_start(f) for f in p.F]
    if not all(is_nonnegative(b, known) for b, end in zip(start, ended, strict=True) if end):
        return undecided(point, "Q ends at beta = 0, and beta_0 > 0 is not proved")
    limit = closed_limit(potential.gradient, derivation.beta, single, *at, roots, ended)
    if limit.finding.verdict is Verdict.PROVED or not coupled:
        return limit
    return radial_limit(potential.gradient, derivation.beta, point, positive) or limit


def _ends_at_zero(derivation: Derivation, beta: Symbol) -> bool:
    """Tell whether K(beta) of a single output is proved to be 0, or to have a pole, at 0."""
    decide = Coefficients()
    for piece in derivation.potential.pieces:
        kernel = kernel_of(piece)
        if piece.betas == (beta,) and kernel is not None and not piece.roots:
            for f in (kernel, 1 / kernel):
                at_zero = f.xreplace({beta: sympy.S.Zero})
                for symbol, value in reversed(piece.constants):
                    at_zero = at_zero.subs(symbol, value)
                try:
                    if decide.is_zero(at_zero):
                        return True
                except Unexpanded:
                    continue
    return False


def _roots(derivation: Derivation) -> tuple[tuple[Symbol, Expr], ...] | None:
    """Return the polynomials of the roots that have no formula, in start symbols.

    None where one is not the largest real root.
    """
    found = []
    for piece in derivation.potential.pieces:
        constants = dict(piece.constants)
        for root in piece.roots:
            if root.explicit is not None:
                continue
            if root.from_above != 0:
                return None
            polynomial = root.polynomial.as_expr()
            for symbol, value in reversed(constants.items()):
                polynomial = polynomial.subs(symbol, value)
            found.append((root.symbol, polynomial))
    return tuple(found)
