"""The tangent kernel at the start, and the kernel regime of homogeneous models.

If F(c w) = c^D F(w), then J(c w) = c^(D-1) J(w) and K(c w) = c^(2D-2) K(w). Gradient flow from
c w_0 runs on c times the leaf of w_0, where the induced metric at c^D b is c^(2-2D) times that at
b. Hess Q = g rho is unique up to a constant, so up to a positive factor and an additive constant

    Q_c(c^D b) = Q_1(b),    Q_c(beta_0 + x) = Q_1(b_0 + x/c^D),   beta_0 = c^D b_0.

As c^D -> infinity only the second-order term of Q_1 at b_0, where its gradient is 0, remains:
Q_c -> x^T K(w_0)^-1 x, up to a factor, with a relative error of order c^-D, or c^-2D where the
third derivatives of Q_1 vanish at b_0. The time of the flow is rescaled by c^(2D-2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.matrix import determinant, dot
from derive.model.geometry import Field
from derive.model.labels import pair
from derive.model.notation import Notation, rational, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.regimes.limit import Limit, LimitingPotential
from derive.regimes.parametric_limit import depths_in, is_positive_exponent
from derive.regimes.point import Point
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
    """F(c w) = c^D F(w), by Euler's identity for every output; D may have parameters in it."""

    degree: Expr
    finding: Finding

    @property
    def time(self) -> Expr:
        """The exponent 2D - 2: the flow from c w_0 is c^(2D-2) times as fast, near its start."""
        return sympy.expand(2 * self.degree - 2)


@dataclass(frozen=True)
class ScaledStart:
    """w_0 = c^m times a start that does not depend on c.

    Attributes:
        degree: D.
        exponent: m.
        order: the relative error of the kernel limit is of order (c^(m D))^-order.
        evidence: Euler's identity, c dw_0/dc = m w_0, and the identities behind the order.
    """

    degree: Expr
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
    degree, metric = p.homogeneity, p.geometry.functions
    if degree is None or any({*x.variables()} - x.field.parameters for x in metric):
        return None
    D = to_expr(degree, notation.weights)
    evidence = tuple(
        Identity(f"<w, grad F{i}> = D F{i}", repr(dot(p.w, row)), repr(degree * f))
        for i, f, row in zip(p.labels, p.F, p.covectors, strict=True)
    )
    return Homogeneity(D, Finding(Verdict.PROVED, "Euler's identity", evidence))


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
    first, slope = next(iter(moved.values()))
    m = slope / first
    if not m.is_constant() or m.is_zero() or any(d != m * w for w, d in moved.values()):
        return None
    exponent, order, flat = rational(m.value()), *_order(p, H)
    statement = f"{variable} d{{0}}/d{variable} = {exponent} {{0}} at the start"
    moves = (Identity(statement.format(w), repr(d), repr(m * x)) for w, (x, d) in moved.items())
    evidence = (*homogeneity.finding.evidence, *moves, *flat)
    return ScaledStart(homogeneity.degree, exponent, order, evidence)


def kernel_limit(
    point: Point, kernel: TangentKernel, scaled: ScaledStart, notation: Notation, warp: Expr
) -> Limit | None:
    """Return the limit x^T K(w_0)^-1 x at fixed x = beta - beta_0, or None if c^(m D) -> 0."""
    D, m = scaled.degree, scaled.exponent
    if not is_positive_exponent(m * D * {"0": -1, "oo": 1}.get(point.side, 0)):
        return None
    symbol = notation.start_symbols[point.variable]
    x, found = kernel_norm(kernel.matrix.xreplace({symbol: sympy.S.One}), kernel, notation)
    finding = Finding(
        Verdict.PROVED,
        "covariance: up to a factor and a constant Q is Q_1((beta - beta_0)/c^D + b_0) for the "
        "start c w_1, Q_1 and b_0 those of w_1, and the second-order term of Q_1 at b_0 is that of "
        "the tangent kernel",
        scaled.evidence,
    )
    unit = warp * symbol ** sympy.expand(2 * m * (1 - D))
    error = symbol ** sympy.expand(-scaled.order * m * D)
    slopes = found.gradient
    found_at = Limit(point, finding, "kernel", x, kernel.beta_0, unit, found, slopes, error)
    return replace(found_at, depths=depths_in(D))


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
