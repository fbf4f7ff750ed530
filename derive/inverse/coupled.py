"""F of a coupled Q whose Hessian metric is flat: coordinates w with Dw^T Dw = kappa Hess Q.

Two principles integrate. *Linear*: where the C_i = H^-1 dH/dbeta_i have common eigenvectors that
are constant, Q is a sum of terms in one coordinate u_k = <a_k, beta> each, and F is that of the
terms. *Homothety*: let n = <beta, Hess Q beta> be homogeneous of degree k on a plane. As
Hess Q beta is a gradient, the field beta is one of the flat metric, and no rotation:

    |w|^2 = n for k != 0 and kappa = k^2/4,   w_1 = (<beta, grad Q> - Q)/n for k = 0, kappa = 1/n,

and what is left, the angle of w, or w_2, is a function of t = beta_2/beta_1: one quadrature, whose
inverse is sought as that of one weight. Every homogeneous Q on a plane is flat. Neither is trusted:
what is printed is accepted by J^T (Hess Q)(F) J = c, or by Hess Q in these coordinates, exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError, LanguageError
from derive.exact.towers.germ import Unsettled
from derive.exact.towers.tower import build_elements
from derive.inverse.acceptance import Claim, accepted_near
from derive.inverse.candidates import LineElement, W, candidates, tidy
from derive.inverse.design import FlatMap, FlatOnly, accepted
from derive.inverse.term import Convexity, Term
from derive.language import from_sympy, to_sympy
from derive.language.tree import names, substituted
from derive.verdict import Finding, Identity, Verdict

CANDIDATES = 12
LARGEST = 12
"""Denominator of what constant eigenvectors are read as."""
T = Symbol("t", positive=True)


@dataclass(frozen=True)
class LinearChange:
    """beta = B u, in which Q is a sum: each beta in u, and the term of each u."""

    betas: tuple[tuple[str, Expr], ...]
    terms: tuple[Term, ...]


def linear_change(metric: Convexity) -> LinearChange | None:
    """Return coordinates u_k in which Q is a sum, where constant ones are found.

    Accepted where the second derivatives of the sum are those of Q, exactly.
    """
    term, columns = metric.term, _common_eigenvectors(metric)
    if columns is None:
        return None
    own = [f"u{n}" for n in term.numbers]
    u = sympy.symbols(own, real=True)
    B = sympy.Matrix(columns).T
    at = [metric.point[name] for name in term.coordinates]
    origin = B.inv() * sympy.Matrix(at)
    Q, symbols = to_sympy(term.tree, term.symbols()), term.symbols()
    terms = []
    for k, x in enumerate(u):
        line = B * sympy.Matrix([x if i == k else origin[i] for i in range(len(u))])
        images = {symbols[name]: line[i] for i, name in enumerate(term.coordinates)}
        terms.append(sympy.expand(Q.subs(images)).as_independent(x, as_Add=True)[1])
    betas = [sum_ for (sum_,) in (B * sympy.Matrix(u)).tolist()]
    try:
        inner = dict(zip(term.coordinates, map(from_sympy, betas), strict=True))
        whole = substituted(term.tree, inner), from_sympy(sympy.Add(*terms))
        sides = build_elements(whole, own, term.parameters, term.positive)
        slopes = ([x.field.gradient(x)[k] for k, _ in enumerate(u)] for x in sides)
        pairs = zip(*slopes, strict=True)
        if any(x.field.gradient(x)[: len(u)] != y.field.gradient(y)[: len(u)] for x, y in pairs):
            return None
    except (DeriveError, ArithmeticError):
        return None
    parts = (
        Term(tree, (name,), term.positive & {*names((tree,))}, None, n)
        for tree, name, n in zip(map(from_sympy, terms), own, term.numbers, strict=True)
    )
    return LinearChange(tuple(zip(term.coordinates, betas, strict=True)), tuple(parts))


def _common_eigenvectors(metric: Convexity) -> list[list[Fraction]] | None:
    """Return rational vectors near the eigenvectors of sum_k r_k C_k at the point."""
    tower, d = metric.tower, len(metric.H)
    M = mpmath.zeros(d)
    for k, C in enumerate(metric.rotations):
        M += mpmath.sqrt(k + 2) * mpmath.matrix(
            [[mpmath.mpf(float(tower.ball(x).mid())) for x in row] for row in C]
        )
    _, vectors = mpmath.eig(M)
    found = []
    for k in range(d):
        column = [complex(vectors[i, k]) for i in range(d)]
        lead = max(column, key=abs)
        ratios = [(x / lead).real for x in column]
        found.append([Fraction(x).limit_denominator(LARGEST) for x in ratios])
    return found if sympy.Matrix(found).det() else None


@dataclass(frozen=True)
class Polar:
    """Hess Q on a plane by homothety: kappa H = dw_1^2 + ..., in t = beta_j/beta_i.

    Attributes:
        order: i and j, so that beta_i > 0.
        degree: k; size: n, or (<beta, grad Q> - Q)/n where k = 0, as a function of beta.
        at_one: size at beta_i = 1, beta_j = t; line: P, the angle, or w_2, is int sqrt(P) dt.
        scale: c = 1/kappa.
    """

    order: tuple[int, int]
    degree: Expr
    size: Expr
    at_one: Expr
    line: Expr
    scale: Expr


def in_the_plane(metric: Convexity, target: Expr | None) -> FlatMap | FlatOnly | None:
    """Return F of Q on a plane by homothety, or w as an integral, accepted; None for neither."""
    polar = _polar(metric)
    if polar is None:
        return None
    term = metric.term
    w1, w2 = weights = tuple(f"w{n}" for n in term.numbers)
    w = sympy.symbols(list(weights), positive=True)
    element = LineElement(polar.line, T, term.positive)
    for candidate in itertools.islice(candidates(element), CANDIDATES):
        if not (candidate.scale.is_positive or candidate.scale.free_symbols):
            continue
        F, scale = _measured(polar, _from_polar(polar, candidate.F, candidate.scale, w), w, target)
        try:
            trees = tuple(map(from_sympy, F))
            point = accepted_near(term, Claim(trees, weights, from_sympy(scale)))
        except LanguageError:
            continue
        if point is not None:
            claim = "J^T (Hess Q)(F) J = c I"
            identity = Identity(claim, "J^T (Hess Q)(F) J", f"{scale} I")
            finding = accepted(identity, *metric.flatness.evidence)
            return FlatMap(term, finding, None, trees, weights, scale, point)
    if not _is_polar(metric, polar):
        return None
    reason = "no closed form was found: `F` is the inverse of `w(beta)`"
    i, j = polar.order
    betas = [term.symbols()[name] for name in term.coordinates]
    angle = sympy.Integral(sympy.sqrt(polar.line), T)
    rows: tuple[tuple[object, object], ...] = ((w1, polar.size), (w2, angle))
    if polar.degree != 0:
        radius, phi = sympy.sqrt(polar.size), Symbol("phi")
        rows = (w1, radius * sympy.cos(phi)), (w2, radius * sympy.sin(phi)), (phi, angle)
    rows = (*rows, ("t", betas[j] / betas[i]))
    finding = Finding(Verdict.UNDECIDED, reason, metric.flatness.evidence)
    return FlatOnly(term, finding, None, rows)


def _polar(metric: Convexity) -> Polar | None:
    """Propose polar coordinates by the degree of n = <beta, Hess Q beta>."""
    term = metric.term
    if len(term.coordinates) != 2:
        return None
    order = next(((i, 1 - i) for i in (0, 1) if metric.point[term.coordinates[i]] > 0), None)
    if order is None:
        return None
    x, y = [term.symbols()[term.coordinates[i]] for i in order]
    H = [[tidy(metric.expression(metric.H[i][j])) for j in order] for i in order]
    v = [H[0][0] * x + H[0][1] * y, H[1][0] * x + H[1][1] * y]
    n = tidy(x * v[0] + y * v[1])
    degree = sympy.simplify((x * n.diff(x) + y * n.diff(y)) / n)
    if degree.free_symbols & {x, y}:
        return None

    def at_one(e: Expr) -> Expr:
        return tidy(e.subs({x: 1, y: T}, simultaneous=True))

    u, nu = at_one(H[1][1]), at_one(n)
    if degree == 0:
        Q = to_sympy(term.tree, term.symbols())
        size = sympy.simplify((x * Q.diff(x) + y * Q.diff(y) - Q) / n)
        line = tidy(u / n - (at_one(v[1]) / n) ** 2)
        return Polar(order, degree, size, at_one(size), line, n)
    line = tidy((degree**2 / 4 * u - nu.diff(T) ** 2 / (4 * nu)) / nu)
    return Polar(order, degree, n, nu, line, 4 / degree**2)


def _from_polar(polar: Polar, shape: Expr, unit: Expr, w: Sequence[Symbol]) -> list[Expr]:
    """Return F where t is a *shape* of W, and the angle, or w_2, is sqrt(unit) W."""
    first, second = w
    across = second if polar.degree == 0 else sympy.atan(second / first)
    t = shape.subs(W, across / sympy.sqrt(unit))
    size = polar.at_one.subs(T, t)
    if polar.degree == 0:
        along = sympy.simplify(sympy.exp(first - size))
    else:
        radial = (first**2 + second**2) ** (1 / polar.degree)
        along = radial * sympy.simplify(size ** (-1 / polar.degree))
    # Signs of moduli are those near a point: either is accepted, or not.
    along = along.replace(sympy.Abs, lambda x: x)
    pair = [along, sympy.simplify(along * t)]
    return [pair[polar.order.index(i)] for i in (0, 1)]


def _measured(
    polar: Polar, F: Sequence[Expr], w: Sequence[Symbol], target: Expr | None
) -> tuple[list[Expr], Expr]:
    """Return F and c in the unit of w in which c is *target*; by default the simplest F."""
    scale = polar.scale
    if polar.degree == 0:
        factor, scale = sympy.sqrt(tidy((target or scale) / scale)), target or scale
        return [f.subs({x: factor * x for x in w}, simultaneous=True) for f in F], scale
    # F has degree 2/k in w: 1 is put for the number in front of it.
    number = F[0].as_independent(*w, as_Add=False)[0]
    factor = 1 / number if target is None else (target / scale) ** (1 / polar.degree)
    return [factor * f for f in F], tidy(scale * factor**polar.degree)


def _is_polar(metric: Convexity, polar: Polar) -> bool:
    """Tell whether kappa Hess Q is that metric, with P > 0 at the point, exactly."""
    tower, (i, j) = metric.tower, polar.order
    betas = tower.field.gens[:2]
    try:
        t = betas[j] / betas[i]
        P = tower.read(from_sympy(polar.line), {T.name: t})
        size, c = (tower.read(from_sympy(x)) for x in (polar.size, polar.scale))
        if tower.sign(P) <= 0:
            return False
        factor = P if polar.degree == 0 else size * P
        root = tower.field.one if polar.degree == 0 else 1 / (4 * size)
        along, across = ([tower.derivative(x, k) for k in range(2)] for x in (size, t))
        return all(
            tower.is_zero(
                tower.tidy(
                    metric.H[a][b] / c - root * along[a] * along[b] - factor * across[a] * across[b]
                )
            )
            for a, b in ((0, 0), (0, 1), (1, 1))
        )
    except (LanguageError, Unsettled, ZeroDivisionError):
        return False
