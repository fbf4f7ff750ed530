"""Homogeneous F of degree D > 2 from a small start: Q is an l1 norm, closed form or not.

Let beta = F(w) be one output, polynomial, F(c w) = c^D F(w), and w' = grad F from w_1, grad F not 0
there. Where beta > 0, r = |w|^2 has r' = 2 D beta and beta' = |grad F|^2 >= D^2 beta^2/r, as
<w, grad F> = D beta. So (log beta)' >= (D/2) (log r)', beta >= C r^(D/2) with C > 0, and
    beta' >= D^2 C^(2/D) beta^(2 - 2/D):

beta, and with it w, is infinite after a finite time Z = int_0^oo db/K(b). Where beta < 0 the same
holds of -F. K = |grad F|^2 is 0 where beta is or nowhere: if it is, beta keeps the sign of F(w_1),
and is never 0. From c w_1 the time is dQ/dbeta = c^(2 - D) z(beta/c^D), z that from w_1, so that as
c -> 0 it tends to c^(2 - D) Z, with a relative error of order c^(D - 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.limits.kernel_regime import ScaledStart, TangentKernel
from derive.limits.limit import Limit, sided
from derive.limits.point import Point
from derive.model.labels import quoted, taken_names
from derive.model.names import unused
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece
from derive.verdict import Finding, Verdict

_TWO = 2


def finite_time_limit(
    p: Parameterization,
    pieces: Sequence[Piece],
    point: Point,
    kernel: TangentKernel,
    scaled: ScaledStart,
) -> Limit | None:
    """Return the limit of Q = int (beta - b)/K(b) db as the start vanishes, or None."""
    D, m = scaled.degree, scaled.exponent
    vanishes = (m * {"0": 1, "oo": -1}.get(point.side, 0)).is_positive
    piece = pieces[0] if len(pieces) == 1 else None
    if piece is None or not vanishes or not _is_covered(p, piece, D):
        return None
    (beta,) = piece.betas
    symbol = Symbol(point.variable, positive=True)
    start = kernel.beta_0[0].xreplace({symbol: sympy.S.One})
    above, below = _time(p, sympy.oo, start), _time(p, -sympy.oo, start)
    unit, error = symbol ** (m * (2 - D)), symbol ** (m * (D - 2))
    reason = (
        f"covariance, and beta = F(w) of degree {D} > 2 is infinite after the finite time "
        f"int db/K(b), K at {quoted(point.variable, p)} = 1"
    )
    side = _only_side(piece)
    if not (kernel.unbiased or side):
        reason += "; beta of the other sign than F(w_0) are reached where K is not 0 at beta = 0"
    finding = Finding(Verdict.PROVED, reason, scaled.evidence)
    if side:
        time = above if side > 0 else _time(p, start, -sympy.oo)
        x = beta if side > 0 else Symbol(unused("x", {*taken_names(p)}), real=True)
        return _one_sided(Limit(point, finding, unit=time * unit, error=error), x, side)
    if kernel.unbiased and _is_even(piece, beta):
        unit, above, below = above * unit, sympy.S.One, sympy.S.NegativeOne
    regime, potential = sided(above, below, beta)
    if not kernel.unbiased:  # Where K(0) = 0 the integral to the other side is infinite.
        potential = replace(potential, Q=beta * _time(p, sympy.oo * sympy.sign(beta), start))
    return Limit(point, finding, regime, (beta,), None, unit, potential, (below,), error)


def _one_sided(limit: Limit, x: Symbol, side: int) -> Limit:
    """Return the limit |x| of Q/N at x = side beta, of which only x > 0 is reached."""
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


def _is_covered(p: Parameterization, piece: Piece, D: Expr) -> bool:
    """Tell whether F is a polynomial of degree D > 2 whose Q has no formula in beta or mu."""
    closed = piece.kind == "explicit" or piece.time_curve is not None
    return not closed and D.is_Rational and D > _TWO and _is_plain_polynomial(p)


def _is_plain_polynomial(p: Parameterization) -> bool:
    """Tell whether F is one polynomial, with the Euclidean metric of the weights."""
    square = sum((w * w for w in p.w), p.field.zero)
    plain = p.d == 1 and not p.field.generators and p.geometry.weight_square(p.w) == square
    return plain and p.F[0].is_polynomial()


def _time(p: Parameterization, end: Expr, start: Expr) -> Expr:
    """Return the time from one beta to another."""
    taken = {*p.weights, *p.start_symbols, *p.parameters}
    b = Symbol(next(name for name in ("b", "b_", "b__") if name not in taken), real=True)
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
