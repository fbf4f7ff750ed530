"""Q of one homogeneous output from a small start, by how fast K grows.

Let F(c w) = c^D F(w) and w' = phi(grad F) from w_1: steepest descent in l_p, 1/p + 1/q = 1, which
is gradient flow where p = 2; grad F is not 0 there. Then beta' = K = |grad F|_q^q. By Euler's
identity, <w, grad F> = D beta, and by Hoelder |grad F|_q >= D beta/|w|_p where beta > 0, and as
|phi(g)|_p = |g|_q^(q - 1), d|w|_p/dbeta <= 1/|grad F|_q <= |w|_p/(D beta). So |w|_p <= C beta^(1/D)
and, with some C > 0,

    K >= C beta^k,    k = q (D - 1)/D.

Where beta < 0 the same holds of -F. Under gradient flow K is 0 where beta is or nowhere: if it is,
beta keeps the sign of F(w_1), and is never 0. From c w_1

    K(beta) = c^(k D) K_1(beta/c^D),    dQ/dbeta = c^(D (1 - k)) z(beta/c^D),    z = int db/K_1.

k > 1, which is D > p: z is at most a finite time Z = int_0^oo db/K_1, after which beta is infinite.
So as c -> 0 dQ/dbeta tends to c^(D (1 - k)) Z, with a relative error of order c^(D (k - 1)).

k <= 1, and K tends to K_0 = kappa |beta|^k at fixed beta: as K >= C |beta|^k for every c, int db/K
tends to int_0 db/K_0 if k < 1, and is log(1/c^D)/kappa to leading order if k = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import Undecided
from derive.limits.asymptotics import CONSTANT
from derive.limits.kernel_regime import ScaledStart, TangentKernel
from derive.limits.limit import Limit, Point, Regime, recognize, sided
from derive.model.labels import quoted, taken_names
from derive.model.names import unused
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece, written_out
from derive.verdict import Finding, Identity, Verdict


def small_start_limit(
    p: Parameterization,
    pieces: Sequence[Piece],
    point: Point,
    kernel: TangentKernel,
    scaled: ScaledStart,
) -> Limit | None:
    """Return the limit of Q = int (beta - b)/K(b) db as the start vanishes, or None."""
    vanishes = (scaled.exponent * {"0": 1, "oo": -1}.get(point.side, 0)).is_positive
    piece = pieces[0] if len(pieces) == 1 else None
    if piece is None or not vanishes or not _is_covered(p, piece, scaled):
        return None
    if scaled.time > scaled.degree:
        return _of_finite_time(p, piece, point, kernel, scaled)
    return _of_growth(p, piece, point, scaled)


def _is_covered(p: Parameterization, piece: Piece, scaled: ScaledStart) -> bool:
    """Tell whether the flow goes on while beta grows, and Q has no formula in beta or mu.

    That is so of polynomials under gradient flow, and where the domain ends at 0 alone.
    """
    square, domain = sum((w * w for w in p.w), p.field.zero), piece.domain
    rational_ = scaled.degree.is_Rational and scaled.time.is_Rational and scaled.degree > 0
    closed = piece.kind == "explicit" or piece.time_curve is not None
    if p.d > 1 or closed or not rational_:
        return False
    if p.geometry.steepest is None:
        plain = not p.field.generators and p.F[0].is_polynomial()
        return plain and p.geometry.weight_square(p.w) == square
    return domain is not None and domain.exact and (not domain.walls or bool(_only_side(piece)))


def _of_finite_time(
    p: Parameterization, piece: Piece, point: Point, kernel: TangentKernel, scaled: ScaledStart
) -> Limit:
    """Return the limit of k > 1: the times to infinity are the slopes."""
    (beta,), power = piece.betas, scaled.exponent * (scaled.time - scaled.degree)
    symbol = Symbol(point.variable, positive=True)
    start = kernel.beta_0[0].xreplace({symbol: sympy.S.One})
    above, below = _time(p, sympy.oo, start), _time(p, -sympy.oo, start)
    unit, error = symbol**-power, symbol**power
    reason = (
        f"covariance, and beta = F(w) of degree {scaled.degree} > {p.geometry.steering.norm or 2} "
        f"is infinite after the finite time int db/K(b), K at {quoted(point.variable, p)} = 1"
    )
    side = _only_side(piece)
    if not (kernel.unbiased or side):
        reason += "; beta of the other sign than F(w_0) are reached where K is not 0 at beta = 0"
    finding = Finding(Verdict.PROVED, reason, scaled.evidence)
    if side:
        time = above if side > 0 else _time(p, start, -sympy.oo)
        return _one_sided(p, Limit(point, finding, unit=time * unit, error=error), beta, side)
    if kernel.unbiased and _is_even(piece, beta):
        unit, above, below = above * unit, sympy.S.One, sympy.S.NegativeOne
    regime, potential = sided(above, below, beta)
    if not kernel.unbiased:  # Where K(0) = 0 the integral to the other side is infinite.
        potential = replace(potential, Q=beta * _time(p, sympy.oo * sympy.sign(beta), start))
    return Limit(point, finding, regime, (beta,), None, unit, potential, (below,), error)


def _of_growth(
    p: Parameterization, piece: Piece, point: Point, scaled: ScaledStart
) -> Limit | None:
    """Return the limit of k <= 1, where K tends to a power on all sides that are reached."""
    (beta,), k, side = piece.betas, scaled.time / scaled.degree, _only_side(piece)
    x = _coordinate(p, beta, side)
    size, symbol = (Symbol(name, positive=True) for name in (x.name, point.variable))
    signs = (side,) if side else (1, -1)
    kernels = [K for sign in signs if (K := _tends(piece, point, sign * size)) is not None]
    if len(kernels) < len(signs):
        return None
    unit, part = sympy.S.One, 1 - k
    if k == 1:
        unit, part = scaled.exponent * scaled.degree * sympy.log(1 / symbol), sympy.S.One
    above, *below = (sympy.powsimp(size / (K * part)) for K in kernels)
    potential = recognize(
        [above], [-g for g in below] or [None], (x,), (True,), point.decisions([size.name])
    )
    evidence = tuple(
        Identity(f"K tends to this where {sign}*{x} > 0", str(piece.kernel), str(K))
        for sign, K in zip(signs, kernels, strict=True)
    )
    reason = f"by covariance `K >= C |beta|^({k})` from all such starts, and `K` tends to a power"
    finding = Finding(Verdict.PROVED, reason, (*scaled.evidence, *evidence))
    regime: Regime = "rich" if potential.shape == "l1" else "intermediate"
    basis = -sympy.ImmutableMatrix([[1]]) if side < 0 else None
    slopes = tuple(-g for g in below) or (None,)
    return Limit(point, finding, regime, (x,), None, unit, potential, slopes, basis=basis)


def _tends(piece: Piece, point: Point, beta: Expr) -> Expr | None:
    """Return what K tends to at fixed beta, a function of it alone, or None."""
    kernel = piece.kernel
    if kernel is None or any(root.explicit is None for root in piece.roots):
        return None
    at = written_out(kernel, piece.roots, piece.constants).xreplace({piece.betas[0]: beta})
    names = {s.name for s in at.free_symbols if s.is_positive}
    try:
        expanded = point.expand(at, point.decisions(names))
    except Undecided:
        return None
    plain = expanded.leading == CONSTANT and expanded.first.free_symbols == beta.free_symbols
    return expanded.first if plain else None


def _coordinate(p: Parameterization, beta: Symbol, side: int) -> Symbol:
    """Return beta, or a name for -beta where that alone is positive."""
    return beta if side >= 0 else Symbol(unused("x", {*taken_names(p)}), real=True)


def _one_sided(p: Parameterization, limit: Limit, beta: Symbol, side: int) -> Limit:
    """Return the limit |x| of Q/N at x = side beta, of which only x > 0 is reached."""
    x = _coordinate(p, beta, side)
    regime, potential = sided(sympy.S.One, sympy.S.NegativeOne, x)
    basis = None if side > 0 else -sympy.ImmutableMatrix([[1]])
    return replace(
        limit, regime=regime, coordinates=(x,), potential=potential, below=(None,), basis=basis
    )


def _only_side(piece: Piece) -> int:
    """Return the sign that beta keeps, where 0 is known to end the domain; 0 of none."""
    (beta,) = piece.betas
    walls = () if piece.domain is None else piece.domain.walls
    signs = (sign for w in walls for sign in (1, -1) if w.oriented and w.form == sign * beta)
    return next(signs, 0)


def _time(p: Parameterization, end: Expr, start: Expr) -> Expr:
    """Return the time from one beta to another."""
    b = Symbol(unused("b", {*p.weights, *p.start_symbols, *p.parameters}), real=True)
    return sympy.Integral(1 / sympy.Function("K")(b), (b, start, end))


def _is_even(piece: Piece, beta: Symbol) -> bool:
    """Tell whether K(beta) = K(-beta), as it, or dQ'/dA with the root A, is written."""
    kernel = piece.kernel
    if piece.kind == "algebraic" and len(piece.roots) == 1:
        kernel = piece.gradient[0].diff(piece.roots[0].symbol)
    if kernel is None or any(root.from_above != 0 for root in piece.roots):
        return False
    written = (kernel, *(root.polynomial for root in piece.roots))
    return all(sympy.expand(f - f.subs(beta, -beta)) == 0 for f in written)
