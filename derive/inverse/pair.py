"""A pair p, m: 1/Q''^2 is a quadratic polynomial in beta, the shape of p^2 - m^2.

On the leaf p m = gamma of beta = b + s (p^2 - m^2) the kernel is
K = 4 s^2 (p^2 + m^2) = 4 s sqrt((beta - b)^2 + 4 s^2 gamma^2), as Woodworth et al. (2020) have it
for p = m = alpha at the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr

from derive.inverse.acceptance import accepts
from derive.inverse.candidates import cases, completed
from derive.inverse.design import WeightPair, accepted
from derive.inverse.line_element import Candidate, W, conditions
from derive.inverse.start import FlowStart, starts
from derive.inverse.term import Convexity
from derive.language import from_sympy, to_sympy
from derive.model.labels import backticked
from derive.verdict import Identity


@dataclass(frozen=True)
class _Pair:
    """beta = b + s (p^2 - m^2) on the leaf p m = gamma, where K Q'' = scale; p = m at beta = b."""

    b: Expr
    s: Expr
    gamma: Expr
    scale: Expr
    assumed: tuple[Expr, ...]

    def p_at(self, beta: Expr) -> Expr:
        """Return p at beta."""
        x = (beta - self.b) / self.s
        if x == 0:
            return sympy.powdenest(sympy.sqrt(self.gamma), force=True)
        return sympy.sqrt((x + sympy.sqrt(x**2 + 4 * self.gamma**2)) / 2)


def find_pair(convexity: Convexity, target: Expr | None) -> WeightPair | None:
    """Return the pair, or None where 1/Q''^2 is no quadratic polynomial without real roots.

    *target* is the constant K Q'' that is asked for; any where None.
    """
    element = convexity.element
    square = sympy.cancel(1 / element.q**2)
    if not square.is_polynomial(element.v) or sympy.degree(square, element.v) != 2:
        return None
    a, b, d = completed(square, element.v)
    for sign, inner, r, assumed in cases(element, a, d):
        if sign > 0 and inner > 0:
            root = sympy.sqrt(a)
            s = sympy.Integer(1) if target is None else target * root / 4
            return _proved(convexity, _Pair(b, s, r / (2 * s), 4 * s / root, assumed))
    return None


def _proved(convexity: Convexity, found: _Pair) -> WeightPair | None:
    """Return the record of a pair that is accepted; None where it is not."""
    term, element = convexity.term, convexity.element
    b, s, gamma = found.b, found.s, found.gamma
    interval = convexity.interval or (-sympy.oo, sympy.oo)
    F, K = b + s * (W**2 - gamma**2 / W**2), 4 * s**2 * (W**2 + gamma**2 / W**2)
    curve = Candidate(F, found.p_at(element.v), interval, found.scale, found.assumed)
    if not accepts(term, curve, K):
        return None
    taken = {*term.parameters, term.variable}
    names_of_pairs = ((x + term.suffix, y + term.suffix) for x, y in ("pm", "uv", "xy", "gh"))
    p, m = next(pair for pair in names_of_pairs if not taken & {*pair})
    x, y = sympy.symbols((p, m), positive=True)
    output = from_sympy(b + s * (x**2 - y**2))
    start = _start(convexity, found, (p, m))
    scale, product = (backticked(x, taken) for x in (found.scale, gamma))
    statement = f"<grad F, grad F> Q''(F) = {scale} on {p}*{m} = {product}"
    finding = accepted(
        Identity(statement, "<grad F, grad F> Q''(F)", str(found.scale)),
        Identity(f"<grad({p}*{m}), grad F> = 0", "0", "0"),
        *start.evidence,
    )
    return WeightPair(
        term,
        finding,
        element.q,
        output,
        (p, m),
        interval,
        found.scale,
        start,
        conditions(term.positive, found.assumed, start.beta_0, interval),
        convexity.interval is not None,
        gamma,
    )


def _start(convexity: Convexity, found: _Pair, pair: tuple[str, str]) -> FlowStart:
    """Return the first start that is found, with p and m there."""
    beta_0, at_minimum = next(starts(convexity, (found.b,)), (None, False))
    if beta_0 is None:
        return FlowStart()
    p = found.p_at(to_sympy(beta_0, convexity.term.symbols()))
    values = from_sympy(p), from_sympy(sympy.simplify(found.gamma / p))
    return FlowStart(beta_0, at_minimum, tuple(zip(pair, values, strict=True)))
