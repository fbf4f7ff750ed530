"""The mirror map grad Q of one block: its derivative, the Hessian, and its inverse, as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import sympy
from sympy import Abs, Add, Expr, Function, Mul, Pow, Symbol

from derive.model.notation import factors_of
from derive.potential.piece import Piece, Root

Solved: TypeAlias = tuple[tuple[Expr, ...], tuple[Root, ...]]
"""The betas, and roots that they use."""


class tangent(Function):  # type: ignore[misc]
    """The inverse of atan, on (-pi/2, pi/2) alone."""


def hessian(piece: Piece) -> tuple[Expr, ...]:
    """Return the entries of the Hessian, roots being differentiated by their equations.

    Along a curve beta = h(z), Q' = f(z), it is f'/h'.
    """
    if (curve := piece.time_curve) is not None:
        z = curve.parameter
        return (piece.gradient[0].diff(z) / curve.beta.diff(z),)
    slopes: dict[tuple[Symbol, Symbol], Expr] = {}

    def total(expression: Expr, b: Symbol) -> Expr:
        parts = [expression.diff(s) * slope for (s, at), slope in slopes.items() if at == b]
        return sympy.Add(expression.diff(b), *parts)

    for root in piece.roots:
        for b in piece.betas:
            slopes[root.symbol, b] = -total(root.polynomial, b) / root.polynomial.diff(root.symbol)
    # The derivative of log|u| is that of log u, and is found without signs so.
    u = sympy.Wild("u")
    slopes_of = [g.replace(sympy.log(sympy.Abs(u)), sympy.log(u)) for g in piece.gradient]
    return tuple(total(g, b) for g in slopes_of for b in piece.betas)


def inverse_of(piece: Piece, duals: Sequence[Symbol]) -> Solved | None:
    """Return the beta with grad Q(beta) = y and the roots they use; None where not found.

    Args:
        piece: Q on one block of d outputs.
        duals: the symbols y, d of them.
    """
    if not piece.roots and len(piece.betas) == 1:
        image = invert(piece.gradient[0], piece.betas[0], duals[0])
        found: Solved | None = None if image is None else ((image,), ())
    else:
        found = (
            _solve_through_root(piece, duals)
            or _solve_common_factor(piece, duals)
            or _solve_terms(piece, duals)
        )
    return found and (tuple(b.replace(sympy.tan, tangent) for b in found[0]), found[1])


def _solve_through_root(piece: Piece, duals: Sequence[Symbol]) -> Solved | None:
    """Solve ``phi(A) = y`` for the only root A, and its polynomial for the only beta."""
    if len(piece.roots) != 1 or len(piece.betas) != 1 or piece.gradient[0].has(piece.betas[0]):
        return None
    (root,), (beta,) = piece.roots, piece.betas
    value, P = invert(piece.gradient[0], root.symbol, duals[0]), root.polynomial
    if P.is_polynomial(beta):
        P = sympy.collect(sympy.expand(P), beta)
        if sympy.degree(P, beta) > (2 if beta.is_nonnegative else 1):
            return None
    image = invert(P, beta, sympy.S.Zero)
    return None if value is None or image is None else ((image.subs(root.symbol, value),), ())


def _solve_common_factor(piece: Piece, duals: Sequence[Symbol]) -> Solved | None:
    """Solve ``c_i + beta_i phi(A) = y_i``, where A is the only root.

    beta_i = (y_i - c_i)/phi in the polynomial of A leaves one for A alone.
    """
    if len(piece.roots) != 1:
        return None
    (root,), zeros = piece.roots, dict.fromkeys(piece.betas, 0)
    shifts = [g.subs(zeros) for g in piece.gradient]
    factors = {
        sympy.cancel((g - c) / b)
        for g, c, b in zip(piece.gradient, shifts, piece.betas, strict=True)
    }
    (phi, *rest) = factors
    if rest or phi == 0 or phi.has(*piece.betas):
        return None
    images = tuple((y - c) / phi for y, c in zip(duals, shifts, strict=True))
    at = root.polynomial.subs(dict(zip(piece.betas, images, strict=True)))
    parts = factors_of(sympy.numer(sympy.together(sympy.expand(at))))
    moving = [part for part in parts if part.has(*duals)]
    if len(moving) != 1 or not moving[0].is_polynomial(root.symbol):
        return None
    return images, (Root(root.symbol, moving[0], None, root.branch, 0),)


def _solve_terms(piece: Piece, duals: Sequence[Symbol]) -> Solved | None:
    """Solve ``c_i + sum_k M_ik phi_k(A_k) = y_i`` for the roots A_k, or for beta without roots."""
    betas = piece.betas
    unknowns = tuple(r.symbol for r in piece.roots) or betas
    found = _terms(piece.gradient, unknowns)
    if len(unknowns) != len(betas) or found is None:
        return None
    parts, matrix, rest = found
    if matrix.has(*betas) or rest.has(*betas) or matrix.det() == 0:
        return None
    values = matrix.LUsolve(sympy.Matrix(duals) - rest)
    images = {
        unknown: invert(part, unknown, sympy.expand(value))
        for unknown, part, value in zip(unknowns, parts, values, strict=True)
    }
    if None in images.values():
        return None
    return _betas_at(piece, images) if piece.roots else (tuple(images.values()), ())


def _betas_at(piece: Piece, roots: Mapping[Symbol, Expr]) -> Solved | None:
    """Return the betas where the roots are given, if their polynomials are linear in beta."""
    polynomials = [r.polynomial for r in piece.roots]
    plain = all(f.is_polynomial(*piece.betas) for f in polynomials)
    if not plain or any(sympy.Poly(f, *piece.betas).total_degree() > 1 for f in polynomials):
        return None
    rows, right = sympy.linear_eq_to_matrix(polynomials, *piece.betas)
    if rows.det() == 0:
        return None
    solved = (sympy.expand(sympy.cancel(b)) for b in rows.LUsolve(right))
    return tuple(b.subs(roots) for b in solved), ()


def _terms(
    expressions: Sequence[Expr], unknowns: Sequence[Symbol]
) -> tuple[list[Expr], sympy.Matrix, sympy.Matrix] | None:
    """Write expressions as M phi + c, each phi_k a function of one unknown; None where not."""
    n = len(unknowns)
    parts: dict[Symbol, Expr] = {}
    matrix, rest = sympy.zeros(len(expressions), n), sympy.zeros(len(expressions), 1)
    for i, expression in enumerate(expressions):
        for term in sympy.Add.make_args(sympy.expand(expression)):
            inside = [u for u in unknowns if term.has(u)]
            if len(inside) > 1:
                return None
            if not inside:
                rest[i] += term
                continue
            factor, part = term.as_independent(*inside, as_Add=False)
            if parts.setdefault(inside[0], part) != part:
                return None
            matrix[i, unknowns.index(inside[0])] += factor
    return ([parts[u] for u in unknowns], matrix, rest) if len(parts) == n else None


def invert(expression: Expr, symbol: Symbol, value: Expr) -> Expr | None:
    """Solve ``expression = value`` for *symbol* where it occurs once; None where that fails.

    Each outer operation is undone by its own inverse, for example asinh by sinh. Of roots the real
    one is taken, and the positive one of two, so that the result is to be tested where it is used.

    >>> from sympy import asinh, log, symbols
    >>> b, k, y = symbols("b k y", positive=True)
    >>> invert(asinh(b / (2 * k)) / 4 - 1, b, y), invert(log(b / k), b, y)
    (2*k*sinh(4*y + 4), k*exp(y))
    >>> invert(b + log(b), b, y) is None
    True
    """
    while expression != symbol:
        inside = [a for a in expression.args if a.has(symbol)]
        if len(inside) != 1:
            return None
        (inner,) = inside
        if isinstance(expression, Add):
            value = value - Add(*(a for a in expression.args if a is not inner))
        elif isinstance(expression, Mul):
            value = value / Mul(*(a for a in expression.args if a is not inner))
        elif isinstance(expression, Pow) and inner is expression.base:
            value = _root(value, expression.exp)
        elif isinstance(expression, Function) and hasattr(expression, "inverse"):
            value = expression.inverse()(value)
        else:
            return None
        expression = inner
    return value


def _root(value: Expr, n: Expr) -> Expr:
    """Return x with ``x^n = value``, of the sign of *value* where n is odd."""
    if n.is_odd and n not in (1, -1):
        return value * Abs(value) ** (1 / n - 1)
    return value ** (1 / n)
