"""The tangent kernel at the start, and the kernel regime near it.

Of homogeneous models: if F(c w) = c^D F(w), then J(c w) = c^(D-1) J(w) and K(c w) = c^n K(w), n =
2D - 2 under gradient flow, and q (D - 1) under steepest descent in l_p, 1/p + 1/q = 1. The flow
from c w_0 runs on c times the leaf of w_0, where the induced metric at c^D b is c^-n times that at
b. Hess Q = g rho is unique up to a constant, so up to a positive factor and
an additive constant

    Q_c(c^D b) = Q_1(b),    Q_c(beta_0 + x) = Q_1(b_0 + x/c^D),   beta_0 = c^D b_0.

As c^D -> infinity only the second-order term of Q_1 at b_0, where its gradient is 0, remains:
Q_c -> x^T K(w_0)^-1 x, up to a factor, with a relative error of order c^-D, or c^-2D where the
third derivatives of Q_1 vanish at b_0. The time of the flow is rescaled by c^n.

Of any start, by exact powers of a small parameter: let x = beta - beta_0 be fixed. The path w(s)
above beta_0 + s x on the leaf of w_0, 0 <= s <= 1, has

    w' = V(w) x,    V = G^-1 J^T K^-1,    w(0) = w_0.

With w = w_0 + e^t nu, a power t_i for each weight, this is nu' = e^-t V(w_0 + e^t nu) x. Where the
right side tends to a limit at every nu that is affine in entries of nu that move each other, with
polynomials in entries before them, nu stays bounded. Where along it e^q K tends to an
invertible M that is free of nu, and the derivatives of log g tend to 0, Hess Q = g K^-1 tends to
M^-1 up to the factor g(w_0) e^q, and grad Q, which is 0 at x = 0, to M^-1 x: the squared norm of
the tangent kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.exact.asymptotics import (
    SMALL,
    Expander,
    Expansion,
    Exponent,
    Growth,
    Unexpanded,
    is_positive_exponent,
    leading_order,
    written,
)
from derive.exact.elementary_signs import Undecided
from derive.exact.linear.matrix import determinant, dot, inverse
from derive.limits.limit import Limit, LimitingPotential, Point, growth_expression
from derive.model.geometry import Field
from derive.model.labels import pair
from derive.model.notation import Notation, rational, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.metric import tangent_kernel


@dataclass(frozen=True)
class TangentKernel:
    """K = J J^T at the start, and what gradient flow would minimise if K stayed so.

    Attributes:
        matrix: K(w_0), d x d, in start symbols.
        beta_0: F(w_0).
        unbiased: whether F(w_0) = 0 identically.
    """

    matrix: sympy.ImmutableMatrix
    beta_0: tuple[Expr, ...]
    unbiased: bool


@dataclass(frozen=True)
class Homogeneity:
    """F(c w) = c^D F(w), by Euler's identity for every output; D may have parameters in it.

    Attributes:
        time: n of K(c w) = c^n K(w): the flow from c w_0 is c^n times as fast, near its start.
    """

    degree: Expr
    time: Expr
    finding: Finding


@dataclass(frozen=True)
class ScaledStart:
    """w_0 = c^m times a start that does not depend on c.

    Attributes:
        degree: D.
        time: n of K(c w) = c^n K(w).
        exponent: m.
        order: the relative error of the kernel limit is of order (c^(m D))^-order.
        evidence: Euler's identity, c dw_0/dc = m w_0, and the identities behind the order.
    """

    degree: Expr
    time: Expr
    exponent: Expr
    order: int
    evidence: tuple[Identity, ...]


def find_tangent_kernel(p: Parameterization, notation: Notation) -> TangentKernel:
    """Return K(w_0) = J(w_0) J(w_0)^T in start symbols.

    Source: Jacot, Gabriel, Hongler 2018, for the kernel; Azulay et al. 2021, appendix E and F.
    """
    start = notation.start_symbols
    beta_0 = [p.at_start(f) for f in p.F]
    rows = [[to_factored_expr(p.at_start(x), start) for x in row] for row in tangent_kernel(p)]
    matrix = sympy.ImmutableMatrix(rows)
    unbiased = all(b.is_zero() for b in beta_0)
    return TangentKernel(matrix, tuple(to_expr(b, start) for b in beta_0), unbiased)


def find_homogeneity(p: Parameterization, notation: Notation) -> Homogeneity | None:
    """Return the degree of F by Euler's identity <w, grad F_i> = D F_i, or None.

    Source: Chizat, Oyallon, Bach 2019, for scaled starts of homogeneous models.
    """
    degree, s = p.homogeneity, p.geometry.steepest
    moving = any({*x.variables()} - x.field.parameters for x in p.geometry.functions)
    if degree is None or (s is None and moving):
        return None
    D = to_expr(degree, notation.weights)
    n = sympy.expand((2 if s is None else 1 + rational(s)) * (D - 1))
    evidence = tuple(
        Identity(f"<w, grad F{i}> = D F{i}", repr(dot(p.w, row)), repr(degree * f))
        for i, f, row in zip(p.labels, p.F, p.covectors, strict=True)
    )
    return Homogeneity(D, n, Finding(Verdict.PROVED, "Euler's identity", evidence))


def find_scaled_start(
    p: Parameterization, homogeneity: Homogeneity, variable: str, H: Field
) -> ScaledStart | None:
    """Return m with w_0 = c^m w_1, w_1 free of the start symbol c, or None; H is that of a Q."""
    field = p.start_field
    if variable not in field.weights:
        return None
    try:
        at_start = tuple(tuple(p.at_start(x) for x in row) for row in tangent_kernel(p))
    except ZeroDivisionError:
        return None
    if determinant(at_start).is_zero():
        return None
    c, k = field.named(variable), field.weights.index(variable)
    moved = {
        name: (w, c * field.derivative(w, k))
        for name, w in zip(p.weights, p.w0, strict=True)
        if not w.is_zero()
    }
    ratios = {d / w for w, d in moved.values()}
    m = ratios.pop() if len(ratios) == 1 else field.zero
    if not m.is_constant() or m.is_zero():
        return None
    exponent, order, flat = rational(m.value()), *_order(p, H)
    statement = f"{variable} d{{0}}/d{variable} = {exponent} {{0}} at the start"
    moves = (Identity(statement.format(w), repr(d), repr(m * x)) for w, (x, d) in moved.items())
    evidence = (*homogeneity.finding.evidence, *moves, *flat)
    return ScaledStart(homogeneity.degree, homogeneity.time, exponent, order, evidence)


def kernel_limit(
    point: Point, kernel: TangentKernel, scaled: ScaledStart, notation: Notation, warp: Expr
) -> Limit | None:
    """Return the limit x^T K(w_0)^-1 x at fixed x = beta - beta_0, or None if c^(m D) -> 0."""
    D, m = scaled.degree, scaled.exponent
    if not is_positive_exponent(m * D * {"0": -1, "oo": 1}.get(point.side, 0)):
        return None
    symbol = notation.start_symbols[point.variable]
    x, potential = kernel_norm(kernel.matrix.xreplace({symbol: sympy.S.One}), kernel, notation)
    finding = Finding(
        Verdict.PROVED,
        "by covariance `Q` is `Q_1((beta - beta_0)/c^D + b_0)` up to a factor and a constant, for "
        "the start `c w_1`, with `Q_1` and `b_0` those of `w_1`; the second-order term of `Q_1` at "
        "`b_0` is that of the tangent kernel",
        scaled.evidence,
    )
    unit = warp * symbol ** sympy.expand(-m * scaled.time)
    error = symbol ** sympy.expand(-scaled.order * m * D)
    slopes = potential.gradient
    limit = Limit(point, finding, "kernel", x, kernel.beta_0, unit, potential, slopes, error)
    return replace(limit, depths=tuple(sorted(D.free_symbols, key=str)))


def kernel_norm(
    K: sympy.ImmutableMatrix, kernel: TangentKernel, notation: Notation
) -> tuple[tuple[Symbol, ...], LimitingPotential]:
    """Return x = beta - beta_0, and x^T K^-1 x/2."""
    x = notation.betas
    if not kernel.unbiased:
        x = tuple(notation.fresh(f"x{b.name.lstrip(ascii_lowercase)}") for b in x)
    slopes = K.adjugate(method="berkowitz") / K.det(method="berkowitz") * sympy.Matrix(x)
    gradient = tuple(sympy.factor(g) for g in slopes)
    Q = sympy.factor(sympy.Add(*(xi * g for xi, g in zip(x, gradient, strict=True))) / 2)
    return x, LimitingPotential("quadratic", Q, gradient, sympy.Integer(2))


def _order(p: Parameterization, H: Field) -> tuple[int, tuple[Identity, ...]]:
    """Return 2 where the first derivatives of K and of g vanish at the start, else 1."""
    K, pairs = tangent_kernel(p), combinations_with_replacement(enumerate(p.labels), 2)
    gradients = {f"K{pair(i, j)}": p.field.gradient(K[b][c]) for (b, i), (c, j) in pairs}
    fields = dict(zip(p.labels, p.fields, strict=True))
    slopes = {
        f"<grad F{i}, grad {name}>": dot(x, gradient)
        for i, x in fields.items()
        for name, gradient in gradients.items()
    }
    slopes.update((f"<grad F{i}, grad log g>", h) for i, h in zip(p.labels, H, strict=True))
    try:
        if any(not p.at_start(slope).is_zero() for slope in slopes.values()):
            return 1, ()
    except ZeroDivisionError:
        return 1, ()
    return 2, tuple(
        Identity(f"{name} = 0 at the start", f"{slope!r} at w_0", repr(p.at_start(slope)))
        for name, slope in slopes.items()
    )


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
        path = _Path(p, point)
        q, M, error = _kernel_along(path, warp[0])
    except (Undecided, ZeroDivisionError):
        return None
    x, potential = kernel_norm(M, kernel, path.notation)
    unit = growth_expression((-q, 0), point.small)
    order = None if error is None else growth_expression(error, point.small)
    evidence = tuple(
        Identity(
            f"K{pair(i + 1, j + 1)} at the start, to leading order",
            str(kernel.matrix[i, j]),
            f"({1 / unit})*({M[i, j]} + {'o(1)' if order is None else f'O({order})'})",
        )
        for i, j in combinations_with_replacement(range(M.rows), 2)
    )
    reason = (
        "by exact expansion along the path from `beta_0` to `beta_0 + x`, `K` and `g` keep their "
        "values at the start to leading order"
    )
    finding, slopes = Finding(Verdict.PROVED, reason, evidence), potential.gradient
    unit = warp[1] * unit
    return Limit(point, finding, "kernel", x, kernel.beta_0, unit, potential, slopes, order)


class _Path:
    """Functions of the weights at w_0 + e^t nu, expanded at fixed nu."""

    def __init__(self, p: Parameterization, point: Point) -> None:
        self.notation = Notation(p, tuple(range(p.d)))
        start = self.notation.start_symbols
        self.start = [point.near(to_expr(w, start)) for w in p.w0]
        self.nu = [Symbol(f"nu{i}_", real=True) for i in range(p.p)]
        self.powers: list[Exponent | None] = [None] * p.p
        self.decide = point.decisions(s.name for s in start.values() if s.is_positive)
        self.expander = Expander(SMALL, self.decide, _SPAN)
        self._weights = [self.notation.weights[w] for w in p.weights]

    def expand(self, f: Expr) -> Expansion:
        """Return a function of the weights along the path."""
        moved = [
            w if t is None else w + SMALL ** written(t) * nu
            for w, nu, t in zip(self.start, self.nu, self.powers, strict=True)
        ]
        top, bottom = sympy.fraction(f)
        at = dict(zip(self._weights, moved, strict=True))
        below = self.expander.expand(bottom.xreplace(at))
        if below.terms and below.first.has(*self.nu):
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


def _kernel_along(path: _Path, H: Field) -> tuple[Exponent, sympy.ImmutableMatrix, Growth | None]:
    """Return q and M, K = e^q (M + ...) along the path, and how large the rest is.

    Unexpanded: nu may not stay bounded, or M is singular or moves along the path.
    """
    p, weights = path.notation.parameterization, path.notation.weights
    K = tangent_kernel(p)
    rho, columns = inverse(K), list(zip(*p.fields, strict=True))
    V = [[to_expr(dot(c, r), weights) for r in zip(*rho, strict=True)] for c in columns]
    _require_bounded(path, path.settle(V))
    entries = [path.expand(to_expr(x, weights)) for row in K for x in row]
    slopes = [path.expand(to_expr(h, weights)) for h in H]
    (q, logs), coefficients = leading_order(entries)
    M = sympy.ImmutableMatrix(p.d, p.d, coefficients)
    singular = path.decide.is_zero(sympy.expand(M.det("berkowitz")))
    if logs or M.has(*path.nu) or singular:
        raise Unexpanded("K does not keep its value at the start")
    return q, M, _beyond(entries, slopes, (q, logs))


def _beyond(
    entries: Sequence[Expansion], slopes: Sequence[Expansion], growth: Growth
) -> Growth | None:
    """Return what follows the leading order of K, relative to it, or the largest slope of log g.

    None where that may have logarithms that are not known. Unexpanded: it does not tend to 0.
    """
    later = [(r - growth[0], k) for x in entries for r, k in x.terms if (r, k) != growth]
    later += [g for x in slopes for g in x.terms]
    places = [(x, growth[0]) for x in entries] + [(x, Fraction(0)) for x in slopes]
    bound = min([x.order - q for x, q in places if x.order is not None], default=_SPAN)
    error = min([*later, (min(bound, _SPAN), 0)])
    if error[0] <= 0:
        raise Unexpanded("K or g does not keep its value at the start")
    return None if bound <= error[0] and any(k for _, k in later) else error


def _require_bounded(path: _Path, speeds: Sequence[Sequence[Expansion]]) -> None:
    """Raise Unexpanded unless nu' has a limit that is affine in each group of entries of nu.

    A group is of entries that move each other; what moves it from outside are polynomials in
    entries of groups before it.
    """
    limits = dict(_limits(path, speeds))
    while limits:
        group = min((_movers(nu, limits) for nu in limits), key=len)
        moved = (sympy.Poly(x, *sorted(group, key=str)) for nu in group for x in limits[nu])
        if any(x.total_degree() > 1 for x in moved):
            raise Unexpanded("the weights move each other")
        limits = {nu: row for nu, row in limits.items() if nu not in group}


def _limits(
    path: _Path, speeds: Sequence[Sequence[Expansion]]
) -> Iterator[tuple[Symbol, list[Expr]]]:
    """Yield the limits of nu', polynomials each, of the entries that move."""
    for nu, row, t in zip(path.nu, speeds, path.powers, strict=True):
        if t is None and all(x.is_zero for x in row):
            continue
        if t is None or not all(_is_polynomial(x, t, path.nu) for x in row):
            raise Unexpanded("the weights may not stay bounded")
        yield nu, [x.coefficient((t, 0)) for x in row]


def _movers(nu: Symbol, limits: Mapping[Symbol, Sequence[Expr]]) -> set[Symbol]:
    """Return an entry with those that move it, directly or by others."""
    group = {nu}
    while more := {s for x in group for f in limits[x] for s in f.free_symbols} & {*limits} - group:
        group |= more
    return group


def _is_polynomial(x: Expansion, t: Exponent, nu: Sequence[Symbol]) -> bool:
    """Tell whether e^-t x has a limit, and a polynomial."""
    has_limit = x.reaches((t, 0)) and not any(s == t and k for s, k in x.terms)
    return has_limit and bool(x.coefficient((t, 0)).is_polynomial(*nu))
