"""A pair p, m: 1/Q''^2 is a quadratic polynomial in beta, the shape of p^2 - m^2.

On the leaf p m = gamma of beta = b + s (p^2 - m^2) the kernel is
K = 4 s^2 (p^2 + m^2) = 4 s sqrt((beta - b)^2 + 4 s^2 gamma^2), as Woodworth et al. (2020) have it
for p = m = alpha at the start.
"""

from __future__ import annotations

import sympy
from sympy import Expr

from derive.inverse.acceptance import accepts
from derive.inverse.design import Coordinate
from derive.inverse.forward import Forward, run_forward
from derive.inverse.line_element import LineElement, conditions, range_conditions
from derive.inverse.quartic import completed, radius
from derive.inverse.start import starts
from derive.inverse.term import Convexity, SeparableTerm
from derive.language import from_sympy, to_sympy, to_text
from derive.language.tree import Name, Tree, names
from derive.verdict import Finding, Identity, Verdict

P, M = sympy.symbols("p m", positive=True)


def find_pair(
    term: SeparableTerm, convexity: Convexity, q: Expr, suffix: str, target: Expr | None
) -> Coordinate | None:
    """Return the pair, or None where 1/Q''^2 is no quadratic polynomial without real roots."""
    v = term.symbols()[term.variable]
    square = sympy.cancel(1 / q**2)
    if not square.is_polynomial(v) or sympy.degree(square, v) != 2:
        return None
    element = LineElement(q, v, term.positive)
    a, b, d = completed(square, element)
    for sign, first in element.signs(a):
        for inner, second in element.signs(d):
            if sign <= 0 or inner <= 0:
                continue
            r, third = radius(d, element)
            root = sympy.sqrt(a)
            s = sympy.Integer(1) if target is None else target * root / 4
            assumed = tuple(dict.fromkeys((*first, *second, *third)))
            return _record(term, convexity, q, b, s, r / (2 * s), 4 * s / root, assumed, suffix)
    return None


def _record(
    term: SeparableTerm,
    convexity: Convexity,
    q: Expr,
    b: Expr,
    s: Expr,
    gamma: Expr,
    scale: Expr,
    assumed: tuple[Expr, ...],
    suffix: str,
) -> Coordinate | None:
    taken = {*term.parameters, term.variable}
    pair = next(
        (x + suffix, y + suffix)
        for x, y in ("pm", "uv", "xy", "gh")
        if not taken & {x + suffix, y + suffix}
    )
    curve = b + s * (P**2 - gamma**2 / P**2)
    kernel = 4 * s**2 * (P**2 + gamma**2 / P**2)
    first, second = (sympy.Symbol(name, positive=True) for name in pair)
    here = {P: first, M: second}
    interval = convexity.interval or (-sympy.oo, sympy.oo)
    K = kernel.subs(here)
    if not accepts(term, curve.subs(here), scale, assumed, interval, pair[0], K):
        return None
    output = from_sympy((b + s * (P**2 - M**2)).subs(here))
    beta_0, zero = next(starts(term, convexity, iter((b,))), (None, False))
    alpha = sympy.powdenest(sympy.sqrt(gamma), force=True)
    start = None
    if beta_0 is not None:
        x = (to_sympy(beta_0, term.symbols()) - b) / s
        p = alpha if x == 0 else sympy.sqrt((x + sympy.sqrt(x**2 + 4 * gamma**2)) / 2)
        start = (pair[0], from_sympy(p)), (pair[1], from_sympy(sympy.simplify(gamma / p)))
    statement = f"<grad F, grad F> Q''(F) = {scale} on {pair[0]}*{pair[1]} = {gamma}"
    evidence = [
        Identity(statement, "<grad F, grad F> Q''(F)", str(scale)),
        Identity(f"<grad({pair[0]}*{pair[1]}), grad F> = 0", "0", "0"),
    ]
    if zero and beta_0 is not None:
        evidence.append(Identity(f"Q'({to_text(beta_0)}) = 0", "Q'(beta_0)", "0"))
    forward = _forward(term, output, pair, from_sympy(alpha))
    if forward.identity is not None:
        evidence.append(forward.identity)
    return Coordinate(
        term.tree,
        term.variable,
        q,
        Finding(Verdict.PROVED, "accepted by an exact identity", tuple(evidence)),
        None,
        pair,
        output,
        interval,
        scale,
        beta_0,
        zero,
        start,
        (*conditions(term.positive, assumed), *range_conditions(beta_0, interval)),
        forward.derivation,
        forward.reason,
        convexity.interval is not None,
    )


def _forward(term: SeparableTerm, output: Tree, pair: tuple[str, str], alpha: Tree) -> Forward:
    """Run forward from p = m = alpha, as a symbol where alpha is not rational."""
    symbol = next(n for n in ("alpha", "a", "c", "r0") if n not in {*term.parameters, *pair})
    known = isinstance(alpha, Name)
    value: Tree = alpha if known else Name(symbol)
    start = dict.fromkeys(pair, value)
    return run_forward(term, output, pair, start, {} if known else {symbol: alpha}, names((value,)))
