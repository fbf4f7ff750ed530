"""Exact acceptance: J^T (Hess Q)(F) J = c near a point, K(w) Q''(F(w)) = c for one weight.

With y = J^-T D_w(Q o F), which is grad Q at F, that is J^T D_w y: Hess Q is never formed in beta.

And where the flow starts: beta_0 with Q'(beta_0) = 0 if one is found, and the weight there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import sympy
from sympy import Expr

from derive.errors import LanguageError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.candidates import Candidate, W
from derive.inverse.term import Convexity, Term, turned
from derive.language import from_sympy, to_sympy, to_text
from derive.language.tree import Tree, names
from derive.model.labels import backticked
from derive.verdict import Identity

PLACES = tuple(map(Fraction, ["1", "1/2", "3/2", "1/4", "3", "-1", "1/16", "-3", "10"]))
Point = tuple[tuple[str, Fraction], ...]
"""Values of weights and parameters."""


@dataclass(frozen=True)
class Claim:
    """That J^T (Hess Q)(F) J = c I with c > 0, for F of some weights.

    Attributes:
        positive: functions of the parameters, and sides of beta, which are positive there.
        kernel: of a curve on the leaf, which F is then, K there; by default F'^2.
    """

    F: tuple[Tree, ...]
    weights: tuple[str, ...]
    scale: Tree
    positive: tuple[Tree, ...] = ()
    kernel: Tree | None = None


def accepts(term: Term, candidate: Candidate, kernel: Expr | None = None) -> bool:
    """Tell whether K Q''(F) = c > 0 is proved along beta = F(w), near a point of its interval.

    *candidate* is F on the leaf with c and what is assumed; *kernel* is K there, F'^2 by default.
    """
    low, high = candidate.interval
    sides = [candidate.F - low] * (low != -sympy.oo) + [high - candidate.F] * (high != sympy.oo)
    try:
        positive = tuple(map(from_sympy, (*candidate.assumed, *sides)))
        F, scale = from_sympy(candidate.F), from_sympy(candidate.scale)
        K = None if kernel is None else from_sympy(kernel)
    except LanguageError:
        return False
    return accepted_near(term, Claim((F,), (W.name,), scale, positive, K)) is not None


def accepted_near(term: Term, claim: Claim) -> Point | None:
    """Return a point near which a claim is proved; None where none is found, or it is false."""
    ways = ((k, s) for s, k in product(range(3), range(len(PLACES))))
    places = turned(PLACES, len(claim.weights), ways)
    for values in term.parameter_points():
        for place in places:
            point = {**dict(zip(claim.weights, place, strict=True)), **values}
            with suppress(Unsettled, ZeroDivisionError):
                holds = _holds_at(term, claim, point)
                if holds is not None:
                    return tuple(point.items()) if holds else None
    return None


def _holds_at(term: Term, claim: Claim, point: dict[str, Fraction]) -> bool | None:
    """Tell whether a claim is proved or disproved near a point.

    None for neither, as where what is to be positive is not, or J is singular.
    """
    kernel = () if claim.kernel is None else (claim.kernel,)
    tower = Elementary(point, [term.tree, *claim.F, claim.scale, *kernel, *claim.positive])
    f, c = [tower.read(x) for x in claim.F], tower.read(claim.scale)
    J = tuple(tuple(tower.derivative(x, k) for k, _ in enumerate(f)) for x in f)
    if any(tower.sign(tower.read(x)) <= 0 for x in (claim.scale, *claim.positive)):
        return None
    if tower.sign(tower.tidy(determinant(J))) == 0:
        return None
    composed = tower.read(term.tree, dict(zip(term.coordinates, f, strict=True)))
    for K in kernel:
        c *= J[0][0] * J[0][0] / tower.read(K)
    left = [x for x in _gaps(tower, composed, J, c) if not tower.is_zero(x)]
    # A value off the ball of the scale is a disproof at this point: no other will do.
    return None if left and all(tower.ball(x).contains(0) for x in left) else not left


def _gaps(
    tower: Elementary, composed: RationalFunction, J: Matrix, c: RationalFunction
) -> Iterator[RationalFunction]:
    """Yield the entries of J^T (Hess Q)(F) J - c I, from Q o F."""
    n = range(len(J))
    slopes = [tower.derivative(composed, k) for k in n]
    y = [tower.tidy(dot(row, slopes)) for row in zip(*inverse(J), strict=True)]
    moved = [[tower.derivative(x, k) for x in y] for k in n]
    for (k, column), m in product(enumerate(zip(*J, strict=True)), n):
        entry = dot(column, moved[m])
        yield tower.tidy(entry - c if k == m else entry)


def vanishes(term: Term, tree: Tree, at: Tree) -> bool:
    """Tell whether *tree* in beta is proved to be 0 at beta = *at*."""
    beta = term.variable
    return _holds(term, (tree, at), lambda t: t.is_zero(t.read(tree, {beta: t.read(at)})))


def reaches(term: Term, start: Tree, F: Tree, slope: Tree, beta_0: Tree) -> bool:
    """Tell whether F(w_0) = beta_0 and F'(w_0) is not 0, exactly, for w_0 = *start*."""

    def reached(tower: Elementary) -> bool:
        w = {W.name: tower.read(start)}
        moving = tower.sign(tower.read(slope, w)) != 0
        return moving and tower.is_zero(tower.read(F, w) - tower.read(beta_0))

    return _holds(term, (beta_0, F, slope, start), reached)


def _holds(term: Term, trees: tuple[Tree, ...], claim: Callable[[Elementary], bool]) -> bool:
    """Tell what becomes of a claim at the first values of the parameters where it is settled."""
    for point in term.parameter_points():
        with suppress(Unsettled, ZeroDivisionError):
            return claim(Elementary(point, trees))
    return False


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
