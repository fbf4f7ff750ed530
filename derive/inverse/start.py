"""Where the flow starts: beta_0 with Q'(beta_0) = 0 if one is found, and the weight there."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr

from derive.errors import LanguageError
from derive.inverse.acceptance import inside, vanishes
from derive.inverse.line_element import Candidate, W
from derive.inverse.term import Convexity, SeparableTerm
from derive.language import from_sympy, to_sympy
from derive.language.tree import Tree


def starts(
    term: SeparableTerm, convexity: Convexity, natural: Iterator[Expr]
) -> Iterator[tuple[Tree, bool]]:
    """Yield (beta_0, whether Q'(beta_0) = 0 is proved): the given one, else zeros of Q'.

    Args:
        term: Q and the start, where given.
        convexity: its derivatives.
        natural: points to try, such as F(0).
    """
    slope = _tree(convexity.slope)
    if term.start is not None:
        zero = slope is not None and vanishes(term, slope, term.start)
        yield term.start, zero
        return
    if slope is None:
        return
    for candidate in (*natural, *_zeros(term, convexity)):
        tree = _tree(candidate)
        if tree is not None and vanishes(term, slope, tree):
            yield tree, True


def weight_at(term: SeparableTerm, candidate: Candidate, beta_0: Tree) -> Tree | None:
    """Return w_0 with F(w_0) = beta_0 and F'(w_0) != 0, proved; None where none was found."""
    symbols = term.symbols()
    value = sympy.simplify(
        candidate.inverse.subs(symbols[term.variable], to_sympy(beta_0, symbols))
    )
    start, F, slope = _tree(value), _tree(candidate.F), _tree(sympy.diff(candidate.F, W))
    if start is None or F is None or slope is None:
        return None
    return start if inside(term, beta_0, F, slope, start) else None


def within(term: SeparableTerm, candidate: Candidate, beta_0: Tree) -> bool:
    """Tell whether a given start lies in the range of F, at some values of the parameters."""
    symbols = term.symbols()
    value = to_sympy(beta_0, symbols)
    for point in term.parameter_points():
        numbers = {symbols[name]: sympy.Rational(x) for name, x in point.items()}
        low, x, high = (
            e.subs(numbers) for e in (candidate.interval[0], value, candidate.interval[1])
        )
        if all(e.is_extended_real for e in (low, x, high)):
            return bool(low < x) and bool(x < high)
    return False


def _zeros(term: SeparableTerm, convexity: Convexity) -> Iterator[Expr]:
    """Yield solutions of Q' = 0 where it is rational, or one logarithm and a constant."""
    v = term.symbols()[term.variable]
    slope = sympy.logcombine(sympy.expand(convexity.slope), force=True)
    if not slope.is_rational_function(v):
        logs = [e for e in slope.atoms(sympy.log) if e.has(v)]
        if len(logs) != 1:
            return
        L = sympy.Dummy()
        linear = slope.subs(logs[0], L)
        A, B = sympy.diff(linear, L), linear.subs(L, 0)
        if A.has(v) or A.has(L) or B.has(v):
            return
        slope = logs[0].args[0] - sympy.exp(-B / A)
    numerator = sympy.fraction(sympy.together(slope))[0]
    if numerator.is_polynomial(v) and 0 < sympy.degree(numerator, v) <= 2:
        yield from sympy.roots(sympy.Poly(numerator, v))


def _tree(expression: Expr) -> Tree | None:
    try:
        return from_sympy(expression)
    except (LanguageError, ValueError):
        return None
