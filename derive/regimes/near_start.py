"""The kernel regime near beta_0, whatever the start: by exact powers of a small parameter.

Let x = beta - beta_0 be fixed. The path w(s) above beta_0 + s x on the leaf of w_0, 0 <= s <= 1,
has

    w' = V(w) x,    V = G^-1 J^T K^-1,    w(0) = w_0.

With w = w_0 + e^t nu, a power t_i for each weight, this is nu' = e^-t V(w_0 + e^t nu) x. Where the
right side tends to a limit at every nu, in which each entry depends on entries of nu before it
alone, nu stays bounded and w(s) is known to leading order. Where along it e^q K tends to an
invertible M that is free of nu, and the derivatives of log g tend to 0, Hess Q = g K^-1 tends to
M^-1 up to the factor g(w_0) e^q, and grad Q, which is 0 at x = 0, to M^-1 x: the squared norm of
the tangent kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import Undecided
from derive.exact.linear.matrix import dot, inverse
from derive.model.geometry import Field
from derive.model.labels import pair
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.regimes.asymptotics import Expander, Expansion, Growth, Unexpanded
from derive.regimes.kernel_regime import TangentKernel, kernel_norm
from derive.regimes.limit import Limit, growth_expression
from derive.regimes.point import Point
from derive.verdict import Finding, Identity, Verdict
from derive.weights.metric import tangent_kernel

_SPAN = Fraction(4)
_ROUNDS = 6


def near_start(
    p: Parameterization, kernel: TangentKernel, warp: tuple[Field, Expr], point: Point
) -> Limit | None:
    """Return the limit x^T M^-1 x/2 at fixed x = beta - beta_0, or None where it is not proved.

    Args:
        p: F and w_0; Q is known to exist.
        kernel: K(w_0).
        warp: the derivatives of log g in beta, functions of the weights, and g(w_0).
        point: where a start symbol tends to.
    """
    if any(generator.kind != "exp" for generator in p.field.generators):
        return None
    try:
        return _limit(_Path(p, point), kernel, warp, point)
    except (Undecided, ZeroDivisionError):
        return None


class _Path:
    """Functions of the weights at w_0 + e^t nu, expanded at fixed nu."""

    def __init__(self, p: Parameterization, point: Point) -> None:
        self.notation = Notation(p, tuple(range(p.d)))
        start = self.notation.start_symbols
        self.e = Symbol("e_", positive=True)
        self.start = [point.near(to_expr(w, start), self.e) for w in p.w0]
        self.nu = [Symbol(f"nu{i}_", real=True) for i in range(p.p)]
        self.powers: list[Fraction | None] = [None] * p.p
        self.decide = point.decisions(s.name for s in start.values() if s.is_positive)
        self.expander = Expander(self.e, self.decide, _SPAN)
        self._weights = [self.notation.weights[w] for w in p.weights]

    def expand(self, f: Expr) -> Expansion:
        """Return a function of the weights along the path."""
        moved = [
            w if t is None else w + self.e ** sympy.Rational(t.numerator, t.denominator) * nu
            for w, nu, t in zip(self.start, self.nu, self.powers, strict=True)
        ]
        top, bottom = sympy.fraction(f)
        at = dict(zip(self._weights, moved, strict=True))
        below = self.expander.expand(bottom.xreplace(at))
        if below.terms and below.terms[below.leading].has(*self.nu):
            raise Unexpanded("a denominator may vanish along the path")
        return self.expander.expand((top / bottom).xreplace(at))

    def settle(self, V: Sequence[Sequence[Expr]]) -> list[list[Expansion]]:
        """Find the powers t at which e^-t V tends to a limit, and return V there."""
        for _ in range(_ROUNDS):
            rows = [[self.expand(v) for v in row] for row in V]
            orders = [min((min(x.terms)[0] for x in row if x.terms), default=None) for row in rows]
            if orders == self.powers:
                return rows
            self.powers = orders
        raise Unexpanded("the weights do not settle")


def _limit(
    path: _Path, kernel: TangentKernel, warp: tuple[Field, Expr], point: Point
) -> Limit | None:
    p, weights = path.notation.parameterization, path.notation.weights
    K = tangent_kernel(p)
    rho, columns = inverse(K), list(zip(*p.fields, strict=True))
    V = [[to_expr(dot(c, r), weights) for r in zip(*rho, strict=True)] for c in columns]
    if not _stays_bounded(path, path.settle(V)):
        return None
    entries = [path.expand(to_expr(x, weights)) for row in K for x in row]
    slopes = [path.expand(to_expr(h, weights)) for h in warp[0]]
    growth, M = _leading_kernel(path, entries)
    error = min(*(_beyond(x, growth) for x in entries), *map(_largest, slopes), (_SPAN, 0))
    return _kernel_norm(path, kernel, warp[1], point, (growth, M, error)) if error[0] > 0 else None


def _leading_kernel(
    path: _Path, entries: Sequence[Expansion]
) -> tuple[Growth, sympy.ImmutableMatrix]:
    """Return q and M, K = e^q (M + ...); Unexpanded where M is singular or moves along the path."""
    d = path.notation.parameterization.d
    growth = min(x.leading for x in entries if x.terms)
    M = sympy.ImmutableMatrix(d, d, [x.coefficient(growth) for x in entries])
    if growth[1] or not all(x.reaches(growth) for x in entries):
        raise Unexpanded("the leading order of K is not known")
    if M.has(*path.nu) or path.decide.is_zero(sympy.expand(M.det("berkowitz"))):
        raise Unexpanded("K does not keep its value at the start")
    return growth, M


def _kernel_norm(
    path: _Path,
    kernel: TangentKernel,
    g: Expr,
    point: Point,
    found: tuple[Growth, sympy.ImmutableMatrix, Growth],
) -> Limit:
    """Return the limit M^-1 with its evidence."""
    (q, _), M, error = found
    x, potential = kernel_norm(M, kernel, path.notation)
    unit, order = growth_expression((-q, 0), point.small), growth_expression(error, point.small)
    evidence = tuple(
        Identity(
            f"K{pair(i + 1, j + 1)} at the start, to leading order",
            str(kernel.matrix[i, j]),
            f"({1 / unit})*({M[i, j]} + O({order}))",
        )
        for i, j in combinations_with_replacement(range(M.rows), 2)
    )
    reason = (
        "exact expansion along the path from beta_0 to beta_0 + x: K and g keep their values at "
        "the start to leading order"
    )
    finding, slopes = Finding(Verdict.PROVED, reason, evidence), potential.gradient
    return Limit(point, finding, "kernel", x, kernel.beta_0, g * unit, potential, slopes, order)


def _largest(x: Expansion) -> Growth:
    """Return the growth of the largest term, or of what is left out."""
    bound = (_SPAN if x.order is None else x.order, 0)
    return min([*x.terms, bound])


def _beyond(x: Expansion, growth: Growth) -> Growth:
    """Return the growth of what follows the leading order, relative to it."""
    rest = Expansion({g: c for g, c in x.terms.items() if g != growth}, x.order)
    r, k = _largest(rest) if rest.terms or rest.order is not None else (growth[0] + _SPAN, 0)
    return r - growth[0], k - growth[1]


def _stays_bounded(path: _Path, speeds: Sequence[Sequence[Expansion]]) -> bool:
    """Tell whether nu' has a limit, polynomials each in entries of nu before it alone."""
    open_ends: dict[int, set[Symbol]] = {}
    for i, (row, t) in enumerate(zip(speeds, path.powers, strict=True)):
        if t is None and all(x.is_zero for x in row):
            continue
        if t is None or not all(_is_polynomial(x, t, path.nu) for x in row):
            return False
        found = {s for x in row for s in x.coefficient((t, 0)).free_symbols}
        open_ends[i] = found & set(path.nu)
    return _are_in_turn(open_ends, path.nu)


def _are_in_turn(open_ends: dict[int, set[Symbol]], nu: Sequence[Symbol]) -> bool:
    """Tell whether the entries of nu have an order in which each needs those before it alone."""
    while open_ends:
        done = {nu[i] for i, others in open_ends.items() if not others}
        if not done:
            return False
        open_ends = {i: others - done for i, others in open_ends.items() if others}
    return True


def _is_polynomial(x: Expansion, t: Fraction, nu: Sequence[Symbol]) -> bool:
    """Tell whether e^-t x has a limit, and a polynomial."""
    known = x.reaches((t, 0)) and not any(s == t and k for s, k in x.terms)
    return known and bool(x.coefficient((t, 0)).is_polynomial(*nu))
