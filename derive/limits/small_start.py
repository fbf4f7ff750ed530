"""Q of one homogeneous output from a small start, by how fast K grows.

Let F(c w) = c^D F(w) and w' = phi(grad F) from w_1: steepest descent in l_p, 1/p + 1/q = 1, which
is gradient flow where p = 2, of v = r^(-1/2) w under constant rates r; grad F is not 0 there. Then
beta' = K = |grad F|_q^q. By Euler's identity, <w, grad F> = D beta, and by Hoelder |grad F|_q >=
D beta/|w|_p where beta > 0, and as |phi(g)|_p = |g|_q^(q - 1), d|w|_p/dbeta <= 1/|grad F|_q <=
|w|_p/(D beta). So |w|_p <= C beta^(1/D) and, with some C > 0,

    K >= C beta^k,    k = q (D - 1)/D.

Where beta < 0 the same holds of -F. Where phi is smooth K is 0 where beta is or nowhere: if it is,
beta keeps the sign of F(w_1), and is never 0. From c w_1

    K(beta) = c^(k D) K_1(beta/c^D),    dQ/dbeta = c^(D (1 - k)) z(beta/c^D),    z = int db/K_1.

k > 1, which is D > p: z is at most a finite time Z = int_0^oo db/K_1, after which beta is infinite.
So as c -> 0 dQ/dbeta tends to c^(D (1 - k)) Z, with a relative error of order c^(D (k - 1)).

k <= 1: let F be a product m of powers, and laws a m_1 - b m_2, of one degree above 0. At c w_1
these vanish as c -> 0, and w stays bounded at fixed beta. So w tends to the weights above beta at
which all laws are 0: in logarithms the solution of a linear system. Where that is one, K tends to
K_0 = kappa |beta|^k there. As K >= C |beta|^k for every c, int db/K tends to int_0 db/K_0 if k < 1,
and is log(1/c^D)/kappa to leading order if k = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import Undecided
from derive.exact.field.polynomial import terms
from derive.limits.kernel_regime import ScaledStart, TangentKernel
from derive.limits.limit import Limit, Point, Regime, recognize, sided
from derive.model.labels import quoted, taken_names
from derive.model.names import unused
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece, written_out
from derive.records import Block
from derive.verdict import Finding, Identity, Verdict
from derive.weights.metric import tangent_kernel


def small_start_limit(
    blocks: Sequence[Block], point: Point, kernel: TangentKernel, scaled: ScaledStart
) -> Limit | None:
    """Return the limit of Q = int (beta - b)/K(b) db as the start vanishes, or None."""
    vanishes = (scaled.exponent * {"0": 1, "oo": -1}.get(point.side, 0)).is_positive
    (block, *others), piece = blocks, blocks[0].potential.piece
    p = block.parameterization
    if others or piece is None or not vanishes or not _is_covered(p, piece, scaled):
        return None
    if scaled.time > scaled.degree:
        closed = piece.kind == "explicit" or piece.time_curve is not None
        return None if closed else _of_finite_time(p, piece, point, kernel, scaled)
    return _of_growth(block, piece, point, scaled)


def _is_covered(p: Parameterization, piece: Piece, scaled: ScaledStart) -> bool:
    """Tell whether the flow goes on while beta grows.

    That is so of polynomials where phi is one, or all d_k F have one sign; and where nothing ends
    the domain, or 0 alone.
    """
    domain, s = piece.domain, p.geometry.steepest
    known = scaled.degree.is_Rational and scaled.time.is_Rational
    if p.d > 1 or not known or scaled.degree <= 0 or not p.F[0].is_polynomial():
        return False
    if s is None or s % 2 == 1:
        return not p.field.generators and bool(s or p.geometry.weight_square(p.w))
    ended = domain is None or not domain.exact or (domain.walls and not _only_side(p, piece))
    return bool(_sign(p)) or not ended


def _of_finite_time(
    p: Parameterization, piece: Piece, point: Point, kernel: TangentKernel, scaled: ScaledStart
) -> Limit:
    """Return the limit of k > 1: the times to infinity are the slopes."""
    (beta,), power = piece.betas, scaled.exponent * (scaled.time - scaled.degree)
    symbol = Symbol(point.variable, positive=True)
    start = kernel.beta_0[0].xreplace({symbol: sympy.S.One})
    above, below = _times(p, piece, symbol, start)
    unit, error = symbol**-power, symbol**power
    reason = (
        f"covariance, and beta = F(w) of degree {scaled.degree} > {p.geometry.steering.norm or 2} "
        f"is infinite after the finite time int db/K(b), K at {quoted(point.variable, p)} = 1"
    )
    side = _only_side(p, piece)
    if not (kernel.unbiased or side):
        reason += "; beta of the other sign than F(w_0) are reached where K is not 0 at beta = 0"
    finding = Finding(Verdict.PROVED, reason, scaled.evidence)
    if side:
        N = (above if side > 0 else -below) * unit
        return _one_sided(p, Limit(point, finding, unit=N, error=error), beta, side)
    if kernel.unbiased and _is_even(piece, beta):
        unit, above, below = above * unit, sympy.S.One, sympy.S.NegativeOne
    regime, potential = sided(above, below, beta)
    if not kernel.unbiased and above.has(sympy.Integral):
        # Where K(0) = 0 the integral to the other side is infinite.
        at = sympy.oo * sympy.sign(beta)
        potential = replace(potential, Q=beta * above.xreplace({sympy.oo: at}))
    return Limit(point, finding, regime, (beta,), None, unit, potential, (below,), error)


def _of_growth(block: Block, piece: Piece, point: Point, scaled: ScaledStart) -> Limit | None:
    """Return the limit of k <= 1, where K tends to a power of |beta|, on all sides reached."""
    p, (beta,) = block.parameterization, piece.betas
    k, side = scaled.time / scaled.degree, _only_side(p, piece)
    x = _coordinate(p, beta, side)
    size, symbol = (Symbol(name, positive=True) for name in (x.name, point.variable))
    K, weights = to_expr(tangent_kernel(p)[0][0], block.notation.weights), _balanced(block, size)
    if weights is None:
        return None
    at = sympy.powsimp(sympy.expand_power_base(K.xreplace(weights)))
    unit, part = sympy.S.One, 1 - k
    if k == 1:
        unit, part = scaled.exponent * scaled.degree * sympy.log(1 / symbol), sympy.S.One
    slope = sympy.powsimp(size / (at * part))
    below = None if side else -slope
    potential = recognize([slope], [below], (x,), (True,), point.decisions([size.name]))
    evidence = (Identity(f"K where laws are 0 and |beta| is {x}", str(K), str(at)),)
    reason = f"by covariance `K >= C |beta|^({k})` from all such starts, and `K` tends to a power"
    finding = Finding(Verdict.PROVED, reason, (*scaled.evidence, *evidence))
    regime: Regime = "rich" if potential.shape == "l1" else "intermediate"
    basis = -sympy.ImmutableMatrix([[1]]) if side < 0 else None
    return Limit(point, finding, regime, (x,), None, unit, potential, (below,), basis=basis)


def _balanced(block: Block, size: Symbol) -> dict[Expr, Expr] | None:
    """Return |w| where |F| = size and all laws are 0, if that is one; None of other F and laws."""
    p, symbols = block.parameterization, block.notation.weights
    w, ratios = [symbols[name] for name in p.weights], list[Expr]()  # each is 1
    for law in block.conserved.laws:
        a, *b = to_expr(law, symbols).expand().as_ordered_terms()
        if sum(map(a.as_powers_dict().get, w, [0] * p.p)) <= 0:
            return None
        ratios.append(sympy.powsimp(-sympy.Add(*b) / a))
    c, F = to_expr(p.F[0], symbols).as_independent(*w, as_Add=False)
    ratios.append(abs(c) * F / size)
    rows = [[ratio.as_powers_dict()[x] for x in w] for ratio in ratios]
    powers = [sympy.Mul(*map(sympy.Pow, w, row)) for row in rows]
    factors = [ratio / power for ratio, power in zip(ratios, powers, strict=True)]
    plain = all(c.is_positive and not c.has(*w) for c in factors)
    if not plain or len(rows) < p.p or any(map(sum, rows[:-1])) or not sympy.Matrix(rows).det():
        return None
    inverse = sympy.Matrix(rows).inv().tolist()
    return {
        x: 1 / sympy.Mul(*map(sympy.Pow, factors, row)) for x, row in zip(w, inverse, strict=True)
    }


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


def _only_side(p: Parameterization, piece: Piece) -> int:
    """Return the sign that beta keeps, where that of F is known or 0 ends the domain; else 0."""
    (beta,) = piece.betas
    walls = () if piece.domain is None else piece.domain.walls
    signs = (sign for w in walls for sign in (1, -1) if w.oriented and w.form == sign * beta)
    return _sign(p) or next(signs, 0)


def _sign(p: Parameterization) -> int:
    """Return that of all terms of F, where weights stay positive; 0 where these have two."""
    s, signs = p.geometry.steepest, {1 if c > 0 else -1 for _, c in terms(p.F[0].numerator)}
    return 0 if s is None or s % 2 == 1 or len(signs) > 1 else signs.pop()


def _times(p: Parameterization, piece: Piece, scale: Symbol, start: Expr) -> tuple[Expr, Expr]:
    """Return the times from the start at scale 1 to infinite beta and to -infinity.

    Where dQ/dbeta is a function of t, a weight or a root, and f(t) = beta is odd to leading order,
    t is infinite with beta, and so they are the limits of that function; else integrals.
    """
    b = Symbol(unused("b", {*p.weights, *p.start_symbols, *p.parameters}), real=True)
    speed, (mu,), ends = 1 / sympy.Function("K")(b), piece.gradient, dict[int, Expr]()
    t, along = _along(piece)
    far = Point(t.name, sympy.oo, "oo")
    decide = far.decisions(s.name for s in mu.free_symbols if s.is_positive)
    for side in () if t in piece.betas or piece.kind == "quadrature" else (1, -1):
        at = {scale: sympy.S.One, t: side * t}
        forms = (written_out(f, (), piece.constants).xreplace(at) for f in (along, mu))
        with suppress(Undecided):
            beta, time = (far.expand(f, decide) for f in forms)
            ends[decide.sign(beta.first)] = time.limit
    if len(ends) < 2:
        ends = {x: sympy.Integral(speed, (b, start, x * sympy.oo)) for x in (1, -1)}
    return ends[1], ends[-1]


def _along(piece: Piece) -> tuple[Symbol, Expr]:
    """Return t and f(t) = beta of a weight, of a root whose equation is linear in it, or beta."""
    (beta,) = piece.betas
    if piece.curve is not None:
        return piece.curve.parameter, piece.curve.beta
    for root in piece.roots[:1]:
        slope = root.polynomial.diff(beta)
        if len(piece.roots) == 1 and slope.is_Rational:
            return root.symbol, beta - root.polynomial / slope
    return beta, beta


def _is_even(piece: Piece, beta: Symbol) -> bool:
    """Tell whether K(beta) = K(-beta), as it, or dQ'/dA with the root A, is written."""
    kernel = piece.kernel
    if piece.kind == "algebraic" and len(piece.roots) == 1:
        kernel = piece.gradient[0].diff(piece.roots[0].symbol)
    if kernel is None or any(root.from_above != 0 for root in piece.roots):
        return False
    written = (kernel, *(root.polynomial for root in piece.roots))
    return all(sympy.expand(f - f.subs(beta, -beta)) == 0 for f in written)
