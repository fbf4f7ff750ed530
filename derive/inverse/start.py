"""Where the flow starts: beta_0 with Q'(beta_0) = 0 if one is found, and the weight there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy
from sympy import Expr

from derive.errors import LanguageError
from derive.inverse.acceptance import reaches, vanishes
from derive.inverse.candidates import Candidate, W
from derive.inverse.term import Convexity, Term
from derive.language import from_sympy, to_sympy, to_text
from derive.language.tree import Tree, names
from derive.model.labels import backticked
from derive.verdict import Identity


@dataclass(frozen=True)
class FlowStart:
    """Where the flow starts: beta_0 as given, or a zero of Q'; None for any point of the interval.

    At a minimum the flow minimises Q itself; weights are None where only F(w_0) = beta_0 is known.
    """

    beta_0: Tree | None = None
    at_minimum: bool = False
    weights: tuple[tuple[str, Tree], ...] | None = None

    @property
    def evidence(self) -> tuple[Identity, ...]:
        """Q'(beta_0) = 0, where it was proved."""
        if self.beta_0 is None or not self.at_minimum:
            return ()
        at = backticked(to_text(self.beta_0), {*names((self.beta_0,))})
        return (Identity(f"Q'({at}) = 0", "Q'(beta_0)", "0"),)


def flow_start(convexity: Convexity, candidate: Candidate, weight: str) -> FlowStart:
    """Return the first start in the range of F, if possible one with an exact weight."""
    term, best = convexity.term, FlowStart()
    natural = (candidate.F.subs(W, value) for value in (0, 1))
    for beta_0, at_minimum in starts(convexity, natural):
        if term.start is None and not within(term, candidate, beta_0):
            continue
        w_0 = _weight_at(term, candidate, beta_0)
        if best.beta_0 is None or (w_0 is not None and best.weights is None):
            weights = None if w_0 is None else ((weight, w_0),)
            best = FlowStart(beta_0, at_minimum, weights)
    return best


def starts(convexity: Convexity, natural: Iterable[Expr]) -> Iterator[tuple[Tree, bool]]:
    """Yield (beta_0, whether Q'(beta_0) = 0 is proved): the given one, else zeros of Q'.

    *natural* are points to try first, such as F(0).
    """
    term, slope = convexity.term, _tree(convexity.slope)
    if term.start is not None:
        yield term.start, slope is not None and vanishes(term, slope, term.start)
    elif slope is not None:
        for candidate in (*natural, *_zeros(convexity)):
            tree = _tree(candidate)
            if tree is not None and vanishes(term, slope, tree):
                yield tree, True


def _weight_at(term: Term, candidate: Candidate, beta_0: Tree) -> Tree | None:
    """Return w_0 with F(w_0) = beta_0 and F'(w_0) != 0, proved; None where none was found."""
    symbols = term.symbols()
    value = candidate.inverse.subs(symbols[term.variable], to_sympy(beta_0, symbols))
    found = (sympy.simplify(value), candidate.F, sympy.diff(candidate.F, W))
    start, F, slope = map(_tree, found)
    if start is None or F is None or slope is None:
        return None
    return start if reaches(term, start, F, slope, beta_0) else None


def within(term: Term, candidate: Candidate, beta_0: Tree) -> bool:
    """Tell whether a given start lies in the range of F, at some values of the parameters."""
    symbols = term.symbols()
    value = to_sympy(beta_0, symbols)
    for point in term.parameter_points():
        numbers = {symbols[name]: sympy.Rational(x) for name, x in point.items()}
        low, high, x = (e.subs(numbers) for e in (*candidate.interval, value))
        if all(e.is_extended_real for e in (low, x, high)):
            return bool(low < x) and bool(x < high)
    return False


def _zeros(convexity: Convexity) -> Iterator[Expr]:
    """Yield solutions of Q' = 0 where it is rational, or one logarithm and a constant."""
    v = convexity.element.v
    slope = sympy.logcombine(sympy.expand(convexity.slope), force=True)
    if not slope.is_rational_function(v):
        logs = [e for e in slope.atoms(sympy.log) if e.has(v)]
        L = sympy.Dummy()
        linear = slope.subs(logs[0], L) if len(logs) == 1 else v
        A, B = sympy.diff(linear, L), linear.subs(L, 0)
        if A.has(v, L) or B.has(v):
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
