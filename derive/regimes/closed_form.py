"""Limits of Q in a start symbol: exact expansions of its gradient, and what they are called.

At fixed beta, grad Q(beta) = N (G(beta) + o(1)) as the symbol tends to its limit, N > 0 free of
beta. Q/N, fixed to be 0 at one point, is convex and its gradient converges almost everywhere and,
as gradients of convex functions, locally bounded; so Q/N converges to the convex function with
gradient G, uniformly on compact sets, and where that has a single minimizer on {X beta = y} the
minimizers converge to it (Rockafellar & Wets 1998, theorems 7.17 and 7.33).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import Undecided
from derive.regimes.asymptotics import Expander
from derive.regimes.leading_gradient import SPANS, ClosedGradient, LeadingGradient, Steep
from derive.regimes.limit import (
    Limit,
    LimitingPotential,
    Regime,
    growth_expression,
    order_expression,
    recognize,
    undecided,
)
from derive.regimes.point import Point
from derive.verdict import Finding, Identity, Verdict


def closed_form_limit(
    gradient: ClosedGradient, point: Point, kernel: sympy.ImmutableMatrix
) -> Limit:
    """Return the limit of Q at fixed beta from the closed form of its gradient."""
    try:
        gradient, leading = _upright(gradient, point)
        above, at = tuple(g for g in leading.above if g is not None), gradient.coordinates
        found = recognize(above, leading.below, at, gradient.single, gradient.positive)
    except Undecided as open_end:
        return undecided(point, open_end)
    if leading.idle:
        reason = f"at fixed beta {leading.idle}, which decides no minimizer"
        return undecided(point, reason)
    small = point.small
    unit = growth_expression(leading.growth, small)
    error = None if leading.error is None else order_expression(leading.error, small)
    roots, rows = gradient.roots, zip(at, gradient.entries, _series(leading, error), strict=True)
    evidence = (
        *(Identity(f"{A} is the largest real root of this", str(P), "0") for A, P in roots),
        *(Identity(f"dQ/d{b} = N (G + ...)", str(g), f"({unit})*({s})") for b, g, s in rows),
    )
    finding = Finding(Verdict.PROVED, "exact expansion of grad Q at fixed beta", evidence)
    regime, below = _regime(found, gradient, point, kernel), leading.below
    limit = Limit(point, finding, regime, at, None, unit, found, below, error, leading.sharp)
    return replace(
        limit,
        origin=gradient.origin if any(gradient.origin) else None,
        basis=sympy.ImmutableMatrix(sympy.diag(*gradient.signs)) if -1 in gradient.signs else None,
        steep=tuple(_beyond(side, at, small) for side in leading.steep),
    )


def _upright(gradient: ClosedGradient, point: Point) -> tuple[ClosedGradient, LeadingGradient]:
    """Return the leading order in coordinates whose positive side is in the domain of the limit."""
    leading = gradient.expand(point)
    if None not in leading.above:
        return gradient, leading
    signs = [-1 if g is None else 1 for g in leading.above]
    turned = gradient.moved((sympy.S.Zero,) * len(signs), signs)
    return turned, turned.expand(point)


def _beyond(side: Steep, at: Sequence[Symbol], small: Expr) -> tuple[Symbol, int, Expr]:
    """Return a coordinate, the sign it has where Q/N tends to infinity, and its slope there."""
    x = at[side.index]
    slope = side.slope.xreplace({Symbol(x.name, positive=True): side.side * x})
    return x, side.side, growth_expression(side.growth, small) * slope


def _series(leading: LeadingGradient, error: Expr | None) -> list[str]:
    """Return G, the term after it where it is known, and Landau's symbol for the remainder."""
    if error is None:
        return [str(g) for g in leading.above]
    if not leading.second:
        return [f"{g} + O({error})" for g in leading.above]
    pairs = zip(leading.above, leading.second, strict=True)
    return [f"{g} + ({c})*{error} + o({error})" for g, c in pairs]


def _regime(
    found: LimitingPotential, gradient: ClosedGradient, point: Point, kernel: sympy.ImmutableMatrix
) -> Regime:
    if found.shape in ("quadratic", "l2") and found.degree == 2:
        rows = [[sympy.diff(g, b) for b in gradient.coordinates] for g in found.gradient]
        signs = sympy.diag(*(gradient.signs or (1,) * len(rows)))
        turned = signs * kernel * signs
        if _is_multiple_of_identity(turned * sympy.Matrix(rows), point, gradient.positive):
            return "kernel"
    if found.shape == "l1":
        return "rich"
    return "anti-NTK" if found.shape == "l2" and found.degree != 2 else "intermediate"


def _is_multiple_of_identity(product: sympy.Matrix, point: Point, names: frozenset[str]) -> bool:
    """Tell whether K(w_0) times the Hessian of a limit is one, to leading order and scale."""
    e = Symbol("e_", positive=True)
    decide = point.decisions(names)
    try:
        for span in SPANS:
            expander = Expander(e, decide, Fraction(span))
            entries = [expander.expand(point.near(x, e)) for x in product]
            growth = min(x.leading for x in entries if x.terms)
            if all(x.reaches(growth) for x in entries):
                break
        else:
            return False
        leading = [x.coefficient(growth) for x in entries]
        return all(
            decide.is_zero(c - (leading[0] if k % (product.rows + 1) == 0 else 0))
            for k, c in enumerate(leading)
        )
    except (Undecided, ValueError):
        return False
