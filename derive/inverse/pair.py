"""A pair p, m: 1/Q''^2 is a quadratic polynomial in beta, the shape of p^2 - m^2.

On the leaf p m = gamma of beta = b + s (p^2 - m^2) the kernel is
K = 4 s^2 (p^2 + m^2) = 4 s sqrt((beta - b)^2 + 4 s^2 gamma^2), as Woodworth et al. (2020) have it
for p = m = alpha at the start.
"""

from __future__ import annotations

import itertools

import sympy
from sympy import Expr

from derive.inverse.acceptance import accepts
from derive.inverse.candidates import Candidate, W, cases, completed, conditions
from derive.inverse.design import WeightPair, accepted
from derive.inverse.start import FlowStart, starts
from derive.inverse.term import Convexity
from derive.language import from_sympy, to_sympy
from derive.model.labels import backticked
from derive.verdict import Identity


def find_pair(convexity: Convexity, target: Expr | None) -> WeightPair | None:
    """Return the pair, or None where 1/Q''^2 is no quadratic polynomial without real roots.

    *target* is the constant K Q'' that is asked for; any where None.
    """
    element = convexity.element
    square = sympy.cancel(1 / element.q**2)
    if not square.is_polynomial(element.v) or sympy.degree(square, element.v) != 2:
        return None
    form = completed(square, element.v)
    if form is None:
        return None
    a, b, d = form
    for sign, inner, r, assumed in cases(element, a, d):
        if sign > 0 and inner > 0:
            s = sympy.Integer(1) if target is None else target * sympy.sqrt(a) / 4
            gamma, scale = r / (2 * s), 4 * s / sympy.sqrt(a)
            return _proved(convexity, (b, s, gamma), scale, assumed)
    return None


def _proved(
    convexity: Convexity, leaf: tuple[Expr, Expr, Expr], scale: Expr, assumed: tuple[Expr, ...]
) -> WeightPair | None:
    """Return beta = b + s (p^2 - m^2) on the leaf p m = gamma, where K Q'' = scale is accepted."""
    term, element, (b, s, gamma) = convexity.term, convexity.element, leaf
    interval = convexity.interval or (-sympy.oo, sympy.oo)

    def p_at(beta: Expr) -> Expr:
        x = (beta - b) / s
        if x == 0:
            return sympy.powdenest(sympy.sqrt(gamma), force=True)
        return sympy.sqrt((x + sympy.sqrt(x**2 + 4 * gamma**2)) / 2)

    F, K = b + s * (W**2 - gamma**2 / W**2), 4 * s**2 * (W**2 + gamma**2 / W**2)
    if not accepts(term, Candidate(F, p_at(element.v), interval, scale, assumed), K):
        return None
    taken = {*term.parameters, term.variable}
    names_of_pairs = ((x + term.suffix, y + term.suffix) for x, y in ("pm", "uv", "xy", "gh"))
    p, m = next(pair for pair in names_of_pairs if not taken & {*pair})
    x, y = sympy.symbols((p, m), positive=True)
    start = FlowStart()
    for beta_0, at_minimum in itertools.islice(starts(convexity, (b,)), 1):
        at_start = p_at(to_sympy(beta_0, term.symbols()))
        values = from_sympy(at_start), from_sympy(sympy.simplify(gamma / at_start))
        start = FlowStart(beta_0, at_minimum, tuple(zip((p, m), values, strict=True)))
    written, product = (backticked(x, taken) for x in (scale, gamma))
    statement = f"<grad F, grad F> Q''(F) = {written} on {p}*{m} = {product}"
    finding = accepted(
        Identity(statement, "<grad F, grad F> Q''(F)", str(scale)),
        Identity(f"<grad({p}*{m}), grad F> = 0", "0", "0"),
        *start.evidence,
    )
    return WeightPair(
        term,
        finding,
        element.q,
        from_sympy(b + s * (x**2 - y**2)),
        (p, m),
        interval,
        scale,
        start,
        conditions(term.positive, assumed, start.beta_0, interval),
        convexity.interval is not None,
        gamma,
    )
